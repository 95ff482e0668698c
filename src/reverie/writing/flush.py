"""What is new in a flush: the part of its text that the note of the day does not hold yet."""

from __future__ import annotations

from collections.abc import Sequence

from reverie.store.lines import is_bare, line_hash


def new_part(standing: Sequence[str], payload: Sequence[str]) -> list[str]:
    """Return the lines of ``payload`` that are to be appended to a note with the lines ``standing``.

    A model that flushes twice a day, or that answers with the whole file, repeats the note from its head, or repeats
    its end, before it says anything new. That repetition is left out; the rest is never looked through, since a line
    said again on purpose is no repetition. A heading that is a date is left out with it: the note has one.
    """
    old = [line_hash(line) for line in standing if not is_bare(line)]
    numbers = [number for number, line in enumerate(payload) if not is_bare(line)]
    new = [line_hash(payload[number]) for number in numbers]
    repeated = max(_common_head(old, new), _overlap(old, new))
    if repeated == len(new):
        return []
    first = numbers[repeated]
    start = numbers[repeated - 1] + 1 if repeated else 0
    # Between what was repeated and what is new: keep marks such as an opening fence, drop blank lines and the title.
    marks = [line for line in payload[start:first] if line.strip() and not line.lstrip().startswith("#")]
    return [*marks, *payload[first:]]


def _common_head(old: Sequence[str], new: Sequence[str]) -> int:
    count = 0
    while count < min(len(old), len(new)) and old[count] == new[count]:
        count += 1
    return count


def _overlap(old: Sequence[str], new: Sequence[str]) -> int:
    """Return how many of the first new lines are the last old ones."""
    return next((size for size in range(min(len(old), len(new)), 0, -1) if old[-size:] == new[:size]), 0)
