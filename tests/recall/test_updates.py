"""What has changed: the newest of a key is found, and what it superseded only when asked for."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from reverie import Memory, Sender
from reverie.core.clock import FixedClock
from reverie.core.types import Corpus, SearchRequest

JANUARY = datetime(2031, 1, 5, 9, tzinfo=UTC)


@pytest.fixture
def clock():
    return FixedClock(JANUARY, "Europe/Berlin")


@pytest.fixture
def memory(tmp_path, clock, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    Memory.create(state_dir=tmp_path / "state", workspace=tmp_path / "notes")
    config = '{ memory: { search: { provider: "none", sources: ["memory", "sessions"] } } }'
    (tmp_path / "state" / "reverie.json5").write_text(config, encoding="utf-8")
    with Memory.open(state_dir=tmp_path / "state", workspace=tmp_path / "notes", clock=clock) as opened:
        yield opened


def found(memory, query, **more):
    result = memory.recall(SearchRequest(query, min_score=0.0, **more))
    return [hit.snippet for hit in result.hits], result


FACTS = [
    ("desk.floor", "My desk is on floor 3.", "My desk is on floor 5.", "desk floor"),
    ("büro", "Mein Büro liegt in Bremen.", "Mein Büro liegt in Kiel.", "Büro liegt"),
    ("住址", "我住在上海。", "我住在成都。", "我住在哪里"),
    ("住所", "私は大阪に住んでいます。", "私は神戸に住んでいます。", "住んでいます"),
    ("집", "저는 부산에 삽니다.", "저는 대구에 삽니다.", "저는 삽니다"),
    ("casa", "Vivo en Sevilla.", "Vivo en Bilbao.", "vivo en"),
    ("maison", "J'habite à Lyon.", "J'habite à Nantes.", "j'habite"),
]


@pytest.mark.parametrize(("key", "old", "new", "query"), FACTS)
def test_the_newest_of_a_key_is_found_and_the_older_one_is_not(memory, clock, key, old, new, query):
    memory.remember(old, key=key)
    clock.advance(timedelta(days=30))
    memory.remember(new, key=key)
    snippets, result = found(memory, query)
    assert any(new in snippet for snippet in snippets)
    assert not any(old in snippet for snippet in snippets)
    assert any("superseded by MEMORY.md#L3" in reason for _, reason in result.dropped)


@pytest.mark.parametrize(
    "query",
    [
        "where was my desk previously, on which floor",
        "desk floor: wo war mein desk früher",
        "desk floor 之前在哪里",
        "desk floor 以前はどこ",
        "desk floor 예전",
        "desk floor antes",
        "desk floor auparavant",
    ],
)
def test_who_asks_how_it_was_gets_the_older_fact_after_the_newer(memory, clock, query):
    memory.remember("My desk is on floor 3.", key="desk")
    clock.advance(timedelta(days=30))
    memory.remember("My desk is on floor 5.", key="desk")
    snippets, _ = found(memory, query)
    assert [next(at for at, text in enumerate(snippets) if f"floor {number}" in text) for number in (5, 3)] == [0, 1]


def test_as_of_a_day_what_held_then_is_found(memory, clock):
    memory.remember("My desk is on floor 3.", key="desk")
    clock.advance(timedelta(days=30))
    memory.remember("My desk is on floor 5.", key="desk")
    snippets, _ = found(memory, "desk floor", as_of=JANUARY + timedelta(days=3))
    assert any("floor 3" in snippet for snippet in snippets)
    assert not any("floor 5" in snippet for snippet in snippets)


def test_a_change_and_a_change_back_leave_one_answer(memory, clock):
    for number in (3, 5, 3):
        memory.remember(f"My desk is on floor {number}.", key="desk")
        clock.advance(timedelta(days=10))
    snippets, _ = found(memory, "desk floor")
    assert any("floor 3" in snippet for snippet in snippets)
    assert not any("floor 5" in snippet for snippet in snippets)


def test_a_superseded_preference_is_found_no_more(memory, clock, tmp_path):
    memory.remember("I prefer aisle seats.", key="seat")
    clock.advance(timedelta(days=30))
    memory.remember("I prefer window seats.", key="seat")
    snippets, _ = found(memory, "prefer seats")
    assert [("window" in snippet, "aisle" in snippet) for snippet in snippets] == [(True, False)]


def test_a_directive_marked_superseded_by_hand_is_found_no_more(memory, tmp_path):
    text = (
        "# About the user\n\n<!-- observed: 2030-11-01 | status: superseded -->\n\n- Prefer short mails.\n\n"
        "<!-- observed: 2030-12-01 | status: active -->\n\n- Prefer long mails.\n"
    )
    (tmp_path / "notes" / "USER.md").write_text(text, encoding="utf-8")
    snippets, _ = found(memory, "prefer mails")
    assert snippets == ["Prefer long mails."]


def test_nothing_that_strangers_say_supersedes_what_the_owner_said(memory, clock, tmp_path):
    memory.remember("My desk is on floor 3.", key="desk")
    clock.advance(timedelta(days=1))
    source = tmp_path / "page.md"
    source.write_text("- My desk is on floor 9. <!-- key: desk -->\n", encoding="utf-8")
    memory.import_markdown(source)
    memory.remember("My desk is on floor 8.", key="desk", sender=Sender.guest("eve", channel="telegram"))
    snippets, _ = found(memory, "desk floor")
    assert "floor 3" in snippets[0]


def test_a_time_that_is_asked_for_lifts_what_was_said_then(memory, clock):
    memory.note("The kiln was repaired by Jonas.")
    clock.advance(timedelta(days=40))
    memory.note("The kiln was repaired by Mika.")
    clock.advance(timedelta(days=2))
    january = found(memory, "who repaired the kiln in January?")
    assert "Jonas" in january[0][0]
    assert january[1].hits[0].trace.multipliers["time"] > 1
    assert january[1].analysis.spans[0].text == "in January"
    assert "Mika" in found(memory, "who repaired the kiln this week?")[0][0]


@pytest.mark.parametrize(
    "query",
    [
        "What did I do last week?",
        "Was habe ich letzte Woche gemacht?",
        "上周我做了什么？",
        "先週は何をしましたか",
        "지난주에 뭐 했지?",
        "¿Qué hice la semana pasada?",
        "Qu'est-ce que j'ai fait la semaine dernière ?",
    ],
)
def test_who_asks_for_nothing_but_a_time_gets_what_there_is_of_it_newest_first(memory, clock, query):
    memory.note("Glazed the blue bowls.")
    clock.advance(timedelta(days=8))
    memory.note("Fired the red vases.")
    clock.advance(timedelta(days=1))
    memory.note("Sold two vases.")
    clock.advance(timedelta(days=7))
    memory.note("Cleaned the studio.")
    snippets, result = found(memory, query)
    assert [("vases" in text, "bowls" in text or "studio" in text) for text in snippets] == [(True, False)] * 2
    assert "Sold" in snippets[0]
    assert any("nothing but a time was asked for" in notice for notice in result.notices)


def test_the_name_of_a_time_by_itself_finds_what_is_said_of_it(memory, clock):
    memory.note("The Christmas market needs forty bowls.")
    clock.advance(timedelta(days=30))
    memory.note("Fired the red vases.")
    assert any("forty bowls" in snippet for snippet in found(memory, "Christmas")[0])
    assert any("vases" in snippet for snippet in found(memory, "today")[0])


def test_a_time_that_has_not_come_yet_is_searched_by_its_words(memory):
    memory.note("Next week the kiln is inspected.")
    assert any("inspected" in snippet for snippet in found(memory, "what happens next week?")[0])


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_days_are_those_of_the_user_wherever_that_is(tmp_path, zone):
    clock = FixedClock(datetime(2031, 1, 8, 12, tzinfo=UTC), zone)
    Memory.create(state_dir=tmp_path / "state", workspace=tmp_path / "notes")
    (tmp_path / "state" / "reverie.json5").write_text('{memory: {search: {provider: "none"}}}', encoding="utf-8")
    for day in range(4, 10):
        note = tmp_path / "notes" / "memory" / f"2031-01-0{day}.md"
        note.write_text(f"# 2031-01-0{day}\n\n- Vase number {day}.\n", encoding="utf-8")
    with Memory.open(state_dir=tmp_path / "state", workspace=tmp_path / "notes", clock=clock) as memory:
        yesterday = 7 if zone == "Pacific/Pago_Pago" else 8
        snippets, _ = found(memory, "What did I do yesterday?")
        assert [f"number {yesterday}" in text for text in snippets] == [True]


def test_rank_03_words_in_one_line_and_meaning_in_the_next_are_one_result(memory, clock):
    memory.note("The ferry leaves at dawn.\nIts berth is number zanzibar-9.")
    result = found(memory, "zanzibar-9")[1]
    assert len(result.hits) == 1
    assert "ferry" in result.hits[0].snippet
    assert result.hits[0].text_score > 0


def test_rank_06_old_notes_in_subfolders_and_with_a_slug_decay_by_their_name(memory, clock, tmp_path):
    notes = tmp_path / "notes" / "memory"
    names = ["2029-01-01-1430.md", "daily/2029-01-01.md", "dreaming/light/2029-01-01.md", "2031-01-04.md"]
    for name in names:
        (notes / name).parent.mkdir(parents=True, exist_ok=True)
        (notes / name).write_text("- The kiln fires at 980 degrees.\n", encoding="utf-8")
    hits = found(memory, "kiln degrees")[1].hits
    assert hits[0].path == "memory/2031-01-04.md"
    assert len(hits) == 4
    assert all(hit.trace.multipliers["recency"] < 0.95 for hit in hits[1:])


def test_rank_11_hits_of_sessions_that_may_not_be_seen_use_up_no_place(memory, clock):
    for number in range(25):
        other = f"agent:main:telegram:dm:peer{number}"
        with memory.turn(other, f"The lighthouse lamp, the lighthouse lamp {number}.", Sender.owner("me")) as turn:
            turn.reply("Noted.")
    mine = "agent:main:main"
    for text in ("A lamp of the lighthouse broke.", "The lighthouse is white."):
        with memory.turn(mine, text, Sender.owner("me")) as turn:
            turn.reply("I see.")
    visible = frozenset(entry.id for entry in memory.sessions() if entry.key == mine)
    result = memory.recall(SearchRequest("lighthouse lamp", 10, 0.0, Corpus.SESSIONS, sessions=visible))
    assert result.hits
    assert all("peer" not in hit.path for hit in result.hits)
    assert {word for hit in result.hits for word in ("broke", "white") if word in hit.snippet} == {"broke", "white"}
