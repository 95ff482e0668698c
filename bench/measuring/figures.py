"""Arithmetic of repeated measurements. Medians and pairs, since a mean of timings follows its worst outlier."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Summary:
    """Repeated measurements of one thing, all in the unit that was given."""

    count: int
    median: float
    p95: float
    lowest: float
    highest: float


@dataclass(frozen=True, slots=True)
class Ratio:
    """How one thing compares with another, measured in turn: ``median`` of first / second, pair by pair."""

    pairs: int
    median: float
    lowest: float
    highest: float


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least ``share`` (0..1) of the values do not exceed (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def summary(values: Sequence[float]) -> Summary:
    """Summarise at least one measurement.

    Raises:
        ValueError: there is none.
    """
    if not values:
        raise ValueError("nothing was measured")
    return Summary(len(values), statistics.median(values), percentile(values, 0.95), min(values), max(values))


def ratio(firsts: Sequence[float], seconds: Sequence[float]) -> Ratio:
    """Compare two things that were measured in turn, A B A B: each pair saw the machine in about the same state.

    Raises:
        ValueError: there is no pair, or the two were not measured equally often.
    """
    if not firsts:
        raise ValueError("nothing was measured")
    ratios = [first / second for first, second in zip(firsts, seconds, strict=True)]
    return Ratio(len(ratios), statistics.median(ratios), min(ratios), max(ratios))
