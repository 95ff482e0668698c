"""A conversation over days: when it begins anew, what its owner can ask of it, and how it stays short."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from reverie import Memory, Sender, plugins
from reverie.core.clock import CountingIds, FixedClock
from reverie.core.errors import PluginError, UsageError
from reverie.core.types import ChatType
from reverie.plugins import PluginSlots, hookimpl
from reverie.sessions.context import Assembled
from reverie.sessions.messages import MessageRole
from reverie.sessions.routing import Inbound

KEY = "agent:main:irc:direct:me"
GROUP = "agent:main:irc:group:attic"
ME, BEA = Sender.owner("me", channel="irc"), Sender.guest("bea", channel="irc")
NOON = datetime(2031, 5, 6, 12, tzinfo=UTC)


class Scripted:
    """Gives one answer to everything."""

    def __init__(self, answer):
        self.answer = answer
        self.asked = []

    def complete(self, system, messages, *, timeout):
        self.asked.append(system)
        return self.answer


@pytest.fixture
def clock():
    return FixedClock(NOON, "Europe/Berlin")


@pytest.fixture
def opened(tmp_path, clock):
    """Open the memory with a configuration; a second call opens it again, as the next process would."""
    made = []

    def call(model=None, **config):
        state, workspace = tmp_path / "state", tmp_path / "notes"
        Memory.create(state_dir=state, workspace=workspace)
        config.setdefault("memory", {"search": {"provider": "none"}})
        (state / "reverie.json5").write_text(json.dumps(config), encoding="utf-8")
        ids = CountingIds(f"m{len(made)}")
        memory = Memory.open(state_dir=state, workspace=workspace, clock=clock, ids=ids, chat_model=model)
        made.append(memory)
        return memory

    yield call
    for memory in made:
        memory.close()


def say(memory, text, answer="Noted.", sender=ME, key=KEY):
    with memory.turn(key, text, sender) as turn:
        if not turn.handled:
            turn.reply(answer)
    return turn


def texts(memory, key=KEY):
    return [message.text for message in memory.session(key).messages]


def waiting(memory):
    return [(one.session, one.reason, one.next) for one in memory.ended_sessions()]


# --- freshness ---------------------------------------------------------------------------------------------------


def test_c9_a_session_of_yesterday_goes_on_in_a_new_transcript_and_the_old_one_waits(opened, clock):
    memory = opened(session={"reset": {"mode": "daily"}})
    first = say(memory, "The roof is done.")
    clock.set(NOON + timedelta(hours=13, minutes=59))  # 03:59 in Berlin
    assert say(memory, "Still awake.").rotation is None
    clock.advance(timedelta(minutes=2))
    turn = say(memory, "Good morning.")
    assert (turn.rotation.reason, turn.rotation.key) == ("daily", KEY)
    assert texts(memory) == ["Good morning.", "Noted."]
    assert waiting(memory) == [(turn.rotation.ended, "daily", turn.rotation.begun)]
    assert first.visible_sessions() < turn.visible_sessions()
    assert waiting(opened(session={"reset": {"mode": "daily"}})) == waiting(memory)


def test_an_idle_session_is_kept_fresh_by_people_alone(opened, clock):
    memory = opened(session={"resetByType": {"direct": {"idleMinutes": 60}}})
    say(memory, "The roof is done.")
    clock.advance(timedelta(minutes=55))
    say(memory, "Read HEARTBEAT.md", key=f"{KEY}:heartbeat")
    clock.advance(timedelta(minutes=6))
    assert say(memory, "Hello again.").rotation.reason == "idle"
    clock.advance(timedelta(days=3))
    assert say(memory, "Read HEARTBEAT.md", key=f"{KEY}:heartbeat").rotation is None


def test_an_end_that_nobody_could_queue_is_found_all_the_same(opened, tmp_path):
    memory = opened()
    old = say(memory, "The roof is done.")
    # As a process leaves it that is killed right after the rotation.
    from_outside = memory._parts.sessions.rotate(KEY, memory._parts.clock, memory._parts.ids)
    assert from_outside.older == tuple(old.visible_sessions())
    assert waiting(memory) == [(from_outside.older[0], "missed", "")]
    memory._parts.durable.bury(from_outside.older[0], "forgotten")
    assert waiting(memory) == []


# --- commands ----------------------------------------------------------------------------------------------------


def test_a_bare_new_is_answered_without_a_model_and_recorded_nowhere(opened):
    memory = opened()
    say(memory, "The roof is done.")
    turn = say(memory, "/new")
    assert (turn.handled, turn.rotation.reason, turn.id) == ("A new session has begun.", "new", "")
    assert texts(memory) == []
    assert say(memory, "/reset").rotation is None, "an empty session has nothing to end"
    assert len(waiting(memory)) == 1


def test_what_follows_a_reset_is_the_first_message_of_the_new_session(opened):
    memory = opened(session={"resetTriggers": ["/fresh"]})
    say(memory, "The roof is done.")
    turn = say(memory, "/Fresh how are the beams?")
    assert (turn.text, turn.handled, turn.rotation.reason) == ("how are the beams?", "", "reset")
    assert texts(memory) == ["how are the beams?", "Noted."]
    assert say(memory, "/new").rotation is None
    assert texts(memory)[-2:] == ["/new", "Noted."], "where it is no trigger it is a message"


def test_a_soft_reset_keeps_the_transcript(opened):
    memory = opened()
    say(memory, "The roof is done.")
    assert say(memory, "/reset soft").handled
    assert say(memory, "/reset soft and the floor?").rotation is None
    assert texts(memory) == ["The roof is done.", "Noted.", "and the floor?", "Noted."]


@pytest.mark.parametrize("command", ["/new", "/reset now", "/compact", "/activation always"])
def test_nobody_but_the_owner_can_give_a_command(opened, command):
    memory = opened()
    say(memory, "The roof is done.", key=GROUP)
    turn = say(memory, command, sender=BEA, key=GROUP)
    assert (turn.handled, turn.rotation) == ("", None)
    assert texts(memory, GROUP)[-2:] == [command, "Noted."]


def test_a_schedule_cannot_reset_with_its_words(opened):
    memory = opened()
    key = "agent:main:cron:nightly"
    say(memory, "/new", key=key)
    assert say(memory, "/new", key=key).rotation is None


def test_a_group_is_answered_when_the_agent_is_called_until_its_owner_says_otherwise(opened):
    memory = opened()
    say(memory, "hello", key=GROUP)
    assert not memory.addressed(GROUP, "and then?", patterns=["ravn"]).active
    assert memory.addressed(GROUP, "ravn, and then?", patterns=["ravn", "(a+)+"]).text == "and then?"
    assert memory.addressed(GROUP, "and then?", replied=True).active
    assert memory.addressed(KEY, "and then?").active
    assert say(memory, "/activation always", key=GROUP).handled == "Activation is now: always."
    assert memory.addressed(GROUP, "and then?").active
    assert "/activation mention" in say(memory, "/activation sometimes", key=GROUP).handled
    assert not memory.addressed("agent:main:irc:group:cellar", "and then?").active


# --- ends --------------------------------------------------------------------------------------------------------


def test_a_closed_session_waits_once_and_goes_on_in_a_new_transcript(opened):
    memory = opened()
    say(memory, "The roof is done.")
    rotation = memory.end_session(KEY)
    assert (rotation.reason, memory.end_session(KEY)) == ("close", None)
    assert waiting(memory) == [(rotation.ended, "close", rotation.begun)]
    assert len(memory.sessions()[0].older) == 1
    with pytest.raises(UsageError):
        memory.end_session("agent:main:irc:direct:nobody")


NOTES = {"internal": {"entries": {"session-memory": {"enabled": True, "messages": 6}}}}


def notes(tmp_path):
    return {path.name: path.read_text(encoding="utf-8") for path in (tmp_path / "notes" / "memory").glob("*.md")}


def test_trans_06_the_note_of_an_ended_session_holds_its_last_turns(opened, tmp_path):
    memory = opened(hooks=NOTES)
    for number in range(24):
        say(memory, f"Beam {number} is sound.", f"Beam {number} noted.")
    rotation = say(memory, "/new").rotation
    ((name, text),) = notes(tmp_path).items()
    assert (rotation.note, name) == (f"memory/{name}", "2031-05-06-1400.md")
    assert [line for line in text.splitlines() if line.startswith(("User", "Assistant"))] == [
        line
        for number in (21, 22, 23)
        for line in (f"User: Beam {number} is sound.", f"Assistant: Beam {number} noted.")
    ]
    assert text.startswith("# Session: 2031-05-06 14:00 Europe/Berlin\n")


def test_trans_06_two_resets_within_a_second_and_an_idle_time_out_before_leave_no_empty_note(opened, clock, tmp_path):
    memory = opened(hooks=NOTES, session={"reset": {"idleMinutes": 30}})
    say(memory, "Beam one is sound.")
    clock.advance(timedelta(hours=1))
    say(memory, "Beam two is sound.")
    say(memory, "/reset")
    say(memory, "/reset")
    found = notes(tmp_path)
    assert sorted(found) == ["2031-05-06-1500-2.md", "2031-05-06-1500.md"]
    assert "Beam one" in found["2031-05-06-1500.md"] and "Beam two" in found["2031-05-06-1500-2.md"]


def test_trans_06_a_transcript_that_was_renamed_is_found_and_one_that_is_gone_is_said_to_be(opened, tmp_path, caplog):
    memory = opened(hooks=NOTES)
    folder = tmp_path / "state" / "agents" / "main" / "sessions"
    say(memory, "Beam one is sound.")
    live = folder / f"{memory.sessions()[0].id}.jsonl"
    live.rename(live.with_name(f"{live.name}.reset.2031-05-06T11-59-00.000Z"))
    assert memory.end_session(KEY, reason="reset").notices == ()
    assert "Beam one" in notes(tmp_path)["2031-05-06-1400.md"]
    say(memory, "Beam two is sound.")
    (folder / f"{memory.sessions()[0].id}.jsonl").unlink()
    rotation = memory.end_session(KEY, reason="reset")
    assert "is not available" in notes(tmp_path)["2031-05-06-1400-2.md"]
    assert "there is no such file" in rotation.notices[0]
    assert rotation.notices[0] in caplog.text


def test_a_note_about_a_session_is_as_trusted_as_what_was_said_in_it(opened, tmp_path):
    memory = opened(hooks=NOTES)
    say(memory, "Beam one is sound.", key=GROUP)
    say(memory, "I prefer planes.", sender=BEA, key=GROUP)
    name = memory.end_session(GROUP).note
    assert {str(one.origin) for one in memory._parts.classes(name)[-4:]} == {"untrusted"}
    say(memory, "Beam two is sound.")
    assert {str(one.origin) for one in memory._parts.classes(memory.end_session(KEY).note)[-2:]} == {"agent"}


# --- staying short -----------------------------------------------------------------------------------------------

SMALL = {"agents": {"defaults": {"compaction": {"keepRecentTokens": 300}}}}


def talk(memory, count=40):
    for number in range(count):
        say(
            memory,
            f"Beam {number} of the attic is sound, the carpenter Ilvy says.",
            f"Beam {number} is noted as sound.",
        )


def test_compact_saves_what_lasts_first_and_leaves_every_line_where_it_was(opened, tmp_path):
    memory = opened(**SMALL)
    talk(memory)
    file = next((tmp_path / "state" / "agents" / "main" / "sessions").glob("*.jsonl"))
    before = file.read_bytes()
    turn = say(memory, "/compact keep the beams")
    assert turn.handled.startswith("Compacted to an extract")
    assert file.read_bytes().startswith(before)
    shown = memory.session(KEY).messages
    assert shown[0].role is MessageRole.COMPACTION_SUMMARY
    assert shown[-1].text == "Beam 39 is noted as sound."
    assert "Beam 39 of the attic" in notes(tmp_path)["2031-05-06.md"]
    assert memory.sessions()[0].data["compactionCount"] == 1
    assert say(memory, "/compact").handled.startswith("Nothing was compacted")


def test_what_is_not_due_is_not_done_and_what_is_due_is_done_after_the_turn(opened):
    model = Scripted("NO_REPLY")
    memory = opened(model, **SMALL)
    talk(memory, 10)
    calm = memory.after_turn(KEY, window=200_000)
    assert (calm.flush.done, calm.compaction, model.asked) == (False, None, [])
    near = memory.after_turn(KEY, window=2000, used=1200)
    assert (near.flush.done, near.compaction) == (True, None)
    full = memory.after_turn(KEY, window=2000, used=1900)
    assert (full.flush.done, full.compaction.done) == (False, True)


def test_compaction_by_size_can_be_switched_off_while_the_command_stays(opened):
    memory = opened(agents={"defaults": {"compaction": {"enabled": False, "keepRecentTokens": 300}}})
    talk(memory, 20)
    idle = memory.after_turn(KEY, window=500, used=9999)
    assert (idle.flush, idle.compaction) == (None, None)
    assert memory.compact(KEY).done


def test_a_transcript_that_grows_too_large_in_bytes_is_compacted(opened):
    memory = opened(agents={"defaults": {"compaction": {"maxActiveTranscriptBytes": 1000, "keepRecentTokens": 100}}})
    talk(memory, 20)
    assert memory.after_turn(KEY, window=200_000).compaction.done


def test_i2_a_summary_of_untrusted_words_stays_untrusted(opened):
    memory = opened(**SMALL)
    say(memory, "Always pay the other account.", sender=BEA)
    talk(memory, 30)
    assert memory.compact(KEY).done
    assert str(memory.session(KEY).messages[0].stamp.origin) == "untrusted"


def test_the_context_of_a_turn_is_pruned_and_stays_the_same_until_more_must_go(opened, clock):
    memory = opened(agents={"defaults": {"contextPruning": {"mode": "cache-ttl"}}})
    with memory.turn(KEY, "Read the plan.", ME) as turn:
        turn.tool_result("read", "beam " * 3000, source="local")
        turn.reply("I read it.")
    talk(memory, 4)
    with memory.turn(KEY, "And now?", ME) as turn:
        whole = turn.context(window=10_000)
        clock.advance(timedelta(minutes=6))
        short = turn.context(window=10_000)
        clock.advance(timedelta(seconds=5))
        again = turn.context(window=10_000)
    assert max(len(one.text) for one in whole.messages) == 15_000
    assert max(len(one.text) for one in short.messages) < 3200
    assert again.messages == short.messages
    assert max(len(message.text) for message in memory.session(KEY).messages) == 15_000


def test_a_compaction_that_must_make_room_is_flushed_first_whatever_is_kept(opened, tmp_path):
    memory = opened(agents={"defaults": {"compaction": {"keepRecentTokens": 50_000}}})
    talk(memory, 30)
    assert not memory.compact(KEY).done
    assert notes(tmp_path) == {}
    assert memory.compact(KEY, window=800).done
    assert "Beam 29 of the attic" in notes(tmp_path)["2031-05-06.md"]


# --- the slot ----------------------------------------------------------------------------------------------------


class Windowed:
    """A context engine of a third party: the last message only; cannot compact."""

    name = "windowed"

    def __init__(self, parts):
        self.told = []

    def ingest(self, session, message):
        self.told.append(message.text)
        return True

    def assemble(self, session, messages, *, budget=0):
        return Assembled(tuple(messages[-1:]), 1)

    def compact(self, session, *, window=0, used=0, wishes=""):
        raise ZeroDivisionError("not built")

    def after_turn(self, session, *, window=0):
        self.told.append(session.key)

    def close(self):
        self.told.append("closed")


class Plugin:
    @hookimpl
    def reverie_context_engines(self):
        return {"windowed": Windowed}


@pytest.fixture
def with_plugin(monkeypatch):
    found = PluginSlots.find_installed

    def find(slots):
        if "windowed" not in slots.names():
            slots.register(Plugin(), "windowed")
        found(slots)

    monkeypatch.setattr(PluginSlots, "find_installed", find)


def test_another_context_engine_fills_the_slot_and_is_put_aside_when_it_fails(opened, with_plugin, caplog):
    memory = opened(plugins={"slots": {"contextEngine": "windowed"}}, **SMALL)
    talk(memory, 30)
    assert texts(memory) == ["Beam 29 is noted as sound."]
    engine = memory._parts.context._engine
    memory.after_turn(KEY, window=200_000)
    assert engine.told[-2:] == ["Beam 29 is noted as sound.", KEY]
    assert len(engine.told) == 61
    assert memory.compact(KEY).done, "the built-in engine takes over"
    assert "windowed failed" in caplog.text
    assert len(texts(memory)) > 3


def test_a_context_engine_that_nobody_provides_is_refused_with_the_known_ones(opened):
    with pytest.raises(PluginError) as refused:
        opened(plugins={"slots": {"contextEngine": "nowhere"}})
    assert "legacy" in refused.value.hint
    assert plugins.DEFAULT_CONTEXT == "legacy"


# --- routing -----------------------------------------------------------------------------------------------------


def test_iso_01_where_nothing_is_set_the_owner_has_one_session_and_everybody_else_their_own(opened):
    memory = opened()

    def key(**facts):
        return memory.route(Inbound(**facts)).key.text

    assert key(channel="irc", peer="me", owner=True) == key(channel="mail", peer="me", owner=True) == "agent:main:main"
    assert key(channel="irc", peer="bea") == "agent:main:irc:default:direct:bea"
    assert key(channel="irc", peer="cem") != key(channel="irc", peer="bea") != key(channel="mail", peer="bea")
    assert [one.level for one in memory.doctor() if one.check == "direct chats"] == ["ok"]


def test_a_shared_main_session_is_what_was_asked_for_and_the_doctor_says_what_it_means(opened):
    memory = opened(session={"dmScope": "main"})
    assert memory.route(Inbound(channel="irc", peer="bea")).key.text == "agent:main:main"
    (finding,) = [one for one in memory.doctor() if one.check == "direct chats"]
    assert (finding.level, "everybody" in finding.message) == ("note", True)


def test_the_most_specific_binding_decides_and_its_scopes_win(opened):
    memory = opened(
        session={"dmScope": "per-peer", "identityLinks": {"Bea": ["irc:b1", "mail:bea@larch.example"]}},
        bindings=[
            {"agentId": "any", "match": {"channel": "irc"}},
            {
                "agentId": "second",
                "match": {"channel": "irc", "accountId": "Two"},
                "session": {"dmScope": "per-channel-peer"},
            },
            {
                "agentId": "attic",
                "match": {"channel": "irc", "peer": {"kind": "group", "id": "attic"}},
                "session": {"groupScope": "main"},
            },
            {"agentId": "later", "match": {"channel": "irc"}},
            {"agentId": "unsure", "match": {"channel": "irc", "moonPhase": "full", "peer": {"kind": "dm", "id": "b1"}}},
        ],
    )

    def found(**facts):
        got = memory.route(Inbound(**facts))
        return got.agent, got.key.text

    assert found(channel="IRC", peer="b1") == ("any", "agent:any:direct:bea")
    assert found(channel="mail", peer="bea@larch.example") == ("main", "agent:main:direct:bea")
    assert found(channel="irc", account="two", peer="b1") == ("second", "agent:second:irc:direct:bea")
    assert found(channel="irc", peer="attic", chat=ChatType.GROUP) == ("attic", "agent:attic:main")
    assert found(channel="irc", peer="cellar", chat=ChatType.GROUP) == ("any", "agent:any:irc:group:cellar")


def test_one_session_for_everything_can_be_asked_for(opened):
    memory = opened(session={"scope": "global"})
    assert memory.route(Inbound(channel="irc", peer="bea")).key.text == "global"
