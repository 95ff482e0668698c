"""Pruning (``cache-ttl``): old tool results leave the model's context, never the transcript.

A long result first loses its middle; where that is not enough, whole results are replaced by a placeholder, the oldest
first. Only results are touched, so every call keeps its answer; results with images, what people and the assistant
said, what stands before the first user message, and the last few answers with their tools stay as they are.

It runs when the provider's cache of the context has lapsed (``ttl``), and in a session too busy for that once the
context is nearly full (``usageThreshold``). What was shortened once is shortened in the same way from then on: the
beginning of a context must stay the same for a provider to find it in its cache.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from reverie.core.clock import as_utc
from reverie.core.config.agents import CLEARED, ContextPruning, PruningTools
from reverie.core.text import sha256
from reverie.sessions.measure import has_image, message_chars, utf16_head, utf16_length, utf16_tail
from reverie.sessions.messages import Block, Message, MessageRole, epoch_ms, moment

#: Characters of a context window for one of its tokens.
CHARS_A_TOKEN = 4
_MARKS = 4000  # of shortened results that are remembered; older ones have left every context


class Cause(StrEnum):
    """Why pruning ran, or did not."""

    OFF = "off"
    NOTHING_OLD = "nothing is old enough"
    UNKNOWN_TOUCH = "it is not known when the context was last sent"
    CACHED = "the provider still has the context in its cache"
    ROOMY = "the context has room"
    LAPSED = "the provider's cache has lapsed"
    FULL = "the context is nearly full"


@dataclass(frozen=True, slots=True)
class PruneState:
    """What pruning remembers of a session: when the context was last sent anew, and which results were shortened."""

    touched: datetime | None = None
    trimmed: frozenset[str] = frozenset()
    cleared: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Pruned:
    """A context after pruning. ``trimmed`` and ``cleared`` count the results that were newly shortened."""

    messages: tuple[Message, ...]
    state: PruneState
    cause: Cause
    trimmed: int = 0
    cleared: int = 0
    chars_before: int = 0
    chars_after: int = 0

    @property
    def changed(self) -> bool:
        """Say whether anything was shortened that was whole before."""
        return bool(self.trimmed or self.cleared)


def prune(
    messages: Sequence[Message], settings: ContextPruning, *, state: PruneState, window: int, now: datetime
) -> Pruned:
    """Return the context for the next call of the model.

    Args:
        messages: the context as the transcript tells it.
        settings: the section ``contextPruning``.
        state: what the last call of this function returned for this session.
        window: the size of the model's context, in tokens.
        now: the present moment.
    """
    every = tuple(messages)
    if settings.mode == "off" or window <= 0:
        return Pruned(every, state, Cause.OFF)
    every = tuple(_again(message, state, settings) for message in every)
    size = sum(map(message_chars, every))
    room = window * CHARS_A_TOKEN
    cause = _cause(settings, state, size / room, now)
    if cause not in (Cause.LAPSED, Cause.FULL):
        return Pruned(every, state, cause, 0, 0, size, size)
    old = _old(every, settings.keep_last_assistants)
    if not old:
        return Pruned(every, state, Cause.NOTHING_OLD, 0, 0, size, size)
    if size / room < settings.soft_trim_ratio:
        return Pruned(every, state, Cause.ROOMY, 0, 0, size, size)
    places = [place for place in old if _prunable(every[place], settings.tools)]
    work = _Work(list(every), size, room, settings, places)
    # What was shortened once must not be shortened again, which could change its bytes.
    work.trim([place for place in places if _mark(messages[place]) not in state.trimmed | state.cleared])
    work.clear()
    if work.trimmed or work.cleared:
        kept = {_mark(message) for message in messages if message.role is MessageRole.TOOL_RESULT}
        before = [_mark(messages[place]) for place in range(len(every))]
        trimmed = (state.trimmed | {before[place] for place in work.trimmed}) & kept
        cleared = (state.cleared | {before[place] for place in work.cleared}) & kept
        state = PruneState(as_utc(now), trimmed - cleared, cleared)
    return Pruned(tuple(work.messages), state, cause, len(work.trimmed), len(work.cleared), size, work.size)


class _Work:
    """The shortening of one context; ``places`` are the results that may be shortened, oldest first."""

    def __init__(
        self, messages: list[Message], size: int, room: int, settings: ContextPruning, places: list[int]
    ) -> None:
        self.messages = messages
        self.size = size
        self.trimmed: list[int] = []
        self.cleared: list[int] = []
        self._room = room
        self._settings = settings
        self._places = places

    def trim(self, places: Sequence[int]) -> None:
        for place in places:
            shorter = _trimmed(self.messages[place], self._settings)
            if shorter is not None:
                self._put(place, shorter)
                self.trimmed.append(place)

    def clear(self) -> None:
        settings = self._settings
        if not settings.hard_clear.enabled or not self._over():
            return
        whole = [place for place in self._places if not _is_cleared(self.messages[place], settings)]
        if sum(message_chars(self.messages[place]) for place in whole) < settings.min_prunable_tool_chars:
            return
        for place in whole:
            if not self._over():
                return
            self._put(place, _cleared(self.messages[place], settings))
            self.cleared.append(place)

    def _over(self) -> bool:
        return self.size / self._room >= self._settings.hard_clear_ratio

    def _put(self, place: int, message: Message) -> None:
        self.size += message_chars(message) - message_chars(self.messages[place])
        self.messages[place] = message


# --- when ------------------------------------------------------------------------------------------------------


def _cause(settings: ContextPruning, state: PruneState, used: float, now: datetime) -> Cause:
    if settings.usage_threshold is not None and used >= settings.usage_threshold:
        return Cause.FULL
    if state.touched is None or settings.ttl <= timedelta():
        return Cause.UNKNOWN_TOUCH
    return Cause.LAPSED if as_utc(now) - state.touched >= settings.ttl else Cause.CACHED


# --- what ------------------------------------------------------------------------------------------------------


def _old(messages: Sequence[Message], keep: int) -> range:
    """Return the places that are old: from the first user message up to the last answers that stay."""
    answers = [place for place, message in enumerate(messages) if message.role is MessageRole.ASSISTANT]
    asked = next((place for place, message in enumerate(messages) if message.role is MessageRole.USER), None)
    if asked is None or len(answers) < max(1, keep):
        return range(0)
    return range(asked, answers[-keep] if keep else len(messages))


def _prunable(message: Message, tools: PruningTools) -> bool:
    if message.role is not MessageRole.TOOL_RESULT or has_image(message):
        return False
    name = message.tool.lower()
    if any(fnmatchcase(name, pattern.lower()) for pattern in tools.deny):
        return False
    return not tools.allow or any(fnmatchcase(name, pattern.lower()) for pattern in tools.allow)


# --- how -------------------------------------------------------------------------------------------------------


def _trimmed(message: Message, settings: ContextPruning) -> Message | None:
    """Return a result without its middle, or ``None`` if it is short enough."""
    soft, text = settings.soft_trim, message.text
    length = utf16_length(text)
    if length <= soft.max_chars or length <= soft.head_chars + soft.tail_chars:
        return None
    note = (
        f"[Shortened: the first {soft.head_chars} and the last {soft.tail_chars} of {length} characters of this "
        "tool result are kept.]"
    )
    head, tail = utf16_head(text, soft.head_chars), utf16_tail(text, soft.tail_chars)
    shorter = f"{head}\n...\n{tail}\n\n{note}"
    return _with_text(message, shorter) if utf16_length(shorter) < length else None


def _cleared(message: Message, settings: ContextPruning) -> Message:
    return _with_text(message, _placeholder(settings))


def _is_cleared(message: Message, settings: ContextPruning) -> bool:
    return message.text == _placeholder(settings)


def _placeholder(settings: ContextPruning) -> str:
    return settings.hard_clear.placeholder.strip() or CLEARED


def _with_text(message: Message, text: str) -> Message:
    return replace(message, blocks=(Block.of_text(text),), plain=False)


def _again(message: Message, state: PruneState, settings: ContextPruning) -> Message:
    """Shorten a result as it was shortened before."""
    if message.role is not MessageRole.TOOL_RESULT or not (state.trimmed or state.cleared):
        return message
    mark = _mark(message)
    if mark in state.cleared:
        return _cleared(message, settings)
    return (_trimmed(message, settings) or message) if mark in state.trimmed else message


def _mark(message: Message) -> str:
    """Return what a result is known by: calls of old transcripts are not always numbered apart, so its words count."""
    return f"{message.fields.get('toolCallId', '')}:{sha256(message.text)[:12]}"


# --- to and from a row -----------------------------------------------------------------------------------------


def state_to_json(state: PruneState) -> dict[str, Any]:
    """Return a state as a session's row holds it."""
    found: dict[str, Any] = {"trimmed": sorted(state.trimmed)[:_MARKS], "cleared": sorted(state.cleared)[:_MARKS]}
    return found | ({"touchedAt": epoch_ms(state.touched)} if state.touched is not None else {})


def state_from_json(data: object) -> PruneState:
    """Read a state; what cannot be read in it counts as never done."""
    if not isinstance(data, Mapping):
        return PruneState()
    return PruneState(moment(data.get("touchedAt")), _marks(data.get("trimmed")), _marks(data.get("cleared")))


def _marks(found: object) -> frozenset[str]:
    return frozenset(one for one in found if isinstance(one, str)) if isinstance(found, list) else frozenset()
