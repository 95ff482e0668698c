"""How a conversation stays short enough for a model: its context for a call, and flushes and compactions when due.

A flush comes before every compaction, and what goes wrong in it holds up neither the compaction nor a reply.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

from reverie.assembly import Parts
from reverie.core.errors import ReverieError, UsageError
from reverie.sessions.context import Assembled, CompactionReport
from reverie.sessions.cutting import find_cut, live_of
from reverie.sessions.flushplan import thresholds
from reverie.sessions.measure import total_tokens
from reverie.sessions.messages import HOST_FIELD
from reverie.sessions.pruning import Cause, PruneState, prune, state_from_json, state_to_json
from reverie.sessions.rows import Rows, SessionEntry, own_fields
from reverie.sessions.transcript import Transcript
from reverie.sessions.tree import context_of, path_to_leaf
from reverie.writing.flushing import FlushReport

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Upkeep:
    """What was done for a session after a turn; nothing where nothing was due."""

    flush: FlushReport | None = None
    compaction: CompactionReport | None = None


def context(parts: Parts, key: str, *, window: int = 0) -> Assembled:
    """Return what the model is shown of a conversation: assembled by the context engine, then pruned."""
    session, transcript = _opened(parts, key)
    budget = thresholds(parts.config.compaction, window).compact_at if window else 0
    assembled = parts.context.assemble(session, transcript.branch(), budget=budget)
    settings = parts.config.context_pruning
    state = state_from_json(own_fields(session.data).get("pruning"))
    pruned = prune(assembled.messages, settings, state=state, window=window, now=parts.clock.now())
    if pruned.cause is Cause.OFF:
        return assembled
    if state.touched is None and not pruned.changed:
        pruned = replace(pruned, state=replace(pruned.state, touched=parts.clock.now()))
    if pruned.state != state:
        _keep_pruning(parts, session, pruned.state)
    return replace(assembled, messages=pruned.messages, tokens=total_tokens(pruned.messages))


def _keep_pruning(parts: Parts, session: SessionEntry, state: PruneState) -> None:
    def kept(row: Rows) -> None:
        row[HOST_FIELD] = own_fields(row) | {"pruning": state_to_json(state)}

    parts.sessions.update(session.key, kept)


def compact(parts: Parts, key: str, wishes: str = "", *, window: int = 0, used: int = 0) -> CompactionReport:
    """Compact a conversation now, after a flush.

    Raises:
        UsageError: there is no such session.
        TranscriptError: it cannot be read or written.
    """
    session, transcript = _opened(parts, key)
    live = live_of(path_to_leaf(transcript.read().entries))
    settings = parts.config.compaction
    over = window > 0 and max(used, live.tokens) > thresholds(settings, window).compact_at
    # Where nothing can go there is nothing to save, and the flush of this cycle is still to come.
    if over or find_cut(live, settings.keep_recent_tokens) is not None:
        _flushed(parts, session.key, window=window, used=used, compacting=True)
    report = parts.context.compact(session, window=window, used=used, wishes=wishes)
    parts.engine.touched()
    return report


def after_turn(parts: Parts, key: str, *, window: int, used: int = 0) -> Upkeep:
    """Flush and compact a conversation if that is due; for the time after a reply, which it must not delay.

    Raises:
        UsageError: there is no such session.
        TranscriptError: it cannot be read or written.
    """
    session, transcript = _opened(parts, key)
    parts.context.after_turn(session, window=window)
    settings = parts.config.compaction
    if not settings.enabled:
        return Upkeep()
    path = path_to_leaf(transcript.read().entries)
    tokens = used or total_tokens(context_of(path))
    flush = _flushed(parts, session.key, window=window, used=tokens, compacting=False)
    plan = thresholds(settings, window)
    size = sum(len(one.text.encode("utf-8", "replace")) for one in context_of(path))
    large = settings.max_active_transcript_bytes is not None and size >= settings.max_active_transcript_bytes
    if not large and not (plan.compact_at and tokens > plan.compact_at):
        return Upkeep(flush)
    return Upkeep(flush, compact(parts, session.key, window=window, used=tokens))


def _flushed(parts: Parts, key: str, *, window: int, used: int, compacting: bool) -> FlushReport | None:
    """Flush a session. What goes wrong there is told, and holds up nothing."""
    try:
        report = parts.flusher.flush(key, window=window, used=used, compacting=compacting)
    except ReverieError as error:
        logger.warning("the session was not flushed: %s", error)
        return FlushReport(False, f"failed: {error}")
    if report.written is not None:
        parts.engine.touched()
    return report


def _opened(parts: Parts, key: str) -> tuple[SessionEntry, Transcript]:
    session = parts.sessions.get(key)
    if session is None:
        raise UsageError("There is no such session", key=str(key), hint="`reverie sessions list` shows them")
    return session, parts.sessions.transcript(session, parts.clock, parts.ids)
