"""What an import did, for people and for programs."""

from __future__ import annotations

from dataclasses import dataclass

from reverie.core.types import Skipped
from reverie.sessions.adoption import Adopted


@dataclass(frozen=True, slots=True)
class TranscriptReport:
    """What came in of a program's conversations, or would come in (``dry_run``).

    ``skipped`` was left out, ``conflicts`` differ from what is here, which stays.
    """

    source: str
    dry_run: bool
    sessions: tuple[Adopted, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    conflicts: tuple[Skipped, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def created(self) -> int:
        """Return how many sessions are new."""
        return sum(one.created for one in self.sessions)

    @property
    def grown(self) -> int:
        """Return how many sessions have more messages than before."""
        return sum(one.added > 0 and not one.created for one in self.sessions)

    @property
    def unchanged(self) -> int:
        """Return how many sessions were here already, whole."""
        return sum(one.added == 0 and not one.created for one in self.sessions)

    @property
    def messages(self) -> int:
        """Return how many messages came in."""
        return sum(one.added for one in self.sessions)


def conflicts_of(adopted: Adopted) -> list[Skipped]:
    """Return what a person should know of a conversation that differs from the one here."""
    found = []
    if adopted.differing:
        count = len(adopted.differing)
        found.append(Skipped(adopted.session, f"{count} messages read otherwise than here; those here stay"))
    if adopted.aside:
        found.append(Skipped(adopted.session, "it went on here; what is new in the source stands beside that"))
    return found
