"""Pruning shortens old tool results in the context, in pairs with their calls, and nothing else."""

import json
from datetime import UTC, datetime, timedelta
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.config.agents import ContextPruning
from reverie.core.config.reading import Reading
from reverie.core.types import SourceClass
from reverie.sessions.measure import message_chars, utf16_head, utf16_length, utf16_tail, weighted_chars
from reverie.sessions.messages import Block, Message, MessageRole, Stamp, message_from_json, message_to_json
from reverie.sessions.pruning import Cause, PruneState, prune, state_from_json, state_to_json

NOW = datetime(2026, 3, 9, 12, tzinfo=UTC)
STAMP = Stamp(SourceClass.OWNER)
LAPSED = PruneState(touched=NOW - timedelta(minutes=5))
CLEARED = "[Old tool result content cleared]"


def settings(**raw):
    return ContextPruning.read(MappingProxyType({"mode": "cache-ttl", **raw}), (), Reading({}))


def user(text="go on"):
    return Message.user(text, NOW, STAMP)


def answer(text="done", *calls):
    blocks = tuple(Block("toolCall", {"id": call, "name": "read", "arguments": {}}) for call in calls)
    return Message.assistant(text, NOW, STAMP, calls=blocks)


def result(text, call="c1", tool="read"):
    return Message.tool_result(tool, call, text, NOW, STAMP)


def imaged(call="c9"):
    shown = result("a chart", call)
    return Message(
        shown.role, (*shown.blocks, Block("image", {"data": "AA", "mimeType": "image/png"})), NOW, STAMP, shown.fields
    )


def talk(*results, answers=3):
    """A user message, an answer that calls for each result, and the last answers."""
    calls = [str(found.fields["toolCallId"]) for found in results]
    return [user(), answer("", *calls), *results, *[answer() for _ in range(answers)]]


def pruned(messages, window, *, state=LAPSED, now=NOW, **raw):
    return prune(messages, settings(**raw), state=state, window=window, now=now)


def texts(found):
    return [message.text for message in found.messages if message.role is MessageRole.TOOL_RESULT]


# --- thresholds ----------------------------------------------------------------------------------------------------


def test_with_two_answers_nothing_is_old():
    messages = [user(), answer("", "c1"), result("x" * 9000), answer()]
    assert pruned(messages, 1000).cause is Cause.NOTHING_OLD


@pytest.mark.parametrize(("chars", "cause"), [(1100, Cause.ROOMY), (1200, Cause.LAPSED)])
def test_below_three_tenths_of_the_window_nothing_happens(chars, cause):
    frame = sum(map(message_chars, talk(result(""))))
    found = pruned(talk(result("x" * (chars - frame))), 1000)
    assert (found.chars_before, found.cause, found.changed) == (chars, cause, False)


def test_a_long_result_loses_its_middle():
    text = "a" * 1500 + "b" * 7001 + "c" * 1500
    found = pruned(talk(result(text)), 7000)
    (shorter,) = texts(found)
    head, _, note = shorter.rpartition("\n\n")
    assert head == "a" * 1500 + "\n...\n" + "c" * 1500
    assert "10001" in note
    assert (found.trimmed, found.cleared, found.state.touched) == (1, 0, NOW)
    assert found.chars_after == found.chars_before - 10001 + len(shorter)


@pytest.mark.parametrize(("length", "trimmed"), [(4000, 0), (4001, 1)])
def test_four_thousand_characters_are_not_long(length, trimmed):
    assert pruned(talk(result("x" * length)), 2600).trimmed == trimmed


@pytest.mark.parametrize(("last", "cleared"), [(3999, 0), (4000, 10)])
def test_whole_results_go_only_where_enough_can_be_won(last, cleared):
    sizes = [4000] * 11 + [2000, last]
    results = [result("x" * size, f"c{place}") for place, size in enumerate(sizes)]
    total = sum(sizes)
    assert total in (49999, 50000)
    found = pruned(talk(*results), 3000)
    assert found.trimmed == 0
    assert (found.cleared > 0) == (cleared > 0)
    shown = texts(found)
    assert [text == CLEARED for text in shown] == sorted((text == CLEARED for text in shown), reverse=True)


