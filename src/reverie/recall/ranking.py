"""Ranking as pure functions: evidence into one score, then multipliers that are named in the trace.

Words and meaning are measured on different scales, and each scale changes from query to query. So each is counted in
standard deviations, and the two are added: a rare word that one line holds stands far out and decides, a common one
hardly does. Added to it is what the form of a line says: who speaks, and how much of the answer's room it takes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from reverie.core.clock import age_in_days
from reverie.core.text import jaccard, shingles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    #: Numbers of candidates, each once, and a value for each.
    Scores: TypeAlias = tuple[NDArray[np.int64], NDArray[np.float64]]

#: The chunks whose words tell most, over which their scores are standardised, whatever the size of the index.
STANDARD_CHUNKS = 200
#: A best BM25 below this says nothing.
LEAST_SCORE = 1e-9
#: A sum of so many standard deviations is one unit of the logistic that makes a score of it. At 1 all good hits would
#: have the same score to three digits, and a multiplier would decide between them.
SCORE_SCALE = 4.0
#: The bound of the decay where a question asks how things are now: enough to put a newer statement before an older one
#: that matches a little better, too little to put it before one that alone matches.
PRESENT_FLOOR = 0.75
#: What :func:`squash` makes of a candidate like most others.
AVERAGE_SCORE = 0.5
#: Short lines are alike for many reasons; two that share more of their words than this say the same.
REPEATED = 0.8
#: Characters of a line that has no price and no prize for its length, and the length below which shorter is no better.
USUAL_CHARS = 200
SHORT_CHARS = 60


@dataclass(frozen=True, slots=True)
class RankingSettings:
    """What can be tuned about ranking.

    The weights count in standard deviations. They are round numbers, chosen on eight sets of questions in English and
    Chinese (dialogues, chats, preferences, day notes) where results are flat around them; fitting them to one half of
    the sets did not help on the other.

    ``recency_floor`` bounds the decay (choice C10): however old a dated note is, its score is never multiplied by
    less. ``time_boost`` is for what was said within a time that the question names, ``superseded_demotion`` for what
    no longer holds where the question asks how things were. ``mmr_lambda`` is the weight of relevance against
    repetition; 1 turns diversification off.
    """

    keyword_weight: float = 1.0
    vector_weight: float = 1.3
    speaker_weight: float = 0.75
    person_weight: float = 0.3
    length_price: float = 0.5
    recency_half_life_days: float = 30.0
    recency_floor: float = 0.9
    recency: bool = True
    importance: bool = True
    mmr: bool = True
    mmr_lambda: float = 0.7
    project_boost: float = 1.15
    project_demotion: float = 0.9
    time_boost: float = 1.2
    superseded_demotion: float = 0.8


def standing(scores: NDArray[np.float64], total: int) -> tuple[NDArray[np.float64], float]:
    """Return how many standard deviations each BM25 lies above the mean of the best, and what no match comes to.

    Args:
        scores: The BM25 of the candidates, higher is better.
        total: how many chunks there are; where fewer than ``STANDARD_CHUNKS`` matched, others count with nothing.
    """
    best = np.zeros(min(STANDARD_CHUNKS, max(total, len(scores))))
    ordered = np.sort(scores)[::-1][: len(best)]
    best[: len(ordered)] = ordered
    if not len(best) or best[0] < LEAST_SCORE:
        return np.zeros(len(scores)), 0.0
    mean = math.fsum(best) / len(best)
    deviation = math.sqrt(math.fsum((best - mean) ** 2) / len(best))
    scale = max(deviation, 0.05 * float(best[0]))
    return (scores - mean) / scale, -mean / scale


def fuse(keyword: Scores, vector: Scores, total: int, settings: RankingSettings) -> Scores:
    """Return the evidence for each candidate of either leg, in standard deviations.

    Args:
        keyword: Candidates with their BM25; one that is missing matched no word.
        vector: Candidates with their standing among all vectors; one that is missing counts as a usual one.
        total: how many chunks there are.
        settings: the weights.

    Returns:
        Every candidate once, in rising order, with its evidence.
    """
    words, nothing = standing(keyword[1], total)
    ids = np.union1d(keyword[0], vector[0])
    matched = np.full(len(ids), nothing)
    matched[np.searchsorted(ids, keyword[0])] = words
    meant = np.zeros(len(ids))
    meant[np.searchsorted(ids, vector[0])] = vector[1]
    return ids, settings.keyword_weight * matched + settings.vector_weight * meant


def length(chars: NDArray[np.int64], settings: RankingSettings) -> NDArray[np.float64]:
    """Return what the length of each line adds: each doubling costs, since less else fits beside it."""
    return -settings.length_price * np.log2(np.maximum(chars, SHORT_CHARS) / USUAL_CHARS)


def squash(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logistic of ``value / SCORE_SCALE``: strictly monotone over what sums come to, in 0..1."""
    squashed: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-np.maximum(values, -60 * SCORE_SCALE) / SCORE_SCALE))
    return squashed


def for_present(settings: RankingSettings) -> RankingSettings:
    """Return the settings for a question about the present: age counts for more, still within a bound."""
    return replace(settings, recency_floor=min(settings.recency_floor, PRESENT_FLOOR))


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
        settings: ``mmr_lambda`` sets what a verbatim repeat keeps of its lead over an average candidate.

    Returns:
        Positions into ``order`` with the factor applied to each, in the new order. Only the part of the likeness
        above ``REPEATED`` counts, so that two lines on one topic do not push each other down.
    """
    if not settings.mmr or settings.mmr_lambda >= 1.0:
        return [(position, 1.0) for position in range(min(limit, len(order)))]
    sets = [shingles(text) for text, _ in order]
    likeness = [0.0] * len(order)
    left = list(range(len(order)))
    chosen: list[tuple[int, float]] = []
    while left and len(chosen) < limit:
        factors = {at: _diversity(order[at][1], likeness[at], settings) for at in left}
        best = max(left, key=lambda at: (order[at][1] * factors[at], -at))
        chosen.append((best, factors[best]))
        left.remove(best)
        for at in left:
            # The likeness of two sets is at most the ratio of their sizes, and below REPEATED it does not count.
            if min(len(sets[at]), len(sets[best])) >= REPEATED * max(len(sets[at]), len(sets[best])):
                likeness[at] = max(likeness[at], jaccard(sets[at], sets[best]))
    return chosen


def _diversity(score: float, likeness: float, settings: RankingSettings) -> float:
    """Return the factor of a candidate that is so like one chosen before it.

    Only its lead is lowered: the same words said on two days are two facts, and better than what is merely average.
    """
    lead = score - AVERAGE_SCORE
    if likeness <= REPEATED or lead <= 0:
        return 1.0
    lost = (1.0 - settings.mmr_lambda) * (likeness - REPEATED) / (1.0 - REPEATED)
    return 1.0 - lost * lead / score
