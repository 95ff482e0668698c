"""A conversation over time: when it goes on in a new transcript, and what its owner can ask of it.

The rooms decide; this puts their decisions into effect. The end of a transcript is queued as soon as the next one has
begun; what a killed process left out is found from the rows.
"""

from __future__ import annotations

import logging
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime

from reverie import upkeep
from reverie.assembly import Parts
from reverie.core.errors import ReverieError, TranscriptError, UsageError, WriteConflict
from reverie.core.provenance import of_sender
from reverie.core.types import ChatType, Sender, SourceClass
from reverie.sessions.context import CompactionReport
from reverie.sessions.endnote import end_note, transcript_file
from reverie.sessions.keys import SessionKey
from reverie.sessions.lifecycle import (
    Activation,
    Command,
    CommandName,
    EndReason,
    Usage,
    command_in,
    freshness,
    policy_for,
    resets_by_itself,
)
from reverie.sessions.messages import epoch_ms
from reverie.sessions.reading import Reading, header_at
from reverie.sessions.rows import Rows, SessionEntry
from reverie.store.ends import SessionEnd

logger = logging.getLogger(__name__)

_SAME_MINUTE = 50  # notes about sessions that ended within one minute


@dataclass(frozen=True, slots=True)
class Rotation:
    """A conversation that goes on in a new transcript. ``note`` is the note about the old one, if one was written."""

    key: str
    ended: str
    begun: str
    reason: str
    why: str
    note: str = ""
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Opening:
    """What a message asks for before it is answered.

    ``text`` is what is left of it. ``handled`` is the answer to a message that was only a command, for which no model
    is to be called.
    """

    text: str
    rotation: Rotation | None = None
    handled: str = ""


# --- before a turn ---------------------------------------------------------------------------------------------


def opening(parts: Parts, key: str, text: str, sender: Sender) -> Opening:
    """Rotate a stale session, carry out a command of the owner, and return what is left to answer."""
    wanted = parts.sessions.key(key)
    session = parts.sessions.get(wanted)
    spoken = resets_by_itself(parts.sessions.kind_of(wanted), wanted)
    # A command changes what the owner's agent does; from anybody else it is an ordinary message.
    owner = of_sender(sender) is SourceClass.OWNER and spoken
    command = command_in(text, parts.whole.data.session.reset_triggers) if owner else None
    if command is not None and command.name is not CommandName.SOFT_RESET:
        return _commanded(parts, wanted, session, command)
    rotation = _refreshed(parts, wanted, session) if session is not None and spoken else None
    if command is not None:
        return Opening(command.rest, rotation, "" if command.rest else "The conversation goes on where it was.")
    return Opening(text, rotation)


def _commanded(parts: Parts, key: SessionKey, session: SessionEntry | None, command: Command) -> Opening:
    if command.name is CommandName.RESET:
        rotation = _rotated(parts, session, command.reason, "the owner asked for it") if session is not None else None
        return Opening(command.rest, rotation, "" if command.rest else "A new session has begun.")
    if command.name is CommandName.COMPACT:
        if session is None:
            return Opening("", None, "There is nothing to compact.")
        return Opening("", None, _told(upkeep.compact(parts, key.text, command.rest)))
    mode = next((one for one in Activation if one.value == command.rest.lower()), None)
    if mode is None:
        return Opening("", None, f"Say /activation {' or /activation '.join(Activation)}.")
    set_activation(parts, key.text, mode)
    return Opening("", None, f"Activation is now: {mode}.")


def _told(report: CompactionReport) -> str:
    if not report.done:
        return f"Nothing was compacted: {report.reason}."
    by = {"model": "a summary", "extract": "an extract"}.get(report.means, "a short extract")
    return f"Compacted to {by}: about {report.tokens_before:,} tokens became {report.tokens_after:,}."


def _refreshed(parts: Parts, key: SessionKey, session: SessionEntry) -> Rotation | None:
    """Rotate a session that is stale at this message."""
    policy = policy_for(parts.whole.data.session, key, chat=session.chat, channel=session.channel)
    used = Usage(session.started_at, None, session.updated_at, session.last_interaction_at)
    if session.started_at is None:
        used = replace(used, header_at=_header_time(parts, session))
    found = freshness(policy, used, parts.clock.now(), parts.clock.zone)
    if not found.stale or found.reason is None:
        return None
    return _rotated(parts, session, found.reason, found.why)


def _header_time(parts: Parts, session: SessionEntry) -> datetime | None:
    path = transcript_file(parts.sessions.folder, session.id)
    header = header_at(path) if path is not None else None
    return header.at if header is not None else None


