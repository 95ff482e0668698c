"""How answers leave: text for people, one JSON document for programs.

Text is plain, without colour, and fits the terminal (100 columns where there is none). It is always UTF-8, whatever
the locale says, and free of control characters, since a note can hold text that a stranger wrote.
"""

from __future__ import annotations

import dataclasses
import io
import json
import math
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import date
from enum import Enum
from pathlib import PurePath
from typing import Any

import click

#: Columns where the terminal does not say how many it has.
PLAIN_COLUMNS = 100
#: Lines longer than this are hard to read, however wide the terminal is.
WIDEST = 120

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SNAKE = re.compile(r"_([a-z0-9])")


# --- JSON ------------------------------------------------------------------------------------------------------


def jsonable(value: Any) -> Any:
    """Return ``value`` as what JSON can hold.

    Fields of dataclasses become camelCase keys; the keys of mappings stay as they are. Moments and days are ISO 8601,
    enumerations their values, sets sorted lists; numbers that JSON does not know become null.
    """
    if isinstance(value, Enum):
        return value.value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        named = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {camel(name): jsonable(each) for name, each in named}
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, Mapping):
        return {str(key): jsonable(each) for key, each in value.items()}
    if isinstance(value, Set):
        return sorted((jsonable(each) for each in value), key=str)
    if isinstance(value, Iterable):
        return [jsonable(each) for each in value]
    return _scalar(value)


def _scalar(value: Any) -> Any:
    if isinstance(value, date):  # a datetime is one, too
        return value.isoformat()
    if isinstance(value, PurePath):
        return value.as_posix()
    try:
        number = float(value)  # a number of numpy's, or another that is no Python float
    except (TypeError, ValueError):
        return str(value)
    return number if math.isfinite(number) else None


def camel(name: str) -> str:
    """Return the JSON name of a field: ``start_line`` is ``startLine``."""
    return _SNAKE.sub(lambda match: match[1].upper(), name)


def document(value: Any) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(jsonable(value), ensure_ascii=False, indent=2, allow_nan=False))


def record(value: Any) -> None:
    """Print one JSON document on one line, for answers that come one by one."""
    click.echo(json.dumps(jsonable(value), ensure_ascii=False, allow_nan=False))


# --- text ------------------------------------------------------------------------------------------------------


def say(text: str = "", *, indent: int = 0) -> None:
    """Print text for people: wrapped, indented, without control characters."""
    for line in text.split("\n"):
        for piece in wrap(line, columns() - indent):
            click.echo(" " * indent + piece if piece else "")


def line(text: str, *, indent: int = 0) -> None:
    """Print one line as it is, however long: a place that somebody may want to copy must not be broken."""
    click.echo(" " * indent + printable(" ".join(text.split("\n"))))


def remark(text: str) -> None:
    """Print a line beside the answer, on standard error, so that it never gets into a pipe."""
    click.echo(printable(text), err=True)


def table(rows: Iterable[Sequence[object]], *, head: Sequence[str] = (), indent: int = 0) -> None:
    """Print rows in columns. The last column is wrapped; the others are as wide as their widest cell."""
    cells = [[printable(str(cell)) for cell in row] for row in ([head, *rows] if head else rows)]
    if not cells:
        return
    widths = [max(width(row[at]) for row in cells) for at in range(len(cells[0]) - 1)]
    left = indent + sum(each + 2 for each in widths)
    room = max(24, columns() - left)
    if head:
        longest = min(room, max(width(row[-1]) for row in cells))
        cells.insert(1, ["-" * each for each in [*widths, longest]])
    for row in cells:
        start = " " * indent + "".join(pad(cell, each) + "  " for cell, each in zip(row, widths, strict=False))
        first, *rest = wrap(row[-1], room)
        click.echo((start + first).rstrip())
        for piece in rest:
            click.echo(" " * left + piece)


def columns() -> int:
    """Return how many columns to write into."""
    if not sys.stdout.isatty():
        return PLAIN_COLUMNS
    return max(40, min(WIDEST, shutil.get_terminal_size((PLAIN_COLUMNS, 24)).columns))


def printable(text: str) -> str:
    """Return the text with control characters made visible; they could redraw a reader's terminal."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


def width(text: str) -> int:
    """Return how many columns the text takes: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(_cell(character) for character in text)


def _cell(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def pad(text: str, to: int) -> str:
    """Return the text with spaces up to a width in columns."""
    return text + " " * max(0, to - width(text))


def shorten(text: str, limit: int) -> str:
    """Return the text on one line of at most ``limit`` columns; what was cut shows as an ellipsis."""
    text = " ".join(printable(text).split())
    if width(text) <= limit:
        return text
    taken = 0
    for at, character in enumerate(text):
        taken += _cell(character)
        if taken > limit - 1:
            return text[:at].rstrip() + "…"
    return text


def wrap(text: str, limit: int) -> list[str]:
    """Return the text as lines of at most ``limit`` columns, broken at spaces and beside wide characters."""
    lines: list[str] = []
    line = ""
    for piece in _pieces(printable(text.rstrip()).expandtabs(4), max(2, limit)):
        if line and width(line) + width(piece.rstrip()) > limit:
            lines.append(line.rstrip())
            line = piece.lstrip()
        else:
            line += piece
    return [*lines, line.rstrip()]


def _pieces(text: str, limit: int) -> Iterator[str]:
    """Yield what a line must not be broken in: words with the spaces after them, and single wide characters."""
    piece, spaced = "", False
    for character in text:
        wide = not character.isascii() and _cell(character) == 2
        full = not character.isspace() and width(piece) + _cell(character) > limit
        if piece and (wide or full or (spaced and not character.isspace())):
            yield piece
            piece = ""
        piece += character
        spaced = character.isspace() or wide
    if piece:
        yield piece


# --- the streams -----------------------------------------------------------------------------------------------


def use_utf8() -> None:
    """Make both streams UTF-8, so that the answer does not depend on the locale (list A, ENC-05).

    What cannot be written, such as half of a surrogate pair, becomes an escape, which JSON reads back.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
