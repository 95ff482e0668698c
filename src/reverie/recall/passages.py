"""From a line that matched to the passage that answers: the lines around it that belong to it, within a budget.

A short line takes its neighbours along, whatever they say: an answer often begins in the line before. A longer passage
takes only neighbours that are among the best lines themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from reverie.core.types import Chunk

#: How many lines a passage may take on each side.
REACH = 5
#: Up to so many characters any neighbour is taken, and up to so many one that is among the ``LEADING`` best lines.
FREE_CHARS = 160
FULL_CHARS = 500
LEADING = 25
#: Lines that may stand unseen between two neighbours: blank ones, not a block that is hidden from the index.
GAP_LINES = 2


class StoredChunk(Protocol):
    """A chunk as the index keeps it, with the date that its decay is counted from."""

    @property
    def id(self) -> int:
        """Return the row of the chunk."""
        ...

    @property
    def chunk(self) -> Chunk:
        """Return the chunk."""
        ...

    @property
    def date(self) -> datetime | None:
        """Return the date of the text; ``None`` for evergreen files."""
        ...

    @property
    def curated(self) -> bool:
        """Say whether it is an entry of a curated file."""
        ...


def grow(
    seed: StoredChunk,
    around: Sequence[StoredChunk],
    scores: Mapping[int, float],
    leading: Collection[int],
    taken: Collection[int],
) -> list[StoredChunk]:
    """Return the passage of a line: itself and what it takes of its neighbours, in order.

    Args:
        seed: The line that matched.
        around: The lines around it in its document, in order, ``REACH`` on each side, itself among them.
        scores: What is known of how good each line is.
        leading: The best lines of the search.
        taken: Lines that stand in another passage already.
    """
    at = next((number for number, one in enumerate(around) if one.id == seed.id), None)
    if at is None or seed.curated:
        return [seed]
    first = last = at
    size = len(seed.chunk.text)
    while True:
        choices = []
        if first > 0 and joins(around[first - 1].chunk, around[first].chunk):
            choices.append(first - 1)
        if last + 1 < len(around) and joins(around[last].chunk, around[last + 1].chunk):
            choices.append(last + 1)
        fitting = [one for one in choices if around[one].id not in taken and _fits(around[one], size, leading)]
        if not fitting:
            return list(around[first : last + 1])
        best = max(fitting, key=lambda one: (scores.get(around[one].id, float("-inf")), one))
        size += len(around[best].chunk.text) + 1
        first, last = min(first, best), max(last, best)


def joins(before: Chunk, after: Chunk) -> bool:
    """Say whether two neighbours may stand in one passage.

    They must be of one provenance class, one kind of session and one session, and under one heading: what a passage
    says of itself must be true of each of its lines.
    """
    one, two = before.provenance, after.provenance
    if (one.origin, one.kind, one.session) != (two.origin, two.kind, two.session):
        return False
    if after.start_line - before.end_line > GAP_LINES + 1:
        return False
    return before.heading == after.heading and not (after.heading and after.text.startswith("#"))


def _fits(neighbour: StoredChunk, size: int, leading: Collection[int]) -> bool:
    together = size + 1 + len(neighbour.chunk.text)
    return together <= FREE_CHARS or (together <= FULL_CHARS and neighbour.id in leading)
