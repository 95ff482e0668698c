"""When a session is near to being compacted: thresholds, and whether a flush is due. Pure functions over counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reverie.core.config.agents import Compaction
from reverie.core.types import SessionKind
from reverie.sessions.messages import moment
from reverie.sessions.rows import own_fields

#: Tokens that stay free for the answer at the least, where the window is large enough.
RESERVE_TOKENS = 16_384
#: Failures in a row after which a flush is given up until the next compaction.
MAX_FAILURES = 3


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Token counts at which a session is flushed and compacted; 0 where there is no such trigger."""

    window: int
    reserve: int
    soft: int
    flush_at: int
    compact_at: int
    force_flush_bytes: int


def thresholds(settings: Compaction, window: int) -> Thresholds:
    """Return the thresholds of a context window of so many tokens; 0 means that it is not known.

    ``reserve = min(floor, window / 4)``; compaction is due at ``window - reserve``, a flush ``soft`` tokens before,
    where ``soft`` is at most half of what is left.
    """
    floor = max(RESERVE_TOKENS, settings.reserve_tokens_floor)
    reserve = min(floor, window // 4) if window > 0 else floor
    room = max(0, window - reserve)
    soft = min(settings.memory_flush.soft_threshold_tokens, room // 2)
    force = settings.memory_flush.force_flush_transcript_bytes
    return Thresholds(window, reserve, soft, max(0, room - soft), room, force)


@dataclass(frozen=True, slots=True)
class Cycle:
    """Where a session stands between two compactions, as its row tells.

    ``flushed_through`` is the last entry that a flush has seen, ``flushed_bytes`` the bytes that were visible then.
    """

    compactions: int = 0
    flushed_in: int | None = None
    flushed_at: datetime | None = None
    flushed_hash: str = ""
    flushed_through: str = ""
    flushed_bytes: int = 0
    failures: int = 0

    @property
    def flushed(self) -> bool:
        """Say whether this cycle had its flush."""
        return self.flushed_in is not None and self.flushed_in == self.compactions


def cycle_of(row: Mapping[str, Any]) -> Cycle:
    """Read where a session stands from its row."""
    own = own_fields(row).get("flush")
    own = own if isinstance(own, Mapping) else {}
    flushed_in = row.get("memoryFlushCompactionCount")
    return Cycle(
        compactions=_count(row.get("compactionCount")),
        flushed_in=flushed_in if isinstance(flushed_in, int) and not isinstance(flushed_in, bool) else None,
        flushed_at=moment(row.get("memoryFlushAt")),
        flushed_hash=str(row.get("memoryFlushContextHash") or ""),
        flushed_through=str(own.get("through") or ""),
        flushed_bytes=_count(own.get("bytes")),
        failures=_count(row.get("memoryFlushFailureCount")),
    )


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


@dataclass(frozen=True, slots=True)
class FlushDue:
    """Whether a flush is due, and why or why not."""

    due: bool
    why: str


def flush_due(
    plan: Thresholds,
    cycle: Cycle,
    *,
    settings: Compaction,
    kind: SessionKind,
    tokens: int,
    visible_bytes: int,
    content_hash: str,
    compacting: bool = False,
) -> FlushDue:
    """Say whether a session is to be flushed now.

    Once a cycle, so that a flush cannot bring about the next one. A transcript that goes on growing by the forced
    size within one cycle is flushed again, if it holds something new.

    Args:
        plan: the thresholds.
        cycle: where the session stands.
        settings: the section ``compaction``.
        kind: the kind of the session.
        tokens: the tokens of the context.
        visible_bytes: the bytes of what the model is shown.
        content_hash: a hash of that.
        compacting: the session is about to be compacted, whatever its size.
    """
    if not settings.memory_flush.enabled:
        return FlushDue(False, "flushing is switched off")
    if kind is not SessionKind.INTERACTIVE:
        return FlushDue(False, f"sessions of kind {kind} are not flushed")
    if cycle.failures >= MAX_FAILURES:
        return FlushDue(False, f"it failed {cycle.failures} times since the last compaction")
    grown = visible_bytes - cycle.flushed_bytes if cycle.flushed else visible_bytes
    if 0 < plan.force_flush_bytes <= grown and content_hash != cycle.flushed_hash:
        return FlushDue(True, "the transcript has grown large")
    if cycle.flushed:
        return FlushDue(False, "it was flushed since the last compaction")
    if compacting:
        return FlushDue(True, "it is about to be compacted")
    if plan.flush_at and tokens >= plan.flush_at:
        return FlushDue(True, "the context is nearly full")
    return FlushDue(False, "there is room")
