"""Which conversations and files of a sessions folder are to go: six steps in order, each a pure function.

A step looks at what is left by the steps before it and says what it would do; nothing here touches a file. The plan
is carried out by :mod:`reverie.sessions.maintenance`. Maintenance is housekeeping: it forgets no memory, and what was
forgotten is not kept by it either.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from reverie.core.clock import parse_moment
from reverie.core.types import ChatType
from reverie.sessions.adoption import is_imported
from reverie.sessions.keys import KeyForm, SessionKey, parse_key
from reverie.sessions.messages import epoch_ms, iso, moment
from reverie.sessions.rows import SessionEntry

_DAY = timedelta(days=1)
#: A conversation used so lately counts as being in use, whoever uses it.
IN_USE = timedelta(hours=1)
#: Model probes are thrown away after this, once there are too many rows.
PROBES_KEPT = _DAY
#: Up to this cap a batch is a single row; above it clean-up waits for a tenth, and for at least 25 rows.
_SMALL_CAP, _SLACK, _SLACK_SHARE = 49, 25, 10
#: Where protected rows fill the cap, so many of the others stay all the same.
_FLOOR = 25
#: Backups of ``sessions.json`` that are kept.
BACKUPS = 3

_ARCHIVE = re.compile(
    r"(?P<id>.+)\.jsonl\.(?P<why>reset|deleted|bak)\.(?P<stamp>\d{4}-\d\d-\d\dT[0-9-]{8}[0-9.]*Z)(?:\.zst)?"
)
_STORE_BACKUP = re.compile(r"sessions\.json\.bak\.(\d{10,16})")
_SIDE_FILE = re.compile(r"(?P<id>.+)\.(?:checkpoint\.[0-9a-fA-F-]+\.jsonl|trajectory\.jsonl|trajectory-path\.json)")
_TRANSCRIPT = re.compile(r"(?P<id>[A-Za-z0-9].*)\.jsonl")


class Step(StrEnum):
    """The six steps, in their order."""

    PRUNE = "prune stale"
    CAP = "cap count"
    ARCHIVE = "archive transcripts"
    PURGE = "purge archives"
    ROTATE = "rotate store"
    BUDGET = "enforce disk budget"


class Act(StrEnum):
    """What is done to a row or a file."""

    SHELVE_ROW = "shelve row"
    REMOVE_ROW = "remove row"
    ARCHIVE_FILE = "archive file"
    DELETE_FILE = "delete file"
    ROTATE_STORE = "rotate store"


@dataclass(frozen=True, slots=True)
class Policy:
    """What is kept. Spans of ``None`` mean that nothing is removed by that rule.

    ``clean_up_to`` is the size in bytes to come down to once ``max_disk_bytes`` is exceeded.
    """

    enforce: bool = True
    prune_after: timedelta | None = 30 * _DAY
    max_entries: int = 500
    reset_archive_retention: timedelta | None = None
    cron_retention: timedelta | None = _DAY
    dashboard_after: timedelta | None = 7 * _DAY
    preserve_recent: timedelta | None = None
    rotate_bytes: int | None = 10 * 1024**2
    max_disk_bytes: int | None = 10 * 1024**3
    clean_up_to: int | None = None


@dataclass(frozen=True, slots=True)
class Kept:
    """A file of the folder: its size in bytes and when it was last written."""

    name: str
    size: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Deed:
    """One thing that a step does, and why. ``name`` is a row's key or a file's name; ``bytes`` is what becomes free."""

    step: Step
    act: Act
    name: str
    why: str
    to: str = ""
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Folder:
    """What a step sees: the rows and files that are left, and what may not be touched.

    ``rows`` are parsed with ``entries``; ``active`` are keys in use; ``forgotten`` are ids of forgotten sessions.
    ``removed`` holds the entries whose rows went in an earlier step.
    """

    entries: Mapping[str, SessionEntry]
    files: Mapping[str, Kept]
    now: datetime
    main_key: str = "main"
    active: frozenset[str] = frozenset()
    forgotten: frozenset[str] = frozenset()
    removed: tuple[SessionEntry, ...] = ()

    @property
    def total(self) -> int:
        """Return how many bytes all files take."""
        return sum(file.size for file in self.files.values())

    def without(self, deeds: Iterable[Deed]) -> Folder:
        """Return what is left once ``deeds`` are done."""
        entries, files, removed = dict(self.entries), dict(self.files), list(self.removed)
        for deed in deeds:
            if deed.act is Act.REMOVE_ROW:
                removed.append(entries.pop(deed.name))
            elif deed.act is Act.DELETE_FILE:
                files.pop(deed.name, None)
            elif deed.act is Act.ARCHIVE_FILE:
                old = files.pop(deed.name)
                files[deed.to] = replace(old, name=deed.to)
        return replace(self, entries=entries, files=files, removed=tuple(removed))


def high_water(max_entries: int) -> int:
    """Return how many rows there must be before an automatic clean-up begins: not every new row should cause one."""
    if max_entries <= 0:
        return 1
    if max_entries <= _SMALL_CAP:
        return max_entries + 1
    return max_entries + max(_SLACK, -(-max_entries // _SLACK_SHARE))


def plan(folder: Folder, policy: Policy) -> tuple[Deed, ...]:
    """Return everything that maintenance would do, in order."""
    deeds: list[Deed] = []
    for step in STEPS:
        done = step(folder, policy)
        deeds += done
        folder = folder.without(done)
    return tuple(deeds)


# --- rows: what is protected, how old it is --------------------------------------------------------------------


def in_use(entry: SessionEntry, folder: Folder) -> bool:
    """Say whether somebody works in this conversation: told so, marked as running, or used a moment ago."""
    recently = entry.updated_at is not None and entry.updated_at > folder.now - IN_USE
    return entry.key in folder.active or recently or entry.data.get("status") == "running"


def is_protected(entry: SessionEntry, folder: Folder, policy: Policy) -> bool:
    """Say whether a row stays whatever its age: in use, set aside by a person, primary, a thread, or shared."""
    if in_use(entry, folder):
        return True
    if any(entry.data.get(name) for name in ("archivedAt", "pinnedAt", "modelSelectionLocked")):
        return True
    key = parse_key(entry.key, main_key=folder.main_key)
    if key.synthetic or key.form is KeyForm.MODEL_PROBE:
        return False
    if policy.preserve_recent is not None and _age(entry, folder) < policy.preserve_recent:
        return True
    shared = key.shared or entry.chat in (ChatType.GROUP, ChatType.CHANNEL)
    return key.primary or key.thread is not None or shared


def _age(entry: SessionEntry, folder: Folder) -> timedelta:
    """Return how long ago a row was used; one that does not say counts as used now where age decides."""
    return folder.now - entry.updated_at if entry.updated_at is not None else timedelta(0)


def _oldest_first(entry: SessionEntry) -> tuple[int, str]:
    return (epoch_ms(entry.updated_at) if entry.updated_at is not None else -1), entry.key


# --- the steps -------------------------------------------------------------------------------------------------


def prune_stale(folder: Folder, policy: Policy) -> list[Deed]:
    """Step 1: rows that were not used for long leave the list; idle dashboard sessions are shelved.

    Imported conversations are old when they come and stay; only the disk budget can take them.
    """
    crowded = sum(not is_imported(entry.data) for entry in folder.entries.values()) > policy.max_entries
    deeds = []
    for entry in sorted(folder.entries.values(), key=_oldest_first):
        if entry.id in folder.forgotten and not in_use(entry, folder):
            deeds.append(Deed(Step.PRUNE, Act.REMOVE_ROW, entry.key, "its session was forgotten"))
        if entry.id in folder.forgotten or is_imported(entry.data) or is_protected(entry, folder, policy):
            continue
        key, age = parse_key(entry.key, main_key=folder.main_key), _age(entry, folder)
        limit, why = _limit(key, policy, crowded=crowded)
        if limit is not None and age > limit:
            deeds.append(Deed(Step.PRUNE, Act.REMOVE_ROW, entry.key, f"{why}, {age.days} days ago"))
        elif key.form is KeyForm.DASHBOARD and policy.dashboard_after is not None and age > policy.dashboard_after:
            deeds.append(Deed(Step.PRUNE, Act.SHELVE_ROW, entry.key, f"idle for {age.days} days"))
    return deeds


def _limit(key: SessionKey, policy: Policy, *, crowded: bool) -> tuple[timedelta | None, str]:
    """Return after how long a row of this key goes, and why."""
    if key.form is KeyForm.MODEL_PROBE and crowded:
        return PROBES_KEPT, "a probe of a model"
    if key.run is not None:
        return policy.cron_retention, "the run of a scheduled job"
    return policy.prune_after, "last used"


def cap_count(folder: Folder, policy: Policy) -> list[Deed]:
    """Step 2: beyond the cap the rows that were used least recently leave the list. Protected rows count, and stay.

    Imported conversations neither count nor go: thousands of them must not drive out those that are held here.
    """
    counted = [entry for entry in folder.entries.values() if not is_imported(entry.data)]
    free = [entry for entry in counted if not is_protected(entry, folder, policy)]
    room = max(0, policy.max_entries - (len(counted) - len(free)))
    if room == 0 and policy.max_entries > 0:
        room = min(policy.max_entries, _FLOOR)
    free.sort(key=_oldest_first)
    gone = free[: len(free) - room] if len(free) > room else []
    why = f"over {policy.max_entries} sessions"
    return [Deed(Step.CAP, Act.REMOVE_ROW, entry.key, why) for entry in gone]


def archive_transcripts(folder: Folder, policy: Policy) -> list[Deed]:
    """Step 3: transcripts of removed rows are put aside, unless a row that is left still uses them."""
    used = _used(folder)
    deeds: list[Deed] = []
    seen: set[str] = set()
    for entry in folder.removed:
        for name in _transcripts_of(entry):
            ident = _id_of(name)
            if name in folder.files and ident not in used and name not in seen and ident not in folder.forgotten:
                seen.add(name)
                to = archive_name(name, folder.now, taken=folder.files)
                deeds.append(Deed(Step.ARCHIVE, Act.ARCHIVE_FILE, name, f"its session {entry.key} left the list", to))
    return deeds


def purge_archives(folder: Folder, policy: Policy) -> list[Deed]:
    """Step 4: archives that are old enough go, and whatever is left of forgotten sessions."""
    deeds = []
    for file in _by_age(folder.files.values()):
        found = _ARCHIVE.fullmatch(file.name)
        ident = _id_of(file.name)
        if ident in folder.forgotten and not _locked(ident, folder):
            deeds.append(_deleted(Step.PURGE, file, "its session was forgotten"))
        elif found is not None:
            kept = policy.reset_archive_retention if found["why"] == "reset" else policy.prune_after
            at = archived_at(file.name)
            if found["why"] != "bak" and kept is not None and at is not None and folder.now - at > kept:
                deeds.append(_deleted(Step.PURGE, file, f"archived {(folder.now - at).days} days ago"))
    return deeds


def rotate_store(folder: Folder, policy: Policy) -> list[Deed]:
    """Step 5: a large list of sessions is copied aside before it is written anew; the newest copies are kept."""
    store = folder.files.get("sessions.json")
    if store is None or policy.rotate_bytes is None or store.size <= policy.rotate_bytes:
        return []
    to = f"sessions.json.bak.{epoch_ms(folder.now)}"
    backups = sorted((name for name in folder.files if _STORE_BACKUP.fullmatch(name)), reverse=True)
    old = [folder.files[name] for name in backups[BACKUPS - 1 :]]
    why = f"larger than {policy.rotate_bytes} bytes"
    rotated = Deed(Step.ROTATE, Act.ROTATE_STORE, "sessions.json", why, to)
    return [rotated, *(_deleted(Step.ROTATE, file, f"more than {BACKUPS} backups") for file in old)]


def enforce_budget(folder: Folder, policy: Policy) -> list[Deed]:
    """Step 6: over the budget, archives and leftovers go first, then what conversations had before, then whole ones."""
    budget = policy.max_disk_bytes
    if budget is None or folder.total <= budget:
        return []
    goal = policy.clean_up_to if policy.clean_up_to is not None else max(1, budget * 4 // 5)
    left, why = folder.total, f"over the disk budget of {budget} bytes"
    deeds: list[Deed] = []
    used, history = _used(folder), _history(folder)
    files = _by_age(folder.files.values())
    loose = [file for file in files if _is_loose(file.name, used.keys() | history)]
    spent = {file.name for file in loose}
    idle = _history(folder, idle=True) - used.keys()
    older = [file for file in files if _id_of(file.name) in idle and file.name not in spent]
    for file in [*loose, *older]:
        if left <= goal:
            return deeds
        deeds.append(_deleted(Step.BUDGET, file, why))
        left -= file.size
    for entry in sorted(folder.entries.values(), key=_oldest_first):
        if left <= goal:
            return deeds
        if is_protected(entry, folder, policy):
            continue
        deeds.append(Deed(Step.BUDGET, Act.REMOVE_ROW, entry.key, why))
        for ident in sorted(_ids_of(entry)):
            used[ident] -= 1
            for file in files:
                if used[ident] == 0 and _id_of(file.name) == ident and file.name not in spent:
                    deeds.append(_deleted(Step.BUDGET, file, why))
                    left -= file.size
    return deeds


STEPS: tuple[Callable[[Folder, Policy], list[Deed]], ...] = (
    prune_stale,
    cap_count,
    archive_transcripts,
    purge_archives,
    rotate_store,
    enforce_budget,
)


# --- files -----------------------------------------------------------------------------------------------------


def archive_name(name: str, now: datetime, *, taken: Mapping[str, Any]) -> str:
    """Return the name under which a transcript is put aside; it carries the moment."""
    while True:
        found = f"{name}.deleted.{iso(now).replace(':', '-')}"
        if found not in taken:
            return found
        now += timedelta(milliseconds=1)


def archived_at(name: str) -> datetime | None:
    """Return when an archive was made, as its name says; ``None`` if the name is not that of an archive."""
    found = _ARCHIVE.fullmatch(name)
    if found is None:
        return None
    day, _, time = found["stamp"].partition("T")
    return parse_moment(f"{day}T{time.replace('-', ':')}")


def _id_of(name: str) -> str:
    """Return the session id that a file's name begins with; empty for files that are of no session."""
    for pattern in (_ARCHIVE, _SIDE_FILE, _TRANSCRIPT):
        found = pattern.fullmatch(name)
        if found is not None:
            return found["id"]
    return ""


