"""What language models cost: tokens by day, feature and model."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date

from reverie.core.clock import today
from reverie.core.types import Clock
from reverie.store.database import Database

_ADD = """
INSERT INTO model_usage (day, feature, model, calls, prompt, completion) VALUES (?, ?, ?, 1, ?, ?)
ON CONFLICT (day, feature, model) DO UPDATE SET
    calls = calls + 1, prompt = prompt + excluded.prompt, completion = completion + excluded.completion
"""
_SUM = """
SELECT feature, model, sum(calls), sum(prompt), sum(completion) FROM model_usage WHERE day >= ?
GROUP BY feature, model ORDER BY feature, model
"""


@dataclass(frozen=True, slots=True)
class Spent:
    """What a feature spent on a model: how many answers, tokens given and tokens got."""

    feature: str
    model: str
    calls: int
    prompt: int
    completion: int


class ModelUsage:
    """Counts tokens in the durable store."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def add(self, feature: str, model: str, prompt: int, completion: int) -> None:
        """Count one answer today."""
        self._database.execute(_ADD, (today(self._clock).isoformat(), feature, model, prompt, completion))

    def since(self, day: date) -> list[Spent]:
        """Return what was spent from a day on, by feature and model."""
        return [Spent(*row) for row in self._database.rows(_SUM, (day.isoformat(),))]
