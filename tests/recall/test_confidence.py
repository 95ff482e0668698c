"""Whether an answer is one: confidence is high where the words are there, and low where they are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie import Memory
from reverie.core.types import SearchRequest
from reverie.recall.confidence import DOUBTFUL, confidence, share

NOTES = """# Notes

- The kiln fires at 980 degrees and cools for a day.
- Der Brennofen steht im Keller neben der Heizung.
- 报销流程需要主管签字。
- 渡船は朝六時に出ます。
- 도자기 수업은 화요일에 있습니다.
- El horno nuevo llegó en marzo.
- Le four est dans l'atelier du fond.
"""


@pytest.fixture
def memory(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    Memory.create(state_dir=tmp_path / "state", workspace=tmp_path / "notes")
    (tmp_path / "state" / "reverie.json5").write_text('{memory: {search: {provider: "none"}}}', encoding="utf-8")
    (tmp_path / "notes" / "memory" / "2031-01-01.md").write_text(NOTES, encoding="utf-8")
    with Memory.open(state_dir=tmp_path / "state", workspace=tmp_path / "notes") as opened:
        yield opened


@pytest.mark.parametrize(
    ("asked", "not_here"),
    [
        ("How many degrees does the kiln fire at?", "Which degrees does the lighthouse keeper hold?"),
        ("Wo steht der Brennofen im Keller?", "Wo wohnt die Großmutter des Bäckers?"),
        ("报销流程要谁签字", "护照什么时候到期"),
        ("渡船は何時に出ますか", "祖母の誕生日はいつですか"),
        ("도자기 수업은 언제", "여권 번호는 무엇"),
        ("¿Cuándo llegó el horno nuevo?", "¿Cómo se llama la abuela del panadero?"),
        ("Où est le four de l'atelier ?", "Comment s'appelle la grand-mère du boulanger ?"),
    ],
)
def test_a_question_that_is_answered_is_surer_than_one_that_is_not(memory, asked, not_here):
    answered = memory.recall(SearchRequest(asked, min_score=0.0))
    other = memory.recall(SearchRequest(not_here, min_score=0.0))
    assert answered.hits
    assert answered.confidence > 0.5
    assert other.confidence < 0.5 < answered.confidence


def test_an_answer_in_doubt_says_so_and_below_the_wanted_confidence_there_is_none(memory):
    query = "Which astronomer saw the comet above the lighthouse before the day broke over the bay?"
    doubtful = memory.recall(SearchRequest(query, min_score=0.0))
    assert doubtful.hits
    assert doubtful.confidence < DOUBTFUL
    assert any("doubtful" in notice for notice in doubtful.notices)
    refused = memory.recall(SearchRequest(query, min_score=0.0, min_confidence=0.5))
    assert refused.hits == ()
    assert any("nothing is sure enough" in notice for notice in refused.notices)
    assert all("below 0.5" in reason for _, reason in refused.dropped[-1:])
    assert memory.recall(SearchRequest("kiln degrees", min_score=0.0, min_confidence=0.5)).hits


def test_a_file_that_is_named_is_given_however_little_it_says(memory):
    assert memory.recall(SearchRequest("2031-01-01.md", min_score=0.0, min_confidence=1.0)).hits


WORDS = st.lists(st.sampled_from(["kiln", "ferry", "lamp", "roof", "tea"]), max_size=5)


@given(WORDS, WORDS, st.floats(0.0, 1.0))
def test_more_of_what_is_asked_for_is_never_less_sure(text, more, cosine):
    weights = [(frozenset({(word,)}), 1.0) for word in ("kiln", "ferry", "lamp")]
    less, much = " ".join(text), " ".join([*text, *more])
    assert 0.0 <= share(weights, less) <= share(weights, much) <= 1.0
    sure = [confidence(weights, [(one, cosine)], "multilingual-e5-small-int8") for one in (less, much)]
    assert 0.0 <= sure[0] <= sure[1] <= 1.0


def test_nothing_found_and_nothing_asked_for_are_no_answer():
    assert confidence([], [], "") == 0.0
    assert share([], "anything") == 0.0
