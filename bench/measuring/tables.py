"""Tables of results: built by a measurement, kept as JSON, printed as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

Cell = str | int | float | None
#: What stands where nothing was measured. A zero or an estimate would be taken for a figure.
ABSENT = "–"


@dataclass(frozen=True, slots=True)
class Table:
    """One table; the first column names the row, and ``None`` is a figure that was not measured."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def asdict(self) -> dict[str, Any]:
        """Return it as JSON takes it."""
        return asdict(self)

    @classmethod
    def fromdict(cls, data: Mapping[str, Any]) -> Table:
        """Read what :meth:`asdict` gave, also after it went through JSON."""
        rows = tuple(tuple(row) for row in data["rows"])
        return cls(data["title"], tuple(data["columns"]), rows, tuple(data.get("notes", ())))


def shown(cell: Cell) -> str:
    """Return a figure with three significant digits, and no more decimals than it needs."""
    if cell is None:
        return ABSENT
    if isinstance(cell, str):
        return cell.replace("|", "\\|")
    if isinstance(cell, int):
        return f"{cell:,}"
    size = abs(cell)
    decimals = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{cell:,.{decimals}f}"


def markdown(table: Table, *, level: int = 3) -> str:
    """Return a table with its title and notes; a row or column in which nothing was measured is left out."""
    measured = [row for row in table.rows if any(cell is not None for cell in row[1:])]
    kept = [at for at in range(len(table.columns)) if at == 0 or any(row[at] is not None for row in measured)]
    lines = [f"{'#' * level} {table.title}", ""]
    if measured:
        lines.append(_line([table.columns[at] for at in kept]))
        lines.append(_line(["---" if at == 0 or _is_text(measured, at) else "---:" for at in kept]))
        lines += [_line([shown(row[at]) for at in kept]) for row in measured]
        lines.append("")
    else:
        lines += ["Nothing was measured.", ""]
    for note in table.notes:
        lines += [note, ""]
    return "\n".join(lines)


def _is_text(rows: Sequence[Sequence[Cell]], at: int) -> bool:
    return all(isinstance(row[at], str) or row[at] is None for row in rows)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
