"""The keys of ``plugins``: slots, dreaming, admission, Active Memory, and the wiki."""

from __future__ import annotations

import re
from collections.abc import Mapping

from reverie.core.config.agents import THINKING
from reverie.core.config.compound import Anything, Either, ListOf, MapOf
from reverie.core.config.kinds import Choice, Number, Switch, Text, Whole, cron, relative_folder, zone
from reverie.core.config.section import Part, Section, key, part, words
from reverie.core.config.wiki import WikiConfig

_RESERVED = re.compile(
    r"read|write|edit|apply_patch|exec|process|message|browser|canvas|cron|gateway|nodes|(?:image|video|music)(?:_.*)?|tts|pdf"
    r"|web_fetch|web_search|sessions_(?:list|history|send|spawn|yield)|session_status|subagents|agents_list"
    r"|heartbeat_respond|progress_card"
)


class Execution(Section):
    """Which model a phase uses."""

    model: str | None = key(Text(), None, "The model.")


class Executions(Section):
    """Which model all phases use."""

    defaults: Execution = part(Execution)


class DreamStorage(Section):
    """Where the sweep's reports go."""

    mode: str = key(Choice("inline", "separate", "both"), "separate", "In DREAMS.md, in files of their own, or both.")
    separate_reports: bool = key(Switch(), False, "Write separate reports in any mode.")


class LightPhase(Section):
    """Collecting candidates."""

    enabled: bool = key(Switch(), True, "Run the light phase.")
    lookback_days: int = key(Whole(0), 2, "How many days back it looks.")
    limit: int = key(Whole(0), 100, "How many candidates it keeps; 0 skips the phase.")
    dedupe_similarity: float = key(Number(0, 1), 0.9, "Candidates at least so alike are one.")
    execution: Execution = part(Execution)


class RemPhase(Section):
    """Finding what repeats."""

    enabled: bool = key(Switch(), True, "Run the REM phase.")
    lookback_days: int = key(Whole(0), 7, "How many days back it looks.")
    limit: int = key(Whole(0), 10, "How many reflections it writes; 0 skips the phase.")
    min_pattern_strength: float = key(Number(0, 1), 0.75, "Weaker patterns are left out.")
    execution: Execution = part(Execution)


class DeepPhase(Section):
    """Deciding what becomes long-term memory."""

    enabled: bool = key(Switch(), True, "Run the deep phase.")
    limit: int = key(Whole(0), 10, "How many candidates it promotes at most; 0 skips the phase.")
    min_score: float = key(Number(0, 1), 0.75, "Candidates below this score stay.")
    min_recall_count: int = key(Whole(0), 3, "So often a candidate must have been recalled.")
    min_unique_queries: int = key(Whole(0), 3, "By so many different questions.")
    recency_half_life_days: float = key(Number(0), 14.0, "A recall counts half after so many days; 0: always whole.")
    max_age_days: int = key(Whole(1), 30, "Older candidates are left.")
    max_promoted_snippet_tokens: int = key(Whole(1), 160, "How long a promoted entry may be.")
    max_prior_entry_loss_fraction: float = key(Number(0, 1), 0.25, "A rewrite that loses a larger share is refused.")
    execution: Execution = part(Execution)


class Phases(Section):
    """The three phases."""

    light: LightPhase = part(LightPhase)
    rem: RemPhase = part(RemPhase)
    deep: DeepPhase = part(DeepPhase)


class Dreaming(Section):
    """The nightly sweep."""

    enabled: bool = key(Switch(), True, "Run the nightly sweep.")
    frequency: str = key(cron(), "0 3 * * *", "When, as a cron expression.")
    timezone: str | None = key(
        zone(), None, "The time zone of `frequency`; unset: `agents.defaults.userTimezone`, else the machine's."
    )
    model: str | None = key(
        Text(), None, "The model of the sweep; unset: the agent's. Needs `subagent.allowModelOverride`."
    )
    verbose_logging: bool = key(Switch(), False, "Log every decision.")
    storage: DreamStorage = part(DreamStorage)
    execution: Executions = part(Executions)
    phases: Phases = part(Phases)


