"""Rows of vectors in memory: whole numbers that are compared exactly, or one bit a dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from reverie.store.database import Row

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reverie.core.types import Vector

#: Vectors are rounded to multiples of ``1 / STEPS``. Two of unit length then have a product below 2**24, which float32
#: holds exactly, whatever is added first.
STEPS = 4_000

#: 768 bytes each at 384 dimensions.
HELD_PIECES = 200_000


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


class Rows:
    """Which chunk and which embedding each loaded row is, and how many pieces it has; all else is in the layout."""

    def __init__(self) -> None:
        self.ids = np.empty(0, np.int64)
        self.vectors = np.empty(0, np.int64)
        self.pieces = np.empty(0, np.int64)

    def extend(self, rows: Sequence[Row], dimension: int) -> None:
        """Add rows of chunk, embedding and vector."""
        fresh = (
            ("ids", [row[0] for row in rows]),
            ("vectors", [row[1] for row in rows]),
            ("pieces", [len(row[2]) // (2 * dimension) for row in rows]),
        )
        for name, values in fresh:
            setattr(self, name, np.concatenate([getattr(self, name), np.array(values, np.int64)]))


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
