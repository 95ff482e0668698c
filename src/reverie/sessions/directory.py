"""``sessions.json``: which transcript continues each conversation, and what is known of it.

One JSON object, key to row, in OpenClaw's shape. Rows and fields that are not understood are written back as they
were. The file is replaced whole under a lock; if it is damaged, a copy is kept and the rows are made again from the
headers of the transcripts, which carry their key.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from reverie.core.errors import FileUnreadable, ReverieError, TranscriptError, UsageError, WriteConflict, WriteRefused
from reverie.core.text import sha256
from reverie.core.types import ChatType, Clock, Ids, SessionKind
from reverie.sessions.keys import KeyForm, SessionKey, normal_agent, parse_key
from reverie.sessions.messages import epoch_ms
from reverie.sessions.reading import is_session_id
from reverie.sessions.rows import Rows, SessionEntry, entry_in, kind_in, narrowed, remade, restarted, strings_in
from reverie.sessions.transcript import LOCKS, FsyncPolicy, Transcript
from reverie.workspace.files import contained, locked, replace
from reverie.workspace.reading import read_bytes, reason_of

NAME = "sessions.json"
#: Keys that name no agent by their shape, and so belong to the one whose folder this is. A cron job that names none
#: does not: whoever started it does not know for whom (ISO-13).
_WITHOUT_AGENT = frozenset({KeyForm.GLOBAL, KeyForm.HOOK, KeyForm.NODE, KeyForm.NAMED, KeyForm.ACP, KeyForm.PEER})
_OLD_IDS = 500

T = TypeVar("T")


class SessionDirectory:
    """The conversations of one agent. Holds nothing open; any number of processes may use one folder."""

    def __init__(self, folder: Path, agent: str = "main", *, main_key: str = "main") -> None:
        self.folder = folder
        self.agent = normal_agent(agent)
        self._path = folder / NAME
        self._main_key = main_key
        self._seen: tuple[tuple[int, int, int], Rows] | None = None

    # --- reading -------------------------------------------------------------------------------------------

    def key(self, key: SessionKey | str) -> SessionKey:
        """Return a key read with this agent's name for the main session."""
        return parse_key(key, main_key=self._main_key) if isinstance(key, str) else key

    def list(self) -> tuple[SessionEntry, ...]:
        """Return every conversation, the one used last first."""
        rows = self._rows()
        found = [entry for key in rows if (entry := self._entry(rows, key)) is not None]
        return tuple(sorted(found, key=lambda one: (-(epoch_ms(one.updated_at) if one.updated_at else 0), one.key)))

    def get(self, key: SessionKey | str) -> SessionEntry | None:
        """Return the row of a conversation, or ``None``."""
        return self._entry(self._rows(), self.key(key).text)

    def key_of(self, session: str) -> str:
        """Return the key whose conversation has, or had, this transcript; empty if none is known."""
        for key, row in self._rows().items():
            if isinstance(row, dict) and (
                row.get("sessionId") == session or session in strings_in(row, "usageFamilySessionIds")
            ):
                return key
        return ""

    def kind_of(self, key: SessionKey) -> SessionKind:
        """Return what kind of session this is: by its key, its row, and the sessions that it was started from.

        A sub-agent of a cron job is cron, however deep (NOISE-02). Nothing in a row can make a session interactive.
        """
        return kind_in(self._rows(), key, self._main_key)

    @property
    def main_key(self) -> str:
        """Return the configured name of the main session."""
        return self._main_key

    def rows(self) -> Rows:
        """Return the rows as they stand, to be looked at and not to be changed.

        Raises:
            TranscriptError: they cannot be read.
        """
        return self._rows()

    # --- writing -------------------------------------------------------------------------------------------

    def change(self, change: Callable[[Rows], T]) -> T:
        """Change the rows under the lock of the directory; what ``change`` does to files happens before the rows do.

        Raises:
            TranscriptError: the directory cannot be written.
        """
        return self._edit(change)[1]

    def get_or_create(
        self,
        key: SessionKey | str,
        clock: Clock,
        ids: Ids,
        *,
        chat: ChatType | None = None,
        channel: str = "",
        spawned_by: str = "",
        label: str = "",
    ) -> SessionEntry:
        """Return the row of a conversation, made with a new transcript if there is none.

        ``chat`` says who really reads along; it can only narrow what the key says, and stays so for the session.

        Raises:
            UsageError: the key is of another agent, or names nothing that can be kept.
            TranscriptError: the directory or the transcript cannot be written.
        """
        wanted = self._checked(key)
        seen = self._entry(self._rows(), wanted.text)
        if seen is not None and (self.folder / seen.file).exists() and narrowed(seen.chat, chat) is seen.chat:
            return seen

        def ensured(rows: Rows) -> str:
            row = rows.get(wanted.text)
            row = row if isinstance(row, dict) else {}
            found = self._entry(rows, wanted.text)
            if found is None or not (self.folder / found.file).exists():
                self._begin(row, wanted.text, found.id if found else "", clock, ids)
            row["chatType"] = narrowed(found.chat if found else wanted.chat, chat).value
            row |= {"channel": channel or wanted.channel} if channel or wanted.channel else {}
            row |= {"spawnedBy": spawned_by} if spawned_by else {}
            row |= {"label": label} if label else {}
            rows[wanted.text] = row
            return wanted.text

        return self._changed(ensured)

    def rotate(self, key: SessionKey | str, clock: Clock, ids: Ids, *, expected: str = "") -> SessionEntry:
        """Go on in a new transcript; the old one stays where it is, and is remembered in ``older``.

        Where another process has begun a transcript in the meantime, so that the present one is not ``expected``,
        nothing is done and the row is returned as it is.

        Raises:
            UsageError, TranscriptError: as :meth:`get_or_create`.
        """
        wanted = self._checked(key)

        def rotated(rows: Rows) -> str:
            row = rows.get(wanted.text)
            row = row if isinstance(row, dict) else {"chatType": wanted.chat.value}
            found = self._entry(rows, wanted.text)
            if expected and found is not None and found.id != expected:
                return wanted.text
            self._begin(row, wanted.text, found.id if found else "", clock, ids)
            rows[wanted.text] = row
            return wanted.text

        return self._changed(rotated)

    def touch(self, key: SessionKey | str, clock: Clock, *, interaction: bool = True) -> None:
        """Note that a conversation was used; ``interaction`` says that a person did it."""
        wanted, now = self.key(key), epoch_ms(clock.now())

        def touched(rows: Rows) -> str:
            row = rows.get(wanted.text)
            if isinstance(row, dict):
                row["updatedAt"] = now
                row |= {"lastInteractionAt": now} if interaction else {}
            return wanted.text

        self._edit(touched)

    def update(self, key: SessionKey | str, change: Callable[[Rows], None]) -> SessionEntry:
        """Change fields of the row of a conversation in place, under the lock of the directory.

        Raises:
            UsageError: there is no such session.
            TranscriptError: the directory cannot be written.
        """
        wanted = self.key(key)

        def changed(rows: Rows) -> str:
            row = rows.get(wanted.text)
            if not isinstance(row, dict):
                raise UsageError("There is no such session", key=wanted.text)
            change(row)
            return wanted.text

        return self._changed(changed)

    def transcript(
        self, entry: SessionEntry, clock: Clock, ids: Ids, *, fsync: FsyncPolicy = FsyncPolicy.ALWAYS
    ) -> Transcript:
        """Return the transcript of a row.

        Raises:
            PathNotAllowed: the row points out of the sessions folder.
            TranscriptError: the file is not there or cannot be opened.
        """
        return Transcript.open(contained(self.folder, entry.file), clock=clock, ids=ids, fsync=fsync)

    # --- rows ----------------------------------------------------------------------------------------------

    def _begin(self, row: Rows, key: str, before: str, clock: Clock, ids: Ids) -> None:
        """Make a transcript and point the row at it; the file comes first, so that no row points at nothing."""
        session = ids.new()
        while not is_session_id(session) or (self.folder / f"{session}.jsonl").exists():
            session = sha256(session)[:32]
        now = clock.now()
        restarted(row)
        Transcript.create(self.folder / f"{session}.jsonl", session=session, key=key, clock=clock, ids=ids)
        older = [*strings_in(row, "usageFamilySessionIds"), *([before] if before else [])]
        row |= {"sessionId": session, "sessionFile": f"{session}.jsonl"}
        row |= {"updatedAt": epoch_ms(now), "sessionStartedAt": epoch_ms(now)}
        row |= {"usageFamilySessionIds": list(dict.fromkeys(older))[-_OLD_IDS:]} if older else {}

    def _entry(self, rows: Rows, key: str) -> SessionEntry | None:
        return entry_in(rows, key, self.folder, self._main_key)

    def _checked(self, key: SessionKey | str) -> SessionKey:
        wanted = self.key(key)
        if wanted.incognito:
            raise UsageError("An incognito session is not kept", key=wanted.text)
        if wanted.agent is None and wanted.form not in _WITHOUT_AGENT:
            raise UsageError("This session names no agent, so nothing of it is kept", key=wanted.text)
        if wanted.agent is not None and wanted.agent != self.agent:
            raise UsageError("This session belongs to another agent", key=wanted.text, agent=self.agent)
        return wanted

    # --- the file ------------------------------------------------------------------------------------------

    def _rows(self) -> Rows:
        """Return the rows, read again only when the file is another one."""
        try:
            state = _state_of(self._path)
            if self._seen is None or self._seen[0] != state:
                self._seen = (state, self._read()[1])
            return self._seen[1]
        except (OSError, FileUnreadable) as error:
            raise TranscriptError(
                "The session directory cannot be read", path=str(self._path), reason=_reason(error)
            ) from error

    def _read(self) -> tuple[bytes | None, Rows, bool]:
        """Return the bytes of the file, the rows, and whether they had to be made from the transcripts."""
        try:
            data = read_bytes(self._path, None)
        except FileUnreadable as error:
            if error.fields["reason"] != "vanished":
                raise
            data = None
        rows = _parsed(data) if data is not None else None
        return data, remade(self.folder) if rows is None else rows, rows is None

    def _changed(self, change: Callable[[Rows], str]) -> SessionEntry:
        rows, key = self._edit(change)
        entry = self._entry(rows, key)
        if entry is None:
            raise TranscriptError("The session directory was not written", path=str(self._path), key=key)
        return entry

    def _edit(self, change: Callable[[Rows], T]) -> tuple[Rows, T]:
        """Read, change and replace the file under its lock."""
        locks = self.folder / LOCKS
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with locked(locks, self._path):
                data, rows, made = self._read()
                if data is not None and made:
                    self._keep_aside(data)
                value = change(rows)
                text = json.dumps(rows, ensure_ascii=False, indent=2) + "\n"
                body = text.encode("utf-8", "backslashreplace")
                replace(self._path, body, expected=None if data is None else sha256(data), lock_dir=locks)
                return rows, value
        except (OSError, WriteConflict, WriteRefused, FileUnreadable) as error:
            raise TranscriptError(
                "The session directory cannot be written", path=str(self._path), reason=_reason(error)
            ) from error

    def _keep_aside(self, data: bytes) -> None:
        copy = self._path.with_name(f"{NAME}.corrupt-{sha256(data)[:8]}")
        if data and not copy.exists():
            replace(copy, data, expected=None, lock_dir=self.folder / LOCKS)


def _state_of(path: Path) -> tuple[int, int, int]:
    """Return what changes with the file; where it is missing, with the folder that it would be made from."""
    try:
        found = path.stat()
        return found.st_ino, found.st_size, found.st_mtime_ns
    except FileNotFoundError:
        try:
            return -1, -1, path.parent.stat().st_mtime_ns
        except FileNotFoundError:
            return -1, -1, -1


def _parsed(data: bytes) -> Rows | None:
    """Return the rows, or ``None`` if there are none to read."""
    try:
        rows = json.loads(data.decode("utf-8-sig", "surrogateescape"))
    except (ValueError, RecursionError):
        return None
    return rows if isinstance(rows, dict) else None


def _reason(error: Exception) -> str:
    found = error.fields.get("reason") or error.message if isinstance(error, ReverieError) else reason_of(error)
    return str(found)
