"""The door to Markdown by line: scan a text, find its entries, change them without touching anything else."""

from __future__ import annotations

from reverie.workspace.annotations import (
    Status,
    format_annotations,
    format_metadata,
    parse_annotations,
    strip_annotations,
    strip_line,
)
from reverie.workspace.blocks import with_block
from reverie.workspace.document import Block, Document, Line, LineKind, split_lines
from reverie.workspace.entries import Directive, Entry, directives, entries, with_annotations
from reverie.workspace.scanner import scan

__all__ = [
    "Block",
    "Directive",
    "Document",
    "Entry",
    "Line",
    "LineKind",
    "Status",
    "directives",
    "entries",
    "format_annotations",
    "format_metadata",
    "parse_annotations",
    "scan",
    "split_lines",
    "strip_annotations",
    "strip_line",
    "with_annotations",
    "with_block",
]
