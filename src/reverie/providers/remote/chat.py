"""A chat model behind an OpenAI-compatible address: answers, streams, tool calls, and answers of a given shape."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reverie.core.errors import ModelUnavailable, ProviderFailure
from reverie.core.types import ChatMessage
from reverie.providers.remote.client import Client, Patience

_FENCED = re.compile(r"```(?:json)?\s*\n(.*?)```", re.DOTALL)
_REPAIR = "That is not valid for the schema: {error}. Answer again with nothing but the corrected JSON."


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request, as the provider counts them."""

    prompt: int = 0
    completion: int = 0


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants called."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: its text, the tools it asks for, what it cost, and whether it was not cut off."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    whole: bool = True


class RemoteChat:
    """One model of one provider. ``spent`` is told of the tokens of every answer."""

    def __init__(
        self, model: str, client: Client, *, spent: Callable[[Usage], None] = lambda usage: None, retries: int = 2
    ) -> None:
        self.model = model
        self._client = client
        self._spent = spent
        self._attempts = retries + 1

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def complete(self, system: str, messages: Sequence[ChatMessage], *, timeout: float) -> str:
        """Return the answer as text; see :class:`reverie.core.types.ChatModel`."""
        reply = self.answer(system, _plain(messages), timeout=timeout)
        if not reply.text.strip() or not reply.whole:
            raise ModelUnavailable(f"{self._client.name} gave {'half an' if reply.text.strip() else 'no'} answer")
        return reply.text

    def answer(
        self,
        system: str,
        messages: Sequence[Mapping[str, Any]],
        *,
        timeout: float,
        tools: Sequence[Mapping[str, Any]] = (),
    ) -> Reply:
        """Return an answer with the tool calls that it asks for.

        Args:
            system: what the model is told beforehand.
            messages: the conversation in OpenAI's form, tool calls and results included.
            timeout: seconds for all of it.
            tools: what may be called, each as ``{"type": "function", "function": {…}}``.

        Raises:
            ModelUnavailable: there is no answer.
        """
        body = self._body(system, messages, tools)
        try:
            found = self._client.post("/chat/completions", body, self._patience(timeout))
            choice = found["choices"][0]
            message = choice["message"]
            usage = _usage(found.get("usage"))
            calls = tuple(_call(one) for one in message.get("tool_calls") or ())
        except ProviderFailure as failure:
            raise ModelUnavailable(failure.text, hint=failure.hint, kind=str(failure.kind)) from failure
        except (KeyError, IndexError, TypeError, AttributeError, json.JSONDecodeError) as error:
            raise ModelUnavailable(f"{self._client.name} answered in a form that is not known") from error
        self._spent(usage)
        return Reply(_text(message.get("content")), calls, usage, choice.get("finish_reason") != "length")

    def stream(self, system: str, messages: Sequence[Mapping[str, Any]], *, timeout: float) -> Iterator[str]:
        """Yield the answer piece by piece as it is made.

        Raises:
            ModelUnavailable: there is no answer, or it breaks off.
        """
        body = self._body(system, messages, ()) | {"stream": True, "stream_options": {"include_usage": True}}
        usage = Usage()
        try:
            with self._client.stream("/chat/completions", body, self._patience(timeout)) as lines:
                for piece in _events(lines):
                    usage = _usage(piece.get("usage")) if piece.get("usage") else usage
                    for choice in piece.get("choices") or ():
                        if text := _text((choice.get("delta") or {}).get("content")):
                            yield text
        except ProviderFailure as failure:
            raise ModelUnavailable(failure.text, hint=failure.hint, kind=str(failure.kind)) from failure
        except (AttributeError, json.JSONDecodeError) as error:
            raise ModelUnavailable(f"{self._client.name} answered in a form that is not known") from error
        finally:
            self._spent(usage)

    def structured(
        self,
        system: str,
        messages: Sequence[ChatMessage],
        schema: Mapping[str, Any],
        check: Callable[[Any], Any],
        *,
        timeout: float,
    ) -> Any:
        """Return an answer of a given shape; one that does not fit is sent back for repair once.

        Args:
            system: what the model is told beforehand.
            messages: the conversation.
            schema: the JSON schema that is asked for.
            check: makes the value, and raises ``ValueError`` for one that does not fit.
            timeout: seconds for each of the two attempts.

        Raises:
            ModelUnavailable: there is no answer, or none that fits.
        """
        shape = json.dumps(schema, ensure_ascii=False)
        asked = f"{system}\n\nAnswer with one JSON value of this schema and nothing else:\n{shape}"
        talk = [*_plain(messages)]
        said = self.answer(asked, talk, timeout=timeout).text
        try:
            return check(_json(said))
        except ValueError as error:
            repair = _REPAIR.format(error=str(error).splitlines()[0][:300])
        talk += [{"role": "assistant", "content": said}, {"role": "user", "content": repair}]
        try:
            return check(_json(self.answer(asked, talk, timeout=timeout).text))
        except ValueError as error:
            raise ModelUnavailable(
                "The model's answer does not fit, nor does its repair", reason=str(error)[:200]
            ) from error

    def _body(
        self, system: str, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        told = [{"role": "system", "content": system}] if system else []
        body: dict[str, Any] = {"model": self.model, "messages": [*told, *messages]}
        if tools:
            body["tools"] = list(tools)
        return body

    def _patience(self, timeout: float) -> Patience:
        return Patience(attempts=self._attempts, timeout=timeout, total=timeout, first=0.5, longest=8.0)


def _plain(messages: Sequence[ChatMessage]) -> list[dict[str, Any]]:
    return [{"role": message.role, "content": message.content} for message in messages]


def _text(content: object) -> str:
    """Return the words of a message, which may come in parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(part.get("text", "") for part in content if isinstance(part, dict))
    return ""


def _call(found: Mapping[str, Any]) -> ToolCall:
    arguments = json.loads(found["function"].get("arguments") or "{}")
    if not isinstance(arguments, dict):
        raise TypeError("the arguments are no object")
    return ToolCall(str(found.get("id", "")), str(found["function"]["name"]), arguments)


def _usage(found: object) -> Usage:
    if not isinstance(found, Mapping):
        return Usage()
    counts = (found.get("prompt_tokens"), found.get("completion_tokens"))
    return Usage(*(count if isinstance(count, int) and count >= 0 else 0 for count in counts))


def _events(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    """Yield the values of a stream of server-sent events."""
    for line in lines:
        if not line.startswith("data:"):
            continue
        data = line[5:].strip()
        if data == "[DONE]":
            return
        found = json.loads(data)
        if isinstance(found, dict):
            yield found


def _json(text: str) -> Any:
    """Return the JSON in an answer, fenced or not, with words before and after it or not."""
    fenced = _FENCED.search(text)
    bare = fenced[1] if fenced else text
    starts = [at for at in (bare.find("{"), bare.find("[")) if at >= 0]
    if not starts:
        raise ValueError("there is no JSON in it")
    return json.JSONDecoder().raw_decode(bare[min(starts) :])[0]
