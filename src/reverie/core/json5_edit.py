"""Changes to a JSON5 text that keep every comment, the order and the formatting of all the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from reverie.core.errors import ConfigError
from reverie.core.json5_text import Document, Member, Node, parse, plain_key

_INDENT = "  "
#: The comments that share a line with what stands before them.
_TAIL = re.compile("(?:[ \\t]*/\\*(?s:.*?)\\*/)*(?:[ \\t]*//[^\\n\\r\u2028\u2029]*)?")


def set_in(text: str, path: tuple[str, ...], value: Any) -> str:
    """Return ``text`` with ``value`` (as of JSON) at ``path``; objects on the way are made where missing.

    An object is merged into an object that is there: what it does not name is removed, what it names is set, so that
    comments beside unchanged members stay.

    Raises:
        ConfigError: ``text`` is not JSON5, or something on the way is neither an object nor ``null``.
    """
    document = parse(text)
    found = document.member(path)
    node = found.node if found is not None else None
    if node is not None and node.members is not None and isinstance(value, Mapping):
        for key in dict.fromkeys(member.key for member in node.members):
            if key not in value:
                text = unset_in(text, (*path, key))
        for key, inner in value.items():
            text = set_in(text, (*path, key), inner)
        return text
    if node is not None:
        return text[: node.start] + _Style(document, node.start).render(value) + text[node.end :]
    holder, depth = _deepest(document, path)
    for key in reversed(path[depth + 1 :]):
        value = {key: value}
    if holder.members is None:  # a null on the way
        style = _Style(document, holder.start)
        return text[: holder.start] + style.render({path[depth]: value}) + text[holder.end :]
    return _insert(document, holder, path[depth], value)


def unset_in(text: str, path: tuple[str, ...]) -> str:
    """Return ``text`` without the member at ``path``; comments stay. What is not there leaves it as it is."""
    document = parse(text)
    found = document.member(path)
    while found is not None:  # a key that occurs twice goes away whole
        text = _remove(document, path, found)
        document = parse(text)
        found = document.member(path)
    return text


def _deepest(document: Document, path: tuple[str, ...]) -> tuple[Node, int]:
    """Return the last object on the way to ``path``, and how many keys lead to it."""
    node, depth = document.root, 0
    for depth in range(len(path)):
        found = document.member(path[: depth + 1])
        if found is None:
            break
        node = found.node
    if node.members is None and node.value is not None:
        raise ConfigError(
            "There is no object to set this key in", key=".".join(path[:depth]) or None, line=document.line(node.start)
        )
    return node, depth


class _Style:
    """How the text around a place is written, so that what is added looks like it."""

    def __init__(self, document: Document, offset: int) -> None:
        self.text = document.text
        members = list(document.root.members or ())
        nested = [inner for member in members for inner in member.node.members or ()]
        self.quoted = bool(members) and all(member.quoted for member in [*members, *nested])
        self.newline = "\r\n" if "\r\n" in self.text else "\n"
        self.unit = next((pad for pad in map(self.own_indent, (m.start for m in members)) if pad), _INDENT)
        self.indent = self.line_indent(offset)

    def line_indent(self, offset: int) -> str:
        """Return the white space that the line of ``offset`` begins with."""
        start = max(self.text.rfind("\n", 0, offset), self.text.rfind("\r", 0, offset)) + 1
        line = self.text[start:offset]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def own_indent(self, offset: int) -> str:
        """Return the indent of a place that begins its line, else an empty text."""
        pad = self.line_indent(offset)
        before = self.text[: offset - len(pad)]
        return pad if not before or before[-1] in "\r\n" else ""

    def key(self, key: str) -> str:
        return key if plain_key(key) and not self.quoted else _string(key)

    def render(self, value: Any, indent: str | None = None) -> str:
        """Return ``value`` as JSON5: objects over several lines, everything else on one."""
        indent = self.indent if indent is None else indent
        if not isinstance(value, Mapping):
            return self.inline(value)
        if not value:
            return "{}"
        inner = indent + self.unit
        lines = [f"{inner}{self.key(key)}: {self.render(each, inner)}" for key, each in value.items()]
        tail = "" if self.quoted else ","
        return "{" + self.newline + f",{self.newline}".join(lines) + tail + self.newline + indent + "}"

    def inline(self, value: Any) -> str:
        """Return ``value`` as JSON5 on one line."""
        if isinstance(value, str):
            return _string(value)
        if isinstance(value, Mapping):
            return "{" + ", ".join(f"{self.key(key)}: {self.inline(each)}" for key, each in value.items()) + "}"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(map(self.inline, value)) + "]"
        return json.dumps(value)


def _string(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    return quoted.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\x7f", "\\u007f")


def _insert(document: Document, holder: Node, key: str, value: Any) -> str:
    """Add a member at the end of an object, after the comments beside its last member."""
    text = document.text
    if holder.start == holder.end:  # a text of nothing but comments
        style = _Style(document, holder.start)
        gap = style.newline if text and text[-1] not in "\r\n" else ""
        return text + gap + style.render({key: value}, "") + style.newline
    if not holder.members:
        return _insert_first(document, holder, key, value)
    last = holder.members[-1]
    style = _Style(document, last.start)
    before, after = ("", ",") if last.comma >= 0 else (",", "")
    place = last.comma + 1 if last.comma >= 0 else last.node.end
    if not _has_newline(text[holder.start : last.start]) and not _has_newline(text[last.node.end : holder.end]):
        added = f"{before} {style.key(key)}: {style.inline(value)}{after}"
        return text[:place] + added + text[place:]
    indent = style.own_indent(last.start) or style.line_indent(holder.start) + style.unit
    found = _TAIL.match(text, place)
    line_end = found.end() if found is not None else place
    added = f"{style.newline}{indent}{style.key(key)}: {style.render(value, indent)}{after}"
    return text[:place] + before + text[place:line_end] + added + text[line_end:]


def _insert_first(document: Document, holder: Node, key: str, value: Any) -> str:
    """Add a member to an object that has none, after the comments in it."""
    text = document.text
    style = _Style(document, holder.start)
    inside = text[holder.start + 1 : holder.end - 1]
    indent = style.indent + style.unit
    after = "" if style.quoted else ","
    member = f"{style.newline}{indent}{style.key(key)}: {style.render(value, indent)}{after}"
    kept = inside.rstrip(" \t\r\n")
    blank = inside[len(kept) :]
    rest = blank if _has_newline(blank) else style.newline + style.indent
    return text[: holder.start + 1] + kept + member + rest + text[holder.end - 1 :]


def _remove(document: Document, path: tuple[str, ...], member: Member) -> str:
    """Cut out a member and one comma, and its line if nothing else is on it."""
    text = document.text
    parent = document.member(path[:-1]) if len(path) > 1 else None
    members = (parent.node if parent is not None else document.root).members or ()
    index = next(i for i, each in enumerate(members) if each.start == member.start)
    start, end = member.start, member.node.end
    if member.comma >= 0:
        text = text[: member.comma] + text[member.comma + 1 :]
        return _close_gap(text[:start], text[end:], keep_before=True)
    if index:
        # In a file that is strict JSON a comma before the closing bracket would break its other readers.
        comma = members[index - 1].comma
        return _close_gap(text[:comma] + text[comma + 1 : start], text[end:], keep_before=False)
    return _close_gap(text[:start], text[end:], keep_before=True)


def _close_gap(before: str, after: str, *, keep_before: bool) -> str:
    """Join the text on both sides of a cut: no empty line and no doubled blank is left."""
    left, right = before.rstrip(" \t"), after.lstrip(" \t")
    begins, ends = not left or left[-1] in "\r\n", not right or right[0] in "\r\n"
    if begins and ends:
        return left + (right[2:] if right.startswith("\r\n") else right[1:])
    if begins:
        return before + right
    if ends:
        return left + right
    return before + right if keep_before else left + after


def _has_newline(text: str) -> bool:
    return "\n" in text or "\r" in text
