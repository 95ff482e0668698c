"""A real OpenClaw reads what Reverie wrote, and Reverie reads what it wrote; ``scripts/interop`` installs and runs it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.imports.fixtures import snapshot
from tests.imports.scribe import MODEL, Answer, Messages, Scribe, listening

from bench.peers.contender import PeerMissing
from bench.peers.openclaw_peer import FOLDER, programs
from reverie import Memory, Sender
from reverie.core.clock import FixedClock
from reverie.core.types import Corpus, SearchRequest, SessionKind

pytestmark = [pytest.mark.interop, pytest.mark.slow]

MAIN, GROUP = "agent:main:main", "agent:main:telegram:group:-100"
_LONGEST_RUN = 300


@dataclass(frozen=True)
class OpenClaw:
    """An installation with a home of its own, so that no other one is seen or changed."""

    home: Path
    programs: tuple[Path, Path]
    model: Scribe

    @property
    def state(self) -> Path:
        return self.home / "state"

    @property
    def sessions(self) -> Path:
        return self.state / "agents" / "main" / "sessions"

    @property
    def database(self) -> Path:
        return self.state / "agents" / "main" / "agent" / "openclaw-agent.sqlite"

    def __call__(self, *words: str) -> Any:
        """Run a command that prints JSON."""
        ran = subprocess.run(
            [*map(str, self.programs), *words, "--json"],
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.home),
                "TMPDIR": str(self.home),
                "OPENCLAW_STATE_DIR": str(self.state),
                "OPENCLAW_CONFIG_PATH": str(self.home / "openclaw.json"),
                "NO_COLOR": "1",
            },
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=_LONGEST_RUN,
            check=False,
        )
        assert ran.returncode == 0, f"{words}: {ran.stdout[-2000:]}{ran.stderr[-2000:]}"
        return json.loads(ran.stdout)

    def rows(self, sql: str) -> list[Any]:
        """Ask its database."""
        with closing(apsw.Connection(str(self.database), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
            return list(connection.execute(sql))


def kept(state: Path) -> dict[str, tuple[str, int]]:
    """Return what it keeps; SQLite marks in ``-shm`` who is reading, and makes it anew when it is gone."""
    return {name: found for name, found in snapshot(state).items() if not name.endswith("-shm")}


def answer(messages: Messages) -> Answer:
    """Read the notice when it is asked for, and tell what it says."""
    for message in reversed(messages):
        if message["role"] == "tool":
            return "The notice says that the ferry is late."
        if message["role"] == "assistant":
            break
        if message["role"] == "user" and "notice say" in json.dumps(message["content"]):
            return ("read", {"path": "notice.txt"})
    return "Noon it is."


@pytest.fixture
def openclaw(tmp_path: Path) -> Iterator[OpenClaw]:
    try:
        found = programs(Path(os.environ.get("REVERIE_OPENCLAW") or FOLDER))
    except PeerMissing as error:
        pytest.skip(f"OpenClaw: {error}")
    home = tmp_path / "claw"
    (home / "state").mkdir(parents=True)
    (home / "workspace").mkdir()
    (home / "workspace" / "notice.txt").write_text("The ferry is late today.\n", encoding="utf-8")
    with listening(answer) as model:
        about = {"id": MODEL, "name": MODEL, "input": ["text"], "contextWindow": 128_000, "maxTokens": 4_000}
        provider = {"baseUrl": model.address, "apiKey": "none", "api": "openai-completions", "models": [about]}
        settings = {
            "agents": {"defaults": {"workspace": str(home / "workspace"), "model": {"primary": f"local/{MODEL}"}}},
            "models": {"mode": "replace", "providers": {"local": provider}},
        }
        (home / "openclaw.json").write_text(json.dumps(settings), encoding="utf-8")
        yield OpenClaw(home, found, model)


def test_openclaw_reads_and_continues_a_conversation_that_reverie_wrote(openclaw, memory, state):
    clock = FixedClock(datetime.now(UTC) - timedelta(days=1))
    settings = {"state_dir": state, "workspace": state.parent / "notes", "clock": clock}
    with Memory.open(**settings) as writing:
        with writing.turn(MAIN, "Die Fähre heißt Möwe. 渡船是蓝色的。", Sender.owner("me")) as turn:
            turn.tool_result("web_fetch", "The timetable says six.", source="network")
            turn.reply("The page says six.")
        clock.advance(timedelta(minutes=5))
        with writing.turn(GROUP, "I am the pilot.", Sender(id="9", name="Otto")) as turn:
            turn.reply("Good day.")
    shutil.copytree(state / "agents" / "main" / "sessions", openclaw.sessions)

    taken = openclaw("doctor", "--session-sqlite", "import", "--session-sqlite-all-agents")["totals"]
    assert (taken["importedEntries"], taken["issues"]) == (2, 0)
    listed = {found["key"]: found["kind"] for found in openclaw("sessions")["sessions"]}
    assert listed == {MAIN: "direct", GROUP: "group"}
    searched = openclaw.rows("SELECT text FROM session_transcript_fts ORDER BY text")
    assert {text for (text,) in searched} == {
        "Die Fähre heißt Möwe. 渡船是蓝色的。",
        "The page says six.",
        "I am the pilot.",
        "Good day.",
    }

    openclaw("agent", "--local", "--session-key", MAIN, "--message", "What is the ferry called?")
    seen = [(said["role"], json.dumps(said["content"], ensure_ascii=False)) for said in openclaw.model.asked[-1]]
    told = [role for role, text in seen if "Möwe" in text or "timetable says six" in text or "page says six" in text]
    assert told == ["user", "tool", "assistant"]


def test_reverie_reads_what_openclaw_wrote_and_changes_none_of_it(openclaw, memory, spoken):
    for message in ("The chandlery closes at noon.", "What does the notice say?"):
        openclaw("agent", "--local", "--session-key", MAIN, "--message", message)
    before = kept(openclaw.state)

    report = memory.import_openclaw(openclaw.state, mine=True)

    assert kept(openclaw.state) == before
    assert report.sessions.messages == 6
    (session,) = memory.sessions()
    assert (session.key, session.kind) == (MAIN, SessionKind.INTERACTIVE)
    said = [(role, text) for role, _, text in spoken(session.id)]
    assert [role for role, _ in said] == ["user", "assistant", "user", "assistant", "toolResult", "assistant"]
    assert said[0][1] == "The chandlery closes at noon."
    assert said[-1][1] == "The notice says that the ferry is late."
    request = SearchRequest(query="chandlery noon", corpus=Corpus.SESSIONS)
    assert any("chandlery" in hit.snippet for hit in memory.recall(request).hits)
    assert memory.import_openclaw(openclaw.state, mine=True).sessions.messages == 0
