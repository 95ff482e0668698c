"""Messages as a transcript stores them: OpenClaw's shapes, and beside them what Reverie's host knew of each.

Everything that is not understood is kept and written back as it was read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from reverie.core.clock import as_utc, parse_moment
from reverie.core.provenance import ContentSource
from reverie.core.types import Sender, SessionKind, SourceClass

#: Where Reverie keeps its own facts in a message or a header: beside OpenClaw's, in the same manner.
HOST_FIELD = "__reverie"
OPENCLAW_FIELD = "__openclaw"

E = TypeVar("E", bound=StrEnum)

_CALL_TYPES = frozenset({"toolCall", "toolUse", "tool_use", "functionCall"})
_SECONDS_BELOW = 100_000_000_000  # as milliseconds this is early 1973: a smaller number is seconds


class MessageRole(StrEnum):
    """Who or what a message comes from, in the words of the file."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL_RESULT = "toolResult"
    BASH = "bashExecution"
    CUSTOM = "custom"
    BRANCH_SUMMARY = "branchSummary"
    COMPACTION_SUMMARY = "compactionSummary"
    OTHER = "other"


_ROLES = {role.value: role for role in MessageRole} | {
    "tool": MessageRole.TOOL_RESULT,
    "hookMessage": MessageRole.CUSTOM,
}


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the host knew when it wrote a message. Code sets it; nothing in the text can.

    ``source`` is what a tool result declared about its content. ``tainted`` says that untrusted content had come into
    the turn before this message.
    """

    origin: SourceClass
    kind: SessionKind = SessionKind.UNKNOWN
    sender: Sender | None = None
    tainted: bool = False
    source: ContentSource | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A part of a message: its ``type`` and every other field of it."""

    type: str
    data: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_text(cls, text: str) -> Block:
        """Return a text block."""
        return cls("text", {"text": text})

    @property
    def text(self) -> str:
        """Return the words of a text block; of any other block nothing."""
        found = self.data.get("text") if self.type == "text" else None
        return found if isinstance(found, str) else ""


@dataclass(frozen=True, slots=True)
class Message:
    """One message. ``fields`` holds what the role needs besides (tool, model, usage, ...), as in the file.

    ``at`` is aware UTC with millisecond precision. ``plain`` says that the file holds the text as a string rather than
    as blocks. ``named`` is the role in the file's own word where that is none we know.
    """

    role: MessageRole
    blocks: tuple[Block, ...] = ()
    at: datetime | None = None
    stamp: Stamp | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    plain: bool = False
    named: str = ""

    @classmethod
    def user(cls, text: str, at: datetime, stamp: Stamp) -> Message:
        """Return what a person (or a program in their place) said."""
        return cls(MessageRole.USER, (Block.of_text(text),), in_milliseconds(at), stamp)

    @classmethod
    def assistant(
        cls, text: str, at: datetime, stamp: Stamp, *, model: str = "", calls: tuple[Block, ...] = ()
    ) -> Message:
        """Return what the model answered, with the tool calls that it made."""
        blocks = ((Block.of_text(text),) if text or not calls else ()) + calls
        stop = "toolUse" if calls else "stop"
        return cls(MessageRole.ASSISTANT, blocks, in_milliseconds(at), stamp, _model_fields(model, stop))

    @classmethod
    def tool_result(
        cls, tool: str, call: str, text: str, at: datetime, stamp: Stamp, *, failed: bool = False
    ) -> Message:
        """Return what a tool gave back for the call of that id."""
        fields = {"toolCallId": call, "toolName": tool, "isError": failed}
        return cls(MessageRole.TOOL_RESULT, (Block.of_text(text),), in_milliseconds(at), stamp, fields)

    @property
    def text(self) -> str:
        """Return the words of the message, without thinking, tool calls and images."""
        return "\n".join(block.text for block in self.blocks if block.text)

    @property
    def tool(self) -> str:
        """Return the name of the tool that a result comes from."""
        return str(self.fields.get("toolName") or self.fields.get("name") or "")

    @property
    def calls(self) -> tuple[Block, ...]:
        """Return the tool calls that an assistant message makes."""
        return tuple(block for block in self.blocks if block.type in _CALL_TYPES)

    @property
    def host_kind(self) -> str:
        """Return what OpenClaw says of the origin: ``inter_session``, ``internal_system``, ..., or nothing."""
        found = self.fields.get("provenance")
        kind = found.get("kind") if isinstance(found, Mapping) else None
        return kind if isinstance(kind, str) else ""

    @property
    def hidden(self) -> bool:
        """Say whether the message is kept out of the model's context."""
        return self.fields.get("excludeFromContext") is True


def _model_fields(model: str, stop: str) -> dict[str, Any]:
    counts = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0)
    cost = {**counts, "total": 0}
    usage = {**counts, "totalTokens": 0, "cost": cost}
    return {"api": "reverie", "provider": "reverie", "model": model or "unknown", "usage": usage, "stopReason": stop}


# --- time ----------------------------------------------------------------------------------------------------


