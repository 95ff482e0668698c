"""The whole table of keys: the root of the configuration and its smaller sections."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reverie.core.config.agents import Agents
from reverie.core.config.compound import Anything, ListOf, MapOf
from reverie.core.config.kinds import Choice, Secret, Switch, Text, Whole
from reverie.core.config.memory import Memory, Privacy
from reverie.core.config.plugins import Plugins
from reverie.core.config.section import KeyInfo, Part, Section, describe_section, key, part, words
from reverie.core.config.session import Binding, Cron, Session


class SessionTools(Section):
    """Tools that read sessions."""

    visibility: str = key(Choice("self", "tree", "agent", "all"), "tree", "Which sessions they see (choice C14).")


class AgentToAgent(Section):
    """Agents that reach each other."""

    enabled: bool = key(Switch(), False, "Let agents read each other's sessions; also needs visibility all.")
    allow: tuple[str, ...] = key(ListOf(Text()), (), "The agents that may.")


class Tools(Section):
    """``tools``."""

    sessions: SessionTools = part(SessionTools)
    agent_to_agent: AgentToAgent = part(AgentToAgent)
    external: tuple[str, ...] = key(
        ListOf(Text()), (), "Tools that do not say where their results come from and bring in outside text (Reverie)."
    )
    trusted: tuple[str, ...] = key(
        ListOf(Text()), (), "Tools that do not say where their results come from and bring in none (Reverie)."
    )
    foreign = words(
        "allow deny alsoAllow profile byProvider exec web media elevated sandbox message subagents fs loopDetection"
    )


class Commands(Section):
    """``commands``."""

    owner_allow_from: tuple[str, ...] = key(
        ListOf(Text()), (), "Who is the owner on a channel (`channel:id`); may use `intent` and owner commands."
    )
    foreign = words(
        "native nativeSkills text bash bashForegroundMs config debug restart useAccessGroups allowFrom "
        "ownerDisplay ownerDisplaySecret mcp plugins"
    )


class SessionMemoryHook(Section):
    """The hook that writes the end of a session to a note."""

    enabled: bool = key(Switch(), False, "Write the last messages of a session to a note when it ends.")
    messages: int = key(Whole(1), 15, "How many.")
    llm_slug: bool = key(Switch(), False, "Let a model name the file.")
    model: str | None = key(Text(), None, "That model.")
    foreign = words("env")


class HookEntries(Section):
    """``hooks.internal.entries``."""

    session_memory: SessionMemoryHook = part(SessionMemoryHook, name="session-memory")
    rest = Anything()
    rest_name = "<name>"


class HookLoad(Section):
    """Where hooks are found."""

    extra_dirs: tuple[str, ...] = key(ListOf(Text()), (), "More folders to look for hooks.")


class InternalHooks(Section):
    """Hooks of the program itself."""

    enabled: bool = key(Switch(), True, "Run internal hooks.")
    entries: HookEntries = part(HookEntries)
    load: HookLoad = part(HookLoad)
    foreign = words("handlers installs")


class Hooks(Section):
    """``hooks``."""

    internal: InternalHooks = part(InternalHooks)
    foreign = words(
        "enabled path token maxBodyBytes presets mappings gmail transformsDir defaultSessionKey "
        "allowRequestSessionKey allowedSessionKeyPrefixes allowedAgentIds"
    )


class ModelProvider(Section):
    """A place where models are reached."""

    base_url: str | None = key(Text("(?i)https?://.+", "(http or https)"), None, "Its address.")
    api_key: str | None = key(Secret(), None, "Its key.")
    api: str | None = key(Text(), None, "Its wire format.")
    headers: Mapping[str, str] = key(MapOf(Secret()), {}, "Headers sent along, never shown.")
    models: tuple[object, ...] = key(Anything(), (), "Its models.")
    rest = Anything()
    rest_name = "<key>"


class Models(Section):
    """``models``."""

    mode: str = key(Choice("merge", "replace"), "merge", "Whether the providers here join the known ones.")
    providers: Mapping[str, ModelProvider] = key(MapOf(Part(ModelProvider), "<id>"), {}, "Providers by id.")
    foreign = words("bedrockDiscovery pricing")


class Root(Section):
    """The whole configuration."""

    memory: Memory = part(Memory)
    agents: Agents = part(Agents)
    session: Session = part(Session)
    plugins: Plugins = part(Plugins)
    tools: Tools = part(Tools)
    commands: Commands = part(Commands)
    hooks: Hooks = part(Hooks)
    models: Models = part(Models)
    cron: Cron = part(Cron)
    bindings: tuple[Binding, ...] = key(ListOf(Part(Binding)), (), "Which agent gets which messages.")
    privacy: Privacy = part(Privacy)
    foreign = words(
        "$schema meta env wizard diagnostics logging cli update browser ui auth acp nodeHost broadcast audio "
        "media messages approvals web channels discovery canvasHost talk gateway skills secrets mcp security "
        "worktrees"
    )


def describe() -> Iterator[KeyInfo]:
    """Yield every key of the configuration: name, type, default (as of JSON), range, meaning."""
    return describe_section(Root)


#: Keys that a file of a project, which anyone may have written, can set: they change which hits are shown and in
#: what order, and never an address, a key, a prompt, a tool, a path or what is trusted. A name stands for all below it.
PROJECT_KEYS = (
    "memory.citations",
    "memory.search.query",
    "memory.search.recency",
    "memory.search.importance",
    "memory.search.mmr",
    "memory.search.rerank",
)
