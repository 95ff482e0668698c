"""One turn of a conversation: what was said is recorded with its provenance, and what may enter the prompt is built.

The host opens a turn with the user's message, reports each tool result, and closes it with the reply. Whatever is
written inside the turn has the class of the turn at that moment.
"""

from __future__ import annotations

from types import TracebackType

from reverie.assembly import Parts
from reverie.core.errors import ReverieError
from reverie.core.provenance import ContentSource
from reverie.core.types import ChatType, Provenance, Sender, SessionKind
from reverie.recall.prompt import BootstrapFile, Prompt, bootstrap
from reverie.sessions.turns import RecordedTurn
from reverie.workspace import files
from reverie.workspace.document import split_lines


class Turn:
    """A turn in progress. ``prompt`` is what may enter the model's prompt, with the trace of all that may not."""

    def __init__(self, parts: Parts, recorded: RecordedTurn, prompt: Prompt) -> None:
        self._parts = parts
        self._recorded = recorded
        self.prompt = prompt

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
    def tainted(self) -> bool:
        """Say whether untrusted content has come in since the user's message."""
        return self._recorded.tainted

    def tool_result(self, tool: str, text: str, *, source: ContentSource | str = ContentSource.UNDECLARED) -> str:
        """Record what a tool gave back; ``network`` content, or a tool listed as external, taints the turn.

        Returns:
            The id of the entry in the transcript.

        Raises:
            UsageError: the source is none that is known; the turn is tainted all the same.
            TranscriptError: it could not be written.
        """
        try:
            return self._recorded.tool_result(tool, text, source)
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
    """Record the user's message and build the prompt block of the turn."""
    recorded = parts.recorder.open(session, sender, text)
    parts.engine.touched()
    entry = recorded.session
    prompt = bootstrap(entry.kind, entry.chat, lambda name: _bootstrap_file(parts, name), parts.budgets)
    return Turn(parts, recorded, prompt)


def sender_name(sender: Sender) -> str:
    """Return how a sender is written down: ``channel:id``."""
    return f"{sender.channel}:{sender.id}"


def _bootstrap_file(parts: Parts, name: str) -> BootstrapFile:
    """Read a bootstrap file; one that cannot be read counts as absent (fail-open: a reply must not wait for it)."""
    try:
        file = files.read(files.contained(parts.workspace.root, name), max_bytes=parts.workspace.max_bytes)
    except ReverieError:
        return BootstrapFile(name, None)
    lines = [line for line, _ in split_lines(file.text)]
    return BootstrapFile(name, file.text, parts.judge.judge(name, lines).lines)
