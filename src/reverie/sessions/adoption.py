"""Conversations that were held elsewhere, taken into the sessions folder: each entry once, with its own date.

Every entry that comes in is marked as imported, so that what was said here can be told from it. Doing it again adds
what is new; an entry that reads otherwise than the one taken in is reported, and the one here stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from reverie.core.clock import FixedClock
from reverie.core.errors import ImportRefused
from reverie.core.text import collapse, sha256
from reverie.core.types import ChatType, Clock, Ids, SessionKind
from reverie.sessions.directory import SessionDirectory
from reverie.sessions.messages import HOST_FIELD, Message, MessageRole, epoch_ms, iso, moment
from reverie.sessions.reading import Reading, header_at, is_session_id
from reverie.sessions.rows import Rows, narrowed, strings_in
from reverie.sessions.transcript import FsyncPolicy, Transcript
from reverie.sessions.tree import Entry, entry_of

#: The type of the entry that records an import in the transcript.
RECORD = "reverie.import"
IMPORTED = "imported"
#: Of an imported session: the owner vouched for it when it first came in.
MINE = "mine"
_BATCH = 400

Data = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Foreign:
    """A conversation from elsewhere. ``session`` and ``key`` are those that it gets here.

    ``kind`` is the most that it may count as. ``entries`` yields lines of a transcript in their order, with ids and
    stamps; it may be called more than once. ``record`` is what the act of importing leaves in the transcript.
    """

    source: str
    session: str
    key: str
    begun: datetime
    entries: Callable[[], Iterable[Data]]
    kind: SessionKind = SessionKind.INTERACTIVE
    chat: ChatType | None = None
    label: str = ""
    channel: str = ""
    parent: str = ""
    cwd: str = ""
    record: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Adopted:
    """What was taken in of a conversation: counts of messages, and the ids of entries that differ from those here.

    ``aside`` says that the conversation went on here, so that what is new stands beside it and is not its end.
    """

    session: str
    key: str
    label: str = ""
    added: int = 0
    known: int = 0
    created: bool = False
    aside: bool = False
    differing: tuple[str, ...] = ()


@dataclass(slots=True)
class _Present:
    """What stands in the transcript already."""

    there: bool = False
    prints: dict[str, str] = field(default_factory=dict)
    own_end: bool = False


def adopt(directory: SessionDirectory, found: Foreign, clock: Clock, ids: Ids, *, dry_run: bool = False) -> Adopted:
    """Take a conversation in, or what it has more than before.

    Raises:
        ImportRefused: a session of that id is here and is another one.
        TranscriptError: the transcript cannot be read or written.
    """
    path = directory.folder / f"{found.session}.jsonl"
    if not is_session_id(found.session):
        raise ImportRefused("This cannot be the id of a session", id=ascii(found.session[:140]))
    present = _present(path, found.key)
    tally = _Tally(present)
    batches = _batches(tally.new(found.entries()), _BATCH)
    first = next(batches, [])
    changed = bool(first) or not present.there
    if changed and not dry_run:
        transcript = _opened(path, found, clock, ids, present)
        if first:
            first = [_record(found, clock, ids), *first]
        while first:
            transcript.adopt(first)
            first = next(batches, [])
    else:
        for _ in batches:
            pass
    # Asked for again, since an import that was killed may have left a transcript that is on no list.
    if not dry_run and (changed or not directory.key_of(found.session)):
        directory.change(lambda rows: _listed(rows, found, tally.latest))
    return Adopted(
        session=found.session,
        key=found.key,
        label=found.label,
        added=tally.added,
        known=tally.known,
        created=not present.there,
        aside=present.own_end and tally.added > 0,
        differing=tuple(tally.differing),
    )


class _Tally:
    """Passes on entries that are new, and counts."""

    def __init__(self, present: _Present) -> None:
        self.added = self.known = 0
        self.differing: list[str] = []
        self.latest: datetime | None = None
        self._present = present

    def new(self, entries: Iterable[Data]) -> Iterator[Data]:
        prints = self._present.prints
        for data in entries:
            entry = entry_of(data)
            if entry is None or not entry.id:
                continue
            at = entry.message.at if entry.message is not None else entry.at
            self.latest = max((one for one in (self.latest, at) if one is not None), default=None)
            before, now = prints.get(entry.id), _print(entry)
            if before is None:
                prints[entry.id] = now
                self.added += entry.message is not None
                side = {"appendMode": "side"} if self._present.own_end else {}
                yield data | side
            else:
                self.known += entry.message is not None
                if before != now:
                    self.differing.append(entry.id)


def is_imported(data: Mapping[str, Any]) -> bool:
    """Say whether a line of a transcript, or a row, was brought in from elsewhere."""
    own = data.get(HOST_FIELD)
    return isinstance(own, Mapping) and bool(own.get(IMPORTED))


def is_vouched(data: Mapping[str, Any]) -> bool:
    """Say whether the owner vouched for an imported session, by its row."""
    own = data.get(HOST_FIELD)
    return isinstance(own, Mapping) and own.get(MINE) is True


def marked(data: Data, source: str) -> Data:
    """Return a line with the mark of its import."""
    return data | {HOST_FIELD: {IMPORTED: source}}


def _present(path: Path, key: str) -> _Present:
    if not path.exists():
        return _Present()
    header = header_at(path)
    if header is not None and header.key != key:
        raise ImportRefused("Another session of this id is here already", id=path.stem, key=header.key)
    found = _Present(there=True)
    with closing(iter(Reading(path))) as entries:
        for entry in entries:
            if entry.id:
                found.prints[entry.id] = _print(entry)
            if not entry.side:
                found.own_end = not is_imported(entry.data)
    return found


def _print(entry: Entry) -> str:
    """Return what an entry says, in short; blanks do not count (TRANS-12). Of what is no message it is empty."""
    return sha256(f"{entry.message.role} {collapse(_text(entry.message))}")[:16] if entry.message is not None else ""


def _text(message: Message) -> str:
    return "" if message.role is MessageRole.OTHER else message.text


def _opened(path: Path, found: Foreign, clock: Clock, ids: Ids, present: _Present) -> Transcript:
    if present.there:
        return Transcript.open(path, clock=clock, ids=ids)
    return Transcript.create(
        path,
        session=found.session,
        key=found.key,
        cwd=found.cwd,
        clock=FixedClock(found.begun),
        ids=ids,
        fsync=FsyncPolicy.ALWAYS,
    )


def _record(found: Foreign, clock: Clock, ids: Ids) -> Data:
    now = clock.now()
    return {
        "type": "custom",
        "id": sha256(ids.new())[:32],
        "parentId": None,
        "timestamp": iso(now),
        "appendMode": "side",
        "customType": RECORD,
        "data": {"source": found.source, **found.record},
    }


def _batches(entries: Iterable[Data], size: int) -> Iterator[list[Data]]:
    each = iter(entries)
    while batch := list(islice(each, size)):
        yield batch


def _listed(rows: Rows, found: Foreign, latest: datetime | None) -> None:
    """Put the conversation on the list. One that is there under its key goes on; this one is what it had before."""
    row = rows.get(found.key)
    row = row if isinstance(row, dict) else {}
    at = epoch_ms(latest or found.begun)
    if row and row.get("sessionId") != found.session:
        older = strings_in(row, "usageFamilySessionIds")
        if found.session not in older:
            row["usageFamilySessionIds"] = [found.session, *older]
        rows[found.key] = row
        return
    row |= {
        "sessionId": found.session,
        "sessionFile": f"{found.session}.jsonl",
        "sessionStartedAt": epoch_ms(found.begun),
    }
    used = moment(row.get("updatedAt"))
    row["updatedAt"] = max(at, epoch_ms(used)) if used is not None else at
    chat = _chat(row.get("chatType"), found.chat)
    row |= {"chatType": chat.value} if chat is not None else {}
    for name, value in (("label", found.label), ("channel", found.channel), ("spawnedBy", found.parent)):
        row |= {name: value} if value and not row.get(name) else {}
    before = row.get(HOST_FIELD)
    word = before.get(MINE) if isinstance(before, Mapping) else found.record.get(MINE)
    row[HOST_FIELD] = {IMPORTED: found.source, MINE: word is True} | _lowered_kind(found.kind)
    rows[found.key] = row


def _chat(present: object, said: ChatType | None) -> ChatType | None:
    known = next((chat for chat in ChatType if chat.value == present), None)
    return said if known is None else narrowed(known, said)


def _lowered_kind(kind: SessionKind) -> Data:
    return {"kind": kind.value} if kind is not SessionKind.INTERACTIVE else {}
