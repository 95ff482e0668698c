"""Taking the conversations of a source in, one after the other, with an account of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from reverie.core.errors import ImportRefused, StoreBusy, TranscriptError
from reverie.core.types import Clock, Ids, Progress, Skipped
from reverie.imports.report import TranscriptReport, conflicts_of
from reverie.sessions.adoption import Adopted, Foreign, adopt, is_imported, is_vouched
from reverie.sessions.directory import SessionDirectory


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Where conversations go: the agent's sessions, without those that were forgotten here."""

    agent: str
    directory: SessionDirectory
    clock: Clock
    ids: Ids
    forgotten: Callable[[], Collection[str]] = tuple
    progress: Progress | None = None


@dataclass(slots=True)
class Account:
    """What has happened so far; a reader of a source adds to ``skipped`` and ``notices`` on its way."""

    skipped: list[Skipped] = field(default_factory=list)
    conflicts: list[Skipped] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def skip(self, name: str, reason: str) -> None:
        """Note something that is left out."""
        self.skipped.append(Skipped(name, reason))


def take_in(
    arrivals: Arrivals, source: str, found: Iterable[Foreign], account: Account, *, mine: bool, dry_run: bool
) -> TranscriptReport:
    """Take in every conversation; what is wrong with one does not stop the others."""
    gone = frozenset(arrivals.forgotten())
    sessions: list[Adopted] = []
    unvouched = 0
    for number, each in enumerate(found, 1):
        if each.session in gone:
            account.skip(each.session, "it was forgotten here, and does not come back")
            continue
        unvouched += mine and _came_without_word(arrivals.directory, each)
        try:
            adopted = adopt(arrivals.directory, each, arrivals.clock, arrivals.ids, dry_run=dry_run)
        except (ImportRefused, TranscriptError, StoreBusy) as error:
            account.conflicts.append(Skipped(each.session, str(error)))
            continue
        sessions.append(adopted)
        account.conflicts += conflicts_of(adopted)
        if arrivals.progress is not None:
            arrivals.progress(f"conversations of {source}", number, 0)
    if unvouched:
        account.notices.append(
            f"{unvouched} conversations came in before without --mine; what they hold of that time stays untrusted"
        )
    return TranscriptReport(
        source=source,
        dry_run=dry_run,
        sessions=tuple(sessions),
        skipped=tuple(account.skipped),
        conflicts=tuple(account.conflicts),
        notices=tuple(dict.fromkeys(account.notices)),
    )


def _came_without_word(directory: SessionDirectory, found: Foreign) -> bool:
    """Say whether a conversation is here that was imported when nobody vouched for it."""
    row = directory.get(found.key)
    return row is not None and is_imported(row.data) and not is_vouched(row.data)
