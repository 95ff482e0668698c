"""The embedding cache and how it is filled: equal text is embedded once, and work done is never done again.

Vectors belong to a text (by its hash) in the space of one embedder. They are committed as they are made, so a killed
run goes on where it stopped. A text that the embedder refuses gets a row without a vector and is not tried again
until the index is forced; an embedder that is down stops the filling and costs nothing that was there. A long text
has a vector for each of its pieces, one behind the other in one row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from reverie.core.errors import EmbedderUnavailable
from reverie.core.types import Embedder
from reverie.index.chunker import embedded_text, pieces
from reverie.index.identity import EmbedderIdentity
from reverie.index.matrix import to_blob
from reverie.store.database import Database

_SPACE = "SELECT id FROM space WHERE identity = ?"
_ADD_SPACE = "INSERT INTO space (identity, dimension) VALUES (?, ?) RETURNING id"
_KNOWN = "SELECT lower(hex(hash)) FROM embedding WHERE space = ? AND hash IN (SELECT unhex(value) FROM json_each(?))"
_STORE = "INSERT INTO embedding (space, hash, vector) VALUES (?, ?, ?) ON CONFLICT (space, hash) DO NOTHING"
_BACKLOG = (
    "SELECT c.id, c.hash, c.heading, t.text, s.curated FROM chunk c JOIN chunk_text t ON t.id = c.id "
    "JOIN source s ON s.id = c.source_id WHERE c.id > ? "
    "AND NOT EXISTS (SELECT 1 FROM embedding e WHERE e.space = ? AND e.hash = c.hash) ORDER BY c.id LIMIT ?"
)
_WAITING = (
    "SELECT count(*) FROM chunk c WHERE NOT EXISTS (SELECT 1 FROM embedding e WHERE e.space = ? AND e.hash = c.hash)"
)
_REFUSED = "SELECT count(*) FROM embedding e JOIN chunk c ON c.hash = e.hash WHERE e.space = ? AND e.vector IS NULL"
_READ_FLAG = "SELECT backlog FROM state"
_SET_FLAG = "UPDATE state SET backlog = ?"
_FORGET_REFUSALS = "DELETE FROM embedding WHERE space = ? AND vector IS NULL"
_OTHER_SPACES = "DELETE FROM embedding WHERE space <> ?"
_PRUNE = (
    "DELETE FROM embedding WHERE id IN (SELECT e.id FROM embedding e "
    "WHERE NOT EXISTS (SELECT 1 FROM chunk c WHERE c.hash = e.hash) ORDER BY e.id DESC LIMIT -1 OFFSET ?)"
)
_BUMP = "UPDATE state SET revision = revision + 1"

#: Texts a call, and how many are sorted by length at once so that the texts of a call are alike.
BATCH = 32
WINDOW = 256
#: What any embedder can take.
PROBE = "ok"


@dataclass(slots=True)
class Filling:
    """What came of filling: how many vectors were made, which texts were refused, and why it stopped early."""

    made: int = 0
    refused: list[str] = field(default_factory=list)
    failure: str = ""


def find_space(database: Database, identity: EmbedderIdentity) -> int | None:
    """Return the number of an embedder's space, ``None`` if it has made no vector here yet."""
    name = identity.to_json()
    found = database.value(_SPACE, (name,))
    return None if found is None else int(found)


def space_of(database: Database, identity: EmbedderIdentity) -> int:
    """Return the number of an embedder's space, made if it has none."""
    if (found := find_space(database, identity)) is not None:
        return found
    name = identity.to_json()
    return int(database.value(_ADD_SPACE, (name, identity.dimension)))


def backlog(database: Database) -> bool:
    """Say whether there may be chunks that wait for a vector."""
    return bool(database.value(_READ_FLAG))


def set_backlog(database: Database, waits: bool) -> None:
    """Record whether there may be chunks that wait for a vector."""
    database.execute(_SET_FLAG, (int(waits),))


def waiting(database: Database, space: int) -> int:
    """Return how many chunks have not been given to the embedder yet."""
    return int(database.value(_WAITING, (space,)))


def refused(database: Database, space: int) -> int:
    """Return how many chunks have a text that the embedder refused."""
    return int(database.value(_REFUSED, (space,)))


def forget_refusals(database: Database, space: int) -> None:
    """Let refused texts be tried again."""
    database.execute(_FORGET_REFUSALS, (space,))


