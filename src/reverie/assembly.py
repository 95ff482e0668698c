"""The composition root: builds the concrete parts of one agent's memory and hands each what it needs.

Nothing else builds a store, a workspace or an engine; the verbs in :mod:`reverie.memory` only use them.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reverie import engine as builtin
from reverie.context import GuardedContext, LegacyContext
from reverie.core.clock import RandomIds, SystemClock, host_zone
from reverie.core.config import AgentConfig, Config, load_config
from reverie.core.config.schema import ModelProvider
from reverie.core.errors import ReverieError, WorkspaceMissing
from reverie.core.paths import Paths, agent_id, make_folder
from reverie.core.redaction import redact_lines
from reverie.core.taint import ExternalTools
from reverie.core.types import (
    ChatModel,
    Clock,
    Ids,
    MemoryEngine,
    Passage,
    Progress,
    Provenance,
    SourceProvider,
    SyncReport,
)
from reverie.imports.arrival import Arrivals
from reverie.imports.openclaw.notes import Notebook
from reverie.index.watcher import Watcher
from reverie.plugins import DEFAULT_ENGINE, ContextParts, EngineContext, PluginSlots
from reverie.providers.choosing import NamedChat, open_chat, open_embedder
from reverie.providers.remote.chat import RemoteChat, Usage
from reverie.recall.prompt import MEMORY_CHARS, USER_CHARS, Budgets
from reverie.sessions.context import ContextEngine
from reverie.sessions.directory import SessionDirectory
from reverie.sessions.retention import Policy
from reverie.sessions.senders import Owners
from reverie.sessions.source import TranscriptSource
from reverie.sessions.turns import TurnRecorder
from reverie.store.durable import DurableStore
from reverie.store.ends import SessionEnds
from reverie.store.lines import line_hash
from reverie.store.usage import ModelUsage
from reverie.workspace import scaffold
from reverie.workspace.extra import PATTERN, ExtraSource, Root
from reverie.workspace.files import replace
from reverie.workspace.notes import Workspace
from reverie.workspace.paths import NOTES
from reverie.workspace.source import WorkspaceSource
from reverie.writing.flushing import Flusher
from reverie.writing.judging import LineJudge
from reverie.writing.recording import lines_of
from reverie.writing.shown import doubt_about
from reverie.writing.writer import RecordedWriter

#: How often a watch looks whether it still runs.
WATCH_SECONDS = 1.0

_CONFIG_HEAD = """// Reverie's configuration (JSON5: comments and trailing commas are fine).
// `reverie config get` lists every key with its value; `reverie config set KEY VALUE` keeps comments.
{
}
"""


#: The setting of the durable store that names the zone which counts while the configuration names none.
ZONE = "zone"


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything that one agent's memory is made of."""

    agent: str
    paths: Paths
    whole: Config
    config: AgentConfig
    clock: Clock
    ids: Ids
    workspace: Workspace
    durable: DurableStore
    judge: LineJudge
    writer: RecordedWriter
    sessions: SessionDirectory
    ends: SessionEnds
    usage: ModelUsage
    recorder: TurnRecorder
    flusher: Flusher
    context: ContextEngine
    slots: PluginSlots
    engine: MemoryEngine
    marker: str
    progress: Progress | None = None

    @property
    def budgets(self) -> Budgets:
        """Return the budgets of the bootstrap."""
        return Budgets(self.config.bootstrap_max_chars, self.config.bootstrap_total_max_chars)

    @property
    def arrivals(self) -> Arrivals:
        """Return where imported conversations go."""
        return Arrivals(
            self.agent, self.sessions, self.clock, self.ids, forgotten=self.durable.tombstones, progress=self.progress
        )

    @property
    def notebook(self) -> Notebook:
        """Return where imported notes go."""
        return Notebook(self.workspace.root, self.writer, tuple(curated_budgets(self.config).items()))

    @property
    def retention(self) -> Policy:
        """Return what the maintenance of sessions keeps."""
        data = self.whole.data
        kept = data.session.maintenance
        return Policy(
            enforce=kept.mode == "enforce",
            prune_after=kept.prune_after,
            max_entries=kept.max_entries,
            reset_archive_retention=kept.reset_archive_retention,
            cron_retention=data.cron.session_retention,
            dashboard_after=kept.archive_dashboard_after,
            preserve_recent=kept.preserve_recent,
            max_disk_bytes=kept.max_disk_bytes,
            clean_up_to=kept.clean_up_to,
        )

    @property
    def external_tools(self) -> ExternalTools:
        """Return the tools whose undeclared results count as text from outside."""
        return self.config.foreign_tools

    @property
    def owners(self) -> Owners:
        """Return the accounts that are the owner's."""
        return Owners.of(self.config.owner_allow_from, self.whole.data.session.identity_links)

    def new_marker(self) -> str:
        """Return the nonce of one turn's blocks of recalled memory: the process's, which all share, and its own."""
        return f"{self.marker}.{secrets.token_hex(16)}"

    def doubt_about(self, path: str, lines: tuple[int, int] | None = None) -> str:
        """Return why what a tool read at a path is not trusted; empty if nothing speaks against it."""
        self.judge.refresh()
        outside = [root.path for root in self.config.extra_roots if root.outside]
        return doubt_about(
            path, self.workspace.root, self.judge, outside=[self.paths.state / "agents", *outside], lines=lines
        )

    def classes(self, relative: str) -> Sequence[Provenance]:
        """Return the provenance of every line of a memory file as it stands now; nothing if it cannot be read."""
        try:
            file = self.workspace.read(relative)
        except ReverieError:
            return ()
        self.judge.refresh()
        return self.judge.judge(relative, lines_of(file.text)).lines

    def homes(self, relative: str) -> Sequence[frozenset[str]]:
        """Return the sessions that each line of a memory file was written in; none for what no session wrote."""
        try:
            lines = lines_of(self.workspace.read(relative).text)
        except ReverieError:
            return ()
        sessions: dict[str, set[str]] = {}
        for record in self.durable.records(relative):
            if record.provenance.session is not None and record.state != "rolled_back":
                for line in record.written:
                    sessions.setdefault(line, set()).add(record.provenance.session)
        return [frozenset(sessions.get(line_hash(line), ())) for line in lines]

    def watch(self, stop: threading.Event, on_sync: Callable[[SyncReport], None]) -> None:
        """Sync now, and after each change of a memory file, until ``stop`` is set."""
        transcripts = self.paths.sessions(self.agent)
        roots = [self.workspace.root / NOTES]
        flat = [self.workspace.root, transcripts]
        settings = self.config.search.sync
        watcher = Watcher(roots, lambda: on_sync(self.engine.sync()), flat=flat, debounce_ms=settings.watch_debounce_ms)
        watcher.start()
        try:
            while not stop.wait(WATCH_SECONDS) and watcher.watching:
                pass
        finally:
            watcher.stop()
        if watcher.failure is not None:
            raise watcher.failure

    def close(self) -> None:
        """Close what holds files open."""
        self.context.close()
        self.engine.close()
        self.durable.close()


