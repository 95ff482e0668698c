"""Changes of memory files, computed on the text alone: what the new text is, and which lines are whose.

Each function takes the file as it stands and returns a :class:`Draft`. Writing is left to the caller, who calls again
if the file has changed meanwhile. All that is not named keeps its bytes: line endings, BOM, odd bytes, blank lines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from reverie.core.errors import UsageError, WriteConflict, WriteRefused
from reverie.core.types import Annotations
from reverie.workspace.annotations import (
    Status,
    format_annotations,
    format_metadata,
    parse_annotations,
    parse_marker,
    parse_metadata,
)
from reverie.workspace.document import Document, LineKind
from reverie.workspace.entries import Directive, Entry, directives, entries, with_annotations
from reverie.workspace.reading import FileText, decode
from reverie.workspace.scanner import scan
from reverie.workspace.wording import entry_text, note_lines, title_text

_ACTIVE = re.compile(r"(status[ \t]*:[ \t]*)active", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Splice:
    """From ``start_line`` on, ``removed`` lines gave way to ``inserted`` ones.

    Splices of one change stand from top to bottom, each in the line numbers of the finished file, so that records kept
    by line can be moved along.
    """

    start_line: int
    removed: int
    inserted: int


@dataclass(frozen=True, slots=True)
class Draft:
    """A new file and where the text asked for stands in it (1-based, inclusive)."""

    data: bytes
    start_line: int
    end_line: int
    splices: tuple[Splice, ...]


def with_note(file: FileText | None, day: date, text: str, heading: str | None) -> Draft:
    """Add a note at the end of a daily file, which begins with its date if it is new.

    A heading that is the last one of the file already is not repeated. Items of a list stay together; anything else is
    set off by a blank line.
    """
    before = file or decode(b"")
    document = scan(before.exact)
    lines, added = note_lines(text), _closing(document)
    if not document.lines:
        added += [f"# {day.isoformat()}", ""]
    if heading is not None:
        title = title_text(heading)
        last = next((line.title for line in reversed(document.lines) if line.kind is LineKind.HEADING), None)
        if last != title:
            added += [*_gap(document, added), f"## {title}", ""]
    last_line = document.lines[-1].kind if document.lines else LineKind.BLANK
    if added or last_line is not LineKind.ITEM or scan(lines[0]).lines[0].kind is not LineKind.ITEM:
        added += _gap(document, added)
    return _spliced(before, document, len(document.lines) + 1, [*added, *lines], skip=len(added))


def with_entry(
    file: FileText | None,
    text: str,
    annotations: Annotations,
    *,
    title: str,
    section: str | None,
    observed: date | None,
) -> Draft:
    """Add an entry at the end of the file or of a section, which is made if it is not there.

    ``title`` heads a new file. With ``observed`` the entry is a directive of USER.md, active since that day.
    """
    before = file or decode(b"")
    document = scan(before.exact)
    line = _entry_line(text, annotations)
    block = [line] if observed is None else [format_metadata(observed, Status.ACTIVE), "", line]
    added: list[str] = []
    place, tail = len(document.lines) + 1, False
    if not document.lines:
        added = [f"# {title}", ""]
    wanted = None if section is None else title_text(section)
    found = None if wanted is None else _section_end(document, wanted)
    if found is not None:
        place = found
        tail = place <= len(document.lines) and document.lines[place - 1].kind is not LineKind.BLANK
    if place == len(document.lines) + 1:
        added += _closing(document)
    if wanted is not None and found is None:
        added += [*_gap(document, added), f"## {wanted}", ""]
    # Right below a marker that lost its entry, the new entry would take it for its own.
    above = document.lines[place - 2].kind if place > 1 else LineKind.BLANK
    follows = above is not LineKind.COMMENT and any(entry.end_line == place - 1 for entry in entries(document))
    if added or observed is not None or not follows:
        added += _gap(document, added, place)
    lines = [*added, *block, *([""] if tail else [])]
    draft = _spliced(before, document, place, lines, skip=len(added) + len(block) - 1)
    return _checked(replace(draft, end_line=draft.start_line), document, _as_read(annotations))


def with_replaced(file: FileText | None, entry: Entry, *, text: str | None, annotations: Mapping[str, object]) -> Draft:
    """Put a new text or new annotations in the place of an entry; annotations that are not named stay."""
    before = file or decode(b"")
    document = scan(before.exact)
    found = located(document, entry)
    lines = with_annotations(found, **annotations)
    wanted = entries(scan("\n".join(lines)))[0].annotations
    if text is not None:
        if wanted.invalid_project:
            # Dropping the broken tag would let the entry into every project.
            raise WriteRefused("The project annotation of this entry is malformed; say which project it belongs to")
        lines, wanted = (_entry_line(text, wanted),), _as_read(wanted)
    data = before.encode(document.spliced(found.start_line, len(found.raw), lines, before.newline))
    end = found.start_line + len(lines) - 1
    draft = Draft(data, found.start_line, end, (Splice(found.start_line, len(found.raw), len(lines)),))
    return _checked(draft, document, wanted, gone=found)


def with_superseded(
    file: FileText | None, entry: Entry, text: str, annotations: Annotations, *, observed: date
) -> Draft:
    """Mark a directive superseded where it stands and put the new, active one right after it."""
    before = file or decode(b"")
    document = scan(before.exact)
    old = _directive(document, entry)
    if old.status is Status.SUPERSEDED:
        raise WriteRefused("This directive is superseded already", line=old.entry.start_line)
    end = old.entry.end_line
    fence = _closing(document) if end == len(document.lines) else []
    tail = [""] if end < len(document.lines) and document.lines[end].kind is not LineKind.BLANK else []
    block = [*fence, "", format_metadata(observed, Status.ACTIVE), "", _entry_line(text, annotations), *tail]
    after = scan(document.spliced(end + 1, 0, block, before.newline))
    if old.line is None:
        head, removed = [format_metadata(None, Status.SUPERSEDED), ""], 0
        place = old.entry.head_line
    else:
        head, removed = [_superseded_line(document.lines[old.line - 1].text)], 1
        place = old.line
    data = before.encode(after.spliced(place, removed, head, before.newline))
    shift = len(head) - removed
    start = end + shift + len(block) - len(tail)
    splices = (Splice(place, removed, len(head)), Splice(end + shift + 1, 0, len(block)))
    return _checked(Draft(data, start, start, splices), document, _as_read(annotations))


def located(document: Document, entry: Entry) -> Entry:
    """Return an entry read earlier as it stands now: at its line, or wherever its lines stand once.

    Raises:
        WriteConflict: it is gone, changed, or there several times.
    """
    same = [one for one in entries(document) if one.raw == entry.raw]
    here = [one for one in same if one.start_line == entry.start_line]
    if len(here or same) != 1:
        raise WriteConflict("The entry is not what it was when it was read", line=entry.start_line)
    return (here or same)[0]


def _directive(document: Document, entry: Entry) -> Directive:
    found = located(document, entry)
    return next(one for one in directives(document) if one.entry == found)


def _superseded_line(line: str) -> str:
    changed, count = _ACTIVE.subn(r"\1superseded", line)
    return changed if count else line.replace("-->", "| status: superseded -->")


def _entry_line(text: str, annotations: Annotations) -> str:
    return f"- {entry_text(text)} {format_annotations(annotations)}".rstrip()


def _as_read(annotations: Annotations) -> Annotations:
    """Return annotations as they read once they are written."""
    return parse_annotations(format_annotations(annotations))


def _closing(document: Document) -> list[str]:
    return [document.open_fence] if document.open_fence else []


def _gap(document: Document, added: Sequence[str], place: int | None = None) -> list[str]:
    """Return a blank line if what stands before the next line is none."""
    if added:
        return [""] if added[-1] else []
    above = (place or len(document.lines) + 1) - 2
    return [""] if above >= 0 and document.lines[above].kind is not LineKind.BLANK else []


def _section_end(document: Document, title: str) -> int | None:
    """Return the line at which an entry of the section is to be put in; ``None`` if there is no such section."""
    blocks = {block.start_line for block in document.blocks}
    start = next(
        (
            line.number
            for line in document.lines
            if line.title.casefold() == title.casefold() and line.level and line.number not in document.generated
        ),
        None,
    )
    if start is None:
        return None
    rest = document.lines[start:]
    end = next((line.number for line in rest if line.level or line.number in blocks), len(document.lines) + 1)
    while end > start + 1 and document.lines[end - 2].kind is LineKind.BLANK:
        end -= 1
    return end


def _spliced(before: FileText, document: Document, place: int, lines: Sequence[str], *, skip: int) -> Draft:
    data = before.encode(document.spliced(place, 0, lines, before.newline))
    return Draft(data, place + skip, place + len(lines) - 1, (Splice(place, 0, len(lines)),))


def _checked(draft: Draft, document: Document, wanted: Annotations, *, gone: Entry | None = None) -> Draft:
    """Read the draft back: the entry says what it was given, and every other one is as it was (I1).

    The wording rules make this so. Should they miss a case, the write fails and no forged entry comes to be.
    """
    old = [one for one in entries(document) if one != gone]
    new = entries(scan(decode(draft.data).exact))
    own = [one for one in new if one.start_line == draft.start_line]
    others = [one for one in new if one.start_line != draft.start_line]
    if len(own) != 1 or own[0].annotations != wanted or len(others) != len(old) or not all(map(_is_still, old, others)):
        raise UsageError("This text cannot be written as an entry; say it in other words")
    return draft


def _is_still(old: Entry, new: Entry) -> bool:
    """Say whether an entry is what it was.

    One that left a fence open to the end of the file may have got the line that closes it, and one that was followed
    by markers of no entry may have lost these to the entry below.
    """
    closed = len(new.raw) == len(old.raw) + 1 and old.code[-1] and new.code[-1] and new.raw[:-1] == old.raw
    stray = old.raw[len(new.raw) :]
    bared = new.raw == old.raw[: len(new.raw)] and all(
        not line.strip() or parse_marker(line) or parse_metadata(line) for line in stray
    )
    return (closed or bared) and new.annotations == old.annotations
