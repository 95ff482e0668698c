"""Contexts: runs of neighbouring chunks whose words count for every chunk in them.

A line that answers often shares no word with the question, because its subject was named a line earlier. Contexts
repeat some chunks of the one before, so that every line has something on both sides of it. They are evidence and are
never shown. One holds trusted text or text of one other class, never both (choice C19).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reverie.core.provenance import is_trusted
from reverie.core.text import sha256
from reverie.core.types import Chunk
from reverie.index.chunker import BETWEEN_HEADINGS, heading_above
from reverie.index.identity import Chunking

#: An estimated token is four bytes of UTF-8 (:func:`reverie.core.text.estimate_tokens`).
BYTES_PER_TOKEN = 4
LEAST_TOKENS = 8
#: A heading up to this depth begins a context wherever it stands; a deeper one only where half a context is full.
TOP_LEVEL = 2


@dataclass(frozen=True, slots=True)
class Context:
    """The chunks from position ``first`` to ``last`` of a document, and the headings above them."""

    first: int
    last: int
    heading: str
    hash: str


def contexts(chunks: Sequence[Chunk], chunking: Chunking) -> Iterator[Context]:
    """Yield the contexts of a document from its chunks in order; every chunk is in at least one."""
    limit = max(chunking.tokens, LEAST_TOKENS) * BYTES_PER_TOKEN
    overlap = min(chunking.overlap * BYTES_PER_TOKEN, limit // 2)
    costs = [len(chunk.text.encode("utf-8", "replace")) + 1 for chunk in chunks]
    first = size = 0
    for at, chunk in enumerate(chunks):
        if at > first:
            parts = _parts(chunks[at - 1], chunk, size * 2 >= limit)
            if parts or size + costs[at] > limit:
                yield _context(chunks, first, at - 1)
                room = 0 if parts else min(overlap, limit - costs[at])
                first, size = _back(costs, first, at, room)
        size += costs[at]
    if chunks:
        yield _context(chunks, first, len(chunks) - 1)


def _back(costs: Sequence[int], first: int, at: int, room: int) -> tuple[int, int]:
    """Return where the next context begins, after ``first``, and the bytes that it repeats."""
    start, size = at, 0
    while start - 1 > first and size + costs[start - 1] <= room:
        start -= 1
        size += costs[start]
    return start, size


def _parts(before: Chunk, after: Chunk, half_full: bool) -> bool:
    """Say whether two neighbours may not stand in one context."""
    if _class(before) != _class(after):
        return True
    if before.heading == after.heading:
        return False
    return half_full or after.heading.count(BETWEEN_HEADINGS) < TOP_LEVEL


def _class(chunk: Chunk) -> tuple[str, str]:
    origin = chunk.provenance.origin
    return ("" if is_trusted(origin) else origin, chunk.provenance.kind)


def _context(chunks: Sequence[Chunk], first: int, last: int) -> Context:
    heading = heading_above(chunks[first].heading, chunks[first].text)
    hashes = "".join(chunk.hash for chunk in chunks[first : last + 1])
    return Context(first, last, heading, sha256(f"{heading}\n{hashes}"))
