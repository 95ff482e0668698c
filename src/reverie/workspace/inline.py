"""HTML comments inside text, outside of inline code. Linear in the length of the text, whatever it holds."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

_TOKEN = re.compile(r"\\[!-/:-@\[-`{-~]|`+|<!--")
_TICKS = re.compile(r"`+")


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment: its place in the text (``text[start:end]`` is all of it), and what stands between its marks."""

    start: int
    end: int
    body: str


def comments(text: str) -> tuple[list[Comment], list[int]]:
    """Return the comments of a text, and the places of each ``<!--`` that begins none.

    A mark that meets another one before its ``-->`` begins no comment: one forgotten end must not swallow what comes
    after. Inline code is skipped; a code span does not go beyond its line, so that a stray backtick hides no more than
    a line. A backslash before a mark makes it plain text, as in Markdown.
    """
    found: list[Comment] = []
    loose: list[int] = []
    if "<!--" not in text:
        return found, loose
    ticks = _runs(text)
    at = end = 0
    while token := _TOKEN.search(text, at):
        at = token.end()
        if token[0][0] == "`":
            at = _after_code(text, ticks, len(token[0]), at)
        elif token[0] == "<!--":
            # Looked for once per end, not once per mark: the text may hold nothing but marks.
            if 0 <= end < at:
                end = text.find("-->", at)
            if end < 0 or text.find("<!--", at, end) >= 0:
                loose.append(token.start())
            else:
                found.append(Comment(token.start(), end + 3, text[at:end].strip()))
                at = end + 3
    return found, loose


def open_comment(text: str) -> int | None:
    """Return where a comment begins that the text leaves open, ``None`` if there is none."""
    found, loose = comments(text)
    return loose[-1] if loose and (not found or loose[-1] >= found[-1].end) else None


def _runs(text: str) -> dict[int, list[int]]:
    runs: dict[int, list[int]] = {}
    for run in _TICKS.finditer(text):
        runs.setdefault(run.end() - run.start(), []).append(run.start())
    return runs


def _after_code(text: str, runs: dict[int, list[int]], length: int, at: int) -> int:
    """Return where the code span opened before ``at`` ends; ``at`` itself if it is not closed on its line."""
    same = runs.get(length, [])
    place = bisect_left(same, at)
    if place == len(same) or text.find("\n", at, same[place]) >= 0:
        return at
    return same[place] + length
