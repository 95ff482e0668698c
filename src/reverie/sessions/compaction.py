"""Compaction: the older part of a conversation gives way to a summary of it; the newer part stays word for word.

Nothing is taken out of the transcript. A ``compaction`` entry is appended that names the first entry that stays; from
then on the model is shown the summary instead of what stands before. This module decides; who keeps the transcript
writes. A model's answers are asked for a bounded number of times and judged by their form; if none will do, an extract
takes their place, so that compaction always comes to an end and always makes room.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from reverie.core.config.agents import Compaction
from reverie.core.provenance import least
from reverie.core.text import collapse, cut
from reverie.core.types import ChatModel, SessionKind, SourceClass
from reverie.sessions.capture import brings_in, user_class
from reverie.sessions.cutting import Cut, Live, find_cut, live_of
from reverie.sessions.extract import extract, recent_turns
from reverie.sessions.flushplan import thresholds
from reverie.sessions.measure import text_tokens
from reverie.sessions.messages import (
    HOST_FIELD,
    Message,
    MessageRole,
    Stamp,
    is_tainted,
    stamp_from_json,
    stamp_to_json,
)
from reverie.sessions.summaries import MAX_CHARS, finished
from reverie.sessions.summarising import SummaryWriter
from reverie.sessions.telling import Files, files_of, told
from reverie.sessions.tree import Entry

Means = Literal["model", "extract", "trim", ""]

#: Passes in which a model may be asked; the one after them trims.
_MODEL_PASSES = 2
_TRIM_CHARS, _LEAST_CHARS = 2000, 400
_NO_FILES = Files()


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a compaction comes to, before anything is written.

    ``done`` is false if there was nothing to do, and ``reason`` says why. ``means`` is how the summary was made.
    ``tokens_*`` are estimates of the context; ``over`` says that it is still larger than the budget. ``faults`` are
    the reasons for which a model's answers were refused.
    """

    done: bool
    reason: str
    means: Means = ""
    summary: str = ""
    first_kept: str = ""
    tokens_before: int = 0
    tokens_after: int = 0
    over: bool = False
    attempts: int = 0
    faults: tuple[str, ...] = ()
    stamp: Stamp | None = None
    files: Files = _NO_FILES
    request: str = ""

    def entry(self) -> dict[str, Any]:
        """Return the fields of the entry that is appended to the transcript."""
        details: dict[str, Any] = {"readFiles": list(self.files.read), "modifiedFiles": list(self.files.modified)}
        details |= {"latestUnresolvedUserRequest": self.request} if self.request else {}
        fields: dict[str, Any] = {"summary": self.summary, "firstKeptEntryId": self.first_kept}
        fields |= {"tokensBefore": self.tokens_before, "details": details}
        return fields | ({HOST_FIELD: stamp_to_json(self.stamp)} if self.stamp is not None else {})


