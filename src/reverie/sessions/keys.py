"""Session keys: which conversation a message belongs to, and who can read it.

A key is stable across resets; the session id behind it changes. The shapes are OpenClaw's, so that its keys are read
as they stand. What a key does not say clearly is ``UNKNOWN``: such a session learns nothing and is shown nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from reverie.core.errors import UsageError
from reverie.core.types import ChatType, SessionKind

_AGENT = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
_OUTSIDE = re.compile(r"[^a-z0-9_-]+")
_MODEL_PROBE = re.compile(r"model-run-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

#: The words that say what kind of chat a key stands for; the old ones are read and written as the new ones.
_MARKERS = {
    "direct": ChatType.DIRECT,
    "dm": ChatType.DIRECT,
    "group": ChatType.GROUP,
    "channel": ChatType.CHANNEL,
    "room": ChatType.CHANNEL,
}
_RENAMED = {"dm": "direct", "room": "channel"}
#: Identifiers whose letter case matters: (channel, marker).
_CASE_MATTERS = {("signal", "group"), ("matrix", "group"), ("matrix", "channel")}
#: First words of sessions that a program opened for itself and that nobody speaks in.
_INTERNAL = ("dreaming-narrative", "active-memory")


class KeyForm(StrEnum):
    """The shape of a key."""

    MAIN = "main"
    GLOBAL = "global"
    PEER = "peer"
    CRON = "cron"
    HOOK = "hook"
    NODE = "node"
    SUBAGENT = "subagent"
    ACP = "acp"
    HEARTBEAT = "heartbeat"
    EXPLICIT = "explicit"
    MODEL_PROBE = "model-probe"
    DASHBOARD = "dashboard"
    NAMED = "named"
    INCOGNITO = "incognito"
    INTERNAL = "internal"
    UNKNOWN = "unknown"


#: Sessions that a program opened and throws away; nobody chats in them.
_SYNTHETIC = frozenset(
    {KeyForm.SUBAGENT, KeyForm.ACP, KeyForm.CRON, KeyForm.HOOK, KeyForm.NODE, KeyForm.HEARTBEAT, KeyForm.INTERNAL}
)


class DmScope(StrEnum):
    """How direct messages are divided into sessions, from everything together to everything apart."""

    MAIN = "main"
    PER_PEER = "per-peer"
    PER_CHANNEL_PEER = "per-channel-peer"
    PER_ACCOUNT_CHANNEL_PEER = "per-account-channel-peer"

    @classmethod
    def of(cls, name: str) -> DmScope:
        """Return the scope of that name; ``per-agent`` is another word for ``main``.

        Raises:
            UsageError: no scope has this name.
        """
        wanted = name.strip().lower()
        if wanted in ("", "per-agent"):
            return cls.MAIN
        try:
            return cls(wanted)
        except ValueError:
            raise UsageError("This dmScope is not known", scope=name, hint=f"use one of {', '.join(cls)}") from None


class GroupScope(StrEnum):
    """Whether a group has a session of its own or speaks into the main one."""

    PER_GROUP = "per-group"
    MAIN = "main"


@dataclass(frozen=True, slots=True)
class SessionKey:
    """A session key, read. ``text`` is the canonical spelling and what is stored; ``rest`` is it without the agent.

    ``agent`` is ``None`` where the key names none. ``depth`` counts nested sub-agents. ``job`` and ``run`` belong to
    cron. ``kind`` is what the key alone tells: a sub-agent of a cron job is known by its ancestors only.
    """

    text: str
    agent: str | None
    rest: str
    form: KeyForm
    kind: SessionKind = SessionKind.UNKNOWN
    chat: ChatType = ChatType.UNKNOWN
    channel: str | None = None
    account: str | None = None
    peer: str | None = None
    thread: str | None = None
    job: str | None = None
    run: str | None = None
    depth: int = 0

    def __str__(self) -> str:
        return self.text

    @property
    def shared(self) -> bool:
        """Say whether others than one person read along."""
        return self.chat in (ChatType.GROUP, ChatType.CHANNEL)

    @property
    def synthetic(self) -> bool:
        """Say whether a program opened this session for itself."""
        return self.form in _SYNTHETIC

    @property
    def primary(self) -> bool:
        """Say whether this is the one session that an agent always has."""
        return self.form in (KeyForm.MAIN, KeyForm.GLOBAL) and self.thread is None

    @property
    def incognito(self) -> bool:
        """Say whether nothing of this session may be kept."""
        return self.form is KeyForm.INCOGNITO


# --- identifiers ---------------------------------------------------------------------------------------------


def normal_agent(name: str) -> str:
    """Return the one spelling under which an agent is stored and compared.

    Lower case; runs of anything but letters, digits, ``_`` and ``-`` become one ``-``; at most 64 characters;
    ``main`` if nothing is left. Two agents are the same exactly when this spelling is (list A, ISO-06).
    """
    return _normal_id(name, "main")


def normal_account(name: str) -> str:
    """Return the one spelling of a channel account; ``default`` if there is none."""
    return _normal_id(name, "default")


def same_agent(one: str, other: str) -> bool:
    """Say whether two names mean the same agent."""
    return normal_agent(one) == normal_agent(other)


def _normal_id(name: str, fallback: str) -> str:
    lowered = name.strip().lower()
    if _AGENT.fullmatch(lowered):
        return lowered
    return _OUTSIDE.sub("-", lowered).strip("-")[:64] or fallback


# --- reading -------------------------------------------------------------------------------------------------


def parse_key(text: str, *, main_key: str = "main") -> SessionKey:
    """Read a key. Never raises: what has no known shape is ``UNKNOWN`` in form, kind and chat."""
    parts = [part.strip() for part in text.split(":") if part.strip()]
    if parts and parts[0].lower() == "agent":
        if len(parts) < 3:
            return SessionKey(text=text.strip(), agent=None, rest="", form=KeyForm.UNKNOWN)
        return _with_agent(normal_agent(parts[1]), _read(parts[2:], main_key.strip().lower() or "main", owned=True))
    return _with_agent(None, _read(parts, "", owned=False))


def _with_agent(agent: str | None, key: SessionKey) -> SessionKey:
    return replace(key, agent=agent, text=f"agent:{agent}:{key.rest}" if agent else key.rest)


def _read(parts: list[str], main_key: str, *, owned: bool) -> SessionKey:
    """Classify what follows the agent. The order matters: of two readings the less trusted one wins."""
    low = [part.lower() for part in parts]
    head = low[0] if low else ""
    if head == "cron":
        return _cron(low)
    if "heartbeat" in low:
        return _heartbeat(parts, low, main_key, owned=owned)
    if "subagent" in low:
        return _plain(low, KeyForm.SUBAGENT, SessionKind.SUBAGENT, depth=low.count("subagent"))
    if any(part.startswith(_INTERNAL) for part in low):
        return _plain(low, KeyForm.INTERNAL, SessionKind.SUBAGENT)
    if any(part.startswith("incognito-") for part in low):
        return _plain(low, KeyForm.INCOGNITO)
    if head in ("acp", "acp-bridge"):
        return _plain(low, KeyForm.ACP)
    if head == "hook":
        return _plain(low, KeyForm.HOOK)
    if head == "node" or head.startswith("node-"):
        return _plain(low, KeyForm.NODE)
    if head == "session" and len(low) > 1:
        return _plain(low, KeyForm.NAMED)
    if low == ["global"]:
        return _plain(low, KeyForm.GLOBAL, SessionKind.INTERACTIVE)
    if not owned:
        return _peer(parts, low) if head == "group" else _plain(low, KeyForm.UNKNOWN)
    if head in ("explicit", "dashboard") and len(low) > 1:
        return _opened(low)
    if head == main_key:
        return _main(low)
    return _peer(parts, low)


def _plain(
    low: list[str],
    form: KeyForm,
    kind: SessionKind = SessionKind.UNKNOWN,
    chat: ChatType = ChatType.UNKNOWN,
    depth: int = 0,
) -> SessionKey:
    return SessionKey(text="", agent=None, rest=":".join(low), form=form, kind=kind, chat=chat, depth=depth)


def _cron(low: list[str]) -> SessionKey:
    key = _plain(low, KeyForm.CRON, SessionKind.CRON, depth=low.count("subagent"))
    job = low[1] if len(low) > 1 else None
    run = low[3] if len(low) > 3 and low[2] == "run" else None
    return replace(key, job=job, run=run)


def _heartbeat(parts: list[str], low: list[str], main_key: str, *, owned: bool) -> SessionKey:
    """Read the key whose heartbeat this is; only the chat and the address are taken from it."""
    at = low.index("heartbeat")
    base = _read(parts[:at], main_key, owned=owned)
    tail = low[at:]
    return replace(
        base,
        rest=":".join([base.rest, *tail] if base.rest else tail),
        form=KeyForm.HEARTBEAT,
        kind=SessionKind.HEARTBEAT if base.kind is not SessionKind.CRON else SessionKind.CRON,
    )


def _opened(low: list[str]) -> SessionKey:
    if low[0] == "explicit" and len(low) == 2 and _MODEL_PROBE.fullmatch(low[1]):
        return _plain(low, KeyForm.MODEL_PROBE)
    form = KeyForm.EXPLICIT if low[0] == "explicit" else KeyForm.DASHBOARD
    return _plain(low, form, SessionKind.INTERACTIVE, ChatType.EXPLICIT)


def _main(low: list[str]) -> SessionKey:
    key = _plain(low, KeyForm.MAIN, SessionKind.INTERACTIVE, ChatType.DIRECT)
    if len(low) == 1:
        return key
    if low[1] in ("thread", "topic") and len(low) > 2:
        return replace(key, thread=":".join(low[2:]))
    return _plain(low, KeyForm.UNKNOWN)


def _peer(parts: list[str], low: list[str]) -> SessionKey:
    """Read ``[channel[:account]]:<marker>:<peer>[:thread:<id>|:topic:<id>]``."""
    at = next((place for place in range(min(3, len(low))) if low[place] in _MARKERS), None)
    if at is None or at + 1 >= len(low):
        return _plain(low, KeyForm.UNKNOWN)
    marker = _RENAMED.get(low[at], low[at])
    channel = low[0] if at else None
    said = parts if (channel, marker) in _CASE_MATTERS else low
    end = next((place for place in range(at + 2, len(low) - 1) if low[place] in ("thread", "topic")), len(low))
    peer, tail = ":".join(said[at + 1 : end]), said[end + 1 :]
    rest = [*low[:at], marker, peer, *low[end : end + 1], *tail]
    return SessionKey(
        text="",
        agent=None,
        rest=":".join(rest),
        form=KeyForm.PEER,
        kind=SessionKind.INTERACTIVE,
        chat=_MARKERS[marker],
        channel=channel,
        account=low[1] if at == 2 else None,
        peer=peer,
        thread=":".join(tail) or None,
    )


# --- making --------------------------------------------------------------------------------------------------


def resolve_key(
    *,
    agent: str,
    channel: str = "",
    peer: str = "",
    chat: ChatType = ChatType.DIRECT,
    scope: DmScope = DmScope.MAIN,
    account: str = "",
    thread: str = "",
    topic: str = "",
    links: Mapping[str, Sequence[str]] | None = None,
    main_key: str = "main",
    group_scope: GroupScope = GroupScope.PER_GROUP,
) -> SessionKey:
    """Return the key of the session that a message belongs to.

    ``links`` maps one person's name to the ids they have (``telegram:123``, or a bare id on any channel); it merges
    them under every scope but ``main``, which merges everybody. A direct message of nobody in particular belongs to
    the main session. A chat of unknown type gets a session of its own that stays ``UNKNOWN``.
    """
    owner, via = f"agent:{normal_agent(agent)}", channel.strip().lower() or "unknown"
    tail = f":thread:{thread.strip()}" if thread.strip() else f":topic:{topic.strip()}" if topic.strip() else ""
    direct = chat in (ChatType.DIRECT, ChatType.EXPLICIT)
    together = scope is DmScope.MAIN or not peer.strip() if direct else group_scope is GroupScope.MAIN
    if together:
        main = parse_key(f"{owner}:{main_key.strip().lower() or 'main'}{tail}", main_key=main_key)
        # The key of the main session says "direct"; that a group speaks into it must not be forgotten.
        return replace(main, chat=main.chat if direct else chat)
    if direct:
        prefix = {
            DmScope.PER_PEER: f"{owner}:direct:",
            DmScope.PER_CHANNEL_PEER: f"{owner}:{via}:direct:",
            DmScope.PER_ACCOUNT_CHANNEL_PEER: f"{owner}:{via}:{normal_account(account)}:direct:",
        }[scope]
        person = _linked(via, peer.strip(), links or {})
        return _keyed(prefix, person or peer.strip().lower(), tail, taken=() if person else tuple(links or ()))
    place = peer.strip() or "unknown"
    said = place if (via, chat.value) in _CASE_MATTERS else place.lower()
    return _keyed(f"{owner}:{via}:{chat.value}:", said, tail)


def _linked(channel: str, peer: str, links: Mapping[str, Sequence[str]]) -> str | None:
    wanted = {peer.lower(), f"{channel}:{peer.lower()}"}
    return next(
        (name.strip().lower() for name, ids in links.items() if any(one.strip().lower() in wanted for one in ids)), None
    )


def _keyed(prefix: str, peer: str, tail: str, taken: Sequence[str] = ()) -> SessionKey:
    """Return the key of this peer alone.

    A peer chooses their own id on some channels. One that would be read as somebody else's (it spells a marker, or is
    the name of a linked person) is written with percent signs, so that two peers never share a session (ISO-01).
    """
    known = {name.strip().lower() for name in taken}
    if not re.search(r"%[0-9a-fA-F]{2}", peer) and peer not in known:
        key = parse_key(prefix + peer + tail)
        if key.peer == peer or (key.form is KeyForm.UNKNOWN and key.rest.endswith(peer + tail)):
            return key
    return parse_key(prefix + "".join(f"%{byte:02x}" for byte in peer.encode("utf-8", "surrogatepass")) + tail)


def explicit_key(agent: str, name: str) -> SessionKey:
    """Return the key of a session that a person or program opened by name."""
    return parse_key(f"agent:{normal_agent(agent)}:explicit:{name.strip() or 'default'}")


def cron_key(agent: str, job: str, run: str = "") -> SessionKey:
    """Return the key of a cron job, or of one of its runs."""
    return parse_key(f"agent:{normal_agent(agent)}:cron:{job}" + (f":run:{run}" if run else ""))


def subagent_key(agent: str, name: str) -> SessionKey:
    """Return the key of a sub-agent."""
    return parse_key(f"agent:{normal_agent(agent)}:subagent:{name}")


def heartbeat_key(base: SessionKey) -> SessionKey:
    """Return the key of the isolated heartbeat of a session."""
    return parse_key(f"{base.text}:heartbeat")
