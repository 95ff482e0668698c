"""The write side of a turn: what was said goes into the transcript with its provenance, set here and nowhere else.

A turn begins with a user message. What the assistant says in it has the class of that message, or is untrusted from
the first tool result on that brought in foreign content. Nothing of this is kept in memory alone: another process that
goes on with the session reads it from the end of the transcript.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from reverie.core.errors import StoreError, TranscriptError, UsageError
from reverie.core.provenance import ContentSource, Role, least, of_message, taints
from reverie.core.types import ChatType, Clock, Ids, Sender, SessionKind, SourceClass
from reverie.sessions.capture import brings_in, user_class
from reverie.sessions.directory import SessionDirectory
from reverie.sessions.keys import SessionKey
from reverie.sessions.messages import Block, Message, MessageRole, Stamp, is_tainted
from reverie.sessions.rows import SessionEntry
from reverie.sessions.transcript import FsyncPolicy, Transcript

logger = logging.getLogger(__name__)

#: Called with a session and a message of it that was just recorded.
Told = Callable[[SessionEntry, Message], object]

#: Entries that are searched backwards for the message that opened the turn; beyond that the turn counts as tainted.
_SEARCHED = 512


@dataclass(frozen=True, slots=True)
class TurnState:
    """What the end of a transcript says of the turn that is going on there."""

    origin: SourceClass = SourceClass.UNTRUSTED
    tainted: bool = True
    sender: Sender | None = None


def turn_state(transcript: Transcript, external_tools: Container[str] = frozenset()) -> TurnState:
    """Return the state of the turn that a transcript ends in; the least that can be said if its beginning is not found.

    Raises:
        TranscriptError: the transcript cannot be read.
    """
    tainted = False
    try:
        for entry in islice(transcript.latest(), _SEARCHED):
            message = entry.message
            if message is None:
                continue
            if message.role is MessageRole.USER:
                sender = message.stamp.sender if message.stamp is not None else None
                return TurnState(user_class(message), tainted, sender)
            tainted = tainted or is_tainted(message) or brings_in(message, external_tools)
    except OSError as error:
        raise TranscriptError("The transcript cannot be read", path=str(transcript.path)) from error
    return TurnState()


class TurnRecorder:
    """Opens turns of one agent. It keeps no sender and no session: those are of the turn (ISO-08).

    Args:
        directory: the agent's conversations.
        external_tools: tools whose results count as foreign when they declare nothing.
        fsync: see :class:`~reverie.sessions.transcript.FsyncPolicy`.
        told: called with the session and each message once it is recorded.
    """

    def __init__(
        self,
        directory: SessionDirectory,
        clock: Clock,
        ids: Ids,
        *,
        external_tools: Container[str] = frozenset(),
        fsync: FsyncPolicy = FsyncPolicy.ALWAYS,
        told: Told = lambda session, message: None,
    ) -> None:
        self._told = told
        self._directory = directory
        self._clock = clock
        self._ids = ids
        self._external = external_tools
        self._fsync = fsync

    def open(
        self, key: SessionKey | str, sender: Sender, text: str, *, chat: ChatType | None = None, spawned_by: str = ""
    ) -> RecordedTurn:
        """Record a user message and return the turn that it opens.

        Args:
            key: the session; it is made if it is new.
            sender: who said it, as the host knows.
            text: what was said, whole and verbatim.
            chat: who reads along, where the host knows better than the key.
            spawned_by: the key of the session that started this one, if a program did.

        Raises:
            UsageError: nothing of this session may be kept; the message says why.
            TranscriptError: it could not be written.
        """
        try:
            session = self._directory.get_or_create(key, self._clock, self._ids, chat=chat, spawned_by=spawned_by)
        except UsageError as error:
            logger.info("turn not recorded: %s", error)
            raise
        transcript = self._transcript(session)
        said_by_program = session.kind in (SessionKind.CRON, SessionKind.HEARTBEAT)
        origin = of_message(Role.USER, sender=sender, turn=SourceClass.UNTRUSTED, tainted=False)
        # A schedule is no person, whoever set it up: its prompts are the host's own words.
        stamp = Stamp(least((origin, SourceClass.SYSTEM)) if said_by_program else origin, session.kind, sender)
        message = Message.user(text, self._clock.now(), stamp)
        entry = transcript.append(message)
        self._told(session, message)
        try:
            self._directory.touch(session.key, self._clock, interaction=not said_by_program)
        except (TranscriptError, StoreError) as error:
            # Only the order of listings hangs on it; the message itself is safe.
            logger.warning("the session's last use was not noted: %s", error)
        return self._turn(session, transcript, entry, TurnState(stamp.origin, tainted=False, sender=sender))

    def resume(self, key: SessionKey | str) -> RecordedTurn:
        """Return the turn that a session's transcript ends in, begun by this process or another.

        Raises:
            UsageError: there is no such session.
            TranscriptError: its transcript cannot be read.
        """
        session = self._directory.get(key)
        if session is None:
            raise UsageError("There is no such session", key=str(key))
        transcript = self._transcript(session)
        return self._turn(session, transcript, "", turn_state(transcript, self._external))

    def _transcript(self, session: SessionEntry) -> Transcript:
        return self._directory.transcript(session, self._clock, self._ids, fsync=self._fsync)

    def _turn(self, session: SessionEntry, transcript: Transcript, entry: str, state: TurnState) -> RecordedTurn:
        return RecordedTurn(session, transcript, self._clock, self._ids, entry, state, self._external, self._told)


class RecordedTurn:
    """A turn in the writing. ``entry`` is the id of the user message; empty in a resumed turn."""

    def __init__(
        self,
        session: SessionEntry,
        transcript: Transcript,
        clock: Clock,
        ids: Ids,
        entry: str,
        state: TurnState,
        external_tools: Container[str],
        told: Told,
    ) -> None:
        self._told = told
        self.session = session
        self.transcript = transcript
        self.entry = entry
        self._clock = clock
        self._ids = ids
        self._state = state
        self._external = external_tools

    @property
    def sender(self) -> Sender | None:
        """Return who opened the turn."""
        return self._state.sender

    @property
    def tainted(self) -> bool:
        """Say whether foreign content has come in since the user message."""
        return self._state.tainted

    @property
    def origin(self) -> SourceClass:
        """Return the class of what the assistant says or writes now."""
        return of_message(Role.ASSISTANT, sender=None, turn=self._state.origin, tainted=self._state.tainted)

    def tool_result(
        self,
        tool: str,
        text: str,
        source: ContentSource | str = ContentSource.UNDECLARED,
        *,
        arguments: Mapping[str, Any] | None = None,
        failed: bool = False,
    ) -> str:
        """Record a tool call with its result, and taint the turn if the result comes from outside.

        Args:
            tool: the tool's name.
            text: what it gave back.
            source: what it declares about where that comes from.
            arguments: what it was called with.
            failed: whether it failed.

        Returns:
            The id of the result's entry.

        Raises:
            UsageError: the source is none that is known; the turn is tainted all the same.
            TranscriptError: it could not be written.
        """
        declared = _declared(source)
        before = self._present()
        # Tainted first: what the model has seen counts, also if the transcript cannot be written.
        if declared is None or taints(declared, tool=tool, external_tools=self._external):
            self._state = TurnState(before.origin, tainted=True, sender=before.sender)
        if declared is None:
            raise UsageError(
                "This source is not known", source=str(source), hint=f"use one of {', '.join(ContentSource)}"
            )
        now, call = self._clock.now(), f"call_{self._ids.new()}"
        asked = Block("toolCall", {"id": call, "name": tool, "arguments": dict(arguments or {})})
        origin = of_message(Role.ASSISTANT, sender=None, turn=before.origin, tainted=before.tainted)
        asking = Stamp(origin, self.session.kind, tainted=before.tainted)
        found = Stamp(SourceClass.UNTRUSTED, self.session.kind, tainted=self._state.tainted, source=declared)
        return self._append(
            Message.assistant("", now, asking, calls=(asked,)),
            Message.tool_result(tool, call, text, now, found, failed=failed),
        )

    def taint(self, why: str) -> None:
        """Taint the turn because of what a tool of our own has shown; kept in the transcript as a tool result is.

        Raises:
            TranscriptError: it could not be written; the turn is tainted all the same.
        """
        if not self._state.tainted:
            self.tool_result("memory", why, ContentSource.UNTRUSTED_FILE)

    def reply(self, text: str, *, model: str = "") -> str:
        """Record what the assistant said and return the id of its entry.

        Raises:
            TranscriptError: it could not be written.
        """
        state = self._present()
        stamp = Stamp(self.origin, self.session.kind, tainted=state.tainted)
        return self._append(Message.assistant(text, self._clock.now(), stamp, model=model))

    def _append(self, *messages: Message) -> str:
        """Record messages in one write, tell of them, and return the id of the last one's entry."""
        entries = self.transcript.append_all(messages)
        for message in messages:
            self._told(self.session, message)
        return entries[-1]

    def _present(self) -> TurnState:
        """Join what this turn knows with what others have written into the session meanwhile: the less trusted wins."""
        written = turn_state(self.transcript, self._external)
        origin = least((self._state.origin, written.origin))
        self._state = TurnState(origin, self._state.tainted or written.tainted, self._state.sender)
        return self._state


def _declared(source: ContentSource | str) -> ContentSource | None:
    return next((one for one in ContentSource if one.value == str(source).strip().lower()), None)
