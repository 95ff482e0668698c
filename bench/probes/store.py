"""One store of Reverie in one process: what it does and how long each step takes, as JSON.

python -m bench.probes.store --notes DIR --state DIR --vectors none --chunks 1000 --do index search
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from bench import corpus
from bench.measuring.processes import resident
from bench.peers.contender import LIMIT
from reverie import Memory, SearchRequest, assembly

if TYPE_CHECKING:
    from reverie.core.types import Embedder

#: Searches before the measured ones: what is read on first use is there.
WARM_UP = 5
REPEATS = 9
#: Where lines are added: a day and a file that no corpus has. They are removed again.
NOTED = corpus.FIRST_DAY - timedelta(days=9)
OUTSIDE = "memory/written-outside.md"
#: Seconds until an edit from outside counts as not found.
PATIENCE = 10.0


@dataclass(frozen=True, slots=True)
class Probe:
    """A store that is open, and what it is asked for."""

    memory: Memory
    notes: Path
    chunks: int
    sections_per_note: int
    queries: int

    def request(self, text: str) -> SearchRequest:
        """Return a search as the commands under comparison make it."""
        return SearchRequest(text, LIMIT, 0.0)


def index(probe: Probe) -> dict[str, Any]:
    """Bring the index up to the notes."""
    begun = time.perf_counter()
    report = probe.memory.index()
    seconds = time.perf_counter() - begun
    files = report.added + report.changed
    return {"seconds": seconds, "files": files, "chunks": report.chunks, "embedded": report.embedded}


def search(probe: Probe) -> dict[str, Any]:
    """Search for what the corpus knows the answer to; ``parts`` are the stages as the search itself took their time."""
    asked = list(corpus.queries(probe.chunks, probe.queries + WARM_UP, sections_per_note=probe.sections_per_note))
    whole: list[float] = []
    parts: dict[str, list[float]] = {}
    answered = 0
    modes = set()
    for number, query in enumerate(asked):
        begun = time.perf_counter()
        result = probe.memory.recall(probe.request(query.text))
        spent = 1_000 * (time.perf_counter() - begun)
        if number < WARM_UP:
            continue
        whole.append(spent)
        for name, value in result.milliseconds.items():
            parts.setdefault(name, []).append(value)
        answered += any(hit.path == query.path for hit in result.hits)
        modes.add(str(result.mode))
    return {"whole": whole, "parts": parts, "answered": answered, "modes": sorted(modes)}


def unchanged(probe: Probe) -> dict[str, Any]:
    """Index again with nothing changed, and search once after it."""
    syncs, searches = [], []
    for query in corpus.queries(probe.chunks, REPEATS, sections_per_note=probe.sections_per_note):
        begun = time.perf_counter()
        report = probe.memory.index()
        between = time.perf_counter()
        probe.memory.recall(probe.request(query.text))
        searches.append(1_000 * (time.perf_counter() - between))
        syncs.append(1_000 * (between - begun))
        if report.added or report.changed or report.removed:
            raise SystemExit("error: files changed while nothing should have")
    return {"sync": syncs, "search": searches}


def append(probe: Probe) -> dict[str, Any]:
    """Write a line through Reverie, then one as an editor does, and search for each.

    What went through Reverie must be found by the next search; for the other, the time until it is found counts.
    """
    written: list[float] = []
    noticed: list[float] = []
    paths = {OUTSIDE}
    try:
        for number in range(REPEATS):
            word = f"zephyrine-{number:03d}"
            begun = time.perf_counter()
            paths.add(probe.memory.note(f"The lantern {word} hangs in the hall.", day=NOTED).path)
            if _finds(probe, word):
                written.append(1_000 * (time.perf_counter() - begun))
            word = f"quillfeather-{number:03d}"
            with (probe.notes / OUTSIDE).open("a", encoding="utf-8") as file:
                file.write(f"The lantern {word} stands on the stairs.\n")
            begun = time.perf_counter()
            while time.perf_counter() - begun < PATIENCE:
                if _finds(probe, word):
                    noticed.append(1_000 * (time.perf_counter() - begun))
                    break
    finally:
        for path in paths:
            (probe.notes / path).unlink(missing_ok=True)
        probe.memory.index()
    return {"written": written, "noticed": noticed, "of": REPEATS}


def _finds(probe: Probe, word: str) -> bool:
    return any(word in hit.snippet for hit in probe.memory.recall(probe.request(f"lantern {word}")).hits)


ACTIONS: dict[str, Callable[[Probe], dict[str, Any]]] = {
    "index": index,
    "search": search,
    "unchanged": unchanged,
    "append": append,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Open the store, do what is asked in that order, print one JSON document."""
    parser = argparse.ArgumentParser(prog="python -m bench.probes.store", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--notes", type=Path, required=True, help="the workspace")
    parser.add_argument("--state", type=Path, required=True, help="Reverie's state folder")
    parser.add_argument("--vectors", choices=("none", "synthetic", "bundled"), default="none", help="the embedder")
    parser.add_argument("--model", type=Path, help="folder of the built model, for bundled")
    parser.add_argument("--chunks", type=int, required=True, help="sections of the corpus, from which queries are made")
    parser.add_argument("--sections-per-note", type=int, default=1, help="as the corpus was written")
    parser.add_argument("--queries", type=int, default=200, help="measured searches")
    parser.add_argument("--do", nargs="+", choices=list(ACTIONS), required=True, help="what to do, in this order")
    given = parser.parse_args(arguments)
    figures: dict[str, Any] = {"resident": {"imported": resident()}}
    with opened(given.notes, given.state, embedder_of(given.vectors, given.model)) as memory:
        probe = Probe(memory, given.notes, given.chunks, given.sections_per_note, given.queries)
        for action in given.do:
            figures[action] = ACTIONS[action](probe)
            figures["resident"][action] = resident()
        figures["status"] = {
            name: value
            for name, value in dataclasses.asdict(memory.status().engine).items()
            if isinstance(value, str | int | float)
        }
    print(json.dumps(figures))
    return 0


@contextlib.contextmanager
def opened(notes: Path, state: Path, embedder: Embedder | None) -> Iterator[Memory]:
    """Open a store with an embedder of our own, or for keywords only."""
    state.mkdir(parents=True, exist_ok=True)
    provider = "none" if embedder is None else "bundled"
    settings = json.dumps({"memory": {"search": {"provider": provider}}})
    (state / "reverie.json5").write_text(settings + "\n", encoding="utf-8")
    # The one place where an embedder is opened; a provider of this kind can't be named in a configuration.
    with (
        mock.patch.object(assembly, "open_embedder", lambda *_, **__: embedder),
        Memory.open(state_dir=state, workspace=notes) as memory,
    ):
        yield memory


def embedder_of(name: str, model: Path | None) -> Embedder | None:
    """Return an embedder by its name; one that is not asked for is not even imported, since that takes memory."""
    if name == "none":
        return None
    if name == "synthetic":
        from bench.probes.embedders import Synthetic

        return Synthetic()
    from reverie.providers.bundled.embedder import BundledEmbedder

    if model is None:
        raise SystemExit("error: the bundled embedder needs --model")
    return BundledEmbedder.open(model)


if __name__ == "__main__":
    raise SystemExit(main())
