"""The classifier: who said it decides, and the least trusted wins."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core import provenance as rules
from reverie.core.provenance import ContentSource, Role
from reverie.core.types import Provenance, Sender, SessionKind, SourceClass

classes = st.sampled_from(SourceClass)
kinds = st.sampled_from(SessionKind)
provenances = st.builds(
    Provenance,
    origin=classes,
    kind=kinds,
    observed_at=st.none() | st.datetimes(timezones=st.just(UTC)),
    session=st.none() | st.text(max_size=3),
    key=st.none() | st.text(max_size=3),
)


@given(st.lists(provenances, min_size=1, max_size=6))
def test_i1_what_is_merged_is_never_above_the_least_of_its_lineage(parts: list[Provenance]) -> None:
    merged = rules.merge(parts)
    assert all(rules.TRUST_ORDER.index(merged.origin) >= rules.TRUST_ORDER.index(part.origin) for part in parts)
    assert merged.origin in {part.origin for part in parts}


@given(st.lists(provenances, max_size=6), st.randoms())
def test_merging_does_not_depend_on_the_order(parts: list[Provenance], random: object) -> None:
    shuffled = list(parts)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert rules.merge(shuffled) == rules.merge(parts)


def test_i1_nothing_merged_from_nothing_is_untrusted() -> None:
    assert rules.merge([]) == Provenance()
    assert rules.least([]) is SourceClass.UNTRUSTED


@given(provenances, classes)
def test_lowering_never_raises_a_class(born: Provenance, origin: SourceClass) -> None:
    lowered = rules.lowered(born, origin).origin
    assert lowered is rules.least((born.origin, origin))


@pytest.mark.parametrize(
    ("sender", "expected"),
    [
        (Sender.owner("me"), SourceClass.OWNER),
        (Sender.guest("jonas", channel="telegram"), SourceClass.UNTRUSTED),
        (Sender.unknown(), SourceClass.UNTRUSTED),
        (Sender(id="bot", is_owner=True, is_bot=True), SourceClass.UNTRUSTED),
        (None, SourceClass.UNTRUSTED),
    ],
)
def test_i1_only_an_authenticated_person_who_is_the_owner_speaks_as_owner(
    sender: Sender | None, expected: SourceClass
) -> None:
    assert rules.of_message(Role.USER, sender=sender, turn=SourceClass.UNTRUSTED, tainted=False) is expected


@given(classes, st.booleans())
def test_i2_a_tool_result_and_what_follows_taint_are_untrusted(turn: SourceClass, tainted: bool) -> None:
    assert rules.of_message(Role.TOOL, sender=None, turn=turn, tainted=tainted) is SourceClass.UNTRUSTED
    assert rules.of_message(Role.ASSISTANT, sender=None, turn=turn, tainted=True) is SourceClass.UNTRUSTED


def test_an_untainted_reply_to_the_owner_is_the_agents_and_to_others_takes_their_class() -> None:
    reply = lambda turn: rules.of_message(Role.ASSISTANT, sender=None, turn=turn, tainted=False)  # noqa: E731
    assert reply(SourceClass.OWNER) is SourceClass.AGENT
    assert reply(SourceClass.UNTRUSTED) is SourceClass.UNTRUSTED
    assert reply(SourceClass.SYSTEM) is SourceClass.SYSTEM


def test_what_taints_is_declared_or_listed_never_guessed_from_wording() -> None:
    listed = frozenset({"shell"})
    assert rules.taints(ContentSource.NETWORK, tool="fetch")
    assert rules.taints(ContentSource.UNTRUSTED_FILE, tool="read")
    assert rules.taints(ContentSource.UNDECLARED, tool="shell", external_tools=listed)
    assert not rules.taints(ContentSource.UNDECLARED, tool="clock", external_tools=listed)
    assert not rules.taints(ContentSource.LOCAL, tool="shell", external_tools=listed)


@given(provenances)
def test_i3_only_trusted_words_of_a_person_or_written_by_hand_can_become_candidates(born: Provenance) -> None:
    by_hand = born.kind is SessionKind.UNKNOWN and born.session is None and born.sender is None
    trusted = born.origin in (SourceClass.OWNER, SourceClass.AGENT)
    assert rules.may_be_candidate(born) is (trusted and (born.kind is SessionKind.INTERACTIVE or by_hand))


def test_the_latest_observation_survives_a_merge() -> None:
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)
    merged = rules.merge([Provenance(observed_at=late), Provenance(observed_at=early), Provenance()])
    assert merged.observed_at == late


def learnable(born: Provenance) -> bool:
    """Say whether the kind of session lets a line become long-term memory: a person's, or written by hand."""
    return born.kind is SessionKind.INTERACTIVE or rules.is_handwritten(born)


@given(st.lists(provenances, min_size=1, max_size=6))
def test_i3_what_is_merged_can_be_learned_only_if_every_part_can(parts: list[Provenance]) -> None:
    if learnable(rules.merge(parts)):
        assert all(learnable(part) for part in parts)


def test_i3_a_line_of_a_job_stays_one_beside_a_persons() -> None:
    job = Provenance(SourceClass.AGENT, SessionKind.CRON, session="c")
    mine = Provenance(SourceClass.OWNER, SessionKind.INTERACTIVE, session="s")
    unknown = Provenance(SourceClass.OWNER, SessionKind.UNKNOWN, session="u")
    assert rules.merge([job, mine, Provenance(SourceClass.AGENT)]).kind is SessionKind.CRON
    assert not learnable(rules.merge([unknown, mine]))
    assert learnable(rules.merge([mine, Provenance(SourceClass.AGENT)]))