def test_the_oldest_go_first_until_half_of_the_window_is_free():
    results = [result("x" * 4000, f"c{place}") for place in range(20)]
    found = pruned(talk(*results), 30_000)
    room = 30_000 * 4
    assert found.chars_after / room < 0.5 <= (found.chars_after + 4000 - len(CLEARED)) / room
    assert texts(found) == [CLEARED] * found.cleared + ["x" * 4000] * (20 - found.cleared)


def test_clearing_can_be_switched_off_and_worded_otherwise():
    results = [result("x" * 4000, f"c{place}") for place in range(20)]
    assert pruned(talk(*results), 20_000, hardClear={"enabled": False}).cleared == 0
    assert texts(pruned(talk(*results), 20_000, hardClear={"placeholder": " gone "}))[0] == "gone"


# --- which results -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tools", "touched"),
    [
        ({}, True),
        ({"deny": ["brow*"]}, False),
        ({"allow": ["BROW*"]}, True),
        ({"allow": ["exec"]}, False),
        ({"allow": ["*"], "deny": ["browser"]}, False),
    ],
)
def test_tools_are_named_by_globs_whatever_their_case_and_a_denial_wins(tools, touched):
    found = pruned(talk(result("x" * 9000, tool="Browser")), 2500, tools=tools)
    assert (found.trimmed == 1) is touched


def test_what_stands_before_the_first_user_message_stays():
    messages = [answer("", "c0"), result("x" * 9000, "c0"), *talk(result("y" * 9000))]
    assert texts(pruned(messages, 5000))[0] == "x" * 9000


def test_trans_16_only_results_are_shortened_and_every_call_keeps_its_answer():
    messages = [user("Read the folder."), answer("reading", *(f"c{place}" for place in range(40)), "c99")]
    messages += [result("x" * 6000, f"c{place}") for place in range(40)]
    messages += [imaged("c99"), user("And?"), answer(), answer(), answer()]
    found = pruned(messages, 16_000)
    assert found.cleared > 0
    assert [(one.role, one.fields.get("toolCallId")) for one in found.messages] == [
        (one.role, one.fields.get("toolCallId")) for one in messages
    ]
    for before, after in zip(messages, found.messages, strict=True):
        if before.role is not MessageRole.TOOL_RESULT or before.fields["toolCallId"] == "c99":
            assert after == before


# --- when ----------------------------------------------------------------------------------------------------------


def test_while_the_cache_lives_nothing_is_touched():
    messages = talk(result("x" * 9000))
    young = PruneState(touched=NOW - timedelta(minutes=4, seconds=59))
    assert pruned(messages, 3500, state=young).cause is Cause.CACHED
    assert pruned(messages, 3500, state=PruneState()).cause is Cause.UNKNOWN_TOUCH
    assert pruned(messages, 3500, ttl=0).cause is Cause.UNKNOWN_TOUCH
    assert prune(messages, ContextPruning.empty(), state=LAPSED, window=3500, now=NOW).cause is Cause.OFF


@pytest.mark.parametrize("model", ["alpha/one", "beta/two", ""])
def test_trans_17_a_busy_session_is_pruned_too_whatever_the_provider(model):
    window, now, state = 40_000, NOW, PruneState()
    context, ran, quiet = [user()], 0, 0
    for number in range(60):
        now += timedelta(seconds=20)
        calling = answer("", f"c{number}")
        context += [Message(calling.role, calling.blocks, now, STAMP, {**calling.fields, "model": model})]
        context += [result(f"{number} " + "x" * 2900, f"c{number}")]
        context += [user()] if number % 3 == 2 else []
        found = prune(context, settings(), state=state, window=window, now=now)
        silent = prune(context, settings(usageThreshold=False), state=state, window=window, now=now)
        ran, quiet, state = ran + found.changed, quiet + silent.changed, found.state
        assert found.chars_after <= 0.95 * window * 4
    assert (ran > 0, quiet) == (True, 0)


def test_without_a_threshold_a_busy_session_is_never_pruned():
    state = PruneState(touched=NOW)
    messages = talk(*[result("x" * 4000, f"c{place}") for place in range(38)])
    for seconds in range(0, 300, 20):
        now = NOW + timedelta(seconds=seconds)
        assert pruned(messages, 40_000, state=state, now=now, usageThreshold=False).cause is Cause.CACHED
    assert pruned(messages, 40_000, state=state, now=NOW).cause is Cause.FULL


# --- again and again -----------------------------------------------------------------------------------------------