def _transcripts_of(entry: SessionEntry) -> tuple[str, ...]:
    """Return the file names of a row's transcripts: the present one and those before it."""
    return (entry.file, *(f"{session}.jsonl" for session in entry.older))


def _ids_of(entry: SessionEntry) -> set[str]:
    """Return the ids that the files of a row's present transcript begin with."""
    return {entry.id, _id_of(entry.file)}


def _used(folder: Folder) -> Counter[str]:
    """Return the ids that rows continue in, and how many rows each."""
    return Counter(ident for entry in folder.entries.values() for ident in _ids_of(entry))


def _history(folder: Folder, *, idle: bool = False) -> set[str]:
    """Return the ids that conversations in the list had before; with ``idle``, those of conversations not in use."""
    every = folder.entries.values()
    return {ident for entry in every if not (idle and in_use(entry, folder)) for ident in entry.older}


def _locked(ident: str, folder: Folder) -> bool:
    return any(ident in _ids_of(entry) and in_use(entry, folder) for entry in folder.entries.values())


def _is_loose(name: str, known: Collection[str]) -> bool:
    """Say whether a file is an archive, a backup or the leftover of a session that nobody lists."""
    if _ARCHIVE.fullmatch(name) or _STORE_BACKUP.fullmatch(name) or name.startswith("sessions.json.corrupt-"):
        return True
    ident = _id_of(name)
    return bool(ident) and ident not in known


def _by_age(files: Iterable[Kept]) -> list[Kept]:
    return sorted(files, key=lambda file: (file.at, file.name))


def _deleted(step: Step, file: Kept, why: str) -> Deed:
    return Deed(step, Act.DELETE_FILE, file.name, why, bytes=file.size)


def shelved(row: dict[str, Any], now: datetime) -> None:
    """Mark a row as set aside, unless it is already."""
    if moment(row.get("archivedAt")) is None:
        row["archivedAt"] = epoch_ms(now)
