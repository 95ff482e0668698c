"""The settings of one agent, put together from all levels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reverie.core.config.agents import AgentSettings, Compaction, ContextPruning
from reverie.core.config.memory import Search
from reverie.core.config.plugins import ActiveMemoryConfig, Dreaming, MemoryPolicy
from reverie.core.config.schema import Root
from reverie.core.paths import Paths, absolute
from reverie.core.taint import ExternalTools


@dataclass(frozen=True, slots=True)
class ExtraRoot:
    """A file or folder that is searched beside the workspace. ``outside`` ones are untrusted."""

    path: Path
    pattern: str | None
    outside: bool


@dataclass(frozen=True, slots=True)
class AgentConfig:
    """What holds for one agent.

    ``timezone`` and ``dreaming_timezone`` are ``None`` where the machine's zone counts. ``external_tools`` and
    ``trusted_tools`` are the names of tools that do not declare where their results come from.
    """

    id: str
    workspace: Path
    timezone: str | None
    search: Search
    extra_roots: tuple[ExtraRoot, ...]
    remember_across_conversations: bool
    settings: AgentSettings
    dreaming: Dreaming
    dreaming_timezone: str | None
    dreaming_enabled: bool
    memory_policy: MemoryPolicy
    active_memory: ActiveMemoryConfig
    active_memory_enabled: bool
    active_memory_tools: tuple[str, ...]
    memory_slot: str
    context_slot: str
    citations: str
    external_tools: frozenset[str]
    trusted_tools: frozenset[str]
    owner_allow_from: tuple[str, ...]
    redact: bool

    @property
    def foreign_tools(self) -> ExternalTools:
        """Return the tools whose undeclared results count as text from outside."""
        return ExternalTools(self.external_tools, self.trusted_tools)

    @property
    def indexes_sessions(self) -> bool:
        """Say whether transcripts belong to the index of this agent."""
        wanted = self.search.experimental.session_memory or "sessions" in self.search.sources
        return self.search.enabled and (wanted or self.remember_across_conversations)

    @property
    def bootstrap_max_chars(self) -> int:
        """Return how much of one workspace file enters a prompt, in characters."""
        return self.settings.bootstrap_max_chars

    @property
    def bootstrap_total_max_chars(self) -> int:
        """Return how much of all workspace files enters a prompt, in characters."""
        return self.settings.bootstrap_total_max_chars

    @property
    def memory_get_max_chars(self) -> int:
        """Return how much one read of a memory file returns, in characters."""
        return self.settings.context_limits.memory_get_max_chars

    @property
    def compaction(self) -> Compaction:
        """Return how long conversations are summarised."""
        return self.settings.compaction

    @property
    def context_pruning(self) -> ContextPruning:
        """Return how old tool results leave the context."""
        return self.settings.context_pruning


def resolve_agent(
    ident: str, *, data: Root, settings: AgentSettings, search: Search, paths: Paths, default: str
) -> AgentConfig:
    """Return the settings of an agent; ``settings`` and ``search`` are merged from all levels already."""
    workspace = workspace_of(ident, data=data, paths=paths, default=default)
    plugins = data.plugins
    core = plugins.entries.memory_core.config
    active = plugins.entries.active_memory.config
    has_memory = plugins.slots.memory != "none"
    return AgentConfig(
        id=ident,
        workspace=workspace,
        timezone=settings.user_timezone,
        search=search,
        extra_roots=_extra_roots(search, workspace, paths),
        remember_across_conversations=_remembers(search, data),
        settings=settings,
        dreaming=core.dreaming,
        dreaming_timezone=core.dreaming.timezone or settings.user_timezone,
        dreaming_enabled=has_memory and plugins.runs("memory-core") and core.dreaming.enabled,
        memory_policy=core.memory_policy,
        active_memory=active,
        active_memory_enabled=has_memory and plugins.runs("active-memory") and active.enabled and active.mode != "off",
        active_memory_tools=active.tools(plugins.slots.memory),
        memory_slot=plugins.slots.memory,
        context_slot=plugins.slots.context_engine,
        citations=data.memory.citations,
        external_tools=frozenset(data.tools.external),
        trusted_tools=frozenset(data.tools.trusted) - frozenset(data.tools.external),
        owner_allow_from=data.commands.owner_allow_from,
        redact=data.privacy.redact,
    )


def workspace_of(ident: str, *, data: Root, paths: Paths, default: str) -> Path:
    """Return the workspace of an agent.

    The default agent's is what an argument or the environment chose, else its own, else the common one. Another
    agent's is its own, else a folder of its name in the common one, else ``workspace-<id>`` in the state folder.
    """
    entry = data.agents.entries.get(ident)
    own = entry.workspace if entry is not None else None
    common = data.agents.defaults.workspace
    if ident == default:
        chosen = None if paths.workspace_given else own or common
        return absolute(chosen, paths.home, paths.state) if chosen else paths.workspace
    if own:
        return absolute(own, paths.home, paths.state)
    return absolute(common, paths.home, paths.state) / ident if common else paths.state / f"workspace-{ident}"


def _remembers(search: Search, data: Root) -> bool:
    """Say whether private conversations recall each other: as set, else for installs where they are one person's."""
    if search.remember_across_conversations is not None:
        return search.remember_across_conversations
    return data.session.dm_scope in (None, "main") and not any(each.session.dm_scope for each in data.bindings)


def _extra_roots(search: Search, workspace: Path, paths: Paths) -> tuple[ExtraRoot, ...]:
    found: dict[tuple[Path, str | None], ExtraRoot] = {}
    for each in search.extra_paths:
        if each.path:
            path = absolute(each.path, paths.home, workspace)
            found[path, each.pattern] = ExtraRoot(path, each.pattern, not path.is_relative_to(workspace))
    return tuple(found.values())
