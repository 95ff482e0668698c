"""A hit is a passage: the line that matched and what belongs to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.types import Provenance, SessionKind, SourceClass
from reverie.index.lines import Neighbour
from reverie.recall.passages import FREE_CHARS, FULL_CHARS, REACH, grow
from reverie.recall.ranking import RankingSettings
from reverie.recall.speakers import Asker

OWNER = Provenance(SourceClass.OWNER, SessionKind.INTERACTIVE, session="one")


def row(ident, text, *, heading="", provenance=OWNER, line=None):
    at = ident if line is None else line
    group = (provenance.origin, provenance.kind, provenance.session, heading)
    return Neighbour(ident, at, at, len(text), group, bool(heading) and text.startswith("#"))


def grown(rows, seed, *, scores=None, leading=(), taken=()):
    return grow(rows[seed].id, rows, scores or {}, leading, taken)


def test_a_short_line_takes_its_neighbours_along():
    rows = [row(number, "x" * 40) for number in range(5)]
    assert grown(rows, 2, scores={1: 0.9, 3: 0.1}) == [1, 2, 3]


def test_a_longer_passage_takes_only_lines_that_are_good_themselves():
    rows = [row(number, "x" * 100) for number in range(7)]
    assert grown(rows, 3) == [3]
    assert grown(rows, 3, leading={2, 3, 4, 6}) == [2, 3, 4]


def test_what_stands_in_another_passage_is_not_taken_again():
    rows = [row(number, "x" * 40) for number in range(5)]
    assert grown(rows, 2, taken={1}) == [2, 3, 4]


@pytest.mark.parametrize(
    "other",
    [
        row(2, "x", provenance=Provenance(SourceClass.UNTRUSTED, SessionKind.INTERACTIVE, session="one")),
        row(2, "x", provenance=Provenance(SourceClass.OWNER, SessionKind.CRON, session="one")),
        row(2, "x", provenance=Provenance(SourceClass.OWNER, SessionKind.INTERACTIVE, session="two")),
        row(2, "x", heading="Another"),
        row(2, "x", line=9),
    ],
    ids=["class", "kind", "session", "heading", "gap"],
)
def test_a_passage_never_grows_across_a_border(other):
    rows = [row(1, "x"), other, row(3, "x")]
    assert grown(rows, 0) == [1]
    assert 1 not in grown([rows[0], other], 1)


def test_a_section_of_the_same_name_is_another_section():
    rows = [row(1, "x", heading="Notes"), row(2, "## Notes\ny", heading="Notes"), row(3, "z", heading="Notes")]
    assert grown(rows, 0) == [1]
    assert grown(rows, 2) == [2, 3]


def test_without_neighbours_a_line_stays_alone():
    assert grow(7, (), {}, (), ()) == [7]


@given(st.lists(st.integers(0, 300), min_size=1, max_size=11), st.data())
def test_a_passage_is_a_run_of_lines_within_its_budget(sizes, data):
    rows = [row(number, "x" * size) for number, size in enumerate(sizes)]
    seed = data.draw(st.integers(0, len(rows) - 1))
    leading = data.draw(st.sets(st.integers(0, len(rows) - 1)))
    found = grown(rows, seed, leading=leading)
    assert found == list(range(found[0], found[-1] + 1)) and seed in found
    size = sum(sizes[number] + 1 for number in found) - 1
    assert size <= max(FULL_CHARS, sizes[seed])
    if not leading:
        assert size <= max(FREE_CHARS, sizes[seed])
    assert REACH == 5


@pytest.mark.parametrize(
    ("query", "speaker", "bonus"),
    [
        ("What did Ines paint?", "ines", 0.75),
        ("What did Ines paint?", "teo", 0.0),
        ("Where did I park?", "user", 0.3),
        ("Where did I park?", "assistant", -0.3),
        ("What did you tell me?", "assistant", 0.0),
        ("Wo habe ich geparkt?", "user", 0.3),
        ("我把车停在哪里了", "user", 0.3),
        ("你告诉我什么了", "user", 0.0),
        ("내가 어디에 주차했지", "user", 0.3),
        ("anything", None, 0.0),
    ],
)
def test_who_is_asked_about_decides_whose_lines_count_more(query, speaker, bonus):
    assert Asker.of(query).bonus(speaker, RankingSettings()) == pytest.approx(bonus)