class ExcludeSessions(Section):
    """Sessions that dreaming never reads."""

    hook_external_content_sources: tuple[str, ...] = key(
        ListOf(Text()), (), "Sources of webhook content: email, gmail, webhook."
    )
    channels: tuple[str, ...] = key(ListOf(Text()), (), "Channels.")
    chat_types: tuple[str, ...] = key(ListOf(Choice("direct", "group", "channel")), (), "Chat types.")


class MemoryPolicy(Section):
    """What may be learned from."""

    exclude_sessions: ExcludeSessions = part(ExcludeSessions)


class MemoryCoreConfig(Section):
    """The built-in engine."""

    memory_policy: MemoryPolicy = part(MemoryPolicy)
    dreaming: Dreaming = part(Dreaming)


class ActiveMemoryConfig(Section):
    """Recall lane 2."""

    enabled: bool = key(Switch(), True, "The global switch of `/active-memory`.")
    mode: str = key(Choice("escalate", "always", "off"), "escalate", "When lane 2 runs.")
    agents: tuple[str, ...] = key(ListOf(Text()), (), "Agents with the advanced path and lane-1 triggers.")
    model: str | None = key(Text(), None, "The first choice of recall model.")
    model_fallback: str | None = key(Text(), None, "The model to use when no other can be found.")
    model_fallback_policy: str | None = key(
        Choice("default-remote", "resolved-only"), None, "", retired="the order of models is fixed"
    )
    allowed_chat_types: tuple[str, ...] = key(
        ListOf(Choice("direct", "group", "channel", "explicit")), ("direct",), "In which chats it runs."
    )
    allowed_chat_ids: tuple[str, ...] = key(ListOf(Text()), (), "If not empty, only in these chats.")
    denied_chat_ids: tuple[str, ...] = key(ListOf(Text()), (), "Never in these chats.")
    thinking: str = key(Choice(*THINKING), "off", "How much the recall model thinks.")
    fast_mode: bool | str | None = key(Either(Switch(), Choice("auto")), None, "Fast mode; unset: inherited.")
    timeout_ms: int = key(Whole(250, 120_000), 15_000, "How long a recall may take.")
    setup_grace_timeout_ms: int = key(Whole(0, 30_000), 0, "Added once for setting up.")
    query_mode: str = key(Choice("message", "recent", "full"), "recent", "How much of the conversation it sees.")
    prompt_style: str | None = key(
        Choice("strict", "balanced", "contextual", "recall-heavy", "precision-heavy", "preference-only"),
        None,
        "How it decides; unset: strict for message, balanced for recent, contextual for full.",
    )
    tools_allow: tuple[str, ...] | None = key(
        ListOf(Text(r"(?!\*$)(?!group:).+", "(no * and no group:)"), most=32),
        None,
        "Its tools; unset: memory_search and memory_get (memory_recall with memory-lancedb).",
    )
    prompt_override: str | None = key(Text(), None, "Replaces its instructions.")
    prompt_append: str | None = key(Text(), None, "Extends its instructions.")
    max_summary_chars: int = key(Whole(40, 1000), 220, "How long its summary may be.")
    recent_user_turns: int = key(Whole(0, 4), 2, "How many user messages `recent` holds.")
    recent_assistant_turns: int = key(Whole(0, 3), 1, "How many answers `recent` holds.")
    recent_user_chars: int = key(Whole(40, 1000), 220, "How much of each user message.")
    recent_assistant_chars: int = key(Whole(40, 1000), 180, "How much of each answer.")
    logging: bool = key(Switch(), False, "Log every run.")
    persist_transcripts: bool = key(Switch(), False, "Keep the transcripts of its runs.")
    transcript_dir: str = key(relative_folder(), "active-memory", "Where they are kept.")
    cache_ttl_ms: int = key(Whole(1000, 120_000), 15_000, "How long a result is used again.")
    circuit_breaker_max_timeouts: int = key(Whole(1, 20), 3, "After so many time-outs in a row it pauses.")
    circuit_breaker_cooldown_ms: int = key(Whole(5000, 600_000), 60_000, "For how long.")

    @property
    def style(self) -> str:
        """Return the prompt style, by the query mode if none is set."""
        return self.prompt_style or {"message": "strict", "recent": "balanced", "full": "contextual"}[self.query_mode]

    def tools(self, slot: str = "memory-core") -> tuple[str, ...]:
        """Return the tools that lane 2 may use with the engine in the memory slot; tools of the host are taken out."""
        default = ("memory_recall",) if slot == "memory-lancedb" else ("memory_search", "memory_get")
        chosen = default if self.tools_allow is None else self.tools_allow
        return tuple(name for name in chosen if not _RESERVED.fullmatch(name.lower()))


