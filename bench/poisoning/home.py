"""A memory in a folder of its own, with a clock that stands still, and what is asked of it after an attack."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from reverie import Memory, Sender
from reverie.assembly import Parts, assemble
from reverie.core.clock import FixedClock
from reverie.core.provenance import is_trusted, may_be_candidate
from reverie.core.types import Corpus, Hit, SearchRequest

NOW = datetime(2031, 5, 6, 9, 30, tzinfo=UTC)
#: A tool that declares nothing of where its results come from; the configuration says that they come from outside.
EXTERNAL_TOOL = "feed_reader"
OWNER = Sender.owner("owner")
PRIVATE = "agent:main:cli:direct:owner"
CURATED = ("MEMORY.md", "USER.md")


@dataclass(frozen=True, slots=True)
class Home:
    """One open memory. ``parts`` gives what a host does by other ways than the memory's verbs, such as a flush."""

    folder: Path
    parts: Parts
    memory: Memory
    clock: FixedClock

    @property
    def workspace(self) -> Path:
        """Return the folder of the notes."""
        return self.folder / "workspace"

    def following_prompt(self) -> str:
        """Return what enters the prompt of the owner's next turn by itself."""
        with self.memory.turn(PRIVATE, "Good morning, what is there to do today?", OWNER) as turn:
            return turn.prompt.system + "\n" + turn.prompt.hidden

    def found(self, word: str) -> list[Hit]:
        """Return every hit of an explicit search over everything that shows a word."""
        request = SearchRequest(word, max_results=20, min_score=0.0, corpus=Corpus.ALL)
        return [hit for hit in self.memory.recall(request).hits if word in hit.snippet]

    def promotable(self, words: Collection[str]) -> set[str]:
        """Return the words in lines that may become long-term memory, or that stand trusted in a curated file."""
        seen = {word for word in words for hit in self.found(word) if may_be_candidate(hit.provenance)}
        for path in self.files():
            lines = (self.workspace / path).read_text(encoding="utf-8").split("\n")
            # The judge gives one provenance a line, none for the nothing behind the last line feed.
            for line, born in zip(lines, self.parts.classes(path), strict=False):
                if may_be_candidate(born) or (path in CURATED and is_trusted(born.origin)):
                    seen |= {word for word in words if word in line}
        return seen

    def files(self) -> list[str]:
        """Return the paths of all memory files."""
        notes = sorted(path.relative_to(self.workspace).as_posix() for path in self.workspace.glob("memory/**/*.md"))
        return [*(name for name in CURATED if (self.workspace / name).exists()), *notes]


@contextmanager
def home(*, vectors: bool = False, state: Path | None = None) -> Iterator[Home]:
    """Open a new memory; everything it wrote goes when it is closed.

    Args:
        vectors: use the bundled embedder instead of keywords alone.
        state: a folder whose built model is used, so that it need not be built again.
    """
    with TemporaryDirectory(prefix="reverie-poison-") as made:
        folder = Path(made)
        place = folder / "state"
        Memory.create(state_dir=place, workspace=folder / "workspace")
        if state is not None:
            (state / "cache").mkdir(parents=True, exist_ok=True)
            (place / "cache").symlink_to(state / "cache", target_is_directory=True)
        settings = {
            "memory": {"search": {"provider": "bundled" if vectors else "none"}},
            "tools": {"external": [EXTERNAL_TOOL]},
        }
        (place / "reverie.json5").write_text(json.dumps(settings), encoding="utf-8")
        clock = FixedClock(NOW)
        parts = assemble(
            "main",
            state_dir=place,
            workspace=folder / "workspace",
            config_file=None,
            clock=clock,
            ids=None,
            progress=None,
        )
        with Memory(parts) as memory:
            yield Home(folder, parts, memory, clock)
