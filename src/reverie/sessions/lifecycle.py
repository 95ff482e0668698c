"""When a conversation goes on in a new transcript, and which messages of a group are meant for the agent.

Pure functions: what is configured, what is known of the session, and the present moment go in; a decision with its
reason comes out. Nothing a program says (heartbeats, scheduled jobs) resets a session or keeps it fresh.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from reverie.core.clock import as_utc
from reverie.core.config.session import Reset, Session
from reverie.core.types import ChatType, SessionKind
from reverie.sessions.keys import SessionKey

#: The hour of daily resets, and the pause that the mode ``idle`` allows, where none is set.
AT_HOUR, IDLE_MINUTES = 4, 60

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PATTERN_CHARS = 200
#: A repeated group that repeats inside, or a reference back: patterns that a message could make run for hours.
_RUNAWAY = re.compile(r"\([^()]*[+*{][^()]*\)[+*{?]|\\[1-9]|\(\?P=")


class ResetMode(StrEnum):
    """What makes a session begin anew by itself."""

    NONE = "none"
    DAILY = "daily"
    IDLE = "idle"


class EndReason(StrEnum):
    """Why a transcript ended."""

    NEW = "new"
    RESET = "reset"
    DAILY = "daily"
    IDLE = "idle"
    CLOSE = "close"


# --- freshness -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Policy:
    """When a session is stale. ``source`` names the part of the configuration that decided."""

    mode: ResetMode = ResetMode.NONE
    at_hour: int = AT_HOUR
    idle_minutes: int | None = None
    source: str = "session.reset"


@dataclass(frozen=True, slots=True)
class Usage:
    """What is known of a session's use: times of its row, and of the header of its transcript."""

    started_at: datetime | None = None
    header_at: datetime | None = None
    updated_at: datetime | None = None
    last_interaction_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Freshness:
    """Whether a session is stale, why, and since when; ``why`` is a sentence for people."""

    stale: bool
    reason: EndReason | None = None
    since: datetime | None = None
    why: str = ""


def policy_for(settings: Session, key: SessionKey, *, chat: ChatType = ChatType.UNKNOWN, channel: str = "") -> Policy:
    """Return the policy of a session.

    An entry of ``resetByChannel`` wins outright; else ``resetByType`` is laid over ``reset``.

    Args:
        settings: the section ``session``.
        key: the session.
        chat: who reads along, where the host knows better than the key.
        channel: the channel, where the key does not name it.
    """
    wanted = (channel or key.channel or "").strip().lower()
    by_channel = next(
        (each for name, each in settings.reset_by_channel.items() if name.strip().lower() == wanted), None
    )
    if wanted and by_channel is not None:
        return _policy(by_channel, None, f"session.resetByChannel.{wanted}")
    shared = key.shared or chat in (ChatType.GROUP, ChatType.CHANNEL)
    kind = "thread" if key.thread else "group" if shared else "direct"
    by_type: Reset = getattr(settings.reset_by_type, kind)
    given = (by_type.mode, by_type.at_hour, by_type.idle_minutes) != (None, None, None)
    return _policy(by_type, settings.reset, f"session.resetByType.{kind}" if given else "session.reset")


def _policy(first: Reset, base: Reset | None, source: str) -> Policy:
    """Put a policy together: what ``first`` sets, else what ``base`` sets, else the default."""
    over = base or Reset.empty()
    hour = over.at_hour if first.at_hour is None else first.at_hour
    idle = over.idle_minutes if first.idle_minutes is None else first.idle_minutes
    mode = first.mode or over.mode or (ResetMode.IDLE if idle else ResetMode.NONE)
    if mode == ResetMode.IDLE and idle is None:
        idle = IDLE_MINUTES
    return Policy(ResetMode(mode), AT_HOUR if hour is None else hour, idle or None, source)


def freshness(policy: Policy, usage: Usage, now: datetime, zone: str) -> Freshness:
    """Say whether a session is stale at ``now``.

    Daily: it began before the last ``at_hour`` o'clock of ``zone``. Idle: nobody spoke for longer than
    ``idle_minutes``, which a daily policy may set too. Of two limits the one that was reached first is the reason.
    Times that lie in the future are not believed.
    """
    started = _first(now, usage.started_at, usage.header_at, usage.updated_at)
    used = _first(now, usage.last_interaction_at, started, usage.updated_at)
    found: list[tuple[datetime, EndReason, str]] = []
    if policy.mode is ResetMode.DAILY and started is not None:
        boundary = last_boundary(policy.at_hour, now, zone)
        if started < boundary:
            found.append(
                (_next_boundary(policy.at_hour, started, zone), EndReason.DAILY, f"{policy.at_hour}:00 passed")
            )
    if policy.mode is not ResetMode.NONE and policy.idle_minutes and used is not None:
        limit = used + timedelta(minutes=policy.idle_minutes)
        if now > limit:
            found.append((limit, EndReason.IDLE, f"nobody spoke for {policy.idle_minutes} minutes"))
    if not found:
        return Freshness(stale=False, why=f"{policy.source}: {policy.mode}")
    since, reason, why = min(found, key=lambda one: one[0])
    return Freshness(stale=True, reason=reason, since=since, why=f"{why} ({policy.source})")


