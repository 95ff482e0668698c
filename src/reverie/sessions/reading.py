"""Reading a transcript, whatever state it is in: what can be read is read, and what cannot is named."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

from reverie.core.errors import TranscriptError
from reverie.sessions.lines import JsonLine, last_lines, read_lines
from reverie.sessions.messages import HOST_FIELD, iso, moment
from reverie.sessions.tree import Entry, entries_of, entry_of
from reverie.workspace.reading import reason_of

#: The version that is written; older ones are read as if they had been upgraded.
VERSION = 3
_SESSION_ID = re.compile(r"[a-z0-9][a-z0-9._-]{0,127}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a transcript. ``key`` is the session key, kept here so that the file explains itself."""

    id: str
    version: int = VERSION
    at: datetime | None = None
    key: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TranscriptText:
    """A transcript, read.

    ``header`` is ``None`` if it is damaged or missing, and ``header_fault`` says which. ``bad_lines`` are the numbers
    of lines that could not be read, ``lossy_lines`` of those read with bytes replaced. ``torn`` says that the last
    line is unfinished: it is being written, or its writer was killed. ``offset`` is the byte after the last whole line.
    """

    path: Path
    header: Header | None
    entries: tuple[Entry, ...] = ()
    header_fault: str = ""
    bad_lines: tuple[int, ...] = ()
    lossy_lines: tuple[int, ...] = ()
    torn: bool = False
    offset: int = 0

    @property
    def messages(self) -> tuple[Entry, ...]:
        """Return the entries that hold a message, in the order of the file."""
        return tuple(entry for entry in self.entries if entry.message is not None)

    @property
    def skipped(self) -> int:
        """Return how many lines could not be read, the header not counted."""
        return len(self.bad_lines)

    @property
    def notices(self) -> tuple[str, ...]:
        """Return what a person should know of the state of the file: at most one sentence a kind of damage."""
        name, found = self.path.name, []
        if self.header_fault:
            found.append(f"{name}: the header is {self.header_fault}; its messages were read all the same")
        if self.bad_lines:
            found.append(
                f"{name}: skipped {len(self.bad_lines)} lines that cannot be read ({_numbers(self.bad_lines)})"
            )
        if self.lossy_lines:
            found.append(f"{name}: replaced bytes that are no UTF-8 ({_numbers(self.lossy_lines)})")
        if self.torn:
            found.append(f"{name}: the last line is unfinished and was left out")
        return tuple(found)


def _numbers(lines: tuple[int, ...]) -> str:
    shown = ", ".join(str(number) for number in lines[:5])
    return f"line {shown}" if len(lines) == 1 else f"lines {shown}{', …' if len(lines) > 5 else ''}"


def is_session_id(text: str) -> bool:
    """Say whether the text can be a session id, and so the name of a transcript."""
    return _SESSION_ID.fullmatch(text) is not None


def read_transcript(path: Path) -> TranscriptText:
    """Read a transcript, line by line.

    Raises:
        TranscriptError: the file cannot be opened or read at all.
    """
    reading = Reading(path)
    entries = tuple(reading)
    return TranscriptText(
        path,
        reading.header,
        entries,
        reading.header_fault,
        tuple(reading.bad_lines),
        tuple(reading.lossy_lines),
        reading.torn,
        reading.offset,
    )


class Reading:
    """One pass over a transcript that yields its entries and notes what was wrong; nothing is kept of them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.header: Header | None = None
        self.header_fault = "missing"
        self.bad_lines: list[int] = []
        self.lossy_lines: list[int] = []
        self.torn = False
        self.offset = 0

    def __iter__(self) -> Generator[Entry, None, None]:
        lines = read_lines(self.path)
        try:
            first = next(lines, None)
            held = [] if first is None or self._is_header(first) else [first]
            yield from entries_of(self._sound(held, lines), self.header.version if self.header else VERSION)
        except (OSError, ValueError) as error:
            raise TranscriptError(
                "The transcript cannot be read", path=str(self.path), reason=reason_of(error)
            ) from error
        finally:
            lines.close()

    def summary(self) -> TranscriptText:
        """Return the state of the file without its entries, once the pass is over."""
        bad, lossy = tuple(self.bad_lines), tuple(self.lossy_lines)
        return TranscriptText(self.path, self.header, (), self.header_fault, bad, lossy, self.torn, self.offset)

    def _is_header(self, line: JsonLine) -> bool:
        """Take the first line as the header; say whether it is used up, sound or not."""
        self.header = header_of(line.data) if line.data is not None else None
        if self.header is not None:
            self.header_fault, self.offset = "", line.end
            return True
        if line.data is not None:
            return False
        self.header_fault = "damaged"
        self.offset = line.end if line.ended else line.offset
        return True

    def _sound(self, held: list[JsonLine], lines: Iterator[JsonLine]) -> Iterator[JsonLine]:
        for line in chain(held, lines):
            yield from self._checked(line)

    def _checked(self, line: JsonLine) -> Iterator[JsonLine]:
        if line.data is None and not line.ended:
            self.torn = True
            return
        self.offset = line.end
        if line.data is None or (entry_of(line.data) is None and line.data.get("type") != "session"):
            self.bad_lines.append(line.number)
            return
        if line.lossy:
            self.lossy_lines.append(line.number)
        yield line


def header_of(data: Mapping[str, Any]) -> Header | None:
    """Read the first line as a header; ``None`` if it is none."""
    ident, version, own = data.get("id"), data.get("version", 1), data.get(HOST_FIELD)
    if data.get("type") != "session" or not isinstance(ident, str) or not ident:
        return None
    key = own.get("sessionKey") if isinstance(own, Mapping) else None
    return Header(
        id=ident,
        version=version if isinstance(version, int) and not isinstance(version, bool) else 1,
        at=moment(data.get("timestamp")),
        key=key if isinstance(key, str) else "",
        data=data,
    )


def header_at(path: Path) -> Header | None:
    """Return the header of a transcript without reading further; ``None`` if it has none or cannot be read."""
    try:
        with closing(read_lines(path)) as lines:
            first = next(lines, None)
    except (OSError, ValueError):
        return None
    return header_of(first.data) if first is not None and first.data is not None else None


def latest_entries(path: Path) -> Iterator[Entry]:
    """Yield the entries of a transcript from the last one backwards."""
    for data in last_lines(path):
        entry = entry_of(data)
        if entry is not None:
            yield entry


def new_header(session: str, at: datetime, *, key: str = "", cwd: str = "", parent: str = "") -> dict[str, Any]:
    """Return the first line of a transcript."""
    header: dict[str, Any] = {"type": "session", "version": VERSION, "id": session, "timestamp": iso(at), "cwd": cwd}
    header |= {"parentSession": parent} if parent else {}
    return header | ({HOST_FIELD: {"sessionKey": key}} if key else {})
