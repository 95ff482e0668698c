"""Where something to remember goes."""

from __future__ import annotations

import pytest

from reverie.writing.routing import route

PREFERENCES = [
    "I prefer trains over planes",
    "I really like short answers",
    "my favourite tea is rooibos",
    "Always answer in German",
    "Never schedule calls before ten.",
    "please never use emoji",
    "Call me Lou",
    "Ich bevorzuge den Zug",
    "Ich trinke nie Kaffee",
    "Immer auf Deutsch antworten",
    "Nie vor zehn Uhr anrufen",
    "Prefiero el tren",
    "Siempre responde en español",
    "Nunca uses emojis",
    "No me gusta madrugar",
    "Je préfère le train",
    "J'aime les réponses courtes",
    "Toujours répondre en français",
    "Ne réponds jamais en anglais",
    "我喜欢喝绿茶",
    "我不喜欢早起",
    "总是用中文回答",
    "不要在十点以前打电话",
    "いつも日本語で答えて",
    "私は紅茶が好きです",
    "短く答えてください",
    "항상 한국어로 대답해 줘",
    "저는 기차를 선호합니다",
    "열 시 전에는 전화하지 마세요",
]
FACTS = [
    "The backup runs on Tuesday at 02:00",
    "She prefers planes",
    "My sister likes chess",
    "I preferred the old office",
    "I would like to see Rome in May",
    "Ich möchte im Mai nach Rom",
    "The router never restarts by itself",
    "Mein Bruder mag Schach",
    "Das Backup läuft immer nachts",
    "El servidor nunca se reinicia solo",
    "Le serveur redémarre toujours la nuit",
    "她喜欢喝茶",
    "备份在星期二运行",
    "彼女は紅茶が好きです",
    "バックアップは火曜日に動く",
    "백업은 화요일에 실행된다",
    "",
]


@pytest.mark.parametrize("text", PREFERENCES)
def test_preferences_and_standing_requests_go_to_the_user_file(text: str) -> None:
    found = route(text)
    assert found.target == "USER.md"
    assert "USER.md" in found.why


@pytest.mark.parametrize("text", FACTS)
def test_facts_go_to_the_memory_file(text: str) -> None:
    found = route(text)
    assert (found.target, found.text) == ("MEMORY.md", text)
    assert "MEMORY.md" in found.why


def test_a_preference_is_put_as_a_directive_only_where_the_meaning_stays() -> None:
    assert route("I prefer trains over planes").text == "Prefer trains over planes."
    assert route("I prefer my own desk").text == "I prefer my own desk"
    assert route("Ich bevorzuge den Zug").text == "Ich bevorzuge den Zug"
