"""Conversations of ChatGPT, from the archive that its data export sends: ``conversations.json`` in a ZIP file.

A conversation is a tree of messages; what is shown of it, and taken here, is the path to ``current_node``. The file is
one list that can be very large, so it is read one conversation at a time.
"""

from __future__ import annotations

import io
import json
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from reverie.core.errors import ImportRefused
from reverie.core.provenance import Role
from reverie.core.text import collapse, cut
from reverie.imports.arrival import Account, Arrivals, take_in
from reverie.imports.report import TranscriptReport
from reverie.imports.speech import Said, Talk, foreign_of
from reverie.sessions.messages import moment
from reverie.workspace.reading import reason_of

SOURCE = "chatgpt"
_NAME = re.compile(r"(?:.*/)?conversations(?:[-_]?\d+)?\.json", re.IGNORECASE)
_BLOCK = 1 << 20
#: A conversation of more characters than this is taken for damage.
_LARGEST = 256 << 20
_TITLE_CHARS = 80
#: What a file raises that breaks off, is no JSON, is nested too deep, is locked by a password, or does not unpack.
_DAMAGE = (ValueError, OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error, lzma.LZMAError)
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}
#: Contents that are settings or thoughts and were never said.
_UNSAID = frozenset({"user_editable_context", "model_editable_context", "thoughts", "reasoning_recap", "system_error"})


def import_chatgpt(arrivals: Arrivals, path: Path, *, mine: bool = False, dry_run: bool = False) -> TranscriptReport:
    """Import the conversations of an export: the ZIP file, the folder it was unpacked to, or ``conversations.json``.

    Raises:
        ImportRefused: there are none, or the file is damaged before the first of them.
    """
    account = Account()
    talks = (talk for raw in _conversations(path, account) if (talk := _talk(raw, str(path), account)) is not None)
    found = (foreign_of(talk, source=SOURCE, agent=arrivals.agent, mine=mine) for talk in talks)
    return take_in(arrivals, SOURCE, found, account, mine=mine, dry_run=dry_run)


# --- the file ---------------------------------------------------------------------------------------------------


def _conversations(path: Path, account: Account) -> Iterator[Mapping[str, Any]]:
    """Yield the raw conversations of every file of the export."""
    with _opened(path) as parts:
        names = list(parts)
        if not names:
            raise ImportRefused(
                "There is no conversations.json here", path=str(path), hint="give the ZIP file of the data export"
            )
        for name in names:
            try:
                with parts[name]() as stream:
                    yield from _elements(stream)
            except _DAMAGE as error:
                account.skip(name, f"it is damaged from here on: {_why(error)}")


@contextmanager
def _opened(path: Path) -> Iterator[dict[str, Any]]:
    """Give the parts of an export by name, each as a function that opens its text."""
    if path.is_dir():
        found = sorted(file for file in path.rglob("*.json") if _NAME.fullmatch(file.name) and not file.is_symlink())
        yield {file.name: (lambda file=file: file.open(encoding="utf-8-sig")) for file in found}
        return
    if not path.is_file():
        yield {}
        return
    if not zipfile.is_zipfile(path):
        yield {path.name: lambda: path.open(encoding="utf-8-sig")}
        return
    try:
        archive = zipfile.ZipFile(path)
    except _DAMAGE as error:
        raise ImportRefused("The ZIP file is damaged", path=str(path), reason=_why(error)) from error
    with archive:
        names = sorted(name for name in archive.namelist() if _NAME.fullmatch(name))
        yield {name: (lambda name=name: io.TextIOWrapper(archive.open(name), encoding="utf-8-sig")) for name in names}


