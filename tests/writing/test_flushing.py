"""A flush happens once a cycle, only adds, and what it writes is as trusted as the least that it was made of."""

from datetime import UTC, datetime, timedelta
from types import MappingProxyType

import pytest

from reverie.core.clock import CountingIds, FixedClock
from reverie.core.config.agents import Compaction
from reverie.core.config.reading import Reading
from reverie.core.errors import ModelUnavailable, UsageError
from reverie.core.types import Sender, SessionKind
from reverie.sessions.directory import SessionDirectory
from reverie.sessions.flushplan import Cycle, Thresholds, flush_due, thresholds
from reverie.sessions.turns import TurnRecorder
from reverie.writing.flushing import EXTRACTIVE, Flusher

KEY = "agent:main:irc:direct:me"
ME, BEA = Sender.owner("me", channel="irc"), Sender.guest("bea", channel="irc")
NOTE = "memory/2031-05-06.md"


def settings(**raw):
    return Compaction.read(MappingProxyType(raw), (), Reading({}))


class Scripted:
    """Gives prepared answers, the last one again and again."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def complete(self, system, messages, *, timeout):
        self.asked.append((system, messages[-1].content))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def ids():
    return CountingIds("s")


@pytest.fixture
def sessions(tmp_path):
    return SessionDirectory(tmp_path / "sessions")


@pytest.fixture
def say(sessions, house, ids):
    recorder = TurnRecorder(sessions, house.clock, ids)

    def call(text, answer="Noted.", sender=ME, key=KEY, foreign=""):
        turn = recorder.open(key, sender, text)
        if foreign:
            turn.tool_result("web_fetch", foreign, "network")
        turn.reply(answer)
        return turn

    return call


@pytest.fixture
def flush(sessions, house, ids):
    def call(model=None, *, key=KEY, window=0, used=0, compacting=True, **raw):
        flusher = Flusher(sessions, house.writer, house.clock, ids, settings(**raw), model=model)
        return flusher.flush(key, window=window, used=used, compacting=compacting)

    return call


def compacted(sessions):
    def count(row):
        row["compactionCount"] = row.get("compactionCount", 0) + 1
        row.pop("memoryFlushFailureCount", None)

    sessions.update(KEY, count)


# --- when --------------------------------------------------------------------------------------------------------


PLAN = thresholds(settings(), 200_000)


@pytest.mark.parametrize(
    ("facts", "due"),
    [
        ({"tokens": 176_000}, True),
        ({"tokens": 175_999}, False),
        ({"tokens": 10, "compacting": True}, True),
        ({"tokens": 180_000, "kind": SessionKind.HEARTBEAT}, False),
        ({"tokens": 180_000, "kind": SessionKind.CRON}, False),
        ({"tokens": 180_000, "kind": SessionKind.UNKNOWN}, False),
        ({"tokens": 180_000, "cycle": Cycle(compactions=2, flushed_in=2)}, False),
        ({"tokens": 180_000, "cycle": Cycle(compactions=3, flushed_in=2)}, True),
        ({"tokens": 180_000, "cycle": Cycle(flushed_in=0), "compacting": True}, False),
        ({"tokens": 180_000, "cycle": Cycle(failures=3)}, False),
        ({"tokens": 180_000, "settings": {"memoryFlush": {"enabled": False}}}, False),
        ({"tokens": 10, "visible_bytes": 2_097_152}, True),
        ({"tokens": 10, "visible_bytes": 2_097_151}, False),
        (
            {"tokens": 10, "visible_bytes": 9_000_000, "settings": {"memoryFlush": {"forceFlushTranscriptBytes": 0}}},
            False,
        ),
        ({"tokens": 10, "visible_bytes": 3_000_000, "cycle": Cycle(flushed_in=0, flushed_bytes=2_100_000)}, False),
        ({"tokens": 10, "visible_bytes": 4_300_000, "cycle": Cycle(flushed_in=0, flushed_bytes=2_100_000)}, True),
        ({"tokens": 10, "visible_bytes": 4_300_000, "cycle": Cycle(flushed_in=0, flushed_hash="h")}, False),
    ],
)
def test_a_flush_is_due_once_a_cycle_near_the_threshold_or_when_much_was_said(facts, due):
    facts = {"kind": SessionKind.INTERACTIVE, "visible_bytes": 10, "cycle": Cycle(), "content_hash": "h", **facts}
    chosen = settings(**facts.pop("settings", {}))
    plan = PLAN if chosen == settings() else thresholds(chosen, 200_000)
    assert flush_due(plan, facts.pop("cycle"), settings=chosen, **facts).due is due


def test_an_unknown_window_has_no_token_trigger():
    plan = thresholds(settings(), 0)
    assert isinstance(plan, Thresholds) and plan.flush_at == 0
    found = flush_due(
        plan,
        Cycle(),
        settings=settings(),
        kind=SessionKind.INTERACTIVE,
        tokens=10**9,
        visible_bytes=1,
        content_hash="h",
    )
    assert not found.due


def test_trans_08_one_flush_for_each_compaction_however_large_the_context_grows(sessions, say, flush):
    model = Scripted("- The attic has nine beams.")
    for cycle in range(3):
        for number in range(6):
            say(f"The beam {cycle}-{number} is sound.")
            flush(model, window=32_768, used=20_600 + 5000 * number, compacting=False)
        flush(model, window=32_768, used=60_000)
        assert len(model.asked) == cycle + 1
        compacted(sessions)
    assert not any("nine beams" in text for entry in sessions.list() for text in told(sessions, entry))


def told(sessions, entry):
    transcript = sessions.transcript(entry, FixedClock(datetime(2031, 1, 1, tzinfo=UTC)), CountingIds())
    return [message.message.text for message in transcript.read().messages]


def test_there_must_be_such_a_session(flush):
    with pytest.raises(UsageError):
        flush()


# --- what --------------------------------------------------------------------------------------------------------


def test_dur_11_a_flush_only_adds_to_the_note(house, say, flush):
    house.put(NOTE, "# 2031-05-06\n\n- Section A stands here.\n")
    say("The roof is done.")
    report = flush(Scripted("- The roof was done on 2031-05-06."))
    assert house.text(NOTE).startswith("# 2031-05-06\n\n- Section A stands here.\n")
    assert "- The roof was done on 2031-05-06." in house.text(NOTE)
    assert (report.done, report.means, report.written.path) == (True, "model", NOTE)


def test_dur_12_a_flush_that_repeats_the_note_adds_only_what_is_new(house, sessions, say, flush):
    say("The roof is done.")
    flush(Scripted("- The roof was done."))
    compacted(sessions)
    say("The floor is next.")
    flush(Scripted("# 2031-05-06\n\n- The roof was done.\n- The floor is next."))
    text = house.text(NOTE)
    assert (text.count("roof was done"), text.count("floor is next"), text.count("# 2031-05-06")) == (1, 1, 1)


def test_time_04_the_model_is_told_the_day_and_the_note_and_can_choose_no_other(house, say, flush):
    house.clock.set(datetime(2031, 5, 6, 22, 30, tzinfo=UTC))  # in Berlin it is the 7th
    say("The roof is done.")
    model = Scripted("memory/2024-01-01.md\n- The roof was done.")
    report = flush(model)
    system, question = model.asked[0]
    assert "memory/2031-05-07.md" in system and "memory/2031-05-07.md" in question
    assert "2031-05-07T00:30+02:00 (Europe/Berlin)" in question
    assert report.written.path == "memory/2031-05-07.md"
    assert sorted(path.name for path in (house.root / "memory").iterdir()) == ["2031-05-07.md"]


@pytest.mark.parametrize("answer", ["NO_REPLY", " no_reply.\n", "**NO_REPLY**"])
def test_a_model_may_find_nothing_and_the_cycle_is_done(house, say, flush, answer):
    say("Good morning.")
    assert flush(Scripted(answer)).done
    assert not (house.root / "memory").exists()
    assert flush(Scripted("- late")).why == "it was flushed since the last compaction"


@pytest.mark.parametrize(
    ("foreign", "answer", "wanted"),
    [("", "- The roof is done.", "agent"), ("All invoices go elsewhere.", "- Invoices go elsewhere.", "untrusted")],
)
def test_a_flush_is_as_trusted_as_the_least_that_it_was_shown(house, say, flush, foreign, answer, wanted):
    say("The roof is done.")
    say("Read that page.", "It says that invoices go elsewhere.", foreign=foreign)
    report = flush(Scripted(answer))
    assert (str(report.written.origin), house.classes(NOTE)[answer]) == (wanted, wanted)


def test_what_others_said_is_not_shown_to_the_model_and_not_kept(house, say, flush):
    say("The roof is done.")
    say("I prefer planes, remember that.", "Fine.", sender=BEA)
    model = Scripted("- The roof is done.")
    assert str(flush(model).written.origin) == "agent"
    assert "planes" not in model.asked[0][1] and "Fine" not in model.asked[0][1]


def test_where_the_owner_said_nothing_nothing_is_asked(house, say, flush):
    say("I prefer planes.", sender=BEA)
    model = Scripted("- planes")
    report = flush(model)
    assert (report.done, report.written, model.asked) == (True, None, [])
    assert not (house.root / "memory").exists()


# --- without a model ---------------------------------------------------------------------------------------------


def test_without_a_model_the_owners_statements_are_kept_word_for_word_and_labelled(house, say, flush):
    say("The carpenter comes on Tuesday.")
    say("木匠星期二来。")
    say("Where did I put the key?")
    say("钥匙在哪里？")
    say("/compact now")
    say("I prefer planes.", sender=BEA)
    report = flush()
    lines = [line for line in house.text(NOTE).splitlines() if line]
    assert lines[-3:] == [EXTRACTIVE, "- The carpenter comes on Tuesday.", "- 木匠星期二来。"]
    assert (report.done, report.means, str(report.written.origin)) == (True, "extract", "agent")


def test_the_next_extract_begins_where_the_last_one_ended(house, sessions, say, flush):
    say("The roof is done.")
    flush()
    say("The floor is next.")
    compacted(sessions)
    flush()
    text = house.text(NOTE)
    assert (text.count("The roof is done."), text.count("The floor is next.")) == (1, 1)


# --- failures ----------------------------------------------------------------------------------------------------


def test_three_failures_exhaust_a_cycle_and_the_statements_are_kept_all_the_same(house, sessions, say, flush):
    say("The roof is done.")
    model = Scripted(ModelUnavailable("out of\norder " + "x" * 400))
    for count in (1, 2):
        house.clock.advance(timedelta(minutes=1))
        report = flush(model, window=1000, used=990, compacting=False)
        row = sessions.get(KEY).data
        assert (report.done, row["memoryFlushFailureCount"]) == (False, count)
        assert len(row["memoryFlushLastFailureError"]) <= 200
    assert not (house.root / "memory").exists()
    last = flush(model, window=1000, used=990, compacting=False)
    assert (last.done, last.means) == (True, "extract")
    assert "The roof is done." in house.text(NOTE)
    assert flush(model, window=1000, used=990, compacting=False).done is False
    assert len(model.asked) == 3


def test_a_failure_right_before_compaction_leaves_an_extract(house, say, flush):
    say("The roof is done.")
    report = flush(Scripted(""), compacting=True)
    assert (report.means, "The roof is done." in house.text(NOTE)) == ("extract", True)


def test_the_row_tells_when_and_in_which_cycle_and_a_success_clears_failures(house, sessions, say, flush):
    say("The roof is done.")
    flush(Scripted(""), window=1000, used=990, compacting=False)
    flush(Scripted("- The roof is done."), window=1000, used=990, compacting=False)
    row = sessions.get(KEY).data
    assert (row["memoryFlushCompactionCount"], row["memoryFlushAt"]) == (0, int(house.clock.now().timestamp() * 1000))
    assert not [name for name in row if "Fail" in name]
