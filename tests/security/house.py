"""A whole memory on real files, opened as a host opens it, without a model."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reverie import Memory, Sender
from reverie.assembly import Parts, assemble
from reverie.core.clock import CountingIds, FixedClock
from reverie.core.provenance import may_be_candidate
from reverie.core.types import Corpus, Hit, Provenance, SearchRequest
from reverie.tools import MemoryTools
from reverie.turn import Turn

NOW = datetime(2031, 5, 6, 9, 30, tzinfo=UTC)
TODAY = "memory/2031-05-06.md"
CONFIG = """{
  memory: { search: { provider: "none" } },
  tools: { external: ["fetcher"] },
}
"""

OWNER = Sender.owner("me")
GUEST = Sender.guest("gus", channel="telegram")

MINE = "agent:main:cli:direct:me"
GROUP = "agent:main:telegram:group:choir"


@dataclass
class House:
    """One memory with what a test looks at: its parts, its files, and who asks."""

    folder: Path
    parts: Parts
    memory: Memory

    @classmethod
    def build(cls, folder: Path) -> House:
        Memory.create(state_dir=folder / "state", workspace=folder / "workspace")
        (folder / "state" / "reverie.json5").write_text(CONFIG, encoding="utf-8")
        return cls.open(folder, "a")

    @classmethod
    def open(cls, folder: Path, prefix: str) -> House:
        parts = assemble(
            "main",
            state_dir=folder / "state",
            workspace=folder / "workspace",
            config_file=None,
            clock=FixedClock(NOW),
            ids=CountingIds(prefix),
            progress=None,
        )
        return cls(folder, parts, Memory(parts))

    # --- files

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    def lines(self, path: str) -> list[str]:
        file = self.workspace / path
        return file.read_text(encoding="utf-8").splitlines() if file.exists() else []

    def put(self, path: str, lines: list[str]) -> None:
        """Write a file as an editor does, past Reverie."""
        file = self.workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(line + "\n" for line in lines), encoding="utf-8")

    def judged(self, path: str) -> list[tuple[str, Provenance]]:
        """Return each line of a memory file with what the judge says of it."""
        return list(zip(self.lines(path), self.parts.classes(path), strict=True))

    def line_of(self, path: str, word: str) -> Provenance:
        """Return the provenance of the one line that holds a word."""
        (found,) = [born for line, born in self.judged(path) if word in line]
        return found

    # --- turns

    def turn(self, text: str = "Good morning.", session: str = MINE, sender: Sender = OWNER) -> Turn:
        return self.memory.turn(session, text, sender)

    def call(self, turn: Turn, tool: str, **arguments: Any) -> dict[str, Any]:
        return MemoryTools(self.parts, turn).call(tool, arguments)

    def prompt(self, session: str = MINE, sender: Sender = OWNER) -> str:
        with self.turn(session=session, sender=sender) as turn:
            return turn.prompt.system + turn.prompt.hidden

    # --- search

    def hits(self, word: str, corpus: str = "all") -> list[Hit]:
        """Return every hit that shows a word, after the index has caught up."""
        self.memory.index()
        found = self.memory.recall(SearchRequest(word, max_results=50, min_score=0.0, corpus=Corpus(corpus))).hits
        return [hit for hit in found if word in hit.snippet]

    def eligible(self, word: str) -> list[Hit]:
        """Return the hits that could become long-term memory."""
        return [hit for hit in self.hits(word) if may_be_candidate(hit.provenance)]


def poison(house: House, text: str) -> None:
    """Let the agent write a note in a turn in which it has read a page."""
    with house.turn("Look this up, please.") as turn:
        turn.tool_result("web", text, source="network")
        house.call(turn, "memory_note", text=text)
