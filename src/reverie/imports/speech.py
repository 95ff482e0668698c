"""What was said in another program, as entries of a transcript: ids made from its own, dates kept, classes set here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from reverie.core.provenance import ContentSource, Role, of_message
from reverie.core.text import sha256
from reverie.core.types import ChatType, Sender, SessionKind, SourceClass
from reverie.sessions.adoption import Data, Foreign, marked
from reverie.sessions.keys import explicit_key
from reverie.sessions.messages import Block, Message, Stamp, iso, message_to_json

#: What is kept of one tool result, in characters. Tool output is never searched, and the source has all of it.
TOOL_CHARS = 20_000
#: Tools that read nothing but the user's own machine, by their lower-cased names in the programs that are read.
LOCAL_TOOLS = frozenset(
    {
        "read",
        "write",
        "edit",
        "multiedit",
        "notebookread",
        "notebookedit",
        "glob",
        "grep",
        "ls",
        "find",
        "todoread",
        "todowrite",
        "exitplanmode",
        "apply_patch",
        "update_plan",
        "memory_search",
        "memory_get",
        "session_status",
        "sessions_list",
    }
)
_UNSAFE = re.compile(r"[^a-z0-9._-]+")
_LONGEST_ID = 96


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that was said. ``id`` is the source's own name for it, unique in the conversation.

    ``tool`` is set for a tool's result. ``calls`` are the tools that an assistant called, as (id, name, arguments).
    ``by_person`` is false for a user message that a program wrote.
    """

    id: str
    role: Role
    text: str
    at: datetime | None = None
    model: str = ""
    tool: str = ""
    call: str = ""
    failed: bool = False
    by_person: bool = True
    calls: tuple[tuple[str, str, Mapping[str, Any]], ...] = ()


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation of another program. ``said`` may be called more than once."""

    ident: str
    begun: datetime
    said: Callable[[], Iterable[Said]]
    title: str = ""
    cwd: str = ""
    kind: SessionKind = SessionKind.INTERACTIVE
    origin: str = field(default="")


def foreign_of(talk: Talk, *, source: str, agent: str, mine: bool) -> Foreign:
    """Return a conversation as a session of this agent.

    ``mine`` is the owner's word that the user of these conversations was the owner. Without it everything in them is
    untrusted: an export says nothing of who sat at the keyboard.
    """
    session = session_id(source, talk.ident)
    return Foreign(
        source=source,
        session=session,
        key=explicit_key(agent, session).text,
        begun=talk.begun,
        entries=lambda: entries_of(talk, source=source, mine=mine),
        kind=talk.kind,
        chat=ChatType.EXPLICIT,
        label=talk.title,
        cwd=talk.cwd,
        record={"id": talk.ident, "mine": mine} | ({"from": talk.origin} if talk.origin else {}),
    )


def session_id(source: str, ident: str) -> str:
    """Return the id that a conversation gets here: always the same one, and never that of another conversation."""
    plain = _UNSAFE.sub("-", ident.lower()).strip("-.")
    if plain != ident or len(plain) > _LONGEST_ID:
        plain = f"{plain[: _LONGEST_ID - 17]}-{sha256(ident)[:16]}".lstrip("-")
    return f"import-{source}-{plain}"


def entries_of(talk: Talk, *, source: str, mine: bool) -> Iterator[Data]:
    """Yield what was said as entries, one under the other, each stamped with its class."""
    owner = Sender.owner("me", channel=source) if mine else None
    turn, tainted, parent = SourceClass.UNTRUSTED, False, None
    at = talk.begun
    for said in talk.said():
        at = said.at or at
        if said.role is Role.USER:
            sender = owner if said.by_person else None
            turn, tainted = of_message(Role.USER, sender=sender, turn=turn, tainted=False), False
            message = Message.user(said.text, at, Stamp(turn, talk.kind, sender))
        elif said.role is Role.ASSISTANT:
            message = _answer(said, at, turn, tainted, talk.kind)
        else:
            tainted = tainted or said.tool.lower() not in LOCAL_TOOLS
            message = _result(said, at, talk.kind, tainted)
        ident = entry_id(source, talk.ident, said.id)
        data = {"type": "message", "id": ident, "parentId": parent, "timestamp": iso(at)}
        yield marked(data | {"message": message_to_json(message)}, source)
        parent = ident


def _answer(said: Said, at: datetime, turn: SourceClass, tainted: bool, kind: SessionKind) -> Message:
    origin = of_message(Role.ASSISTANT, sender=None, turn=turn, tainted=tainted)
    calls = tuple(
        Block("toolCall", {"id": call, "name": name, "arguments": dict(given)}) for call, name, given in said.calls
    )
    return Message.assistant(said.text, at, Stamp(origin, kind, tainted=tainted), model=said.model, calls=calls)


def _result(said: Said, at: datetime, kind: SessionKind, tainted: bool) -> Message:
    text = said.text
    if len(text) > TOOL_CHARS:
        text = f"{text[:TOOL_CHARS]}\n[{len(text) - TOOL_CHARS} more characters in the source]"
    source = ContentSource.LOCAL if said.tool.lower() in LOCAL_TOOLS else ContentSource.UNDECLARED
    stamp = Stamp(SourceClass.UNTRUSTED, kind, tainted=tainted, source=source)
    return Message.tool_result(said.tool or "tool", said.call or said.id, text, at, stamp, failed=said.failed)


def entry_id(source: str, conversation: str, ident: str) -> str:
    """Return the id of an entry, made from where it comes from, so that it is the same whenever it is imported."""
    long = sha256(f"{source}\n{conversation}\n{ident}")
    return "-".join((long[:8], long[8:12], long[12:16], long[16:20], long[20:32]))


def numbered(said: Iterable[Said]) -> Iterator[Said]:
    """Give names to what has none: made from what was said, and counted where the same is said again."""
    seen: dict[str, int] = {}
    for each in said:
        name = sha256(f"{each.role}\n{each.at}\n{each.tool}\n{each.call}\n{' '.join(each.text.split())}")[:24]
        seen[name] = seen.get(name, 0) + 1
        yield replace(each, id=f"{name}-{seen[name]}") if not each.id else each
