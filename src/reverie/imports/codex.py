"""Conversations of Codex: ``sessions/<year>/<month>/<day>/rollout-*.jsonl``, one JSON object a line.

Newer files wrap each line (``timestamp``, ``type``, ``payload``), older ones hold the bare items. What the user typed
stands in events; the items beside them are what the model was shown, the program's own texts included. Only where a
file has no such events are the items taken, without those that the program wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from reverie.core.clock import parse_moment
from reverie.core.errors import ImportRefused
from reverie.core.provenance import Role
from reverie.core.text import collapse, cut
from reverie.core.types import SessionKind
from reverie.imports.arrival import Account, Arrivals, take_in
from reverie.imports.report import TranscriptReport
from reverie.imports.speech import Said, Talk, foreign_of, numbered
from reverie.sessions.lines import parsed, read_lines
from reverie.sessions.messages import moment
from reverie.workspace.reading import reason_of

SOURCE = "codex"
_NAME = re.compile(r"rollout-(\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d)-(.+)\.jsonl")
#: Texts that the program puts in the user's place, each whole in one element or under one heading.
_PROGRAM = re.compile(
    r"\s*(?:<(user_instructions|environment_context|turn_aborted|skill|permissions instructions|user_shell_command)>"
    r".*</\1>|# AGENTS\.md instructions for .*<INSTRUCTIONS>.*</INSTRUCTIONS>)\s*",
    re.DOTALL,
)
_TITLE_CHARS = 80
#: Ways to start the program at which a person sits.
_BY_HAND = frozenset({"cli", "vscode", ""})


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is known of a whole file."""

    ident: str
    begun: datetime
    cwd: str
    title: str
    kind: SessionKind
    events: bool


def import_codex(arrivals: Arrivals, path: Path, *, mine: bool = False, dry_run: bool = False) -> TranscriptReport:
    """Import the conversations below a folder (``~/.codex``, its ``sessions``), or of one file.

    Raises:
        ImportRefused: there are none.
    """
    account = Account()
    files = _files(path)
    if not files:
        raise ImportRefused("There is no conversation of Codex here", path=str(path), hint="give ~/.codex")
    talks = (talk for file in files if (talk := _talk(file, account)) is not None)
    found = (foreign_of(talk, source=SOURCE, agent=arrivals.agent, mine=mine) for talk in talks)
    return take_in(arrivals, SOURCE, found, account, mine=mine, dry_run=dry_run)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path] if path.is_file() and path.suffix == ".jsonl" else []
    roots = [root for name in ("sessions", "archived_sessions") if (root := path / name).is_dir()] or [path]
    found = {file for root in roots for file in root.rglob("rollout-*.jsonl")}
    return sorted((file for file in found if file.is_file() and not file.is_symlink()), key=lambda file: file.name)


def _talk(file: Path, account: Account) -> Talk | None:
    try:
        facts = _facts(file, account)
    except OSError as error:
        account.skip(file.name, reason_of(error))
        return None
    if facts is None:
        return None
    return Talk(
        ident=facts.ident,
        begun=facts.begun,
        said=lambda: numbered(_said(file, events=facts.events)),
        title=facts.title,
        cwd=facts.cwd,
        kind=facts.kind,
        origin=str(file),
    )


