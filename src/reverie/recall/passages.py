"""From a line that matched to the passage that answers: the lines around it that belong to it, within a budget.

A short line takes its neighbours along, whatever they say: an answer often begins in the line before. A longer passage
takes only neighbours that are among the best lines themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import Protocol

#: How many lines a passage may take on each side.
REACH = 5
#: Up to so many characters any neighbour is taken, and up to so many one that is among the ``LEADING`` best lines.
FREE_CHARS = 160
FULL_CHARS = 500
LEADING = 25
#: Lines that may stand unseen between two neighbours: blank ones, not a block that is hidden from the index.
GAP_LINES = 2


class Neighbour(Protocol):
    """What decides whether a chunk joins a passage."""

    @property
    def id(self) -> int:
        """Return the row of the chunk."""
        ...

    @property
    def start_line(self) -> int:
        """Return its first line in the document."""
        ...

    @property
    def end_line(self) -> int:
        """Return its last one."""
        ...

    @property
    def chars(self) -> int:
        """Return how many characters its text has."""
        ...

    @property
    def group(self) -> Hashable:
        """Return what lines of one document, class, kind, session and heading have in common."""
        ...

    @property
    def opens_section(self) -> bool:
        """Say whether its text begins with a heading."""
        ...


def grow(
    seed: int,
    around: Sequence[Neighbour],
    scores: Mapping[int, float],
    leading: Collection[int],
    taken: Collection[int],
) -> list[int]:
    """Return the passage of a line as rows of chunks: itself and what it takes of its neighbours, in order.

    Args:
        seed: The row of the chunk that matched.
        around: The lines around it in its document, in order, ``REACH`` on each side, itself among them.
        scores: What is known of how good each line is.
        leading: The best lines of the search.
        taken: Lines that stand in another passage already.
    """
    at = next((number for number, one in enumerate(around) if one.id == seed), None)
    if at is None or around[at].chars >= FULL_CHARS:
        return [seed]
    first = last = at
    size = around[at].chars
    while True:
        choices = []
        if first > 0 and joins(around[first - 1], around[first]):
            choices.append(first - 1)
        if last + 1 < len(around) and joins(around[last], around[last + 1]):
            choices.append(last + 1)
        fitting = [one for one in choices if around[one].id not in taken and _fits(around[one], size, leading)]
        if not fitting:
            return [one.id for one in around[first : last + 1]]
        best = max(fitting, key=lambda one: (scores.get(around[one].id, float("-inf")), one))
        size += around[best].chars + 1
        first, last = min(first, best), max(last, best)


def joins(before: Neighbour, after: Neighbour) -> bool:
    """Say whether two neighbours may stand in one passage.

    They must be of one provenance class, one kind of session and one session, and under one heading: what a passage
    says of itself must be true of each of its lines.
    """
    if before.group != after.group or after.start_line - before.end_line > GAP_LINES + 1:
        return False
    return not after.opens_section


def _fits(neighbour: Neighbour, size: int, leading: Collection[int]) -> bool:
    together = size + 1 + neighbour.chars
    return together <= FREE_CHARS or (together <= FULL_CHARS and neighbour.id in leading)
