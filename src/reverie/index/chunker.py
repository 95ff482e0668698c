"""Documents cut into chunks: what is found as one. A line, a turn of a transcript, an entry of a curated file.

A chunk has one provenance class and session kind, so that an untrusted line never hides in a trusted chunk nor takes
the owner's lines around it along (choice C19). What stands around a chunk is kept apart from it, as contexts
(:mod:`reverie.index.contexts`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from reverie.core.provenance import is_trusted, merge
from reverie.core.text import printable, sha256
from reverie.core.types import Annotations, Chunk, Corpus, Provenance, SourceDocument, SourceLine
from reverie.index.rows import storable
from reverie.workspace.markdown import Document, Line, LineKind, Status, directives, scan, strip_line

BETWEEN_HEADINGS = " > "
#: What a chunk outside the entries of curated files has.
PLAIN = Annotations()
#: A text of up to so many bytes has one vector. A longer one has a vector for each piece of about ``PIECE_BYTES``,
#: made of whole sentences: a small embedder tells one thing about a text, and a long turn says several.
WHOLE_BYTES = 720
PIECE_BYTES = 480
#: A long sentence is cut at a blank only in the last part of its piece.
CUT_FROM = 0.65

_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A line on its way into a chunk. ``level`` is that of a heading, 0 for other lines."""

    number: int
    text: str
    provenance: Provenance
    heading: str = ""
    level: int = 0

    @property
    def blank(self) -> bool:
        return not self.text or self.text.isspace()

    @property
    def wordless(self) -> bool:
        """Whether the line says nothing by itself: a rule, the end of a fence."""
        return _WORD.search(self.text) is None

    @property
    def born(self) -> tuple[str, str]:
        return (self.provenance.origin, self.provenance.kind)


def split(document: SourceDocument, corpus: Corpus) -> Iterator[Chunk]:
    """Yield the chunks of a document from top to bottom. The same document always gives the same chunks."""
    if corpus is Corpus.SESSIONS:
        # A message that begins with a number sign is no heading.
        groups: Iterable[tuple[list[_Piece], Annotations]] = (
            (group, PLAIN) for group in _by_line([_piece(line) for line in document.lines])
        )
    elif document.curated:
        groups = _curated(document.lines)
    else:
        groups = ((group, PLAIN) for group in _by_line(_with_headings(document.lines, _scanned(document.lines))))
    for group, notes in groups:
        text = "\n".join(piece.text for piece in group).rstrip()
        heading = group[0].heading if document.curated else group[-1].heading
        yield Chunk(
            path=document.path,
            corpus=corpus,
            start_line=group[0].number,
            end_line=group[-1].number,
            text=text,
            heading=heading,
            hash=sha256(embedded_text(heading, text, curated=document.curated)),
            provenance=_common(group),
            annotations=notes,
        )


def heading_above(heading: str, text: str) -> str:
    """Return the path of headings without the last one where the text itself begins with it."""
    path = heading.split(BETWEEN_HEADINGS) if heading else []
    while path and text.startswith("#") and f"{path[-1]}\n" in f"{text}\n":
        path.pop()
    return BETWEEN_HEADINGS.join(path)


def embedded_text(heading: str, text: str, *, curated: bool) -> str:
    """Return what an embedder is given for a chunk: its text, and for an entry of a curated file its headings.

    Entries are written to be read under their heading; lines of notes and messages are not, and a date or a title
    before each of them makes them all alike.
    """
    above = heading_above(heading, text) if curated else ""
    return printable(f"{above}\n{text}" if above else text)


def pieces(text: str) -> list[str]:
    """Return the parts of a text that get a vector each; the whole of it where it is short."""
    if _bytes(text) <= WHOLE_BYTES:
        return [text]
    found: list[str] = []
    size = 0
    for sentence in _sentences(text):
        cost = _bytes(sentence) + 1
        if found and size + cost <= PIECE_BYTES:
            found[-1] += f" {sentence}"
            size += cost
        else:
            found.append(sentence)
            size = cost
    return found


def _sentences(text: str) -> Iterator[str]:
    for sentence in _SENTENCE.split(text):
        rest = sentence.strip()
        while _bytes(rest) > PIECE_BYTES:
            end = len(rest.encode("utf-8", "replace")[:PIECE_BYTES].decode("utf-8", "ignore"))
            blank = rest.rfind(" ", int(end * CUT_FROM), end)
            end = blank if blank > 0 else end
            yield rest[:end]
            rest = rest[end:].lstrip()
        if rest:
            yield rest


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _common(group: Sequence[_Piece]) -> Provenance:
    first = group[0].provenance
    if all(piece.provenance is first for piece in group):
        return first
    distinct = dict.fromkeys(piece.provenance for piece in group if not piece.blank)
    return next(iter(distinct)) if len(distinct) == 1 else merge(distinct)


