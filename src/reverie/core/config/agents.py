"""The keys of ``agents``: defaults for all agents, and entries for single ones."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from reverie.core.config.compound import Lenient, ListOf, MapOf, OrOff
from reverie.core.config.kinds import Choice, Duration, Number, Size, Switch, Text, Whole, zone
from reverie.core.config.memory import AgentMemory
from reverie.core.config.section import Part, Section, key, part, words
from reverie.core.paths import agent_id

THINKING = ("off", "minimal", "low", "medium", "high", "xhigh", "adaptive", "max")


#: What a model reads in the place of a tool result that was cleared (OpenClaw 2026.9.6).
CLEARED = "[Old tool result content cleared]"


class MemoryFlush(Section):
    """Saving what lasts before a conversation is summarised."""

    enabled: bool = key(Switch(), True, "Save durable facts to today's note before compaction.")
    model: str | None = key(Text(), None, "The model of the flush (`provider/model`), without a fallback chain.")
    soft_threshold_tokens: int = key(Whole(0), 4000, "Flush so many tokens before compaction is due.")
    force_flush_transcript_bytes: int = key(
        Size(), 2_097_152, "Flush when the visible transcript has grown so much; 0 turns this off."
    )


class QualityGuard(Section):
    """Checks of a summary."""

    enabled: bool = key(Switch(), True, "Check that a summary kept the identifiers.")
    max_retries: int = key(Whole(0, 3), 1, "How often a summary that failed the check is asked for again.")


class Precheck(Section):
    """A check inside a turn."""

    enabled: bool = key(Switch(), False, "Look at the size of the context between tool calls too.")


class Compaction(Section):
    """Summarising a long conversation."""

    enabled: bool = key(Switch(), True, "Compact when the context is full; overflow recovery and /compact stay.")
    mode: str = key(Choice("default", "safeguard"), "safeguard", "How: simple summary, or with safeguards.")
    provider: str | None = key(Text(), None, "The id of a compaction provider; forces safeguard.")
    model: str | None = key(Text(), None, "The model of summaries; unset: the session's.")
    thinking_level: str = key(Choice("inherit", *THINKING), "low", "How much the model thinks.")
    timeout_seconds: int = key(Whole(1, 86_400), 180, "How long a summary may take.")
    keep_recent_tokens: int = key(Whole(0), 20_000, "So many tokens at the end are never summarised.")
    recent_turns_preserve: int = key(Whole(0, 12), 3, "So many turns at the end are kept word for word (safeguard).")
    identifier_policy: str = key(Choice("strict", "off", "custom"), "strict", "Whether identifiers must survive.")
    identifier_instructions: str | None = key(Text(), None, "The instructions of the policy `custom`.")
    quality_guard: QualityGuard = part(QualityGuard)
    mid_turn_precheck: Precheck = part(Precheck)
    post_index_sync: str = key(Choice("off", "async", "await"), "async", "Whether the session index follows at once.")
    post_compaction_sections: tuple[str, ...] = key(ListOf(Text()), (), "Headings of AGENTS.md to repeat afterwards.")
    max_active_transcript_bytes: int | None = key(OrOff(Size()), None, "Compact before a run when larger.")
    notify_user: bool = key(Switch(), False, "Tell the user when a compaction happens.")
    reserve_tokens_floor: int = key(Whole(0), 20_000, "So many tokens at least stay free for the answer.")
    memory_flush: MemoryFlush = part(MemoryFlush)


class SoftTrim(Section):
    """The middle of a long tool result is cut out."""

    max_chars: int = key(Whole(1), 4000, "Tool results longer than this are trimmed.")
    head_chars: int = key(Whole(0), 1500, "How much of the beginning stays.")
    tail_chars: int = key(Whole(0), 1500, "How much of the end stays.")


class HardClear(Section):
    """A tool result is replaced whole."""

    enabled: bool = key(Switch(), True, "Replace old tool results when trimming was not enough.")
    placeholder: str = key(Text(), CLEARED, "What stands in their place.")


class PruningTools(Section):
    """Which tools' results are pruned."""

    allow: tuple[str, ...] = key(ListOf(Text()), (), "Names or globs whose results may be pruned; empty: all.")
    deny: tuple[str, ...] = key(ListOf(Text()), (), "Names or globs whose results stay; wins over `allow`.")


