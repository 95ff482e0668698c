"""Documents cut into chunks: pieces that are searched as one, with exact line numbers.

A chunk holds lines of one provenance class and session kind only, so that an untrusted paragraph never hides in a
trusted chunk nor takes the owner's lines around it along (choice C19). In curated files a chunk is an entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from reverie.core.provenance import merge
from reverie.core.text import printable, sha256
from reverie.core.types import Annotations, Chunk, Corpus, Provenance, SourceDocument, SourceLine
from reverie.index.identity import Chunking
from reverie.index.rows import storable
from reverie.workspace.markdown import Document, Line, LineKind, entries, scan, strip_line

#: An estimated token is four bytes of UTF-8 (:func:`reverie.core.text.estimate_tokens`).
BYTES_PER_TOKEN = 4
LEAST_TOKENS = 8
#: A heading up to this level begins a chunk wherever it stands; a deeper one only where half a chunk is full.
TOP_LEVEL = 2
#: A long line is cut at a blank only in the last part of its window.
CUT_FROM = 0.65
BETWEEN_HEADINGS = " > "
#: What a chunk outside the entries of curated files has.
PLAIN = Annotations()


@dataclass(frozen=True, slots=True)
class _Piece:
    """A line as it goes into chunks. ``level`` is that of a heading, 0 for other lines."""

    number: int
    text: str
    provenance: Provenance
    heading: str = ""
    level: int = 0

    @property
    def blank(self) -> bool:
        return not self.text or self.text.isspace()

    @property
    def cost(self) -> int:
        return _bytes(self.text) + 1


def split(document: SourceDocument, corpus: Corpus, chunking: Chunking) -> Iterator[Chunk]:
    """Yield the chunks of a document from top to bottom. The same document always gives the same chunks."""
    if corpus is Corpus.SESSIONS:
        # A message that begins with a number sign is no heading.
        pieces: Sequence[_Piece] = [_piece(line) for line in document.lines]
    elif document.curated:
        yield from _split_curated(document, corpus, chunking)
        return
    else:
        pieces = _with_headings(document.lines, _scanned(document.lines))
    for group in _by_class(pieces):
        for window in _windows(group, chunking):
            yield _chunk(document.path, corpus, window)


def embedded_text(heading: str, text: str) -> str:
    """Return what an embedder is given for a chunk: its headings, unless it begins with them, and its text."""
    path = heading.split(BETWEEN_HEADINGS) if heading else []
    if path and text.partition("\n")[0].strip("# \t") == path[-1]:
        path.pop()
    return printable("\n".join([*([BETWEEN_HEADINGS.join(path)] if path else []), text]))


def _chunk(path: str, corpus: Corpus, pieces: Sequence[_Piece], notes: Annotations = PLAIN) -> Chunk:
    text = "\n".join(piece.text for piece in pieces).rstrip()
    heading = pieces[0].heading
    return Chunk(
        path=path,
        corpus=corpus,
        start_line=pieces[0].number,
        end_line=pieces[-1].number,
        text=text,
        heading=heading,
        hash=sha256(embedded_text(heading, text)),
        provenance=_common(pieces),
        annotations=notes,
    )


def _common(pieces: Sequence[_Piece]) -> Provenance:
    first = pieces[0].provenance
    if all(piece.provenance is first for piece in pieces):
        return first
    distinct = dict.fromkeys(piece.provenance for piece in pieces if not piece.blank)
    return next(iter(distinct)) if len(distinct) == 1 else merge(distinct)


def _piece(line: SourceLine) -> _Piece:
    return _Piece(line.number, storable(line.text), line.provenance)


def _scanned(lines: Sequence[SourceLine]) -> Document:
    """Scan the lines; a line break inside one (no file has that) is a blank, so that line ``i`` stays line ``i``."""
    return scan("".join(line.text.replace("\n", " ") + "\n" for line in lines))


def _with_headings(lines: Sequence[SourceLine], scanned: Document) -> list[_Piece]:
    stack: list[tuple[int, str]] = []
    heading = ""
    pieces = []
    for line, seen in zip(lines, scanned.lines, strict=True):
        level = seen.level if seen.kind is LineKind.HEADING else 0
        if level:
            heading = _push(stack, level, seen.title)
        pieces.append(_Piece(line.number, storable(line.text), line.provenance, heading, level))
    return pieces


def _push(stack: list[tuple[int, str]], level: int, title: str) -> str:
    """Enter a heading and return the path to it."""
    while stack and stack[-1][0] >= level:
        stack.pop()
    stack.append((level, storable(title)))
    return BETWEEN_HEADINGS.join(title for _, title in stack if title)


def _by_class(pieces: Iterable[_Piece]) -> Iterator[list[_Piece]]:
    """Split where the provenance class or the session kind changes; blank lines change nothing."""
    group: list[_Piece] = []
    current: object = None
    for piece in pieces:
        if not piece.blank:
            own = (piece.provenance.origin, piece.provenance.kind)
            if current is not None and own != current:
                yield group
                group = []
            current = own
        group.append(piece)
    if group:
        yield group


def _windows(pieces: Sequence[_Piece], chunking: Chunking) -> Iterator[list[_Piece]]:
    """Yield runs of lines of at most the chunk length, each repeating some lines of the one before."""
    limit = max(chunking.tokens, LEAST_TOKENS) * BYTES_PER_TOKEN
    overlap = min(chunking.overlap * BYTES_PER_TOKEN, limit // 2)
    window: list[_Piece] = []
    size = 0
    fresh = False
    for piece in pieces:
        cost = piece.cost
        starts = piece.level > 0 and any(not one.level and not one.blank for one in window)
        starts = starts and (piece.level <= TOP_LEVEL or size * 2 >= limit)
        if window and (starts or size + cost > limit + 1):
            if fresh:
                yield from _trimmed(window)
            window = [] if starts else _tail(window, min(overlap, limit - cost))
            size = sum(one.cost for one in window)
            fresh = False
        if cost > limit + 1:
            yield from ([one] for one in _cut(piece, limit, overlap))
            window, size = [], 0
            continue
        window.append(piece)
        size += cost
        fresh = fresh or not piece.blank
    if fresh:
        yield from _trimmed(window)


def _tail(window: Sequence[_Piece], room: int) -> list[_Piece]:
    taken = 0
    start = len(window)
    while start and taken + window[start - 1].cost <= room:
        start -= 1
        taken += window[start].cost
    return list(window[start:])


def _trimmed(window: Sequence[_Piece]) -> Iterator[list[_Piece]]:
    first, last = 0, len(window)
    while first < last and window[first].blank:
        first += 1
    while last > first and window[last - 1].blank:
        last -= 1
    if first < last:
        yield list(window[first:last])


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8"))


def _cut(piece: _Piece, limit: int, overlap: int) -> Iterator[_Piece]:
    """Cut one long line at word ends; each piece keeps its number and repeats the end of the one before."""
    text, start = piece.text, 0
    while start < len(text):
        end = start + len(_head(text[start : start + limit], limit))
        if end < len(text):
            blank = text.rfind(" ", start + int((end - start) * CUT_FROM), end)
            end = blank + 1 if blank >= 0 else end
        part = text[start:end]
        if not part.isspace():
            yield _Piece(piece.number, part.strip(), piece.provenance, piece.heading)
        if end >= len(text):
            return
        repeated = part.encode("utf-8")[-overlap or limit :].decode("utf-8", "ignore")
        blank = repeated.find(" ")
        start = end - len(repeated) + (blank + 1 if 0 <= blank < len(repeated) - 1 else 0)


def _head(text: str, limit: int) -> str:
    return text if text.isascii() else text.encode("utf-8")[:limit].decode("utf-8", "ignore")


def _split_curated(document: SourceDocument, corpus: Corpus, chunking: Chunking) -> Iterator[Chunk]:
    """Yield one chunk an entry and one a paragraph between entries; long ones are cut, short ones never joined."""
    for block, notes in _blocks(document.lines):
        for group in _by_class(block):
            for window in _windows(group, chunking):
                yield _chunk(document.path, corpus, window, notes)


def _blocks(lines: Sequence[SourceLine]) -> Iterator[tuple[list[_Piece], Annotations]]:
    """Yield entries with their annotations, and paragraphs with the headings right above them.

    A heading with entries below it is carried by those; one with nothing below it stands for itself.
    """
    scanned = _scanned(lines)
    pieces = _with_headings(lines, scanned)
    entry_at = {entry.start_line: entry for entry in entries(scanned)}
    paragraph: list[_Piece] = []
    at = 1
    while at <= len(pieces):
        line, piece = scanned.lines[at - 1], pieces[at - 1]
        has_body = any(not one.level for one in paragraph)
        if entry := entry_at.get(at):
            if has_body:
                yield paragraph, PLAIN
            paragraph = []
            last = entry.end_line
            own = zip(scanned.lines[at - 1 : last], pieces[at - 1 : last], strict=True)
            yield list(_readable(own, "- ")), entry.annotations
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
