"""What is read out of a question before anything is searched."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.recall.analysis import analyse

NOW = datetime(2031, 1, 15, 9, tzinfo=UTC)


def asked(query):
    return analyse(query, NOW, "Europe/Berlin")


def test_names_of_code_and_tickets_quotations_and_names_are_meant_as_they_stand():
    found = asked('Where did Marta Vega call load_user_prefs() for PROJ-17, std::map and "cold start" in src/app.py?')
    assert found.identifiers == ("load_user_prefs()", "PROJ-17", "std::map", "src/app.py")
    assert found.quoted == ("cold start",)
    assert found.names == ("Marta", "Vega", "PROJ-17")


def test_dates_and_times_are_no_names():
    found = asked("What happened at 17:30 on 2024-05-03?")
    assert found.identifiers == ()
    assert [span.text for span in found.spans] == ["at 17:30 on 2024-05-03"]


@pytest.mark.parametrize(
    ("query", "scripts"),
    [
        ("where is the kiln", ("latin",)),
        ("护照在哪里", ("zh",)),
        ("渡船はどこ", ("ja",)),
        ("가마는 어디", ("ko",)),
        ("Redis缓存", ("latin", "zh")),
    ],
)
def test_the_scripts_of_a_question_are_known(query, scripts):
    assert asked(query).scripts == scripts


def test_a_question_about_what_was_differs_from_one_about_what_is():
    assert (asked("Where do I live now?").present, asked("Where do I live now?").history) == (True, False)
    assert asked("Where did I live previously?").history
    assert asked("Where did I live in 2025?").history
    assert not asked("Where do I live?").history


@pytest.mark.parametrize(
    "query", ["a" * 5000, "a_" * 3000, "A.b" * 2000, "上周" * 1500, "1:" * 2500, "(" * 5000, '"' * 4000]
)
def test_no_question_takes_long(query):
    started = time.process_time()
    asked(query)
    assert time.process_time() - started < 5  # far above what it takes; what is looked for takes minutes


@given(st.text(max_size=200))
def test_any_text_can_be_read(query):
    assert asked(query) == asked(query)
