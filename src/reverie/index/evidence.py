"""From cosines to evidence: how far a chunk stands out for one question.

Pure functions over arrays. Constants are those measured for a small multilingual embedder on dialogues, notes and
chats in English and Chinese; they are flat around the values chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: How much of what all questions, and all texts, have in common is taken off a question.
QUESTION_SHARE = 0.5
TEXT_SHARE = 0.3
#: What each doubling of the pieces of a text costs: the best of many is high by chance.
PIECE_PRICE = 0.01
#: How much the chunks before and after count.
NEIGHBOUR_SHARE = 0.2
#: Below this spread nothing tells the chunks apart.
LEAST_SPREAD = 1e-6


def particular(
    query: NDArray[np.float64], questions: NDArray[np.float64], texts: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return what a question does not share with all questions (their mean) and all texts (their mean).

    It is not brought back to unit length, and the texts are left as they are: both measured worse.
    """
    return query - QUESTION_SHARE * questions - TEXT_SHARE * texts


def best_of(values: NDArray[np.float64], pieces: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the best value of each chunk; ``values`` has one for each piece, chunk after chunk."""
    if not len(pieces):
        return np.empty(0, np.float64)
    starts = np.cumsum(pieces) - pieces
    best: NDArray[np.float64] = np.maximum.reduceat(values, starts)
    return best


def of_pieces(values: NDArray[np.float64], pieces: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the best value of each chunk, less the price of having many pieces."""
    return best_of(values, pieces) - PIECE_PRICE * np.log2(np.maximum(pieces, 1))


def standing(values: NDArray[np.float64], usual: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many standard deviations of the usual values each value lies above their mean."""
    spread = float(usual.std()) if len(usual) else 0.0
    if spread < LEAST_SPREAD:
        return np.zeros(len(values))
    found: NDArray[np.float64] = (values - usual.mean()) / spread
    return found


@dataclass(frozen=True, slots=True)
class Layout:
    """How the rows of a table lie in documents.

    ``starts`` is the first piece of each row; ``order`` has the numbers of the living rows by document and position;
    ``follows[i]`` says that row ``order[i + 1]`` comes right after ``order[i]`` in the same document, and that both
    are trusted or neither is: what somebody sent in says nothing of the owner's line beside it.
    """

    pieces: NDArray[np.int64]
    starts: NDArray[np.int64]
    price: NDArray[np.float64]
    order: NDArray[np.int64]
    follows: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        source: NDArray[np.int64],
        position: NDArray[np.int64],
        pieces: NDArray[np.int64],
        trusted: NDArray[np.bool_],
        alive: NDArray[np.bool_] | None = None,
    ) -> Layout:
        """Work it out from the columns of the rows."""
        order = np.lexsort((position, source)).astype(np.int64)
        if alive is not None:
            order = order[alive[order]]
        one, two = order[:-1], order[1:]
        follows = (source[one] == source[two]) & (position[one] + 1 == position[two])
        follows &= trusted[one] == trusted[two]
        price = PIECE_PRICE * np.log2(np.maximum(pieces, 1))
        return cls(pieces, np.cumsum(pieces) - pieces, price, order, follows)

    def of_pieces(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the best piece of each row, less the price of having many."""
        if len(values) == len(self.pieces):
            return values
        found: NDArray[np.float64] = np.maximum.reduceat(values, self.starts) - self.price
        return found

    def pieces_of(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of the pieces of some rows, and where each row begins among them."""
        counts = self.pieces[rows]
        starts = np.cumsum(counts) - counts
        numbers = np.repeat(self.starts[rows] - starts, counts) + np.arange(int(counts.sum()))
        return numbers, starts

    def smoothed(
        self, values: NDArray[np.float64], allowed: NDArray[np.bool_], usual: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Return the evidence of every row: its standing, with a share of its neighbours'. 0 where not allowed.

        What is usual is measured on some of the allowed rows.
        """
        found = standing(values, values if usual.all() else values[usual])
        found[~allowed] = 0.0
        joined = self._with_neighbours(found)
        found = standing(joined, joined if usual.all() else joined[usual])
        found[~allowed] = 0.0
        return found

    def joined(self, rows: NDArray[np.int64], found: NDArray[np.float64]) -> NDArray[np.float64]:
        """Do the same where only some rows were compared; the others count as usual ones."""
        every = np.zeros(len(self.pieces))
        every[rows] = found
        return self._with_neighbours(every)[rows] / float(np.sqrt(1.0 + 2.0 * NEIGHBOUR_SHARE**2))

    def _with_neighbours(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        inside = values[self.order]
        joined = inside.copy()
        joined[:-1] += NEIGHBOUR_SHARE * inside[1:] * self.follows
        joined[1:] += NEIGHBOUR_SHARE * inside[:-1] * self.follows
        found = values.copy()
        found[self.order] = joined
        return found