def prepare(state_dir: Path | None, workspace: Path | None) -> tuple[list[str], list[str]]:
    """Make the workspace and a commented configuration file; returns what was made and what was there."""
    paths = Paths.resolve(state_dir, workspace)
    make_folder(paths.state)
    found = scaffold.create(paths.workspace, lock_dir=paths.locks)
    made = [str(paths.workspace / name) for name in found.made]
    kept = [str(paths.workspace / name) for name in found.kept]
    if paths.config_file.exists():
        return made, [*kept, str(paths.config_file)]
    replace(paths.config_file, _CONFIG_HEAD.encode("utf-8"), expected=None, lock_dir=paths.locks)
    return [*made, str(paths.config_file)], kept


def assemble(
    agent: str,
    *,
    state_dir: Path | None,
    workspace: Path | None,
    config_file: Path | None,
    clock: Clock | None,
    ids: Ids | None,
    progress: Progress | None,
    chat_model: ChatModel | None = None,
) -> Parts:
    """Build the parts; opens the durable store and settles what a killed writer left half done."""
    paths = Paths.resolve(state_dir, workspace)
    whole = load_config(paths, file=config_file)
    config = whole.agent(agent)
    name = agent_id(agent)
    if not config.workspace.is_dir():
        raise WorkspaceMissing(path=str(config.workspace))
    ids = ids or RandomIds()
    providers = whole.data.models.providers
    place = Workspace(config.workspace, lock_dir=paths.locks)
    durable = DurableStore.open(paths.agent(name), clock or SystemClock(config.timezone), ids)
    clock = clock or SystemClock(config.timezone or _kept_zone(durable))
    judge = LineJudge(durable)
    marker = secrets.token_hex(16)
    slots = plugin_slots()
    context = EngineContext(
        agent=name,
        paths=paths,
        config=config,
        clock=clock,
        ids=ids,
        sources=_sources(name, paths, config, place, durable, judge, marker, whole.data.session.main_key),
        open_embedder=lambda: open_embedder(config, paths, clock, progress, providers=providers),
        open_reranker=lambda wanted: slots.reranker(wanted)(context),
        read_lines=lambda path, start, count: _read(place, config, path, start, count),
    )
    sessions = SessionDirectory(paths.sessions(name), name, main_key=whole.data.session.main_key)
    writer = RecordedWriter(place, durable, clock, budgets=curated_budgets(config), redacted=config.redact)
    writer.recover()
    usage = ModelUsage(durable.database, clock)
    models = _Models(config, providers, clock, usage, chat_model)
    shown = _context_engine(
        slots, ContextParts(name, config, clock, ids, sessions, models.of("compaction", config.compaction.model))
    )
    flusher = Flusher(
        sessions,
        writer,
        clock,
        ids,
        config.compaction,
        model=models.of("flush", config.compaction.memory_flush.model),
        marker=marker,
        external_tools=config.foreign_tools,
    )
    return Parts(
        agent=name,
        paths=paths,
        whole=whole,
        config=config,
        clock=clock,
        ids=ids,
        workspace=place,
        durable=durable,
        judge=judge,
        writer=writer,
        sessions=sessions,
        ends=SessionEnds(durable.database, clock),
        usage=usage,
        recorder=TurnRecorder(sessions, clock, ids, external_tools=config.foreign_tools, told=shown.ingest),
        flusher=flusher,
        context=shown,
        slots=slots,
        engine=slots.engine(config.memory_slot)(context),
        marker=marker,
        progress=progress,
    )