def keep_only(database: Database, space: int) -> None:
    """Remove the vectors of every other embedder."""
    database.execute(_OTHER_SPACES, (space,))


def prune(database: Database, keep: int) -> None:
    """Remove vectors of texts that no chunk has, except the ``keep`` newest."""
    database.execute(_PRUNE, (keep,))


class EmbeddingCache:
    """Fills the space of one embedder."""

    def __init__(self, database: Database, embedder: Embedder, space: int) -> None:
        self._database = database
        self._embedder = embedder
        self._space = space

    def missing(self, hashes: Iterable[str]) -> set[str]:
        """Return which texts were never given to the embedder."""
        wanted = set(hashes)
        known = self._database.rows(_KNOWN, (self._space, json.dumps(sorted(wanted))))
        return wanted - {found for (found,) in known}

    def backlog(self, after: int = 0) -> Iterator[dict[str, str]]:
        """Yield texts of published chunks that have no vector yet, by hash, a window at a time."""
        while rows := self._database.rows(_BACKLOG, (after, self._space, WINDOW)):
            after = rows[-1][0]
            yield {
                digest.hex(): embedded_text(heading, text, curated=bool(curated))
                for _, digest, heading, text, curated in rows
            }

    def fill(self, texts: dict[str, str], filling: Filling, *, publish: bool) -> None:
        """Embed texts by hash and commit each batch; stops, with the reason, when the embedder is down.

        ``publish`` says that chunks already wait for these vectors, so that readers must be told of each batch.
        """
        order = sorted(texts, key=lambda digest: (len(texts[digest]), digest))
        parts = {digest: pieces(texts[digest]) for digest in order}
        batch: list[str] = []
        waiting = 0
        try:
            for digest in order:
                if batch and waiting + len(parts[digest]) > BATCH:
                    self._store(batch, parts, filling, publish)
                    batch, waiting = [], 0
                batch.append(digest)
                waiting += len(parts[digest])
            if batch:
                self._store(batch, parts, filling, publish)
        except EmbedderUnavailable as error:
            filling.failure = str(error)

    def _store(self, batch: Sequence[str], parts: dict[str, list[str]], filling: Filling, publish: bool) -> None:
        """Embed and commit one batch. A text has a vector if any of its pieces has."""
        blobs = iter(self._vectors([piece for digest in batch for piece in parts[digest]]))
        rows = [(digest, b"".join(filter(None, islice(blobs, len(parts[digest])))) or None) for digest in batch]
        with self._database.transaction():
            self._database.executemany(_STORE, [(self._space, bytes.fromhex(digest), blob) for digest, blob in rows])
            if publish:
                self._database.execute(_BUMP)
        filling.made += sum(blob is not None for _, blob in rows)
        filling.refused.extend(digest for digest, blob in rows if blob is None)

    def _vectors(self, texts: Sequence[str]) -> list[bytes | None]:
        """Embed texts, at most a batch a call; a refused batch is halved until the text at fault stands alone."""
        if len(texts) > BATCH:
            rest = range(0, len(texts), BATCH)
            return [blob for start in rest for blob in self._vectors(texts[start : start + BATCH])]
        blobs = self._embed(texts)
        if blobs is not None:
            return blobs
        if len(texts) == 1:
            return [None]
        half = len(texts) // 2
        return self._vectors(texts[:half]) + self._vectors(texts[half:])

    def _embed(self, texts: Sequence[str]) -> list[bytes | None] | None:
        """Return the vectors of a batch as stored; ``None`` if the embedder refused the batch as a whole."""
        wanted = [at for at, text in enumerate(texts) if text.strip()]
        blobs: list[bytes | None] = [None] * len(texts)
        if not wanted:
            return blobs
        try:
            vectors = self._embedder.embed_documents([texts[at] for at in wanted])
        except EmbedderUnavailable:
            # Trigger: one text too long, or a provider that is down; both may arrive as this error.
            # Why: a short text tells them apart. Outcome: a refused batch is halved, an outage stops the filling.
            if not self._answers():
                raise
            return None
        except Exception:
            # An embedder is a foreign part and may raise anything for a text it cannot take.
            return None
        if getattr(vectors, "shape", None) != (len(wanted), self._embedder.dimension):
            return None
        for at, vector in zip(wanted, vectors, strict=True):
            blobs[at] = to_blob(vector)
        return blobs

    def _answers(self) -> bool:
        try:
            self._embedder.embed_documents([PROBE])
        except Exception:
            return False
        return True
