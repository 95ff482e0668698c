"""Text for people, JSON for programs."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.types import Hit, Provenance, SearchResult, SourceClass
from reverie.surfaces import output

TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]))


@dataclass(frozen=True)
class Sample:
    some_value: object
    start_line: int = 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (SourceClass.OWNER, "owner"),
        (datetime(2026, 3, 17, 20, 22, tzinfo=UTC), "2026-03-17T20:22:00+00:00"),
        (date(2026, 3, 17), "2026-03-17"),
        (PurePosixPath("memory/a.md"), "memory/a.md"),
        (frozenset({"b", "a"}), ["a", "b"]),
        ((1, "a", None, True), [1, "a", None, True]),
        (float("nan"), None),
        (float("inf"), None),
        ({"my_key": 1}, {"my_key": 1}),
        (Sample(Sample(2)), {"someValue": {"someValue": 2, "startLine": 1}, "startLine": 1}),
    ],
)
def test_a_value_becomes_what_json_can_hold(value, expected):
    assert output.jsonable(value) == expected


def test_a_search_result_becomes_one_json_document_without_loss():
    hit = Hit("memory/a.md", 3, 4, 0.5, "x", "memory", Provenance(SourceClass.OWNER))
    found = output.jsonable(SearchResult((hit,), "keyword", milliseconds={"keyword": 0.25}))
    again = json.loads(json.dumps(found, allow_nan=False))
    assert again == found
    assert again["hits"][0]["provenance"]["origin"] == "owner"
    assert again["milliseconds"] == {"keyword": 0.25}


def test_a_number_of_numpy_is_a_number():
    numpy = pytest.importorskip("numpy")
    assert output.jsonable([numpy.float32(0.5), numpy.int64(3)]) == [0.5, 3]


@given(TEXT, st.integers(2, 60))
def test_wrapped_lines_fit_and_lose_nothing_but_blanks(text, limit):
    lines = output.wrap(text, limit)
    assert all(output.width(line) <= limit for line in lines)
    assert "".join("".join(lines).split()) == "".join(output.printable(text.rstrip()).split())


@given(TEXT, st.integers(2, 60))
def test_a_shortened_text_fits_on_one_line(text, limit):
    short = output.shorten(text, limit)
    assert output.width(short) <= limit
    assert "\n" not in short


@given(st.text())
def test_nothing_printable_can_move_the_cursor_or_turn_the_text_around(text):
    shown = output.printable(text)
    assert not [c for c in shown if unicodedata.category(c) == "Cc" and c not in "\t\n"]
    assert not set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068") & set(shown)


def test_wide_characters_take_two_columns_and_are_broken_between():
    assert output.width("托马什") == 6
    assert output.wrap("托马什的生日礼物", 6) == ["托马什", "的生日", "礼物"]
    assert output.wrap("a note about 生日 and more", 16) == ["a note about 生", "日 and more"]


def test_a_word_longer_than_the_line_is_broken():
    assert output.wrap("x" * 10, 4) == ["xxxx", "xxxx", "xx"]


def test_columns_of_a_table_stand_below_each_other(capsys):
    output.table([("生日", 1, "gift"), ("a", 22, "word " * 40)], head=("name", "n", "what"))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "name  n   what"
    assert lines[2] == "生日  1   gift"
    assert lines[3].startswith("a     22  word word")
    assert lines[4].startswith(" " * 10 + "word")
    assert max(map(output.width, lines)) <= output.PLAIN_COLUMNS
