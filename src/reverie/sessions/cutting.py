"""Where a conversation is cut when it is compacted: what is summarised, and what stays word for word."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reverie.sessions.measure import message_tokens, text_tokens
from reverie.sessions.messages import MessageRole
from reverie.sessions.tree import BOUNDARIES, Entry

#: A conversation can go on from here; a tool result must stay with its call.
_CUTS = frozenset({MessageRole.USER, MessageRole.ASSISTANT, MessageRole.CUSTOM, MessageRole.BASH})
_SPEAKING = frozenset({"branch_summary", "custom_message"})


@dataclass(frozen=True, slots=True)
class Live:
    """What of a path is still in the model's context. ``boundary`` is the last compaction or reset, if there is one."""

    entries: tuple[Entry, ...]
    boundary: Entry | None = None

    @property
    def summary(self) -> str:
        """Return the summary that the context begins with."""
        found = self.boundary.data.get("summary") if self.boundary and self.boundary.type == "compaction" else None
        return found if isinstance(found, str) else ""

    @property
    def tokens(self) -> int:
        """Return an estimate of the context's tokens."""
        return text_tokens(self.summary) + sum(map(entry_tokens, self.entries))


@dataclass(frozen=True, slots=True)
class Cut:
    """A cut: ``kept`` stays; ``history`` goes, and ``turn_prefix``, the beginning of a turn that is cut apart."""

    history: tuple[Entry, ...]
    turn_prefix: tuple[Entry, ...]
    kept: tuple[Entry, ...]

    @property
    def gone(self) -> tuple[Entry, ...]:
        """Return everything that is summarised."""
        return self.history + self.turn_prefix

    @property
    def kept_tokens(self) -> int:
        """Return an estimate of the tokens that stay."""
        return sum(map(entry_tokens, self.kept))


def entry_tokens(entry: Entry) -> int:
    """Return an estimate of the tokens of an entry: none if the model is not shown it."""
    if entry.message is not None:
        return 0 if entry.message.hidden else message_tokens(entry.message)
    if entry.type in _SPEAKING:
        said = entry.data.get("summary") or entry.data.get("content")
        return text_tokens(said if isinstance(said, str) else str(said or ""))
    return 0


def live_of(path: Sequence[Entry]) -> Live:
    """Return what of a path is in the context, as :func:`~reverie.sessions.tree.context_of` shows it."""
    at = next((place for place in range(len(path) - 1, -1, -1) if path[place].type in BOUNDARIES), None)
    if at is None:
        return Live(tuple(path))
    kept_from = path[at].data.get("firstKeptEntryId")
    first = next((place for place in range(at) if path[place].id == kept_from), at) if kept_from else at
    before = tuple(entry for entry in path[first:at] if entry.type not in BOUNDARIES)
    return Live((*before, *path[at + 1 :]), path[at])


def find_cut(live: Live, keep_tokens: int) -> Cut | None:
    """Return the cut that leaves about the last ``keep_tokens``; ``None`` if nothing could go.

    From the newest entry back, tokens are added up to that number; the nearest place where a conversation can be
    entered is the cut: at that entry or after it, else before it. What is no message and stands right before the cut
    stays with it.
    """
    entries = live.entries
    places = [place for place, entry in enumerate(entries) if _can_cut(entry)]
    reached, summed = None, 0
    for place in range(len(entries) - 1, -1, -1):
        summed += entry_tokens(entries[place])
        if summed >= max(1, keep_tokens):
            reached = place
            break
    if reached is None or not places:
        return None
    at = next((place for place in places if place >= reached), places[-1])
    opened = next((place for place in range(at, -1, -1) if _opens(entries[place])), None)
    while at > 0 and not _speaks(entries[at - 1]):
        at -= 1
    split = opened is not None and opened < at and not _opens(entries[_first_spoken(entries, at)])
    start = opened if split and opened is not None else at
    cut = Cut(entries[:start], entries[start:at], entries[at:])
    return cut if any(map(_speaks, cut.gone)) else None


def _first_spoken(entries: Sequence[Entry], at: int) -> int:
    return next((place for place in range(at, len(entries)) if _speaks(entries[place])), at)


def _can_cut(entry: Entry) -> bool:
    if entry.message is not None:
        return entry.message.role in _CUTS and not entry.message.hidden
    return entry.type in _SPEAKING


def _opens(entry: Entry) -> bool:
    return entry.message is not None and entry.message.role is MessageRole.USER


def _speaks(entry: Entry) -> bool:
    return entry.message is not None or entry.type in _SPEAKING
