"""The one classifier: who said it, in what kind of session, after what tool output.

Pure functions over closed sets. Nothing here looks at wording: trust is decided by where a text comes from
(product rule 3). When two things merge the lower trust wins, so a derived item is never above its lineage.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace
from enum import StrEnum

from reverie.core.types import Provenance, Sender, SessionKind, SourceClass

#: Trust falls along this order (OpenClaw 2026.9.6: owner < agent < system < untrusted as "worst of").
TRUST_ORDER = (SourceClass.OWNER, SourceClass.AGENT, SourceClass.SYSTEM, SourceClass.UNTRUSTED)
_RANK = {origin: rank for rank, origin in enumerate(TRUST_ORDER)}

#: Classes whose content may be injected without being asked for, and may be promoted (invariant I2).
TRUSTED = frozenset({SourceClass.OWNER, SourceClass.AGENT})

#: Kinds of session from which nothing is ever learned (I3), in the order in which they win when kinds differ.
CONFINED = (SessionKind.CRON, SessionKind.HEARTBEAT, SessionKind.SUBAGENT)


class Role(StrEnum):
    """The role of a message in a transcript."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class ContentSource(StrEnum):
    """What a tool result declares about where its content comes from."""

    LOCAL = "local"
    NETWORK = "network"
    UNTRUSTED_FILE = "untrusted-file"
    UNDECLARED = "undeclared"


def least(origins: Iterable[SourceClass]) -> SourceClass:
    """Return the least trusted class; of nothing it is ``UNTRUSTED``, since nothing vouches for it."""
    return max(origins, key=_RANK.__getitem__, default=SourceClass.UNTRUSTED)


def is_trusted(origin: SourceClass) -> bool:
    """Say whether content of this class may be injected by itself or promoted."""
    return origin in TRUSTED


def common_kind(kinds: Iterable[SessionKind]) -> SessionKind:
    """Return the one kind that all share, else ``UNKNOWN``."""
    distinct = set(kinds)
    return distinct.pop() if len(distinct) == 1 else SessionKind.UNKNOWN


def merge(parts: Iterable[Provenance]) -> Provenance:
    """Return the provenance of something made from ``parts``: least class, common kind, latest observation.

    The supersession key, session and sender survive only where every part agrees on them. Where kinds differ, one that
    may never be learned from stays: a line of a scheduled job does not become anybody's by standing beside another.
    """
    every = tuple(parts)
    if not every:
        return Provenance()
    times = [part.observed_at for part in every if part.observed_at is not None]
    kind = common_kind(part.kind for part in every)
    session = _shared(part.session for part in every)
    if kind is SessionKind.UNKNOWN:
        kind = next((one for one in CONFINED if any(part.kind is one for part in every)), kind)
        # Of unknown kind and without a session is what a person wrote by hand; this was not.
        strange = {part.session for part in every if part.kind is SessionKind.UNKNOWN and part.session is not None}
        session = session or min(strange, default=None)
    return Provenance(
        origin=least(part.origin for part in every),
        kind=kind,
        observed_at=max(times, default=None),
        session=session,
        sender=_shared(part.sender for part in every),
        key=_shared(part.key for part in every),
    )


def _shared(values: Iterable[str | None]) -> str | None:
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


def of_sender(sender: Sender) -> SourceClass:
    """Return the class of a user message: ``OWNER`` only for an authenticated owner who is no bot."""
    return SourceClass.OWNER if sender.is_owner and not sender.is_bot else SourceClass.UNTRUSTED


def of_message(role: Role, *, sender: Sender | None, turn: SourceClass, tainted: bool) -> SourceClass:
    """Return the class of one message of a turn.

    ``turn`` is the class of the user message that opened the turn; ``tainted`` says that untrusted content has
    come in since. A tool result is never more than untrusted: it is not the owner's nor the agent's word.
    """
    if role is Role.USER:
        return of_sender(sender) if sender is not None else SourceClass.UNTRUSTED
    if role is Role.SYSTEM:
        return SourceClass.SYSTEM
    if role is Role.TOOL or tainted:
        return SourceClass.UNTRUSTED
    return SourceClass.AGENT if turn is SourceClass.OWNER else turn


def taints(source: ContentSource, *, tool: str, external_tools: Container[str] = frozenset()) -> bool:
    """Say whether a tool result taints the rest of the turn.

    A result that declares ``local`` does not. An undeclared one does when the configuration lists its tool as
    external. Network content and files recorded as untrusted always do.
    """
    if source in (ContentSource.NETWORK, ContentSource.UNTRUSTED_FILE):
        return True
    return source is ContentSource.UNDECLARED and tool in external_tools


def lowered(provenance: Provenance, origin: SourceClass) -> Provenance:
    """Return the provenance with its class lowered to at most ``origin``; it is never raised."""
    return replace(provenance, origin=least((provenance.origin, origin)))


def may_be_candidate(provenance: Provenance) -> bool:
    """Say whether text of this provenance may ever become long-term memory (invariants I2 and I3, choice C4)."""
    return is_trusted(provenance.origin) and (provenance.kind is SessionKind.INTERACTIVE or is_handwritten(provenance))


def is_handwritten(provenance: Provenance) -> bool:
    """Say whether nothing is recorded of a line: it was written by hand, in no session (choice C4)."""
    return provenance.kind is SessionKind.UNKNOWN and provenance.session is None and provenance.sender is None
