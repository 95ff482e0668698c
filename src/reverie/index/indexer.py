"""Bringing the index up to the files: one process writes at a time, the others say so and go on.

The lock is a file lock that dies with its process. The steps of a sync are in :mod:`reverie.index.sync`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from reverie.core.types import Clock, Embedder, SourceProvider, SyncReport
from reverie.index.identity import Chunking, EmbedderIdentity, IndexIdentity
from reverie.index.lock import acquire
from reverie.index.plan import plan_all
from reverie.index.sync import Progress, Sync, SyncBudget
from reverie.store.database import Database

__all__ = ["Indexer", "Progress", "SyncBudget"]

BUSY = "another process is indexing; what changed since it began is found after the next sync"


class Indexer:
    """Writes one index. Wants a connection of its own: readers of another one never see half a publication."""

    def __init__(
        self, database: Database, embedder: Embedder | None, chunking: Chunking, lock: Path, clock: Clock
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._chunking = chunking
        self._lock = lock
        self._clock = clock

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
        """Read what changed and publish it; :class:`reverie.core.types.SyncReport` says what came of it.

        Args:
            providers: What to index. A corpus that none of them serves is left as it is.
            force: Read everything again and make the vectors of the present embedder the only ones. Texts that it
                has seen before are not embedded again.
            only: Paths known to have changed; nothing else is looked at.
            budget: How much may be done; documents left over are counted as pending.
            wait_seconds: How long to wait for another process that is indexing.
            progress: Called with what is going on, how much of it is done and how much there is.

        Raises:
            StoreError: The index cannot be written or is damaged.
        """
        start = time.perf_counter()
        lock = acquire(self._lock, wait_seconds)
        if lock is None:
            return self._behind(providers, force, start)
        try:
            sync = Sync(self._database, self._embedder, self._chunking, self._clock, budget or SyncBudget(), progress)
            return sync.run(providers, force=force, only=None if only is None else tuple(only))
        finally:
            lock.release()

    def _behind(self, providers: Sequence[SourceProvider], force: bool, start: float) -> SyncReport:
        """Say what waits for the process that holds the lock."""
        recipe = IndexIdentity.wanted(EmbedderIdentity(), self._chunking).recipe
        plan = plan_all(self._database, providers, recipe, force=force)
        return SyncReport(
            unchanged=plan.unchanged,
            pending=len(plan.work) + len(plan.gone),
            seconds=time.perf_counter() - start,
            skipped=tuple(one for _, one in plan.skipped),
            notices=(*plan.notices, BUSY),
        )
