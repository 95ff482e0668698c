"""Text from a caller made safe to stand in a memory file: it can become no annotation, marker, heading or entry (I1).

Comment marks get a backslash, which Markdown shows as the mark itself. Nothing else is lost but control characters.
"""

from __future__ import annotations

import re

from reverie.core.errors import UsageError
from reverie.core.text import collapse
from reverie.workspace.scanner import scan

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_LEADING = re.compile(r"[-+*](?:\s|$)|#{1,6}(?:\s|$)|>|`{3}|~{3}|[-*_\s]+$")
_NUMBER = re.compile(r"(\d{1,9})([.)])(?=\s|$)", re.ASCII)


def entry_text(text: str) -> str:
    """Return the text as the one line of an entry: comment marks defused, a leading list or heading mark escaped.

    Raises:
        UsageError: nothing is left of it.
    """
    line = collapse(_defused(_clean(text)))
    if not line:
        raise UsageError("There is nothing to write")
    if _LEADING.match(line):
        return "\\" + line
    return _NUMBER.sub(r"\1\\\2", line, count=1) if _NUMBER.match(line) else line


def title_text(text: str) -> str:
    """Return the text as the title of a heading, on one line and without marks of its own."""
    line = collapse(_defused(_clean(text))).strip("# ")
    if not line:
        raise UsageError("A heading needs words")
    return line


def note_lines(text: str) -> list[str]:
    """Return the text as the lines of a note: comment marks defused, an open fence closed, blank ends cut off.

    Raises:
        UsageError: nothing is left of it.
    """
    lines = [line.rstrip() for line in _LINE_BREAK.split(_defused(_clean(text)))]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise UsageError("There is nothing to write")
    fence = scan("\n".join(lines)).open_fence
    return [*lines, fence] if fence else lines


def _clean(text: str) -> str:
    return _SURROGATE.sub("\ufffd", _CONTROL.sub(" ", text))


def _defused(text: str) -> str:
    return text.replace("<!--", "<\\!--").replace("-->", "--\\>")
