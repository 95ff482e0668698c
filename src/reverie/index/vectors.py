"""The vector leg: what every chunk has to do with a question, over rows kept in memory (choice C13).

Up to ``EXACT_ROWS`` chunks every vector is compared. Above that, each is one bit a dimension: the sign after the mean
of a sample is taken away (without that the vectors of a small model all point the same way, and the bits say little).
The nearest by bits are then compared exactly, from the float16 of the database. The sample is chosen by content, not
by age, so that an index grown by edits has the codes of one built at once.

Vectors are held as whole numbers in float32: their products are exact in any order, so a score does not depend on
where a row stands. How evidence is made of cosines is in :mod:`reverie.index.evidence`.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reverie.index.centres import Centres
from reverie.index.evidence import Layout, best_of, of_pieces, particular, standing
from reverie.index.layout import Columns, Field, Layouts
from reverie.index.matrix import STEPS, Codes, Exact, Rows, from_blobs, in_steps
from reverie.index.rows import Filters, LegHits, revision
from reverie.index.schema import HALVES
from reverie.store.database import Database, Row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reverie.core.types import Vector

# CROSS JOIN fixes the order of the tables and a plus takes an index away: each of these reads a range of new ids, and
# SQLite, which cannot know that the range is small, would rather read everything.
_COLUMNS = "SELECT c.id, e.id, e.vector"
_ALL = (
    f"{_COLUMNS} FROM embedding e CROSS JOIN chunk c ON c.hash = e.hash "
    "WHERE e.id > ? AND e.id <= ? AND +e.space = ? AND e.vector IS NOT NULL"
)
_NEW_CHUNKS = (
    f"{_COLUMNS} FROM chunk c CROSS JOIN embedding e ON e.space = ? AND e.hash = c.hash AND e.vector IS NOT NULL "
    "WHERE c.id > ?"
)
_NEW_VECTORS = (
    f"{_COLUMNS} FROM embedding e CROSS JOIN chunk c ON c.hash = e.hash AND c.id <= ? "
    "WHERE e.id > ? AND +e.space = ? AND e.vector IS NOT NULL"
)
_ENDS = "SELECT (SELECT coalesce(max(id), 0) FROM chunk), (SELECT coalesce(max(id), 0) FROM embedding)"
_CHUNKS = "SELECT sum(chunks) FROM tally"
_COUNT = "SELECT count(*) FROM chunk c JOIN embedding e ON e.space = ? AND e.hash = c.hash AND e.vector IS NOT NULL"
_SAMPLE = (
    "SELECT e.id FROM embedding e WHERE e.space = ? AND e.vector IS NOT NULL "
    "AND EXISTS (SELECT 1 FROM chunk c WHERE c.hash = e.hash AND c.trusted >= ?) ORDER BY e.hash LIMIT ?"
)
_BY_ID = "SELECT id, vector FROM embedding WHERE id IN (SELECT value FROM json_each(?))"

EXACT_ROWS = 50_000
#: How many rows are compared exactly for each one wanted, and how many at least.
RESCORED = 5
RESCORED_AT_LEAST = 500
#: The rows that stand for all where not all are compared: those with the smallest hashes.
SAMPLE_ROWS = 512
DECIMALS = 6

_READ_ROWS = 8_192


@dataclass(frozen=True, slots=True)
class _Placed:
    """Where the loaded rows stand in one revision: ``at`` is the row of each in ``columns``, of the living ones."""

    columns: Columns
    at: NDArray[np.int64]
    alive: NDArray[np.bool_]
    trusted: NDArray[np.bool_]
    layout: Layout

    @classmethod
    def of(cls, columns: Columns, rows: Rows) -> _Placed:
        at = columns.rows(rows.ids)
        alive = at >= 0
        known = at[alive]
        trusted = np.zeros(len(at), np.bool_)
        trusted[alive] = columns.trusted[known]
        document, position = np.full(len(at), -1, np.int64), np.full(len(at), -1, np.int64)
        document[alive], position[alive] = columns.document[known], columns[Field.POSITION][known]
        return cls(columns, at, alive, trusted, Layout.of(document, position, rows.pieces, trusted, alive))

    def allowed(self, filters: Filters) -> NDArray[np.bool_]:
        """Return which rows pass."""
        passed = self.columns.allowed(filters)
        mask = self.alive.copy()
        if passed is not None:
            mask[self.alive] = passed[self.at[self.alive]]
        return mask


class VectorTable:
    """The vectors of one embedder in one database, ready to be searched. Safe to use from several threads."""

    def __init__(self, database: Database, layouts: Layouts, space: int, dimension: int) -> None:
        self._database = database
        self._layouts = layouts
        self._space = space
        self._dimension = dimension
        self._lock = threading.Lock()
        self._centres = Centres(database, space, dimension)
        self._clear()

    def _clear(self) -> None:
        self._last_chunk = self._last_vector = -1
        self._sample: list[int] = []
        self._rows = Rows()
        self._data: Exact | Codes = Exact(self._dimension)
        self._placed: _Placed | None = None
        self._mean = np.zeros(self._dimension)

    def __len__(self) -> int:
        """Return how many chunks have a vector."""
        with self._lock:
            return int(self._refreshed().alive.sum())

    def leg(
        self, query: Vector, text: str, filters: Filters, limit: int, also: NDArray[np.int64] | None = None
    ) -> LegHits:
        """Return the chunks that mean what a question means: the trusted ones, best first, then the others.

        Each half has at most ``limit``, and after them its part of ``also``. ``score`` is the cosine of the best
        piece; ``evidence``, which decides, is how far the chunk and its neighbours stand out among the trusted ones
        that pass the filters (among all where none is trusted). A query of another width, of no length or with
        values that are no numbers has no neighbours.

        Args:
            query: The vector of the question.
            text: The question, for the script that it is in.
            filters: What may be returned.
            limit: How many are wanted.
            also: Chunks whose evidence is wanted wherever they rank.
        """
        wide = np.asarray(query, dtype=np.float64).reshape(-1)
        length = float(np.sqrt((wide * wide).sum()))
        if limit < 1 or wide.shape != (self._dimension,) or not np.isfinite(length) or length < 1e-12:
            return LegHits.none()
        wide = wide / length
        with self._lock:
            placed = self._refreshed()
            mask = placed.allowed(filters)
            if not mask.any():
                return LegHits.none()
            asked = particular(wide, self._centres.of(text), self._mean)
            wanted = np.zeros(len(mask), np.bool_) if also is None else np.isin(self._rows.ids, also) & mask
            if isinstance(self._data, Exact):
                rows, cosines, found = self._compare_all(self._data, placed, wide, asked, mask, wanted, limit)
            else:
                rows, cosines, found = self._compare_some(self._data, placed, wide, asked, mask, wanted, limit)
            ids, wished, at = self._rows.ids[rows], wanted[rows], placed.at[rows]
        cosines, found = np.round(cosines, DECIMALS), np.round(found, DECIMALS)
        halves = []
        for half in HALVES:
            inside = np.flatnonzero((placed.trusted[rows] == half) & (cosines > 0))
            order = inside[placed.columns.ordered(at[inside], found[inside])]
            order = np.concatenate((order[:limit], order[limit:][wished[order[limit:]]]))
            halves.append(LegHits(ids[order], cosines[order], found[order], np.full(len(order), half)))
        return LegHits.joined(halves)

    def _best(
        self, placed: _Placed, values: NDArray[Any], mask: NDArray[np.bool_], wanted: NDArray[np.bool_], limit: int
    ) -> NDArray[np.bool_]:
        """Return the highest ``limit`` of each half, with all that tie with the last, and the wanted ones."""
        best = wanted.copy()
        for half in HALVES:
            inside = mask & (placed.trusted == half)
            chosen = values[inside]
            if limit < len(chosen):
                inside &= values >= np.partition(chosen, -limit)[-limit]
            best |= inside
        return best

    def _compare_all(
        self,
        data: Exact,
        placed: _Placed,
        wide: NDArray[np.float64],
        asked: NDArray[np.float64],
        mask: NDArray[np.bool_],
        wanted: NDArray[np.bool_],
        limit: int,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the numbers of the best rows and of the wanted ones, in no order, with cosine and evidence."""
        layout = placed.layout
        size = float(np.sqrt((asked * asked).sum())) or 1.0
        products = data.products(in_steps(asked / size)).astype(np.float64) * (size / STEPS**2)
        trusted = mask & placed.trusted
        found = layout.smoothed(layout.of_pieces(products), mask, trusted if trusted.any() else mask)
        rows = np.flatnonzero(self._best(placed, found, mask, wanted, limit))
        numbers, starts = layout.pieces_of(rows)
        cosines = data.rows(numbers) @ in_steps(wide) / STEPS**2
        return rows, np.maximum.reduceat(cosines, starts).astype(np.float64), found[rows]

    def _compare_some(
        self,
        data: Codes,
        placed: _Placed,
        wide: NDArray[np.float64],
        asked: NDArray[np.float64],
        mask: NDArray[np.bool_],
        wanted: NDArray[np.bool_],
        limit: int,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """Do the same over the nearest by bits; the sample stands for what is usual."""
        distance = np.minimum.reduceat(data.distances(asked), placed.layout.starts)
        nearness = np.iinfo(np.uint16).max - distance
        rows = np.flatnonzero(self._best(placed, nearness, mask, wanted, max(limit * RESCORED, RESCORED_AT_LEAST)))
        vectors = data.rows(placed.layout.pieces_of(rows)[0])
        if vectors is None:
            vectors = self._read(rows)
        pieces = self._rows.pieces[rows]
        # Brought to unit length, products are whole numbers that float32 holds exactly, in whatever order they add up.
        size = float(np.sqrt((asked * asked).sum())) or 1.0
        products = (vectors @ in_steps(np.stack([asked / size, wide], axis=1))).astype(np.float64) / STEPS**2
        products[:, 0] *= size
        sampled = (data.sample @ in_steps(asked / size)).astype(np.float64) * (size / STEPS**2)
        usual = of_pieces(sampled, data.sample_pieces)
        found = standing(of_pieces(products[:, 0], pieces), usual)
        return rows, best_of(products[:, 1], pieces), placed.layout.joined(rows, found)

    def _read(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the pieces of some rows from the database, in steps."""
        wanted = self._rows.vectors[rows].tolist()
        found: dict[int, bytes] = dict(self._database.rows(_BY_ID, (json.dumps(wanted),)))
        counts = self._rows.pieces[rows].tolist()
        blobs = [
            found.get(ident, bytes(2 * self._dimension * count)) for ident, count in zip(wanted, counts, strict=True)
        ]
        return in_steps(from_blobs(blobs, self._dimension))

    # --- keeping up with the database ---

    def _refreshed(self) -> _Placed:
        """Bring the rows up to the database, and say where each stands."""
        while self._placed is None or self._placed.columns.revision != revision(self._database):
            # The layout is read before the transaction: who waits for it may not hold the database.
            columns = self._layouts.current()
            with self._database.transaction(immediate=False):
                if revision(self._database) != columns.revision:
                    continue  # somebody published in between
                placed = self._caught_up(columns) or self._loaded(columns)
            if isinstance(self._data, Exact):
                usual = placed.alive & placed.trusted
                self._mean = self._data.mean(np.repeat(usual if usual.any() else placed.alive, self._rows.pieces))
            else:
                self._mean = self._data.mean
            self._placed = placed
        return self._placed

    def _caught_up(self, columns: Columns) -> _Placed | None:
        """Read what is new; return ``None`` if everything must be read instead."""
        if self._last_chunk < 0:
            return None
        fresh = self._database.rows(_NEW_CHUNKS, (self._space, self._last_chunk))
        fresh += self._database.rows(_NEW_VECTORS, (self._last_chunk, self._last_vector, self._space))
        self._add(fresh)
        self._mark()
        placed = _Placed.of(columns, self._rows)
        alive = int(placed.alive.sum())
        if len(placed.alive) > 1024 and alive < 0.75 * len(placed.alive):
            return None
        if isinstance(self._data, Codes) != (alive > EXACT_ROWS):
            return None
        return placed if isinstance(self._data, Exact) or self._sample == self._sample_ids() else None

    def _loaded(self, columns: Columns) -> _Placed:
        self._clear()
        expected = int(self._database.value(_CHUNKS) or 0)
        if expected > EXACT_ROWS:
            expected = int(self._database.value(_COUNT, (self._space,)))
        self._data = self._empty_codes() if expected > EXACT_ROWS else Exact(self._dimension, expected)
        self._mark()
        for low in range(0, self._last_vector, _READ_ROWS):
            self._add(self._database.rows(_ALL, (low, low + _READ_ROWS, self._space)))
        return _Placed.of(columns, self._rows)

    def _empty_codes(self) -> Codes:
        self._sample = self._sample_ids()
        found: dict[int, bytes] = dict(self._database.rows(_BY_ID, (json.dumps(self._sample),)))
        return Codes(self._dimension, [found[ident] for ident in self._sample if self._whole(found[ident])])

    def _sample_ids(self) -> list[int]:
        """Return the vectors that stand for all: those of trusted text, where there is any."""
        for least in (True, False):
            if found := self._database.rows(_SAMPLE, (self._space, least, SAMPLE_ROWS)):
                return [ident for (ident,) in found]
        return []

    def _whole(self, blob: bytes) -> bool:
        return bool(blob) and len(blob) % (2 * self._dimension) == 0

    def _add(self, rows: Sequence[Row]) -> None:
        good = [row for row in rows if self._whole(row[2])]
        if good:
            self._data.extend(from_blobs([row[2] for row in good], self._dimension))
            self._rows.extend(good, self._dimension)

    def _mark(self) -> None:
        self._last_chunk, self._last_vector = self._database.row(_ENDS) or (0, 0)
