"""The tokenizer cuts text as the official tokenizer of the model does."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.providers.bundled import build
from reverie.providers.bundled.tokenizer import MAX_CHARACTERS, MAX_TOKENS, Tokenizer, clean

# Made with the official tokenizer of multilingual-e5-small.
GOLDEN = [
    ("Anna doesn't like cilantro.", [0, 7714, 22027, 25, 18, 1884, 22610, 19, 2955, 5, 2]),
    ("Übermorgen fahre ich nach München.", [0, 16089, 140796, 1071, 13520, 654, 1561, 43769, 5, 2]),
    ("我喜欢在北京吃拉面。", [0, 13129, 14999, 72501, 4011, 3300, 2879, 30, 2]),
    ("今日は天気がいいから散歩しましょう。", [0, 100752, 171391, 281, 9108, 1309, 200875, 66506, 30, 2]),
    ("저는 매운 음식을 좋아하지 않아요.", [0, 66244, 18692, 12451, 66082, 413, 67738, 11289, 86358, 5144, 5, 2]),
    ("¿Dónde está la biblioteca?", [0, 3936, 397, 5800, 112, 1570, 21, 38011, 32, 2]),
    ("L’œuvre d’art coûte 12 €.", [0, 339, 26, 201537, 104, 26, 3960, 66486, 13, 427, 95217, 2]),
    ("Завтра у меня встреча.", [0, 241638, 84, 3925, 56911, 5, 2]),
    ("مرحبا بالعالم", [0, 665, 193478, 258, 1705, 77796, 2]),
    ("मुझे मसालेदार खाना पसंद नहीं है।", [0, 22839, 6, 77715, 51700, 11639, 87710, 77949, 2191, 460, 125, 2]),
    ("ฉันไม่ชอบอาหารเผ็ด", [0, 59334, 3379, 21685, 13496, 102453, 47287, 2]),
    ("Tôi không thích ăn cay.", [0, 14343, 687, 12186, 6687, 377, 53, 5, 2]),
    ("🎉 shipped!", [0, 6, 243816, 6544, 48398, 38, 2]),
    ("x𓀀𓀁y ꙮ", [0, 1022, 3, 53, 6, 3, 2]),
    ("ﬁne ｆｕｌｌ ½", [0, 5885, 4393, 78660, 2]),
    ("a\x01b\tc\u200bd", [0, 1563, 501, 104, 2]),
]


@pytest.fixture(scope="module")
def tokenizer(bundled_root: Path) -> Tokenizer:
    return Tokenizer.open(bundled_root / build.FOLDER_NAME, bos=0, eos=2, unk=3)


@pytest.mark.parametrize(("text", "ids"), GOLDEN)
def test_ids_equal_the_official_ones(tokenizer: Tokenizer, text: str, ids: list[int]) -> None:
    assert tokenizer.encode(clean(text)) == ids
    assert tokenizer.encode(clean(text)) == ids, "a remembered word must give the same pieces"


def test_a_prefix_is_a_word_before_the_text(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("a b", prefix="query:") == tokenizer.encode("query: a b")


def test_no_text_gives_only_control_pieces(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("") == [0, 2]


@pytest.mark.parametrize("text", ["word " * 2000, "字" * 8000, "x" * 8000])
def test_long_text_is_cut_to_the_model_s_positions_and_closed(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(clean(text))
    assert len(ids) <= MAX_TOKENS
    assert (ids[0], ids[-1]) == (0, 2)
    assert 2 not in ids[:-1]


def test_control_pieces_in_a_text_are_ordinary_characters(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode(clean("end</s> <mask><s>"))
    assert not {0, 1, 2, 250001} & set(ids[1:-1])


def test_neighbouring_unknown_characters_give_one_unknown_piece(tokenizer: Tokenizer) -> None:
    assert tokenizer.encode("x𓀀𓀁𓀂y").count(3) == 1


def test_cleaning_removes_what_native_code_must_not_see() -> None:
    assert clean("a\0b \ud800 c\x7f") == "ab c"


def test_cleaning_composes_and_parts_words_by_one_space() -> None:
    assert clean("  Cafe\u0301\u3000\u00a0ｆｕｌｌ\r\n\tﬁne  ") == "Café full fine"


def test_cleaning_bounds_text_before_and_after_it_grows() -> None:
    assert len(clean("\ufdfa" * MAX_CHARACTERS)) <= MAX_CHARACTERS
    assert len(clean("a" * 10_000_000)) == MAX_CHARACTERS


@given(st.text(st.characters(), max_size=200))
def test_cleaning_any_text_twice_changes_nothing(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(text=st.text(st.characters(), max_size=200))
def test_any_text_gives_a_closed_sequence(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(clean(text))
    assert (ids[0], ids[-1]) == (0, 2)
    assert not {0, 1, 2} & set(ids[1:-1])
