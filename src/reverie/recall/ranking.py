"""Ranking as pure functions: two legs into one order, then multipliers that are named in the trace.

Keyword and vector scores live on different scales, and the scale of each changes from query to query. So each leg is
standardised over the candidates of this query and the two are added (models.md measured z-score sums above rank
fusion on LoCoMo: R@10 .62 against .60 and .57 for keywords alone).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from reverie.core.clock import age_in_days
from reverie.core.text import jaccard, shingles

#: Below this spread a leg says nothing about the order of the candidates; dividing by less would turn noise into
#: rank. Cosines of the default embedder lie within some .1 of each other.
_MIN_COSINE_SPREAD = 0.01


@dataclass(frozen=True, slots=True)
class RankingSettings:
    """What can be tuned about ranking. Weights are those of the standardised legs.

    ``recency_floor`` bounds the decay (choice C10): however old a dated note is, its score is never multiplied by
    less. ``mmr_lambda`` is the weight of relevance against repetition; 1 turns diversification off.
    """

    keyword_weight: float = 1.0
    vector_weight: float = 1.0
    recency_half_life_days: float = 30.0
    recency_floor: float = 0.9
    recency: bool = True
    importance: bool = True
    mmr: bool = True
    mmr_lambda: float = 0.7
    project_boost: float = 1.15
    project_demotion: float = 0.9


def standardise(values: Sequence[float], floor: float) -> list[float]:
    """Return ``(value - mean) / max(deviation, floor)`` for each value; zeros where nothing tells them apart."""
    if not values:
        return []
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values))
    scale = max(deviation, floor)
    return [(value - mean) / scale if scale > 0 else 0.0 for value in values]


def fuse(
    keyword: Mapping[int, float],
    vector: Mapping[int, float],
    settings: RankingSettings,
) -> dict[int, float]:
    """Return one score in 0..1 for each candidate of either leg.

    Args:
        keyword: candidate to BM25 score, higher is better; a missing candidate matched no word.
        vector: candidate to cosine; a missing one has no vector, and counts as the worst candidate that has.
        settings: the weights.
    """
    candidates = sorted(set(keyword) | set(vector))
    if not candidates:
        return {}
    totals = [0.0] * len(candidates)
    if keyword:
        scores = [keyword.get(candidate, 0.0) for candidate in candidates]
        spread = standardise(scores, max(scores) * 0.05)
        totals = [total + settings.keyword_weight * value for total, value in zip(totals, spread, strict=True)]
    if vector:
        worst = min(vector.values())
        scores = [vector.get(candidate, worst) for candidate in candidates]
        spread = standardise(scores, _MIN_COSINE_SPREAD)
        totals = [total + settings.vector_weight * value for total, value in zip(totals, spread, strict=True)]
    return {candidate: _squash(total) for candidate, total in zip(candidates, totals, strict=True)}


def _squash(value: float) -> float:
    """Return the logistic of ``value``: monotone, in 0..1, one half for an average candidate."""
    return 1.0 / (1.0 + math.exp(-value)) if value > -60 else 0.0


def recency(when: datetime | None, now: datetime, settings: RankingSettings) -> float:
    """Return ``floor + (1 - floor) * 2^(-age / half life)``; 1 for what carries no date (choice C10)."""
    if when is None or not settings.recency:
        return 1.0
    decay = math.exp2(-age_in_days(when, now) / settings.recency_half_life_days)
    return settings.recency_floor + (1.0 - settings.recency_floor) * decay


def importance(value: int | None, settings: RankingSettings) -> float:
    """Return ``0.75 + 0.05 * n`` for an importance of 1..10, 1 where none is given (OpenClaw 2026.9.6)."""
    if value is None or not settings.importance:
        return 1.0
    return 0.75 + 0.05 * value


def project(keys: Sequence[str], active: Sequence[str], settings: RankingSettings) -> float:
    """Return the boost of an entry whose projects are all active, the demotion of one of another project."""
    if not keys or not active:
        return 1.0
    return settings.project_boost if set(keys) <= set(active) else settings.project_demotion


def diversify(order: Sequence[tuple[str, float]], limit: int, settings: RankingSettings) -> list[tuple[int, float]]:
    """Choose ``limit`` items greedily, lowering what repeats an item already chosen.

    Args:
        order: ``(text, score)`` best first.
        limit: how many to choose.
        settings: ``mmr_lambda`` sets how much a verbatim repeat loses: ``score * lambda``.

    Returns:
        Positions into ``order`` with the factor applied to each, in the new order. Only the part of the likeness
        above one half counts, so that two notes on one topic do not push each other down.
    """
    if not settings.mmr or settings.mmr_lambda >= 1.0:
        return [(position, 1.0) for position in range(min(limit, len(order)))]
    sets = [shingles(text) for text, _ in order]
    likeness = [0.0] * len(order)
    left = list(range(len(order)))
    chosen: list[tuple[int, float]] = []
    while left and len(chosen) < limit:
        factors = {at: 1.0 - (1.0 - settings.mmr_lambda) * max(0.0, likeness[at] - 0.5) * 2.0 for at in left}
        best = max(left, key=lambda at: (order[at][1] * factors[at], -at))
        chosen.append((best, factors[best]))
        left.remove(best)
        for at in left:
            likeness[at] = max(likeness[at], jaccard(sets[at], sets[best]))
    return chosen
