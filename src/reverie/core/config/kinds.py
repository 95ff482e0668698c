"""The kinds of value that a configuration key can have: how each is read, what it accepts, how it is shown.

The schema is a table of keys (:mod:`reverie.core.config.section`), each with a kind, a default and a meaning. It is
checked by this small code and not by pydantic, since every command and every hook of a coding assistant reads the
configuration first, and importing pydantic alone takes longer than all the rest of such a call.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Literal

from reverie.core.clock import checked_zone
from reverie.core.config.reading import INVALID, MASK, FromEnv, Path, Reading
from reverie.core.errors import ConfigError

_NUMBER = re.compile(r"[+-]?(?:\d{1,18}(?:\.\d*)?|\.\d{1,18})(?:[eE][+-]?\d{1,3})?", re.ASCII)
_DURATION = re.compile(r"(?:(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)\s*)+", re.IGNORECASE)
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)", re.IGNORECASE)
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)
_CRON_FIELD = re.compile(r"[0-9A-Za-z*,/#?-]+")
_UNITS = {
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
    "ms": timedelta(milliseconds=1),
}


class Kind:
    """One kind of value. ``noun`` and ``range`` are for people; ``expected`` completes "expected ...".

    ``shown`` is the inverse of ``read``: what a program or a person sees, as of JSON.
    """

    noun = "value"
    range = ""
    secret = False

    @property
    def expected(self) -> str:
        """Return what is accepted, in words."""
        return f"{self.noun} {self.range}".strip()

    def read(self, value: object, path: Path, log: Reading) -> Any:
        """Return the value as Reverie uses it, or ``INVALID`` after an error was noted."""
        if isinstance(value, str):
            value = log.substitute(value.strip(), path)
            if value is None:
                return INVALID
        try:
            return self.convert(value)
        except (ValueError, OverflowError, ConfigError):
            log.report(path, f"expected {self.expected}, got {self.described(value)}", error=True)
            return INVALID

    def convert(self, value: object) -> Any:
        """Return the value converted; raises ``ValueError`` for one that is not of this kind."""
        raise NotImplementedError

    def shown(self, value: Any) -> Any:
        """Return the value as of JSON."""
        return value

    def shown_as(self, name: str, value: Any) -> Any:
        """Return the value under a free name as of JSON; only kinds that may hold anything look at the name."""
        return self.shown(value)

    def described(self, value: object) -> str:
        """Return what was found, without revealing a secret."""
        if isinstance(value, Mapping):
            return "an object"
        if isinstance(value, Sequence) and not isinstance(value, str):
            return "a list"
        if isinstance(value, bool):
            return "true" if value else "false"
        if self.secret:
            return "another type"
        if isinstance(value, FromEnv):
            return f"the value of {value.raw}"
        text = str(value)
        text = text if len(text) <= 60 else text[:59] + "…"
        return f'the text "{text}"' if isinstance(value, str) else text


class Switch(Kind):
    """``true`` or ``false``; the texts ``"true"`` and ``"false"`` too, as variables give them."""

    noun = "true or false"

    def convert(self, value: object) -> bool:
        """Return the switch."""
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        raise ValueError


class Number(Kind):
    """A number between two bounds, which belong to it. A text of nothing but a number is accepted."""

    noun = "number"

    def __init__(self, low: float | None = None, high: float | None = None) -> None:
        self.low, self.high = low, high

    @property
    def range(self) -> str:  # type: ignore[override]
        """Return the bounds."""
        if self.low is not None and self.high is not None:
            return f"{self.low} to {self.high}"
        return f"of at least {self.low}" if self.low is not None else ""

    def convert(self, value: object) -> float:
        """Return the number, in its bounds."""
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise ValueError
        if isinstance(value, str) and not _NUMBER.fullmatch(value):
            raise ValueError
        number = float(value)
        if not math.isfinite(number):
            raise ValueError
        if (self.low is not None and number < self.low) or (self.high is not None and number > self.high):
            raise ValueError
        return number


class Whole(Number):
    """A whole number between two bounds."""

    noun = "whole number"

    def convert(self, value: object) -> int:
        """Return the whole number, in its bounds."""
        number = super().convert(value)
        if number != int(number):
            raise ValueError
        return int(number)


class Text(Kind):
    """A text, if need be of one form."""

    noun = "text"

    def __init__(self, pattern: str = "", form: str = "", *, check: Callable[[str], object] | None = None) -> None:
        self.pattern = re.compile(pattern) if pattern else None
        self.range = form
        self.check = check

    def convert(self, value: object) -> str:
        """Return the text."""
        if not isinstance(value, str) or (self.pattern is not None and not self.pattern.fullmatch(value)):
            raise ValueError
        if self.check is not None:
            self.check(value)
        return value


def _check_cron(text: str) -> None:
    fields = text.split()
    if len(fields) != 5 or not all(_CRON_FIELD.fullmatch(each) for each in fields):
        raise ValueError


def _check_relative(text: str) -> None:
    parts = re.split(r"[/\\]", text)
    if text.startswith(("/", "\\", "~")) or ".." in parts or ":" in parts[0] or "\0" in text:
        raise ValueError


def zone() -> Text:
    """Return the kind of an IANA time zone."""
    return Text(form="(an IANA time zone such as Europe/Berlin)", check=checked_zone)


def cron() -> Text:
    """Return the kind of a cron expression of five fields."""
    return Text(form="(a cron expression of five fields)", check=_check_cron)


def relative_folder() -> Text:
    """Return the kind of a relative folder that stays below where it stands."""
    return Text(form="(a relative folder without ..)", check=_check_relative)


class Secret(Text):
    """A text that is never shown; also ``{source: "env", id: "NAME"}``."""

    noun = "secret text"
    secret = True

    def read(self, value: object, path: Path, log: Reading) -> Any:
        """Return the secret; a reference to an environment variable is followed, to other sources it is not."""
        if isinstance(value, Mapping):
            if value.get("source") == "env" and isinstance(value.get("id"), str):
                value = "${" + value["id"] + "}"
            else:
                log.report(path, "a secret can be a text or an environment variable only", hint='use "${NAME}"')
                return INVALID
        return super().read(value, path, log)

    def shown(self, value: Any) -> Any:
        """Return the mask."""
        return MASK if value is not None else None


class Choice(Kind):
    """One of a few words. ``aliases`` are other spellings that are accepted."""

    noun = "one of"

    def __init__(self, *words: str, aliases: Mapping[str, str] = MappingProxyType({})) -> None:
        self.words = words
        self.aliases = aliases
        self.range = ", ".join(words)

    def convert(self, value: object) -> str:
        """Return the word."""
        if isinstance(value, bool):  # `off` and `on` come out of some editors as switches
            value = "on" if value else "off"
        if isinstance(value, str):
            word = self.aliases.get(value.lower(), value.lower())
            if word in self.words:
                return word
        raise ValueError


class Duration(Kind):
    """A span of time such as ``30d`` or ``1h 30m``; a bare number counts ``unit``."""

    noun = "duration"

    def __init__(self, unit: Literal["ms", "s", "m", "h", "d"]) -> None:
        self.unit = unit
        self.range = f'such as "30d", "12h", "5m" (a bare number: {unit})'

    def convert(self, value: object) -> timedelta:
        """Return the span, never negative."""
        if isinstance(value, str) and _DURATION.fullmatch(value.strip()):
            spans = _DURATION_PART.findall(value)
            return sum((float(count) * _UNITS[unit.lower()] for count, unit in spans), timedelta())
        return Number(0).convert(value) * _UNITS[self.unit]

    def shown(self, value: timedelta | None) -> Any:
        """Return the span in its largest whole unit."""
        if value is None:
            return None
        for unit, span in _UNITS.items():
            if value >= span and not value % span:
                return f"{value // span}{unit}"
        return f"{value / timedelta(milliseconds=1):g}ms"


class Size(Kind):
    """A count of bytes such as ``2097152`` or ``"10mb"`` (1 kb = 1,024)."""

    noun = "size"
    range = 'such as 2097152 or "10mb"'

    def convert(self, value: object) -> int:
        """Return the bytes."""
        if isinstance(value, str):
            found = _SIZE.fullmatch(value)
            if found is None:
                raise ValueError
            return int(float(found[1]) * 1024 ** " kmgt".index(found[2].lower() or " "))
        return Whole(0).convert(value)
