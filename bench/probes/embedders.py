"""Embedders for measuring: vectors out of nothing, and one that remembers what it was asked."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from reverie.providers.bundled.embedder import BundledEmbedder

if TYPE_CHECKING:
    from reverie.core.types import Embedder, Vector

#: How much of every vector is the same: those of the bundled model lie about this close together.
SHARED = 0.9


class Synthetic:
    """Vectors that look like the bundled embedder's and cost next to nothing: the same text, the same vector.

    It passes for the bundled embedder, so that the real one can go on with a store that this one filled.
    """

    provider = BundledEmbedder.provider
    model = BundledEmbedder.model
    dimension = BundledEmbedder.dimension

    def __init__(self) -> None:
        common = np.random.default_rng(20).standard_normal(self.dimension)
        self._common = common / np.linalg.norm(common)

    def identity(self) -> str:
        """Return what the bundled embedder returns."""
        return BundledEmbedder.identity(self)  # type: ignore[arg-type]

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a text: float32, shape ``(dimension,)``."""
        seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
        own = np.random.default_rng(seed).standard_normal(self.dimension)
        own /= np.linalg.norm(own)
        mixed = np.sqrt(SHARED) * self._common + np.sqrt(1 - SHARED) * own
        return np.asarray(mixed / np.linalg.norm(mixed), dtype=np.float32)

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        """Return the vectors of texts: float32, shape ``(len(texts), dimension)``."""
        return np.stack([self.embed_query(text) for text in texts])

    def close(self) -> None:
        """Nothing is held."""


class Recorded:
    """Another embedder, with the batches of documents that it was given."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.provider = embedder.provider
        self.model = embedder.model
        self.dimension = embedder.dimension
        self.batches: list[list[str]] = []

    def identity(self) -> str:
        """Return the identity of the other."""
        return self._embedder.identity()

    def embed_query(self, text: str) -> Vector:
        """Pass a question on."""
        return self._embedder.embed_query(text)

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        """Note a batch down and pass it on."""
        self.batches.append(list(texts))
        return self._embedder.embed_documents(texts)

    def close(self) -> None:
        """Leave the other open: it is not ours."""
