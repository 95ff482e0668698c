"""The values that the scanner makes of a Markdown text, and the one way to change lines of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class LineKind(StrEnum):
    """What a line is. ``COMMENT`` is a line that holds nothing but (part of) an HTML comment."""

    FRONT_MATTER = "front-matter"
    BLANK = "blank"
    HEADING = "heading"
    UNDERLINE = "underline"
    RULE = "rule"
    ITEM = "item"
    FENCE = "fence"
    CODE = "code"
    COMMENT = "comment"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its 1-based number, its text without and with what it ended (``""`` on an unfinished last line).

    ``level`` and ``title`` are set on headings. ``code`` is set on every line of a fenced block, its fences included,
    also where the opening fence stands behind a list marker.
    """

    number: int
    text: str
    ending: str
    kind: LineKind
    level: int = 0
    title: str = ""
    code: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A managed block; lines are those of its two markers. ``name`` is for instance ``openclaw:dreaming:light``."""

    name: str
    start_line: int
    end_line: int

    @property
    def generated(self) -> bool:
        """Say whether the block holds what dreaming or Reverie itself wrote, which is never learned again (I3)."""
        return self.name.startswith(("openclaw:dreaming", "reverie:"))


@dataclass(frozen=True, slots=True)
class Document:
    """A scanned text. ``blocks`` do not overlap; ``notices`` name what is left open.

    ``generated`` holds the numbers of the lines of generated blocks, their markers included. ``open_fence`` is the
    line that would close a fence left open at the end, or ``""``.
    """

    lines: tuple[Line, ...]
    blocks: tuple[Block, ...] = ()
    bom: bool = False
    notices: tuple[str, ...] = ()
    generated: frozenset[int] = frozenset()
    open_fence: str = ""

    def render(self) -> str:
        """Return the text that was scanned, every character."""
        return ("\ufeff" if self.bom else "") + "".join(line.text + line.ending for line in self.lines)

    def spliced(self, start_line: int, removed: int, lines: Sequence[str], newline: str) -> str:
        """Return the text with ``removed`` lines from ``start_line`` on replaced by ``lines``.

        ``start_line`` may be one past the last line. Every other line keeps its bytes; a new line takes the ending of
        the one whose place it takes, else ``newline``.
        """
        first, after = start_line - 1, start_line - 1 + removed
        head = "".join(line.text + line.ending for line in self.lines[:first])
        if lines and head and not head.endswith("\n"):
            head += newline
        endings = [line.ending for line in self.lines[first:after]][: len(lines)]
        endings += [newline] * (len(lines) - len(endings))
        tail = "".join(line.text + line.ending for line in self.lines[after:])
        # Only the last line of a file may go without an ending.
        endings[:-1] = [ending or newline for ending in endings[:-1]]
        middle = "".join(text + ending for text, ending in zip(lines, endings, strict=True))
        return ("\ufeff" if self.bom else "") + head + middle + tail


def split_lines(text: str) -> list[tuple[str, str]]:
    """Return each line with its ending; joining all of it gives the text back."""
    *pieces, last = text.split("\n")
    found = [(piece[:-1], "\r\n") if piece.endswith("\r") else (piece, "\n") for piece in pieces]
    return [*found, (last, "")] if last else found


def indentation(text: str) -> int:
    """Return the width of the leading white space, a tab going to the next multiple of four."""
    width = 0
    for char in text:
        if char == " ":
            width += 1
        elif char == "\t":
            width += 4 - width % 4
        else:
            break
    return width
