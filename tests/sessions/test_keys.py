"""Keys say which conversation a message belongs to; what they do not say clearly is unknown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.errors import UsageError
from reverie.core.types import ChatType, SessionKind
from reverie.sessions.keys import (
    DmScope,
    GroupScope,
    KeyForm,
    cron_key,
    explicit_key,
    heartbeat_key,
    normal_agent,
    parse_key,
    resolve_key,
    same_agent,
    subagent_key,
)

PROBE = "model-run-01234567-89ab-cdef-0123-456789abcdef"
INTERACTIVE, CRON, HEARTBEAT, SUBAGENT, UNKNOWN = (
    SessionKind.INTERACTIVE,
    SessionKind.CRON,
    SessionKind.HEARTBEAT,
    SessionKind.SUBAGENT,
    SessionKind.UNKNOWN,
)


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        (" My Agent!! ", "my-agent"),
        ("", "main"),
        ("A_1", "a_1"),
        ("Main-1", "main-1"),
        ("--", "main"),
        ("研究", "main"),
        ("x" * 80, "x" * 64),
        ("a  b//c", "a-b-c"),
    ],
)
def test_an_agent_has_one_spelling(name, normal):
    assert normal_agent(name) == normal
    assert normal_agent(normal) == normal


def test_iso_06_two_spellings_of_an_agent_are_the_same_agent():
    assert same_agent("Main-1", "main-1")
    assert same_agent(" main 1", "MAIN-1")
    assert not same_agent("main-1", "main_1")
    assert parse_key("agent:Main-1:main") == parse_key("agent:main-1:main")


# key, form, kind, chat, and what else is read out of it
SHAPES = [
    ("agent:ada:main", KeyForm.MAIN, INTERACTIVE, ChatType.DIRECT, {}),
    ("agent:ada:main:thread:t9", KeyForm.MAIN, INTERACTIVE, ChatType.DIRECT, {"thread": "t9"}),
    ("agent:ada:direct:bea", KeyForm.PEER, INTERACTIVE, ChatType.DIRECT, {"peer": "bea", "channel": None}),
    ("agent:ada:signal:direct:+49", KeyForm.PEER, INTERACTIVE, ChatType.DIRECT, {"channel": "signal", "peer": "+49"}),
    (
        "agent:ada:signal:work:direct:bea",
        KeyForm.PEER,
        INTERACTIVE,
        ChatType.DIRECT,
        {"channel": "signal", "account": "work", "peer": "bea"},
    ),
    ("agent:ada:cli:direct:me", KeyForm.PEER, INTERACTIVE, ChatType.DIRECT, {"channel": "cli", "peer": "me"}),
    ("agent:ada:irc:group:#tea", KeyForm.PEER, INTERACTIVE, ChatType.GROUP, {"channel": "irc", "peer": "#tea"}),
    ("agent:ada:slack:channel:c1", KeyForm.PEER, INTERACTIVE, ChatType.CHANNEL, {"channel": "slack", "peer": "c1"}),
    ("agent:ada:slack:channel:c1:thread:17.5", KeyForm.PEER, INTERACTIVE, ChatType.CHANNEL, {"thread": "17.5"}),
    ("agent:ada:telegram:group:-5:topic:42", KeyForm.PEER, INTERACTIVE, ChatType.GROUP, {"peer": "-5", "thread": "42"}),
    ("agent:ada:cron:tidy", KeyForm.CRON, CRON, ChatType.UNKNOWN, {"job": "tidy", "run": None}),
    ("agent:ada:cron:tidy:run:7", KeyForm.CRON, CRON, ChatType.UNKNOWN, {"job": "tidy", "run": "7"}),
    ("agent:ada:cron:tidy:heartbeat", KeyForm.CRON, CRON, ChatType.UNKNOWN, {}),
    ("agent:ada:cron:tidy:subagent:x", KeyForm.CRON, CRON, ChatType.UNKNOWN, {"depth": 1}),
    ("cron:tidy", KeyForm.CRON, CRON, ChatType.UNKNOWN, {"agent": None, "job": "tidy"}),
    ("hook:0b5e", KeyForm.HOOK, UNKNOWN, ChatType.UNKNOWN, {"agent": None}),
    ("agent:ada:hook:0b5e", KeyForm.HOOK, UNKNOWN, ChatType.UNKNOWN, {"agent": "ada"}),
    ("node-tablet", KeyForm.NODE, UNKNOWN, ChatType.UNKNOWN, {}),
    ("node:tablet", KeyForm.NODE, UNKNOWN, ChatType.UNKNOWN, {}),
    ("agent:ada:subagent:s1", KeyForm.SUBAGENT, SUBAGENT, ChatType.UNKNOWN, {"depth": 1}),
    ("agent:ada:subagent:s1:subagent:s2", KeyForm.SUBAGENT, SUBAGENT, ChatType.UNKNOWN, {"depth": 2}),
    ("agent:ada:acp:editor", KeyForm.ACP, UNKNOWN, ChatType.UNKNOWN, {}),
    ("acp-bridge:editor", KeyForm.ACP, UNKNOWN, ChatType.UNKNOWN, {}),
    ("agent:ada:main:heartbeat", KeyForm.HEARTBEAT, HEARTBEAT, ChatType.DIRECT, {}),
    ("agent:ada:heartbeat", KeyForm.HEARTBEAT, HEARTBEAT, ChatType.UNKNOWN, {}),
    ("agent:ada:irc:group:#tea:heartbeat", KeyForm.HEARTBEAT, HEARTBEAT, ChatType.GROUP, {"peer": "#tea"}),
    ("agent:ada:explicit:garden", KeyForm.EXPLICIT, INTERACTIVE, ChatType.EXPLICIT, {}),
    (f"agent:ada:explicit:{PROBE}", KeyForm.MODEL_PROBE, UNKNOWN, ChatType.UNKNOWN, {}),
    ("agent:ada:dashboard:d1", KeyForm.DASHBOARD, INTERACTIVE, ChatType.EXPLICIT, {}),
    ("agent:ada:dashboard:incognito-1", KeyForm.INCOGNITO, UNKNOWN, ChatType.UNKNOWN, {}),
    ("session:weekly-plan", KeyForm.NAMED, UNKNOWN, ChatType.UNKNOWN, {}),
    ("global", KeyForm.GLOBAL, INTERACTIVE, ChatType.UNKNOWN, {"agent": None}),
    ("agent:ada:dreaming-narrative-3", KeyForm.INTERNAL, SUBAGENT, ChatType.UNKNOWN, {}),
    ("agent:ada:main:active-memory:9", KeyForm.INTERNAL, SUBAGENT, ChatType.UNKNOWN, {}),
    ("group:-77", KeyForm.PEER, INTERACTIVE, ChatType.GROUP, {"agent": None, "peer": "-77"}),
]


@pytest.mark.parametrize(("text", "form", "kind", "chat", "fields"), SHAPES, ids=[shape[0] for shape in SHAPES])
def test_every_known_shape_is_read(text, form, kind, chat, fields):
    key = parse_key(text)
    assert (key.form, key.kind, key.chat) == (form, kind, chat)
    assert {name: getattr(key, name) for name in fields} == fields
    assert key.text == text
    assert parse_key(str(key)) == key


@pytest.mark.parametrize(
    "text",
    ["", ":", "agent:main", "agent::main", "agent:main:nonsense", "main", "agent:ada:direct", "direct:bea", "🦊:🦊"],
)
def test_what_has_no_known_shape_is_unknown_in_every_respect(text):
    key = parse_key(text)
    assert (key.form, key.kind, key.chat) == (KeyForm.UNKNOWN, UNKNOWN, ChatType.UNKNOWN)


def test_empty_parts_are_dropped():
    key = parse_key("agent::main:x")
    assert (key.agent, key.rest) == ("main", "x")


def test_old_words_are_written_as_the_present_ones():
    assert parse_key("agent:ada:telegram:dm:123").text == "agent:ada:telegram:direct:123"
    assert parse_key("agent:ada:matrix:room:!Ab:example.org").text == "agent:ada:matrix:channel:!Ab:example.org"


def test_the_case_of_an_opaque_identifier_is_kept_and_of_any_other_folded():
    assert parse_key("agent:ada:Signal:Group:QmF6Zw==").rest == "signal:group:QmF6Zw=="
    assert parse_key("agent:ada:Telegram:Group:ABC").rest == "telegram:group:abc"


def test_the_name_of_the_main_session_can_be_set():
    assert parse_key("agent:ada:home", main_key="Home").form is KeyForm.MAIN
    assert parse_key("agent:ada:home").form is KeyForm.UNKNOWN


def test_a_key_knows_what_it_is_for():
    assert parse_key("agent:ada:irc:group:#tea").shared
    assert not parse_key("agent:ada:main").shared
    assert parse_key("agent:ada:main").primary
    assert not parse_key("agent:ada:main:thread:1").primary
    assert parse_key("agent:ada:cron:tidy").synthetic
    assert not parse_key("agent:ada:explicit:x").synthetic
    assert parse_key("agent:ada:dashboard:incognito-7").incognito


LINKS = {"alice": ["telegram:123"]}
RESOLVED = [
    ({"channel": "telegram", "peer": "123"}, "agent:main:main"),
    ({"scope": DmScope.PER_PEER, "channel": "irc", "peer": "Alice"}, "agent:main:direct:alice"),
    ({"scope": DmScope.PER_CHANNEL_PEER, "channel": "telegram", "peer": "123"}, "agent:main:telegram:direct:123"),
    (
        {"scope": DmScope.PER_ACCOUNT_CHANNEL_PEER, "channel": "telegram", "account": "", "peer": "123"},
        "agent:main:telegram:default:direct:123",
    ),
    (
        {"scope": DmScope.PER_CHANNEL_PEER, "links": LINKS, "channel": "telegram", "peer": "123"},
        "agent:main:telegram:direct:alice",
    ),
    ({"scope": DmScope.MAIN, "links": LINKS, "channel": "telegram", "peer": "123"}, "agent:main:main"),
    (
        {"chat": ChatType.GROUP, "channel": "telegram", "peer": "-100", "topic": "42"},
        "agent:main:telegram:group:-100:topic:42",
    ),
    ({"chat": ChatType.GROUP}, "agent:main:unknown:group:unknown"),
    ({"scope": DmScope.PER_PEER}, "agent:main:main"),
    (
        {"chat": ChatType.CHANNEL, "channel": "slack", "peer": "C1", "thread": "9"},
        "agent:main:slack:channel:c1:thread:9",
    ),
]


@pytest.mark.parametrize(("route", "text"), RESOLVED)
def test_a_message_finds_its_session(route, text):
    assert resolve_key(agent="main", **route).text == text


def test_links_merge_one_person_under_every_scope_that_can_hold_it():
    links = {"Bea": ["telegram:77", "SIGNAL:+49"]}
    for scope in DmScope:
        keys = [
            resolve_key(agent="a", scope=scope, channel=channel, peer=peer, links=links)
            for channel, peer in [("telegram", "77"), ("signal", "+49")]
        ]
        assert [key.peer for key in keys] == ([None, None] if scope is DmScope.MAIN else ["bea", "bea"])
    together = {
        resolve_key(agent="a", scope=DmScope.PER_PEER, channel=c, peer=p, links=links).text
        for c, p in [("telegram", "77"), ("signal", "+49")]
    }
    assert together == {"agent:a:direct:bea"}


def test_iso_01_nobody_gets_the_session_of_a_linked_person_by_taking_their_name():
    mine = resolve_key(agent="a", scope=DmScope.PER_PEER, channel="telegram", peer="123", links=LINKS)
    theirs = resolve_key(agent="a", scope=DmScope.PER_PEER, channel="irc", peer="Alice", links=LINKS)
    assert mine.text != theirs.text
    assert theirs.chat is ChatType.DIRECT


@pytest.mark.parametrize(
    "peer", ["bob:thread:1", "bob:heartbeat", "x:subagent:y", "a::b", "direct:alice", "%61", "incognito-1", ":", "::"]
)
def test_iso_01_a_peer_cannot_choose_an_id_that_reads_as_another_session(peer):
    key = resolve_key(agent="a", scope=DmScope.PER_CHANNEL_PEER, channel="irc", peer=peer)
    assert (key.form, key.kind, key.chat, key.thread) == (KeyForm.PEER, INTERACTIVE, ChatType.DIRECT, None)
    plain = resolve_key(agent="a", scope=DmScope.PER_CHANNEL_PEER, channel="irc", peer=peer.split(":")[0])
    assert key == plain if ":" not in peer else key.text != plain.text


@given(
    st.text(min_size=1), st.text(min_size=1), st.sampled_from([scope for scope in DmScope if scope is not DmScope.MAIN])
)
def test_iso_01_two_peers_never_share_a_session(one, other, scope):
    def key(peer):
        return resolve_key(agent="a", scope=scope, channel="irc", peer=peer, links=LINKS)

    if one.strip() and other.strip() and one.strip().lower() != other.strip().lower():
        assert key(one).text != key(other).text
    if one.strip():
        assert parse_key(key(one).text) == key(one)
        assert key(one).chat is ChatType.DIRECT


@given(st.text(alphabet="agentmicrohbxy:- ./%\n", max_size=60))
def test_reading_a_key_never_fails_and_reads_its_own_spelling_alike(text):
    key = parse_key(text)
    assert parse_key(key.text) == key


def test_a_group_that_speaks_into_the_main_session_stays_a_group():
    key = resolve_key(agent="a", chat=ChatType.GROUP, channel="irc", peer="#tea", group_scope=GroupScope.MAIN)
    assert (key.text, key.chat) == ("agent:a:main", ChatType.GROUP)


def test_a_chat_of_unknown_type_is_apart_and_stays_unknown():
    key = resolve_key(agent="a", chat=ChatType.UNKNOWN, channel="irc", peer="direct:alice")
    assert key.chat is not ChatType.GROUP
    assert (key.chat, key.kind) == (ChatType.UNKNOWN, UNKNOWN)


def test_scopes_are_found_by_name():
    assert DmScope.of("per-agent") is DmScope.MAIN
    assert DmScope.of(" Per-Peer ") is DmScope.PER_PEER
    with pytest.raises(UsageError, match="dmScope"):
        DmScope.of("per-planet")


def test_keys_of_a_program_are_made_by_name():
    assert explicit_key("A", "Garden").text == "agent:a:explicit:garden"
    assert cron_key("a", "tidy", "7").run == "7"
    assert subagent_key("a", "s1").kind is SUBAGENT
    assert heartbeat_key(parse_key("agent:a:main")).text == "agent:a:main:heartbeat"
