"""One turn of a conversation: what was said is recorded with its provenance, and what may enter the prompt is built.

The host opens a turn with the user's message, reports each tool result, and closes it with the reply. Whatever is
written inside the turn has the class of the turn at that moment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any

from reverie import conversation, upkeep
from reverie.assembly import Parts
from reverie.conversation import Opening, Rotation
from reverie.core.errors import ReverieError
from reverie.core.provenance import ContentSource, of_sender
from reverie.core.taint import path_read
from reverie.core.types import ChatType, Provenance, Sender, SessionKind, SourceClass
from reverie.recall.prompt import BootstrapFile, Prompt, bootstrap, is_private
from reverie.sessions.context import Assembled
from reverie.sessions.spoken import strip_injected, strip_private, without_spans, wrap_injected
from reverie.sessions.turns import RecordedTurn
from reverie.workspace import files
from reverie.workspace.document import split_lines


class Turn:
    """A turn in progress. ``prompt`` is what may enter the model's prompt, with the trace of all that may not.

    ``text`` is the message without a command that it began with. A message that was nothing but a command has been
    carried out: ``handled`` is the answer to it, and no model is to be called. ``rotation`` tells of the session that
    ended before this turn, if one did.
    ``marker`` is the nonce of this turn's blocks of recalled memory; a person never needs to see it.
    """

    def __init__(
        self,
        parts: Parts,
        recorded: RecordedTurn,
        prompt: Prompt,
        marker: str,
        text: str,
        opening: Opening | None = None,
    ) -> None:
        self._parts = parts
        self._recorded = recorded
        self._private = strip_private(text).spans
        self.prompt = prompt
        self.text: str = opening.text if opening is not None else ""
        self.handled: str = opening.handled if opening is not None else ""
        self.rotation: Rotation | None = opening.rotation if opening is not None else None
        self.marker = marker

    @property
    def id(self) -> str:
        """Return the id of the message that opened the turn."""
        return self._recorded.entry

    @property
    def session(self) -> str:
        """Return the key of the session."""
        return self._recorded.session.key

    @property
    def kind(self) -> SessionKind:
        """Return the kind of the session."""
        return self._recorded.session.kind

    @property
    def chat(self) -> ChatType:
        """Return who can read the conversation."""
        return self._recorded.session.chat

    @property
    def private(self) -> bool:
        """Say whether nobody but the owner reads along."""
        return is_private(self.kind, self.chat, owner=_is_owner(self._recorded.sender))

    @property
    def tainted(self) -> bool:
        """Say whether untrusted content has come in since the user's message."""
        return self._recorded.tainted

    def tool_result(
        self,
        tool: str,
        text: str,
        *,
        source: ContentSource | str = ContentSource.UNDECLARED,
        path: str | None = None,
        lines: tuple[int, int] | None = None,
        arguments: Mapping[str, Any] | None = None,
        failed: bool = False,
    ) -> str:
        """Record what a tool gave back, and taint the turn if that comes from outside.

        It does if the tool declares ``network`` content; if it declares nothing and is external by name or
        configuration; if an argument is an address; if it read a file of which lines are untrusted.

        Args:
            tool: the tool's name.
            text: what it gave back.
            source: what it declares about where that comes from.
            path: the file that it read, absolute or relative to the workspace.
            lines: the first and last line that it showed of it; all by default.
            arguments: what it was called with.
            failed: whether it failed.

        Returns:
            The id of the entry in the transcript.

        Raises:
            UsageError: the source is none that is known; the turn is tainted all the same.
            TranscriptError: it could not be written; the turn is tainted all the same.
        """
        given = arguments or {}
        if str(source).strip().lower() in (ContentSource.UNDECLARED, ContentSource.LOCAL):
            if self._parts.external_tools.reaches_out(tool, given):
                source = ContentSource.NETWORK
            elif (read := path or path_read(tool, given)) and self._parts.doubt_about(read, lines):
                source = ContentSource.UNTRUSTED_FILE
        try:
            return self._recorded.tool_result(tool, text, source, arguments=given, failed=failed)
        finally:
            self._parts.engine.touched()

    def taint(self, why: str) -> None:
        """Lower everything that is written from now on in this turn; only the next user message lifts it."""
        self._recorded.taint(why)

    def reply(self, text: str, *, model: str = "") -> str:
        """Record the assistant's answer; returns the id of its entry.

        Raises:
            TranscriptError: it could not be written.
        """
        entry = self._recorded.reply(text, model=model)
        self._parts.engine.touched()
        return entry

    def context(self, *, window: int = 0) -> Assembled:
        """Return the conversation as the model is to be shown it: summarised and pruned, newest message included.

        Args:
            window: the size of the model's context in tokens; 0 if it is not known, and then nothing is pruned.
        """
        return upkeep.context(self._parts, self.session, window=window)

    # --- recalled text ---

    def wrap(self, text: str) -> str:
        """Return recalled text as a block for the prompt, which can neither be imitated nor learned again (I3).

        For whatever a host puts beside the user's message on its own account, such as hits of a search. Where the block
        is stored as part of a message, it stays in the transcript and goes nowhere else.
        """
        return wrap_injected(text, self.marker)

    def visible(self, text: str) -> str:
        """Return an answer as its reader may see it: without blocks of recalled memory that the model repeated."""
        return strip_injected(text, self._parts.marker).strip()

    # --- for the memory tools ---

    def public(self, text: str) -> str:
        """Return a text without recalled blocks and without what the user's message marked as private."""
        return without_spans(strip_private(strip_injected(text, self._parts.marker)).text, self._private)

    def write_provenance(self) -> Provenance:
        """Return the provenance of something the assistant writes at this moment."""
        sender = self._recorded.sender
        return Provenance(
            origin=self._recorded.origin,
            kind=self.kind,
            observed_at=self._parts.clock.now(),
            session=self._recorded.session.id,
            sender=sender_name(sender) if sender else None,
        )

    def visible_sessions(self) -> frozenset[str]:
        """Return the sessions whose transcripts this turn may search: its own conversation, present and past."""
        session = self._recorded.session
        return frozenset({session.id, *session.older})

    def __enter__(self) -> Turn:
        """Return the turn itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the turn; what was said stands in the transcript already."""


