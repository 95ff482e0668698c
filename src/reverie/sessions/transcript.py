"""A session's transcript: append-only JSONL, version 3, one entry a line.

What was acknowledged is on disk. What is damaged stays as it is, is passed over when read, and is reported; only
:meth:`Transcript.repair` writes a file anew, and it makes a copy first.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from reverie.core.errors import TranscriptError, WriteConflict, WriteRefused
from reverie.core.text import sha256
from reverie.core.types import Clock, Ids
from reverie.sessions.lines import read_lines, to_line
from reverie.sessions.messages import Message, iso, message_to_json
from reverie.sessions.reading import TranscriptText, is_session_id, latest_entries, new_header, read_transcript
from reverie.sessions.repair import repair_header
from reverie.sessions.tree import Entry, context_of, entry_of, leaf_after, path_to_leaf
from reverie.workspace.files import locked, replace
from reverie.workspace.reading import opened, reason_of

#: Folder of the lock files, beside the transcripts, so that every process finds the same one.
LOCKS = ".locks"

#: Files up to this size are searched for the ids in use; in larger ones every new id is long enough not to repeat.
_SHORT_ID_BYTES = 4 * 1024 * 1024
_ID_IN_LINE = re.compile(rb'"id"\s*:\s*"([^"\\]{1,64})"')


class FsyncPolicy(StrEnum):
    """When an append is flushed to the device. ``NEVER`` outlives the process, but not a power failure."""

    ALWAYS = "always"
    NEVER = "never"


class Transcript:
    """A transcript that can be read and appended to. It holds no open file; any number of processes may use one."""

    def __init__(self, path: Path, *, clock: Clock, ids: Ids, fsync: FsyncPolicy = FsyncPolicy.ALWAYS) -> None:
        """Use :meth:`create` or :meth:`open`; this only remembers the parts."""
        self.path = path
        self._clock = clock
        self._ids = ids
        self._fsync = fsync
        self._size = -1  # of the file when the ids and the leaf were last known
        self._inode = -1
        self._leaf: str | None = None
        self._used: set[str] | None = None

    @classmethod
    def create(
        cls,
        path: Path,
        *,
        session: str,
        clock: Clock,
        ids: Ids,
        key: str = "",
        cwd: str = "",
        parent: str = "",
        fsync: FsyncPolicy = FsyncPolicy.ALWAYS,
    ) -> Transcript:
        """Write a new transcript that holds its header only.

        Raises:
            TranscriptError: the id is no session id, the file is there already, or it cannot be written.
        """
        if not is_session_id(session):
            raise TranscriptError("This is not a session id", id=ascii(session[:140]))
        header = new_header(session, clock.now(), key=key, cwd=cwd, parent=parent)
        try:
            # Before the folder of locks is made in it, which would leave it open to others.
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            replace(path, to_line(header), expected=None, lock_dir=path.parent / LOCKS)
        except WriteConflict as error:
            raise TranscriptError("This transcript is there already", path=str(path)) from error
        except (WriteRefused, OSError) as error:
            reason = reason_of(error) if isinstance(error, OSError) else error.fields.get("reason")
            raise TranscriptError("The transcript cannot be written", path=str(path), reason=reason) from error
        return cls(path, clock=clock, ids=ids, fsync=fsync)

    @classmethod
    def open(cls, path: Path, *, clock: Clock, ids: Ids, fsync: FsyncPolicy = FsyncPolicy.ALWAYS) -> Transcript:
        """Return the transcript at ``path``, which is not changed by this, whatever its state.

        Raises:
            TranscriptError: there is no such file, or it cannot be opened.
        """
        try:
            with opened(path):
                return cls(path, clock=clock, ids=ids, fsync=fsync)
        except (OSError, ValueError) as error:
            raise TranscriptError("The transcript cannot be opened", path=str(path), reason=reason_of(error)) from error

    # --- reading -------------------------------------------------------------------------------------------

    def read(self) -> TranscriptText:
        """Read every entry, line by line, and say what could not be read."""
        return read_transcript(self.path)

    def branch(self) -> tuple[Message, ...]:
        """Return the conversation as the model is shown it: from the active leaf back by ``parentId``."""
        return context_of(path_to_leaf(self.read().entries))

    def latest(self) -> Iterator[Entry]:
        """Yield the entries from the last one backwards, without reading the whole file. Line numbers are 0."""
        return latest_entries(self.path)

    # --- writing -------------------------------------------------------------------------------------------

    def append(self, message: Message) -> str:
        """Append a message to the active leaf and return the id of its entry, once it is safe.

        Raises:
            TranscriptError: it could not be written, or JSON cannot hold it.
            StoreBusy: another writer held the transcript too long.
        """
        return self.append_all((message,))[0]

    def append_all(self, messages: Iterable[Message]) -> tuple[str, ...]:
        """Append messages one under the other, in one write."""
        return self._append(
            [("message", message.at, {"message": message_to_json(message)}) for message in messages], side=False
        )

    def append_entry(self, kind: str, fields: Mapping[str, Any], *, side: bool = False) -> str:
        """Append an entry of another type; ``side`` leaves the active leaf where it is."""
        return self._append([(kind, None, dict(fields))], side=side)[0]

    def adopt(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Append entries that were made elsewhere, with the ids and parents that they have, in one write.

        Raises:
            TranscriptError: it could not be written, or JSON cannot hold it.
            StoreBusy: another writer held the transcript too long.
        """
        with locked(self.path.parent / LOCKS, self.path):
            self._size = -1
            try:
                with _for_append(self.path) as (descriptor, found):
                    self._put(descriptor, found.st_size, entries)
            except (OSError, ValueError, TypeError, RecursionError) as error:
                reason = reason_of(error)
                raise TranscriptError("The transcript was not written", path=str(self.path), reason=reason) from error

    def _append(self, bodies: list[tuple[str, datetime | None, dict[str, Any]]], *, side: bool) -> tuple[str, ...]:
        with locked(self.path.parent / LOCKS, self.path):
            try:
                return self._append_locked(bodies, side=side)
            except (OSError, ValueError, TypeError, RecursionError) as error:
                self._size = -1
                reason = reason_of(error)
                raise TranscriptError("The transcript was not written", path=str(self.path), reason=reason) from error

    def _append_locked(
        self, bodies: list[tuple[str, datetime | None, dict[str, Any]]], *, side: bool
    ) -> tuple[str, ...]:
        with _for_append(self.path) as (descriptor, found):
            self._catch_up(found)
            entries, leaf = [], self._leaf
            for kind, at, body in bodies:
                ident = self._new_id()
                data = {"type": kind, "id": ident, "parentId": leaf, "timestamp": iso(at or self._clock.now())}
                data |= {"appendMode": "side"} if side else {}
                entries.append(data | body)
                leaf = leaf_after(leaf, Entry(kind, ident, leaf, at, data=data | body))
            self._size = self._put(descriptor, found.st_size, entries)
        self._leaf = leaf
        return tuple(entry["id"] for entry in entries)

    def _put(self, descriptor: int, size: int, entries: Iterable[Mapping[str, Any]]) -> int:
        """Write lines at the end of a file of that size, and return its size afterwards."""
        # A last line without its line feed is the rest of a killed write. It stays as it is, on its own line.
        torn = size > 0 and _last_byte(descriptor, size) != b"\n"
        payload = (b"\n" if torn else b"") + b"".join(to_line(dict(entry)) for entry in entries)
        _write_all(descriptor, payload)
        if self._fsync is FsyncPolicy.ALWAYS:
            os.fsync(descriptor)
        return size + len(payload)

    def _catch_up(self, found: os.stat_result) -> None:
        """Learn the active leaf and the ids in use from what was written since this object last looked."""
        if self._size < 0 or found.st_ino != self._inode or found.st_size < self._size:
            self._leaf, self._used = _leaf_of(self.path), _ids_in(self.path, found.st_size)
        elif found.st_size > self._size:
            for line in read_lines(self.path, start=self._size):
                entry = entry_of(line.data) if line.data is not None else None
                if entry is not None:
                    self._leaf = leaf_after(self._leaf, entry)
                    if self._used is not None:
                        self._used.add(entry.id)
        self._size, self._inode = found.st_size, found.st_ino

    def _new_id(self) -> str:
        for _ in range(16 if self._used is not None else 0):
            ident = sha256(self._ids.new())[:8]
            if self._used is not None and ident not in self._used:
                self._used.add(ident)
                return ident
        long = sha256(self._ids.new())
        return "-".join((long[:8], long[8:12], long[12:16], long[16:20], long[20:32]))

    def repair(self) -> Path | None:
        """Give a transcript with a damaged header a new one; see :func:`~reverie.sessions.repair.repair_header`."""
        self._size = -1
        with locked(self.path.parent / LOCKS, self.path):
            return repair_header(self.path, self._clock.now())


# --- files -----------------------------------------------------------------------------------------------------


@contextmanager
def _for_append(path: Path) -> Iterator[tuple[int, os.stat_result]]:
    flags = os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags | getattr(os, "O_BINARY", 0))
    try:
        yield descriptor, os.fstat(descriptor)
    finally:
        os.close(descriptor)


def _last_byte(descriptor: int, size: int) -> bytes:
    os.lseek(descriptor, size - 1, os.SEEK_SET)
    return os.read(descriptor, 1)


def _write_all(descriptor: int, payload: bytes) -> None:
    view = memoryview(payload)
    while view:
        view = view[os.write(descriptor, view) :]


def _leaf_of(path: Path) -> str | None:
    """Return the active leaf: the last entry that moves it decides."""
    for entry in latest_entries(path):
        if not entry.side and (entry.id or entry.type == "leaf"):
            return leaf_after(None, entry)
    return None


def _ids_in(path: Path, size: int) -> set[str] | None:
    if size > _SHORT_ID_BYTES:
        return None
    with opened(path) as (file, _):
        return {found.decode("utf-8", "replace") for found in _ID_IN_LINE.findall(file.read())}
