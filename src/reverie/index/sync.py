"""One sync, step by step: settle the embedder, plan, remove, read, publish, look again, fill in vectors, finish."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Literal

from reverie.core.errors import ReverieError
from reverie.core.types import Clock, Corpus, Embedder, Skipped, SourceProvider, SourceStat, SyncReport
from reverie.index.centres import make_centres
from reverie.index.chunker import embedded_text, split
from reverie.index.contexts import contexts
from reverie.index.embedding import (
    EmbeddingCache,
    Filling,
    backlog,
    forget_refusals,
    keep_only,
    prune,
    set_backlog,
    space_of,
    waiting,
)
from reverie.index.identity import (
    REBUILD,
    Chunking,
    EmbedderIdentity,
    IndexIdentity,
    compare,
    outdated,
    read_identity,
    write_identity,
)
from reverie.index.plan import Key, Plan, Work, plan_all, plan_named
from reverie.index.publish import Reading, publish, remove
from reverie.index.rows import to_micros
from reverie.store.database import Database

_HAS_VECTORS = "SELECT EXISTS (SELECT 1 FROM embedding WHERE vector IS NOT NULL)"
_ONE_SOURCE = "SELECT id FROM source WHERE corpus = ? AND path = ?"
_ORPHANS = "SELECT orphans FROM state"
_NO_ORPHANS = "UPDATE state SET orphans = 0"
_BUMP = "UPDATE state SET revision = revision + 1"
_OLD_SKIPPED = "SELECT corpus, path, reason FROM skipped"
_DROP_SKIPPED = "DELETE FROM skipped WHERE corpus = ?"
_ADD_SKIPPED = "INSERT OR REPLACE INTO skipped (corpus, path, reason) VALUES (?, ?, ?)"
_PLACE = (
    "SELECT s.path, c.start_line FROM chunk c JOIN source s ON s.id = c.source_id "
    "WHERE c.hash = unhex(?) ORDER BY s.path, c.start_line LIMIT 1"
)

#: Documents and chunks of one transaction: short enough that no other writer waits long.
BATCH_DOCUMENTS = 64
BATCH_CHUNKS = 512
#: Up to so many new texts are embedded before their documents are published, so that both legs change at once.
#: More than that is a first run or a large import: then the words come first and the vectors follow.
EMBED_FIRST = 32
#: Vectors of texts that are gone are kept up to this number: a note moved away and back costs nothing.
ORPHANS_KEPT = 5_000
#: A file written so shortly before it is read may change again without changing size or time.
RACY_NS = 50_000_000
NAMED_IN_NOTICE = 5

#: Called with ``"files"`` or ``"vectors"``, how many are done and how many there are.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class SyncBudget:
    """How much one sync may do; ``None`` is no bound. ``deadline_seconds`` counts from the start of the sync."""

    max_files: int | None = None
    max_embed: int | None = None
    deadline_seconds: float | None = None


@dataclass(slots=True)
class _Log:
    """What happened so far. A document that is read twice in one sync counts once."""

    outcome: dict[Key, Literal["added", "changed", "unchanged"]] = field(default_factory=dict)
    chunks: dict[Key, int] = field(default_factory=dict)
    unchanged: int = 0
    removed: int = 0
    pending: int = 0
    unreadable: dict[Key, Skipped] = field(default_factory=dict)
    skipped: list[tuple[Corpus, Skipped]] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


class Sync:
    """One run; made anew for every sync. The caller holds the lock."""

    def __init__(
        self,
        database: Database,
        embedder: Embedder | None,
        chunking: Chunking,
        clock: Clock,
        budget: SyncBudget,
        progress: Progress | None,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._chunking = chunking
        self._clock = clock
        self._budget = budget
        self._progress = progress or (lambda what, done, total: None)
        self._start = time.perf_counter()
        self._log = _Log()
        self._filling = Filling()
        self._cache: EmbeddingCache | None = None
        self._space: int | None = None
        self._recipe = IndexIdentity.wanted(EmbedderIdentity(), chunking).recipe

    def run(self, providers: Sequence[SourceProvider], *, force: bool, only: tuple[str, ...] | None) -> SyncReport:
        """Do it, and say what was done."""
        identity = self._settle(force)
        plan = plan_named(self._database, providers, only) if only is not None else None
        whole = plan is None
        if plan is None:
            plan = plan_all(self._database, providers, self._recipe, force=force)
        self._log.unchanged = plan.unchanged
        self._log.skipped.extend(plan.skipped)
        self._log.notices.extend(plan.notices)
        self._remove(plan.gone)
        self._take(plan.work)
        if (whole and plan.work) or self._log.unreadable:
            self._look_again(providers, plan)
        self._fill_backlog()
        self._finish(identity, providers, force=force, whole=whole)
        return self._report()

    # --- what it is built with ---

    def _settle(self, force: bool) -> IndexIdentity:
        """Decide whose vectors the index has from now on, and return what it will have been built with."""
        stored = read_identity(self._database)
        wanted = IndexIdentity.wanted(self._embedder_identity(), self._chunking)
        self._log.notices.extend(f"{difference}; it is rebuilt" for difference in outdated(stored, wanted))
        if stored is not None and not wanted.embedder.exists:
            return replace(wanted, embedder=stored.embedder)
        differences = compare(stored, wanted)
        if stored is not None and differences and not force and self._database.value(_HAS_VECTORS):
            self._log.notices.append(f"{'; '.join(differences)}. Vector search rests: {REBUILD}")
            return replace(wanted, embedder=stored.embedder)
        if self._embedder is not None and wanted.embedder.exists:
            self._use(self._embedder, stored, wanted, force=force)
        return wanted

    def _embedder_identity(self) -> EmbedderIdentity:
        try:
            return EmbedderIdentity.of(self._embedder)
        except ReverieError as error:
            self._log.notices.append(f"no vectors are made: {error}")
            return EmbedderIdentity()

    def _use(self, embedder: Embedder, stored: IndexIdentity | None, wanted: IndexIdentity, *, force: bool) -> None:
        self._space = space_of(self._database, wanted.embedder)
        self._cache = EmbeddingCache(self._database, embedder, self._space)
        make_centres(self._database, embedder, self._space)
        if force:
            forget_refusals(self._database, self._space)
        if stored is not None and stored.embedder == wanted.embedder:
            return
        with self._database.transaction():
            set_backlog(self._database, True)
            if not (force and stored is not None and stored.embedder.exists):
                # Nothing is there that these vectors could be mixed with. A forced change of embedder is recorded
                # at its end instead: the old vectors serve nobody, but a killed run must not look like a whole one.
                kept = wanted if stored is None else replace(stored, embedder=wanted.embedder)
                write_identity(self._database, kept)
                self._database.execute(_BUMP)

    # --- files ---

    def _take(self, work: Sequence[Work]) -> None:
        """Read and publish documents, a batch in each transaction; those beyond the budget are pending."""
        if self._budget != SyncBudget():
            # What was written last is what is most likely asked for.
            work = sorted(work, key=lambda one: (-one.stat.mtime_ns, one.stat.path))
        batch: list[tuple[Work, Reading]] = []
        waiting_chunks = 0
        for done, one in enumerate(work):
            if self._spent(done):
                self._log.pending += len(work) - done
                break
            if (reading := self._read(one)) is not None:
                batch.append((one, reading))
                waiting_chunks += len(reading.chunks)
            if len(batch) >= BATCH_DOCUMENTS or waiting_chunks >= BATCH_CHUNKS:
                self._publish(batch)
                batch, waiting_chunks = [], 0
            self._progress("files", done + 1, len(work))
        self._publish(batch)

    def _late(self) -> bool:
        seconds = self._budget.deadline_seconds
        return seconds is not None and time.perf_counter() - self._start > seconds

    def _spent(self, files: int) -> bool:
        bound = self._budget.max_files
        return (bound is not None and files >= bound) or self._late()

    def _read(self, work: Work) -> Reading | None:
        document = work.document or work.provider.read(work.stat.path)
        if isinstance(document, Skipped):
            self._log.unreadable[work.key] = document
            return None
        self._log.unreadable.pop(work.key, None)
        self._log.notices.extend(f"{document.path}: {notice}" for notice in document.notices)
        corpus = work.provider.corpus
        chunks = tuple(split(document, corpus))
        around = tuple(contexts(chunks, self._chunking))
        return Reading(document, corpus, self._settled(work.stat), chunks, around, work.rewrite)

    def _settled(self, stat: SourceStat) -> SourceStat:
        # A clock that is put back, as in a replay, makes every file one of the future: no reason to doubt them all.
        fresh = abs(to_micros(self._clock.now()) * 1000 - stat.mtime_ns) < RACY_NS
        return replace(stat, mtime_ns=-1) if fresh else stat

    def _publish(self, batch: Sequence[tuple[Work, Reading]]) -> None:
        if not batch:
            return
        readings = [reading for _, reading in batch]
        unembedded = self._embed_first(readings)
        changed = publish(self._database, readings, recipe=self._recipe, unembedded=unembedded)
        for (work, reading), differs in zip(batch, changed, strict=True):
            before = self._log.outcome.get(work.key, "unchanged")
            if before == "unchanged" and (differs or not work.known):
                self._log.outcome[work.key] = "changed" if work.known else "added"
            else:
                self._log.outcome[work.key] = before
            self._log.chunks[work.key] = len(reading.chunks)

    def _look_again(self, providers: Sequence[SourceProvider], plan: Plan) -> None:
        """Read once more what changed while it was read, and remove what cannot be read any more.

        A document is taken for gone only if its root is still there.
        """
        again = plan_all(self._database, providers, self._recipe)
        self._remove(again.gone)
        before = {work.key: work.stat for work in plan.work}
        read = [key for key in before if key in self._log.outcome or key in self._log.unreadable]
        moved = [work for work in again.work if work.key in read and work.stat != before[work.key]]
        if not self._late():
            self._take([replace(work, known=True) for work in moved])
        for (corpus, path), reason in self._log.unreadable.items():
            self._log.skipped.append((Corpus(corpus), reason))
            ident = self._database.value(_ONE_SOURCE, (corpus, path))
            if ident is not None and corpus not in again.hidden:
                self._remove([ident])

    def _remove(self, source_ids: Sequence[int]) -> None:
        remove(self._database, source_ids)
        self._log.removed += len(source_ids)

    # --- vectors ---

    def _room(self) -> int:
        """Return how many more texts may be embedded."""
        bound = self._budget.max_embed
        return sys.maxsize if bound is None else max(0, bound - self._filling.made)

    def _embed_first(self, readings: Sequence[Reading]) -> bool:
        """Embed the new texts of an edit, and say whether any chunk is still without a vector."""
        if self._cache is None:
            return True
        chunks = {chunk.hash: (chunk, reading.document.curated) for reading in readings for chunk in reading.chunks}
        missing = self._cache.missing(chunks)
        if not missing:
            return False
        if len(missing) > min(EMBED_FIRST, self._room()) or self._filling.failure or self._late():
            return True
        texts = {}
        for digest in missing:
            chunk, curated = chunks[digest]
            texts[digest] = embedded_text(chunk.heading, chunk.text, curated=curated)
        self._cache.fill(texts, self._filling, publish=False)
        return bool(self._filling.failure)

    def _fill_backlog(self) -> None:
        """Embed published chunks that have no vector yet, until they all have one or the budget is used up."""
        if self._cache is None or self._space is None or not backlog(self._database):
            return
        total = waiting(self._database, self._space)
        done = 0
        for texts in self._cache.backlog():
            wanted = dict(islice(texts.items(), self._room()))
            if not self._late():
                self._cache.fill(wanted, self._filling, publish=True)
            if self._filling.failure or self._late() or len(wanted) < len(texts):
                return
            done += len(texts)
            self._progress("vectors", min(done, total), total)
        set_backlog(self._database, False)

    # --- the end ---

    def _finish(
        self, identity: IndexIdentity, providers: Sequence[SourceProvider], *, force: bool, whole: bool
    ) -> None:
        unfinished = force and self._space is not None and backlog(self._database)
        orphans = int(self._database.value(_ORPHANS))
        complete = whole and not self._log.pending
        with self._database.transaction():
            if complete and not unfinished:
                self._record(identity)
                if force and self._space is not None:
                    keep_only(self._database, self._space)
            if complete:
                self._record_skipped({str(provider.corpus) for provider in providers})
            if orphans > ORPHANS_KEPT:
                prune(self._database, ORPHANS_KEPT)
                self._database.execute(_NO_ORPHANS)
        self._explain_vectors()

    def _record(self, identity: IndexIdentity) -> None:
        if read_identity(self._database) != identity:
            write_identity(self._database, identity)
            self._database.execute(_BUMP)

    def _record_skipped(self, corpora: set[str]) -> None:
        old = {row for row in self._database.rows(_OLD_SKIPPED) if row[0] in corpora}
        new = {(str(corpus), one.path, one.reason) for corpus, one in self._log.skipped}
        if old == new:
            return
        for corpus in corpora:
            self._database.execute(_DROP_SKIPPED, (corpus,))
        self._database.executemany(_ADD_SKIPPED, sorted(new))

    def _explain_vectors(self) -> None:
        filling, notices = self._filling, self._log.notices
        if filling.failure and self._space is not None:
            left = waiting(self._database, self._space)
            notices.append(f"{left} chunks wait for vectors, keywords find them: {filling.failure}")
        if filling.refused:
            found = [self._database.row(_PLACE, (digest,)) for digest in filling.refused[:NAMED_IN_NOTICE]]
            names = ", ".join(f"{place[0]}#L{place[1]}" for place in found if place is not None)
            notices.append(f"the embedder refused {len(filling.refused)} texts, keywords find them: {names}")

    def _report(self) -> SyncReport:
        log = self._log
        outcomes = list(log.outcome.values())
        return SyncReport(
            added=outcomes.count("added"),
            changed=outcomes.count("changed"),
            removed=log.removed,
            unchanged=log.unchanged + outcomes.count("unchanged"),
            chunks=sum(log.chunks.values()),
            embedded=self._filling.made,
            pending=log.pending,
            seconds=time.perf_counter() - self._start,
            skipped=tuple(one for _, one in log.skipped),
            notices=tuple(dict.fromkeys(log.notices)),
        )
