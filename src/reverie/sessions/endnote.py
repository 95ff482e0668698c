"""The note that the end of a session leaves in the workspace, where the owner wants one: its last messages."""

from __future__ import annotations

from collections import deque
from collections.abc import Container
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from reverie.core.clock import as_utc
from reverie.core.errors import TranscriptError
from reverie.core.provenance import Role, merge
from reverie.core.text import collapse, cut
from reverie.core.types import Provenance, SessionKind, SourceClass
from reverie.sessions.capture import Captured, capture
from reverie.sessions.reading import Reading

_LINE_CHARS = 600
_NAMES = {Role.USER: "User", Role.ASSISTANT: "Assistant"}
UNAVAILABLE = "The transcript is not available, so nothing of it stands here."


@dataclass(frozen=True, slots=True)
class EndNote:
    """A note about an ended session, with so many messages of it; ``fault`` says why there are none."""

    name: str
    text: str
    provenance: Provenance
    messages: int = 0
    fault: str = ""


def transcript_file(folder: Path, session: str) -> Path | None:
    """Return the transcript of a session, also where a reset has renamed it; ``None`` if there is none."""
    live = folder / f"{session}.jsonl"
    aside = sorted(folder.glob(f"{session}.jsonl.reset.*"))
    return live if live.is_file() else aside[-1] if aside else None


def end_note(
    folder: Path,
    session: str,
    *,
    key: str,
    kind: SessionKind,
    reason: str,
    at: datetime,
    zone: str,
    messages: int,
    marker: str = "",
    external_tools: Container[str] = frozenset(),
) -> EndNote:
    """Return the note: what session this was, why it ended, and its last messages.

    Args:
        folder: the sessions folder.
        session: the id of the transcript that ended.
        key: the session's key.
        kind: the kind of the session.
        reason: why it ended.
        at: when.
        zone: the user's zone; the note's name and title are in it.
        messages: how many of the last messages it holds.
        marker: the nonce of this process's blocks of recalled memory.
        external_tools: tools whose results count as foreign when they declare nothing.
    """
    local = as_utc(at).astimezone(ZoneInfo(zone))
    head = [
        f"# Session: {local:%Y-%m-%d} {local:%H:%M} {zone}",
        "",
        f"- **Session Key**: {key}",
        f"- **Session ID**: {session}",
        f"- **Reason**: {reason}",
        "",
        "## Conversation Summary",
        "",
    ]
    found, fault = _last(folder, session, kind, messages, marker, external_tools)
    said = [f"{_NAMES.get(one.role, 'Note')}: {cut(collapse(one.text), _LINE_CHARS)}" for one in found]
    born = merge([one.provenance for one in found]) if found else Provenance(SourceClass.AGENT, kind, at, session)
    text = "\n".join([*head, *(said or [f"{UNAVAILABLE} ({fault})"])]) + "\n"
    return EndNote(f"memory/{local:%Y-%m-%d}-{local:%H%M}", text, born, len(said), fault)


def _last(
    folder: Path, session: str, kind: SessionKind, count: int, marker: str, external_tools: Container[str]
) -> tuple[list[Captured], str]:
    path = transcript_file(folder, session)
    if path is None:
        return [], "there is no such file"
    last: deque[Captured] = deque(maxlen=count)
    try:
        with closing(iter(Reading(path))) as entries:
            walk = capture(entries, kind=kind, session=session, marker=marker, external_tools=external_tools)
            last.extend(one for one in walk if isinstance(one, Captured))
    except TranscriptError as error:
        return [], str(error.fields.get("reason") or error.message)
    return list(last), "" if last else "nobody said anything in it"
