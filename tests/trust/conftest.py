"""A memory in a folder of its own, by keywords only, with a configuration that a test may add to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reverie import Memory
from reverie.core.clock import FixedClock
from reverie.core.types import Corpus, SearchRequest, SourceClass

NOW = datetime(2031, 5, 6, 9, 30, tzinfo=UTC)
BASE: dict[str, Any] = {"memory": {"search": {"provider": "none", "sources": ["memory", "sessions"]}}}


@dataclass
class Home:
    state: Path
    workspace: Path
    memory: Memory

    def text(self, path: str) -> str:
        return (self.workspace / path).read_text(encoding="utf-8")

    def put(self, path: str, text: str) -> None:
        """Edit a file as a person would, past Reverie."""
        (self.workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (self.workspace / path).write_text(text, encoding="utf-8")

    def classes(self, path: str) -> dict[str, SourceClass]:
        """Return the class of each line with content, as ``why`` tells it."""
        (why,) = self.memory.why(path)
        return {line.text: line.origin for line in why.lines if line.text.strip() and not line.text.startswith("# ")}

    def import_text(self, tmp: Path, name: str, text: str) -> str:
        source = tmp / name
        source.write_text(text, encoding="utf-8")
        return self.memory.import_markdown(source).written[0]

    def derived(self) -> bytes:
        """Return every byte of the derived stores: the index with its journal, and the caches."""
        folders = [self.state / "agents" / "main", self.state / "cache"]
        names = [path for folder in folders if folder.is_dir() for path in sorted(folder.glob("index.sqlite*"))]
        return b"".join(path.read_bytes() for path in names)

    def indexed(self, query: str, corpus: str = "all") -> list[str]:
        request = SearchRequest(query, max_results=50, min_score=0.0, corpus=Corpus(corpus))
        return [hit.snippet for hit in self.memory.recall(request).hits]


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Callable[..., Home]]:
    """Return a function that opens the same home again, as another process would, with more configuration."""
    opened: list[Memory] = []
    state, workspace = tmp_path / "state", tmp_path / "workspace"

    def make(**config: Any) -> Home:
        state.mkdir(exist_ok=True)
        Memory.create(state_dir=state, workspace=workspace)
        (state / "reverie.json5").write_text(json.dumps(BASE | config), encoding="utf-8")
        memory = Memory.open(state_dir=state, workspace=workspace, clock=FixedClock(NOW, "Europe/Berlin"))
        opened.append(memory)
        return Home(state, workspace, memory)

    yield make
    for memory in opened:
        memory.close()


@pytest.fixture
def home(build: Callable[..., Home]) -> Home:
    return build()
