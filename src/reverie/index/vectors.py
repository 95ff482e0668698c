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
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from reverie.core.types import Corpus
from reverie.index.centres import Centres
from reverie.index.evidence import Layout, best_of, of_pieces, particular, standing
from reverie.index.rows import Filters, LegHit, ranked, revision, storable, to_micros
from reverie.store.database import Database, Row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reverie.core.types import Vector

# CROSS JOIN fixes the order of the tables and a plus takes an index away: each of these reads a range of new ids, and
# SQLite, which cannot know that the range is small, would rather read everything.
_COLUMNS = "SELECT c.id, e.id, e.vector, c.corpus, c.moment, c.source_id, c.session, c.position"
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
_REMOVED = "SELECT seq, chunk_id FROM removed WHERE seq > ?"
_LOG = "SELECT coalesce(min(seq), 0), coalesce(max(seq), 0) FROM removed"
_ENDS = "SELECT (SELECT coalesce(max(id), 0) FROM chunk), (SELECT coalesce(max(id), 0) FROM embedding)"
_CHUNKS = "SELECT sum(chunks) FROM tally"
_COUNT = "SELECT count(*) FROM chunk c JOIN embedding e ON e.space = ? AND e.hash = c.hash AND e.vector IS NOT NULL"
_SAMPLE = (
    "SELECT e.id FROM embedding e WHERE e.space = ? AND e.vector IS NOT NULL "
    "AND EXISTS (SELECT 1 FROM chunk c WHERE c.hash = e.hash) ORDER BY e.hash LIMIT ?"
)
_MOVED = "SELECT c.id, c.position FROM source s CROSS JOIN chunk c ON c.source_id = s.id WHERE s.touched > ?"
_BY_ID = "SELECT id, vector FROM embedding WHERE id IN (SELECT value FROM json_each(?))"
_SOURCES = "SELECT id FROM source WHERE substr(path, 1, ?) = ?"

EXACT_ROWS = 50_000
#: How many rows are compared exactly for each one wanted, and how many at least.
RESCORED = 5
RESCORED_AT_LEAST = 500
#: The rows that stand for all where not all are compared: those with the smallest hashes.
SAMPLE_ROWS = 512
#: Vectors are rounded to multiples of ``1 / STEPS``. Two of unit length then have a product below 2**24, which float32
#: holds exactly, whatever is added first.
STEPS = 4_000
DECIMALS = 6

_CORPORA = {str(Corpus.MEMORY): 0, str(Corpus.SESSIONS): 1}
_NO_MOMENT = np.iinfo(np.int64).min
_READ_ROWS = 8_192


def to_blob(vector: Vector) -> bytes | None:
    """Return a vector at unit length as little-endian float16; ``None`` for one that is zero or not finite."""
    wide = np.asarray(vector, dtype=np.float64)
    with np.errstate(all="ignore"):
        length = float(np.sqrt((wide * wide).sum()))
        if not np.isfinite(length) or length < 1e-12:
            return None
        half = (wide / length).astype("<f2")
    return half.tobytes() if np.isfinite(half).all() and half.any() else None


def from_blobs(blobs: Sequence[bytes], dimension: int) -> NDArray[np.float32]:
    """Return stored vectors as float32, a row for each piece; a blob holds as many as its text has pieces."""
    return np.frombuffer(b"".join(blobs), dtype="<f2").reshape(-1, dimension).astype(np.float32)


def in_steps(vectors: NDArray[Any]) -> NDArray[np.float32]:
    """Return vectors of unit length as whole numbers of steps."""
    return np.rint(np.asarray(vectors) * STEPS).astype(np.float32)


