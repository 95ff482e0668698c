"""What happens while a configuration is read: problems are collected, and variables of the environment put in."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Path = tuple[str, ...]

#: What ``Kind.read`` returns after it noted an error; ``None`` can be a value ("off").
INVALID: Any = object()

#: What a secret is shown as.
MASK = "***"

_VARIABLE = re.compile(r"\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}")
_SECRET_NAME = re.compile(r"(?i)api[_-]?key|token$|secret|passw|credential|authorization|private[_-]?key")


class FromEnv(str):
    """A text in which ``${NAME}`` was replaced. It may be a secret, so it is never shown; ``raw`` may be."""

    raw: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about one key of the configuration.

    ``line`` is 1-based, where it is known; ``error`` says that the configuration cannot be used, otherwise the key is
    ignored or read in another place.
    """

    key: str
    message: str
    line: int | None = None
    error: bool = False
    source: str = ""
    hint: str = ""

    def __str__(self) -> str:
        """Return the problem on one line."""
        place = (
            f"{self.source}:{self.line}: " if self.source and self.line else f"{self.source}: " if self.source else ""
        )
        return f"{place}{self.key}: {self.message}" if self.key else f"{place}{self.message}"


@dataclass(slots=True)
class Reading:
    """What is collected while a tree is read. ``env`` is ``None`` where ``${NAME}`` is not allowed."""

    env: Mapping[str, str] | None
    source: str = ""
    locate: Callable[[Path], int | None] = field(default=lambda path: None)
    problems: list[Problem] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def report(self, path: Path, message: str, *, error: bool = False, hint: str = "") -> None:
        """Note a problem at a key."""
        self.problems.append(Problem(dotted(path), message, self.locate(path), error, self.source, hint))

    def substitute(self, text: str, path: Path) -> str | None:
        """Return ``text`` with ``${NAME}`` replaced (``$${NAME}`` stands for itself); ``None`` if that failed."""
        if "${" not in text:
            return text
        missing: list[str] = []
        used = False

        def value(match: re.Match[str]) -> str:
            nonlocal used
            if match[1]:
                return match[0][1:]
            used = True
            found = (self.env or {}).get(match[2], "")
            if not found:
                missing.append(match[2])
            return found

        replaced = _VARIABLE.sub(value, text)
        if used and self.env is None:
            self.report(path, "environment variables cannot be used here", error=True)
            return None
        if missing:
            self.report(path, f"the environment variable {missing[0]} is not set", error=True, hint=f"set {missing[0]}")
            return None
        if not used:
            return replaced
        marked = FromEnv(replaced)
        marked.raw = text
        return marked


def dotted(path: Path) -> str:
    """Return a path as one text; a segment with a dot or a bracket in it is quoted."""
    parts = [f'["{part}"]' if re.search(r'[.\["]', part) or not part else f".{part}" for part in path]
    return "".join(parts).removeprefix(".")


def is_unset(value: object) -> bool:
    """Say whether a value means "not set": ``null``, or a text of nothing but blanks (list A, SIL-05)."""
    return value is None or (isinstance(value, str) and not value.strip())


def secret_name(name: str) -> bool:
    """Say whether a key of this name is likely to hold a secret."""
    return _SECRET_NAME.search(name) is not None