# --- ends ------------------------------------------------------------------------------------------------------


def end(parts: Parts, key: str, reason: EndReason = EndReason.CLOSE) -> Rotation | None:
    """End the present transcript of a conversation and queue it; ``None`` if nothing was said in it.

    Raises:
        UsageError: there is no such session.
        TranscriptError, StoreError: it cannot be rotated or queued.
    """
    session = parts.sessions.get(key)
    if session is None:
        raise UsageError("There is no such session", key=str(key), hint="`reverie sessions list` shows them")
    return _rotated(parts, session, reason, "it was closed" if reason is EndReason.CLOSE else "the owner asked for it")


def ended(parts: Parts) -> list[SessionEnd]:
    """Return the ended transcripts that wait for ingestion, those included whose end nobody could queue (C9)."""
    gone = parts.durable.tombstones()
    missed = [(old, one.key) for one in parts.sessions.list() for old in one.older if old not in gone]
    parts.ends.queue_missed(missed)
    return [one for one in parts.ends.waiting() if one.session not in gone]


def _rotated(parts: Parts, session: SessionEntry, reason: EndReason, why: str) -> Rotation | None:
    """Go on in a new transcript. An empty one is not ended but used: it only begins now."""
    if not _has_words(parts, session):
        _begun_now(parts, session)
        return None
    following = parts.sessions.rotate(session.key, parts.clock, parts.ids, expected=session.id)
    parts.ends.queue(session.id, session.key, reason.value, next_session=following.id)
    note, notices = _noted(parts, session, reason)
    parts.engine.touched()
    return Rotation(session.key, session.id, following.id, reason.value, why, note, notices)


def _has_words(parts: Parts, session: SessionEntry) -> bool:
    """Say whether anything was said in a transcript; what cannot be read counts as words, so that it is told of."""
    path = transcript_file(parts.sessions.folder, session.id)
    if path is None:
        return True
    try:
        with closing(iter(Reading(path))) as entries:
            return any(entry.message is not None for entry in entries)
    except TranscriptError:
        return True


def _begun_now(parts: Parts, session: SessionEntry) -> None:
    now = epoch_ms(parts.clock.now())

    def begun(row: Rows) -> None:
        row["sessionStartedAt"] = now

    parts.sessions.update(session.key, begun)


def _noted(parts: Parts, session: SessionEntry, reason: EndReason) -> tuple[str, tuple[str, ...]]:
    """Write the note about an ended session, where the owner wants one; a failure must not hold up the next one."""
    hooks = parts.whole.data.hooks.internal
    wanted = hooks.entries.session_memory
    if not (hooks.enabled and wanted.enabled):
        return "", ()
    note = end_note(
        parts.sessions.folder,
        session.id,
        key=session.key,
        kind=session.kind,
        reason=reason.value,
        at=parts.clock.now(),
        zone=parts.clock.zone,
        messages=wanted.messages,
        marker=parts.marker,
        external_tools=parts.config.foreign_tools,
    )
    notices: tuple[str, ...] = (f"the note about {session.id} is empty: {note.fault}",) if note.fault else ()
    for number in range(1, _SAME_MINUTE):
        path = f"{note.name}{f'-{number}' if number > 1 else ''}.md"
        try:
            parts.writer.replace_file(path, note.text, None, note.provenance, tool="session-end", reason=reason.value)
        except WriteConflict:
            continue
        except ReverieError as error:
            notices += (f"no note about {session.id} was written: {error}",)
            path = ""
        break
    else:
        path = ""
    for notice in notices:
        logger.warning("%s", notice)
    return path, notices


# --- groups ----------------------------------------------------------------------------------------------------


def activation(parts: Parts, key: str) -> Activation:
    """Return which messages of a group are answered: as its row says, else those that mention the agent."""
    session = parts.sessions.get(key)
    said = session.data.get("groupActivation") if session is not None else None
    return next((one for one in Activation if one.value == said), Activation.MENTION)


def set_activation(parts: Parts, key: str, mode: Activation) -> None:
    """Set which messages of a group are answered."""
    session = parts.sessions.get_or_create(key, parts.clock, parts.ids)

    def chosen(row: Rows) -> None:
        row["groupActivation"] = mode.value

    parts.sessions.update(session.key, chosen)


def is_shared(parts: Parts, key: str) -> bool:
    """Say whether others than one person read along."""
    session = parts.sessions.get(key)
    chat = session.chat if session is not None else parts.sessions.key(key).chat
    return chat not in (ChatType.DIRECT, ChatType.EXPLICIT)
