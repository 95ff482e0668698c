"""Rows of vectors in memory: whole numbers that are compared exactly, or one bit a dimension; and their columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from reverie.core.types import Corpus
from reverie.index.rows import Filters, storable, to_micros
from reverie.store.database import Database, Row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reverie.core.types import Vector

_SOURCES = "SELECT id FROM source WHERE substr(path, 1, ?) = ?"

#: Vectors are rounded to multiples of ``1 / STEPS``. Two of unit length then have a product below 2**24, which float32
#: holds exactly, whatever is added first.
STEPS = 4_000

#: 768 bytes each at 384 dimensions.
HELD_PIECES = 200_000

_CORPORA = {str(Corpus.MEMORY): 0, str(Corpus.SESSIONS): 1}
_NO_MOMENT = np.iinfo(np.int64).min


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
    steps: NDArray[np.float32] = np.rint(np.asarray(vectors) * STEPS).astype(np.float32)
    return steps


class Columns:
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
        self.trusted = np.empty(0, np.bool_)
        self.alive = np.empty(0, np.bool_)
        self._codes: dict[str | None, int] = {}

    def extend(self, rows: Sequence[Row], dimension: int) -> None:
        """Add rows of chunk, embedding, vector, corpus, moment, source, session, position and trust."""
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
            "trusted": [row[8] for row in rows],
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


class Exact:
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


class Codes:
    """Rows as one bit a dimension. ``_words`` is ``(dimension / 64, capacity)``: one pass a word, all rows at once.

    Up to ``HELD_PIECES`` rows are held as float16 as well: a thousand of them are looked at for each question.
    """

    def __init__(self, dimension: int, sample: Sequence[bytes]) -> None:
        self._dimension = dimension
        vectors = from_blobs(sample, dimension)
        self.mean = vectors.astype(np.float64).mean(axis=0)
        self.sample = in_steps(vectors)
        self.sample_pieces = np.array([len(blob) // (2 * dimension) for blob in sample], np.int64)
        self._words: NDArray[np.uint64] = np.empty((-(-dimension // 64), 0), np.uint64)
        self._halves: NDArray[np.float16] | None = np.empty((0, dimension), np.float16)
        self._used = 0

    def extend(self, vectors: NDArray[np.float32]) -> None:
        """Add rows."""
        need = self._used + len(vectors)
        if need > self._words.shape[1]:
            grown = np.empty((len(self._words), need + need // 4), np.uint64)
            grown[:, : self._used] = self._words[:, : self._used]
            self._words = grown
        self._words[:, self._used : need] = self._encode(vectors > self.mean)
        self._keep(vectors, need)
        self._used = need

    def _keep(self, vectors: NDArray[np.float32], need: int) -> None:
        if self._halves is None or need > HELD_PIECES:
            self._halves = None
            return
        if need > len(self._halves):
            grown = np.empty((need + need // 4, self._dimension), np.float16)
            grown[: self._used] = self._halves[: self._used]
            self._halves = grown
        self._halves[self._used : need] = vectors

    def rows(self, numbers: NDArray[np.int64]) -> NDArray[np.float32] | None:
        """Return some rows as they were stored, in steps; ``None`` where there are too many to be held."""
        return None if self._halves is None else in_steps(self._halves[numbers].astype(np.float32))

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
