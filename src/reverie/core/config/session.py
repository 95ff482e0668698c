"""The keys of ``session``, ``cron`` and ``bindings``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from reverie.core.config.compound import Anything, Lenient, ListOf, MapOf, OrOff
from reverie.core.config.kinds import Choice, Duration, Size, Switch, Text, Whole
from reverie.core.config.section import Part, Section, key, part, words

DM_SCOPES = ("main", "per-peer", "per-channel-peer", "per-account-channel-peer")
_DAY = timedelta(days=1)


def _dm_scope() -> Choice:
    return Choice(*DM_SCOPES, aliases={"per-agent": "main"})


class Reset(Section):
    """When a conversation begins anew by itself."""

    mode: str | None = key(
        Choice("none", "daily", "idle"),
        None,
        "By command only, daily at an hour, or after a pause; unset: none.",
    )
    at_hour: int | None = key(Whole(0, 23), None, "The hour of daily resets, in the user's time zone; unset: 4.")
    idle_minutes: int | None = key(Whole(0), None, "Reset after so many minutes without use; 0: no limit.")


class ResetByType(Section):
    """Resets by the type of the conversation."""

    direct: Reset = part(Reset)
    group: Reset = part(Reset)
    thread: Reset = part(Reset)


class Match(Section):
    """What a rule applies to."""

    channel: str | None = key(Text(), None, "The channel.")
    chat_type: str | None = key(Choice("direct", "group", "channel", aliases={"dm": "direct"}), None, "The chat type.")
    key_prefix: str | None = key(Text(), None, "How the session key begins, behind the agent.")
    raw_key_prefix: str | None = key(Text(), None, "How the whole session key begins.")


class SendRule(Section):
    """One rule of the send policy."""

    action: str = key(Choice("allow", "deny"), "allow", "What the rule does.")
    match: Match = part(Match)


class SendPolicy(Section):
    """Which conversations are answered."""

    default: str = key(Choice("allow", "deny"), "allow", "What holds where no rule matches.")
    rules: tuple[SendRule, ...] = key(
        ListOf(Part(SendRule)),
        (),
        "Rules with `action` and `match` (channel, chatType, keyPrefix, rawKeyPrefix); a deny wins.",
    )


class Maintenance(Section):
    """What is cleaned up in the session store."""

    mode: str = key(Choice("enforce", "warn"), "enforce", "Do it, or only say what would be done.")
    prune_after: timedelta = key(
        Lenient(Duration("d"), 30 * _DAY), 30 * _DAY, "Sessions not used for so long leave the list."
    )
    max_entries: int = key(Whole(1), 500, "At most so many sessions are listed.")
    reset_archive_retention: timedelta | None = key(
        Lenient(OrOff(Duration("d")), None),
        None,
        "Archives of resets are deleted after this; unset or false: kept.",
    )
    max_disk_bytes: int | None = key(Lenient(OrOff(Size()), None), 10 * 1024**3, "The disk budget; false or 0: none.")
    high_water_bytes: int | None = key(Size(), None, "Clean up down to this; unset or 0: 80 % of `maxDiskBytes`.")
    archive_dashboard_after: timedelta | None = key(
        Lenient(OrOff(Duration("d")), None), 7 * _DAY, "Idle dashboard sessions are shelved after this; false: never."
    )
    preserve_recent: timedelta | None = key(
        Lenient(OrOff(Duration("d")), 7 * _DAY),
        None,
        "Sessions used so recently are never cleaned up.",
    )

    @property
    def clean_up_to(self) -> int | None:
        """Return the bytes to clean up down to, or ``None`` without a budget: at least 1, at most the budget."""
        if self.max_disk_bytes is None:
            return None
        return max(1, min(self.high_water_bytes or self.max_disk_bytes * 4 // 5, self.max_disk_bytes))


class Session(Section):
    """``session``."""

    dm_scope: str | None = key(
        _dm_scope(), None, "Which direct chats share a session; unset: the owner's do, everybody else's stay apart."
    )
    scope: str = key(Choice("per-sender", "global"), "per-sender", "Whether all conversations are one session.")
    group_scope: str = key(Choice("per-group", "main"), "per-group", "Whether groups write to the main session.")
    main_key: str = key(Text(), "main", "The name of the main session.")
    identity_links: Mapping[str, tuple[str, ...]] = key(
        MapOf(ListOf(Text()), "<person>"), {}, "Accounts (`channel:id`) that are one person."
    )
    send_policy: SendPolicy = part(SendPolicy)
    reset: Reset = part(Reset)
    reset_by_type: ResetByType = part(ResetByType)
    reset_by_channel: Mapping[str, Reset] = key(MapOf(Part(Reset), "<channel>"), {}, "Resets by channel; win outright.")
    reset_triggers: tuple[str, ...] = key(ListOf(Text()), ("/new", "/reset"), "Messages that begin a new session.")
    store: str | None = key(Text(), None, "Another place of `sessions.json`; `{agentId}` stands for the agent.")
    maintenance: Maintenance = part(Maintenance)
    foreign = words("typingMode typingIntervalSeconds agentToAgent threadBindings writeLock parentForkMaxTokens")


class Cron(Section):
    """``cron``."""

    enabled: bool = key(Switch(), True, "Run scheduled jobs; false also stops the nightly sweep.")
    session_retention: timedelta | None = key(
        Lenient(OrOff(Duration("h")), None), _DAY, "Sessions of scheduled runs leave the list after this; false: never."
    )
    foreign = words("store maxConcurrentRuns webhook webhookToken runLog retry failureAlert")


class BindingSession(Section):
    """Overrides of one binding."""

    dm_scope: str | None = key(_dm_scope(), None, "Which direct chats of this binding share a session.")
    group_scope: str | None = key(Choice("per-group", "main"), None, "Whether its groups write to the main session.")


class Binding(Section):
    """Which agent gets which messages."""

    agent_id: str | None = key(Text(), None, "The agent.")
    match: Mapping[str, object] = key(Anything(), {}, "What it applies to: channel, account, peer and so on.")
    session: BindingSession = part(BindingSession)
    foreign = words("type comment acp")
