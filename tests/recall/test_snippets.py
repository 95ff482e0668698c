"""A snippet shows the place that answers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.recall.snippets import SNIPPET_CHARS, snippet


def test_rank_04_the_snippet_holds_the_line_that_matches() -> None:
    lines = [f"line {n} is about nothing in particular, only filling" for n in range(1, 81)]
    lines[60] = "the alarm code of the studio is zanzibar-9"
    assert "zanzibar-9" in snippet("\n".join(lines), "what is zanzibar-9?")


def test_a_match_inside_one_very_long_line_is_shown_with_what_stands_around_it() -> None:
    line = "filler " * 500 + "the Mühle opens at seven " + "filler " * 500
    shown = snippet(line, "wann öffnet die Mühle")
    assert "Mühle" in shown
    assert len(shown) <= SNIPPET_CHARS


def test_a_chinese_question_finds_its_line() -> None:
    text = "\n".join(["今天没有什么特别的事情。" * 8] * 10 + ["护照放在书房左边的抽屉里。"] + ["天气不错。" * 20] * 5)
    assert "护照" in snippet(text, "护照在哪里", 200)


@given(st.text(max_size=400), st.text(max_size=30), st.integers(20, 200))
def test_a_snippet_keeps_its_limit_for_any_text_and_question(text: str, query: str, limit: int) -> None:
    assert len(snippet(text, query, limit)) <= max(limit, 0) or len(text) <= limit