class _Columns:
    """What is known of each loaded row besides its vector; row ``i`` of every array is the same chunk."""

    def __init__(self) -> None:
        self.ids = np.empty(0, np.int64)
        self.vectors = np.empty(0, np.int64)
        self.corpus = np.empty(0, np.int8)
        self.moment = np.empty(0, np.int64)
        self.source = np.empty(0, np.int64)
        self.session = np.empty(0, np.int64)
        self.position = np.empty(0, np.int64)
        self.pieces = np.empty(0, np.int64)
        self.alive = np.empty(0, np.bool_)
        self._codes: dict[str | None, int] = {}

    def extend(self, rows: Sequence[Row], dimension: int) -> None:
        """Add rows of the query ``_COLUMNS``."""
        codes = self._codes
        fresh: dict[str, list[int]] = {
            "ids": [row[0] for row in rows],
            "vectors": [row[1] for row in rows],
            "corpus": [_CORPORA[row[3]] for row in rows],
            "moment": [_NO_MOMENT if row[4] is None else row[4] for row in rows],
            "source": [row[5] for row in rows],
            "session": [codes.setdefault(row[6], len(codes)) for row in rows],
            "position": [row[7] for row in rows],
            "pieces": [len(row[2]) // (2 * dimension) for row in rows],
            "alive": [1] * len(rows),
        }
        for name, values in fresh.items():
            column = getattr(self, name)
            setattr(self, name, np.concatenate([column, np.array(values, column.dtype)]))

    def move(self, rows: Sequence[Row]) -> None:
        """Take over positions, given as ``(chunk id, position)``."""
        if not rows or not len(self.ids):
            return
        order = np.argsort(self.ids, kind="stable")
        moved = np.array(rows, np.int64)
        found = np.searchsorted(self.ids, moved[:, 0], sorter=order)
        found[found == len(order)] = 0
        at = order[found]
        known = self.ids[at] == moved[:, 0]
        self.position[at[known]] = moved[known, 1]

    def allowed(self, database: Database, filters: Filters) -> NDArray[np.bool_]:
        """Return which rows pass; the same rule as :meth:`Filters.where`."""
        mask = self.alive.copy()
        if filters.corpus is not Corpus.ALL:
            mask &= self.corpus == _CORPORA[str(filters.corpus)]
        if filters.since is not None:
            mask &= self.moment >= to_micros(filters.since)
        if filters.until is not None:
            mask &= (self.moment <= to_micros(filters.until)) & (self.moment != _NO_MOMENT)
        if filters.as_of is not None:
            mask &= self.moment <= to_micros(filters.as_of)
        if filters.path_prefix:
            prefix = storable(filters.path_prefix)
            sources = [ident for (ident,) in database.rows(_SOURCES, (len(prefix), prefix))]
            mask &= np.isin(self.source, sources)
        if filters.sessions is not None:
            seen = [self._codes[name] for name in map(storable, filters.sessions) if name in self._codes]
            mask &= (self.corpus != _CORPORA["sessions"]) | np.isin(self.session, seen)
        return mask


class _Exact:
    """Every piece as a row of whole numbers; every one is compared."""

    def __init__(self, dimension: int, expected: int = 0) -> None:
        self._dimension = dimension
        self._rows: NDArray[np.float32] = np.empty((expected, dimension), np.float32)
        self._used = 0

    def extend(self, vectors: NDArray[np.float32]) -> None:
        """Add rows, growing by half again, so that adding few rows copies nothing."""
        need = self._used + len(vectors)
        if need > len(self._rows):
            grown = np.empty((need + need // 2, self._dimension), np.float32)
            grown[: self._used] = self._rows[: self._used]
            self._rows = grown
        self._rows[self._used : need] = in_steps(vectors)
        self._used = need

    def products(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the product of each row with a query in steps."""
        return self._rows[: self._used] @ query

    def rows(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return some rows."""
        return self._rows[numbers]

    def mean(self, alive: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the mean of the rows that are alive, at their true length."""
        rows = self._rows[: self._used]
        if not alive.all():
            rows = rows[alive]
        # Whole numbers add up exactly, so the mean does not depend on the order of the rows.
        total = rows.sum(axis=0, dtype=np.float64)
        mean: NDArray[np.float64] = total / (max(1, len(rows)) * STEPS)
        return mean


class _Codes:
    """Rows as one bit a dimension. ``_words`` is ``(dimension / 64, capacity)``: one pass a word, all rows at once."""

    def __init__(self, dimension: int, sample: Sequence[bytes]) -> None:
        self._dimension = dimension
        vectors = from_blobs(sample, dimension)
        self.mean = vectors.astype(np.float64).mean(axis=0)
        self.sample = in_steps(vectors)
        self.sample_pieces = np.array([len(blob) // (2 * dimension) for blob in sample], np.int64)
        self._words: NDArray[np.uint64] = np.empty((-(-dimension // 64), 0), np.uint64)
        self._used = 0

    def extend(self, vectors: NDArray[np.float32]) -> None:
        """Add rows."""
        need = self._used + len(vectors)
        if need > self._words.shape[1]:
            grown = np.empty((len(self._words), need + need // 4), np.uint64)
            grown[:, : self._used] = self._words[:, : self._used]
            self._words = grown
        self._words[:, self._used : need] = self._encode(vectors > self.mean)
        self._used = need

    def _encode(self, signs: NDArray[np.bool_]) -> NDArray[np.uint64]:
        packed = np.packbits(signs, axis=1)
        whole = np.zeros((len(signs), 8 * len(self._words)), np.uint8)
        whole[:, : packed.shape[1]] = packed
        return whole.view(np.uint64).T

    def distances(self, query: NDArray[np.float64]) -> NDArray[np.uint16]:
        """Return in how many bits each row differs from a query that has its own mean taken away."""
        code = self._encode((query > 0)[None, :])[:, 0]
        distance = np.zeros(self._used, np.uint16)
        for word, mine in zip(self._words[:, : self._used], code, strict=True):
            distance += np.bitwise_count(word ^ mine)
        return distance


class VectorTable:
    """The vectors of one embedder in one database, ready to be searched. Safe to use from several threads."""

    def __init__(self, database: Database, space: int, dimension: int) -> None:
        self._database = database
        self._space = space
        self._dimension = dimension
        self._lock = threading.Lock()
        self._centres = Centres(database, space, dimension)
        self._clear()

    def _clear(self) -> None:
        self._revision = self._last_chunk = self._last_vector = self._last_removal = -1
        self._sample: list[int] = []
        self._columns = _Columns()
        self._data: _Exact | _Codes = _Exact(self._dimension)
        self._layout = Layout.of(self._columns.source, self._columns.position, self._columns.pieces)
        self._mean = np.zeros(self._dimension)

    def __len__(self) -> int:
        """Return how many chunks have a vector."""
        with self._lock:
            self._refresh()
            return int(self._columns.alive.sum())

    def leg(self, query: Vector, text: str, filters: Filters, limit: int, also: Collection[int] = ()) -> list[LegHit]:
        """Return the chunks that mean what a question means, best first, at most ``limit``, and after them ``also``.

        ``score`` is the cosine of the best piece; ``evidence``, which decides, is how far the chunk and its
        neighbours stand out among all that pass the filters. A query of another width, of no length or with values
        that are no numbers has no neighbours.

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
            return []
        wide = wide / length
        with self._lock:
            self._refresh()
            mask = self._columns.allowed(self._database, filters)
            if not mask.any():
                return []
            asked = particular(wide, self._centres.of(text), self._mean)
            wanted = np.isin(self._columns.ids, list(also)) & mask if also else np.zeros(len(mask), np.bool_)
            if isinstance(self._data, _Exact):
                rows, cosines, found = self._compare_all(self._data, wide, asked, mask, wanted, limit)
            else:
                rows, cosines, found = self._compare_some(self._data, wide, asked, mask, wanted, limit)
            ids = self._columns.ids[rows].tolist()
        cosine = dict(zip(ids, np.round(cosines, DECIMALS).tolist(), strict=True))
        scored = zip(ids, np.round(found, DECIMALS).tolist(), strict=True)
        order = ranked(self._database, [(ident, one) for ident, one in scored if cosine[ident] > 0], len(ids))
        wished = frozenset(also)
        kept = [hit for hit in order if hit.rank <= limit or hit.chunk_id in wished]
        return [LegHit(hit.chunk_id, at, cosine[hit.chunk_id], hit.score) for at, hit in enumerate(kept, 1)]

    def _compare_all(
        self,
        data: _Exact,
        wide: NDArray[np.float64],
        asked: NDArray[np.float64],
        mask: NDArray[np.bool_],
        wanted: NDArray[np.bool_],
        limit: int,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the numbers of the best rows and of the wanted ones, in no order, with cosine and evidence."""
        layout = self._layout
        size = float(np.sqrt((asked * asked).sum())) or 1.0
        products = data.products(in_steps(asked / size)).astype(np.float64) * (size / STEPS**2)
        found = layout.smoothed(layout.of_pieces(products), mask)
        allowed = int(mask.sum())
        if limit < allowed:
            worst = np.partition(found[mask], -limit)[-limit]
            mask = (mask & (found >= worst)) | wanted
        rows = np.flatnonzero(mask)
        numbers, starts = layout.pieces_of(rows)
        cosines = data.rows(numbers) @ in_steps(wide) / STEPS**2
        return rows, np.maximum.reduceat(cosines, starts).astype(np.float64), found[rows]

    def _compare_some(
        self,
        data: _Codes,
        wide: NDArray[np.float64],
        asked: NDArray[np.float64],
        mask: NDArray[np.bool_],
        wanted: NDArray[np.bool_],
        limit: int,
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """Do the same over the nearest by bits; the sample stands for what is usual."""
        distance = np.minimum.reduceat(data.distances(asked), self._layout.starts)
        distance[~mask] = np.iinfo(np.uint16).max
        enough = max(limit * RESCORED, RESCORED_AT_LEAST)
        if enough < len(distance):
            mask = (mask & (distance <= np.partition(distance, enough - 1)[enough - 1])) | wanted
        rows = np.flatnonzero(mask)
        vectors = self._read(rows)
        pieces = self._columns.pieces[rows]
        both = np.stack([asked, wide], axis=1)
        products = vectors.astype(np.float64) @ in_steps(both) / STEPS**2
        usual = of_pieces(data.sample.astype(np.float64) @ in_steps(asked) / STEPS**2, data.sample_pieces)
        found = standing(of_pieces(products[:, 0], pieces), usual)
        return rows, best_of(products[:, 1], pieces), self._layout.joined(rows, found)

    def _read(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the pieces of some rows from the database, in steps."""
        wanted = self._columns.vectors[rows].tolist()
        found: dict[int, bytes] = dict(self._database.rows(_BY_ID, (json.dumps(wanted),)))
        counts = self._columns.pieces[rows].tolist()
        blobs = [
            found.get(ident, bytes(2 * self._dimension * count)) for ident, count in zip(wanted, counts, strict=True)
        ]
        return in_steps(from_blobs(blobs, self._dimension))

    # --- keeping up with the database ---

    def _refresh(self) -> None:
        if revision(self._database) == self._revision:
            return
        with self._database.transaction(immediate=False):
            now = revision(self._database)
            if not self._catch_up():
                self._load()
            self._revision = now
        columns = self._columns
        self._layout = Layout.of(columns.source, columns.position, columns.pieces, columns.alive)
        if isinstance(self._data, _Exact):
            self._mean = self._data.mean(np.repeat(columns.alive, columns.pieces))
        else:
            self._mean = self._data.mean

    def _catch_up(self) -> bool:
        """Read what is new; say ``False`` if everything must be read instead."""
        oldest, newest = self._database.row(_LOG) or (0, 0)
        if self._last_chunk < 0 or self._last_removal < oldest - 1 or newest < self._last_removal:
            return False
        gone = [ident for _, ident in self._database.rows(_REMOVED, (self._last_removal,))]
        if gone:
            self._columns.alive &= ~np.isin(self._columns.ids, gone)
        fresh = self._database.rows(_NEW_CHUNKS, (self._space, self._last_chunk))
        fresh += self._database.rows(_NEW_VECTORS, (self._last_chunk, self._last_vector, self._space))
        self._add(fresh)
        self._columns.move(self._database.rows(_MOVED, (self._revision,)))
        self._mark(newest)
        alive = int(self._columns.alive.sum())
        if len(self._columns.ids) > 1024 and alive < 0.75 * len(self._columns.ids):
            return False
        if isinstance(self._data, _Codes) != (alive > EXACT_ROWS):
            return False
        return isinstance(self._data, _Exact) or self._sample == self._sample_ids()

    def _load(self) -> None:
        _, newest = self._database.row(_LOG) or (0, 0)
        self._clear()
        expected = int(self._database.value(_CHUNKS) or 0)
        if expected > EXACT_ROWS:
            expected = int(self._database.value(_COUNT, (self._space,)))
        self._data = self._empty_codes() if expected > EXACT_ROWS else _Exact(self._dimension, expected)
        self._mark(newest)
        for low in range(0, self._last_vector, _READ_ROWS):
            self._add(self._database.rows(_ALL, (low, low + _READ_ROWS, self._space)))

    def _empty_codes(self) -> _Codes:
        self._sample = self._sample_ids()
        found = dict(self._database.rows(_BY_ID, (json.dumps(self._sample),)))
        return _Codes(self._dimension, [found[ident] for ident in self._sample if self._whole(found[ident])])

    def _sample_ids(self) -> list[int]:
        return [ident for (ident,) in self._database.rows(_SAMPLE, (self._space, SAMPLE_ROWS))]

    def _whole(self, blob: bytes) -> bool:
        return bool(blob) and len(blob) % (2 * self._dimension) == 0

    def _add(self, rows: Sequence[Row]) -> None:
        good = [row for row in rows if self._whole(row[2])]
        if good:
            self._data.extend(from_blobs([row[2] for row in good], self._dimension))
            self._columns.extend(good, self._dimension)

    def _mark(self, newest_removal: int) -> None:
        self._last_chunk, self._last_vector = self._database.row(_ENDS) or (0, 0)
        self._last_removal = newest_removal
