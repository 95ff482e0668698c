"""The file that a run leaves behind: what was measured, when, by which command, on what."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from bench.measuring.machine import Machine
from bench.measuring.tables import Table, markdown

CACHE = Path(__file__).resolve().parents[1] / "cache"
RESULTS = CACHE / "results"
#: The folders of a path that starts at the root; not those of an address.
_FOLDERS = re.compile(r"(?<![\w.:/~…-])/(?:[^\s/'\"`:,;]+/)+")


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one program. ``missing`` says of each peer that took no part why not."""

    program: str
    command: str
    at: str
    machine: Mapping[str, str | int | float]
    versions: Mapping[str, str]
    tables: tuple[Table, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    raw: Mapping[str, Any] = field(default_factory=dict)

    def asdict(self) -> dict[str, Any]:
        """Return it as JSON takes it."""
        return {
            "program": self.program,
            "command": self.command,
            "at": self.at,
            "machine": dict(self.machine),
            "versions": dict(self.versions),
            "tables": [table.asdict() for table in self.tables],
            "missing": dict(self.missing),
            "remarks": list(self.remarks),
            "raw": dict(self.raw),
        }

    @classmethod
    def fromdict(cls, data: Mapping[str, Any]) -> Run:
        """Read what :meth:`asdict` gave."""
        return cls(
            program=data["program"],
            command=data["command"],
            at=data["at"],
            machine=data["machine"],
            versions=data["versions"],
            tables=tuple(Table.fromdict(table) for table in data["tables"]),
            missing=data.get("missing", {}),
            remarks=tuple(data.get("remarks", ())),
            raw=data.get("raw", {}),
        )

    def save(self, folder: Path = RESULTS) -> Path:
        """Keep this run as the newest of its program."""
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"{self.program}.json"
        target.write_text(json.dumps(self.asdict(), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        return target


def load(path: Path) -> Run:
    """Read a run.

    Raises:
        ValueError: the file holds no run.
    """
    try:
        return Run.fromdict(json.loads(path.read_text(encoding="utf-8")))
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path} holds no run of a benchmark: {error!r}") from error


def new(
    program: str,
    arguments: Sequence[str],
    at: datetime,
    machine: Machine,
    versions: Mapping[str, str],
    tables: Sequence[Table],
    *,
    missing: Mapping[str, str] | None = None,
    remarks: Sequence[str] = (),
    raw: Mapping[str, Any] | None = None,
) -> Run:
    """Put a run together; ``arguments`` are the words after the program's name."""
    return Run(
        program=program,
        command=shlex.join(["scripts/bench", program, *arguments]),
        at=at.astimezone().isoformat(timespec="minutes"),
        machine=machine.asdict(),
        versions=versions,
        tables=tuple(tables),
        missing=missing or {},
        remarks=tuple(remarks),
        raw=raw or {},
    )


def portable(text: str) -> str:
    """Return a text without the folders of whole paths: where things lie on one machine is of no use on another."""
    return _FOLDERS.sub("…/", text)


def page(run: Run, *, level: int = 2) -> str:
    """Return a run as Markdown: its command, date, machine and versions, then its tables, then who was missing."""
    machine = run.machine
    lines = [
        f"{'#' * level} {run.program.capitalize()}",
        "",
        f"`{portable(run.command)}`, {run.at}.",
        "",
        f"{machine['cores']} cores of {machine['processor']}, {machine['memory']}; {machine['system']}; "
        f"{machine['python']}; load average at the start {machine['load']}.",
        "",
        "Versions: " + ", ".join(f"{name} {version}" for name, version in sorted(run.versions.items())) + ".",
        "",
    ]
    lines += [markdown(table, level=level + 1) for table in run.tables]
    if run.missing:
        lines += [f"{'#' * (level + 1)} Missing", ""]
        lines += [f"* {name}: {portable(reason)}" for name, reason in sorted(run.missing.items())]
        lines.append("")
    for remark in run.remarks:
        lines += [remark, ""]
    return "\n".join(lines).rstrip("\n") + "\n"
