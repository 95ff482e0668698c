"""A memory of its own for each test, by keywords only, and a way to see what came in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie import Memory
from reverie.core.clock import CountingIds, FixedClock
from reverie.sessions.reading import read_transcript

NOW = datetime(2026, 8, 22, 12, 0, tzinfo=UTC)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.fixture
def memory(state: Path, workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    Memory.create(state_dir=state, workspace=workspace)
    (state / "reverie.json5").write_text('{ memory: { search: { provider: "none" } } }', encoding="utf-8")
    with Memory.open(state_dir=state, workspace=workspace, clock=FixedClock(NOW), ids=CountingIds("n")) as opened:
        yield opened


Line = tuple[str, str, str]


@pytest.fixture
def spoken(state: Path) -> Callable[[str], list[Line]]:
    """Return (role, class, text) of every message of a transcript that is here."""

    def read(session: str) -> list[Line]:
        text = read_transcript(state / "agents" / "main" / "sessions" / f"{session}.jsonl")
        found = []
        for entry in text.messages:
            assert entry.message is not None
            assert entry.message.stamp is not None
            found.append((entry.message.role.value, entry.message.stamp.origin.value, entry.message.text))
        return found

    return read


@pytest.fixture
def transcripts(state: Path) -> Callable[[], dict[str, bytes]]:
    """Return the bytes of everything in the sessions folder."""

    def read() -> dict[str, bytes]:
        folder = state / "agents" / "main" / "sessions"
        return {path.name: path.read_bytes() for path in sorted(folder.glob("*")) if path.is_file()}

    return read
