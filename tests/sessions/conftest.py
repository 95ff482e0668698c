"""What the tests of sessions share: a clock that stands still, countable ids, and a folder of transcripts."""

from datetime import UTC, datetime

import pytest

from reverie.core.clock import CountingIds, FixedClock
from reverie.sessions.transcript import FsyncPolicy, Transcript


@pytest.fixture
def noon():
    return datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


@pytest.fixture
def clock(noon):
    return FixedClock(noon)


@pytest.fixture
def ids():
    return CountingIds()


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "agents" / "main" / "sessions"


@pytest.fixture
def transcript(folder, clock, ids):
    return Transcript.create(
        folder / "s1.jsonl", session="s1", key="agent:main:main", clock=clock, ids=ids, fsync=FsyncPolicy.NEVER
    )
