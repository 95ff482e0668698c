"""Managed blocks: the lines between ``<!-- name:start -->`` and ``<!-- name:end -->`` that a program rewrites."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie.workspace.document import Block, Document, Line, LineKind

_BLOCK = re.compile(r" {0,3}<!--[ \t]*((?:openclaw|reverie):[\w:-]{1,200}):(start|end)[ \t]*-->[ \t]*")


def find_blocks(lines: Sequence[Line]) -> tuple[tuple[Block, ...], list[tuple[int, str]]]:
    """Return the closed blocks, and for each start without an end its line and a notice. Blocks do not nest."""
    blocks: list[Block] = []
    opened: Line | None = None
    name = ""
    left_open: list[tuple[int, str]] = []
    for line in lines:
        if line.kind is not LineKind.COMMENT:
            continue
        found = _BLOCK.fullmatch(line.text)
        if found is None:
            continue
        if found[2] == "start":
            if opened is not None:
                left_open.append((opened.number, f"line {opened.number}: the block {name} has no end"))
            opened, name = line, found[1]
        elif opened is not None and found[1] == name:
            blocks.append(Block(name, opened.number, line.number))
            opened = None
    if opened is not None:
        left_open.append((opened.number, f"line {opened.number}: the block {name} has no end"))
    return tuple(blocks), left_open


def is_block_marker(text: str) -> bool:
    """Say whether a line is the start or end marker of a managed block."""
    return _BLOCK.fullmatch(text) is not None


def with_block(document: Document, name: str, body: Sequence[str], newline: str) -> str:
    """Return the text with the managed block ``name`` holding ``body``; it is added at the end if it is not there.

    A line of ``body`` that looks like a block marker is defused, so that the block cannot be closed from inside.
    """
    safe = [line.replace("<!--", "<\\!--") if is_block_marker(line) else line for line in body]
    for block in document.blocks:
        if block.name == name:
            return document.spliced(block.start_line + 1, block.end_line - block.start_line - 1, safe, newline)
    added = [document.open_fence] if document.open_fence else []
    if document.lines and (added or document.lines[-1].kind is not LineKind.BLANK):
        added.append("")
    added += [f"<!-- {name}:start -->", *safe, f"<!-- {name}:end -->"]
    return document.spliced(len(document.lines) + 1, 0, added, newline)
