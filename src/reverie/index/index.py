"""The index of one agent: the door of this room.

``Index.open`` gives a reader of ``index.sqlite``; the writing connection is opened by the first sync. The file is
disposable: when it is deleted or damaged, it is made again and nothing is lost but time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from reverie.core.errors import EmbedderUnavailable, IndexMismatch, StoreDamaged
from reverie.core.types import Clock, Embedder, SearchRequest, Skipped, SourceProvider, SyncReport
from reverie.index import lines, rows
from reverie.index.embedding import backlog, find_space, prune, refused, waiting
from reverie.index.files import PATIENCE, IndexFile
from reverie.index.fulltext import Fulltext
from reverie.index.identity import (
    DEFAULT_CHUNKING,
    REBUILD,
    Chunking,
    EmbedderIdentity,
    IndexIdentity,
    compare,
    read_identity,
)
from reverie.index.indexer import Indexer
from reverie.index.layout import Layouts
from reverie.index.lines import Line, Neighbour
from reverie.index.rows import Counts, Filters, LegHits, StoredChunk
from reverie.index.schema import FULLTEXT_TABLES, HALVES
from reverie.index.sync import Progress, SyncBudget
from reverie.index.vectors import VectorTable
from reverie.store.database import Database

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from reverie.core.types import Vector

_RESET = """
DELETE FROM chunk; DELETE FROM chunk_text; DELETE FROM context; DELETE FROM layout;
DELETE FROM source; DELETE FROM embedding;
DELETE FROM centre; DELETE FROM space; DELETE FROM skipped; DELETE FROM meta;
UPDATE state SET revision = revision + 1, backlog = 0, orphans = 0;
"""
_TELL = "INSERT INTO {table} ({table}) VALUES ('{command}')"
_NO_ORPHANS = "UPDATE state SET orphans = 0"
_COUNTS = (
    "SELECT (SELECT count(*) FROM chunk), (SELECT count(*) FROM chunk_text), "
    "(SELECT count(*) FROM trusted_chunk_fts_docsize) + (SELECT count(*) FROM untrusted_chunk_fts_docsize), "
    "(SELECT sum(chunks) FROM tally), (SELECT sum(chunks) FROM spoken)"
)
_WORD_COUNTS = (
    "SELECT (SELECT count(*) FROM context), "
    "(SELECT count(*) FROM trusted_heading_fts_docsize) + (SELECT count(*) FROM untrusted_heading_fts_docsize), "
    "(SELECT count(*) FROM (SELECT DISTINCT source_id, trusted FROM chunk)), "
    "(SELECT count(*) FROM trusted_path_fts_docsize) + (SELECT count(*) FROM untrusted_path_fts_docsize)"
)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class IndexCounts:
    """How much there is: documents, chunks, chunks with a vector, and chunks that wait for one."""

    files: int
    chunks: int
    vectors: int
    pending: int


class Index:
    """Chunks, words and vectors of one agent. Safe to use from several threads; closed by :meth:`close`."""

    def __init__(self, file: IndexFile, embedder: Embedder | None, chunking: Chunking, clock: Clock) -> None:
        self._file = file
        self._embedder = embedder
        self._chunking = chunking
        self._clock = clock
        self._lock = threading.RLock()
        self._writing = threading.Lock()
        self._embedder_identity: EmbedderIdentity | None = None
        self._connect()

    @classmethod
    def open(
        cls, folder: Path, clock: Clock, *, embedder: Embedder | None = None, chunking: Chunking = DEFAULT_CHUNKING
    ) -> Index:
        """Open the index in an agent's folder; one that is missing or damaged starts empty.

        Raises:
            StoreUnwritable: There is no index and none can be made.
            StoreError: A newer Reverie made it.
        """
        return cls(IndexFile(folder), embedder, chunking, clock)

    def _connect(self) -> None:
        self._reader = self._file.connect()
        self._opened = self._file.identity()
        self._writer: Database | None = None
        self._layouts = Layouts(self._reader)
        self._fulltext = {trusted: Fulltext(self._reader, self._layouts, trusted) for trusted in HALVES}
        self._vectors: tuple[int, VectorTable] | None = None
        self._curated: tuple[int, list[StoredChunk]] = (-1, [])

    def use_embedder(self, embedder: Embedder | None) -> None:
        """Make and search vectors with this embedder from now on; it stays the caller's to close."""
        with self._lock:
            self._embedder = embedder
            self._embedder_identity = None
            self._vectors = None

    # --- writing ---

    def sync(
        self,
        providers: Sequence[SourceProvider],
        *,
        force: bool = False,
        only: Iterable[str] | None = None,
        budget: SyncBudget | None = None,
        wait_seconds: float = 0.0,
        progress: Progress | None = None,
    ) -> SyncReport:
        """Bring the index up to the files; see :meth:`reverie.index.indexer.Indexer.sync`."""
        named = None if only is None else tuple(only)

        def run() -> SyncReport:
            with self._writing:
                indexer = Indexer(self._write(), self._embedder, self._chunking, self._file.lock_path, self._clock)
                return indexer.sync(
                    providers, force=force, only=named, budget=budget, wait_seconds=wait_seconds, progress=progress
                )

        return self._guarded(run)

    def reset(self) -> None:
        """Empty every table; files, sessions, intents and origins are not in here and stay as they are.

        Raises:
            StoreBusy: Another process is indexing.
        """

        def empty(database: Database) -> None:
            database.execute(_RESET)
            _tell(database, "delete-all")

        self._alone(empty)

    def compact(self) -> None:
        """Remove what is left of deleted texts (stems, vectors, free pages) from the file, and make it small.

        Raises:
            StoreBusy: Another process is indexing.
        """

        def tidy(database: Database) -> None:
            prune(database, 0)
            database.execute(_NO_ORPHANS)
            _tell(database, "optimize")

        self._alone(tidy)

    def _alone(self, work: Callable[[Database], object]) -> None:
        def run() -> None:
            database = self._write()
            with self._writing, self._file.locked(PATIENCE):
                with database.transaction():
                    work(database)
                database.compact()

        self._guarded(run)

    def _write(self) -> Database:
        with self._lock:
            if self._writer is None:
                self._writer = self._file.connect(writer=True)
            return self._writer

    # --- searching ---

    def keyword_leg(self, request: SearchRequest, limit: int) -> LegHits:
        """Return the chunks that hold words of the query; never raises for the text of a query.

        The trusted ones come first, best first, then all others, best first: each half has its own ranks, its own
        statistics and its own ``limit``.
        """

        def run() -> LegHits:
            filters = Filters.of(request)
            return LegHits.joined([half.leg(request.query, filters, limit) for half in self._fulltext.values()])

        return self._guarded(run)

    def vector_leg(
        self, vector: Vector, request: SearchRequest, limit: int, also: NDArray[np.int64] | None = None
    ) -> LegHits:
        """Return the chunks that mean what the question means: the trusted ones first, then all others.

        Each half has its own ranks and its own ``limit``, best first, and after these come those of ``also``. What is
        usual is measured on the trusted ones. None while there is no vector to compare with.

        Raises:
            EmbedderUnavailable: The embedder cannot say who it is.
            IndexMismatch: The index has vectors of another embedder.
        """

        def run() -> LegHits:
            table = self._vector_table()
            if table is None:
                return LegHits.none()
            return table.leg(vector, request.query, Filters.of(request), limit, also)

        return self._guarded(run)

    def path_matches(self, request: SearchRequest) -> dict[int, int]:
        """Return the chunks of files that the query names, with how exactly: 3 path, 2 file name, 1 stem."""
        return self._guarded(lambda: rows.named(self._reader, request.query, Filters.of(request)))

    def _vector_table(self) -> VectorTable | None:
        identity = self._own_identity()
        if not identity.exists:
            return None
        if differences := self._mismatch(identity):
            raise IndexMismatch("; ".join(differences))
        space = find_space(self._reader, identity)
        if space is None:
            return None
        with self._lock:
            if self._vectors is None or self._vectors[0] != space:
                self._vectors = (space, VectorTable(self._reader, self._layouts, space, identity.dimension))
            return self._vectors[1]

    def _own_identity(self) -> EmbedderIdentity:
        if self._embedder_identity is None:
            self._embedder_identity = EmbedderIdentity.of(self._embedder)
        return self._embedder_identity

    def _identity_or_none(self) -> EmbedderIdentity:
        """Return the embedder's identity; that of none while it cannot say, which keeps a report from failing."""
        try:
            return self._own_identity()
        except EmbedderUnavailable:
            return EmbedderIdentity()

    def _mismatch(self, identity: EmbedderIdentity) -> tuple[str, ...]:
        return compare(read_identity(self._reader), IndexIdentity.wanted(identity, self._chunking))

    # --- reading ---

    @property
    def revision(self) -> int:
        """Return the number of publications so far; while it is the same, so is every answer."""
        return self._guarded(lambda: rows.revision(self._reader))

    def load(self, ids: Sequence[int]) -> list[StoredChunk]:
        """Return chunks in the order asked for, without those that are gone."""
        return self._guarded(lambda: rows.load(self._reader, ids))

    def traits(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[str | None]]:
        """Return of each chunk how many characters it has, and who says it, if it says so."""
        return self._guarded(lambda: lines.traits(self._layouts.current(), ids))

    def newest(self, request: SearchRequest, limit: int) -> LegHits:
        """Return the newest chunks of each half that pass the filters of a request, all of one score."""
        return self._guarded(lambda: lines.newest(self._layouts.current(), Filters.of(request), limit))

    def weights(self, query: str) -> list[tuple[frozenset[tuple[str, ...]], float]]:
        """Return what a text asks for, in every form that counts as it, and how rare it is in trusted text."""
        return self._guarded(lambda: self._fulltext[True].weights(query))

    def superseded(self, as_of: datetime | None) -> dict[int, int | None]:
        """Return the chunks that no longer hold, or did not at ``as_of``, each with the one that does."""
        return self._guarded(lambda: self._layouts.current().superseded(as_of))

    def lines(self, ids: Sequence[int]) -> list[Line]:
        """Return what is known of chunks besides their text, in the order asked for, without those that are gone."""
        return self._guarded(lambda: lines.of_chunks(self._layouts.current(), ids))

    def around(self, ids: Sequence[int], reach: int) -> dict[int, list[Neighbour]]:
        """Return each chunk between those around it in its document, up to ``reach`` on each side."""
        return self._guarded(lambda: lines.around(self._layouts.current(), ids, reach))

    def rows_of(self, path: str) -> list[StoredChunk]:
        """Return the chunks of one document, in order."""
        return self._guarded(lambda: rows.rows_of(self._reader, path))

    def curated_rows(self) -> list[StoredChunk]:
        """Return every chunk of the curated files; read again only when the index changed."""

        def run() -> list[StoredChunk]:
            now = rows.revision(self._reader)
            if self._curated[0] != now:
                self._curated = (now, rows.curated_rows(self._reader))
            return self._curated[1]

        return self._guarded(run)

    def by_corpus(self) -> dict[str, Counts]:
        """Return how many documents and chunks each corpus has."""
        return self._guarded(lambda: rows.tally(self._reader))

    def counts(self) -> IndexCounts:
        """Return how much there is; costs the same however large the index is, unless vectors are being made."""

        def run() -> IndexCounts:
            found = rows.tally(self._reader).values()
            files, chunks = sum(one.sources for one in found), sum(one.chunks for one in found)
            space = find_space(self._reader, self._vectors_of())
            if space is None:
                return IndexCounts(files, chunks, 0, chunks if self._vectors_of().exists else 0)
            left = waiting(self._reader, space) if backlog(self._reader) else 0
            return IndexCounts(files, chunks, chunks - left - refused(self._reader, space), left)

        return self._guarded(run)

    def _vectors_of(self) -> EmbedderIdentity:
        """Return whose vectors the index has, or will have."""
        stored = read_identity(self._reader)
        return stored.embedder if stored is not None and stored.embedder.exists else self._identity_or_none()

    def model(self) -> str:
        """Return the model whose vectors the index has; empty without vectors."""
        return self._guarded(lambda: self._vectors_of().model)

    def mismatch(self) -> tuple[str, ...]:
        """Return why vector search rests, one sentence a difference; empty when it does not."""
        return self._guarded(lambda: self._mismatch(self._identity_or_none()))

    def skipped(self) -> tuple[Skipped, ...]:
        """Return what the last full sync left out, and why."""
        found = self._guarded(lambda: rows.skipped_rows(self._reader))
        return tuple(Skipped(path, reason) for path, reason in found)

    def notices(self) -> list[str]:
        """Return what a reader must know: a damaged file that was replaced, one that cannot be written, a mismatch."""
        found = list(self._file.notices)
        if differences := self.mismatch():
            found.append(f"{'; '.join(differences)}. Vector search rests: {REBUILD}")
        return found

    @property
    def path(self) -> Path:
        """Return where the file is."""
        return self._file.path

    @property
    def size_bytes(self) -> int:
        """Return the bytes on the disk."""
        return self._reader.size_bytes

    def integrity(self) -> list[str]:
        """Return what is wrong with the file, one sentence each; empty when nothing is."""
        # A connection of its own: FTS5 checks what it has cached, and takes what another one wrote for damage.
        try:
            with self._file.connect_to_check() as database:
                if problems := database.integrity():
                    return problems
                chunks, texts, words, counted, spoken = database.row(_COUNTS) or (0, 0, 0, 0, 0)
                contexts, context_words, sources, source_words = database.row(_WORD_COUNTS) or (0, 0, 0, 0)
        except StoreDamaged as error:
            return [str(error)]
        compared = (
            (chunks, "chunks", texts, "text"),
            (chunks, "chunks", words, "word"),
            (chunks, "chunks", counted, "tally"),
            (chunks, "chunks", spoken or 0, "language"),
            (contexts, "contexts", context_words, "word"),
            (sources, "documents", source_words, "word"),
        )
        return [f"{count} {what} have {found} {name} rows" for count, what, found, name in compared if found != count]

    def close(self) -> None:
        """Let go of the file; the embedder belongs to the caller."""
        with self._lock:
            self._reader.close()
            if self._writer is not None:
                self._writer.close()

    # --- when the file is not what it was ---

    def _guarded(self, work: Callable[[], T]) -> T:
        """Do the work on the file that is at the path now; on a damaged one, once more on a new one."""
        with self._lock:
            if self._file.identity() != self._opened:
                self._reopen()
        opened = self._opened
        try:
            return work()
        except StoreDamaged as error:
            with self._lock:
                if self._opened == opened:
                    self.close()
                    self._file.move_aside(opened, error)
                    self._connect()
            return work()

    def _reopen(self) -> None:
        self.close()
        self._connect()


def _tell(database: Database, command: str) -> None:
    """Give every table of words a command of FTS5."""
    for table in FULLTEXT_TABLES:
        database.execute(_TELL.format(table=table, command=command))
