"""A JSON5 text as a tree that knows where each value stands, so that it can be changed without touching the rest.

The configuration is read and edited through this one grammar: a reader and an editor that disagree about a text
would damage it. ``parse`` accepts JSON5 (https://spec.json5.org); numbers and strings become Python's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, NoReturn

from reverie.core.errors import ConfigError

MAX_DEPTH = 64

_SPACE = "\\t\\n\\v\\f\\r \u00a0\ufeff\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
_TRIVIA = re.compile(f"(?:[{_SPACE}]+|//[^\\n\\r\u2028\u2029]*|/\\*(?s:.*?)\\*/)*")
_NUMBER = re.compile(
    r"[+-]?(?:Infinity|NaN|0[xX][0-9a-fA-F]+|(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
)
_NAME = re.compile(r"(?:[$\w\u200c\u200d]|\\u[0-9a-fA-F]{4})+")
_PLAIN_NAME = re.compile(r"[$A-Za-z_][$\w]*", re.ASCII)
_STRING = {quote: re.compile(f"(?:[^{quote}\\\\\\n\\r]|\\\\(?:\\r\\n|(?s:.)))*{quote}") for quote in "\"'"}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(0)(?![0-9])|(\r\n|[\n\r\u2028\u2029])|([^0-9xu]))")
_SIMPLE = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_WORDS = {"true": True, "false": False, "null": None}
_NEWLINE = re.compile("\r\n|[\n\r]")


@dataclass(frozen=True, slots=True)
class Node:
    """One value: its span in the text and its Python value; an object also has its members, in order."""

    start: int
    end: int
    value: Any
    members: tuple[Member, ...] | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """One ``key: value`` of an object; ``comma`` is the place of the comma that follows, or ``-1``."""

    key: str
    start: int
    node: Node
    quoted: bool
    comma: int = -1


@dataclass(slots=True)
class Document:
    """A parsed text. ``duplicates`` are keys that occur twice in one object: the last one counts."""

    text: str
    root: Node
    duplicates: list[tuple[str, int]] = field(default_factory=list)

    def line(self, offset: int) -> int:
        """Return the 1-based line of an offset."""
        return len(_NEWLINE.findall(self.text, 0, offset)) + 1

    def member(self, path: tuple[str, ...]) -> Member | None:
        """Return the member at a path of object keys, or ``None``."""
        node, found = self.root, None
        for key in path:
            found = next((each for each in reversed(node.members or ()) if each.key == key), None)
            if found is None:
                return None
            node = found.node
        return found

    def line_of(self, path: tuple[str, ...]) -> int | None:
        """Return the line of the deepest member on the way to ``path`` that is there, ``None`` if none is."""
        for length in range(len(path), 0, -1):
            found = self.member(path[:length])
            if found is not None:
                return self.line(found.start)
        return None


def parse(text: str) -> Document:
    """Read a JSON5 text. One that holds nothing but comments is an empty object at its end.

    Raises:
        ConfigError: with ``line`` and ``column`` of the first place that is not JSON5.
    """
    reader = _Reader(text)
    at = reader.skip(0)
    if at == len(text):
        return Document(text, Node(at, at, {}, ()))
    root = reader.value(at, 0)
    if reader.skip(root.end) != len(text):
        reader.fail(reader.skip(root.end), "something follows the end of the value")
    return Document(text, root, reader.duplicates)


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.duplicates: list[tuple[str, int]] = []

    def fail(self, at: int, reason: str) -> NoReturn:
        before = _NEWLINE.split(self.text[:at])
        raise ConfigError("This is not JSON5", line=len(before), column=len(before[-1]) + 1, reason=reason)

    def skip(self, at: int) -> int:
        found = _TRIVIA.match(self.text, at)
        at = found.end() if found else at
        if self.text.startswith("/*", at):
            self.fail(at, "this comment is not closed")
        return at

    def value(self, at: int, depth: int) -> Node:
        if depth > MAX_DEPTH:
            self.fail(at, "nested too deeply")
        char = self.text[at : at + 1]
        if char == "{":
            return self.object(at, depth)
        if char == "[":
            return self.array(at, depth)
        if char and char in _STRING:
            value, end = self.string(at)
            return Node(at, end, value)
        return self.word(at)

    def object(self, start: int, depth: int) -> Node:
        members: list[Member] = []
        values: dict[str, Any] = {}
        at = self.skip(start + 1)
        while not self.text.startswith("}", at):
            begin = at
            quoted = self.text[at : at + 1] in _STRING
            key, at = self.string(at) if quoted else self.name(at)
            at = self.skip(at)
            if not self.text.startswith(":", at):
                self.fail(at, f"a colon is missing after the key {key[:40]}")
            node = self.value(self.skip(at + 1), depth + 1)
            at, comma = self.after(node.end, "}", start)
            if key in values:
                self.duplicates.append((key, begin))
            values[key] = node.value
            members.append(Member(key, begin, node, quoted, comma))
        return Node(start, at + 1, values, tuple(members))

    def array(self, start: int, depth: int) -> Node:
        values: list[Any] = []
        at = self.skip(start + 1)
        while not self.text.startswith("]", at):
            node = self.value(at, depth + 1)
            values.append(node.value)
            at, _ = self.after(node.end, "]", start)
        return Node(start, at + 1, values)

    def after(self, at: int, close: str, start: int) -> tuple[int, int]:
        """Return where the next item or the closing bracket stands, and the comma between (or ``-1``)."""
        at = self.skip(at)
        if self.text.startswith(",", at):
            return self.skip(at + 1), at
        if not self.text.startswith(close, at):
            if at >= len(self.text):
                self.fail(start, f"this bracket is not closed with {close}")
            self.fail(at, f"a comma or {close} is missing")
        return at, -1

    def string(self, start: int) -> tuple[str, int]:
        found = _STRING[self.text[start]].match(self.text, start + 1)
        if found is None:
            self.fail(start, "this text is not closed with a quotation mark on its line")
        body = found.group()[:-1]
        if "\\" in body:
            body = self.unescape(body, start + 1)
        return body, found.end()

    def unescape(self, body: str, start: int) -> str:
        pieces: list[str] = []
        at = 0
        while (slash := body.find("\\", at)) >= 0:
            found = _ESCAPE.match(body, slash)
            if found is None:
                self.fail(start + slash, "this backslash sequence is not known")
            unicode, byte, null, newline, other = found.groups()
            pieces.append(body[at:slash])
            if unicode or byte:
                pieces.append(chr(int(unicode or byte, 16)))
            elif null:
                pieces.append("\0")
            elif not newline:
                pieces.append(_SIMPLE.get(other, other))
            at = found.end()
        text = "".join([*pieces, body[at:]])
        try:  # joins the two halves of a character that was written as two \u escapes
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError:
            self.fail(start, "half a character is escaped here")

    def name(self, start: int) -> tuple[str, int]:
        found = _NAME.match(self.text, start)
        if found is None or found.group()[0].isdecimal():
            reason = "a key is missing" if found is None else "a key that begins with a digit needs quotation marks"
            self.fail(
                start, "this bracket or comma is not expected" if self.text[start : start + 1] in (",", "]") else reason
            )
        name = found.group()
        return (self.unescape(name, start) if "\\" in name else name), found.end()

    def word(self, start: int) -> Node:
        number = _NUMBER.match(self.text, start)
        name = _NAME.match(self.text, start)
        if number is not None and not _NAME.match(self.text, number.end()):
            return Node(start, number.end(), self.number(number.group(), start))
        if name is not None and name.group() in _WORDS:
            return Node(start, name.end(), _WORDS[name.group()])
        if name is not None:
            return self.fail(start, f"the text {name.group()[:40]} needs quotation marks")
        return self.fail(start, "a value is missing")

    def number(self, text: str, start: int) -> int | float:
        if len(text) > 400:
            self.fail(start, "this number is too long")
        digits = text.lstrip("+-")
        if digits[:2] in ("0x", "0X"):
            return -int(digits, 16) if text[0] == "-" else int(digits, 16)
        return int(text) if digits.isdecimal() else float(text)


def plain_key(key: str) -> bool:
    """Say whether a key may be written without quotation marks."""
    return _PLAIN_NAME.fullmatch(key) is not None
