"""What ranking asks of a chunk: where it stands, what it is weighed by, and what it may share a passage with."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from reverie.core.types import Corpus
from reverie.index.layout import INVALID_PROJECT, NEVER, OPENS_SECTION, Columns, Document, Field
from reverie.index.rows import Filters, LegHits, from_micros, unpacked

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Neighbour(NamedTuple):
    """What decides whether a chunk joins a passage.

    ``group`` is the same for lines of one document, class, kind, session and heading. ``opens_section`` says that the
    text begins with a heading.
    """

    id: int
    start_line: int
    end_line: int
    chars: int
    group: Hashable
    opens_section: bool


@dataclass(frozen=True, slots=True)
class Line:
    """A chunk without its text.

    ``said`` is when the text counts as said: a message by itself, a note with its document, of which only the calendar
    day is known (``whole_day``: its midnight in UTC).
    """

    id: int
    path: str
    start_line: int
    end_line: int
    chars: int
    trusted: bool
    curated: bool
    said: datetime | None
    speaker: str | None
    importance: int | None
    project: tuple[str, ...]
    invalid_project: bool
    whole_day: bool


def traits(columns: Columns, ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[str | None]]:
    """Return how many characters chunks have and who says them, if they say so; 0 and ``None`` for one that is gone."""
    if not len(columns):
        return np.zeros(len(ids), np.int64), [None] * len(ids)
    rows = columns.rows(ids)
    known = rows >= 0
    chars = np.where(known, columns[Field.CHARS][rows], 0)
    documents, codes = columns.document[rows].tolist(), columns[Field.SPEAKER][rows].tolist()
    names = [columns.documents[at].names[code] or None for at, code in zip(documents, codes, strict=True)]
    return chars, [name if there else None for name, there in zip(names, known.tolist(), strict=True)]


def of_chunks(columns: Columns, ids: Sequence[int]) -> list[Line]:
    """Return the lines of chunks, without those that are gone."""
    rows = columns.rows(np.array(ids, np.int64))
    return _lines(columns, rows[rows >= 0])


def around(columns: Columns, ids: Sequence[int], reach: int) -> dict[int, list[Neighbour]]:
    """Return each chunk between those that stand up to ``reach`` before and after it in its document."""
    rows = columns.rows(np.array(ids, np.int64))
    rows = rows[rows >= 0]
    starts = columns.document_starts
    document = columns.document[rows]
    first = np.maximum(rows - reach, starts[document])
    last = np.minimum(rows + reach + 1, starts[document + 1])
    wanted = np.unique(np.concatenate([np.arange(one, two) for one, two in zip(first, last, strict=True)] or [rows]))
    known = dict(zip(wanted.tolist(), _neighbours(columns, wanted), strict=True))
    spans = zip(columns[Field.ID][rows].tolist(), first.tolist(), last.tolist(), strict=True)
    return {ident: [known[row] for row in range(one, two)] for ident, one, two in spans}


def _neighbours(columns: Columns, rows: NDArray[np.int64]) -> list[Neighbour]:
    ids, starts, ends, chars = (columns[one][rows].tolist() for one in (Field.ID, Field.START, Field.END, Field.CHARS))
    group = [columns.document[rows].tolist()]
    group += [columns[one][rows].tolist() for one in (Field.BORN, Field.SESSION, Field.HEADING)]
    opens = ((columns[Field.FLAGS][rows] & OPENS_SECTION) != 0).tolist()
    return list(map(Neighbour, ids, starts, ends, chars, zip(*group, strict=True), opens))


def _lines(columns: Columns, rows: NDArray[np.int64]) -> list[Line]:
    documents = columns.document[rows].tolist()
    values = columns.chunks[:, rows].T.tolist()
    return [_line(columns.documents[at], row) for at, row in zip(documents, values, strict=True)]


def _line(document: Document, row: list[int]) -> Line:
    names = document.names
    said = row[Field.MOMENT if document.corpus == Corpus.SESSIONS else Field.DATE]
    return Line(
        id=row[Field.ID],
        path=document.path,
        start_line=row[Field.START],
        end_line=row[Field.END],
        chars=row[Field.CHARS],
        trusted=row[Field.TRUSTED] != 0,
        curated=document.curated,
        said=None if said == NEVER else from_micros(said),
        speaker=names[row[Field.SPEAKER]] or None,
        importance=row[Field.IMPORTANCE] or None,
        project=unpacked(names[row[Field.PROJECT]]),
        invalid_project=bool(row[Field.FLAGS] & INVALID_PROJECT),
        whole_day=document.corpus != Corpus.SESSIONS,
    )


def newest(columns: Columns, filters: Filters, limit: int) -> LegHits:
    """Return the newest chunks of each half that pass, all of one score; ties by path and line, never by id (I9)."""
    allowed = columns.allowed(filters)
    parts = []
    for trusted in (True, False):
        mask = columns.trusted == trusted
        rows = np.flatnonzero(mask if allowed is None else mask & allowed)
        places = columns.path_order[columns.document[rows]] if len(rows) else rows
        order = np.lexsort((columns[Field.START][rows], places, -columns[Field.MOMENT][rows]))[:limit]
        ids = columns[Field.ID][rows[order]]
        same = np.zeros(len(ids))
        parts.append(LegHits(ids, same + 1.0, same, np.full(len(ids), trusted)))
    return LegHits.joined(parts)
