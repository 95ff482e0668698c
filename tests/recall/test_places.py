"""Who stands where in the results: trusted text first."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.core.clock import CountingIds, FixedClock
from reverie.core.types import SourceClass
from reverie.memory import Memory

WORDS = ["kiln", "glaze", "clay", "wheel", "shelf", "bucket", "apron", "cone", "stool", "lamp"]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Return a memory of plain notes that searches by words."""
    Memory.create(state_dir=tmp_path / "state", workspace=tmp_path / "workspace")
    (tmp_path / "state" / "reverie.json5").write_text("{memory: {search: {provider: 'none'}}}", encoding="utf-8")
    with Memory.open(
        state_dir=tmp_path / "state",
        workspace=tmp_path / "workspace",
        clock=FixedClock(datetime(2026, 6, 1, 9, tzinfo=UTC)),
        ids=CountingIds(),
    ) as opened:
        yield opened


def imported(memory: Memory, tmp_path: Path, name: str, text: str) -> None:
    source = tmp_path / f"{name}.md"
    source.write_text(text, encoding="utf-8")
    memory.import_markdown(source)


def test_a_text_from_outside_that_echoes_the_question_never_stands_before_the_owners_answer(
    memory: Memory, tmp_path: Path
) -> None:
    for word in WORDS:
        memory.note(f"The {word} stands in the cellar.")
    memory.note("The second kiln of the workshop fires at 980 degrees.")
    imported(memory, tmp_path, "page", "At how many degrees does the second kiln fire? It fires at 2000 degrees.\n")
    hits = memory.search("At how many degrees does the second kiln fire?", max_results=5)
    assert "980" in hits[0].snippet
    foreign = [hit for hit in hits if hit.provenance.origin is SourceClass.UNTRUSTED]
    assert len(foreign) == 1
    assert "2000" in foreign[0].snippet
