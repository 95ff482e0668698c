"""What a system must offer to be measured, and the word for one that can't be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from bench.measuring.processes import Command

LIMIT = 6


class PeerMissing(Exception):
    """A peer is not installed, or does not start; the message says why and how to change that."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a system works: the notes it shares with the others, and a home that is all its own."""

    notes: Path
    home: Path
    model: Path


class Contender(Protocol):
    """A system with a command line, given the same notes and the same embedder as the others."""

    @property
    def name(self) -> str:
        """Return the name that the tables use."""
        ...

    @property
    def versions(self) -> dict[str, str]:
        """Return the versions of it and of what it runs on."""
        ...

    def index(self) -> Command:
        """Return the command that brings its index up to the notes."""
        ...

    def search(self, query: str) -> Command:
        """Return the command that prints the `LIMIT` best results as JSON."""
        ...

    def found(self, output: str) -> list[str]:
        """Return the paths of the results that a search printed, best first, relative to the notes."""
        ...

    def warm(self, queries: Sequence[str]) -> Command | None:
        """Return the command that opens the index once, answers each query, and prints the milliseconds as a list.

        ``None`` if the system has nothing of the kind.
        """
        ...

    def chunks(self) -> int:
        """Return how many chunks its index holds."""
        ...
