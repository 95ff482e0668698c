"""A conversation as text, for a model that summarises it and for extracts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reverie.core.redaction import redact
from reverie.core.text import cut
from reverie.sessions.messages import Message, MessageRole
from reverie.sessions.spoken import strip_private
from reverie.sessions.tree import Entry

_RESULT_CHARS = 600
_NAMES = {
    MessageRole.USER: "User",
    MessageRole.ASSISTANT: "Assistant",
    MessageRole.TOOL_RESULT: "Tool result",
    MessageRole.BASH: "Command",
    MessageRole.CUSTOM: "Note",
}
_READING = frozenset({"read", "memory_get"})
_CHANGING = frozenset({"write", "edit", "apply_patch"})
_PATHS = ("path", "file_path", "filePath", "relativePath")


@dataclass(frozen=True, slots=True)
class Files:
    """Which files a conversation read and changed, by its tool calls."""

    read: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()


def told(entries: Iterable[Entry]) -> tuple[str, ...]:
    """Return a conversation as paragraphs, one a message, secrets redacted and long tool results shortened."""
    return tuple(text for entry in entries if (text := told_one(entry)))


def told_one(entry: Entry, *, calls: bool = True) -> str:
    """Return one entry as a paragraph, empty if the model is not shown it; ``calls`` names the tools that it called."""
    message = entry.message
    if message is None:
        said = entry.data.get("summary") or entry.data.get("content")
        return f"Note: {redact(said)[0].strip()}" if isinstance(said, str) and entry.type != "custom" else ""
    if message.hidden or message.role not in _NAMES:
        return ""
    text = strip_private(message.text).text.strip()
    if message.role is MessageRole.BASH:
        text = f"{message.fields.get('command', '')}\n{message.fields.get('output', '')}".strip()
    if message.role in (MessageRole.TOOL_RESULT, MessageRole.BASH):
        text = cut(text, _RESULT_CHARS)
    named = [f"[called {call.data.get('name', 'a tool')}{_target(call.data)}]" for call in message.calls if calls]
    said = " ".join(part for part in (text, *named) if part)
    tool = f" of {message.tool}" if message.role is MessageRole.TOOL_RESULT and message.tool else ""
    return f"{_NAMES[message.role]}{tool}: {redact(said)[0]}" if said else ""


def _target(call: Mapping[str, object]) -> str:
    path = _path_in(call)
    return f" on {path}" if path else ""


def _path_in(call: Mapping[str, object]) -> str:
    given = call.get("arguments", call.get("input"))
    if not isinstance(given, Mapping):
        return ""
    return next((path for name in _PATHS if isinstance(path := given.get(name), str) and path), "")


def files_of(messages: Iterable[Message], before: Files) -> Files:
    """Return the files that tool calls read and changed, those known before first."""
    read, modified = dict.fromkeys(before.read), dict.fromkeys(before.modified)
    for message in messages:
        for call in message.calls:
            name, path = str(call.data.get("name") or "").lower(), _path_in(call.data)
            if path and name in _CHANGING:
                modified.setdefault(path)
            elif path and name in _READING:
                read.setdefault(path)
    return Files(tuple(path for path in read if path not in modified), tuple(modified))


def pieces(paragraphs: Sequence[str], limit: int) -> list[str]:
    """Return paragraphs joined into pieces of at most ``limit`` characters; a longer paragraph is divided."""
    found: list[str] = []
    current = ""
    for paragraph in paragraphs:
        for start in range(0, len(paragraph), limit):
            part = paragraph[start : start + limit]
            if current and len(current) + len(part) + 1 > limit:
                found.append(current)
                current = ""
            current += ("\n" if current else "") + part
    return [*found, current] if current else found
