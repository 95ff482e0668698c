"""Carrying out the maintenance of a sessions folder: under its lock, every act listed, nothing in use touched."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from reverie.core.errors import StoreBusy, TranscriptError
from reverie.core.types import Clock
from reverie.sessions.adoption import is_imported
from reverie.sessions.directory import SessionDirectory
from reverie.sessions.retention import Act, Deed, Folder, Kept, Policy, Step, in_use, plan, shelved
from reverie.sessions.rows import Rows, SessionEntry, entry_in
from reverie.sessions.transcript import LOCKS
from reverie.workspace.files import locked
from reverie.workspace.reading import reason_of

#: A transcript that somebody writes is left for the next time.
_WAIT_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Failure:
    """A deed that was not done, and why."""

    deed: Deed
    reason: str


@dataclass(frozen=True, slots=True)
class MaintenanceReport:
    """What maintenance did, or would do (``applied`` is false): sizes in bytes, rows counted.

    ``steps`` names all six in order, also those with nothing to do.
    """

    applied: bool
    mode: str
    deeds: tuple[Deed, ...] = ()
    failures: tuple[Failure, ...] = ()
    rows_before: int = 0
    rows_after: int = 0
    bytes_before: int = 0
    bytes_after: int = 0
    notices: tuple[str, ...] = ()
    steps: tuple[Step, ...] = tuple(Step)

    @property
    def removed_files(self) -> tuple[str, ...]:
        """Return the names of the files that are deleted."""
        return tuple(deed.name for deed in self.deeds if deed.act is Act.DELETE_FILE)


def maintain(
    directory: SessionDirectory,
    policy: Policy,
    clock: Clock,
    *,
    active: Collection[str] = (),
    forgotten: Callable[[], Collection[str]] = tuple,
    dry_run: bool = False,
) -> MaintenanceReport:
    """Clean up a sessions folder by the six steps; with ``dry_run``, or where the policy only warns, say what would go.

    Args:
        directory: the conversations of one agent.
        policy: what is kept.
        clock: tells how old things are.
        active: keys of conversations in use, beyond those that their rows show to be.
        forgotten: returns the ids of sessions that were forgotten; nothing of them is kept.
        dry_run: change nothing.

    Raises:
        TranscriptError: the folder cannot be read, or the list of sessions cannot be written.
    """
    mode = "enforce" if policy.enforce else "warn"
    watched, buried = frozenset(directory.key(key).text for key in active), frozenset(forgotten())
    seen = _look(directory, directory.rows(), clock, watched, buried)
    deeds = plan(seen, policy)
    if dry_run or not policy.enforce or not deeds:
        after = seen.without(deeds)
        notices = _notices(seen, deeds, policy, applied=False)
        return MaintenanceReport(
            False, mode, deeds, (), len(seen.entries), len(after.entries), seen.total, after.total, notices
        )
    return directory.change(lambda rows: _carried_out(directory, rows, policy, clock, watched, buried))


def _carried_out(
    directory: SessionDirectory,
    rows: Rows,
    policy: Policy,
    clock: Clock,
    active: frozenset[str],
    buried: frozenset[str],
) -> MaintenanceReport:
    """Plan again under the lock, since rows may have changed, and do it."""
    seen = _look(directory, rows, clock, active, buried)
    leaving = [seen.entries[deed.name] for deed in plan(seen, policy) if deed.act is Act.REMOVE_ROW]
    busy = frozenset(entry.key for entry in leaving if _is_written(directory.folder, entry))
    if busy:
        seen = _look(directory, rows, clock, active | busy, buried)
    done: list[Deed] = []
    failures: list[Failure] = []
    for deed in plan(seen, policy):
        try:
            _do(directory.folder, rows, deed, clock.now())
            done.append(deed)
        except OSError as error:
            failures.append(Failure(deed, reason_of(error)))
        except StoreBusy as error:
            failures.append(Failure(deed, error.message))
    after = seen.without(done)
    notices = _notices(seen, tuple(done), policy, applied=True)
    return MaintenanceReport(
        True,
        "enforce",
        tuple(done),
        tuple(failures),
        len(seen.entries),
        len(after.entries),
        seen.total,
        sum(file.size for file in _files(directory.folder).values()),
        notices,
    )


def _look(
    directory: SessionDirectory, rows: Rows, clock: Clock, active: frozenset[str], buried: frozenset[str]
) -> Folder:
    found = {key: entry_in(rows, key, directory.folder, directory.main_key) for key in rows}
    entries = {key: entry for key, entry in found.items() if entry is not None}
    return Folder(entries, _files(directory.folder), clock.now(), directory.main_key, active, buried)


def _files(folder: Path) -> dict[str, Kept]:
    """Return the regular files of the folder. The folder of locks is not looked into."""
    found: dict[str, Kept] = {}
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    if entry.is_file(follow_symlinks=False):
                        stat = entry.stat(follow_symlinks=False)
                        at = datetime.fromtimestamp(stat.st_mtime, tz=UTC)
                        found[entry.name] = Kept(entry.name, stat.st_size, at)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise TranscriptError(
            "The sessions folder cannot be read", path=str(folder), reason=reason_of(error)
        ) from error
    return found


def _is_written(folder: Path, entry: SessionEntry) -> bool:
    """Say whether somebody holds the transcript of a row at this moment."""
    try:
        with locked(folder / LOCKS, folder / entry.file, timeout=_WAIT_SECONDS):
            return False
    except StoreBusy:
        return True


def _do(folder: Path, rows: Rows, deed: Deed, now: datetime) -> None:
    path = folder / deed.name
    if deed.act is Act.REMOVE_ROW:
        rows.pop(deed.name, None)
    elif deed.act is Act.SHELVE_ROW:
        shelved(rows[deed.name], now)
    elif deed.act is Act.ROTATE_STORE:
        shutil.copyfile(path, folder / deed.to)
    else:
        with locked(folder / LOCKS, path, timeout=_WAIT_SECONDS):
            if deed.act is Act.ARCHIVE_FILE:
                path.rename(folder / deed.to)
            else:
                path.unlink()


def _notices(seen: Folder, deeds: tuple[Deed, ...], policy: Policy, *, applied: bool) -> tuple[str, ...]:
    """Return what a person should know beside the list."""
    found = []
    if any(deed.act is Act.ARCHIVE_FILE for deed in deeds):
        found.append(
            "archived transcripts are no longer searched; what was learned from them stays until it is forgotten"
        )
    if not applied and deeds and not policy.enforce:
        found.append("session.maintenance.mode is warn, so nothing was changed")
    busy = sum(in_use(entry, seen) for entry in seen.entries.values())
    if busy and deeds:
        found.append(f"{busy} sessions are in use and were left alone")
    left = seen.without(deeds)
    if policy.max_disk_bytes is not None and left.total > policy.max_disk_bytes:
        found.append("still over the disk budget: the rest is protected or in use")
    if sum(not is_imported(entry.data) for entry in left.entries.values()) > policy.max_entries:
        found.append(f"still more than {policy.max_entries} sessions: the rest is protected")
    return tuple(found)