class PluginHooks(Section):
    """What a plugin's hooks may do."""

    allow_prompt_injection: bool | None = key(Switch(), None, "Let its hooks add to prompts.")
    allow_conversation_access: bool | None = key(Switch(), None, "Let its hooks read conversations.")
    timeout_ms: int | None = key(Whole(1, 600_000), None, "How long its hooks may take.")
    timeouts: Mapping[str, int] = key(MapOf(Whole(1, 600_000), "<hook>"), {}, "The same for one hook, in ms.")


class ModelAccess(Section):
    """Which models a plugin may choose."""

    allow_model_override: bool = key(Switch(), False, "Let it choose another model than the agent's.")
    allowed_models: tuple[str, ...] = key(ListOf(Text()), (), "If not empty, only these.")


class PluginEntry(Section):
    """One plugin."""

    enabled: bool = key(Switch(), True, "Use this plugin.")
    env: Mapping[str, str] = key(Anything(), {}, "Its environment.")
    hooks: PluginHooks = part(PluginHooks)
    subagent: ModelAccess = part(ModelAccess)
    llm: ModelAccess = part(ModelAccess)


class AnyPlugin(PluginEntry):
    """A plugin whose own keys are its own business."""

    config: Mapping[str, object] = key(Anything(), {}, "Its own settings.")


class MemoryCoreEntry(PluginEntry):
    """``plugins.entries.memory-core``."""

    described_at = (PluginEntry, "plugins.entries.<id>")
    config: MemoryCoreConfig = part(MemoryCoreConfig)


class ActiveMemoryEntry(PluginEntry):
    """``plugins.entries.active-memory``."""

    described_at = (PluginEntry, "plugins.entries.<id>")
    config: ActiveMemoryConfig = part(ActiveMemoryConfig)


class WikiEntry(PluginEntry):
    """``plugins.entries.memory-wiki``, which is off until it is switched on."""

    described_at = (PluginEntry, "plugins.entries.<id>")
    enabled: bool = key(Switch(), False, "Use the wiki.")
    config: WikiConfig = part(WikiConfig)


class PluginEntries(Section):
    """``plugins.entries``."""

    memory_core: MemoryCoreEntry = part(MemoryCoreEntry, name="memory-core")
    active_memory: ActiveMemoryEntry = part(ActiveMemoryEntry, name="active-memory")
    memory_wiki: WikiEntry = part(WikiEntry, name="memory-wiki")
    rest = Part(AnyPlugin)


class Slots(Section):
    """Which plugin fills which place."""

    memory: str = key(Text(), "memory-core", "The memory engine; `none` for no memory.")
    context_engine: str = key(Text(), "legacy", "The context engine.")


class PluginLoad(Section):
    """Where plugins are found."""

    paths: tuple[str, ...] = key(ListOf(Text()), (), "More places to look for plugins.")


class Plugins(Section):
    """``plugins``."""

    enabled: bool = key(Switch(), True, "Use plugins other than the built-in ones.")
    allow: tuple[str, ...] = key(ListOf(Text()), (), "If not empty, only these.")
    deny: tuple[str, ...] = key(ListOf(Text()), (), "Never these; wins over `allow`.")
    load: PluginLoad = part(PluginLoad)
    slots: Slots = part(Slots)
    entries: PluginEntries = part(PluginEntries)
    foreign = words("installs")

    def runs(self, ident: str) -> bool:
        """Say whether a plugin is switched on: not denied, in a list of allowed ones if there is one, not disabled."""
        if not self.enabled or ident in self.deny or (self.allow and ident not in self.allow):
            return False
        attribute = PluginEntries.attributes.get(ident)
        entry = getattr(self.entries, attribute) if attribute else self.entries.others.get(ident)
        return entry is None or bool(entry.enabled)
