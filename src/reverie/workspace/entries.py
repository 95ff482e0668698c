"""Entries of curated files: where each begins and ends, what it says, and how its annotations are changed in place.

An entry begins at a line that starts with ``- `` in the first column. What follows belongs to it up to the next entry,
a heading, a rule or the marker of a managed block; promotion markers and directive metadata above an entry belong to
the one below. Lines in front matter, code, multi-line comments and generated blocks begin no entry.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date

from reverie.core.types import Annotations
from reverie.workspace.annotations import (
    FIELDS,
    Status,
    find_annotations,
    format_annotation,
    parse_annotations,
    parse_marker,
    parse_metadata,
    strip_line,
)
from reverie.workspace.document import Document, Line, LineKind

_ENDS = frozenset({LineKind.HEADING, LineKind.RULE})


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. Lines are 1-based and inclusive; ``raw`` holds them without line endings.

    ``text`` is what a person reads: no list marker, no annotation comments. ``head_line`` is the first of the marker
    and metadata lines above that belong to the entry, or ``start_line``. ``code`` tells which of ``raw`` are fenced
    code. ``promotion`` and ``lineage`` are the keys of the markers above.
    """

    start_line: int
    end_line: int
    raw: tuple[str, ...]
    text: str
    annotations: Annotations
    heading: str = ""
    head_line: int = 0
    promotion: str | None = None
    lineage: str | None = None
    code: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True)
class Directive:
    """An entry of USER.md. Without metadata it is active, its day unknown; ``line`` is that of the metadata."""

    observed: date | None
    status: Status
    entry: Entry
    line: int | None = None


@dataclass(frozen=True, slots=True)
class _Head:
    first: int
    promotion: str | None = None
    lineage: str | None = None
    metadata: int | None = None
    observed: date | None = None
    status: Status = Status.ACTIVE


def entries(document: Document) -> tuple[Entry, ...]:
    """Return the entries of a curated file, from top to bottom."""
    return tuple(entry for entry, _ in _entries(document))


def directives(document: Document) -> tuple[Directive, ...]:
    """Return the entries of USER.md with their day and status."""
    return tuple(Directive(head.observed, head.status, entry, head.metadata) for entry, head in _entries(document))


def with_annotations(entry: Entry, **changes: object) -> tuple[str, ...]:
    """Return the raw lines of an entry with some annotations changed (fields of ``Annotations``; ``None`` removes).

    A comment that is there is changed in its place, a new one goes to the end of the entry's first line where that
    changes nothing else, or to a line of its own; everything else keeps its bytes.

    Raises:
        UsageError: an unknown field or a value that cannot be written.
    """
    text = "\n".join(entry.raw)
    found = find_annotations(_masked(entry.raw, entry.code))
    cuts: list[tuple[int, int, str]] = []
    added: dict[str, str] = {}
    for field, value in changes.items():
        comment = format_annotation(field, value)
        if _says(entry.annotations, field, comment):
            continue
        # The last one is kept: it may be the one that ends its line.
        for place in reversed([one.comment for one in found if one.name == FIELDS[field]]):
            start = place.start if comment else len(text[: place.start].rstrip(" \t"))
            cuts.append((start, place.end, comment))
            comment = ""
        if comment:
            added[field] = comment
    for start, end, comment in sorted(cuts, reverse=True):
        text = text[:start] + comment + text[end:]
    lines = tuple(text.split("\n"))
    left = parse_annotations(_masked(lines, entry.code))
    for field in FIELDS:
        value = getattr(entry.annotations, field)
        # A comment that no longer stands on a line that ends with one has stopped counting; say it again.
        if field not in changes and value != getattr(left, field):
            added[field] = format_annotation(field, value)
    return _with_added(lines, entry.code, " ".join(added[field] for field in FIELDS if field in added))


def _says(annotations: Annotations, field: str, comment: str) -> bool:
    if field == "project" and annotations.invalid_project:
        return False
    wanted: object = getattr(parse_annotations(comment), field)
    return bool(getattr(annotations, field) == wanted)


