"""What a search needs of an index: its legs, and what is known of chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from reverie.core.types import Chunk, SearchRequest
from reverie.recall.confidence import Weights
from reverie.recall.passages import Neighbour

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from reverie.core.types import Vector


class LegHits(Protocol):
    """The hits of one leg as arrays, best first."""

    @property
    def ids(self) -> NDArray[np.int64]:
        """Return the rows of the chunks in the index."""
        ...

    @property
    def scores(self) -> NDArray[np.float64]:
        """Return the leg's own scores, higher is better."""
        ...

    @property
    def evidence(self) -> NDArray[np.float64]:
        """Return how many standard deviations each hit of the vector leg stands out."""
        ...

    def half(self, trusted: bool) -> LegHits:
        """Return the hits that were born trusted, or all others."""
        ...

    def __len__(self) -> int:
        """Return how many hits there are."""
        ...


class StoredChunk(Protocol):
    """A chunk as the index keeps it."""

    @property
    def id(self) -> int:
        """Return the row of the chunk."""
        ...

    @property
    def chunk(self) -> Chunk:
        """Return the chunk."""
        ...


class Line(Protocol):
    """What a chunk is weighed by; its text is not needed."""

    @property
    def id(self) -> int:
        """Return the row of the chunk."""
        ...

    @property
    def path(self) -> str:
        """Return the document."""
        ...

    @property
    def start_line(self) -> int:
        """Return its first line in the document."""
        ...

    @property
    def trusted(self) -> bool:
        """Say whether it was born trusted."""
        ...

    @property
    def curated(self) -> bool:
        """Say whether it is an entry of a curated file."""
        ...

    @property
    def said(self) -> datetime | None:
        """Return when it counts as said; ``None`` for what has no date."""
        ...

    @property
    def importance(self) -> int | None:
        """Return its importance, 1..10, if it has one."""
        ...

    @property
    def project(self) -> Sequence[str]:
        """Return the projects that it belongs to."""
        ...

    @property
    def invalid_project(self) -> bool:
        """Say whether its project is malformed."""
        ...

    @property
    def whole_day(self) -> bool:
        """Say whether of ``said`` only the calendar day is known: it is that day's midnight in UTC."""
        ...


class Counts(Protocol):
    """How much there is of a corpus."""

    @property
    def chunks(self) -> int:
        """Return the number of chunks."""
        ...

    @property
    def trusted(self) -> int:
        """Return the number of those that were born trusted."""
        ...


class SearchIndex(Protocol):
    """What a search needs of an index."""

    def keyword_leg(self, request: SearchRequest, limit: int) -> LegHits:
        """Return the best chunks of each half by words."""
        ...

    def newest(self, request: SearchRequest, limit: int) -> LegHits:
        """Return the newest chunks of each half that pass the filters, whatever their words."""
        ...

    def vector_leg(
        self, vector: Vector, request: SearchRequest, limit: int, also: NDArray[np.int64] | None = None
    ) -> LegHits:
        """Return the best chunks of each half by meaning, and after them those of ``also``."""
        ...

    def weights(self, query: str) -> Weights:
        """Return what a text asks for, in every form that counts as it, and how rare it is."""
        ...

    def by_corpus(self) -> Mapping[str, Counts]:
        """Return how much there is of each corpus."""
        ...

    def lines(self, ids: Sequence[int]) -> Sequence[Line]:
        """Return what is known of chunks besides their text; chunks that are gone are left out."""
        ...

    def traits(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], Sequence[str | None]]:
        """Return of each chunk how many characters it has, and who says it, if it says so."""
        ...

    def superseded(self, as_of: datetime | None) -> Mapping[int, int | None]:
        """Return the chunks that no longer hold, or did not at ``as_of``, each with the one that does, if any."""
        ...

    def around(self, ids: Sequence[int], reach: int) -> Mapping[int, Sequence[Neighbour]]:
        """Return each chunk between those around it in its document."""
        ...

    def path_matches(self, request: SearchRequest) -> Mapping[int, int]:
        """Return chunk to specificity (3 full path, 2 file name, 1 stem) for a query that names a file."""
        ...

    def load(self, ids: Sequence[int]) -> Sequence[StoredChunk]:
        """Return the chunks of these rows with their text; rows that are gone are left out."""
        ...
