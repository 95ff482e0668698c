"""A workspace with its store and writer, on real files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.core.clock import CountingIds, FixedClock
from reverie.store.durable import DurableStore
from reverie.workspace.notes import Workspace
from reverie.writing.judging import LineJudge
from reverie.writing.recording import lines_of
from reverie.writing.writer import RecordedWriter

NOW = datetime(2031, 5, 6, 9, 30, tzinfo=UTC)


@dataclass
class House:
    root: Path
    clock: FixedClock
    store: DurableStore
    writer: RecordedWriter

    def text(self, path: str) -> str:
        return (self.root / path).read_bytes().decode("utf-8")

    def put(self, path: str, text: str) -> None:
        """Edit a file as a person would, past the writer."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(text.encode("utf-8"))

    def classes(self, path: str) -> dict[str, str]:
        """Return the class of each line with content."""
        lines = lines_of(self.text(path))
        judged = LineJudge(self.store).judge(path, lines).lines
        return {line: str(found.origin) for line, found in zip(lines, judged, strict=True) if line}


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Callable[..., House]]:
    """Return a function that opens the same house again, as a process does that starts anew."""
    opened: list[DurableStore] = []

    def make(budgets: dict[str, int] | None = None) -> House:
        root = tmp_path / "workspace"
        root.mkdir(exist_ok=True)
        clock = FixedClock(NOW, "Europe/Berlin")
        store = DurableStore.open(tmp_path / "state", clock, CountingIds(f"r{len(opened)}"))
        opened.append(store)
        workspace = Workspace(root, lock_dir=tmp_path / "locks")
        return House(root, clock, store, RecordedWriter(workspace, store, clock, budgets=budgets))

    yield make
    for store in opened:
        store.close()


@pytest.fixture
def house(build: Callable[..., House]) -> House:
    return build()
