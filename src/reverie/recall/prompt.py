"""What enters a prompt by itself: the bootstrap of one session, within budgets, with a trace of all that was left out.

Only instruction files and curated entries are considered, and of those only what was born trusted (invariants I2 and
I4). A private file never enters a chat that others can read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from reverie.core.provenance import is_trusted
from reverie.core.types import ChatType, Provenance, SessionKind

#: Budgets of OpenClaw 2026.9.6, in characters.
FILE_CHARS = 20_000
TOTAL_CHARS = 60_000
USER_CHARS = 4_000
#: What MEMORY.md may come to by our hand; a person may write more, which is then cut with a notice.
MEMORY_CHARS = 10_000
#: A file is left out when less than this remains of the total.
LEAST_CHARS = 64

INSTRUCTIONS = ("AGENTS.md", "SOUL.md", "IDENTITY.md")
CURATED = ("USER.md", "MEMORY.md")
#: The order in which files stand in the prompt.
ORDER = ("AGENTS.md", "SOUL.md", "IDENTITY.md", "USER.md", "TOOLS.md", "BOOTSTRAP.md", "MEMORY.md")
_REQUIRED = frozenset({"AGENTS.md"})
#: A line ends at a line feed and nowhere else, as editors count and as provenance is kept.
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, slots=True)
class TraceLine:
    """One decision about one source: what it was, whether it entered, why, and how many characters of it."""

    source: str
    entered: bool
    reason: str
    raw_chars: int = 0
    used_chars: int = 0


@dataclass(frozen=True, slots=True)
class Prompt:
    """The block for one turn. ``system`` goes into the system prompt, ``hidden`` beside the user's message.

    ``trace`` has a line for everything that entered and everything that was refused.
    """

    system: str
    hidden: str
    trace: tuple[TraceLine, ...]


@dataclass(frozen=True, slots=True)
class BootstrapFile:
    """A file as it stands: its text (``None`` if absent) and one provenance per line."""

    name: str
    text: str | None
    lines: Sequence[Provenance] = ()


@dataclass(frozen=True, slots=True)
class Budgets:
    """Characters for one file and for all; ``user`` bounds USER.md and may only be lowered."""

    file: int = FILE_CHARS
    total: int = TOTAL_CHARS
    user: int = USER_CHARS


def is_private(kind: SessionKind, chat: ChatType, *, owner: bool = True) -> bool:
    """Say whether nobody but the owner reads along: the owner's own turn in a direct or explicit chat.

    An unknown kind or chat counts as the least private there is.
    """
    return owner and kind is SessionKind.INTERACTIVE and chat in (ChatType.DIRECT, ChatType.EXPLICIT)


def files_for(kind: SessionKind, chat: ChatType, *, owner: bool = True) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return ``(refused, kept)``: the files that this turn may see in prompt order, and why others may not.

    Curated files are the owner's: they enter the owner's private chats, and neither a group nor somebody else's
    direct chat.
    """
    if kind is SessionKind.SUBAGENT:
        return {name: "a sub-agent sees AGENTS.md only" for name in ORDER if name != "AGENTS.md"}, ("AGENTS.md",)
    if is_private(kind, chat, owner=owner):
        return {}, ORDER
    whose = "" if owner else ", of somebody else than the owner"
    reason = f"curated memory enters private chats only (this is {kind.value}, {chat.value}{whose})"
    refused = dict.fromkeys(CURATED, reason)
    return refused, tuple(name for name in ORDER if name not in CURATED)


def bootstrap(
    kind: SessionKind,
    chat: ChatType,
    read: Callable[[str], BootstrapFile],
    budgets: Budgets | None = None,
    *,
    owner: bool = True,
) -> Prompt:
    """Build the bootstrap of a session.

    Args:
        kind: the kind of session.
        chat: who can read the conversation.
        read: gives a file of the workspace with the provenance of each line.
        budgets: the limits; the defaults are those of the reference.
        owner: whether the owner opened the turn.

    Returns:
        A prompt whose ``system`` part holds the files under ``# Project Context``; ``hidden`` is empty.
    """
    limits = budgets or Budgets()
    refused, kept = files_for(kind, chat, owner=owner)
    trace = [TraceLine(name, False, reason) for name, reason in refused.items()]
    parts: list[str] = []
    left = limits.total
    for name in kept:
        file = read(name)
        body, line = _file_block(file, min(limits.file, left), limits)
        trace.append(line)
        if body:
            parts.append(body)
            left -= len(body)
    system = "# Project Context\n\n" + "\n\n".join(parts) + "\n" if parts else ""
    return Prompt(system, "", tuple(trace))


def _file_block(file: BootstrapFile, room: int, limits: Budgets) -> tuple[str, TraceLine]:
    """Return the text of one file as it enters, or nothing and the reason."""
    if file.text is None:
        if file.name in _REQUIRED:
            return f"[MISSING] Expected at: {file.name}", TraceLine(file.name, True, "the file is missing, said so")
        return "", TraceLine(file.name, False, "the file is not there")
    raw = len(file.text)
    text, withheld = _eligible(file)
    if not text.strip():
        reason = f"{withheld} lines are not trusted" if withheld else "the file is empty"
        return "", TraceLine(file.name, False, reason, raw)
    heading = f"## {file.name}\n\n"
    budget = min(room, limits.user if file.name == "USER.md" else room) - len(heading)
    if budget < LEAST_CHARS:
        return "", TraceLine(file.name, False, "the budget of the prompt is used up", raw)
    body, cut = truncate(text, budget, file.name)
    reasons = ["eligible"]
    if withheld:
        reasons.append(f"{withheld} untrusted lines left out")
    if cut:
        reasons.append(f"{cut} characters cut")
    return heading + body, TraceLine(file.name, True, "; ".join(reasons), raw, len(body))


def _eligible(file: BootstrapFile) -> tuple[str, int]:
    """Return the text of a curated file without its untrusted lines, and how many those are."""
    text = file.text or ""
    if file.name not in CURATED:
        return text, 0
    lines = _LINE.findall(text)
    if len(file.lines) != len(lines):
        # What cannot be judged is not injected.
        return "", len(lines)
    trusted = [line for line, born in zip(lines, file.lines, strict=True) if is_trusted(born.origin)]
    return "".join(trusted), len(lines) - len(trusted)


def truncate(text: str, limit: int, name: str) -> tuple[str, int]:
    """Cut a text to ``limit`` characters: three quarters from its head, one from its tail, a marker line between.

    Returns the text and how many characters were cut. The marker says so to the model and to whoever reads the
    prompt (list A, BOOT-01); the file on disk is untouched.
    """
    text = text.strip("\n")
    if len(text) <= limit:
        return text, 0
    marker = f"\n[… {name} was cut here to fit {limit} characters; search memory for the rest …]\n"
    room = max(0, limit - len(marker))
    head, tail = room * 3 // 4, room - room * 3 // 4
    return text[:head] + marker + text[len(text) - tail :], len(text) - room
