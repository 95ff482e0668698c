"""Copies of conversations for other programs and for people: the JSONL as it is, and beside it a page to read."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from reverie.core.errors import StoreUnwritable, TranscriptError, UsageError
from reverie.core.paths import make_folder
from reverie.core.text import sha256
from reverie.core.types import Skipped
from reverie.sessions.directory import SessionDirectory
from reverie.sessions.messages import Message, MessageRole, iso
from reverie.sessions.reading import Reading
from reverie.sessions.rows import SessionEntry
from reverie.sessions.tree import Entry
from reverie.workspace.reading import contained, opened, reason_of

_SPEAKERS = {MessageRole.USER: "User", MessageRole.ASSISTANT: "Assistant", MessageRole.TOOL_RESULT: "Tool"}
_UNSAFE = re.compile(r"[^a-z0-9_-]+")
_LONGEST_NAME = 80


@dataclass(frozen=True, slots=True)
class ExportReport:
    """The files that were written, and what was left out and why."""

    folder: str
    written: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()


def export_sessions(
    directory: SessionDirectory, target: Path, *, key: str = "", forgotten: Collection[str] = ()
) -> ExportReport:
    """Write transcripts and readable pages below a folder; files of an earlier export are written anew.

    Args:
        directory: the conversations.
        target: the folder; it is made if needed.
        key: one conversation; all of them without it.
        forgotten: ids of sessions that were forgotten, which are not exported.

    Raises:
        UsageError: there is no such conversation, or the target is a file.
        StoreUnwritable: the target cannot be written.
    """
    if target.exists() and not target.is_dir():
        raise UsageError("The target of an export is a folder", path=str(target))
    entry = directory.get(key) if key else None
    if key and entry is None:
        raise UsageError("There is no such session", key=key, hint="`reverie sessions list` names them")
    written: list[str] = []
    skipped: list[Skipped] = []
    for each in (entry,) if entry is not None else directory.list():
        folder = make_folder(target / folder_of(each.key))
        for name in dict.fromkeys((each.file, *(f"{session}.jsonl" for session in each.older))):
            if Path(name).stem in forgotten or (name == each.file and each.id in forgotten):
                skipped.append(Skipped(name, "this session was forgotten"))
                continue
            try:
                written += _export(contained(directory.folder, name), folder, each)
            except TranscriptError as error:
                skipped.append(Skipped(name, str(error.fields.get("reason") or error.message)))
    return ExportReport(str(target), tuple(written), tuple(skipped))


def folder_of(key: str) -> str:
    """Return the name of a conversation's folder: readable, and different for different keys."""
    plain = _UNSAFE.sub("-", key.lower()).strip("-")[:_LONGEST_NAME].strip("-")
    return plain if plain.replace("-", ":") == key else f"{plain}-{sha256(key)[:8]}"


def _export(source: Path, folder: Path, entry: SessionEntry) -> list[str]:
    copy, page = folder / source.name, folder / f"{source.stem}.md"
    reading = Reading(source)
    try:
        with opened(source) as (file, _), _private(copy).open("wb") as target:
            shutil.copyfileobj(file, target, 1 << 20)
    except FileNotFoundError as error:
        copy.unlink(missing_ok=True)
        raise TranscriptError("There is no transcript", path=str(source), reason="vanished") from error
    except OSError as error:
        raise StoreUnwritable("The export cannot be written", path=str(copy), reason=reason_of(error)) from error
    with _private(page).open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as text:
        text.writelines(_page(reading, entry))
    return [str(copy), str(page)]


def _private(path: Path) -> Path:
    """Make the file readable for its owner only, before anything stands in it."""
    path.touch(mode=0o600)
    path.chmod(0o600)
    return path


def _page(reading: Reading, entry: SessionEntry) -> Iterator[str]:
    first = True
    for each in reading:
        if first:
            yield from _head(reading, entry)
            first = False
        if each.message is not None:
            yield from _said(each, each.message)
        elif each.type in ("compaction", "branch_summary"):
            yield f"## Summary of what went before{_at(each)}\n\n{each.data.get('summary') or ''}\n\n"
    if first:
        yield from _head(reading, entry)
    for notice in reading.summary().notices:
        yield f"> {notice}\n"


def _head(reading: Reading, entry: SessionEntry) -> Iterator[str]:
    begun = iso(reading.header.at) if reading.header is not None and reading.header.at is not None else "unknown"
    yield f"# {entry.label or entry.key}\n\n"
    yield f"- Session: `{entry.key}`\n- Transcript: `{reading.path.stem}`\n- Begun: {begun}\n"
    yield f"- Kind: {entry.kind.value}, chat: {entry.chat.value}\n\n"


def _said(entry: Entry, message: Message) -> Iterator[str]:
    speaker = _SPEAKERS.get(message.role, message.role.value)
    who = f"{speaker} {message.tool}".rstrip() if message.role is MessageRole.TOOL_RESULT else speaker
    origin = f" ({message.stamp.origin.value})" if message.stamp is not None else ""
    yield f"## {who}{origin}{_at(entry)}\n\n"
    if message.text:
        # Indented, so that no heading or fence in what was said breaks the page.
        quoted = message.role is MessageRole.TOOL_RESULT
        yield "".join(f"    {line}\n" if quoted else f"{_shielded(line)}\n" for line in message.text.split("\n")) + "\n"
    for call in message.calls:
        given = call.data.get("arguments", call.data.get("input", {}))
        yield f"    calls {call.data.get('name', 'a tool')} {json.dumps(given, ensure_ascii=False)}\n\n"


def _shielded(line: str) -> str:
    """Return a line that cannot pass for a heading of the page."""
    return f"\\{line}" if line.startswith("#") else line


def _at(entry: Entry) -> str:
    at = entry.message.at if entry.message is not None and entry.message.at is not None else entry.at
    return f", {iso(at)}" if at is not None else ""
