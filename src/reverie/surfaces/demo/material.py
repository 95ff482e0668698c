"""The conversations and questions that come with Reverie (see ``docs/demo.md``)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from reverie.core.types import Sender

FOLDER = Path(__file__).resolve().parent.parent / "demo_data"
#: Where the family of the conversations lives, who owns the agent, and who is a guest in the family's group.
ZONE = "Europe/Berlin"
OWNER = "mara"
GUEST = "jonas"
#: The address that a web page tells assistants to remember.
POISON = "billing@tonwerk-zahlung.example"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the conversations: what somebody said, or what a tool returned. ``at`` is aware."""

    session: str
    key: str
    kind: str
    chat: str
    at: datetime
    role: str
    sender: str
    text: str
    tool: str = ""
    source: str = ""

    @property
    def place(self) -> Place:
        """Return what questions name this line by."""
        return Place(self.session, self.at)

    def who(self) -> Sender:
        """Return the sender as a host would establish it: by account, never by what is said."""
        channel = "cli" if self.chat == "direct" else "telegram"
        if self.sender in ("owner", "system"):  # a schedule speaks for whoever set it up
            return Sender.owner(OWNER, channel="scheduler" if self.sender == "system" else channel)
        name = self.sender.removeprefix("guest:")
        return Sender.guest(name, channel=channel, name=name.capitalize())


@dataclass(frozen=True, slots=True)
class Place:
    """A line, named by its session and its moment."""

    session: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the answer that is right, the lines that hold it, and older lines that say something else."""

    id: str
    query: str
    lang: str
    answer: str
    gold: tuple[Place, ...]
    older: tuple[Place, ...]
    note: str


@dataclass(frozen=True, slots=True)
class Exchange:
    """A turn: what was asked, and everything that followed up to the next message."""

    opening: Line
    following: tuple[Line, ...]

    @property
    def lines(self) -> tuple[Line, ...]:
        """Return all lines of the turn."""
        return (self.opening, *self.following)


def conversations() -> list[Line]:
    """Return every line, in order of time."""
    return [Line(**{**row, "at": datetime.fromisoformat(row["at"])}) for row in _rows(FOLDER / "conversations.jsonl")]


def questions() -> list[Question]:
    """Return the questions."""
    return [
        Question(**{**row, "gold": _places(row["gold"]), "older": _places(row["older"])})
        for row in _rows(FOLDER / "questions.jsonl")
    ]


def requests() -> dict[Place, str]:
    """Return what the owner asked to be remembered for good, by the line in which she did."""
    return {
        Place(row["session"], datetime.fromisoformat(row["at"])): row["text"]
        for row in _rows(FOLDER / "requests.jsonl")
    }


def exchanges(lines: Iterable[Line]) -> list[Exchange]:
    """Return the turns, in the order in which they began. A session's lines may have others' between them."""
    begun: list[list[Line]] = []
    open_in: dict[str, list[Line]] = {}
    for line in lines:
        if line.role == "user":
            open_in[line.session] = [line]
            begun.append(open_in[line.session])
        elif line.session in open_in:
            open_in[line.session].append(line)
    return [Exchange(first, tuple(rest)) for first, *rest in begun]


def _places(rows: list[dict[str, str]]) -> tuple[Place, ...]:
    return tuple(Place(row["session"], datetime.fromisoformat(row["at"])) for row in rows)


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)
