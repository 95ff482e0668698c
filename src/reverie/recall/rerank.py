"""Reranking: the best candidates looked at once more, each beside the question, within a deadline.

Off unless ``memory.search.rerank.mode`` names one. ``late`` is late interaction (Khattab and Zaharia, ColBERT, 2020)
over the token states of the bundled embedder: each word of the question counts with the word of the text that is
nearest to it. A plugin may bring others, such as a cross-encoder, through the hook ``reverie_rerankers``.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from reverie.core.errors import ReverieError
from reverie.core.queries import Reranker
from reverie.recall.ranking import SCORE_SCALE

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The standing of a candidate among the others, by the reranker, counts so much; in the units of ``ranking.fuse``.
WEIGHT = 0.5
#: Fewer candidates have no standing among each other.
LEAST = 3


@runtime_checkable
class TokenStates(Protocol):
    """An embedder that gives the states of single tokens."""

    def token_states(self, text: str, *, query: bool) -> NDArray[np.float32]:
        """Return unit rows, one for each token."""
        ...


class LateInteraction:
    """MaxSim: the mean over the question's tokens of the best cosine with a token of the text.

    The states of texts that came up before are kept, ``kept`` of them: the candidates of one question come up again
    for the next one.
    """

    def __init__(self, embedder: TokenStates, *, kept: int = 512) -> None:
        self._embedder = embedder
        self._states = lru_cache(maxsize=kept)(self._half_states)

    def scores(self, query: str, texts: Sequence[str]) -> Iterator[float]:
        """Yield the score of each text; 0 where the question or the text has no token."""
        asked = self._embedder.token_states(query, query=True)
        for text in texts:
            states = self._states(text)
            found = asked @ states.T.astype(np.float32) if len(asked) and len(states) else np.zeros((1, 1), np.float32)
            yield float(np.round(found.max(axis=1).mean(dtype=np.float64), 6))

    def _half_states(self, text: str) -> NDArray[np.float16]:
        return self._embedder.token_states(text, query=False).astype(np.float16)


@dataclass(frozen=True, slots=True)
class Reranking:
    """What reranks, how many candidates, and for how long at most."""

    reranker: Reranker
    candidates: int = 24
    deadline_ms: float = 500.0


def factors(query: str, order: Sequence[tuple[str, float, bool]], how: Reranking) -> tuple[list[float], str]:
    """Return what each candidate's score is multiplied by, and what to say if that is not as it should be.

    Args:
        query: the question.
        order: the text, the score and whether it matches word for word, of the best candidates, best first.
        how: what reranks.

    Returns:
        A factor for each. All are 1 where the reranker failed or too few were scored in time: the order then stays.
        One that matches word for word is never lowered.
    """
    texts = [text for text, _, _ in order]
    found: list[float] = []
    started = time.perf_counter()
    try:
        for score in how.reranker.scores(query, texts):
            found.append(score)
            if 1000 * (time.perf_counter() - started) > how.deadline_ms:
                break
    except ReverieError as error:
        return [1.0] * len(order), f"not reranked: {error}"
    if len(found) < LEAST:
        late = len(found) < len(order)
        return [1.0] * len(order), f"not reranked: {how.deadline_ms:g} ms were not enough" if late else ""
    values = np.array(found)
    standing = (values - values.mean()) / max(float(values.std()), 1e-6)
    moved = [_moved(score, WEIGHT * float(z)) for (_, score, _), z in zip(order, standing, strict=False)]
    moved += [1.0] * (len(order) - len(moved))
    exact = [matches for _, _, matches in order]
    told = "" if len(found) == len(order) else f"only the first {len(found)} candidates were reranked in time"
    return [max(1.0, factor) if kept else factor for factor, kept in zip(moved, exact, strict=True)], told


def _moved(score: float, by: float) -> float:
    """Return the factor that moves a score by so much evidence on the scale of ``ranking.squash``."""
    if not 0.0 < score < 1.0:
        return 1.0
    logit = np.log(score / (1.0 - score)) + by / SCORE_SCALE
    return float(1.0 / (1.0 + np.exp(-logit)) / score)
