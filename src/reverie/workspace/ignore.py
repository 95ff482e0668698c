"""The rules of ``.reverieignore``: globs like those of ``.gitignore``, without its rarer corners.

One glob a line; ``#`` begins a comment. ``*``, ``?`` and ``[...]`` stay within a name, ``**`` stands for any number of
folders. A glob with a ``/`` before its end is anchored to the workspace, another one holds in every folder. A ``/`` at
its end names folders only, a ``!`` before it takes back. The last rule that fits decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True)
class Rule:
    """One glob, split at ``/``."""

    segments: tuple[str, ...]
    folders_only: bool
    takes_back: bool


def parse_rules(text: str) -> tuple[Rule, ...]:
    """Return the rules of an ignore file."""
    rules = []
    for line in text.splitlines():
        glob = line.strip()
        if not glob or glob.startswith("#"):
            continue
        takes_back = glob.startswith("!")
        glob = glob.removeprefix("!")
        body = glob.rstrip("/")
        if not body:
            continue
        segments = tuple(part for part in body.split("/") if part)
        anchored = "/" in body
        rules.append(Rule(segments if anchored else ("**", *segments), glob.endswith("/"), takes_back))
    return tuple(rules)


def is_ignored(rules: tuple[Rule, ...], path: str, *, folder: bool) -> bool:
    """Say whether the rules leave out this path itself; the caller asks for each folder above it."""
    ignored = False
    parts = path.split("/")
    for rule in rules:
        if (folder or not rule.folders_only) and ignored == rule.takes_back and _matches(rule.segments, parts):
            ignored = not rule.takes_back
    return ignored


def _matches(glob: tuple[str, ...], parts: list[str]) -> bool:
    """Walk the path with every place of the glob that may be reached, so that no glob costs more than its length."""
    places = _with_empty(glob, {0})
    for part in parts:
        after = set()
        for place in places:
            if place == len(glob):
                continue
            if glob[place] == "**":
                after.add(place)
                if place == len(glob) - 1:
                    after.add(len(glob))
            elif fnmatchcase(part, glob[place]):
                after.add(place + 1)
        places = _with_empty(glob, after)
    return len(glob) in places


def _with_empty(glob: tuple[str, ...], places: set[int]) -> set[int]:
    reached = set(places)
    for place in sorted(places):
        after = place
        # ``**`` at the end stands for what is inside a folder, not for the folder.
        while after < len(glob) - 1 and glob[after] == "**":
            after += 1
            reached.add(after)
    return reached
