"""Where words stand: what FTS5 keeps, read term by term and held in memory until the index changes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from reverie.store.database import Database

if TYPE_CHECKING:
    from numpy.typing import NDArray

# CROSS JOIN: each term is one look-up. The other way round, every word of the table would be read.
_PLACES = "SELECT v.term, v.doc, v.offset FROM json_each(?) j CROSS JOIN {table} v ON v.term = j.value"

#: A place is one number: the id of the row, and where in its text the word stands.
OFFSET_BITS = 20
#: How many places are held at most (8 bytes each); those that were asked for last stay.
PLACES_KEPT = 2_000_000


class Places:
    """The places of one table of words."""

    def __init__(self, database: Database, table: str) -> None:
        self._database = database
        self._sql = _PLACES.format(table=table)
        self._held: dict[str, NDArray[np.int64]] = {}
        self._size = 0

    def forget(self) -> None:
        """Read everything again when it is asked for: the index changed."""
        self._held.clear()
        self._size = 0

    def look_up(self, words: Iterable[str]) -> None:
        """Read the places of all these words at once; those of words that are held already are not read again."""
        missing = [word for word in words if word not in self._held]
        if not missing:
            return
        found: dict[str, list[int]] = {word: [] for word in missing}
        for word, row, offset in self._database.rows(self._sql, (json.dumps(missing),)):
            found[word].append((row << OFFSET_BITS) | offset)
        for word, places in found.items():
            self._held[word] = np.sort(np.array(places, np.int64))
            self._size += len(places)
        kept = set(missing)
        for word in [word for word in self._held if word not in kept]:
            if self._size <= PLACES_KEPT:
                break
            self._size -= len(self._held.pop(word))

    def of(self, words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows in which the words stand one after another, in rising order, and how often in each."""
        found = self._term(words[0])
        for distance, word in enumerate(words[1:], 1):
            found = found[_among(found + distance, self._term(word))]
        ids = found >> OFFSET_BITS
        if len(ids) < 2:
            return ids, np.ones(len(ids), np.int64)
        first = np.flatnonzero(np.concatenate(([True], ids[1:] != ids[:-1])))
        return ids[first], np.diff(first, append=len(ids))

    def _term(self, word: str) -> NDArray[np.int64]:
        if word not in self._held:
            self.look_up([word])
        # The last one asked for is the last to go.
        known = self._held[word] = self._held.pop(word)
        return known


def _among(values: NDArray[np.int64], ordered: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Say which values are among others that are in rising order."""
    if not len(ordered):
        return np.zeros(len(values), np.bool_)
    found: NDArray[np.bool_] = ordered[np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)] == values
    return found
