"""BM25 over arrays: Robertson and Zaragoza (2009), with the constants of SQLite's FTS5 (k1 1.2, b 0.75)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

K1 = 1.2
B = 0.75
#: What a term counts that more than half of the texts hold; FTS5 does the same.
LEAST_IDF = 1e-6
#: Sums over few of many pairs are made by sorting, others by counting into an array of all.
FEW = 8


@dataclass(frozen=True, slots=True)
class Counted:
    """How often terms stand in texts: three arrays of one length. A pair of term and text may come more than once."""

    terms: NDArray[np.int64]
    texts: NDArray[np.int64]
    counts: NDArray[np.float64]

    def of_terms(self, chosen: NDArray[np.bool_]) -> Counted:
        """Return the part that is about some of the terms."""
        kept = chosen[self.terms]
        return self if kept.all() else Counted(self.terms[kept], self.texts[kept], self.counts[kept])

    def joined(self, other: Counted, weight: float) -> Counted:
        """Return both together; what the other counts has a weight."""
        if not len(other.terms):
            return self
        return Counted(
            np.concatenate((self.terms, other.terms)),
            np.concatenate((self.texts, other.texts)),
            np.concatenate((self.counts, weight * other.counts)),
        )

    def summed(self, terms: int, texts: int) -> Counted:
        """Return each pair once, by term and text in rising order, with the sum of its counts."""
        pairs = self.terms * texts + self.texts
        if FEW * len(pairs) < terms * texts:
            found, at = np.unique(pairs, return_inverse=True)
            sums = np.bincount(at, self.counts, len(found))
        else:
            every = np.bincount(pairs, self.counts, terms * texts)
            found = np.flatnonzero(every)
            sums = every[found]
        return Counted(found // max(texts, 1), found % max(texts, 1), sums.astype(np.float64))


@dataclass(frozen=True, slots=True)
class Level:
    """Texts of one kind: what the length of each does to it, and how many there are.

    ``damping`` is what a text of its length adds to the number of occurrences below the line of BM25.
    """

    damping: NDArray[np.float64]
    count: int

    @classmethod
    def of(cls, lengths: NDArray[np.int64], counted: NDArray[np.bool_]) -> Level:
        """Return the level of texts with these lengths in terms, of which only some count."""
        count = int(counted.sum())
        mean = float(lengths[counted].sum()) / count if count else 0.0
        share = lengths.astype(np.float64) / (mean or 1.0)
        return cls(K1 * (1 - B + B * share), count)

    def scores(self, counted: Counted, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the BM25 of every text; ``weights[i]`` is what term ``i`` counts."""
        size = len(self.damping)
        found = counted.summed(len(weights), size)
        texts_with = np.bincount(found.terms, minlength=len(weights))
        idf = np.log(np.maximum((self.count - texts_with + 0.5), 0.5) / (texts_with + 0.5))
        factor = weights * np.maximum(idf, LEAST_IDF) * (K1 + 1)
        values = factor[found.terms] * found.counts / (found.counts + self.damping[found.texts])
        return np.bincount(found.texts, values, size).astype(np.float64)
