"""Measures and safe cuts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.core import text as measures


@given(st.text(max_size=300), st.integers(1, 60))
def test_a_cut_text_is_never_longer_than_its_limit(text: str, limit: int) -> None:
    assert len(measures.cut(text, limit)) <= limit


@given(st.text(max_size=100))
def test_what_is_printable_can_be_encoded_and_holds_no_control_character(text: str) -> None:
    shown = measures.printable(text)
    shown.encode("utf-8")
    assert "\x00" not in shown
    assert "\u200b" not in shown


def test_the_token_estimate_is_a_quarter_of_the_bytes_rounded_up() -> None:
    assert measures.estimate_tokens("") == 0
    assert measures.estimate_tokens("abcde") == 2
    assert measures.estimate_tokens("机票") == 2


def test_likeness_counts_common_words_and_pairs_of_characters() -> None:
    same = measures.jaccard(measures.shingles("周三去游泳"), measures.shingles("周三去游泳"))
    close = measures.jaccard(measures.shingles("周三去游泳"), measures.shingles("周四去游泳"))
    assert same == 1.0
    assert 0.3 < close < 1.0
    assert measures.jaccard((), ()) == 0.0


def test_rank_10_texts_in_other_scripts_are_told_apart() -> None:
    one = measures.shingles("Встреча перенесена на четверг")
    two = measures.shingles("Кошка любит рыбу и молоко")
    assert measures.jaccard(one, two) == 0.0


def test_a_hash_tells_lone_surrogates_apart() -> None:
    assert measures.sha256("\ud800") != measures.sha256("\ud801")
