"""Building blocks for the words of a language."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from reverie.core.times.lexicon import Meaning
from reverie.core.times.values import Clock, Part

#: The parts of the day, by the hours from and to which they go.
PARTS = {
    "morning": Part(6, 12),
    "noon": Part(11, 14),
    "afternoon": Part(12, 18),
    "evening": Part(18, 22),
    "night": Part(20, 29),
    "dawn": Part(0, 6),
}
NOON = Clock(12)
MIDNIGHT = Clock(0)

Words = dict[str, Sequence[Meaning]]


def table(letter: str, words: Mapping[Any, str]) -> Words:
    """Return words of one letter from their values."""
    return {alternatives: ((letter, value),) for value, alternatives in words.items()}


def parts(words: Mapping[str, str]) -> Words:
    """Return the words for parts of the day."""
    return {alternatives: (("P", PARTS[name]),) for name, alternatives in words.items()}


def on(month: int, day: int) -> Callable[[int], date]:
    """Return a holiday that has a date."""
    return lambda year: date(year, month, day)


def easter(year: int) -> date:
    """Return Easter Sunday (the anonymous Gregorian computus, as Meeus prints it)."""
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    el = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 19 * el) // 433
    month = (h + el - 7 * m + 90) // 25
    return date(year, month, (h + el - 7 * m + 33 * month + 19) % 32)


def from_easter(days: int) -> Callable[[int], date]:
    """Return a holiday so many days after Easter Sunday."""
    return lambda year: easter(year) + timedelta(days=days)


def nth(month: int, weekday: int, number: int, more: int = 0) -> Callable[[int], date]:
    """Return a holiday on the n-th weekday of a month (-1: its last), ``more`` days later."""

    def found(year: int) -> date:
        if number > 0:
            first = date(year, month, 1)
            ahead = (weekday - first.weekday()) % 7 + 7 * (number - 1)
            return first + timedelta(days=ahead + more)
        last = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
        return last - timedelta(days=(last.weekday() - weekday) % 7) + timedelta(days=more)

    return found
