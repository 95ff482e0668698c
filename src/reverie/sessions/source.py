"""Transcripts as documents of the index: what was said, line by line, with the provenance of each line."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Collection, Container, Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

from reverie.core.errors import TranscriptError
from reverie.core.provenance import Role
from reverie.core.text import collapse, sha256
from reverie.core.types import Corpus, SessionKind, Skipped, SourceDocument, SourceLine, SourceScan, SourceStat
from reverie.sessions.capture import SYSTEM_REASONS, Captured, Dropped, capture
from reverie.sessions.directory import SessionDirectory
from reverie.sessions.keys import KeyForm, normal_agent
from reverie.sessions.reading import Reading
from reverie.sessions.tree import Entry
from reverie.workspace.reading import kind_of, reason_of

#: A message is cut into lines of at most this many characters.
LINE_CHARS = 800

#: A transcript, or one that a reset has put aside. What was deleted is not indexed.
_NAME = re.compile(r"(?P<id>[A-Za-z0-9][A-Za-z0-9._%-]{0,200}?)\.jsonl(?P<reset>\.reset\.[0-9TZ.-]{10,40})?")
_NOT_TALK = re.compile(r".*\.(?:trajectory|checkpoint\.[0-9a-fA-F-]{1,40}|corrupt-.*)")
_NOT_KEPT = frozenset({KeyForm.INCOGNITO, KeyForm.INTERNAL})
_SPEAKERS = {Role.USER: "User", Role.ASSISTANT: "Assistant"}


class TranscriptSource:
    """The transcripts of one agent as a :class:`~reverie.core.types.SourceProvider`.

    Args:
        folder: the agent's sessions folder.
        agent: the agent's id; it is part of every path (``sessions/<agent>/<session id>.jsonl``).
        main_key: the configured name of the main session.
        marker: the nonce of this process's blocks of recalled memory, if it has one.
        external_tools: tools whose results count as foreign when they declare nothing.
        redacted: replace secrets.
        forgotten: says of a session id that it was forgotten and must not come back (I8).
    """

    def __init__(
        self,
        folder: Path,
        agent: str = "main",
        *,
        main_key: str = "main",
        marker: str = "",
        external_tools: Container[str] = frozenset(),
        redacted: bool = True,
        forgotten: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._folder = folder
        self._prefix = f"sessions/{normal_agent(agent)}/"
        self._marker = marker
        self._external = external_tools
        self._redacted = redacted
        self._forgotten = forgotten
        self._directory = SessionDirectory(folder, agent, main_key=main_key)

    @property
    def corpus(self) -> Corpus:
        """Return ``SESSIONS``."""
        return Corpus.SESSIONS

    def scan(self, *, known: Collection[str] = ()) -> SourceScan:
        """List the transcripts: one ``stat`` each, no content."""
        stats, skipped = [], []
        try:
            with os.scandir(self._folder) as found:
                for entry in found:
                    named = session_in(entry.name)
                    if named is None:
                        continue
                    path = self._prefix + entry.name
                    try:
                        seen = entry.stat(follow_symlinks=False)
                    except OSError as error:
                        skipped.append(Skipped(path, reason_of(error)))
                        continue
                    if not stat.S_ISREG(seen.st_mode):
                        skipped.append(Skipped(path, f"not a file but a {kind_of(seen.st_mode)}"))
                    elif self._forgotten(named):
                        skipped.append(Skipped(path, "this session was forgotten"))
                    else:
                        stats.append(SourceStat(path, seen.st_size, seen.st_mtime_ns))
        except OSError as error:
            return SourceScan(missing_root=f"{self._folder}: {reason_of(error)}")
        return SourceScan(tuple(sorted(stats, key=_path_of)), tuple(sorted(skipped, key=lambda one: one.path)))

    def read(self, path: str) -> SourceDocument | Skipped:
        """Read one transcript as its spoken lines; ``number`` is the line in the file. Never raises for a bad file."""
        name = path.removeprefix(self._prefix)
        session = session_in(name) if path.startswith(self._prefix) else None
        if session is None:
            return Skipped(path, "not a transcript of this agent")
        if self._forgotten(session):
            return Skipped(path, "this session was forgotten")
        try:
            return self._document(path, self._folder / name, session)
        except TranscriptError as error:
            return Skipped(path, str(error.fields.get("reason") or error.message))

    def _document(self, path: str, file: Path, session: str) -> SourceDocument | Skipped:
        reading = Reading(file)
        with closing(iter(reading)) as entries:
            # The first entry is asked for so that the header is known, which says what kind of session this is.
            first = next(entries, None)
            kind, form, notice = self._kind(reading.header.key if reading.header else "", session)
            if kind in (SessionKind.CRON, SessionKind.HEARTBEAT) or form in _NOT_KEPT:
                what = form if form in _NOT_KEPT else kind
                return Skipped(path, f"this is a session of kind {what}, which is not searched")
            lines: list[SourceLine] = []
            said, by_programs, latest = 0, 0, None
            spoken = capture(
                _again(first, entries),
                kind=kind,
                session=session,
                marker=self._marker,
                external_tools=self._external,
                redacted=self._redacted,
            )
            for found in spoken:
                said += 1
                if isinstance(found, Dropped):
                    by_programs += found.reason in SYSTEM_REASONS
                else:
                    lines += _rendered(found)
                    latest = _later(latest, found.provenance.observed_at)
        if said and by_programs == said:
            return Skipped(path, "every line was said by a program")
        notices = reading.summary().notices + ((notice,) if notice else ())
        return SourceDocument(path, _hash_of(lines), tuple(lines), date=latest, notices=notices)

    def _kind(self, header_key: str, session: str) -> tuple[SessionKind, KeyForm, str]:
        """Return what kind of session this is: by its own header, else by the directory; unknown if neither says."""
        key = self._directory.key(header_key)
        try:
            key = key if header_key else self._directory.key(self._directory.key_of(session))
            return (self._directory.kind_of(key) if key.text else SessionKind.UNKNOWN), key.form, ""
        except TranscriptError as error:
            # Without the directory nobody knows what started this session, so it cannot count as a person's.
            known = key.kind if key.kind is not SessionKind.INTERACTIVE else SessionKind.UNKNOWN
            return known, key.form, str(error)


def session_in(name: str) -> str | None:
    """Return the session id that a file name stands for, or ``None`` if it is no transcript."""
    found = _NAME.fullmatch(name)
    if found is None or _NOT_TALK.fullmatch(found["id"]):
        return None
    return found["id"]


def rendered_lines(speaker: str, text: str, limit: int = LINE_CHARS) -> tuple[str, ...]:
    """Return ``speaker: text`` on lines of at most ``limit`` characters, cut between words where possible."""
    rest, prefix, found = collapse(text), f"{speaker}: ", []
    room = max(1, limit - len(prefix))
    while len(rest) > room:
        space = rest.rfind(" ", room // 2, room + 1)
        at = space if space > 0 else room
        found.append(prefix + rest[:at].rstrip())
        rest = rest[at:].lstrip()
    return (*found, prefix + rest) if rest or not found else tuple(found)


def _rendered(found: Captured) -> Iterator[SourceLine]:
    for text in rendered_lines(_SPEAKERS[found.role], found.text):
        yield SourceLine(found.entry.line, text, found.provenance)


def _path_of(one: SourceStat) -> str:
    return one.path


def _again(first: Entry | None, rest: Iterator[Entry]) -> Iterator[Entry]:
    if first is not None:
        yield first
    yield from rest


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max((at for at in (one, other) if at is not None), default=None)


def _hash_of(lines: list[SourceLine]) -> str:
    """Return a hash of what is indexed, so that a tool result appended to a transcript changes nothing."""
    rows = []
    for line in lines:
        origin = line.provenance
        rows.append(
            f"{line.number}\t{origin.origin}\t{origin.kind}\t{origin.sender}\t{origin.observed_at}\t{line.text}"
        )
    return sha256("\n".join(rows))
