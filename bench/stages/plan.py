"""What a run of the speed benchmark is to measure, and what a part of it gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench import corpus
from bench.measuring.tables import Table
from bench.peers.contender import Contender, Place

#: A note of the small corpora is one chunk to every system; those of the large ones hold as many as a day's notes do.
SECTIONS_OF_LARGE = 10


@dataclass(frozen=True, slots=True)
class Plan:
    """Sizes and places.

    ``rounds`` is how often each whole process is started, ``queries`` how many searches a warm one answers.
    """

    folder: Path
    model: Path
    chunks: int = 10_000
    large: int = 100_000
    rounds: int = 15
    queries: int = 200

    def notes(self, chunks: int, *, sections_per_note: int = 1) -> Path:
        """Return the folder of a corpus, written now if it is not there."""
        folder = self.folder / f"notes-{chunks}-{sections_per_note}"
        corpus.write(folder, chunks, sections_per_note=sections_per_note)
        return folder

    def place(self, notes: Path, name: str) -> Place:
        """Return where a system works on these notes."""
        return Place(notes.resolve(), (self.folder / f"{notes.name}-{name}").resolve(), self.model.resolve())


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was measured, and which systems could not be, with the reason."""

    tables: Sequence[Table]
    missing: Mapping[str, str] = field(default_factory=dict)
    raw: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Field:
    """The systems that are still in the race, and the reasons of those that left it."""

    present: list[Contender] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)

    def leave(self, contender: Contender, reason: str) -> None:
        """Take a system out, and keep why."""
        self.present.remove(contender)
        self.missing[contender.name] = reason

    @property
    def versions(self) -> dict[str, str]:
        """Return the versions of everything that takes part."""
        return {name: version for contender in self.present for name, version in contender.versions.items()}
