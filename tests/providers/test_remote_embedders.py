"""Embedders over HTTP, each in its provider's own format, against a server on this machine."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import numpy as np
import pytest
import stamina
from tests.providers.server import Answer, Asked, Provider, serving

from reverie import Memory
from reverie.core.clock import FixedClock
from reverie.core.errors import EmbedderUnavailable
from reverie.core.types import SearchRequest
from reverie.providers.remote.client import Client
from reverie.providers.remote.embedder import BATCH_BYTES, Kinds, RemoteEmbedder
from reverie.providers.remote.known import PROVIDERS
from reverie.providers.remote.wire import Wire

NOW = datetime(2031, 1, 5, 9, tzinfo=UTC)
KEY = "sk-made-up-0123456789"
WIDTH = 8


@pytest.fixture(autouse=True)
def _no_pauses():
    """Let retries follow each other at once; how many there are stays."""
    with stamina.set_testing(True, attempts=3):
        yield


def vector(text: str) -> list[float]:
    """Return a direction that depends on the text, as a model would."""
    return [math.sin(1.0 + at + sum(map(ord, text)) % 97) for at in range(WIDTH)]


def texts_of(asked: Asked) -> list[str]:
    body = asked.body
    if "requests" in body:
        return [one["content"]["parts"][0]["text"] for one in body["requests"]]
    if "inputText" in body:
        return [body["inputText"]]
    found: list[str] = body.get("input") or body["texts"]
    return found


def answered(wire: str, vectors: list[list[float]]) -> Any:
    if wire == "gemini":
        return {"embeddings": [{"values": one} for one in vectors]}
    if wire == "ollama":
        return {"model": "m", "embeddings": vectors}
    if wire == "bedrock":
        return {"embedding": vectors[0], "inputTextTokenCount": 3}
    # the members of OpenAI's list carry their place, and may come in any order
    return {"data": [{"index": at, "embedding": one} for at, one in enumerate(vectors)][::-1]}


def embedder(server: Provider, wire: Wire, **more: Any) -> RemoteEmbedder:
    client = Client("stub", server.address, wire.headers(KEY), clock=FixedClock(NOW))
    return RemoteEmbedder("stub", "small", wire, client, known_width=WIDTH, **more)


WIRES = {known.wire.name: known.wire for known in PROVIDERS.values()}


@pytest.fixture(params=sorted(WIRES))
def wire(request):
    return WIRES[request.param]


def test_every_format_gives_unit_vectors_in_the_order_of_the_texts(wire):
    texts = ["the kiln", "", "die Fähre", "报销流程"]
    with serving(lambda asked: Answer(body=answered(wire.name, [vector(text) for text in texts_of(asked)]))) as server:
        found = embedder(server, wire).embed_documents(texts)
    assert found.shape == (4, WIDTH)
    assert not found[1].any()
    for at in (0, 2, 3):
        wanted = np.array(vector(texts[at]))
        assert np.allclose(found[at], wanted / np.linalg.norm(wanted), atol=1e-6)


def test_every_format_sends_the_model_and_the_key_where_they_belong(wire):
    with serving(lambda asked: Answer(body=answered(wire.name, [vector(text) for text in texts_of(asked)]))) as server:
        embedder(server, wire).embed_query("where is the kiln?")
        (asked,) = server.asked
    assert "small" in asked.path + json.dumps(asked.body)
    assert any(KEY in value for value in asked.headers.values())
    assert KEY not in asked.path


@pytest.mark.parametrize(
    ("name", "field", "words"),
    [
        ("voyage", "input_type", ("query", "document")),
        ("gemini", "taskType", ("RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT")),
    ],
)
def test_questions_and_passages_are_told_apart_where_the_provider_does(name, field, words):
    wire = WIRES[name]
    with serving(lambda asked: Answer(body=answered(name, [vector(text) for text in texts_of(asked)]))) as server:
        one = embedder(server, wire)
        one.embed_query("where?")
        one.embed_documents(["here"])
        embedder(server, wire, kinds=Kinds("ask", "tell")).embed_query("where?")
        said = [asked.body.get(field) or asked.body["requests"][0][field] for asked in server.asked]
    assert said == [*words, "ask"]


def test_a_width_that_is_asked_for_is_sent(wire):
    with serving(lambda asked: Answer(body=answered(wire.name, [vector(text) for text in texts_of(asked)]))) as server:
        embedder(server, wire, width=WIDTH).embed_query("where?")
        assert f": {WIDTH}" in json.dumps(server.asked[0].body)


@pytest.mark.parametrize("name", sorted(WIRES))
def test_emb_07_a_batch_that_is_refused_is_halved_until_it_is_taken(name):
    def answer(asked: Asked) -> Answer:
        texts = texts_of(asked)
        if len(texts) > 10:
            return Answer(400, {"error": {"message": "一度に送れるのは十件までです"}})
        return Answer(body=answered(name, [vector(text) for text in texts]))

    texts = [f"line number {number}" for number in range(45)]
    with serving(answer) as server:
        found = embedder(server, WIRES[name]).embed_documents(texts)
    wanted = np.array([vector(text) for text in texts])
    assert np.allclose(found, wanted / np.linalg.norm(wanted, axis=1, keepdims=True), atol=1e-6)


def test_batches_are_bounded_by_their_size():
    with serving(lambda asked: Answer(body=answered("openai", [vector(text) for text in texts_of(asked)]))) as server:
        embedder(server, WIRES["openai"]).embed_documents(["漢" * 1000] * 7)
        sizes = [sum(len(text.encode()) for text in texts_of(asked)) for asked in server.asked]
    assert sum(sizes) == 21_000
    assert max(sizes) <= BATCH_BYTES


def test_a_rate_limit_is_waited_for_and_the_text_comes_through(wire):
    answers = [Answer(429, {"error": "slow down"}, {"Retry-After": "0"}), None]

    def answer(asked: Asked) -> Answer:
        said = answers.pop(0)
        return said or Answer(body=answered(wire.name, [vector(text) for text in texts_of(asked)]))

    with serving(answer) as server:
        assert embedder(server, wire).embed_query("where?").shape == (WIDTH,)
        assert len(server.asked) == 2


@pytest.mark.parametrize(
    "header",
    [{"Retry-After": "3600"}, {"Retry-After": format_datetime(NOW + timedelta(hours=1), usegmt=True)}, {}],
)
def test_a_pause_that_is_too_long_and_a_quota_that_is_used_up_are_not_waited_for(header):
    with serving(lambda asked: Answer(429, {"error": "quota"}, header)) as server:
        with pytest.raises(EmbedderUnavailable, match="429"):
            embedder(server, WIRES["openai"]).embed_query("where?")
        assert len(server.asked) == 1


def test_a_key_that_is_wrong_is_no_reason_to_try_again_and_is_shown_nowhere(wire):
    with serving(lambda asked: Answer(403, {"error": f"the key {KEY} may not do this"})) as server:
        one = embedder(server, wire)
        with pytest.raises(EmbedderUnavailable, match="403") as raised:
            one.embed_query("where?")
        assert len(server.asked) == 1
        assert KEY not in f"{raised.value!s}{raised.value!r}{raised.value.__cause__!s}{one.identity()}{one._client!r}"


def test_a_server_that_fails_is_tried_a_few_times_and_then_left_alone():
    with serving(lambda asked: Answer(503, {})) as server:
        one = embedder(server, WIRES["openai"])
        for _ in range(3):
            with pytest.raises(EmbedderUnavailable, match="503"):
                one.embed_query("where?")
        assert len(server.asked) == 9
        with pytest.raises(EmbedderUnavailable, match="did not answer lately"):
            one.embed_query("where?")
        assert len(server.asked) == 9


def test_a_server_that_is_silent_ends_in_time(monkeypatch):
    from reverie.providers.remote import embedder as module

    monkeypatch.setattr(module, "ASKING", module.Patience(attempts=1, timeout=0.2, total=0.2))
    with serving(lambda asked: Answer(0)) as server, pytest.raises(EmbedderUnavailable, match="in time"):
        embedder(server, WIRES["openai"]).embed_query("where?")


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        ([[0.1] * 5], "width 5, not 8"),
        ([[float("nan")] * WIDTH], "without a direction"),
        ([[0.0] * WIDTH], "without a direction"),
        ([[0.1] * WIDTH, [0.2] * WIDTH], "2 vectors for 1 texts"),
        ([], "0 vectors for 1 texts"),
        ([["a"] * WIDTH], "no numbers"),
    ],
)
def test_vectors_that_are_wrong_are_refused(vectors, said):
    body = json.dumps(answered("ollama", vectors)).encode()
    with serving(lambda asked: Answer(body=body)) as server, pytest.raises(EmbedderUnavailable, match=said):
        embedder(server, WIRES["ollama"]).embed_query("where?")


@pytest.mark.parametrize("body", [b"<html>", b"{}", b"[]", b'{"data": 5}', b""])
def test_an_answer_in_another_form_is_named(wire, body):
    said = r"no JSON|form that is not known|vectors for 1"
    with serving(lambda asked: Answer(body=body)) as server, pytest.raises(EmbedderUnavailable, match=said):
        embedder(server, wire).embed_query("where?")


def test_a_redirect_is_not_followed():
    with serving(lambda asked: Answer(body={})) as other:
        where = {"Location": other.address + "/embeddings"}
        moved = serving(lambda asked: Answer(307, {}, where))
        with moved as server, pytest.raises(EmbedderUnavailable, match="307"):
            embedder(server, WIRES["openai"]).embed_query("where?")
        assert other.asked == []


# --- from the configuration ------------------------------------------------------------------------------------------


def memory_at(tmp_path, monkeypatch, search: dict[str, Any], **more: Any) -> Memory:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    Memory.create(state_dir=tmp_path / "state", workspace=tmp_path / "notes")
    config = {"memory": {"search": search}, **more}
    (tmp_path / "state" / "reverie.json5").write_text(json.dumps(config), encoding="utf-8")
    memory = Memory.open(state_dir=tmp_path / "state", workspace=tmp_path / "notes", clock=FixedClock(NOW))
    memory.note("The kiln fires at 980 degrees.")
    return memory


def test_emb_10_a_provider_of_ones_own_is_called_and_nobody_else(tmp_path, monkeypatch):
    import socket

    with serving(lambda asked: Answer(body=answered("openai", [vector(text) for text in texts_of(asked)]))) as server:
        port = server.server_address[1]
        connect = socket.socket.connect

        def only_there(self: socket.socket, address: Any) -> None:
            assert address[1] == port, f"I12: a connection to {address}"
            connect(self, address)

        monkeypatch.setattr(socket.socket, "connect", only_there)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        providers = {"local-stub": {"baseUrl": server.address, "models": [{"id": "small"}]}}
        search = {"provider": "local-stub", "model": "small"}
        with memory_at(tmp_path, monkeypatch, search, models={"providers": providers}) as memory:
            memory.index()
            result = memory.recall(SearchRequest("kiln"))
            assert result.mode == "hybrid"
            assert memory.status(deep=True).engine.provider == "local-stub"
        assert server.asked
        assert not any("Authorization" in asked.headers for asked in server.asked)


def test_emb_12_text_that_was_to_stay_goes_to_no_fallback_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(lambda asked: Answer(body={})) as dead:
        address = dead.address
    search = {"provider": "ollama", "model": "small", "remote": {"baseUrl": address}, "fallback": "openai"}
    with memory_at(tmp_path, monkeypatch, search) as memory:
        result = memory.recall(SearchRequest("kiln"))
    assert result.mode == "unavailable"
    assert any("would send text from here to elsewhere" in notice for notice in result.notices)


def test_a_fallback_takes_the_place_of_a_primary_that_is_down_with_its_own_model_and_key(tmp_path, monkeypatch):
    def answer(asked: Asked) -> Answer:
        return Answer(body=answered("openai", [vector(text) for text in texts_of(asked)]))

    with serving(lambda asked: Answer(503, {})) as primary, serving(answer) as other:
        providers = {
            "first": {"baseUrl": primary.address, "apiKey": KEY, "headers": {"X-Team": "kiln-works"}},
            "second": {"baseUrl": other.address, "models": [{"id": "spare"}]},
        }
        search = {"provider": "first", "model": "large", "fallback": "second"}
        with memory_at(tmp_path, monkeypatch, search, models={"providers": providers}) as memory:
            memory.index()
            found = memory.recall(SearchRequest("kiln"))
            assert (found.mode, found.notices) == ("hybrid", ())
            assert memory.status().engine.provider == "second"
        assert {asked.body["model"] for asked in other.asked} == {"spare"}
        assert not any("X-Team" in asked.headers or "Authorization" in asked.headers for asked in other.asked)


def test_a_provider_without_its_key_says_which_variable_has_it(tmp_path, monkeypatch):
    monkeypatch.delenv("VOYAGE_API_KEY", raising=False)
    with memory_at(tmp_path, monkeypatch, {"provider": "voyage"}) as memory:
        result = memory.recall(SearchRequest("kiln"))
    assert result.mode == "unavailable"
    assert any("there is no key for voyage" in notice for notice in result.notices)


def test_a_key_of_the_environment_goes_to_its_own_provider_only(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with serving(lambda asked: Answer(body=answered("openai", [vector(text) for text in texts_of(asked)]))) as server:
        search = {"provider": "openai", "outputDimensionality": WIDTH, "remote": {"baseUrl": server.address}}
        with memory_at(tmp_path, monkeypatch, search) as memory:
            memory.index()
            assert memory.recall(SearchRequest("kiln")).mode == "hybrid"
        assert server.asked
        assert all(KEY not in value for asked in server.asked for value in asked.headers.values())
