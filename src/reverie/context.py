"""``legacy``, the built-in context engine: shows the model what the transcript tells, and compacts by a summary.

It enters the context slot through the hook in :mod:`reverie.plugins`, as any other engine would. An engine of a third
party that fails is put aside for the rest of the process, and this one does its work.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from reverie.core.errors import ReverieError
from reverie.plugins import ContextParts
from reverie.sessions.compaction import Compactor
from reverie.sessions.context import Assembled, CompactionReport, ContextEngine
from reverie.sessions.cutting import live_of
from reverie.sessions.flushplan import cycle_of
from reverie.sessions.measure import total_tokens
from reverie.sessions.messages import Message, epoch_ms
from reverie.sessions.rows import Rows, SessionEntry
from reverie.sessions.tree import path_to_leaf

logger = logging.getLogger(__name__)

T = TypeVar("T")


class LegacyContext:
    """The built-in context engine of one agent."""

    name = "legacy"

    def __init__(self, parts: ContextParts) -> None:
        self._parts = parts
        self._compactor = Compactor(
            parts.config.compaction, parts.chat_model, external_tools=parts.config.foreign_tools
        )

    def ingest(self, session: SessionEntry, message: Message) -> bool:
        """Keep nothing: the transcript has it."""
        return False

    def assemble(self, session: SessionEntry, messages: Sequence[Message], *, budget: int = 0) -> Assembled:
        """Return the context as the transcript tells it."""
        return Assembled(tuple(messages), total_tokens(messages))

    def compact(self, session: SessionEntry, *, window: int = 0, used: int = 0, wishes: str = "") -> CompactionReport:
        """Summarise the older part of a conversation and append that to its transcript."""
        parts = self._parts
        transcript = parts.sessions.transcript(session, parts.clock, parts.ids)
        path = path_to_leaf(transcript.read().entries)
        found = self._compactor.decide(path, window=window, kind=session.kind, used=used, wishes=wishes)
        if not found.done:
            return CompactionReport(False, found.reason, tokens_before=found.tokens_before, faults=found.faults)
        present = live_of(path_to_leaf(transcript.read().entries))
        if present.boundary is not None and present.boundary.id not in {entry.id for entry in path}:
            return CompactionReport(False, "another process has compacted it meanwhile")
        entry = transcript.append_entry("compaction", found.entry())
        now = epoch_ms(parts.clock.now())

        def counted(row: Rows) -> None:
            row |= {"compactionCount": cycle_of(row).compactions + 1, "totalTokensFresh": False, "updatedAt": now}
            row.pop("memoryFlushFailureCount", None)

        parts.sessions.update(session.key, counted)
        return CompactionReport(
            True,
            found.reason,
            found.means,
            entry,
            found.first_kept,
            found.tokens_before,
            found.tokens_after,
            found.over,
            found.faults,
        )

    def after_turn(self, session: SessionEntry, *, window: int = 0) -> None:
        """Do nothing: the host asks for a compaction where one is due."""

    def close(self) -> None:
        """Hold nothing, so let go of nothing."""


class GuardedContext:
    """A context engine of a third party, and the built-in one that takes over once it fails."""

    def __init__(self, engine: ContextEngine, spare: ContextEngine) -> None:
        self._engine = engine
        self._spare = spare

    @property
    def name(self) -> str:
        """Return the name of the engine that works now."""
        return self._engine.name

    def ingest(self, session: SessionEntry, message: Message) -> bool:
        """See :class:`~reverie.sessions.context.ContextEngine`."""
        return self._tried(lambda engine: engine.ingest(session, message))

    def assemble(self, session: SessionEntry, messages: Sequence[Message], *, budget: int = 0) -> Assembled:
        """See :class:`~reverie.sessions.context.ContextEngine`."""
        return self._tried(lambda engine: engine.assemble(session, messages, budget=budget))

    def compact(self, session: SessionEntry, *, window: int = 0, used: int = 0, wishes: str = "") -> CompactionReport:
        """See :class:`~reverie.sessions.context.ContextEngine`."""
        return self._tried(lambda engine: engine.compact(session, window=window, used=used, wishes=wishes))

    def after_turn(self, session: SessionEntry, *, window: int = 0) -> None:
        """See :class:`~reverie.sessions.context.ContextEngine`."""
        self._tried(lambda engine: engine.after_turn(session, window=window))

    def close(self) -> None:
        """Close both."""
        self._tried(lambda engine: engine.close())
        self._spare.close()

    def _tried(self, work: Callable[[ContextEngine], T]) -> T:
        if self._engine is self._spare:
            return work(self._spare)
        try:
            return work(self._engine)
        except ReverieError:
            raise  # the transcript or the store is at fault, for which another engine has no remedy
        except Exception:  # a third party's engine may fail in any way; a reply must not fail with it
            logger.exception("the context engine %s failed; the built-in one takes over", self._engine.name)
            self._engine = self._spare
            return work(self._spare)
