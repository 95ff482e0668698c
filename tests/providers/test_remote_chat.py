"""A chat model behind an OpenAI-compatible address, on this machine."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
import stamina
from tests.providers.server import Answer, Asked, Provider, serving

from reverie import Memory, Sender
from reverie.core.clock import FixedClock
from reverie.core.errors import ModelUnavailable
from reverie.core.types import ChatMessage
from reverie.providers.choosing import NamedChat, open_chat
from reverie.providers.remote.chat import RemoteChat, Usage
from reverie.providers.remote.client import Client

NOW = datetime(2031, 1, 5, 9, tzinfo=UTC)
KEY = "sk-made-up-0123456789"
ASKED = [ChatMessage("user", "Where is the tent?")]


@pytest.fixture(autouse=True)
def _no_pauses():
    with stamina.set_testing(True, attempts=3):
        yield


def said(text: Any, ended: str = "stop", **more: Any) -> Answer:
    message = {"role": "assistant", "content": text, **more}
    usage = {"prompt_tokens": 12, "completion_tokens": 5}
    return Answer(body={"choices": [{"message": message, "finish_reason": ended}], "usage": usage})


def chat(server: Provider, spent: list[Usage] | None = None) -> RemoteChat:
    client = Client("home", server.address, {"Authorization": f"Bearer {KEY}"}, clock=FixedClock(NOW))
    return RemoteChat("small", client, spent=(spent if spent is not None else []).append)


def test_the_model_is_told_what_it_is_to_know_and_its_tokens_are_counted():
    spent: list[Usage] = []
    with serving(lambda asked: said("In the shed.")) as server:
        assert chat(server, spent).complete("Be brief.", ASKED, timeout=5) == "In the shed."
        (asked,) = server.asked
    assert asked.path == "/chat/completions"
    assert asked.body == {
        "model": "small",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Where is the tent?"}],
    }
    assert spent == [Usage(12, 5)]


@pytest.mark.parametrize(
    "answer",
    [
        *(said(None), said(" "), said("Half of", "length")),
        *(Answer(body={}), Answer(body=[]), Answer(body={"choices": []}), Answer(body=b"<html>"), Answer(403, {})),
    ],
)
def test_an_answer_without_whole_text_is_no_answer(answer):
    with serving(lambda asked: answer) as server, pytest.raises(ModelUnavailable):
        chat(server).complete("", ASKED, timeout=5)


def test_a_server_that_is_silent_ends_in_time():
    with serving(lambda asked: Answer(0)) as server, pytest.raises(ModelUnavailable, match="in time"):
        chat(server).complete("", ASKED, timeout=0.2)


def test_a_stream_is_given_piece_by_piece_and_its_tokens_are_counted():
    pieces = [{"choices": [{"delta": {"content": text}}]} for text in ("In ", "the ", "shed.")]
    pieces.append({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}})
    body = "".join(f": keep-alive\n\ndata: {json.dumps(piece)}\n\n" for piece in pieces) + "data: [DONE]\n\n"
    spent: list[Usage] = []
    with serving(lambda asked: Answer(body=body.encode())) as server:
        found = list(chat(server, spent).stream("", [{"role": "user", "content": "?"}], timeout=5))
        assert server.asked[0].body["stream"] is True
    assert found == ["In ", "the ", "shed."]
    assert spent == [Usage(3, 4)]


def test_a_stream_that_is_refused_or_garbled_says_so():
    for answer in (Answer(500, {}), Answer(body=b"data: {no json\n\n")):
        with serving(lambda asked, answer=answer: answer) as server, pytest.raises(ModelUnavailable):
            list(chat(server).stream("", [], timeout=5))


def test_tools_are_offered_and_what_the_model_calls_is_read():
    call = {"id": "c1", "type": "function", "function": {"name": "memory_search", "arguments": '{"query": "tent"}'}}
    tools = [{"type": "function", "function": {"name": "memory_search", "parameters": {"type": "object"}}}]
    with serving(lambda asked: said(None, "tool_calls", tool_calls=[call])) as server:
        reply = chat(server).answer("", [{"role": "user", "content": "?"}], timeout=5, tools=tools)
        assert server.asked[0].body["tools"] == tools
    (found,) = reply.calls
    assert (found.id, found.name, dict(found.arguments)) == ("c1", "memory_search", {"query": "tent"})


@pytest.mark.parametrize("arguments", ["{", "[1]", '"x"'])
def test_a_call_whose_arguments_are_no_object_is_no_answer(arguments):
    call = {"id": "c1", "function": {"name": "memory_search", "arguments": arguments}}
    with serving(lambda asked: said(None, tool_calls=[call])) as server, pytest.raises(ModelUnavailable):
        chat(server).answer("", [], timeout=5)


def whole(value: Any) -> int:
    if not isinstance(value, dict) or not isinstance(value.get("floor"), int):
        raise ValueError("floor must be a whole number")
    return value["floor"]


@pytest.mark.parametrize("first", ['{"floor": 3}', '```json\n{"floor": 3}\n```', 'Here it is: {"floor": 3}. Bye'])
def test_an_answer_of_a_shape_is_read_however_it_is_wrapped(first):
    with serving(lambda asked: said(first)) as server:
        assert chat(server).structured("", ASKED, {"type": "object"}, whole, timeout=5) == 3
        assert len(server.asked) == 1


def test_an_answer_that_does_not_fit_is_sent_back_once_with_the_reason():
    answers = ['{"floor": "third"}', '{"floor": 3}']
    with serving(lambda asked: said(answers.pop(0))) as server:
        assert chat(server).structured("", ASKED, {"type": "object"}, whole, timeout=5) == 3
        repair = server.asked[1].body["messages"]
    assert [one["role"] for one in repair] == ["system", "user", "assistant", "user"]
    assert "floor must be a whole number" in repair[-1]["content"]


def test_a_repair_that_does_not_fit_either_is_no_answer():
    with serving(lambda asked: said("no idea")) as server:
        with pytest.raises(ModelUnavailable, match="does not fit"):
            chat(server).structured("", ASKED, {"type": "object"}, whole, timeout=5)
        assert len(server.asked) == 2


def test_the_next_model_answers_where_the_first_does_not():
    def answer(asked: Asked) -> Answer:
        return Answer(503, {}) if asked.body["model"] == "large" else said("From the small one.")

    with serving(answer) as server:
        named = NamedChat(["home/large", "home/small"], lambda reference: _model(server, reference))
        assert named.complete("", ASKED, timeout=5) == "From the small one."


def _model(server: Provider, reference: str) -> RemoteChat:
    client = Client("home", server.address, {}, clock=FixedClock(NOW))
    return RemoteChat(reference.partition("/")[2], client, retries=0)


@pytest.mark.parametrize("reference", ["small", "nowhere/small", "openai/small", "github-copilot/"])
def test_a_name_that_leads_nowhere_says_why(reference):
    with pytest.raises(ModelUnavailable, match=r"no provider that is known|no key"):
        open_chat(reference, {}, FixedClock(NOW), lambda usage: None, env={})


def test_flush_and_summary_ask_the_configured_models_and_status_tells_the_cost(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    key, me = "agent:main:irc:direct:me", Sender.owner("me", channel="irc")
    Memory.create(state_dir=tmp_path / "state", workspace=tmp_path / "notes")
    with serving(lambda asked: said("NO_REPLY")) as server:
        compaction = {"keepRecentTokens": 300, "reserveTokensFloor": 200, "model": "home/large"}
        config = {
            "memory": {"search": {"provider": "none"}},
            "agents": {"defaults": {"model": "home/small", "compaction": compaction}},
            "models": {"providers": {"home": {"baseUrl": server.address, "apiKey": KEY}}},
        }
        (tmp_path / "state" / "reverie.json5").write_text(json.dumps(config), encoding="utf-8")
        with Memory.open(state_dir=tmp_path / "state", workspace=tmp_path / "notes", clock=FixedClock(NOW)) as memory:
            for number in range(10):
                with memory.turn(key, f"Beam {number} of the attic is dry. " * 10, me) as turn:
                    turn.reply("Noted. " * 20)
            memory.after_turn(key, window=2000, used=1900)
            spent = {(one.feature, one.model): one for one in memory.status().model_usage}
        asked = [one.body["model"] for one in server.asked]
    assert set(asked) == {"small", "large"}
    assert set(spent) == {("flush", "home/small"), ("compaction", "home/large")}
    assert all(one.prompt == 12 * one.calls and one.completion == 5 * one.calls for one in spent.values())
    assert sum(one.calls for one in spent.values()) == len(asked)
