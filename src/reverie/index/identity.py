"""What an index was built with, and what follows when that differs from what is wanted now.

Two kinds of difference exist. What our own code changed (words, chunks, provenance, tables) is put right by the next
sync, file by file, because every source row remembers its recipe. Another embedder is the owner's choice and may
cost hours or money: then the vector leg rests, keywords go on, and the owner is told the command. Vectors of two
embedders are never compared, since every vector stands in the space of the embedder that made it.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from reverie.core.types import Embedder
from reverie.index.schema import SCHEMA_VERSION
from reverie.store.database import Database

#: Raised when the same text is cut, analysed or classified in another way than before.
CHUNKING_VERSION = 2
TOKENIZER_VERSION = 2
PROVENANCE_VERSION = 1

_READ = "SELECT value FROM meta WHERE key = 'identity'"
_WRITE = "INSERT OR REPLACE INTO meta (key, value) VALUES ('identity', ?)"

#: The command that ends a mismatch.
REBUILD = "run `reverie index --force` to make all vectors anew"


@dataclass(frozen=True, slots=True)
class Chunking:
    """How long a context is and how much of it the next one repeats, in estimated tokens.

    A context is what is counted around a chunk (:mod:`reverie.index.contexts`); a chunk is a line or an entry.
    Measured on dialogues: with 400 and 80 instead, keywords alone find 3 % less of the answers.
    """

    tokens: int = 200
    overlap: int = 100


DEFAULT_CHUNKING = Chunking()


@dataclass(frozen=True, slots=True)
class EmbedderIdentity:
    """Which embedder the vectors come from; the defaults say that there is none."""

    provider: str = "none"
    model: str = ""
    dimension: int = 0
    identity: str = ""

    @classmethod
    def of(cls, embedder: Embedder | None) -> EmbedderIdentity:
        """Return the identity of an embedder; of ``None``, that of no embedder."""
        if embedder is None:
            return cls()
        return cls(embedder.provider, embedder.model, embedder.dimension, embedder.identity())

    @property
    def exists(self) -> bool:
        """Say whether there is an embedder at all."""
        return self.dimension > 0

    def to_json(self) -> str:
        """Return the identity as one line of JSON, the name of the space of its vectors."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)


@dataclass(frozen=True, slots=True)
class IndexIdentity:
    """All that two indexes must share for their rows to mean the same."""

    embedder: EmbedderIdentity
    tokens: int
    overlap: int
    chunking: int
    tokenizer: int
    provenance: int
    schema: int

    @classmethod
    def wanted(cls, embedder: EmbedderIdentity, chunking: Chunking) -> IndexIdentity:
        """Return what this version of Reverie builds with these settings."""
        return cls(
            embedder=embedder,
            tokens=chunking.tokens,
            overlap=chunking.overlap,
            chunking=CHUNKING_VERSION,
            tokenizer=TOKENIZER_VERSION,
            provenance=PROVENANCE_VERSION,
            schema=SCHEMA_VERSION,
        )

    @property
    def recipe(self) -> str:
        """Return, in one word, what the rows of a source depend on besides its bytes."""
        return f"{self.schema}.{self.chunking}.{self.tokens}.{self.overlap}.{self.tokenizer}.{self.provenance}"

    def to_json(self) -> str:
        """Return the identity as one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> IndexIdentity | None:
        """Read what :meth:`to_json` wrote; ``None`` for anything else, which means that nothing is known."""
        try:
            fields = json.loads(text)
            return cls(**{**fields, "embedder": EmbedderIdentity(**fields["embedder"])})
        except (ValueError, TypeError, KeyError):
            return None


def read_identity(database: Database) -> IndexIdentity | None:
    """Return what the index was built with; ``None`` if that is not known."""
    return IndexIdentity.from_json(database.value(_READ) or "")


def write_identity(database: Database, identity: IndexIdentity) -> None:
    """Record what the index is built with."""
    database.execute(_WRITE, (identity.to_json(),))


def compare(stored: IndexIdentity | None, wanted: IndexIdentity) -> tuple[str, ...]:
    """Return what keeps the stored vectors from being used by the wanted embedder, one sentence a difference.

    Nothing does when either side has no embedder: then there is nothing to mix.
    """
    if stored is None or not stored.embedder.exists or not wanted.embedder.exists or stored.embedder == wanted.embedder:
        return ()
    old, new = stored.embedder, wanted.embedder
    named = [
        f"{name}: the index has {before}, the configuration {after}"
        for name, before, after in (
            ("embedding provider", old.provider, new.provider),
            ("embedding model", old.model, new.model),
            ("vector width", old.dimension, new.dimension),
        )
        if before != after
    ]
    return tuple(named or [f"embedder: the index has {old.identity}, the configuration {new.identity}"])


def outdated(stored: IndexIdentity | None, wanted: IndexIdentity) -> tuple[str, ...]:
    """Return what the next sync puts right by itself, one sentence a difference."""
    if stored is None:
        return ()
    names = {
        "tokens": "context length",
        "overlap": "context overlap",
        "chunking": "chunking version",
        "tokenizer": "tokenizer version",
        "provenance": "provenance version",
        "schema": "schema version",
    }
    return tuple(
        f"{name}: the index has {before}, this version makes {after}"
        for field, name in names.items()
        if (before := getattr(stored, field)) != (after := getattr(wanted, field))
    )
