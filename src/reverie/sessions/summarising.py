"""Having a model write a summary: piece by piece, within a time, and no more often than is allowed."""

from __future__ import annotations

import time
from collections.abc import Callable

from reverie.core.config.agents import Compaction
from reverie.core.text import cut
from reverie.core.types import ChatModel
from reverie.sessions.asking import Answer, asked
from reverie.sessions.cutting import Cut
from reverie.sessions.extract import extract
from reverie.sessions.summaries import instructions, missing_sections, question, unusable
from reverie.sessions.telling import pieces, told

#: A model is shown at most half of its window at once, and at most so many pieces; older ones give way to an extract.
_MOST_PIECES = 8
_LEAST_PIECE, _PIECE = 4000, 200_000
_STRICT = (
    "Keep identifiers exactly as they are written: ids, hashes, addresses, hosts with ports, paths, names of files,"
    " numbers."
)


class SummaryWriter:
    """Writes the summaries of one compaction. ``attempts`` and ``faults`` tell how it went, over all passes.

    Args:
        settings: the section ``compaction``.
        model: writes; without one nothing is written.
        window: the size of its context in tokens; 0 if it is not known.
        wishes: what the owner wants to be looked after.
        ticks: seconds that pass.
    """

    def __init__(
        self,
        settings: Compaction,
        model: ChatModel | None,
        *,
        window: int,
        wishes: str = "",
        ticks: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._model = model
        self._piece = max(_LEAST_PIECE, window * 2) if window else _PIECE
        self._ticks = ticks
        self._until = ticks() + settings.timeout_seconds
        self._safeguard = settings.mode == "safeguard"
        asked_for = {"strict": _STRICT, "custom": settings.identifier_instructions or _STRICT}
        kept = asked_for.get(settings.identifier_policy, "")
        self._system = instructions(safeguard=self._safeguard, identifiers_kept=kept, wishes=wishes)
        self.attempts = 0
        self.faults: list[str] = []

    def write(self, cut_at: Cut, earlier: str) -> str | None:
        """Return a model's summary of what a cut takes away; ``None`` if there is none that will do.

        A model that gave no fit answer is not asked again, for a longer part of the same conversation least of all.
        """
        found = self._written(cut_at, earlier) if self._model is not None else None
        if found is None:
            self._model = None
        return found

    def _written(self, cut_at: Cut, earlier: str) -> str | None:
        summary = earlier
        parts = pieces(told(cut_at.history), self._piece)
        if len(parts) > _MOST_PIECES:
            summary = extract(cut_at.history, earlier=summary, limit=_LEAST_PIECE)
            parts = parts[-_MOST_PIECES:]
        for number, part in enumerate(parts, start=1):
            found = self._fit(part, summary, last=number == len(parts))
            if found is None:
                return None
            summary = found
        if not cut_at.turn_prefix:
            return summary
        begun = "\n".join(told(cut_at.turn_prefix))
        prefix = self._once(question(cut(begun, self._piece), prefix=True), begun)
        prefix = prefix or extract(cut_at.turn_prefix, limit=_LEAST_PIECE)
        return f"{summary}\n\n## The turn that goes on\n{prefix}".strip()

    def _fit(self, text: str, earlier: str, *, last: bool) -> str | None:
        """Ask until an answer will do, a bounded number of times; one that only lacks sections is taken in the end."""
        guard = self._settings.quality_guard
        best, fault = None, ""
        for _ in range(1 + (guard.max_retries if guard.enabled else 0)):
            answer = self._ask(question(text, earlier=earlier, fault=fault))
            fault = answer.fault or unusable(answer.text, text, earlier)
            if fault:
                self.faults.append(fault)
                continue
            best = answer.text.strip()
            missing = missing_sections(best) if self._safeguard and last and guard.enabled else ()
            if not missing:
                return best
            fault = f"sections missing or misplaced: {', '.join(missing)}"
            self.faults.append(fault)
        return best

    def _once(self, text: str, source: str) -> str:
        answer = self._ask(text)
        fault = answer.fault or unusable(answer.text, source)
        if fault:
            self.faults.append(fault)
        return "" if fault else answer.text.strip()

    def _ask(self, text: str) -> Answer:
        self.attempts += 1
        if self._model is None:
            return Answer(fault="there is no model")
        return asked(self._model, self._system, text, timeout=self._until - self._ticks())