def test_what_was_shortened_stays_so_byte_by_byte_until_more_must_go():
    results = [result(f"{place} " + "x" * 9000, f"c{place}") for place in range(6)]
    messages = talk(*results)
    first = pruned(messages, 14_000)
    again = pruned(messages, 14_000, state=first.state, now=NOW + timedelta(seconds=1))
    assert first.trimmed == 6
    assert (again.messages, again.changed, again.state) == (first.messages, False, first.state)
    later = pruned(messages, 7000, state=first.state, now=NOW + timedelta(minutes=6), minPrunableToolChars=0)
    assert later.cleared > 0
    back = pruned(messages, 100_000, state=later.state, now=NOW + timedelta(days=1))
    assert back.messages == later.messages


def test_tiny_limits_do_not_shorten_a_result_twice():
    raw = {"softTrim": {"maxChars": 100, "headChars": 50, "tailChars": 40}}
    messages = talk(result("x" * 10_001))
    first = pruned(messages, 8000, **raw)
    second = pruned(messages, 60, state=first.state, now=NOW + timedelta(hours=1), hardClear={"enabled": False}, **raw)
    assert first.trimmed == 1
    assert second.messages == first.messages


def test_the_state_survives_the_row_and_damage_reads_as_never():
    state = pruned(talk(result("x" * 9000)), 3500).state
    assert state_from_json(json.loads(json.dumps(state_to_json(state)))) == state
    assert state_from_json({"touchedAt": "soon", "trimmed": 5, "cleared": [1, "a"]}) == PruneState(
        cleared=frozenset("a")
    )
    assert state_from_json(None) == PruneState()


MESSAGES = st.lists(
    st.one_of(
        st.text(max_size=30).map(user),
        st.text(max_size=30).map(answer),
        st.builds(
            result,
            st.text(alphabet="añ🙂漢b", max_size=40).map(lambda one: one * 300),
            st.sampled_from(["a", "b", "c"]),
        ),
        st.just(imaged()),
    ),
    max_size=24,
)


@given(messages=MESSAGES, window=st.integers(1, 20_000), least=st.integers(0, 50_000))
def test_pruning_never_reorders_never_grows_and_is_stable(messages, window, least):
    found = pruned(messages, window, minPrunableToolChars=least)
    assert len(found.messages) == len(messages)
    assert found.chars_after <= found.chars_before
    for before, after in zip(messages, found.messages, strict=True):
        assert (after == before) or (before.role is MessageRole.TOOL_RESULT and after.fields == before.fields)
        assert message_from_json(message_to_json(after)).text == after.text
    again = pruned(messages, window, state=found.state, minPrunableToolChars=least)
    if found.changed:
        assert again.cause in (Cause.CACHED, Cause.FULL)
        assert again.cause is Cause.FULL or again.messages == found.messages


# --- measures ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "utf16", "weighted"),
    [
        ("abc", 3, 3),
        ("é", 1, 1),
        ("漢字", 2, 8),
        ("한글", 2, 8),
        ("カナ！", 3, 12),
        ("🙂", 2, 2),
        ("𠀀", 2, 4),
        ("", 0, 0),
    ],
)
def test_lengths_are_utf16_units_and_cjk_counts_four(text, utf16, weighted):
    assert (utf16_length(text), weighted_chars(text)) == (utf16, weighted)


@given(text=st.text(alphabet="a漢🙂é", max_size=30), units=st.integers(-1, 40))
def test_a_cut_never_splits_a_pair(text, units):
    head, tail = utf16_head(text, units), utf16_tail(text, units)
    assert text.startswith(head) and text.endswith(tail)
    for part in (head, tail):
        assert utf16_length(part) <= max(0, units)
        assert part == text or utf16_length(part) >= units - 1


def test_messages_are_measured_by_their_kind():
    thinking = Message(MessageRole.ASSISTANT, (Block("thinking", {"thinking": "hm", "thinkingSignature": "sig"}),))
    assert message_chars(thinking) == 5
    assert message_chars(imaged()) == 8000 + len("a chart")
    assert message_chars(Message(MessageRole.BASH, fields={"command": "ls"})) == 256
    assert message_chars(answer("", "c1")) == 2
    broken = Message(MessageRole.USER, (Block("text", {"text": 5}),))
    assert message_chars(broken) == len('{"text": 5}')
