"""How each kind of provider is asked for embeddings, and how its answer is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

#: The two sides of a search.
QUERY, DOCUMENT = "query", "document"


@dataclass(frozen=True, slots=True)
class Asked:
    """Texts to embed: by which model, as what, how wide. ``kind`` is the provider's own word where one is set."""

    model: str
    texts: Sequence[str]
    side: str
    width: int | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Wire:
    """A format: the path of a request, its body, the vectors of its answer, the header of the key.

    ``most`` texts go into one request at most; ``read`` raises ``KeyError``, ``TypeError`` or ``IndexError`` for an
    answer of another shape.
    """

    name: str
    path: Callable[[Asked], str]
    body: Callable[[Asked], object]
    read: Callable[[Any], list[Sequence[float]]]
    headers: Callable[[str], Mapping[str, str]]
    most: int = 96


def _bearer(key: str) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"}


def _in_order(answer: Any) -> list[Sequence[float]]:
    """Read OpenAI's list, whose members carry their place."""
    found = sorted(answer["data"], key=lambda one: one.get("index", 0))
    return [one["embedding"] for one in found]


def _openai(asked: Asked) -> object:
    body: dict[str, object] = {"model": asked.model, "input": list(asked.texts), "encoding_format": "float"}
    if asked.width:
        body["dimensions"] = asked.width
    if asked.kind:
        body["input_type"] = asked.kind
    return body


def _mistral(asked: Asked) -> object:
    body: dict[str, object] = {"model": asked.model, "input": list(asked.texts)}
    if asked.width:
        body["output_dimension"] = asked.width
    return body


def _voyage(asked: Asked) -> object:
    body: dict[str, object] = {
        "model": asked.model,
        "input": list(asked.texts),
        "input_type": asked.kind or asked.side,
    }
    if asked.width:
        body["output_dimension"] = asked.width
    return body


def _gemini(asked: Asked) -> object:
    task = asked.kind or ("RETRIEVAL_QUERY" if asked.side == QUERY else "RETRIEVAL_DOCUMENT")
    more: dict[str, object] = {"outputDimensionality": asked.width} if asked.width else {}
    name = f"models/{asked.model}"
    return {
        "requests": [
            {"model": name, "content": {"parts": [{"text": text}]}, "taskType": task, **more} for text in asked.texts
        ]
    }


def _ollama(asked: Asked) -> object:
    body: dict[str, object] = {"model": asked.model, "input": list(asked.texts), "truncate": True}
    if asked.width:
        body["dimensions"] = asked.width
    return body


def _bedrock(asked: Asked) -> object:
    if asked.model.startswith("cohere."):
        side = "search_query" if asked.side == QUERY else "search_document"
        return {"texts": list(asked.texts), "input_type": asked.kind or side}
    body: dict[str, object] = {"inputText": asked.texts[0], "normalize": True}
    if asked.width:
        body["dimensions"] = asked.width
    return body


def _from_bedrock(answer: Any) -> list[Sequence[float]]:
    found: list[Sequence[float]] = answer["embeddings"] if "embeddings" in answer else [answer["embedding"]]
    return found


OPENAI = Wire("openai", lambda _: "/embeddings", _openai, _in_order, _bearer)
MISTRAL = Wire("mistral", lambda _: "/embeddings", _mistral, _in_order, _bearer)
VOYAGE = Wire("voyage", lambda _: "/embeddings", _voyage, _in_order, _bearer)
GEMINI = Wire(
    "gemini",
    lambda asked: f"/models/{asked.model}:batchEmbedContents",
    _gemini,
    lambda answer: [one["values"] for one in answer["embeddings"]],
    lambda key: {"x-goog-api-key": key},
)
OLLAMA = Wire("ollama", lambda _: "/api/embed", _ollama, lambda answer: list(answer["embeddings"]), _bearer)
#: Titan takes one text a request.
BEDROCK = Wire("bedrock", lambda asked: f"/model/{asked.model}/invoke", _bedrock, _from_bedrock, _bearer, most=1)
