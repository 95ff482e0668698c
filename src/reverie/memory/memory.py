"""The memory of one agent: one method a verb, each calling the rooms in order.

>>> from reverie import Memory, Sender
>>> memory = Memory.open(agent="main")                                         # doctest: +SKIP
>>> with memory.turn(session="agent:main:main", text="Hi", sender=Sender.owner("me")) as turn:   # doctest: +SKIP
...     turn.reply("Hello")
>>> memory.search("backup window", max_results=6)                              # doctest: +SKIP
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from reverie import doctor, trust, turn, why
from reverie.assembly import Parts, assemble, plugin_slots, prepare
from reverie.core import provenance
from reverie.core.config import AgentConfig
from reverie.core.errors import UsageError
from reverie.core.types import (
    ChatModel,
    Clock,
    Corpus,
    Hit,
    Ids,
    Passage,
    Progress,
    Provenance,
    SearchRequest,
    SearchResult,
    Sender,
    SessionKind,
    SyncReport,
    Written,
)
from reverie.doctor import Finding, Status
from reverie.memory.arriving import Arriving
from reverie.memory.conversing import Conversing
from reverie.plugins import PluginFact
from reverie.sessions.senders import resolve_sender
from reverie.trust import TrustReport
from reverie.turn import Turn
from reverie.why import Why

if TYPE_CHECKING:
    from reverie.tools import MemoryTools


class Memory(Conversing, Arriving):
    """Long-term memory of one agent. Open it with :meth:`open`, close it with :meth:`close` or ``with``.

    Safe to use from several threads, and beside other processes on the same files.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    # --- opening and closing ---

    @classmethod
    def open(
        cls,
        agent: str = "main",
        *,
        state_dir: Path | str | None = None,
        workspace: Path | str | None = None,
        config_file: Path | str | None = None,
        clock: Clock | None = None,
        ids: Ids | None = None,
        progress: Progress | None = None,
        chat_model: ChatModel | None = None,
    ) -> Memory:
        """Open the memory of ``agent``; cheap, since the index and the model are opened when first needed.

        Args:
            agent: the agent's id; ids are compared after normalising (lower case, ``-`` for other characters).
            state_dir: where Reverie keeps its state; default ``REVERIE_STATE_DIR`` or ``~/.reverie``.
            workspace: the folder of the Markdown files; default ``REVERIE_WORKSPACE`` or ``<state>/workspace``.
            config_file: another configuration than ``<state>/reverie.json5``.
            clock: the source of time.
            ids: the source of identifiers.
            progress: told how far the model's build is, once on a machine.
            chat_model: writes summaries and flushes; everything works without one, more plainly.

        Raises:
            ConfigError: the configuration cannot be used.
            WorkspaceMissing: there is no workspace yet.
            StoreUnwritable: the state folder cannot be written.
        """
        return cls(
            assemble(
                agent,
                state_dir=_path(state_dir),
                workspace=_path(workspace),
                config_file=_path(config_file),
                clock=clock,
                ids=ids,
                progress=progress,
                chat_model=chat_model,
            )
        )

    @classmethod
    def create(
        cls, *, state_dir: Path | str | None = None, workspace: Path | str | None = None
    ) -> tuple[list[str], list[str]]:
        """Make the workspace and a commented configuration; nothing that exists is changed.

        Returns:
            What was made, and what was there already.
        """
        return prepare(_path(state_dir), _path(workspace))

    @staticmethod
    def plugins() -> list[PluginFact]:
        """Return every plugin, those of other distributions included; needs no workspace.

        Raises:
            PluginError: an installed one cannot be loaded.
        """
        slots = plugin_slots()
        slots.find_installed()
        return slots.facts()

    def close(self) -> None:
        """Let go of files, databases and the model."""
        self._parts.close()

    def __enter__(self) -> Memory:
        """Return the memory itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the memory."""
        self.close()

    @property
    def config(self) -> AgentConfig:
        """Return what is configured for this agent."""
        return self._parts.config

    @property
    def clock(self) -> Clock:
        """Return the clock of this memory, in the user's zone."""
        return self._parts.clock

    # --- recall ---

    def search(self, query: str, *, max_results: int | None = None, corpus: Corpus | str = Corpus.MEMORY) -> list[Hit]:
        """Return the best hits for any text, best first. :meth:`recall` tells more about the answer."""
        usual = self._parts.config.search.query
        limit = usual.max_results if max_results is None else max_results
        request = SearchRequest(query, limit, usual.min_score, Corpus(corpus), min_confidence=usual.min_confidence)
        return list(self.recall(request).hits)

    def recall(self, request: SearchRequest) -> SearchResult:
        """Return hits with the mode, the notices and the trace of the search.

        Raises:
            UsageError: ``max_results`` is less than 1 or ``min_score`` is not within 0..1.
        """
        if request.max_results < 1:
            raise UsageError("max_results must be at least 1", value=request.max_results)
        if request.min_score is not None and not 0.0 <= request.min_score <= 1.0:
            raise UsageError("min_score must be within 0..1", value=request.min_score)
        return self._parts.engine.search(request)

    def get(self, path: str, from_line: int = 1, lines: int | None = None) -> Passage:
        """Read lines of a memory file.

        Raises:
            PathNotAllowed: the path is no memory path.
            FileUnreadable: the file cannot be read as text.
        """
        return self._parts.engine.get(path, from_line, lines)

    # --- writing ---

    def note(
        self,
        text: str,
        *,
        sender: Sender | None = None,
        during: Turn | None = None,
        day: date | None = None,
        heading: str = "",
    ) -> Written:
        """Append to the note of the day; recorded with its provenance before the file changes.

        ``sender`` says who wants it written; ``during`` a turn instead means the assistant, with the class that this
        turn has at the moment. Without either it is the owner at the keyboard.
        """
        said = during.public(text) if during is not None else text
        written = self._parts.writer.note(said, self._born(sender, during), day=day, heading=heading or None)
        self._parts.engine.touched()
        return written

    def remember(
        self,
        text: str,
        *,
        sender: Sender | None = None,
        during: Turn | None = None,
        key: str | None = None,
        importance: int | None = None,
        triggers: Sequence[str] = (),
    ) -> Written:
        """Write the owner's direct request to MEMORY.md, or to USER.md if it states a preference.

        A fact whose ``key`` is known supersedes the older one. ``sender`` and ``during`` as for :meth:`note`.
        ``Written.note`` says where it went and why.
        """
        said = during.public(text) if during is not None else text
        written = self._parts.writer.remember(
            said, self._born(sender, during), key=key, importance=importance, triggers=tuple(triggers)
        )
        self._parts.engine.touched()
        return written

    def turn(self, session: str, text: str, sender: Sender | None = None) -> Turn:
        """Begin a turn: records the message with its provenance and builds what may enter the prompt.

        Use it as a context: ``with memory.turn(...) as turn``. A sender that is not given is unknown, and so
        untrusted. A stale session goes on in a new transcript first; commands of the owner (``/new``, ``/reset``,
        ``/compact``, ``/activation``) are carried out, and ``turn.handled`` is the answer where nothing is left to
        ask a model.
        """
        return turn.begin(self._parts, session, text, sender or Sender.unknown())

    def tools(self, during: Turn) -> MemoryTools:
        """Return the memory tools that an agent is given in a turn; what they write has the class of that turn."""
        # Loaded on first use: checking a model's arguments takes pydantic, and a search from the shell has none.
        tools: type[MemoryTools] = importlib.import_module("reverie.tools").MemoryTools
        return tools(self._parts, during)

    def sender(
        self,
        *,
        channel: str | None,
        id: str | None,
        account: str | None = None,
        is_bot: bool = False,
        name: str = "",
    ) -> Sender:
        """Return who sent a raw message: the owner where ``commands.ownerAllowFrom`` names them, else a guest.

        Args:
            channel: the channel that it came in on.
            id: the sender's id as the channel established it. Without one the sender is unknown.
            account: our own account on that channel.
            is_bot: the channel says that a program sent it; that is never the owner.
            name: what the sender is called; it decides nothing.
        """
        return resolve_sender(self._parts.owners, channel=channel, ident=id, account=account, is_bot=is_bot, name=name)

    # --- trust ---

    def trust(
        self,
        path: str,
        lines: tuple[int, int] | None = None,
        *,
        sender: Sender | None = None,
        dry_run: bool = False,
        expected_hash: str | None = None,
    ) -> TrustReport:
        """Record that the owner vouches for a memory file, or for lines of it, as they stand now (choice C4).

        Untrusted lines become the agent's, never the owner's own; what is changed afterwards is judged anew.

        Args:
            path: the memory file.
            lines: the first and the last line, from 1; the whole file by default.
            sender: who vouches; without one it is the owner at the keyboard.
            dry_run: only say what would be raised.
            expected_hash: ``content_hash`` of the report that the owner has seen.

        Raises:
            WriteRefused: the sender is not the owner, or nothing at this path can be trusted.
            WriteConflict: the file is not what the owner has seen.
            UsageError: there are no such lines.
            PathNotAllowed, FileUnreadable: the file cannot be read.
        """
        by = sender or Sender.owner("cli")
        return trust.trust(self._parts, path, lines, by, dry_run=dry_run, expected_hash=expected_hash)

    def why(self, entry: str) -> list[Why]:
        """Return the chain of something in memory: lines, classes, write records, acts of trust, and every gate.

        Args:
            entry: a place (``MEMORY.md#L3``, ``memory/2026-03-02.md#L3-L7``), the id of a write record, the key of an
                entry, or its text.

        Raises:
            UsageError: there is nothing like that.
            PathNotAllowed, FileUnreadable: the place cannot be read.
        """
        return why.explain(self._parts, entry)

    # --- keeping ---

    def index(
        self, *, force: bool = False, only: Iterable[str] | None = None, progress: Progress | None = None
    ) -> SyncReport:
        """Bring the index up to the files: only what changed, by content; ``force`` reads everything again."""
        return self._parts.engine.sync(force=force, only=only, progress=progress)

    def watch(self, stop: threading.Event, on_sync: Callable[[SyncReport], None]) -> None:
        """Index now and again whenever a file changes, until ``stop`` is set. Blocks."""
        self._parts.watch(stop, on_sync)

    def status(self, *, deep: bool = False) -> Status:
        """Return the state of this memory; ``deep`` also asks the embedder."""
        return doctor.status(self._parts, deep=deep)

    def doctor(self, *, fix: bool = False) -> list[Finding]:
        """Check everything that can go wrong; ``fix`` repairs what can be repaired without losing anything."""
        return doctor.examine(self._parts, fix=fix)

    def _born(self, sender: Sender | None, during: Turn | None) -> Provenance:
        """Return the provenance of a write: of the turn, else of the sender, else of the owner at the keyboard."""
        if during is not None:
            return during.write_provenance()
        author = sender or Sender.owner("cli")
        return Provenance(
            origin=provenance.of_sender(author),
            kind=SessionKind.INTERACTIVE,
            observed_at=self._now(),
            sender=f"{author.channel}:{author.id}",
        )

    def _now(self) -> datetime:
        return self._parts.clock.now()


def _path(value: Path | str | None) -> Path | None:
    return Path(value).expanduser() if value is not None else None
