"""The conversations of a memory: what they are, how they end, how they are kept small and tidy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from reverie import conversation, upkeep
from reverie.assembly import Parts
from reverie.conversation import Rotation
from reverie.sessions.context import Assembled, CompactionReport
from reverie.sessions.export import ExportReport, export_sessions
from reverie.sessions.lifecycle import Activation, Addressed, EndReason, addressed, mention_patterns
from reverie.sessions.maintenance import MaintenanceReport as MaintenanceReport
from reverie.sessions.maintenance import maintain
from reverie.sessions.routing import Inbound, Route, route
from reverie.sessions.rows import SessionEntry
from reverie.store.ends import SessionEnd
from reverie.upkeep import Upkeep


class Conversing:
    """The verbs about conversations as a whole; a single turn is opened by :meth:`reverie.memory.Memory.turn`."""

    _parts: Parts

    def sessions(self) -> tuple[SessionEntry, ...]:
        """Return every conversation, the one used last first."""
        return self._parts.sessions.list()

    def session(self, key: str) -> Assembled:
        """Return a conversation as a model is shown it: the last summary, and what was said since.

        Raises:
            UsageError: there is no such session.
            TranscriptError: it cannot be read.
        """
        return upkeep.context(self._parts, key)

    def route(self, inbound: Inbound) -> Route:
        """Return the agent and the session that a message belongs to, by bindings and scopes."""
        data = self._parts.whole.data
        return route(inbound, data.session, data.bindings, default_agent=self._parts.whole.default_agent)

    def addressed(
        self, session: str, text: str, *, mentioned: bool = False, replied: bool = False, patterns: Sequence[str] = ()
    ) -> Addressed:
        """Say whether a message is meant for the agent, and return its text without the mention.

        Args:
            session: the key of the session.
            text: the message.
            mentioned: the channel itself marked the agent as mentioned.
            replied: the message answers one of the agent's.
            patterns: regular expressions for the agent's names; one that could run away is passed over.
        """
        return addressed(
            text,
            shared=conversation.is_shared(self._parts, session),
            mode=conversation.activation(self._parts, session),
            mentioned=mentioned,
            replied=replied,
            patterns=mention_patterns(patterns)[0],
        )

    def set_activation(self, session: str, mode: Activation | str) -> None:
        """Set which messages of a group are answered: ``mention`` or ``always``."""
        conversation.set_activation(self._parts, session, Activation(mode))

    def end_session(self, key: str, *, reason: EndReason | str = EndReason.CLOSE) -> Rotation | None:
        """End the present transcript of a conversation and queue it for ingestion.

        Returns:
            What ended and what begins; ``None`` if nothing was said in it, so that it simply stays.

        Raises:
            UsageError: there is no such session.
        """
        return conversation.end(self._parts, key, EndReason(reason))

    def ended_sessions(self) -> list[SessionEnd]:
        """Return the ended transcripts that wait for ingestion, those that nobody could queue included."""
        return conversation.ended(self._parts)

    def compact(self, key: str, instructions: str = "", *, window: int = 0, used: int = 0) -> CompactionReport:
        """Summarise the older part of a conversation now, after saving what lasts.

        Args:
            key: the session.
            instructions: what the summary is to look after.
            window: the size of the model's context in tokens; 0 if it is not known.
            used: the tokens of the context as the provider counted them; 0: they are estimated.

        Raises:
            UsageError: there is no such session.
            TranscriptError: it cannot be read or written.
        """
        return upkeep.compact(self._parts, key, instructions, window=window, used=used)

    def after_turn(self, session: str, *, window: int, used: int = 0) -> Upkeep:
        """Flush and compact a conversation if its context is nearly full; call it once a reply is delivered."""
        return upkeep.after_turn(self._parts, session, window=window, used=used)

    def maintain(self, *, dry_run: bool = False, active: Iterable[str] = ()) -> MaintenanceReport:
        """Clean up the list of sessions, their transcripts and archives, as ``session.maintenance`` says.

        Nothing that was learned is forgotten by it. ``active`` are keys of sessions in use, which stay as they are;
        what was used within the hour counts as in use anyway. ``dry_run`` only says what would go.

        Raises:
            TranscriptError: the sessions cannot be read or written.
        """
        parts = self._parts
        report = maintain(
            parts.sessions,
            parts.retention,
            parts.clock,
            active=tuple(active),
            forgotten=parts.durable.tombstones,
            dry_run=dry_run,
        )
        parts.engine.touched()
        return report

    def export_sessions(self, target: Path | str, *, key: str = "") -> ExportReport:
        """Write transcripts and readable pages of them below a folder: of one session, or of all.

        Raises:
            UsageError: there is no such session.
            StoreUnwritable: the folder cannot be written.
        """
        gone = self._parts.durable.tombstones()
        return export_sessions(self._parts.sessions, Path(target).expanduser(), key=key, forgotten=gone)
