"""A folder of real notes, and an embedder that needs no model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from reverie.core.clock import FixedClock, day_in
from reverie.core.errors import EmbedderUnavailable
from reverie.core.types import (
    Corpus,
    Provenance,
    SearchRequest,
    SessionKind,
    Skipped,
    SourceClass,
    SourceDocument,
    SourceLine,
    SourceScan,
    SourceStat,
)
from reverie.index.identity import DEFAULT_CHUNKING, Chunking
from reverie.index.index import Index
from reverie.index.schema import MIGRATIONS
from reverie.store.database import Database

AGENT = Provenance(SourceClass.AGENT, SessionKind.INTERACTIVE)
CURATED = ("MEMORY.md", "USER.md")


class TrigramEmbedder:
    """Counts character trigrams into a few buckets: alike texts get alike vectors. Remembers what it was given."""

    provider = "stub"

    def __init__(self, dimension: int = 16, model: str = "trigrams", longest: int | None = None) -> None:
        self.dimension = dimension
        self.model = model
        self.longest = longest
        self.down = False
        self.seen: list[str] = []

    def identity(self) -> str:
        return f"{self.model}-{self.dimension}"

    def embed_query(self, text: str) -> np.ndarray:
        return self._vector(text)

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        if self.down:
            raise EmbedderUnavailable("the stub is switched off")
        if self.longest is not None and any(len(text.encode()) > 4 * self.longest for text in texts):
            raise ValueError("eingabe zu lang")
        self.seen.extend(texts)
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> np.ndarray:
        vector = np.zeros(self.dimension, np.float32)
        padded = f"  {text.lower()}  "
        for at in range(len(padded) - 2):
            vector[_number(padded[at : at + 3]) % self.dimension] += 1
        length = float(np.linalg.norm(vector))
        return vector / length if text and length else vector * 0

    def close(self) -> None:
        return None


@lru_cache(maxsize=100_000)
def _number(trigram: str) -> int:
    return int.from_bytes(hashlib.blake2b(trigram.encode("utf-8", "replace"), digest_size=4).digest(), "big")


@dataclass
class Notes:
    """A provider of the Markdown files under a real folder. ``provenance`` may say more of a line than its default."""

    root: Path
    corpus: Corpus = Corpus.MEMORY
    provenance: Callable[[str, int], Provenance] = lambda path, number: AGENT
    skip: dict[str, str] = field(default_factory=dict)
    reads: list[str] = field(default_factory=list)

    def scan(self, *, known: Collection[str] = ()) -> SourceScan:
        if not self.root.is_dir():
            return SourceScan(missing_root=str(self.root))
        stats = []
        for path in sorted(self.root.rglob("*.md")):
            found = path.stat()
            stats.append(SourceStat(path.relative_to(self.root).as_posix(), found.st_size, found.st_mtime_ns))
        return SourceScan(tuple(stats), tuple(Skipped(path, reason) for path, reason in self.skip.items()))

    def read(self, path: str) -> SourceDocument | Skipped:
        self.reads.append(path)
        try:
            data = (self.root / path).read_bytes()
        except OSError as error:
            return Skipped(path, error.strerror or "unreadable")
        day = day_in(path)
        lines = data.decode("utf-8").splitlines()
        return SourceDocument(
            path=path,
            hash=hashlib.sha256(data).hexdigest(),
            lines=tuple(
                SourceLine(number, text, self.provenance(path, number)) for number, text in enumerate(lines, 1)
            ),
            curated=path in CURATED,
            date=datetime(day.year, day.month, day.day, tzinfo=UTC) if day else None,
        )

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


class World:
    """A folder of notes, an agent's folder, and the indexes opened on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.agent = folder / "agent"
        self.clock = FixedClock(datetime(2030, 1, 1, tzinfo=UTC))
        self.notes = self.provider()
        self._open: list[Index] = []

    def provider(self, name: str = "workspace", **fields: object) -> Notes:
        root = self.folder / name
        root.mkdir(exist_ok=True)
        return Notes(root, **fields)  # type: ignore[arg-type]

    def embedder(self, dimension: int = 16, **fields: object) -> TrigramEmbedder:
        return TrigramEmbedder(dimension, **fields)  # type: ignore[arg-type]

    def index(
        self, embedder: TrigramEmbedder | None = None, *, agent: str = "agent", chunking: Chunking = DEFAULT_CHUNKING
    ) -> Index:
        opened = Index.open(self.folder / agent, self.clock, embedder=embedder, chunking=chunking)
        self._open.append(opened)
        return opened

    def close(self) -> None:
        while self._open:
            self._open.pop().close()

    def found(self, index: Index, text: str, **filters: object) -> list[str]:
        """Return the paths that the keyword leg finds, each once, best first."""
        hits = index.keyword_leg(SearchRequest(text, **_all(filters)), 50)
        assert all(hit.score > 0 for hit in hits)
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
        return list(dict.fromkeys(one.chunk.path for one in index.load([hit.chunk_id for hit in hits])))

    def near(self, index: Index, embedder: TrigramEmbedder, text: str, **filters: object) -> list[str]:
        """Return the paths that the vector leg finds, best first."""
        hits = index.vector_leg(embedder.embed_query(text), SearchRequest(text, **_all(filters)), 50)
        return [one.chunk.path for one in index.load([hit.chunk_id for hit in hits])]

    def table(self, index: Index, sql: str) -> list[tuple[object, ...]]:
        """Look into the file with a connection of its own, as another program would."""
        with Database.open(index.path, migrations=MIGRATIONS, readonly=True) as database:
            return database.rows(sql)


def _all(filters: dict[str, object]) -> dict[str, object]:
    return {"corpus": Corpus.ALL, **filters}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.close()


@pytest.fixture
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], World]]:
    """Return a maker of worlds, for tests that need a new one for each example."""
    made: list[World] = []

    def make() -> World:
        made.append(World(tmp_path_factory.mktemp("world")))
        return made[-1]

    yield make
    for one in made:
        one.close()
