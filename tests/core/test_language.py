"""Words of seven languages, as they are indexed and as they are asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core import language


@pytest.mark.parametrize(
    ("indexed", "asked"),
    [
        ("The server restarts nightly", "server restarting"),
        ("Wir haben die Häuser besichtigt", "Haus besichtigen"),
        ("Nos gustaron las canciones", "canción"),
        ("Nous avons réservé les hôtels", "hotel réservation"),
        ("今天下午和设计组敲定了报销流程", "报销"),
        ("来週の会議は木曜日です", "会議"),
        ("다음 주 회의는 목요일입니다", "회의"),
        ("call load_user_prefs() first", "user prefs"),
        ("Ｆｕｌｌ－ｗｉｄｔｈ text", "full"),
    ],
)
def test_a_word_is_found_in_another_form_of_it(indexed: str, asked: str) -> None:
    forms = set(language.index_form(indexed).split())
    assert any(set(language.variants(word)) & forms for word in language.tokens(asked))


@given(st.text(max_size=80))
def test_every_word_of_a_text_is_asked_for_in_a_form_that_the_index_holds(text: str) -> None:
    found = language.tokens(text)
    indexed = language.index_form(text).split()
    assert len(indexed) == len(found)
    for word, form in zip(found, indexed, strict=True):
        assert form in language.variants(word)


@given(st.text(max_size=200))
def test_tokens_hold_no_space_and_no_upper_case(text: str) -> None:
    for token in language.tokens(text):
        assert token
        assert not any(char.isspace() for char in token)


def test_cjk_characters_stand_alone() -> None:
    assert language.tokens("Redis 的缓存30分钟") == ["redis", "的", "缓", "存", "30", "分", "钟"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("where did we put the keys", "en"),
        ("wo haben wir die Schlüssel", "de"),
        ("dónde están las llaves de la casa", "es"),
        ("où sont les clés de la maison", "fr"),
        ("zanzibar-9", "en"),
    ],
)
def test_the_language_is_told_by_its_small_words(text: str, expected: str) -> None:
    assert language.guess(language.tokens(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("会议", {"zh"}), ("会議は", {"ja"}), ("회의", {"ko"}), ("Redis缓存", {"zh", "latin"}), ("42", set())],
)
def test_the_script_is_told_by_its_characters(text: str, expected: set[str]) -> None:
    assert language.scripts(text) == expected
