"""Takes turns: index notes that are new with the bundled embedder, then give the embedder the same batches alone."""

from __future__ import annotations

import argparse
import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from bench import corpus
from bench.probes.embedders import Recorded
from bench.probes.store import opened
from reverie.providers.bundled.embedder import BundledEmbedder


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the seconds of both, round by round, as JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.probes.throughput", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="where notes and stores are made, and removed first")
    parser.add_argument("--model", type=Path, required=True, help="folder of the built model")
    parser.add_argument("--chunks", type=int, default=400, help="chunks of a round")
    parser.add_argument("--rounds", type=int, default=5, help="rounds")
    given = parser.parse_args(arguments)
    shutil.rmtree(given.folder, ignore_errors=True)
    embedder = BundledEmbedder.open(given.model)
    embedder.embed_documents(["once", "before", "the clock runs"])
    alone, indexed, chunks = [], [], 0
    for number in range(given.rounds):
        notes = given.folder / f"notes-{number}"
        corpus.write(notes, given.chunks, seed=corpus.SEED + 1 + number)  # other texts, so that none is known already
        recorded = Recorded(embedder)
        with opened(notes, given.folder / f"state-{number}", recorded) as memory:
            begun = time.perf_counter()
            chunks = memory.index().chunks
            indexed.append(time.perf_counter() - begun)
        begun = time.perf_counter()
        for batch in recorded.batches:
            embedder.embed_documents(batch)
        alone.append(time.perf_counter() - begun)
    embedder.close()
    print(json.dumps({"chunks": chunks, "indexed": indexed, "alone": alone}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
