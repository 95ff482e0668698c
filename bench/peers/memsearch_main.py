"""The command of memsearch with Reverie's embedder in its table of providers; runs in memsearch's own environment.

Started by `bench.peers.memsearch`; ``BENCH_MODEL`` names the folder of the built model.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from memsearch import embeddings
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
        self._searching = "search" in sys.argv[1:2]

    async def embed(self, texts: list[str]) -> list[list[float]]:
        """Return one unit vector a text."""
        if self._searching:
            return [self._embedder.embed_query(text).tolist() for text in texts]
        vectors: list[list[float]] = self._embedder.embed_documents(texts).tolist()
        return vectors


if __name__ == "__main__":
    embeddings._PROVIDERS[PROVIDER] = ("__main__", ReverieEmbedding.__name__)
    embeddings.DEFAULT_MODELS[PROVIDER] = ReverieEmbedding.model_name
    sys.exit(cli())
