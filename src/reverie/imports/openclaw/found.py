"""One transcript of OpenClaw, from whichever generation, and the classes that its messages get here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from reverie.core.provenance import ContentSource, Role, least, of_message
from reverie.core.types import ChatType, Sender, SessionKind, SourceClass
from reverie.imports.speech import LOCAL_TOOLS
from reverie.sessions.adoption import Data, marked
from reverie.sessions.capture import declares_foreign, user_class
from reverie.sessions.keys import SessionKey
from reverie.sessions.messages import (
    HOST_FIELD,
    Message,
    MessageRole,
    Stamp,
    is_tainted,
    iso,
    sender_of,
    stamp_from_json,
    stamp_to_json,
)
from reverie.sessions.rows import narrowed
from reverie.sessions.tree import Entry

SOURCE = "openclaw"


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript: ``key`` as OpenClaw has it, ``kind`` and ``chat`` the most that may be assumed.

    ``row`` is what it knows of the conversation. ``current`` says that the conversation continues in this transcript.
    ``outside`` marks one that mail or a webhook fed.
    """

    session: str
    key: SessionKey
    entries: Callable[[], Iterable[Entry]]
    begun: datetime
    kind: SessionKind = SessionKind.UNKNOWN
    chat: ChatType = ChatType.UNKNOWN
    row: Mapping[str, Any] | None = None
    current: bool = True
    outside: bool = False
    cwd: str = ""

    @property
    def private(self) -> bool:
        """Say whether only its user can have spoken in it, as far as the host knows."""
        quiet = self.chat in (ChatType.DIRECT, ChatType.EXPLICIT) and not self.key.synthetic
        return quiet and self.kind is SessionKind.INTERACTIVE and not self.outside


def chat_of(key: SessionKey, said: object) -> ChatType:
    """Return who reads along: what the key says, narrowed by what the row says."""
    word = {"dm": "direct", "room": "channel"}.get(str(said), str(said))
    return narrowed(key.chat, next((chat for chat in ChatType if chat.value == word), None))


def classed(found: Transcript, *, mine: bool) -> Iterator[Data]:
    """Yield the entries of a transcript, each message with the class that OpenClaw's host vouches for, or less.

    A user message is the owner's where its metadata says so. With ``mine`` the owner vouches for those in private
    chats that name no sender. Marks of our own in the file can only lower a class: anyone can have written the file.
    """
    owner = Sender.owner("me", channel=SOURCE) if mine and found.private else None
    turn, tainted = SourceClass.UNTRUSTED, True
    for entry in found.entries():
        data = {**entry.data, "id": entry.id, "parentId": entry.parent}
        message = entry.message
        if message is None:
            yield marked(data, SOURCE)
            continue
        own = stamp_from_json(entry.data["message"].get(HOST_FIELD))
        plain = replace(message, stamp=None)
        if message.role is MessageRole.USER:
            turn, tainted = _of_user(plain, found, owner, own), False
            stamp = Stamp(turn, _kind(found.kind, own), _named(plain, owner, turn))
        elif message.role is MessageRole.ASSISTANT:
            tainted = tainted or is_tainted(plain) or (own is not None and own.tainted)
            origin = of_message(Role.ASSISTANT, sender=None, turn=turn, tainted=tainted)
            stamp = Stamp(_lowered(origin, own), _kind(found.kind, own), tainted=tainted)
        else:
            source = _declared(plain, own)
            local = source is ContentSource.LOCAL or message.tool.lower() in LOCAL_TOOLS
            tainted = tainted or not local
            stamp = Stamp(SourceClass.UNTRUSTED, found.kind, tainted=tainted, source=source)
        body = {**entry.data["message"], HOST_FIELD: stamp_to_json(stamp)}
        at = {} if entry.data.get("timestamp") or message.at is None else {"timestamp": iso(message.at)}
        yield marked(data | at | {"message": body}, SOURCE)


def _of_user(message: Message, found: Transcript, owner: Sender | None, own: Stamp | None) -> SourceClass:
    origin = user_class(message)
    if owner is not None and sender_of(message) is None and not message.host_kind:
        origin = SourceClass.OWNER
    if found.outside:
        origin = least((origin, SourceClass.UNTRUSTED))
    return _lowered(origin, own)


def _lowered(origin: SourceClass, own: Stamp | None) -> SourceClass:
    return least((origin, own.origin)) if own is not None else origin


def _kind(kind: SessionKind, own: Stamp | None) -> SessionKind:
    return own.kind if own is not None and kind is SessionKind.INTERACTIVE else kind


def _named(message: Message, owner: Sender | None, origin: SourceClass) -> Sender | None:
    """Return who is written down as the sender; an owner only where the class says so."""
    sender = sender_of(message)
    if sender is not None:
        return sender if origin is SourceClass.OWNER else replace(sender, is_owner=False)
    return owner if origin is SourceClass.OWNER else None


def _declared(message: Message, own: Stamp | None) -> ContentSource:
    if declares_foreign(message):
        return ContentSource.NETWORK
    return own.source if own is not None and own.source is not None else ContentSource.UNDECLARED
