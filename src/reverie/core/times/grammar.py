"""The machine of the grammar: rules that put neighbouring symbols together, pass after pass, longest first.

Composed symbols have letters of their own: ``d`` day, ``k`` time of day, ``q`` moment, ``r`` span, ``u`` duration,
``v`` recurrence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from reverie.core.times.lexicon import Symbol
from reverie.core.times.phrase import Direction


@dataclass(frozen=True, slots=True)
class Now:
    """When and how a text is read: local time, its zone apart from it, and the direction of what is open.

    ``fold`` is that of the moment. It stands here once more because times that differ in it alone compare as equal,
    and what is said in the one is not what is said in the other.
    """

    moment: datetime
    direction: Direction
    zone: ZoneInfo
    fold: int = 0

    @property
    def today(self) -> date:
        """Return the calendar day."""
        return self.moment.date()

    def elapsed(self, since: datetime, seconds: float) -> datetime | None:
        """Return the local time when so many seconds have passed, whatever is done to the clocks meanwhile."""
        try:
            at = since.replace(tzinfo=self.zone).astimezone(UTC) + timedelta(seconds=seconds)
            return at.astimezone(self.zone).replace(tzinfo=None)
        except (OverflowError, ValueError):
            return None


class Part:
    """Neighbouring symbols that a rule has matched, and what they stand for."""

    def __init__(self, match: re.Match[str], symbols: Sequence[Symbol], now: Now) -> None:
        self._match = match
        self._symbols = symbols
        self.now = now

    def has(self, name: str) -> bool:
        """Say whether a group took part."""
        return bool(self._match.groupdict().get(name))

    def letter(self, name: str) -> str:
        """Return the letters of a group."""
        return self._match.groupdict().get(name) or ""

    def values(self, name: str) -> list[object]:
        """Return the values of a group's symbols."""
        if not self.has(name):
            return []
        return [symbol.value for symbol in self._symbols[self._match.start(name) : self._match.end(name)]]

    def value(self, name: str) -> object:
        """Return the value of a group's first symbol, ``None`` if it took no part."""
        found = self.values(name)
        return found[0] if found else None

    def number(self, name: str, default: float = 1) -> float:
        """Return a group's number."""
        found = self.value(name)
        return float(found) if isinstance(found, (int, float)) else default


#: What a rule makes of the part that it matched; ``None``: it does not hold after all.
Build = Callable[[Part], object]


@dataclass(frozen=True, slots=True)
class Rule:
    """Symbols that become one: its letter, a pattern over letters, and what makes the value."""

    letter: str
    pattern: str
    build: Build


class Pass:
    """Rules that are tried together, from left to right; of those that hold at a place the longest wins."""

    def __init__(self, *rules: Rule) -> None:
        self._rules = [(rule.letter, re.compile(rule.pattern), rule.build) for rule in rules]

    def over(self, symbols: Sequence[Symbol], now: Now) -> list[Symbol]:
        """Return the symbols with every part replaced that a rule holds for."""
        letters = "".join(symbol.letter for symbol in symbols)
        result: list[Symbol] = []
        at = 0
        while at < len(symbols):
            found = self._longest(letters, symbols, at, now)
            if found is None:
                result.append(symbols[at])
                at += 1
            else:
                symbol, at = found
                result.append(symbol)
        return result

    def _longest(self, letters: str, symbols: Sequence[Symbol], at: int, now: Now) -> tuple[Symbol, int] | None:
        matches = [(match, letter, build) for letter, rule, build in self._rules if (match := rule.match(letters, at))]
        for match, letter, build in sorted(matches, key=lambda found: -found[0].end()):
            if match.end() == at:
                continue
            value = build(Part(match, symbols, now))
            if value is not None:
                end = match.end()
                return Symbol(letter, value, symbols[at].start, symbols[end - 1].end), end
        return None
