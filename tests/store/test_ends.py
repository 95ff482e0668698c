"""The queue of ended transcripts: durable, and each end once."""

from datetime import UTC, datetime, timedelta

import pytest

from reverie.core.clock import CountingIds, FixedClock
from reverie.store.durable import DurableStore
from reverie.store.ends import SessionEnds

NOON = datetime(2031, 5, 6, 12, tzinfo=UTC)


@pytest.fixture
def clock():
    return FixedClock(NOON)


@pytest.fixture
def store(tmp_path, clock):
    with DurableStore.open(tmp_path, clock, CountingIds()) as opened:
        yield opened


@pytest.fixture
def ends(store, clock):
    return SessionEnds(store.database, clock)


def test_an_end_waits_until_it_is_done_also_after_a_restart(tmp_path, clock, store, ends):
    first = ends.queue("s1", "agent:main:main", "new", next_session="s2")
    clock.advance(timedelta(minutes=1))
    ends.queue("s2", "agent:main:main", "daily")
    store.close()
    with DurableStore.open(tmp_path, clock, CountingIds()) as again:
        queue = SessionEnds(again.database, clock)
        assert [(one.session, one.reason, one.next) for one in queue.waiting()] == [
            ("s1", "new", "s2"),
            ("s2", "daily", ""),
        ]
        queue.done(first)
        queue.done(first)
        assert [one.session for one in queue.waiting()] == ["s2"]


def test_an_end_told_twice_is_there_once(ends):
    ends.queue("s1", "agent:main:main", "idle", next_session="s2")
    ends.queue("s1", "agent:main:main", "close")
    ends.queue_missed([("s1", "agent:main:main")])
    assert [(one.session, one.reason, one.next) for one in ends.waiting()] == [("s1", "close", "s2")]


def test_a_session_that_goes_on_and_ends_again_waits_again(clock, ends):
    old = ends.queue("s1", "agent:main:main", "close")
    ends.done(old)
    ends.queue_missed([("s1", "agent:main:main")])
    assert ends.waiting() == []
    clock.advance(timedelta(hours=1))
    ends.queue("s1", "agent:main:main", "close")
    ends.done(old)
    assert [one.at for one in ends.waiting()] == [NOON + timedelta(hours=1)]


def test_what_was_missed_is_queued_and_what_is_forgotten_goes(store, ends):
    ends.queue_missed([("s1", "agent:main:main"), ("s2", "agent:main:main")])
    ends.drop("s1")
    assert [(one.session, one.reason) for one in ends.waiting()] == [("s2", "missed")]
    assert [row["session"] for table, row in store.export() if table == "session_end"] == ["s2"]