def _with_added(lines: tuple[str, ...], code: tuple[bool, ...], comment: str) -> tuple[str, ...]:
    if not comment:
        return lines
    before, new = parse_annotations(_masked(lines, code)), parse_annotations(comment)
    wanted = replace(before, **{field: value for field in FIELDS if (value := getattr(new, field))})
    blank = "" if lines[0].endswith((" ", "\t")) else " "
    inline = (lines[0] + blank + comment, *lines[1:])
    # Where the entry opens with a fence, leaves a comment open or has other comments in its first line, a comment
    # behind that line would be code, be swallowed, or make those others count.
    if not code[0] and parse_annotations(_masked(inline, code)) == wanted:
        return inline
    return (*lines, f"  {comment}")


def _entries(document: Document) -> list[tuple[Entry, _Head]]:
    lines = document.lines
    starts = [index for index, line in enumerate(lines) if _begins(document, line)]
    heads = {index: _head(lines, index) for index in starts}
    boundaries = {head.first for head in heads.values()}
    boundaries.update(index for index, line in enumerate(lines) if line.kind in _ENDS)
    boundaries.update(number - 1 for block in document.blocks for number in (block.start_line, block.end_line))
    found, heading = [], ""
    pending = iter([*starts, len(lines)])
    start = next(pending)
    for index, line in enumerate(lines):
        if line.kind is LineKind.HEADING:
            heading = line.title
        if index == start:
            found.append((_entry(lines, index, boundaries, heading, heads[index]), heads[index]))
            start = next(pending)
    return found


def _begins(document: Document, line: Line) -> bool:
    return line.kind is LineKind.ITEM and line.text.startswith("- ") and line.number not in document.generated


def _entry(lines: tuple[Line, ...], start: int, boundaries: set[int], heading: str, head: _Head) -> Entry:
    end = start + 1
    while end < len(lines) and end not in boundaries:
        end += 1
    while lines[end - 1].kind is LineKind.BLANK and end - 1 > start:
        end -= 1
    own = lines[start:end]
    raw, code = tuple(line.text for line in own), tuple(line.code for line in own)
    bare = (line.text if line.code else strip_line(line.text) for line in own)
    text = "\n".join(line for line in bare if line is not None)
    return Entry(
        start_line=start + 1,
        end_line=end,
        raw=raw,
        text=text.removeprefix("- ").strip(),
        annotations=parse_annotations(_masked(raw, code)),
        heading=heading,
        head_line=head.first + 1,
        promotion=head.promotion,
        lineage=head.lineage,
        code=code,
    )


def _masked(raw: tuple[str, ...], code: tuple[bool, ...]) -> str:
    """Return the lines as one text of the same length in which code is blank, so that no comment is seen in it."""
    return "\n".join("\0" * len(text) if hidden else text for text, hidden in zip(raw, code, strict=True))


def _head(lines: tuple[Line, ...], start: int) -> _Head:
    """Look above an entry for its markers (right above) and its metadata (blank lines may lie between)."""
    markers: dict[str, str] = {}
    first = _markers_above(lines, start, markers)
    above = first - 1
    while above >= 0 and lines[above].kind is LineKind.BLANK:
        above -= 1
    metadata = parse_metadata(lines[above].text) if above >= 0 and lines[above].kind is LineKind.COMMENT else None
    if metadata is None:
        return _Head(first, markers.get("promotion"), markers.get("lineage"))
    first = _markers_above(lines, above, markers)
    return _Head(first, markers.get("promotion"), markers.get("lineage"), above + 1, *metadata)


def _markers_above(lines: tuple[Line, ...], index: int, markers: dict[str, str]) -> int:
    while index > 0 and lines[index - 1].kind is LineKind.COMMENT and (found := parse_marker(lines[index - 1].text)):
        markers.setdefault(*found)
        index -= 1
    return index
