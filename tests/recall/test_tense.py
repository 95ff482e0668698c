"""Questions about the present prefer the newer of two statements, in seven languages."""

from __future__ import annotations

import pytest

from reverie.recall import ranking
from reverie.recall.ranking import RankingSettings
from reverie.recall.tense import asks_for_now


@pytest.mark.parametrize(
    "query",
    [
        "When does the backup run now?",
        "What day is the lesson these days?",
        "Wo wohnt Tomasz zurzeit?",
        "Wie hoch ist die aktuelle Miete?",
        "现在的备份时间是几点？",
        "今はどこで働いていますか",
        "지금 회의는 언제야?",
        "¿Dónde vive Ana actualmente?",
        "Quelle est l'adresse actuelle ?",
    ],
)
def test_a_question_about_the_present_is_recognised(query: str) -> None:
    assert asks_for_now(query)


@pytest.mark.parametrize(
    "query",
    [
        "When did the backup run last May?",
        "Do you know Knowles?",
        "Wann war der Umzug?",
        "护照在哪里？",
        "¿Cuándo nació Ana?",
        "",
    ],
)
def test_other_questions_are_not(query: str) -> None:
    assert not asks_for_now(query)


def test_the_bound_is_only_ever_lowered() -> None:
    assert ranking.for_present(RankingSettings()).recency_floor == ranking.PRESENT_FLOOR
    assert ranking.for_present(RankingSettings(recency_floor=0.5)).recency_floor == 0.5