def in_milliseconds(at: datetime) -> datetime:
    """Return the moment in UTC, cut to the milliseconds that the file can hold."""
    at = as_utc(at)
    return at.replace(microsecond=at.microsecond // 1000 * 1000)


def iso(at: datetime) -> str:
    """Return a moment as the file spells it: ISO 8601, UTC, milliseconds, ``Z``."""
    return as_utc(at).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def epoch_ms(at: datetime) -> int:
    """Return a moment in milliseconds since 1970."""
    delta = as_utc(at) - datetime(1970, 1, 1, tzinfo=UTC)
    return (delta.days * 86400 + delta.seconds) * 1000 + delta.microseconds // 1000


def moment(value: object) -> datetime | None:
    """Read a time in any spelling seen in transcripts: epoch milliseconds or seconds, ISO with or without a zone."""
    if isinstance(value, str):
        return parse_moment(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return datetime.fromtimestamp(value if abs(value) < _SECONDS_BELOW else value / 1000, tz=UTC)
    except (ValueError, OverflowError, OSError):
        return None


# --- to and from JSON ----------------------------------------------------------------------------------------


def message_to_json(message: Message) -> dict[str, Any]:
    """Return the message as the file holds it."""
    data: dict[str, Any] = {"role": message.named or message.role.value}
    if message.plain:
        data["content"] = message.text
    elif message.blocks or message.role in (MessageRole.USER, MessageRole.ASSISTANT, MessageRole.TOOL_RESULT):
        data["content"] = [{"type": block.type, **block.data} for block in message.blocks]
    data.update(message.fields)
    if message.at is not None:
        data["timestamp"] = epoch_ms(message.at)
    if message.stamp is not None:
        data[HOST_FIELD] = stamp_to_json(message.stamp)
    return data


def message_from_json(data: Mapping[str, Any]) -> Message:
    """Read a message; never raises for what it holds."""
    word = data.get("role")
    role = _ROLES.get(word, MessageRole.OTHER) if isinstance(word, str) else MessageRole.OTHER
    content, at = data.get("content"), moment(data.get("timestamp"))
    stamp = stamp_from_json(data.get(HOST_FIELD))
    understood = {"role", "content"}
    understood |= {"timestamp"} if at is not None else set()
    understood |= {HOST_FIELD} if stamp is not None else set()
    if role is MessageRole.BASH and "content" not in data:
        understood.discard("content")
    return Message(
        role=role,
        blocks=_blocks(content),
        at=at,
        stamp=stamp,
        fields={name: value for name, value in data.items() if name not in understood},
        plain=isinstance(content, str),
        named=word if isinstance(word, str) and word != role.value else "",
    )


def _blocks(content: object) -> tuple[Block, ...]:
    if isinstance(content, str):
        return (Block.of_text(content),)
    if not isinstance(content, list):
        return ()
    found = []
    for part in content:
        if isinstance(part, str):
            found.append(Block.of_text(part))
        elif isinstance(part, dict):
            kind = part.get("type")
            data = {name: value for name, value in part.items() if name != "type"}
            found.append(Block(kind if isinstance(kind, str) else "", data))
    return tuple(found)


def stamp_to_json(stamp: Stamp) -> dict[str, Any]:
    """Return a stamp as the file holds it; what is not set is left out."""
    data: dict[str, Any] = {"origin": stamp.origin.value, "kind": stamp.kind.value}
    if stamp.sender is not None:
        sender = stamp.sender
        data["sender"] = {"id": sender.id, "channel": sender.channel, "account": sender.account}
        data["sender"] |= {"isOwner": True} if sender.is_owner else {}
        data["sender"] |= {"isBot": True} if sender.is_bot else {}
        data["sender"] |= {"name": sender.name} if sender.name else {}
    if stamp.tainted:
        data["tainted"] = True
    if stamp.source is not None:
        data["source"] = stamp.source.value
    return data


def stamp_from_json(data: object) -> Stamp | None:
    """Read a stamp. What cannot be read in it counts as the least: untrusted, unknown, no owner, tainted."""
    if not isinstance(data, Mapping):
        return None
    sender, source = data.get("sender"), data.get("source")
    return Stamp(
        origin=_member(SourceClass, data.get("origin"), SourceClass.UNTRUSTED),
        kind=_member(SessionKind, data.get("kind"), SessionKind.UNKNOWN),
        sender=_sender(sender) if isinstance(sender, Mapping) else None,
        tainted=data.get("tainted", False) is not False,
        source=None if source is None else _member(ContentSource, source, ContentSource.UNDECLARED),
    )


def _member(kind: type[E], value: object, otherwise: E) -> E:
    return next((member for member in kind if member.value == value), otherwise)


def _sender(data: Mapping[str, Any]) -> Sender:
    return Sender(
        id=str(data.get("id") or "unknown"),
        channel=str(data.get("channel") or "unknown"),
        account=str(data.get("account") or "default"),
        is_owner=data.get("isOwner") is True,
        is_bot=data.get("isBot", False) is not False,
        name=str(data.get("name") or ""),
    )


def sender_of(message: Message) -> Sender | None:
    """Return who sent a message, as its host recorded it: ours, or OpenClaw's; ``None`` if neither says."""
    if message.stamp is not None:
        return message.stamp.sender
    found = message.fields.get(OPENCLAW_FIELD)
    if not isinstance(found, Mapping):
        return None
    return Sender(
        id=str(found.get("senderId") or "unknown"),
        channel=str(found.get("channel") or "unknown"),
        is_owner=found.get("senderIsOwner") is True,
        is_bot=found.get("senderIsBot", False) is not False,
        name=str(found.get("senderName") or ""),
    )


def is_tainted(message: Message) -> bool:
    """Say whether the host recorded that untrusted content had come in before this message was written."""
    if message.stamp is not None:
        return message.stamp.tainted
    found = message.fields.get(OPENCLAW_FIELD)
    return isinstance(found, Mapping) and found.get("turnTainted", False) is not False
