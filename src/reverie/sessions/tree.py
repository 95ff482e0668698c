"""The tree that a transcript is, and the conversation that its active leaf tells. Pure functions over entries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from reverie.sessions.lines import JsonLine
from reverie.sessions.messages import (
    HOST_FIELD,
    Block,
    Message,
    MessageRole,
    message_from_json,
    moment,
    stamp_from_json,
)

#: Entries after which only what they keep is still in the model's context.
BOUNDARIES = frozenset({"compaction", "reset"})
_COMPACTED = "Earlier parts of this conversation were condensed into this summary:"
_BRANCHED = "This conversation went another way for a while; this is what was said there:"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a transcript after the header. ``data`` is the whole line; ``line`` is its 1-based number."""

    type: str
    id: str
    parent: str | None
    at: datetime | None
    line: int = 0
    data: Mapping[str, Any] = field(default_factory=dict)
    message: Message | None = None

    @property
    def side(self) -> bool:
        """Say whether this entry stands beside the conversation and does not continue it."""
        return self.data.get("appendMode") == "side"


def entry_of(data: Mapping[str, Any], *, line: int = 0) -> Entry | None:
    """Read one line as an entry; ``None`` if it is none. A type that is not known is an entry like any other."""
    kind, ident, parent, body = data.get("type"), data.get("id"), data.get("parentId"), data.get("message")
    if not isinstance(kind, str) or not kind or kind == "session":
        return None
    message = None
    if kind == "message":
        if not isinstance(body, dict):
            return None
        message = message_from_json(body)
    return Entry(
        type=kind,
        id=ident if isinstance(ident, str) else "",
        parent=parent if isinstance(parent, str) else None,
        at=moment(data.get("timestamp")),
        line=line,
        data=data,
        message=message,
    )


def entries_of(lines: Iterable[JsonLine], version: int) -> Iterator[Entry]:
    """Yield the entries of readable lines. In version 1, which has no ids, the lines form one chain."""
    previous: str | None = None
    for line in lines:
        entry = entry_of(line.data, line=line.number) if line.data is not None else None
        if entry is None:
            continue
        if version < 2:
            entry = replace(entry, id=entry.id or f"{line.number:08x}", parent=entry.parent or previous)
        previous = entry.id
        yield entry


def leaf_after(leaf: str | None, entry: Entry) -> str | None:
    """Return the active leaf once ``entry`` is there."""
    if entry.side:
        return leaf
    if entry.type == "leaf":
        target = entry.data.get("appendParentId") or entry.data.get("targetId")
        return target if isinstance(target, str) else None
    return entry.id or leaf


def path_to_leaf(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the entries from the root to the active leaf.

    Where an entry's parent cannot be found (its line is damaged), the readable line before it takes its place: a bad
    line must not cut off everything that was said before.
    """
    places = {entry.id: place for place, entry in enumerate(entries) if entry.id}
    leaf: str | None = None
    for entry in entries:
        leaf = leaf_after(leaf, entry)
    place = places.get(leaf) if leaf is not None else None
    if leaf is not None and place is None:
        place = len(entries) - 1
    found: list[Entry] = []
    seen: set[int] = set()
    while place is not None and place >= 0 and place not in seen:
        seen.add(place)
        entry = entries[place]
        if entry.type != "leaf":
            found.append(entry)
        if entry.parent is None:
            place = None if entry.type != "leaf" else place - 1
        else:
            # A parent that stands further down is a damaged or forged link; going down could turn in a circle.
            above = places.get(entry.parent, place - 1)
            place = above if above < place else place - 1
    return tuple(reversed(found))


def context_of(path: Sequence[Entry]) -> tuple[Message, ...]:
    """Return what the model is shown of a path: the last summary, what that kept, and everything after it."""
    at = next((place for place in range(len(path) - 1, -1, -1) if path[place].type in BOUNDARIES), None)
    if at is None:
        return tuple(_shown(path))
    boundary = path[at]
    kept_from = boundary.data.get("firstKeptEntryId")
    first = next((place for place in range(at) if path[place].id == kept_from), at) if kept_from else at
    summary = (_summary(boundary),) if boundary.type == "compaction" else ()
    return (*summary, *_shown(path[first:at]), *_shown(path[at + 1 :]))


def _shown(entries: Iterable[Entry]) -> Iterator[Message]:
    for entry in entries:
        if entry.message is not None and not entry.message.hidden:
            yield entry.message
        elif entry.type == "branch_summary":
            yield _summary(entry)
        elif entry.type == "custom_message":
            yield message_from_json({"timestamp": None, **entry.data, "role": MessageRole.CUSTOM.value})


def _summary(entry: Entry) -> Message:
    text = entry.data.get("summary")
    compacted = entry.type == "compaction"
    body = f"{_COMPACTED if compacted else _BRANCHED}\n<summary>\n{text if isinstance(text, str) else ''}\n</summary>"
    role = MessageRole.COMPACTION_SUMMARY if compacted else MessageRole.BRANCH_SUMMARY
    return Message(role, (Block.of_text(body),), entry.at, stamp_from_json(entry.data.get(HOST_FIELD)), plain=True)