def last_boundary(hour: int, now: datetime, zone: str) -> datetime:
    """Return the last moment at or before ``now`` at which the clocks of ``zone`` showed ``hour``:00, in UTC."""
    day = as_utc(now).astimezone(ZoneInfo(zone)).date()
    for back in range(3):
        on = day - timedelta(days=back)
        at = datetime(on.year, on.month, on.day, hour, tzinfo=ZoneInfo(zone)).astimezone(UTC)
        if at <= as_utc(now):
            return at
    return as_utc(now)


def _next_boundary(hour: int, after: datetime, zone: str) -> datetime:
    day = as_utc(after).astimezone(ZoneInfo(zone)).date()
    for ahead in range(3):
        on = day + timedelta(days=ahead)
        at = datetime(on.year, on.month, on.day, hour, tzinfo=ZoneInfo(zone)).astimezone(UTC)
        if at > as_utc(after):
            return at
    return as_utc(after)


def _first(now: datetime, *times: datetime | None) -> datetime | None:
    return next((as_utc(at) for at in times if at is not None and _EPOCH <= as_utc(at) <= as_utc(now)), None)


def resets_by_itself(kind: SessionKind, key: SessionKey) -> bool:
    """Say whether a message in this session may find it stale: not where programs talk to themselves."""
    return kind in (SessionKind.INTERACTIVE, SessionKind.UNKNOWN) and not key.synthetic


# --- commands --------------------------------------------------------------------------------------------------


class CommandName(StrEnum):
    """What an owner can ask of a session in a message."""

    RESET = "reset"
    SOFT_RESET = "soft-reset"
    COMPACT = "compact"
    ACTIVATION = "activation"


@dataclass(frozen=True, slots=True)
class Command:
    """A message that is a command. ``rest`` is what follows it; ``reason`` belongs to a reset."""

    name: CommandName
    rest: str = ""
    reason: EndReason = EndReason.RESET


def command_in(text: str, triggers: Sequence[str]) -> Command | None:
    """Read a message as a command, or ``None``. Whether its sender may give one is not asked here.

    Args:
        text: the message, with a mention of the agent taken out.
        triggers: the texts that begin a new session (``session.resetTriggers``); letter case does not count.
    """
    for trigger in sorted({one.strip() for one in triggers if one.strip()}, key=lambda one: (-len(one), one)):
        rest = _after(text, trigger)
        if rest is None:
            continue
        soft = _after(rest, "soft") if trigger.lower() == "/reset" else None
        if soft is not None:
            return Command(CommandName.SOFT_RESET, soft)
        return Command(CommandName.RESET, rest, EndReason.NEW if trigger.lower() == "/new" else EndReason.RESET)
    for name in (CommandName.COMPACT, CommandName.ACTIVATION):
        rest = _after(text, f"/{name}")
        if rest is not None:
            return Command(name, rest)
    return None


def _after(text: str, word: str) -> str | None:
    """Return what follows ``word`` at the beginning of a text, ``None`` if the text does not begin with it."""
    said = text.strip()
    if said[: len(word)].casefold() != word.casefold() or not (said[len(word) :] or " ")[0].isspace():
        return None
    return said[len(word) :].strip()


# --- groups ----------------------------------------------------------------------------------------------------


class Activation(StrEnum):
    """Which messages of a group the agent answers."""

    MENTION = "mention"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class Addressed:
    """Whether a message is meant for the agent, why, and its text without the mention."""

    active: bool
    reason: str
    text: str


def mention_patterns(patterns: Iterable[str]) -> tuple[tuple[re.Pattern[str], ...], tuple[str, ...]]:
    """Return the patterns that can be used, and those that are refused: malformed, too long, or able to run away."""
    usable, refused = [], []
    for text in patterns:
        if not text or len(text) > _PATTERN_CHARS or _RUNAWAY.search(text):
            refused.append(text)
            continue
        try:
            usable.append(re.compile(text, re.IGNORECASE))
        except re.error:
            refused.append(text)
    return tuple(usable), tuple(refused)


def addressed(
    text: str,
    *,
    shared: bool,
    mode: Activation = Activation.MENTION,
    mentioned: bool = False,
    replied: bool = False,
    patterns: Sequence[re.Pattern[str]] = (),
) -> Addressed:
    """Say whether a message is meant for the agent.

    Args:
        text: the message.
        shared: whether others read along; in a conversation of two everything is meant.
        mode: what the session is set to.
        mentioned: the channel itself marked the agent as mentioned.
        replied: the message answers one of the agent's.
        patterns: see :func:`mention_patterns`.
    """
    found = next((match for pattern in patterns if (match := pattern.search(text)) and match.group()), None)
    # Only a mention before everything else is an address; inside a sentence it is part of what is said.
    said = text[found.end() :].lstrip(" \t,:;，：、") if found and not text[: found.start()].strip() else text
    if not shared:
        return Addressed(True, "a conversation of two", said)
    if mode is Activation.ALWAYS:
        return Addressed(True, "every message of this group is answered", said)
    if mentioned or found:
        return Addressed(True, "the agent is mentioned", said)
    if replied:
        return Addressed(True, "it answers the agent", said)
    return Addressed(False, "the agent is neither mentioned nor answered", said)
