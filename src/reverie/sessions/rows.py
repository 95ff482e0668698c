"""The rows of ``sessions.json``: what one says of its conversation, and how far it can be believed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from reverie.core.types import ChatType, SessionKind
from reverie.sessions.keys import SessionKey, parse_key
from reverie.sessions.messages import HOST_FIELD, epoch_ms, moment
from reverie.sessions.reading import header_at, is_session_id

_ANCESTORS = 32  # more links than that are a circle
#: Of what is known of a session and of those it was started from, the first of these that occurs is its kind.
_KINDS = (SessionKind.CRON, SessionKind.HEARTBEAT, SessionKind.UNKNOWN, SessionKind.SUBAGENT)

#: Fields that count within one transcript; a new one begins without them.
_COUNTERS = (
    *("inputTokens", "outputTokens", "totalTokens", "totalTokensFresh", "contextTokens", "cacheRead", "cacheWrite"),
    *("compactionCount", "compactionCheckpoints", "memoryFlushAt", "memoryFlushCompactionCount"),
    *("memoryFlushContextHash", "memoryFlushFailureCount", "memoryFlushLastFailedAt", "memoryFlushLastFailureError"),
)

Rows = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """A row: the conversation ``key`` goes on in the transcript ``file`` (a name inside the sessions folder).

    Times are aware UTC. ``kind`` and ``chat`` are the most that may be assumed. ``older`` are the ids of transcripts
    that this conversation had before. ``data`` is the row as it stands in the file.
    """

    key: str
    id: str
    file: str
    updated_at: datetime | None = None
    started_at: datetime | None = None
    last_interaction_at: datetime | None = None
    chat: ChatType = ChatType.UNKNOWN
    kind: SessionKind = SessionKind.UNKNOWN
    channel: str = ""
    label: str = ""
    parent: str = ""
    older: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)


def entry_in(rows: Rows, key: str, folder: Path, main_key: str) -> SessionEntry | None:
    """Return the row of a key as an entry; ``None`` if there is none, or it names no session."""
    row = rows.get(key)
    if not isinstance(row, dict) or not is_session_id(str(row.get("sessionId") or "")):
        return None
    parsed, session = parse_key(key, main_key=main_key), str(row["sessionId"])
    return SessionEntry(
        key=key,
        id=session,
        file=_file(row, session, folder),
        updated_at=moment(row.get("updatedAt")),
        started_at=moment(row.get("sessionStartedAt")),
        last_interaction_at=moment(row.get("lastInteractionAt")),
        chat=narrowed(parsed.chat, _chat(row.get("chatType"))),
        kind=kind_in(rows, parsed, main_key),
        channel=str(row.get("channel") or row.get("lastChannel") or parsed.channel or ""),
        label=str(row.get("label") or row.get("displayName") or ""),
        parent=str(row.get("spawnedBy") or row.get("parentSessionKey") or ""),
        older=strings_in(row, "usageFamilySessionIds"),
        data=row,
    )


def kind_in(rows: Rows, key: SessionKey, main_key: str) -> SessionKind:
    """Return what kind of session this is: by its key, its row, and the sessions that it was started from."""
    kinds: list[SessionKind] = []
    seen: set[str] = set()
    current: SessionKey | None = key
    while current is not None and current.text not in seen and len(seen) < _ANCESTORS:
        seen.add(current.text)
        row = rows.get(current.text)
        row = row if isinstance(row, dict) else {}
        kinds += [current.kind, *_kinds_said(row)]
        above = row.get("spawnedBy") or row.get("parentSessionKey")
        kinds += [SessionKind.SUBAGENT] if row.get("spawnedBy") else []
        current = parse_key(above, main_key=main_key) if isinstance(above, str) and above else None
    return next((kind for kind in _KINDS if kind in kinds), SessionKind.INTERACTIVE)


def remade(folder: Path) -> Rows:
    """Return rows made from the headers of the transcripts: for each key the one begun last."""
    rows: Rows = {}
    headers = [(path.name, header) for path in folder.glob("*.jsonl") if (header := header_at(path)) is not None]
    headers = [(name, header) for name, header in headers if header.key and header.at and is_session_id(header.id)]
    for name, header in sorted(headers, key=lambda one: (epoch_ms(one[1].at) if one[1].at else 0, one[0])):
        before = rows.get(header.key, {})
        older = [*strings_in(before, "usageFamilySessionIds"), *([before["sessionId"]] if before else [])]
        begun = epoch_ms(header.at) if header.at else 0
        rows[header.key] = {"sessionId": header.id, "sessionFile": name, "updatedAt": begun, "sessionStartedAt": begun}
        rows[header.key] |= {"usageFamilySessionIds": older} if older else {}
    return rows


def own_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of what Reverie alone keeps in a row."""
    own = row.get(HOST_FIELD)
    return dict(own) if isinstance(own, Mapping) else {}


def restarted(row: Rows) -> None:
    """Take out of a row what belongs to its last transcript: counters, and the state of flushes and of pruning."""
    for name in _COUNTERS:
        row.pop(name, None)
    own = own_fields(row)
    kept = {name: own[name] for name in ("kind",) if name in own}
    row.pop(HOST_FIELD, None)
    row |= {HOST_FIELD: kept} if kept else {}


def strings_in(row: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return the texts of a list in a row; empty if there is no such list."""
    found = row.get(name)
    return tuple(one for one in found if isinstance(one, str)) if isinstance(found, list) else ()


def narrowed(known: ChatType, said: ChatType | None) -> ChatType:
    """Return the chat type that shows less: a session that a group has read stays a group's."""
    if said is None or said is known:
        return known
    private = (ChatType.DIRECT, ChatType.EXPLICIT)
    if known in private and said in private:
        return known
    return said if known in private else known


def _file(row: Mapping[str, Any], session: str, folder: Path) -> str:
    """Return the name of the transcript in this folder; an absolute path of another place is not followed."""
    named = row.get("sessionFile")
    if isinstance(named, str) and named and "\0" not in named:
        path = Path(named)
        if path.is_absolute() and path.is_relative_to(folder):
            return path.relative_to(folder).as_posix()
        if not path.is_absolute() and ".." not in path.parts:
            return path.as_posix()
    return f"{session}.jsonl"


def _chat(word: object) -> ChatType | None:
    named = {"dm": "direct", "room": "channel"}.get(str(word), str(word))
    return next((chat for chat in ChatType if chat.value == named), None)


def _kinds_said(row: Mapping[str, Any]) -> list[SessionKind]:
    own = row.get(HOST_FIELD)
    said = own.get("kind") if isinstance(own, Mapping) else None
    return [next((kind for kind in SessionKind if kind.value == said), SessionKind.UNKNOWN)] if said is not None else []
