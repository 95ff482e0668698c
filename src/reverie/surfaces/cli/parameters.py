"""How the words of a command line are read: text of any bytes, numbers within bounds, days and moments.

An empty option is one that was not given (list A, SIL-05), so that a script may pass on a variable that is unset.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import click

from reverie.core.clock import as_utc, parse_moment, start_of_day
from reverie.core.errors import UsageError

_LINES = re.compile(r"L?(\d{1,9})(?:-L?(\d{1,9}))?")


def recovered(text: str, *, errors: str = "replace") -> str:
    """Return an argument as the text that was typed.

    Python hands on what it cannot decode as halves of surrogate pairs: bytes that are no UTF-8, and under ``LC_ALL=C``
    everything that is not ASCII. The bytes are taken back and read as UTF-8; ``errors`` says what becomes of the rest.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        try:
            raw = os.fsencode(text)
        except UnicodeEncodeError:  # halves of pairs that never were bytes
            raw = text.encode("utf-8", "surrogatepass")
        return raw.decode("utf-8", errors)
    return text


class Words(click.ParamType[str]):
    """Text of any bytes."""

    name = "text"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text; bytes that are no UTF-8 are replaced."""
        return recovered(value)


class Exact(Words):
    """Text that is kept, and so must be UTF-8 throughout."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text, or refuse what could only be kept changed."""
        try:
            return recovered(value, errors="strict")
        except UnicodeDecodeError:
            return self.fail("this is not UTF-8", param, ctx)


class Whole(click.ParamType[int | None]):
    """A whole number within bounds."""

    name = "number"

    def __init__(self, least: int = 1, most: int | None = None) -> None:
        self._least, self._most = least, most

    def convert(self, value: str | int, param: click.Parameter | None, ctx: click.Context | None) -> int | None:
        """Return the number, or ``None`` for an empty text."""
        if isinstance(value, str) and not value.strip():
            return None
        try:
            number = int(value)
        except ValueError:
            return self.fail(f"{value!r} is not a whole number", param, ctx)
        if number < self._least:
            return self.fail(f"it must be at least {self._least}", param, ctx)
        if self._most is not None and number > self._most:
            return self.fail(f"it must be at most {self._most}", param, ctx)
        return number


class Share(click.ParamType[float | None]):
    """A number from 0 to 1."""

    name = "number"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float | None:
        """Return the number, or ``None`` for an empty text."""
        if isinstance(value, str) and not value.strip():
            return None
        try:
            number = float(value)
        except ValueError:
            return self.fail(f"{value!r} is not a number", param, ctx)
        if not 0.0 <= number <= 1.0:
            return self.fail("it must be from 0 to 1", param, ctx)
        return number


class OneOf(click.ParamType[str | None]):
    """One of a few words; an empty text is unset."""

    name = "word"

    def __init__(self, *words: str) -> None:
        self._words = words

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return how the words stand in the help."""
        return "|".join(self._words)

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str | None:
        """Return the word, or ``None`` for an empty text."""
        word = value.strip().lower()
        if word and word not in self._words:
            return self.fail(f"{value!r} is none of {', '.join(self._words)}", param, ctx)
        return word or None


class Lines(click.ParamType[tuple[int, int] | None]):
    """Lines of a file: ``12``, or ``12-15`` with both ends included."""

    name = "lines"

    def convert(
        self, value: str | tuple[int, int], param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int] | None:
        """Return the first and the last line, or ``None`` for an empty text."""
        if not isinstance(value, str):
            return value
        if not value.strip():
            return None
        found = _LINES.fullmatch(value.strip())
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 1 <= first <= last:
            return self.fail(f"{value!r} names no lines; write 12 or 12-15", param, ctx)
        return first, last


# --- days and moments ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class When:
    """A day or a moment as it was typed. Which instant that is depends on the user's zone."""

    day: date | None = None
    moment: datetime | None = None

    def first(self, zone: str) -> datetime:
        """Return the first instant meant, in UTC: of a day, its midnight in ``zone``."""
        return start_of_day(self.day, zone) if self.day else self._instant(zone)

    def last(self, zone: str) -> datetime:
        """Return the last instant meant, in UTC: of a day, its last microsecond in ``zone``."""
        if self.day is None:
            return self._instant(zone)
        if self.day == date.max:
            return datetime.max.replace(tzinfo=UTC)
        return start_of_day(self.day + timedelta(days=1), zone) - timedelta(microseconds=1)

    def _instant(self, zone: str) -> datetime:
        if self.moment is None:
            raise UsageError("Neither a day nor a moment is given")
        return as_utc(self.moment if self.moment.tzinfo else self.moment.replace(tzinfo=ZoneInfo(zone)))


class WhenType(click.ParamType[When | None]):
    """An ISO 8601 day (``2026-03-17``) or moment (``2026-03-17T20:22``, with or without an offset)."""

    name = "date"

    def convert(self, value: str | When, param: click.Parameter | None, ctx: click.Context | None) -> When | None:
        """Return the day or moment, or ``None`` for an empty text."""
        if isinstance(value, When):
            return value
        text = value.strip()
        if not text:
            return None
        try:
            return When(day=date.fromisoformat(text))
        except ValueError:
            pass
        try:
            return When(moment=datetime.fromisoformat(text))
        except ValueError:
            stamp = parse_moment(text)  # epoch milliseconds
        if stamp is not None:
            return When(moment=stamp)
        return self.fail(f"{value!r} is no date; write 2026-03-17 or 2026-03-17T20:22", param, ctx)


WORDS = Words()
LINES = Lines()
EXACT = Exact()
COUNT = Whole(1)
SCORE = Share()
WHEN = WhenType()
CORPUS = OneOf("memory", "sessions", "all")


# --- text from standard input ----------------------------------------------------------------------------------


def text_of(words: tuple[str, ...], what: str, *, errors: str = "strict") -> str:
    """Return the words as one text; a lone ``-`` stands for standard input.

    Raises:
        UsageError: there is no text, or what comes in is not UTF-8 and ``errors`` is ``strict``.
    """
    if words == ("-",):
        text = _standard_input(errors)
    elif words:
        text = " ".join(words)
    else:
        raise UsageError(f"There is no {what}", hint=f"write the {what} after the command, or - to read standard input")
    return text


def _standard_input(errors: str) -> str:
    if sys.stdin is None:
        raise UsageError("There is no standard input")
    raw = sys.stdin.buffer.read()
    try:
        return raw.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise UsageError("Standard input is not UTF-8", byte=error.start) from error