class ContextPruning(Section):
    """Old tool results leave the context, never the transcript."""

    mode: str = key(Choice("off", "cache-ttl"), "off", "Whether old tool results are pruned before a model call.")
    ttl: timedelta = key(
        Lenient(Duration("m"), timedelta(minutes=5)), timedelta(minutes=5), "Prune when the last call is older."
    )
    usage_threshold: float | None = key(
        OrOff(Number(0, 1)), 0.85, "Prune a busy session too, from this share of the context window on; false: never."
    )
    keep_last_assistants: int = key(Whole(0), 3, "The results after the last so many answers stay.")
    soft_trim_ratio: float = key(Number(0, 1), 0.3, "Trim from this share of the context window on.")
    hard_clear_ratio: float = key(Number(0, 1), 0.5, "Clear from this share of the context window on.")
    min_prunable_tool_chars: int = key(Whole(0), 50_000, "Clear only if so much could be won.")
    soft_trim: SoftTrim = part(SoftTrim)
    hard_clear: HardClear = part(HardClear)
    tools: PruningTools = part(PruningTools)


class ContextLimits(Section):
    """Sizes of what tools return."""

    memory_get_max_chars: int = key(Whole(1, 250_000), 12_000, "How much `memory_get` returns at once.")


class StartupContext(Section):
    """Recent daily notes on the first turn after a reset, quoted as untrusted."""

    enabled: bool = key(Switch(), True, "Show recent daily notes after /new and /reset.")
    apply_on: tuple[str, ...] = key(ListOf(Choice("new", "reset")), ("new", "reset"), "After which commands.")
    daily_memory_days: int = key(Whole(1, 14), 2, "How many days back.")
    max_file_bytes: int = key(Whole(1, 65_536), 16_384, "How much of a note is read.")
    max_file_chars: int = key(Whole(1, 10_000), 1200, "How much of a note is shown.")
    max_total_chars: int = key(Whole(1, 50_000), 2800, "How much is shown in all.")


class ModelChoice(Section):
    """A model and what replaces it."""

    primary: str | None = key(Text(), None, "The model (`provider/model`).")
    fallbacks: tuple[str, ...] = key(ListOf(Text()), (), "Models to use when it fails, in order.")


class AgentSettings(Section):
    """What can be set for all agents and for one."""

    workspace: str | None = key(Text(), None, "The workspace folder; relative to the state folder, `~` is the home.")
    user_timezone: str | None = key(zone(), None, "The user's time zone; unset: the machine's.")
    model: ModelChoice = key(Part(ModelChoice, "primary"), ModelChoice.empty(), "The chat model (`provider/model`).")
    bootstrap_max_chars: int = key(Whole(1), 20_000, "How much of one workspace file enters a prompt.")
    bootstrap_total_max_chars: int = key(Whole(1), 60_000, "How much of all workspace files together.")
    context_limits: ContextLimits = part(ContextLimits)
    context_injection: str = key(
        Choice("always", "continuation-skip", "never"), "always", "When workspace files enter the prompt."
    )
    startup_context: StartupContext = part(StartupContext)
    compaction: Compaction = part(Compaction)
    context_pruning: ContextPruning = part(ContextPruning)
    foreign = words(
        "sandbox heartbeat models imageModel subagents maxConcurrent timeoutSeconds thinkingDefault "
        "verboseDefault elevatedDefault typingMode typingIntervalSeconds humanDelay mediaMaxMb repoRoot "
        "skipBootstrap timeFormat envelopeTimezone cliBackends blockStreamingDefault blockStreamingChunk agentDir "
        "name identity groupChat skills tools params runtime"
    )


class SystemAgent(Section):
    """Who owns jobs that name no agent."""

    agent_id: str | None = key(Text(), None, "The agent that owns jobs which name none.")


class AgentDefaults(AgentSettings):
    """``agents.defaults``."""

    system_agent: SystemAgent = part(SystemAgent)


class AgentEntry(AgentSettings):
    """``agents.entries.<id>``."""

    described_at = (AgentSettings, "agents.defaults")
    default: bool = key(Switch(), False, "Whether this is the agent that is used when none is named.")
    memory: AgentMemory = part(AgentMemory)


class Agents(Section):
    """``agents``."""

    defaults: AgentDefaults = part(AgentDefaults)
    entries: Mapping[str, AgentEntry] = key(MapOf(Part(AgentEntry), "<id>", agent_id), {}, "Single agents by id.")
