"""What of a transcript may be searched or learned, and with which provenance.

One walk over the messages in the order of the file. What people and the assistant said to each other comes out; what
programs said to the assistant, and what the assistant was told from memory, does not (I3).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from reverie.core.provenance import ContentSource, Role, least, of_message, taints
from reverie.core.redaction import redact
from reverie.core.types import Provenance, SessionKind, SourceClass
from reverie.sessions.messages import Message, MessageRole, is_tainted, sender_of
from reverie.sessions.spoken import (
    PublicText,
    is_system_line,
    strip_directives,
    strip_envelope,
    strip_injected,
    strip_private,
    without_spans,
)
from reverie.sessions.tree import Entry

_CRON_PROMPT = re.compile(r"\s*\[cron:[^\]\n]{1,300}\]")
_EVENT = re.compile(r"(?:An async command|Exec (?:completed|finished|failed)|\[Inter-session message\])")
_SILENT = re.compile(r"[\W_]*NO_REPLY[\W_]*")
_HEARTBEAT_OK = "HEARTBEAT_OK"
_ACK_CHARS = 300
_RECALL_TOOLS = frozenset({"memory_search", "memory_get"})
#: Dropping one of these, everything up to the next user message is dropped for the same reason.
_WHOLE_TURN = frozenset({"heartbeat", "cron prompt", "recalled memory"})
#: Reasons that a program's own lines are dropped for.
SYSTEM_REASONS = _WHOLE_TURN | {"system", "inter-session message"}


@dataclass(frozen=True, slots=True)
class Captured:
    """A message that may be searched: what was said, and where it comes from."""

    entry: Entry
    role: Role
    text: str
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class Dropped:
    """A message that may not, and why."""

    entry: Entry
    reason: str


@dataclass(slots=True)
class _Turn:
    """What is known of the turn that the walk is in."""

    origin: SourceClass = SourceClass.UNTRUSTED
    tainted: bool = False
    dropped_for: str = ""
    public: PublicText = field(default_factory=lambda: PublicText(""))


def capture(
    entries: Iterable[Entry],
    *,
    kind: SessionKind,
    session: str,
    marker: str = "",
    external_tools: Container[str] = frozenset(),
    redacted: bool = True,
) -> Iterator[Captured | Dropped]:
    """Walk the messages of one transcript, from its beginning.

    Args:
        entries: the entries in the order of the file; others than messages are passed over.
        kind: what kind of session this is; a message can only lower it.
        session: the session id, for the provenance.
        marker: the nonce of this process's blocks of recalled memory, if it has one.
        external_tools: tools whose results count as foreign when they declare nothing.
        redacted: replace secrets.
    """
    turn = _Turn()
    clean = _redacted if redacted else _verbatim
    for entry in entries:
        message = entry.message
        if message is None:
            continue
        if message.role is MessageRole.USER:
            turn = _opened(message, turn)
            yield clean(_of_user(entry, message, turn, kind, session, marker))
        elif message.role is MessageRole.ASSISTANT:
            turn.tainted = turn.tainted or is_tainted(message)
            yield clean(_of_assistant(entry, message, turn, kind, session, marker))
        else:
            turn.tainted = turn.tainted or is_tainted(message) or brings_in(message, external_tools)
            yield Dropped(entry, "tool output" if message.role is not MessageRole.CUSTOM else "system")


def declares_foreign(message: Message) -> bool:
    """Say whether a tool result declares that its content comes from outside."""
    if message.stamp is not None and message.stamp.source in (ContentSource.NETWORK, ContentSource.UNTRUSTED_FILE):
        return True
    details = message.fields.get("details")
    declared = (message.fields, details if isinstance(details, Mapping) else {})
    return any(found.get("resultContentSource") == "network" for found in declared)


def brings_in(message: Message, external_tools: Container[str]) -> bool:
    """Say whether a message is output of a tool that brings foreign content into the turn."""
    if message.role is MessageRole.TOOL_RESULT:
        declared = message.stamp.source if message.stamp is not None else None
        source = declared if declared is not None else ContentSource.UNDECLARED
        return declares_foreign(message) or taints(source, tool=message.tool, external_tools=external_tools)
    return message.role is MessageRole.BASH and MessageRole.BASH.value in external_tools


def _redacted(found: Captured | Dropped) -> Captured | Dropped:
    return replace(found, text=redact(found.text)[0]) if isinstance(found, Captured) else found


def _verbatim(found: Captured | Dropped) -> Captured | Dropped:
    return found


def user_class(message: Message) -> SourceClass:
    """Return the class of a user message: what its host recorded of the sender decides, never its words."""
    if message.host_kind == "internal_system":
        return SourceClass.SYSTEM
    sender = sender_of(message) if message.host_kind != "inter_session" else None
    origin = of_message(Role.USER, sender=sender, turn=SourceClass.UNTRUSTED, tainted=False)
    return least((origin, message.stamp.origin)) if message.stamp is not None else origin


def _opened(message: Message, before: _Turn) -> _Turn:
    # Before anything else is taken away, which could take one of two marks with it.
    return _Turn(origin=user_class(message), public=strip_private(message.text, inside=before.public.open))


def _kind(message: Message, session_kind: SessionKind) -> SessionKind:
    """Return the kind of one message: that of its session unless the host recorded something lower."""
    if message.stamp is None or session_kind is not SessionKind.INTERACTIVE:
        return session_kind
    return message.stamp.kind


def _of_user(
    entry: Entry, message: Message, turn: _Turn, kind: SessionKind, session: str, marker: str
) -> Captured | Dropped:
    sender = sender_of(message)
    reason = _program_said(message, kind)
    text = ""
    if not reason:
        text = strip_envelope(strip_injected(turn.public.text, marker), sender.name if sender else "").strip()
        reason = _program_words(text) if text else _nothing_left(turn.public.text)
    if reason:
        turn.dropped_for = reason if reason in _WHOLE_TURN else ""
        return Dropped(entry, reason)
    provenance = Provenance(
        origin=turn.origin,
        kind=_kind(message, kind),
        observed_at=message.at or entry.at,
        session=session,
        sender=sender.id if sender else None,
    )
    return Captured(entry, Role.USER, text, provenance)


def _program_said(message: Message, kind: SessionKind) -> str:
    """Return why a user message is none, as the host recorded it."""
    if _kind(message, kind) is SessionKind.HEARTBEAT:
        return "heartbeat"
    if _kind(message, kind) is SessionKind.CRON:
        return "cron prompt"
    if message.host_kind == "inter_session":
        return "inter-session message"
    if message.host_kind == "internal_system":
        origin = message.fields.get("provenance")
        recalled = isinstance(origin, Mapping) and any(tool in origin.values() for tool in _RECALL_TOOLS)
        return "recalled memory" if recalled else "system"
    if message.stamp is not None and message.stamp.origin is SourceClass.SYSTEM:
        return "system"
    return ""


def _program_words(text: str) -> str:
    """Return why a text that the host did not mark was still said by a program."""
    if _CRON_PROMPT.match(text):
        return "cron prompt"
    if _HEARTBEAT_OK in text and "heartbeat" in text.replace(_HEARTBEAT_OK, "").lower():
        return "heartbeat"
    if _EVENT.match(text):
        return "inter-session message" if text.startswith("[Inter-session") else "system"
    return ""


def _nothing_left(text: str) -> str:
    return "system" if is_system_line(text.lstrip()) else "no words of its own"


def _of_assistant(
    entry: Entry, message: Message, turn: _Turn, kind: SessionKind, session: str, marker: str
) -> Captured | Dropped:
    if turn.dropped_for:
        return Dropped(entry, turn.dropped_for)
    text = strip_directives(strip_injected(message.text, marker))
    text = without_spans(strip_private(text).text, turn.public.spans).strip()
    if not text:
        return Dropped(entry, "no words of its own")
    if _SILENT.fullmatch(text):
        return Dropped(entry, "silent reply")
    if is_heartbeat_ack(text):
        return Dropped(entry, "heartbeat")
    origin = of_message(Role.ASSISTANT, sender=None, turn=turn.origin, tainted=turn.tainted)
    if message.stamp is not None:
        origin = least((origin, message.stamp.origin))
    provenance = Provenance(origin, _kind(message, kind), message.at or entry.at, session)
    return Captured(entry, Role.ASSISTANT, text, provenance)


def is_silent(text: str) -> bool:
    """Say whether a text is a reply that says nothing to anybody."""
    return _SILENT.fullmatch(text.strip()) is not None or is_heartbeat_ack(text)


def is_heartbeat_ack(text: str) -> bool:
    """Say whether a reply only acknowledges a heartbeat: the word at either end, and little besides."""
    bare = text.strip(" \t\n*_`.!")
    found = bare.startswith(_HEARTBEAT_OK) or bare.endswith(_HEARTBEAT_OK)
    return found and len(bare) - len(_HEARTBEAT_OK) <= _ACK_CHARS