def _piece(line: SourceLine) -> _Piece:
    return _Piece(line.number, storable(line.text), line.provenance)


def _scanned(lines: Sequence[SourceLine]) -> Document:
    """Scan the lines; a line break inside one (no file has that) is a blank, so that line ``i`` stays line ``i``."""
    return scan("".join(line.text.replace("\n", " ") + "\n" for line in lines))


def _with_headings(lines: Sequence[SourceLine], scanned: Document) -> list[_Piece]:
    """Return the lines, each with the headings above it; above a trusted line only those that are trusted count."""
    stack: list[tuple[int, str, bool]] = []
    every = own = ""
    found = []
    for line, seen in zip(lines, scanned.lines, strict=True):
        trusted = is_trusted(line.provenance.origin)
        level = seen.level if seen.kind is LineKind.HEADING else 0
        if level:
            while stack and stack[-1][0] >= level:
                stack.pop()
            stack.append((level, storable(seen.title), trusted))
            every = BETWEEN_HEADINGS.join(title for _, title, _ in stack if title)
            own = BETWEEN_HEADINGS.join(title for _, title, known in stack if title and known)
        heading = own if trusted else every
        found.append(_Piece(line.number, storable(line.text), line.provenance, heading, level))
    return found


def _by_line(found: Iterable[_Piece]) -> Iterator[list[_Piece]]:
    """Yield each line by itself, a heading with the line below it, and a wordless one with the line above it.

    A heading with nothing of its own below stands for itself. Nothing joins lines of two classes.
    """
    group: list[_Piece] = []
    for piece in found:
        if piece.blank:
            continue
        if group and _belongs(piece, group):
            group.append(piece)
            continue
        if group:
            yield group
        group = [piece]
    if group:
        yield group


def _belongs(piece: _Piece, group: Sequence[_Piece]) -> bool:
    """Say whether a line stands in one chunk with the lines right above it."""
    if piece.born != group[-1].born:
        return False
    waits = all(one.level or one.wordless for one in group)
    if piece.level:
        return waits and all(one.level < piece.level for one in group)
    return waits or piece.wordless


def _curated(lines: Sequence[SourceLine]) -> Iterator[tuple[list[_Piece], Annotations]]:
    """Yield one group an entry and one a paragraph between entries, split where the class changes."""
    for block, notes in _blocks(lines):
        group: list[_Piece] = []
        for piece in block:
            if not piece.blank and any(not one.blank and one.born != piece.born for one in group):
                yield from _trimmed(group, notes)
                group = []
            group.append(piece)
        yield from _trimmed(group, notes)


def _trimmed(group: Sequence[_Piece], notes: Annotations) -> Iterator[tuple[list[_Piece], Annotations]]:
    first, last = 0, len(group)
    while first < last and group[first].blank:
        first += 1
    while last > first and group[last - 1].blank:
        last -= 1
    if first < last:
        yield list(group[first:last]), notes


def _blocks(lines: Sequence[SourceLine]) -> Iterator[tuple[list[_Piece], Annotations]]:
    """Yield entries with their annotations, and paragraphs with the headings right above them.

    A heading with entries below it is carried by those; one with nothing below it stands for itself.
    """
    scanned = _scanned(lines)
    found = _with_headings(lines, scanned)
    entry_at = {one.entry.start_line: one for one in directives(scanned)}
    paragraph: list[_Piece] = []
    at = 1
    while at <= len(found):
        line, piece = scanned.lines[at - 1], found[at - 1]
        has_body = any(not one.level for one in paragraph)
        if directive := entry_at.get(at):
            if has_body:
                yield paragraph, PLAIN
            paragraph = []
            entry = directive.entry
            last = entry.end_line
            own = zip(scanned.lines[at - 1 : last], found[at - 1 : last], strict=True)
            over = directive.status is Status.SUPERSEDED
            yield list(_readable(own, "- ")), replace(entry.annotations, superseded=over)
            at = last + 1
            continue
        ends = has_body and (piece.blank or piece.level > 0)
        alone = not has_body and bool(paragraph) and 0 < piece.level <= paragraph[-1].level
        if ends or alone:
            yield paragraph, PLAIN
            paragraph = []
        if not piece.blank and (line.kind is not LineKind.COMMENT or has_body):
            paragraph.extend(_readable([(line, piece)]))
        at += 1
    if paragraph:
        yield paragraph, PLAIN


def _readable(lines: Iterable[tuple[Line, _Piece]], marker: str = "") -> Iterator[_Piece]:
    """Yield lines as a person reads them: no annotation comments, and no list marker on the first."""
    for line, piece in lines:
        text = piece.text if line.code else strip_line(piece.text)
        if text is not None:
            yield replace(piece, text=text.removeprefix(marker))
        marker = ""
