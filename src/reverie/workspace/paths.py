"""Names in a workspace: which paths are memory, which are curated, which the system wrote. Pure; touches no file.

Paths are relative to the workspace and use ``/``. Names are compared exactly where a name gives trust (``MEMORY.md``),
and without regard to case where it takes trust away (``DREAMS.md``): a spelling must never raise a class.
"""

from __future__ import annotations

import re
from datetime import date

#: The curated files of the root, one entry a chunk, the only ones that may be injected by themselves (I4).
CURATED = ("MEMORY.md", "USER.md")
DIARY = "DREAMS.md"
#: The folder of the notes.
NOTES = "memory"
#: Globs of what is not to be indexed, in the root of the workspace.
IGNORE_FILE = ".reverieignore"

_PROFILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,127}")
_DEPENDENCIES = frozenset({"node_modules", "__pycache__"})


def daily_path(day: date) -> str:
    """Return the path of a day's note."""
    return f"{NOTES}/{day.isoformat()}.md"


def personal_path(profile: str) -> str | None:
    """Return the path of one person's user model, ``None`` if this is no profile id."""
    return f"users/{profile}/USER.md" if _PROFILE.fullmatch(profile) else None


def is_curated(path: str) -> bool:
    """Say whether a path is a curated file: the root files, or one person's ``users/<id>/USER.md``."""
    return path in CURATED or is_personal(path)


def is_personal(path: str) -> bool:
    """Say whether a path is one person's ``users/<id>/USER.md``, which no other person's prompt may see."""
    parts = path.split("/")
    return len(parts) == 3 and path == personal_path(parts[1])


def is_user_model(path: str) -> bool:
    """Say whether a path is a USER.md, whose entries are dated directives."""
    return path == "USER.md" or is_personal(path)


def is_note(path: str) -> bool:
    """Say whether a path is a Markdown file under ``memory/``."""
    parts = path.split("/")
    plain = all(part not in ("", ".", "..") for part in parts) and "\0" not in path
    return plain and len(parts) > 1 and parts[0] == NOTES and path.lower().endswith(".md")


def is_system(path: str) -> bool:
    """Say whether a path holds what dreaming writes for people."""
    folded = path.casefold()
    return folded == DIARY.casefold() or folded.startswith((f"{NOTES}/dreaming/", f"{NOTES}/.dreams/"))


def is_indexed(path: str) -> bool:
    """Say whether a path is searched: the curated root files and the notes."""
    return path in CURATED or is_note(path)


def is_memory_path(path: str) -> bool:
    """Say whether memory may read this path at all."""
    return path in (DIARY, DIARY.lower()) or is_curated(path) or is_note(path)


def is_hidden(name: str) -> bool:
    """Say whether a file or folder is never looked into: dot names and dependency folders."""
    return name.startswith(".") or name in _DEPENDENCIES