@dataclass(frozen=True, slots=True)
class _Models:
    """The chat models of the configuration; one that a program hands in takes the place of all."""

    config: AgentConfig
    providers: Mapping[str, ModelProvider]
    clock: Clock
    usage: ModelUsage
    given: ChatModel | None

    def of(self, feature: str, wanted: str | None) -> ChatModel | None:
        """Return the model of a feature, its cost counted, or ``None``; one named for it alone has no fallbacks."""
        usual = self.config.settings.model
        references = [wanted] if wanted else [one for one in (usual.primary, *usual.fallbacks) if one]
        if self.given is not None or not references:
            return self.given
        return NamedChat(references, lambda reference: self._open(feature, reference))

    def _open(self, feature: str, reference: str) -> RemoteChat:
        def spent(tokens: Usage) -> None:
            self.usage.add(feature, reference, tokens.prompt, tokens.completion)

        return open_chat(reference, self.providers, self.clock, spent)


def _kept_zone(durable: DurableStore) -> str:
    """Return the zone of the machine that first wrote here, since two processes must agree on today (TIME-02)."""
    kept = durable.setting(ZONE)
    if kept is None:
        kept = host_zone()
        durable.set_setting(ZONE, kept)
    return kept


def _context_engine(slots: PluginSlots, parts: ContextParts) -> ContextEngine:
    """Return the engine of the context slot; one of a third party with the built-in one as its spare."""
    engine = slots.context_engine(parts.config.context_slot)(parts)
    return engine if isinstance(engine, LegacyContext) else GuardedContext(engine, LegacyContext(parts))


def curated_budgets(config: AgentConfig) -> dict[str, int]:
    """Return how long each curated file may become by our hand, in characters."""
    return {"MEMORY.md": min(MEMORY_CHARS, config.bootstrap_max_chars), "USER.md": USER_CHARS}


def plugin_slots() -> PluginSlots:
    """Return the plugins; only the built-in engine is registered so far, others once one is looked for."""
    slots = PluginSlots()
    slots.register(builtin, DEFAULT_ENGINE)
    return slots


def _sources(
    agent: str,
    paths: Paths,
    config: AgentConfig,
    place: Workspace,
    durable: DurableStore,
    judge: LineJudge,
    marker: str,
    main_key: str,
) -> tuple[SourceProvider, ...]:
    """Return the documents of the index: notes judged line by line, and transcripts without what was forgotten."""

    def classify(relative: str, lines: Sequence[str]) -> Sequence[Provenance]:
        return judge.judge(relative, lines).lines

    def revisions() -> Mapping[str, int]:
        judge.refresh()
        return durable.revisions()

    # Secrets go before the index, which is derived; the owner's own files keep them (I13).
    shown = redact_lines if config.redact else None
    notes = WorkspaceSource(place, classify, revisions=revisions, shown=shown)
    spoken = TranscriptSource(
        paths.sessions(agent),
        agent,
        main_key=main_key,
        marker=marker,
        external_tools=config.foreign_tools,
        redacted=config.redact,
        forgotten=lambda session: session in durable.tombstones(),
    )
    extra = extra_source(place, config, shown)
    return (notes, spoken) if extra is None else (notes, extra, spoken)


def extra_source(
    place: Workspace, config: AgentConfig, shown: Callable[[Sequence[str]], Sequence[str]] | None = None
) -> ExtraSource | None:
    """Return the documents of ``memory.search.extraPaths``, or ``None`` where there are none."""
    roots = [Root(one.path, one.pattern or PATTERN) for one in config.extra_roots]
    return ExtraSource(place.root, roots, max_bytes=place.max_bytes, shown=shown) if roots else None


def _read(place: Workspace, config: AgentConfig, path: str, start: int, count: int | None) -> Passage:
    extra = extra_source(place, config)
    if extra is not None and extra.holds(path):
        return extra.read_lines(path, start, count, config.memory_get_max_chars)
    return place.read_lines(path, start, count, max_chars=config.memory_get_max_chars)
