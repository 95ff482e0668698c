"""Who sent a message: the owner, as the configuration names them, or anybody else. Pure; no text is looked at.

A sender is the owner only by an identifier that their channel vouches for. Whoever is not named is a guest, in the
owner's own group as well; a bot is never the owner; a sender without an identifier is unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reverie.core.types import Sender
from reverie.sessions.keys import normal_account

#: Entries that would make everybody the owner; they name nobody.
_WILDCARDS = frozenset({"*", "any", "all", "everyone"})


@dataclass(frozen=True, slots=True)
class Owners:
    """The accounts that are the owner's.

    ``on_channel`` holds ``(channel, id)``. ``anywhere`` holds bare ids, which count on every channel and should be used
    only for ids that no channel lets its users choose.
    """

    on_channel: frozenset[tuple[str, str]] = frozenset()
    anywhere: frozenset[str] = frozenset()

    @classmethod
    def of(cls, allowed: Iterable[str], links: Mapping[str, Sequence[str]] | None = None) -> Owners:
        """Read ``commands.ownerAllowFrom`` and ``session.identityLinks``.

        An entry is ``channel:id``, a bare id, or the name of a linked person. Of a person of whom one account is the
        owner's, every linked account is.
        """
        people = links or {}
        entries = [entry.strip() for entry in allowed]
        wanted = {_account(entry) for entry in entries if entry and entry.casefold() not in _WILDCARDS}
        names = {name.strip() for name in people}
        # The name of a person is no identifier: somebody could call themselves so on a channel.
        accounts = {account for account in wanted if account[0] or account[1] not in names}
        for name, ids in people.items():
            linked = {_account(one) for one in ids if one.strip() and one.strip() not in _WILDCARDS}
            if ("", name.strip()) in wanted or linked & wanted:
                accounts |= linked
        return cls(
            on_channel=frozenset(account for account in accounts if account[0]),
            anywhere=frozenset(ident for channel, ident in accounts if not channel),
        )

    def include(self, channel: str, ident: str) -> bool:
        """Say whether an account is the owner's. Channels are compared without regard to case, ids exactly."""
        return (_channel(channel), ident) in self.on_channel or ident in self.anywhere


def resolve_sender(
    owners: Owners,
    *,
    channel: str | None,
    ident: str | None,
    account: str | None = None,
    is_bot: bool = False,
    name: str = "",
) -> Sender:
    """Return the sender of a raw message.

    Args:
        owners: who the owner is.
        channel: the channel that the message came in on.
        ident: the sender's identifier as the channel established it; never what the message says of itself.
        account: our own account on that channel, where there are several.
        is_bot: the channel says that a program sent it.
        name: what the sender is called, for people only; it decides nothing.
    """
    via, who = _channel(channel or ""), (ident or "").strip()
    if not via or not who:
        return Sender(id=who or "unknown", channel=via or "unknown", is_bot=is_bot, name=name)
    return Sender(
        id=who,
        channel=via,
        account=normal_account(account or ""),
        is_owner=not is_bot and owners.include(via, who),
        is_bot=is_bot,
        name=name,
    )


def _account(entry: str) -> tuple[str, str]:
    """Return channel and id of an entry; the channel is empty for a bare id."""
    text = entry.strip()
    # The ids of some networks hold colons of their own and begin with a sign that no channel's name begins with.
    if text[:1] in "@+!#$":
        return "", text
    channel, colon, ident = text.partition(":")
    return (_channel(channel), ident.strip()) if colon and ident.strip() else ("", text)


def _channel(name: str) -> str:
    return name.strip().casefold()
