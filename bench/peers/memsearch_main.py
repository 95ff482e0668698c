"""The command of memsearch with Reverie's embedder in its table of providers; runs in memsearch's own environment.

Started by `bench.peers.memsearch_peer`; ``BENCH_MODEL`` names the folder of the built model. One command is added:
``warm`` reads {"store", "queries", "limit"} from standard input and prints the milliseconds of each search. Another,
``answer NOTES QUERIES LIMIT``, indexes a folder and prints the results of each query as the evaluator takes them.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from pathlib import Path

from memsearch import MemSearch, embeddings
from memsearch.cli import cli

from reverie.providers.bundled.embedder import BundledEmbedder

PROVIDER = "reverie"


class ReverieEmbedding:
    """What memsearch asks of a provider. It does not say what a text is for, so the command does."""

    dimension = BundledEmbedder.dimension
    model_name = BundledEmbedder.model

    def __init__(self, model: str = model_name, batch_size: int = 32) -> None:
        self.batch_size = batch_size
        self._embedder = BundledEmbedder.open(Path(os.environ["BENCH_MODEL"]))
        self._searching = sys.argv[1:2] in (["search"], ["warm"])

    async def embed(self, texts: list[str]) -> list[list[float]]:
        """Return one unit vector a text."""
        if self._searching:
            return [self._embedder.embed_query(text).tolist() for text in texts]
        vectors: list[list[float]] = self._embedder.embed_documents(texts).tolist()
        return vectors


async def _warm(store: str, queries: list[str], limit: int) -> list[float]:
    """Return the milliseconds of each search of one open store."""
    memory = MemSearch(embedding_provider=PROVIDER, milvus_uri=store)
    times = []
    for query in queries:
        begun = time.perf_counter()
        await memory.search(query, top_k=limit)
        times.append(1_000 * (time.perf_counter() - begun))
    memory.close()
    return times


async def _answer(notes: Path, queries: Path, limit: int) -> None:
    """Index the notes into a store that is thrown away, and print the results of each query as a line of JSON."""
    with tempfile.TemporaryDirectory() as place:
        memory = MemSearch([notes], embedding_provider=PROVIDER, milvus_uri=str(Path(place) / "milvus.db"))
        await memory.index()
        memory._embedder._searching = True
        with queries.open(encoding="utf-8") as file:
            for query in map(json.loads, file):
                begun = time.perf_counter()
                hits = await memory.search(query["query"], top_k=limit)
                spent = 1_000 * (time.perf_counter() - begun)
                results = [
                    {
                        "path": Path(hit["source"]).resolve().relative_to(notes.resolve()).as_posix(),
                        "startLine": hit["start_line"],
                        "endLine": hit["end_line"],
                        "score": hit["score"],
                    }
                    for hit in hits
                ]
                print(json.dumps({"id": query["id"], "results": results, "ms": spent}))
        memory.close()


if __name__ == "__main__":
    embeddings._PROVIDERS[PROVIDER] = ("__main__", ReverieEmbedding.__name__)
    embeddings.DEFAULT_MODELS[PROVIDER] = ReverieEmbedding.model_name
    if sys.argv[1:2] == ["warm"]:
        given = json.load(sys.stdin)
        print(json.dumps(asyncio.run(_warm(given["store"], given["queries"], given["limit"]))))
    elif sys.argv[1:2] == ["answer"]:
        asyncio.run(_answer(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])))
    else:
        sys.exit(cli())