class Compactor:
    """Decides on compactions.

    Args:
        settings: the section ``compaction``.
        model: writes summaries; without one they are extracts.
        external_tools: tools whose results count as foreign when they declare nothing.
        ticks: seconds that pass, for the time that a summary may take.
    """

    def __init__(
        self,
        settings: Compaction,
        model: ChatModel | None = None,
        *,
        external_tools: Container[str] = frozenset(),
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._model = model
        self._external = external_tools
        self._ticks = ticks

    def decide(
        self,
        path: Sequence[Entry],
        *,
        window: int,
        kind: SessionKind,
        used: int = 0,
        wishes: str = "",
    ) -> Compacted:
        """Return the compaction of the conversation that a path tells.

        Args:
            path: the entries from the root to the active leaf.
            window: the size of the model's context in tokens; 0 if it is not known.
            kind: the kind of the session.
            used: the tokens of the context as the provider counted them; 0: they are estimated.
            wishes: what the owner wants the summary to look after.
        """
        live = live_of(path)
        estimate = live.tokens
        before = max(used, estimate)
        budget = thresholds(self._settings, window).compact_at if window else 0
        over = bool(budget) and before > budget
        if live.boundary is not None and live.boundary is path[-1] and not over:
            return Compacted(False, "nothing was said since the last compaction", tokens_before=before)
        writer = SummaryWriter(self._settings, self._model, window=window, wishes=wishes, ticks=self._ticks)
        work = _Work(self._settings, live, kind, self._external, writer)
        best: Compacted | None = None
        for number, keep in enumerate(self._keeps(budget, over=over)):
            cut_at = find_cut(live, keep)
            if cut_at is None:
                continue
            trim = number >= _MODEL_PASSES
            found = work.trimmed(cut_at, budget) if trim else work.summarised(cut_at)
            after = text_tokens(found.summary) + cut_at.kept_tokens
            # Where the provider counts more than is estimated, it will do so afterwards too.
            after = after * before // max(1, estimate) if used > estimate else after
            still = bool(budget) and after > budget
            found = replace(found, tokens_before=before, tokens_after=after, over=still)
            best = found if best is None or after < best.tokens_after else best
            if not still:
                break
        if best is None:
            kept = f"everything was said within the last {self._settings.keep_recent_tokens:,} tokens, which stay"
            return Compacted(False, kept, tokens_before=before)
        if best.tokens_after >= before:
            best = Compacted(False, "a summary would be no shorter", tokens_before=before)
        return replace(best, attempts=writer.attempts, faults=tuple(writer.faults))

    def _keeps(self, budget: int, *, over: bool) -> list[int]:
        """Return how many tokens are to stay, pass by pass. More than one pass only where the context must shrink."""
        keep = self._settings.keep_recent_tokens
        if not budget:
            return [keep]
        second = min(keep // 2, budget // 2)
        return [keep, second, min(second // 2, budget // 4)] if over else [keep]


class _Work:
    """The passes of one compaction."""

    def __init__(
        self, settings: Compaction, live: Live, kind: SessionKind, external: Container[str], writer: SummaryWriter
    ) -> None:
        self._settings = settings
        self._live = live
        self._kind = kind
        self._external = external
        self._writer = writer

    def summarised(self, cut_at: Cut) -> Compacted:
        """Return the compaction at a cut, with a model's summary where there is one that will do."""
        text = self._writer.write(cut_at, self._live.summary)
        if text is not None:
            return self._result(cut_at, text, "model", MAX_CHARS)
        # An extract of a short conversation must be shorter still, or nothing would be won.
        size = sum(len(one) for one in told(cut_at.gone)) + len(self._live.summary)
        return self._extracted(cut_at, "extract", min(MAX_CHARS, max(_LEAST_CHARS, size // 2)))

    def trimmed(self, cut_at: Cut, budget: int) -> Compacted:
        """Return the compaction at a cut with as short an extract as is any use."""
        return self._extracted(cut_at, "trim", max(_LEAST_CHARS, min(_TRIM_CHARS, budget * 2)))

    def _extracted(self, cut_at: Cut, means: Means, limit: int) -> Compacted:
        text = extract(cut_at.gone, earlier=self._live.summary, limit=limit // 2)
        return self._result(cut_at, text, means, limit)

    def _result(self, cut_at: Cut, text: str, means: Means, limit: int) -> Compacted:
        source = [self._live.summary, *told(cut_at.gone)]
        safeguard = self._settings.mode == "safeguard" and means == "model"
        turns = self._settings.recent_turns_preserve if safeguard else 0
        recent = recent_turns(cut_at.gone, turns)
        messages = [entry.message for entry in cut_at.gone if entry.message is not None]
        asking = next((entry.message for entry in cut_at.turn_prefix if _is_user(entry)), None)
        return Compacted(
            done=True,
            reason="compacted",
            means=means,
            summary=finished(text, source, keep=self._settings.identifier_policy != "off", limit=limit, recent=recent),
            first_kept=cut_at.kept[0].id,
            stamp=Stamp(self._origin(messages), self._kind),
            files=files_of(messages, _files_before(self._live.boundary)),
            request=cut(collapse(asking.text), 400) if asking is not None else "",
        )

    def _origin(self, messages: Sequence[Message]) -> SourceClass:
        """Return the class of a summary: the least of all that went into it, and never the owner's own word."""
        origins = [SourceClass.AGENT, *(_class_of(message, self._external) for message in messages)]
        if self._live.boundary is not None and self._live.summary:
            stamp = stamp_from_json(self._live.boundary.data.get(HOST_FIELD))
            origins.append(stamp.origin if stamp is not None else SourceClass.UNTRUSTED)
        return least(origins)


def _class_of(message: Message, external: Container[str]) -> SourceClass:
    if message.role is MessageRole.USER:
        return user_class(message)
    if message.role in (MessageRole.TOOL_RESULT, MessageRole.BASH):
        # What a tool gave back is told in a summary only as the assistant could have told it.
        return SourceClass.UNTRUSTED if brings_in(message, external) else SourceClass.AGENT
    if message.stamp is None or is_tainted(message):
        return SourceClass.UNTRUSTED
    return message.stamp.origin


def _files_before(boundary: Entry | None) -> Files:
    details = boundary.data.get("details") if boundary is not None else None
    if not isinstance(details, dict):
        return Files()
    read, modified = (details.get(name) for name in ("readFiles", "modifiedFiles"))
    return Files(_texts(read), _texts(modified))


def _texts(found: object) -> tuple[str, ...]:
    return tuple(one for one in found if isinstance(one, str)) if isinstance(found, list) else ()


def _is_user(entry: Entry) -> bool:
    return entry.message is not None and entry.message.role is MessageRole.USER
