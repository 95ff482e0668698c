"""The older generation: ``sessions.json`` and JSONL files, live ones and those that a reset put aside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reverie.core.errors import TranscriptError
from reverie.core.types import ChatType, SessionKind
from reverie.imports.arrival import Account
from reverie.imports.openclaw.found import Transcript, chat_of
from reverie.sessions.directory import SessionDirectory
from reverie.sessions.keys import parse_key
from reverie.sessions.reading import Reading, header_at
from reverie.sessions.rows import strings_in
from reverie.sessions.source import session_in
from reverie.sessions.tree import Entry
from reverie.workspace.reading import reason_of


def transcripts(folder: Path, agent: str, main_key: str, account: Account) -> Iterator[Transcript]:
    """Yield every transcript of a sessions folder, those named by rows with what the rows say."""
    if not folder.is_dir():
        return
    directory = SessionDirectory(folder, agent, main_key=main_key)
    try:
        rows = directory.rows()
    except TranscriptError as error:
        account.skip("sessions.json", str(error.fields.get("reason") or error.message))
        rows = {}
    owners = _owners(rows, directory)
    deleted = 0
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        named = session_in(file.name)
        if named is None or file.is_symlink() or not file.is_file():
            deleted += ".jsonl.deleted." in file.name
            continue
        yield from _transcript(file, named, owners.get(file.name) or owners.get(named), directory, account)
    if deleted:
        account.notices.append(f"{deleted} transcripts that OpenClaw had deleted were left where they are")


def _owners(rows: Mapping[str, Any], directory: SessionDirectory) -> dict[str, tuple[str, bool]]:
    """Return of each file name or session id the key whose it is, and whether the conversation continues there."""
    found: dict[str, tuple[str, bool]] = {}
    for entry in directory.list():
        for older in strings_in(entry.data, "usageFamilySessionIds"):
            found.setdefault(older, (entry.key, False))
    for entry in directory.list():
        found[entry.id] = found[Path(entry.file).name] = (entry.key, True)
    return found


def _transcript(
    file: Path, named: str, owner: tuple[str, bool] | None, directory: SessionDirectory, account: Account
) -> Iterator[Transcript]:
    aside = ".jsonl.reset." in file.name
    key, current = owner or ("", False)
    header = header_at(file)
    # A transcript that we wrote says whose it is; of what nobody claims, nothing may be assumed.
    known = parse_key(key or (header.key if header is not None else ""), main_key=directory.main_key)
    row = directory.rows().get(key)
    row = row if isinstance(row, Mapping) else {}
    try:
        begun = header.at if header is not None and header.at is not None else _written(file)
    except OSError as error:
        account.skip(file.name, reason_of(error))
        return
    yield Transcript(
        session=named,
        key=known,
        entries=lambda: _entries(file, account),
        begun=begun,
        kind=directory.kind_of(known) if known.text else SessionKind.UNKNOWN,
        chat=chat_of(known, row.get("chatType")) if known.text else ChatType.UNKNOWN,
        row=row,
        current=current and not aside,
        outside=bool(row.get("hookExternalContentSource")),
        cwd=str(header.data.get("cwd") or "") if header is not None else "",
    )


def _entries(file: Path, account: Account) -> Iterator[Entry]:
    reading = Reading(file)
    yield from reading
    account.notices += [notice for notice in reading.summary().notices if notice not in account.notices]


def _written(file: Path) -> datetime:
    return datetime.fromtimestamp(file.stat().st_mtime, tz=UTC)
