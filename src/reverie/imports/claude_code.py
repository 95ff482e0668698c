"""Conversations of Claude Code: ``projects/<project>/<session>.jsonl``, one JSON object a line.

What the user typed is a line of type ``user`` with a text; tool results come as lines of the same type with
``tool_result`` blocks. Lines marked as meta, as a summary or as a sub-agent's (``isSidechain``) were written by the
program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from reverie.core.errors import ImportRefused
from reverie.core.provenance import Role
from reverie.core.text import collapse, cut
from reverie.core.types import SessionKind
from reverie.imports.arrival import Account, Arrivals, take_in
from reverie.imports.report import TranscriptReport
from reverie.imports.speech import Said, Talk, foreign_of, numbered
from reverie.sessions.lines import read_lines
from reverie.sessions.messages import moment
from reverie.workspace.reading import reason_of

SOURCE = "claude-code"
#: Texts that the program puts in the user's place, each whole in one of these elements.
_PROGRAM = re.compile(
    r"\s*(?:<(command-name|command-message|command-args|local-command-stdout|local-command-stderr|local-command-caveat"
    r"|system-reminder|task-notification|bash-stdout|bash-stderr)>.*?</\1>\s*)+",
    re.DOTALL,
)
_TITLE_CHARS = 80


def import_claude_code(
    arrivals: Arrivals, path: Path, *, mine: bool = False, dry_run: bool = False
) -> TranscriptReport:
    """Import the conversations below a folder (``~/.claude``, its ``projects``, one project), or of one file.

    Raises:
        ImportRefused: there are none.
    """
    account = Account()
    files = _files(path, account)
    if not files:
        raise ImportRefused(
            "There is no conversation of Claude Code here", path=str(path), hint="give ~/.claude, or a project in it"
        )
    talks = (talk for file in files if (talk := _talk(file, account)) is not None)
    found = (foreign_of(talk, source=SOURCE, agent=arrivals.agent, mine=mine) for talk in talks)
    return take_in(arrivals, SOURCE, found, account, mine=mine, dry_run=dry_run)


def _files(path: Path, account: Account) -> list[Path]:
    if not path.is_dir():
        return [path] if path.is_file() and path.suffix == ".jsonl" else []
    root = path / "projects" if (path / "projects").is_dir() else path
    found = sorted({*root.glob("*.jsonl"), *root.glob("*/*.jsonl")})
    agents = [file for file in found if file.name.startswith("agent-")]
    if agents:
        account.notices.append(f"{len(agents)} transcripts of sub-agents were left out: nobody spoke in them")
    return [file for file in found if file.is_file() and not file.is_symlink() and file not in agents]


def _talk(file: Path, account: Account) -> Talk | None:
    """Look through a file once for what is to be known of the whole."""
    begun: datetime | None = None
    title, prompt, cwd, bad, said, driven = "", "", "", 0, 0, False
    try:
        for data in _lines(file):
            if data is None:
                bad += 1
                continue
            if data.get("type") in ("summary", "ai-title", "custom-title"):
                title = str(data.get("customTitle") or data.get("aiTitle") or data.get("summary") or title)
            at = moment(data.get("timestamp"))
            begun = min((one for one in (begun, at) if one is not None), default=None)
            cwd = cwd or str(data.get("cwd") or "")
            driven = driven or str(data.get("entrypoint") or "").startswith("sdk")
            for each in _said_in(data):
                said += each.role is not Role.TOOL
                prompt = prompt or (each.text if each.role is Role.USER else "")
    except OSError as error:
        account.skip(file.name, reason_of(error))
        return None
    if bad:
        account.notices.append(f"{file.name}: {bad} lines cannot be read and were left out")
    if not said or begun is None:
        account.skip(file.name, "nothing was said in it")
        return None
    return Talk(
        ident=file.stem,
        begun=begun,
        said=lambda: numbered(_said(file)),
        title=cut(collapse(title or prompt), _TITLE_CHARS),
        cwd=cwd,
        # Driven by another program, nobody knows whether a person wrote the prompts.
        kind=SessionKind.UNKNOWN if driven else SessionKind.INTERACTIVE,
        origin=str(file),
    )


def _said(file: Path) -> Iterator[Said]:
    """Yield what was said, each result with the name of its tool, which only its call has."""
    tools: dict[str, str] = {}
    for data in _lines(file):
        for each in _said_in(data) if data is not None else ():
            tools |= {call: name for call, name, _ in each.calls}
            yield replace(each, tool=tools.get(each.call, "tool")) if each.role is Role.TOOL else each


def _lines(file: Path) -> Iterator[dict[str, Any] | None]:
    """Yield each line as an object; ``None`` for one that is none, but not for a last line still in the writing."""
    with closing(read_lines(file)) as lines:
        for line in lines:
            if line.data is not None or line.ended:
                yield line.data


def _said_in(data: Mapping[str, Any]) -> Iterator[Said]:
    """Yield what a line says: nothing, a text, or a text and results of tools."""
    kind, body = data.get("type"), data.get("message")
    if kind not in ("user", "assistant") or not isinstance(body, Mapping) or data.get("isSidechain"):
        return
    if data.get("isMeta") or data.get("isCompactSummary") or data.get("isVisibleInTranscriptOnly"):
        return
    at, name = moment(data.get("timestamp")), str(data.get("uuid") or "")
    content = body.get("content")
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    blocks = [block for block in blocks if isinstance(block, Mapping)] if isinstance(blocks, list) else []
    texts = [block["text"] for block in blocks if block.get("type") == "text" and isinstance(block.get("text"), str)]
    if kind == "assistant":
        calls = tuple(
            (str(block.get("id") or ""), str(block.get("name") or "tool"), _object(block.get("input")))
            for block in blocks
            if block.get("type") == "tool_use"
        )
        if texts or calls:
            yield Said(name, Role.ASSISTANT, "\n".join(texts), at, model=str(body.get("model") or ""), calls=calls)
        return
    for number, block in enumerate(block for block in blocks if block.get("type") == "tool_result"):
        call = str(block.get("tool_use_id") or "")
        failed = block.get("is_error") is True
        given = _words(block.get("content"))
        yield Said(f"{name}#{number}" if name else "", Role.TOOL, given, at, call=call, failed=failed)
    text = "\n".join(each for each in texts if not _PROGRAM.fullmatch(each)).strip()
    if text:
        yield Said(name, Role.USER, text, at)


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _words(content: object) -> str:
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    return "\n".join(str(block["text"]) for block in blocks if isinstance(block, Mapping) and "text" in block)