def begin(parts: Parts, session: str, text: str, sender: Sender) -> Turn:
    """Rotate a stale session, carry out a command, record the user's message, and build the turn's prompt block."""
    asked = conversation.opening(parts, session, text, sender)
    if asked.handled:
        parts.sessions.get_or_create(session, parts.clock, parts.ids)
        recorded = parts.recorder.resume(session)
    else:
        recorded = parts.recorder.open(session, sender, asked.text)
    parts.engine.touched()
    entry, marker = recorded.session, parts.new_marker()
    # Lines may have been moved by hand since the last turn, also from a file that is not injected to one that is.
    parts.judge.refresh()
    prompt = bootstrap(
        entry.kind,
        entry.chat,
        lambda name: _bootstrap_file(parts, name),
        parts.budgets,
        owner=_is_owner(sender),
    )
    if prompt.hidden:
        prompt = replace(prompt, hidden=wrap_injected(prompt.hidden, marker))
    return Turn(parts, recorded, prompt, marker, text, asked)


def sender_name(sender: Sender) -> str:
    """Return how a sender is written down: ``channel:id``."""
    return f"{sender.channel}:{sender.id}"


def _is_owner(sender: Sender | None) -> bool:
    return sender is not None and of_sender(sender) is SourceClass.OWNER


def _bootstrap_file(parts: Parts, name: str) -> BootstrapFile:
    """Read a bootstrap file; one that cannot be read counts as absent (fail-open: a reply must not wait for it)."""
    try:
        file = files.read(files.contained(parts.workspace.root, name), max_bytes=parts.workspace.max_bytes)
    except ReverieError:
        return BootstrapFile(name, None)
    lines = [line for line, _ in split_lines(file.text)]
    return BootstrapFile(name, file.text, parts.judge.judge(name, lines).lines)