def _elements(stream: IO[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the elements of a JSON list as they come; only one is held at a time.

    Raises:
        ValueError: this is no list of objects, or it breaks off.
    """
    decoder, text, at, ended, begun = json.JSONDecoder(), "", 0, False, False
    wanted = _BLOCK
    while True:
        at = _past(text, at, " \t\r\n," if begun else " \t\r\n")
        if at < len(text) and not begun:
            if text[at] != "[":
                raise ValueError("this is no list of conversations")
            at, begun = at + 1, True
            continue
        if at < len(text):
            if text[at] == "]":
                return
            try:
                value, at = decoder.raw_decode(text, at)
            except json.JSONDecodeError:
                if ended or len(text) - at > _LARGEST:
                    raise
            else:
                wanted = _BLOCK
                if isinstance(value, Mapping):
                    yield value
                continue
        if ended:
            raise ValueError("it breaks off")
        more = stream.read(wanted)
        ended = not more
        # Twice as much each time, so that a large conversation is not tried too often.
        text, at, wanted = text[at:] + more, 0, wanted * 2


def _past(text: str, at: int, blanks: str) -> int:
    while at < len(text) and text[at] in blanks:
        at += 1
    return at


def _why(error: Exception) -> str:
    return reason_of(error) if isinstance(error, OSError) else str(error) or type(error).__name__


# --- a conversation ---------------------------------------------------------------------------------------------


def _talk(raw: Mapping[str, Any], origin: str, account: Account) -> Talk | None:
    ident = str(raw.get("conversation_id") or raw.get("id") or "")
    title = cut(collapse(str(raw.get("title") or "")), _TITLE_CHARS)
    nodes = raw.get("mapping")
    if not ident or not isinstance(nodes, Mapping):
        account.skip(title or ident or "a conversation", "it has no id or no messages")
        return None
    said = tuple(each for name, message in _path(raw, nodes) if (each := _said(name, message)) is not None)
    begun = moment(raw.get("create_time")) or next((each.at for each in said if each.at is not None), None)
    if begun is None or not any(each.role is not Role.TOOL for each in said):
        account.skip(title or ident, "nothing was said in it")
        return None
    return Talk(ident, begun, lambda: said, title=title, origin=origin)


def _path(raw: Mapping[str, Any], nodes: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the messages from the first to the current one."""
    found: list[tuple[str, Mapping[str, Any]]] = []
    name, seen = raw.get("current_node"), set()
    if not isinstance(name, str) or name not in nodes:
        name = _last(nodes)
    while isinstance(name, str) and name in nodes and name not in seen:
        seen.add(name)
        node = nodes[name]
        if not isinstance(node, Mapping):
            break
        message = node.get("message")
        if isinstance(message, Mapping):
            found.append((name, message))
        name = node.get("parent")
    return found[::-1]


def _last(nodes: Mapping[str, Any]) -> str | None:
    """Return the leaf that was said last, for exports that do not say which node is current."""
    leaves = [
        (str(name), node)
        for name, node in nodes.items()
        if isinstance(node, Mapping) and not node.get("children") and isinstance(node.get("message"), Mapping)
    ]
    return max(leaves, key=lambda leaf: (_seconds(leaf[1]["message"].get("create_time")), leaf[0]), default=("", {}))[0]


def _seconds(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


def _said(name: str, message: Mapping[str, Any]) -> Said | None:
    """Return what a message says; ``None`` for settings, thoughts and what was never shown."""
    author, content, about = message.get("author"), message.get("content"), message.get("metadata")
    author = author if isinstance(author, Mapping) else {}
    about = about if isinstance(about, Mapping) else {}
    role = _ROLES.get(str(author.get("role")))
    if role is None or not isinstance(content, Mapping) or str(content.get("content_type")) in _UNSAID:
        return None
    if role is not Role.TOOL and about.get("is_visually_hidden_from_conversation") is True:
        return None
    at, text = moment(message.get("create_time")), _words(content).strip()
    if role is Role.TOOL:
        return Said(name, role, text, at, tool=str(author.get("name") or "tool"))
    recipient = str(message.get("recipient") or "all")
    if role is Role.ASSISTANT and recipient != "all":
        return Said(name, role, "", at, calls=((name, recipient, {"input": text}),))
    model = str(about.get("model_slug") or "")
    return Said(name, role, text, at, model=model) if text else None


def _words(content: Mapping[str, Any]) -> str:
    parts = content.get("parts")
    if not isinstance(parts, list):
        text = content.get("text", content.get("result"))
        return text if isinstance(text, str) else ""
    texts = []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping) and part.get("content_type") == "audio_transcription":
            texts.append(str(part.get("text") or ""))
    return "\n".join(text for text in texts if text)
