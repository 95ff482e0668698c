"""Who a sender is: what the configuration says of their account, and nothing that they say of themselves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.provenance import of_sender
from reverie.core.types import Sender, SourceClass
from reverie.sessions.senders import Owners, resolve_sender

OWNERS = Owners.of(["telegram:123", "Signal:+491700", "@me:matrix.example"])
texts = st.text(max_size=8)


def sender(channel: str | None, ident: str | None, owners: Owners = OWNERS, **more: object) -> Sender:
    return resolve_sender(owners, channel=channel, ident=ident, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("channel", "ident"),
    [("telegram", "123"), ("Telegram", " 123 "), ("signal", "+491700"), ("matrix", "@me:matrix.example")],
)
def test_an_account_that_is_named_is_the_owners(channel: str, ident: str) -> None:
    assert of_sender(sender(channel, ident)) is SourceClass.OWNER


@pytest.mark.parametrize(
    ("channel", "ident"),
    [
        ("telegram", "124"),
        ("discord", "123"),
        ("telegram", "telegram:123"),
        ("irc", "telegram:123"),
        ("signal", "491700"),
        ("matrix", "@ME:matrix.example"),
        ("telegram", "１２３"),
    ],
)
def test_i1_any_other_account_is_a_guests_however_it_is_spelled(channel: str, ident: str) -> None:
    assert of_sender(sender(channel, ident)) is SourceClass.UNTRUSTED


@pytest.mark.parametrize(("channel", "ident"), [(None, "123"), ("telegram", None), ("telegram", "  "), ("", "")])
def test_i1_a_sender_without_channel_or_id_is_unknown(channel: str | None, ident: str | None) -> None:
    found = sender(channel, ident)
    assert not found.is_owner
    assert "unknown" in (found.channel, found.id)


def test_a_bot_is_never_the_owner() -> None:
    assert not sender("telegram", "123", is_bot=True).is_owner


def test_a_name_decides_nothing_and_our_own_account_is_kept() -> None:
    found = sender("telegram", "9", name="telegram:123", account="Work")
    assert (found.is_owner, found.name, found.account) == (False, "telegram:123", "work")
    assert sender("telegram", "123").account == "default"


@pytest.mark.parametrize("entries", [[], ["*"], ["", "  "], ["ANY"], ["telegram:"]])
def test_i1_nothing_that_names_nobody_makes_an_owner(entries: list[str]) -> None:
    assert not sender("telegram", "123", Owners.of(entries)).is_owner
    assert not sender("telegram", "*", Owners.of(entries)).is_owner


def test_of_a_linked_person_every_account_is_the_owners_when_one_is() -> None:
    owners = Owners.of(["telegram:123"], {"mara": ["telegram:123", "discord:77"], "otto": ["discord:78"]})
    assert sender("discord", "77", owners).is_owner
    assert not sender("discord", "78", owners).is_owner


def test_an_entry_may_name_a_linked_person_but_nobody_becomes_one_by_that_name() -> None:
    owners = Owners.of(["mara"], {"mara": ["telegram:123"]})
    assert sender("telegram", "123", owners).is_owner
    assert not sender("irc", "mara", owners).is_owner


def test_a_bare_id_counts_on_every_channel() -> None:
    owners = Owners.of(["555"])
    assert sender("telegram", "555", owners).is_owner
    assert sender("signal", "555", owners).is_owner


@given(channel=texts, ident=texts, name=texts)
def test_i1_no_spelling_of_anything_makes_an_owner_where_none_is_configured(
    channel: str, ident: str, name: str
) -> None:
    assert not resolve_sender(Owners(), channel=channel, ident=ident, name=name).is_owner
