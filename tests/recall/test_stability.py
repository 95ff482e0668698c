"""What stays as it is: a hit when unrelated notes come in, an answer when it is asked for again or the index rebuilt."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from reverie import Memory
from reverie.core.types import SearchRequest

ABOUT = st.sampled_from(["kiln", "ferry", "lamp", "harbour", "报销", "流程", "渡船", "호수", "Brennofen", "horno"])
OTHER = st.sampled_from(["tax", "parliament", "violin", "股票", "市场", "選挙", "의회", "Geige", "impuesto", "violon"])
LINES = st.lists(ABOUT, min_size=2, max_size=6).map(" ".join)
NOISE = st.lists(OTHER, min_size=2, max_size=6).map(" ".join)


def write(folder: Path, name: str, lines: list[str]) -> None:
    text = "".join(f"- {line}\n" for line in lines)
    (folder / "notes" / "memory" / f"{name}.md").write_text(text, encoding="utf-8")


def found(folder: Path, query: str) -> list[tuple[str, int, float]]:
    with Memory.open(state_dir=folder / "state", workspace=folder / "notes") as memory:
        memory.index()
        result = memory.recall(SearchRequest(query, 10, 0.0))
        return [(hit.path, hit.trace.line, hit.text_score) for hit in result.hits]


def made(folder: Path) -> Path:
    Memory.create(state_dir=folder / "state", workspace=folder / "notes")
    (folder / "state" / "reverie.json5").write_text('{memory: {search: {provider: "none"}}}', encoding="utf-8")
    return folder


@settings(max_examples=25, deadline=None)
@given(st.lists(LINES, min_size=1, max_size=6), st.lists(NOISE, min_size=1, max_size=12), ABOUT)
def test_unrelated_notes_remove_no_relevant_hit_from_the_first_ten(relevant, unrelated, query):
    with tempfile.TemporaryDirectory() as place:
        folder = made(Path(place))
        write(folder, "2031-01-01", relevant)
        before = {path for path, _, score in found(folder, query) if score > 0}
        for at, line in enumerate(unrelated):
            write(folder, f"2031-02-{at + 1:02d}", [line])
        after = {path for path, _, score in found(folder, query) if score > 0}
        assert before <= after


@settings(max_examples=20, deadline=None)
@given(st.lists(LINES | NOISE, min_size=1, max_size=10), ABOUT, st.randoms())
def test_i9_the_same_notes_give_the_same_answer_in_whatever_order_they_came(lines, query, shuffled):
    answers = []
    for _ in range(2):
        with tempfile.TemporaryDirectory() as place:
            folder = made(Path(place))
            order = list(enumerate(lines))
            shuffled.shuffle(order)
            for at, line in order:
                write(folder, f"2031-01-{at + 1:02d}", [line])
                if at % 3 == 0:
                    found(folder, query)
            answers.append(found(folder, query))
            (folder / "state" / "agents" / "main" / "index.sqlite").unlink()
            answers.append(found(folder, query))
    assert all(answer == answers[0] for answer in answers)
