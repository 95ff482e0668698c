"""Who stands where in the results: trusted text first."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reverie.core.clock import CountingIds, FixedClock
from reverie.core.types import SourceClass
from reverie.memory import Memory

WORDS = ["kiln", "glaze", "clay", "wheel", "shelf", "bucket", "apron", "cone", "stool", "lamp"]


@contextmanager
def opened_in(folder: Path) -> Iterator[Memory]:
    Memory.create(state_dir=folder / "state", workspace=folder / "workspace")
    (folder / "state" / "reverie.json5").write_text("{memory: {search: {provider: 'none'}}}", encoding="utf-8")
    with Memory.open(
        state_dir=folder / "state",
        workspace=folder / "workspace",
        clock=FixedClock(datetime(2026, 6, 1, 9, tzinfo=UTC)),
        ids=CountingIds(),
    ) as opened:
        yield opened


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Return a memory of plain notes that searches by words."""
    with opened_in(tmp_path) as opened:
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


FOREIGN = st.lists(
    st.lists(st.sampled_from([*WORDS, "the", "second", "fires", "degrees", "where", "stands", "?"]), min_size=1)
    .map(" ".join)
    .map(lambda text: f"- {text}"),
    min_size=1,
    max_size=40,
)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(foreign=FOREIGN, question=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join))
def test_i2_nothing_that_is_sent_in_changes_the_score_or_the_order_of_the_owners_lines(
    foreign: list[str], question: str
) -> None:
    with tempfile.TemporaryDirectory() as folder, opened_in(Path(folder)) as memory:
        for one, two in itertools.pairwise(WORDS):
            memory.note(f"The {one} stands beside the {two}, and the {one} is new.")
        before = [(hit.start_line, hit.score) for hit in memory.search(question, max_results=20)]
        assert before
        imported(memory, Path(folder), "page", "\n".join(foreign) + "\n")
        after = memory.search(question, max_results=20)
    own = [hit for hit in after if hit.provenance.origin is not SourceClass.UNTRUSTED]
    assert [(hit.start_line, hit.score) for hit in own] == before[: len(own)]
    assert len(own) >= min(len(before), 16)