def _facts(file: Path, account: Account) -> _Facts | None:
    """Look through a file once; say what is left out of it, or why all of it is."""
    named = _NAME.fullmatch(file.name)
    begun = parse_moment(f"{named[1]}T{named[2]}:{named[3]}:{named[4]}") if named else None
    ident, cwd, started, bad, events = named[5] if named else file.stem, "", "", 0, False
    for at, kind, payload in _items(file):
        if kind == "unreadable":
            bad += 1
        elif kind == "session_meta":
            ident, cwd = str(payload.get("id") or ident), str(payload.get("cwd") or cwd)
            begun = moment(payload.get("timestamp")) or at or begun
            origin = payload.get("source")
            started = "subagent" if isinstance(origin, Mapping) else str(origin or "").lower()
        events = events or (kind == "event_msg" and payload.get("type") == "user_message")
        begun = begun or at
    if started == "subagent":
        account.skip(file.name, "the session of a sub-agent, in which nobody spoke")
        return None
    spoken = [each for each in _said(file, events=events) if each.role is not Role.TOOL]
    prompt = next((each.text for each in spoken if each.role is Role.USER), "")
    if bad:
        account.notices.append(f"{file.name}: {bad} lines cannot be read and were left out")
    if not spoken or begun is None:
        account.skip(file.name, "nothing was said in it")
        return None
    # Started by another program, nobody knows whether a person wrote the prompt.
    kind = SessionKind.INTERACTIVE if started in _BY_HAND else SessionKind.UNKNOWN
    return _Facts(ident, begun, cwd, cut(collapse(prompt), _TITLE_CHARS), kind, events)


def _items(file: Path) -> Iterator[tuple[datetime | None, str, Mapping[str, Any]]]:
    """Yield the lines as (moment, type, payload), whichever way they are wrapped."""
    with closing(read_lines(file)) as lines:
        for line in lines:
            data = line.data
            if data is None:
                if line.ended:
                    yield None, "unreadable", {}
                continue
            at, payload = moment(data.get("timestamp")), data.get("payload")
            if isinstance(payload, Mapping):
                yield at, str(data.get("type") or ""), payload
            elif "type" in data:
                yield at, "response_item", data
            elif "id" in data:
                yield at, "session_meta", data


def _said(file: Path, *, events: bool) -> Iterator[Said]:
    tools: dict[str, str] = {}
    for at, kind, payload in _items(file):
        word = payload.get("type")
        if kind == "event_msg" and word == "user_message":
            text = str(payload.get("message") or "").strip()
            # A kind is given where the program wrote the message in the user's place.
            if text and payload.get("kind") in (None, "", "plain"):
                yield Said("", Role.USER, text, at)
        elif kind == "response_item" and word == "message":
            yield from _message(payload, at, events=events)
        elif kind == "response_item" and isinstance(word, str) and word.endswith("_call"):
            call, name = str(payload.get("call_id") or payload.get("id") or ""), str(payload.get("name") or word)
            tools[call] = name
            yield Said("", Role.ASSISTANT, "", at, calls=((call, name, _arguments(payload)),))
            if word == "web_search_call":  # its result is shown to the model and kept nowhere
                yield Said("", Role.TOOL, "", at, tool=name, call=call)
        elif kind == "response_item" and isinstance(word, str) and word.endswith("_call_output"):
            call = str(payload.get("call_id") or "")
            yield Said("", Role.TOOL, _output(payload.get("output")), at, tool=tools.get(call, "tool"), call=call)


def _message(payload: Mapping[str, Any], at: datetime | None, *, events: bool) -> Iterator[Said]:
    content = payload.get("content")
    blocks = content if isinstance(content, list) else []
    texts = [str(block["text"]) for block in blocks if isinstance(block, Mapping) and block.get("text")]
    if payload.get("role") == "assistant" and texts:
        yield Said("", Role.ASSISTANT, "\n".join(texts), at)
    elif payload.get("role") == "user" and not events:
        text = "\n".join(each for each in texts if not _PROGRAM.fullmatch(each)).strip()
        if text:
            yield Said("", Role.USER, text, at)


def _arguments(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    given = payload.get("arguments", payload.get("input", payload.get("action")))
    if isinstance(given, str):
        found, _ = parsed(given.encode("utf-8", "backslashreplace"))
        return found if found is not None else {"input": given}
    return given if isinstance(given, Mapping) else {}


def _output(value: object) -> str:
    if isinstance(value, Mapping):
        value = value.get("content", "")
    if isinstance(value, list):
        return "\n".join(str(part.get("text", "")) for part in value if isinstance(part, Mapping))
    return value if isinstance(value, str) else ""
