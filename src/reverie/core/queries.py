"""What is read out of a query before anything is searched, and what may look again at what was found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class AskedSpan:
    """A time that a query names: the words, and from when (included) to when (not included); ``None`` is open."""

    text: str
    since: datetime | None
    until: datetime | None
    exact: bool = True


@dataclass(frozen=True, slots=True)
class QueryAnalysis:
    """What a query says besides its words.

    ``scripts`` are those it is written in; ``quoted``, ``identifiers`` and ``names`` are meant as they stand;
    ``spans`` are the times it names, read as lying in the past. ``present`` and ``history`` say whether it asks how
    things are, or how they were. ``only_time``: it asks for nothing but what there is of a time, ``bare_time``: it
    is nothing but the words for it.
    """

    scripts: tuple[str, ...] = ()
    quoted: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    spans: tuple[AskedSpan, ...] = ()
    present: bool = False
    history: bool = False
    only_time: bool = False
    bare_time: bool = False


class Reranker(Protocol):
    """Scores texts beside a question, one after another, so that a deadline may stop it in between."""

    def scores(self, query: str, texts: Sequence[str]) -> Iterable[float]:
        """Yield a score for each text in order; higher is better, on any scale. May raise ``ReverieError``."""
        ...
