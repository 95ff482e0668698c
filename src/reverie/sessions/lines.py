"""The lines of a JSONL file, read one by one from either end, whatever state the file is in."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reverie.workspace.reading import opened

#: A longer line is passed over unread: one line must not fill the memory.
MAX_LINE_BYTES = 64 * 1024 * 1024
_BLOCK = 64 * 1024
_BOM = b"\xef\xbb\xbf"


def _finite(digits: str) -> float | None:
    """Return a number; nothing for one that JSON cannot hold, so that what was read can be written again."""
    number = float(digits)
    return number if math.isfinite(number) else None


_DECODER = json.JSONDecoder(parse_float=_finite, parse_constant=lambda _: None)


@dataclass(frozen=True, slots=True)
class JsonLine:
    """One line that is not blank. ``number`` is 1-based, ``offset`` and ``end`` are bytes.

    ``data`` is ``None`` for a line that is no JSON object; ``lossy`` says that bytes which are no UTF-8 were replaced;
    ``ended`` is false for a last line without its line feed, which may still be in the writing.
    """

    number: int
    offset: int
    end: int
    data: dict[str, Any] | None
    lossy: bool = False
    ended: bool = True


def read_lines(path: Path, *, start: int = 0) -> Generator[JsonLine, None, None]:
    """Yield the lines from a byte offset on, at which a line must begin. Only one line is held at a time.

    Numbers count from 1 at ``start``. Raises ``OSError`` when the file cannot be opened or read.
    """
    with opened(path) as (file, _):
        file.seek(start)
        offset, number = start, 0
        while raw := file.readline(MAX_LINE_BYTES):
            number += 1
            end, ended, whole = offset + len(raw), raw.endswith(b"\n"), True
            while not ended and (more := file.readline(MAX_LINE_BYTES)):
                whole, end, ended = False, end + len(more), more.endswith(b"\n")
            if raw.strip():
                data, lossy = parsed(raw.removeprefix(_BOM) if offset == 0 else raw) if whole else (None, False)
                yield JsonLine(number, offset, end, data, lossy, ended)
            offset = end


def last_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a file from its last line backwards, passing over what is none.

    Raises ``OSError`` when the file cannot be opened or read.
    """
    with opened(path) as (file, _):
        position = file.seek(0, os.SEEK_END)
        pieces: list[bytes] = []  # of the line whose beginning has not been reached, the last piece first
        while position > 0:
            size = min(_BLOCK, position)
            position -= size
            file.seek(position)
            head, *lines = file.read(size).split(b"\n")
            if lines:
                pieces.append(lines.pop())
                yield from _objects([b"".join(reversed(pieces)), *reversed(lines)])
                pieces = []
            pieces.append(head)
        yield from _objects([b"".join(reversed(pieces)).removeprefix(_BOM)])


def _objects(lines: list[bytes]) -> Iterator[dict[str, Any]]:
    for raw in lines:
        data = parsed(raw)[0] if raw.strip() else None
        if data is not None:
            yield data


def parsed(raw: bytes) -> tuple[dict[str, Any] | None, bool]:
    """Return the JSON object of a line and whether bytes had to be replaced; ``None`` if it is none."""
    try:
        text, lossy = raw.decode("utf-8"), False
    except UnicodeDecodeError:
        text, lossy = raw.decode("utf-8", "replace"), True
    try:
        data = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None, False
    return (data, lossy) if isinstance(data, dict) else (None, False)


def to_line(data: dict[str, Any]) -> bytes:
    """Return an object as one line with its line feed.

    Lone surrogates become JSON escapes, so that the file is UTF-8 and reads back the same. Raises ``ValueError`` or
    ``TypeError`` for what JSON cannot hold.
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace") + b"\n"
