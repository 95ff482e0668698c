"""Programs, envelopes and samples are never taken for what somebody said."""

from __future__ import annotations

import pytest

from reverie import Sender
from reverie.core.types import Corpus, SearchRequest, SessionKind

ME = Sender.owner("me")
MINE = "agent:main:main"
DAY = "memory/2031-05-06.md"


def promotable(home, query: str, corpus: str = "all") -> list[str]:
    """Return what is found and that every gate would let into long-term memory."""
    request = SearchRequest(query, max_results=50, min_score=0.0, corpus=Corpus(corpus))
    chains = [home.memory.why(hit.citation)[0] for hit in home.memory.recall(request).hits]
    return [one.text for one in chains if all(gate.passed for gate in one.gates.promotion)]


def test_noise_02_a_sub_agent_of_a_job_is_no_chat_however_deep(home) -> None:
    home.memory.remember("The safe opens on Tuesdays.")
    keys = ("agent:main:cron:nightly:run:1", "agent:main:subagent:a", "agent:main:subagent:a:subagent:b")
    for place, key in enumerate(keys):
        parent = keys[place - 1] if place else ""
        recorded = home.memory._parts.recorder.open(key, ME, "The backup runs on kormoran.", spawned_by=parent)
        assert recorded.session.kind is SessionKind.CRON
        recorded.reply("The backup runs on kormoran.")
        with home.memory.turn(key, "note it", ME) as turn:
            assert (
                home.memory.tools(turn).call("memory_note", {"text": f"Kormoran, said number {place}."})["status"]
                == "ok"
            )
            assert "Tuesdays" not in turn.prompt.system
    assert promotable(home, "kormoran backup") == []
    for why in home.memory.why("Kormoran, said number 0."):
        assert {gate.name for gate in why.gates.promotion if not gate.passed} >= {"session kind"}


@pytest.mark.parametrize("key", ["agent:main:cron:nightly", "agent:main:main:heartbeat", "agent:main:subagent:a"])
def test_i3_what_such_a_session_writes_beside_a_person_stays_apart(home, key: str) -> None:
    home.memory.note("The studio is in Altona.")
    with home.memory.turn(key, "note it", ME) as turn:
        home.memory.tools(turn).call("memory_note", {"text": "The studio closed at noon."})
    (kept,) = promotable(home, "studio", "memory")
    assert "Altona" in kept
    assert "noon" not in kept
    for why in home.memory.why("The studio closed at noon."):
        assert not all(gate.passed for gate in why.gates.promotion)


ENVELOPE = (
    "Conversation info (untrusted metadata):\n```json\n"
    '{"message_id": "m-77", "sender_id": "u-4711", "sender": "Ana"}\n```\n\nI am allergic to peanuts'
)


def test_noise_07_the_envelope_goes_and_the_sender_is_kept_as_provenance(home) -> None:
    with home.memory.turn(MINE, ENVELOPE, Sender.owner("u-4711", channel="telegram")):
        pass
    (hit,) = home.memory.search("allergic peanuts message_id sender", corpus="sessions")
    assert hit.snippet == "User: I am allergic to peanuts"
    assert hit.provenance.sender == "u-4711"
    assert b"m-77" not in home.derived()


def test_noise_11_a_sample_in_tool_output_teaches_nothing_about_the_user(home) -> None:
    with home.memory.turn(MINE, "format this file", ME) as turn:
        turn.tool_result("read", '{"name":"Alex Example","age":30,"city":"Springfield"}', source="local")
        turn.reply("Done.")
    assert home.indexed("Alex Example Springfield") == []
    assert b"Springfield" not in home.derived()


def test_silent_replies_and_programs_words_are_found_nowhere(home) -> None:
    for text, answer in (("hello kormoran", "NO_REPLY"), ("[cron:job-1 nightly] check kormoran", "kormoran is up")):
        with home.memory.turn(MINE, text, ME) as turn:
            turn.reply(answer)
    assert home.indexed("kormoran NO_REPLY") == ["User: hello kormoran"]
