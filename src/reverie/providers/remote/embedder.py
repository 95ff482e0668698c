"""An embedder over HTTP: texts in batches by size, refused batches halved, vectors checked before they are believed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from reverie.core.errors import EmbedderUnavailable, Failure, ProviderFailure
from reverie.core.text import sha256
from reverie.providers.remote.client import Client, Patience
from reverie.providers.remote.wire import DOCUMENT, QUERY, Asked, Wire

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Estimated bytes of the texts of one request (OpenClaw 2026.9.6).
BATCH_BYTES = 8_000
#: A question must be answered soon; an index may wait for a rate limit (OpenClaw 2026.9.6).
ASKING = Patience(attempts=3, timeout=60.0, total=68.0, first=0.5, longest=8.0)
ASKING_LOCALLY = Patience(attempts=3, timeout=300.0, total=308.0, first=0.5, longest=8.0)
INDEXING = Patience(attempts=5, timeout=120.0, total=600.0, first=0.5, longest=60.0)
#: What tells whether a provider answers, and how wide its vectors are.
PING = "ping"


@dataclass(frozen=True, slots=True)
class Kinds:
    """The provider's own words for what a text is, where they are set."""

    query: str | None = None
    document: str | None = None


class RemoteEmbedder:
    """Vectors of unit length from a provider, in the order of the texts.

    ``dimension`` is what is asked for, else what is known of the model, else what the first answer has. A vector of
    another width, or with values that are no numbers, is refused, and so is a whole answer of the wrong length.
    """

    def __init__(
        self,
        provider: str,
        model: str,
        wire: Wire,
        client: Client,
        *,
        width: int | None = None,
        known_width: int | None = None,
        kinds: Kinds = Kinds(),
        local: bool = False,
    ) -> None:
        self.provider = provider
        self.model = model
        self.local = local
        self._wire = wire
        self._client = client
        self._width = width
        self._dimension = width or known_width
        self._kinds = kinds

    @property
    def dimension(self) -> int:
        """Return the width of the vectors; asks the provider if nothing else tells.

        Raises:
            EmbedderUnavailable: it had to be asked and does not answer.
        """
        if self._dimension is None:
            self._dimension = len(self._asked([PING], DOCUMENT, ASKING)[0])
        return self._dimension

    def identity(self) -> str:
        """Return what the vectors depend on: never the key, and the address only as a fingerprint."""
        kinds = f"{self._kinds.query or ''}|{self._kinds.document or ''}"
        return f"{self.provider}/{self.model}/{self._wire.name}/{self._width or ''}/{kinds}/{self._place()}"

    def reachable(self) -> str:
        """Return why the provider does not answer, or nothing if it does."""
        try:
            self._asked([PING], QUERY, Patience(attempts=1, timeout=15.0, total=15.0))
        except EmbedderUnavailable as error:
            return error.reason
        return ""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a question."""
        if not text.strip():
            return np.zeros(self.dimension, np.float32)
        patience = ASKING_LOCALLY if self.local else ASKING
        vector: NDArray[np.float32] = self._checked(self._asked([text], QUERY, patience), 1)[0]
        return vector

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of passages; blank ones are zero."""
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        wanted = [at for at, text in enumerate(texts) if text.strip()]
        for batch in self._batches(wanted, texts):
            vectors[batch] = self._halving([texts[at] for at in batch])
        return vectors

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _place(self) -> str:
        return sha256(repr(self._client))[:12]

    def _batches(self, wanted: Sequence[int], texts: Sequence[str]) -> Iterator[list[int]]:
        batch: list[int] = []
        size = 0
        for at in wanted:
            cost = len(texts[at].encode("utf-8", "replace"))
            if batch and (size + cost > BATCH_BYTES or len(batch) >= self._wire.most):
                yield batch
                batch, size = [], 0
            batch.append(at)
            size += cost
        if batch:
            yield batch

    def _halving(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of a batch; one that is refused as too large is sent in halves."""
        try:
            return self._checked(self._asked(texts, DOCUMENT, INDEXING), len(texts))
        except EmbedderUnavailable as error:
            if len(texts) == 1 or error.fields.get("kind") != Failure.REFUSED:
                raise
        half = len(texts) // 2
        return np.concatenate([self._halving(texts[:half]), self._halving(texts[half:])])

    def _asked(self, texts: Sequence[str], side: str, patience: Patience) -> list[Sequence[float]]:
        kind = self._kinds.query if side == QUERY else self._kinds.document
        asked = Asked(self.model, texts, side, self._width, kind)
        try:
            answer = self._client.post(self._wire.path(asked), self._wire.body(asked), patience)
        except ProviderFailure as failure:
            raise EmbedderUnavailable(failure.text, hint=failure.hint, kind=str(failure.kind)) from failure
        try:
            return self._wire.read(answer)
        except (KeyError, TypeError, IndexError) as error:
            raise EmbedderUnavailable(f"{self.provider} answered in a form that is not known") from error

    def _checked(self, rows: Sequence[Sequence[float]], wanted: int) -> NDArray[np.float32]:
        """Return the rows as unit vectors, or refuse them: what is wrong must not stand in an index."""
        if len(rows) != wanted:
            raise EmbedderUnavailable(f"{self.provider} gave {len(rows)} vectors for {wanted} texts")
        widths = {len(row) for row in rows}
        if widths != {self.dimension}:
            found_widths = ", ".join(map(str, sorted(widths)))
            raise EmbedderUnavailable(f"{self.provider} gave vectors of width {found_widths}, not {self.dimension}")
        try:
            found = np.array(rows, np.float64)
        except (TypeError, ValueError) as error:
            raise EmbedderUnavailable(f"{self.provider} gave vectors that are no numbers") from error
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        if not np.isfinite(found).all() or not (lengths > 0).all():
            raise EmbedderUnavailable(f"{self.provider} gave vectors without a direction")
        return np.asarray(found / lengths, np.float32)
