"""The chain of an entry: where it stands, who wrote it in which session, and which gates would refuse it."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie import Sender
from reverie.core.errors import PathNotAllowed, UsageError
from reverie.core.types import SourceClass

ME = Sender.owner("me")
ANA = Sender.guest("ana", channel="telegram")
MINE, HERS = "agent:main:main", "agent:main:telegram:direct:ana"
DAY = "memory/2031-05-06.md"


@pytest.fixture
def told(home):
    with home.memory.turn(HERS, "note it", ANA) as turn:
        home.memory.tools(turn).call("memory_note", {"text": "Ana has a green kiln."})
    home.memory.remember("The studio is in Altona.", key="studio")
    home.put("memory/2031-05-02.md", "- By hand: the spare key is under the blue pot.\n")
    return home


def line_of(home, path: str, text: str) -> int:
    return next(number for number, line in enumerate(home.text(path).split("\n"), 1) if text in line)


def test_the_chain_leads_from_the_line_to_the_record_and_the_session(told) -> None:
    number = line_of(told, DAY, "green kiln")
    (why,) = told.memory.why(f"{DAY}#L{number}")
    assert why.citation == f"{DAY}#L{number}"
    (write,) = why.writes
    assert (write.tool, write.sender, write.session_key, str(write.origin)) == (
        "memory_note",
        "telegram:ana",
        HERS,
        "untrusted",
    )
    assert write.at is not None
    assert why.lines[0].records == (write.id,)
    assert "memory_note of telegram:ana" in why.lines[0].because
    assert [(before, gate.name) for before, gate in why.gates.refused] == [
        ("injection", "place"),
        ("injection", "class"),
        ("promotion", "class"),
        ("search", "leading place"),
    ]


def test_an_entry_is_found_by_place_key_record_and_text(told) -> None:
    number = line_of(told, "MEMORY.md", "Altona")
    by_place = told.memory.why(f"MEMORY.md#L{number}")
    record = by_place[0].writes[0].id
    for entry in (
        f"MEMORY.md#L{number}-L{number}",
        f" MEMORY.md#L{number} ",
        "studio",
        record,
        "the STUDIO is  in altona",
    ):
        assert told.memory.why(entry) == by_place, entry
    assert {before for before, _ in by_place[0].gates.refused} == {"promotion"}


def test_a_line_by_hand_is_said_to_be_by_hand_and_would_pass(told) -> None:
    (why,) = told.memory.why("spare key is under the blue pot")
    assert why.lines[0].origin is SourceClass.AGENT
    assert "by hand" in why.lines[0].because
    assert (why.writes, why.trusts) == ((), ())
    assert all(gate.passed for gate in why.gates.promotion)


def test_a_path_alone_tells_every_line_of_the_file(told) -> None:
    (why,) = told.memory.why(DAY)
    assert (why.start_line, why.end_line) == (1, len(told.text(DAY).splitlines()))
    assert [line.because for line in why.lines if not line.text.strip()] != []


def test_a_line_that_left_its_file_by_hand_is_traced_to_where_it_was_written(told) -> None:
    line = next(line for line in told.text(DAY).split("\n") if "green kiln" in line)
    told.put(DAY, told.text(DAY).replace(line + "\n", ""))
    told.put("memory/2031-05-03.md", line + "\n")
    (why,) = told.memory.why("memory/2031-05-03.md#L1")
    assert why.lines[0].origin is SourceClass.UNTRUSTED
    assert DAY in why.lines[0].because


def test_what_was_said_is_traced_to_its_message_and_what_is_left_out_says_why(told) -> None:
    with told.memory.turn(MINE, "my bicycle is red", ME) as turn:
        turn.tool_result("web_fetch", "a page about bicycles")
        turn.reply("Red bicycles, the page says.")
    queries = ("my bicycle is red", "the page says")
    hits = {hit.snippet: hit for query in queries for hit in told.memory.search(query, corpus="sessions")}
    (mine,) = told.memory.why(hits["User: my bicycle is red"].citation)
    assert [(one.sender, one.session_key, str(one.origin)) for one in mine.writes] == [("me", MINE, "owner")]
    assert all(gate.passed for gate in mine.gates.promotion)
    (reply,) = told.memory.why(hits["Assistant: Red bicycles, the page says."].citation)
    assert not all(gate.passed for gate in reply.gates.promotion)
    (between,) = told.memory.why(f"{mine.path}#L{mine.start_line}-L{reply.end_line}")
    assert "left out: tool output" in [line.because for line in between.lines]
    assert "a page about" not in between.text


@pytest.mark.parametrize(
    "entry", ["MEMORY.md#L999", f"{DAY}#L0", "nothing like this anywhere", "  ", "ab", "sessions/main/none.jsonl#L1x"]
)
def test_what_is_not_there_is_told(told, entry: str) -> None:
    with pytest.raises(UsageError):
        told.memory.why(entry)


@pytest.mark.parametrize("entry", ["../../etc/passwd#L1", "AGENTS.md#L1", "sessions/main/../x.jsonl#L1"])
def test_i13_a_place_outside_memory_is_refused(told, entry: str) -> None:
    with pytest.raises(PathNotAllowed):
        told.memory.why(entry)


def test_a_record_of_which_nothing_is_left_says_so(told) -> None:
    (why,) = told.memory.why("Ana has a green kiln.")
    told.put(DAY, "# 2031-05-06\n")
    with pytest.raises(UsageError, match="left nothing"):
        told.memory.why(why.writes[0].id)


def test_a_text_that_stands_in_several_places_is_told_of_each(told) -> None:
    told.put("memory/2031-05-04.md", "- The studio is in Altona.\n- The studio is in Altona.\n")
    assert [why.citation for why in told.memory.why("studio is in Altona")] == [
        "MEMORY.md#L3",
        "memory/2031-05-04.md#L1",
        "memory/2031-05-04.md#L2",
    ]


def test_asking_changes_nothing(told, tmp_path: Path) -> None:
    before = told.memory.status()
    assert told.memory.why("Ana has a green kiln.") == told.memory.why("Ana has a green kiln.")
    assert told.memory.status() == before
