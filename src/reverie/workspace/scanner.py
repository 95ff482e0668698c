r"""A fence-aware line scanner for Markdown: what each line is, without ever changing one.

What a line is: text ends at ``\n`` or ``\r\n`` and nowhere else. A lone ``\r``, U+2028, form feeds and the like
stay inside their line. So the numbers are those of ``sed -n`` and of an editor, and joining the lines gives
the text back.

Where real notes are broken the scanner keeps the damage small and loses nothing:

* a comment that meets another ``<!--`` before its ``-->``, or no ``-->`` at all, is no comment but text;
* a fence opened inside a list item ends with the item; elsewhere an unclosed one runs to the end, as Markdown says;
* a managed block without its end marker is no block;
* a first ``---`` opens front matter only if what follows looks like ``name: value`` lines and is closed;
* ``---`` under a paragraph of one line makes it a heading, under a longer one it is a rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from reverie.workspace.blocks import find_blocks
from reverie.workspace.document import Document, Line, LineKind, indentation, split_lines
from reverie.workspace.inline import comments, open_comment

_ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])(?:([ \t]+)|$)")
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_YAML_KEY = re.compile(r"""["']?[\w.-][\w .-]{0,200}["']?[ \t]*:(?:[ \t]|$)""")


def scan(text: str) -> Document:
    """Return what each line of a Markdown text is. Every text has an answer; ``render()`` is the text."""
    bom = text.startswith("\ufeff")
    scanner = _Scanner(split_lines(text[1:] if bom else text))
    scanner.run()
    blocks, open_blocks = find_blocks(scanner.lines)
    generated = {
        number for block in blocks if block.generated for number in range(block.start_line, block.end_line + 1)
    }
    notices = tuple(notice for _, notice in sorted(scanner.notices + open_blocks))
    return Document(tuple(scanner.lines), blocks, bom, notices, frozenset(generated), scanner.open_fence())


@dataclass(frozen=True, slots=True)
class _Fence:
    """An open fence; ``inside`` is the indentation of the list item that holds it, 0 outside lists."""

    marker: str
    length: int
    inside: int
    number: int

    def closed_by(self, text: str) -> bool:
        bare = text.strip(" \t")
        return len(bare) >= self.length and not bare.strip(self.marker) and indentation(text) <= self.inside + 3

    def left_by(self, text: str) -> bool:
        return self.inside > 0 and text.strip() != "" and indentation(text) < self.inside


#: What a heading, an underline, a rule, an item or a fence begins with; most lines of a note begin otherwise.
_STARTS = frozenset("#=-*_+`~0123456789")


class _Scanner:
    def __init__(self, pieces: list[tuple[str, str]]) -> None:
        self.pieces = pieces
        self.lines: list[Line] = []
        self.notices: list[tuple[int, str]] = []
        self.fence: _Fence | None = None
        self.inside = 0
        self.comment_end = -1

    def run(self) -> None:
        for index in range(_front_matter(self.pieces)):
            self.add(index, LineKind.FRONT_MATTER)
        for index in range(len(self.lines), len(self.pieces)):
            self.step(index, self.pieces[index][0])
        if self.fence is not None:
            self.notices.append((self.fence.number, f"line {self.fence.number}: the code fence is not closed"))

    def open_fence(self) -> str:
        # A fence inside a list item ends by itself where the item ends.
        return self.fence.marker * self.fence.length if self.fence is not None and not self.fence.inside else ""

    def add(self, index: int, kind: LineKind, *, level: int = 0, title: str = "", code: bool = False) -> None:
        text, ending = self.pieces[index]
        self.lines.append(Line(index + 1, text, ending, kind, level, title, code))

    def step(self, index: int, text: str) -> None:
        if self.fence is not None:
            if self.fence.closed_by(text):
                self.fence = None
                self.add(index, LineKind.FENCE, code=True)
                return
            if not self.fence.left_by(text):
                self.add(index, LineKind.CODE, code=True)
                return
            self.fence = None
        if index <= self.comment_end:
            rest = text.partition("-->")[2] if index == self.comment_end else ""
            self.add(index, LineKind.TEXT if rest.strip() else LineKind.COMMENT)
        elif not text.strip():
            self.add(index, LineKind.BLANK)
        else:
            self.block_line(index, text)

    def block_line(self, index: int, text: str) -> None:
        indent = indentation(text)
        if indent < self.inside:
            self.inside = 0
        if text.lstrip(" \t")[0] not in _STARTS:
            alone = self.opens_comment(index, text)
            self.add(index, LineKind.COMMENT if alone else LineKind.TEXT)
            return
        level, title = _heading(text)
        if level and indent <= 3:
            self.add(index, LineKind.HEADING, level=level, title=title)
        elif indent <= 3 and self.underlines(text):
            previous = self.lines.pop()
            level = 1 if text.strip()[0] == "=" else 2
            self.lines.append(replace(previous, kind=LineKind.HEADING, level=level, title=previous.text.strip()))
            self.add(index, LineKind.UNDERLINE)
        elif indent <= self.inside + 3 and _is_rule(text):
            self.add(index, LineKind.RULE)
        elif item := _ITEM.match(text):
            spaces = item[2] or " "
            # Five blanks and more behind a marker are code inside the item, which then begins after one.
            content = item.end() if len(spaces) <= 4 else item.end() - len(spaces) + 1
            self.inside = len(text[:content].expandtabs(4))
            opened = self.opens_fence(index, text[item.end() :], 0)
            self.add(index, LineKind.ITEM, code=opened)
            if not opened:
                self.opens_comment(index, text)
        elif self.opens_fence(index, text, indent):
            self.add(index, LineKind.FENCE, code=True)
        else:
            alone = self.opens_comment(index, text)
            self.add(index, LineKind.COMMENT if alone else LineKind.TEXT)

    def underlines(self, text: str) -> bool:
        bare = text.strip()
        if len(bare) < 2 or (bare.strip("=") and bare.strip("-")) or not self.lines:
            return False
        before = self.lines[-2].kind if len(self.lines) > 1 else LineKind.BLANK
        title = self.lines[-1]
        return (
            title.kind is LineKind.TEXT
            and before not in (LineKind.TEXT, LineKind.ITEM)
            and indentation(title.text) <= 3
            and self.inside == 0
        )

    def opens_fence(self, index: int, text: str, indent: int) -> bool:
        found = _FENCE.match(text)
        if found is None or indent > self.inside + 3:
            return False
        marker = found[1]
        if marker[0] == "`" and "`" in text[found.end() :]:
            return False
        self.fence = _Fence(marker[0], len(marker), self.inside, index + 1)
        return True

    def opens_comment(self, index: int, text: str) -> bool:
        """Note a comment that goes on below; say whether the line holds nothing but comments."""
        if "<!--" not in text:
            return False
        rest, at = "", 0
        for comment in comments(text)[0]:
            rest += text[at : comment.start].strip()
            at = comment.end
        opening = open_comment(text)
        if opening is None:
            return not rest and not text[at:].strip()
        end = self.find_comment_end(index)
        if end is None:
            self.notices.append((index + 1, f"line {index + 1}: the comment is not closed"))
            return False
        self.comment_end = end
        return not rest and not text[at:opening].strip()

    def find_comment_end(self, index: int) -> int | None:
        for later in range(index + 1, len(self.pieces)):
            text = self.pieces[later][0]
            end, again = text.find("-->"), text.find("<!--")
            if end >= 0 and (again < 0 or end < again):
                return later
            if again >= 0:
                return None
        return None


def _heading(text: str) -> tuple[int, str]:
    bare = text.strip(" \t")
    level = len(bare) - len(bare.lstrip("#"))
    if not 1 <= level <= 6 or (len(bare) > level and bare[level] not in " \t"):
        return 0, ""
    title = bare[level:].strip()
    closed = title.rstrip("#")
    return level, closed.rstrip() if not closed or closed[-1] in " \t" else title


def _is_rule(text: str) -> bool:
    if text.lstrip(" \t")[0] not in "-*_":
        return False
    bare = text.replace(" ", "").replace("\t", "")
    return len(bare) >= 3 and not bare.strip(bare[0])


def _front_matter(pieces: list[tuple[str, str]]) -> int:
    """Return how many lines the front matter has, its two markers included; 0 if there is none."""
    if not pieces or pieces[0][0].rstrip() != "---":
        return 0
    keys = 0
    for index, (text, _) in enumerate(pieces[1:], 1):
        if text.rstrip() in ("---", "..."):
            return index + 1 if keys else 0
        if not text.strip() or text[0] in " \t#":
            continue
        if _YAML_KEY.match(text):
            keys += 1
        elif not (keys and text.startswith(("- ", "]", "}"))):
            return 0
    return 0
