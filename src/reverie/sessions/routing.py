"""Which agent a message is for, and which of its conversations it belongs to: bindings, scopes, and who may share.

Where ``session.dmScope`` is not set, the direct chats of the owner are one conversation, and everybody else has one of
their own: nobody reads what the owner or another person told the agent (ISO-01).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reverie.core.config.session import Binding, Session
from reverie.core.types import ChatType
from reverie.sessions.keys import DmScope, GroupScope, SessionKey, normal_account, normal_agent, parse_key, resolve_key


@dataclass(frozen=True, slots=True)
class Inbound:
    """Where a message comes from, as the channel says. ``owner``: its sender is the authenticated owner."""

    channel: str = ""
    account: str = ""
    peer: str = ""
    chat: ChatType = ChatType.DIRECT
    thread: str = ""
    topic: str = ""
    guild: str = ""
    team: str = ""
    owner: bool = False


@dataclass(frozen=True, slots=True)
class Route:
    """The agent and the session of a message, and the sentence that says why."""

    agent: str
    key: SessionKey
    why: str


def route(inbound: Inbound, session: Session, bindings: Sequence[Binding], *, default_agent: str = "main") -> Route:
    """Return the agent and the session of a message.

    The most specific binding that matches decides: one that names the peer before one that names the guild or team,
    then the account, then the channel; of equals the first.

    Args:
        inbound: the message's origin.
        session: the section ``session``.
        bindings: the list ``bindings``.
        default_agent: the agent of what no binding matches.
    """
    matching = [(rank, -place) for place, one in enumerate(bindings) if (rank := _rank(one.match, inbound)) is not None]
    place = -max(matching)[1] if matching else None
    binding = bindings[place] if place is not None else None
    agent = normal_agent((binding.agent_id if binding else None) or default_agent)
    why = f"binding {place + 1}" if place is not None else "the default agent"
    if session.scope == "global":
        return Route(agent, parse_key("global"), f"{why}; session.scope is global")
    scope, said = _scope(inbound, session, binding)
    groups = (binding.session.group_scope if binding else None) or session.group_scope
    key = resolve_key(
        agent=agent,
        channel=inbound.channel,
        peer=inbound.peer,
        chat=inbound.chat,
        scope=scope,
        account=inbound.account,
        thread=inbound.thread,
        topic=inbound.topic,
        links=session.identity_links,
        main_key=session.main_key,
        group_scope=GroupScope(groups),
    )
    return Route(agent, key, f"{why}; {said}")


def _scope(inbound: Inbound, session: Session, binding: Binding | None) -> tuple[DmScope, str]:
    if binding is not None and binding.session.dm_scope:
        return DmScope.of(binding.session.dm_scope), "dmScope of the binding"
    if session.dm_scope:
        return DmScope.of(session.dm_scope), f"dmScope is {session.dm_scope}"
    if inbound.owner:
        return DmScope.MAIN, "dmScope is not set: the owner's direct chats are one session"
    return DmScope.PER_ACCOUNT_CHANNEL_PEER, "dmScope is not set: whoever is not the owner stays apart"


def _rank(match: Mapping[str, object], inbound: Inbound) -> int | None:
    """Return how specific a binding is for a message; ``None`` if it does not match."""
    rank = 0
    wanted = (
        ("channel", inbound.channel, 1),
        ("accountId", normal_account(inbound.account), 2),
        ("teamId", inbound.team, 4),
        ("guildId", inbound.guild, 8),
    )
    known = {name for name, _, _ in wanted} | {"peer"}
    # A condition that is not understood must not be taken for met: the message could reach the wrong agent.
    if any(value not in (None, "", {}) for name, value in match.items() if name not in known):
        return None
    for name, found, weight in wanted:
        given = match.get(name)
        if given in (None, "", "*"):
            continue
        if str(given).strip().lower() != found.strip().lower():
            return None
        rank += weight
    peer = match.get("peer")
    if not peer:
        return rank
    if not isinstance(peer, Mapping) or not _same_peer(peer, inbound):
        return None
    return rank + 16


def _same_peer(peer: Mapping[str, object], inbound: Inbound) -> bool:
    kind = {"dm": "direct", "room": "channel"}.get(str(peer.get("kind")), str(peer.get("kind") or inbound.chat.value))
    ident = str(peer.get("id") or "")
    return kind == inbound.chat.value and ident.strip().lower() == inbound.peer.strip().lower() and bool(ident)
