"""The context engine: who decides what of a conversation the model is shown, and how a long one is made shorter.

An engine is told of messages and of finished turns, assembles the context of a call, and compacts when asked. Pruning
runs on what it assembles, whichever engine it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from reverie.sessions.messages import Message
from reverie.sessions.rows import SessionEntry


@dataclass(frozen=True, slots=True)
class Assembled:
    """The context of a call. ``tokens`` is an estimate; ``addition`` is put under the system prompt."""

    messages: tuple[Message, ...]
    tokens: int
    addition: str = ""


@dataclass(frozen=True, slots=True)
class CompactionReport:
    """What a compaction did.

    ``means`` tells how the summary was made: by a model, as an extract, or by trimming. ``entry`` is the id of the
    entry in the transcript, and ``first_kept`` of the first one that stays. ``over`` says that the context is still
    larger than it should be. ``faults`` are the reasons for which answers of a model were refused.
    """

    done: bool
    reason: str
    means: str = ""
    entry: str = ""
    first_kept: str = ""
    tokens_before: int = 0
    tokens_after: int = 0
    over: bool = False
    faults: tuple[str, ...] = ()


class ContextEngine(Protocol):
    """What fills the context slot. The built-in engine is ``legacy``; it enters through the same hook."""

    @property
    def name(self) -> str:
        """Return the name by which the slot selects it."""
        ...

    def ingest(self, session: SessionEntry, message: Message) -> bool:
        """Take in one message that was just recorded; say whether it was kept."""
        ...

    def assemble(self, session: SessionEntry, messages: Sequence[Message], *, budget: int = 0) -> Assembled:
        """Return the context of the next call.

        Args:
            session: the conversation.
            messages: the context as the transcript tells it: the last summary, and what was said since.
            budget: the most tokens; 0 if that is not known.
        """
        ...

    def compact(self, session: SessionEntry, *, window: int = 0, used: int = 0, wishes: str = "") -> CompactionReport:
        """Make the context of a conversation shorter.

        Args:
            session: the conversation.
            window: the size of the model's context in tokens; 0 if it is not known.
            used: the tokens of the context as the provider counted them; 0: they are estimated.
            wishes: what the owner wants to be looked after.

        Raises:
            TranscriptError: the transcript cannot be read or written.
        """
        ...

    def after_turn(self, session: SessionEntry, *, window: int = 0) -> None:
        """Be told that a turn is over and its reply delivered."""
        ...

    def close(self) -> None:
        """Let go of whatever is held."""
        ...
