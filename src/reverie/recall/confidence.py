"""How sure an answer is to be one: whether what was found is about the question, in 0..1.

The score of a hit says which of the hits is best. It says nothing of whether any of them answers, since the best of a
store that knows nothing still stands out among the rest. Confidence takes two things that do not depend on the rest:
how much of what the question asks for stands in the hit, by the rarity of the words, and how near the two are in
meaning.

The coefficients are those of a logistic regression over questions asked of the store that answers them and of one
that does not (LoCoMo, LongMemEval, MADial, MemDaily and PrefEval, the given halves), rounded; ``scripts/bench
abstention`` measures them. The cosines of one model say nothing about another's, so meaning counts only for models
that were measured.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from reverie.core.language import guess, stem, tokens

#: How many of the first hits are looked at; the best of them counts.
LOOKED_AT = 3
#: By words alone: slope over the share that stands in the hit, and the share at which it is even.
BY_WORDS = (8.0, 0.4)
#: With meaning: the slope over the share, then by model the slope over the cosine and the cosine at which it is even.
WITH_MEANING = 6.0
COSINES: Mapping[str, tuple[float, float]] = {"multilingual-e5-small": (70.0, 0.857)}
#: Below this an answer is said to be in doubt. It is low, since an answer in another language than the question has
#: none of its words.
DOUBTFUL = 0.1

#: What is asked for, in every form that counts as it, and how rare it is.
Weights = Sequence[tuple[frozenset[tuple[str, ...]], float]]


def share(weights: Weights, text: str) -> float:
    """Return how much of what is asked for stands in a text, by its weight; 0 where nothing is asked for."""
    whole = math.fsum(weight for _, weight in weights)
    if whole <= 0:
        return 0.0
    words = tokens(text)
    stems = [stem(word, guess(words)) for word in words]
    present = {(word,) for word in (*words, *stems)} | set(itertools.pairwise(stems))
    present |= set(itertools.pairwise(words))
    return math.fsum(weight for forms, weight in weights if not forms.isdisjoint(present)) / whole


def confidence(weights: Weights, found: Sequence[tuple[str, float]], model: str) -> float:
    """Return how sure it is that one of the hits is about the question.

    Args:
        weights: what is asked for.
        found: text and cosine of the hits, best first; the cosine is 0 where there is none.
        model: the embedding model, or empty.
    """
    best = found[:LOOKED_AT]
    if not best:
        return 0.0
    stands = max(share(weights, text) for text, _ in best)
    cosine = max(cosine for _, cosine in best)
    known = next((known for name, known in COSINES.items() if name in model), None) if cosine > 0 else None
    if known is None:
        slope, even = BY_WORDS
        return _logistic(slope * (stands - even))
    slope, even = known
    return _logistic(WITH_MEANING * stands + slope * (cosine - even))


def _logistic(value: float) -> float:
    return round(1.0 / (1.0 + math.exp(-max(-60.0, min(60.0, value)))), 4)
