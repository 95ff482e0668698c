"""The import of OpenClaw as a whole: notes, sessions of both generations, and the settings as a proposal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from reverie.core.errors import ImportRefused
from reverie.core.paths import Paths
from reverie.core.types import ChatType, SessionKind
from reverie.imports.arrival import Account, Arrivals, take_in
from reverie.imports.openclaw.database import Database, opened
from reverie.imports.openclaw.files import transcripts
from reverie.imports.openclaw.found import SOURCE, Transcript, classed
from reverie.imports.openclaw.notes import Copied, Notebook, copy_notes
from reverie.imports.openclaw.settings import Applied, Proposal, apply, propose, write_down
from reverie.imports.openclaw.state import CONFIG, Source, look
from reverie.imports.report import TranscriptReport
from reverie.imports.speech import session_id
from reverie.sessions.adoption import Foreign
from reverie.sessions.keys import SessionKey, explicit_key, parse_key
from reverie.sessions.messages import epoch_ms
from reverie.sessions.reading import is_session_id


@dataclass(frozen=True, slots=True)
class OpenClawReport:
    """What came in from OpenClaw: the agent that was read, its notes, its sessions, and its settings as a proposal."""

    agent: str
    dry_run: bool
    notes: Copied
    sessions: TranscriptReport
    settings: Proposal
    applied: Applied
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Wish:
    """What is wanted of an import; see :func:`import_openclaw`."""

    agent: str = ""
    mine: bool = False
    dry_run: bool = False
    apply_config: bool = False


def import_openclaw(
    arrivals: Arrivals, notebook: Notebook, path: Path, wish: Wish, paths: Paths, config: Path | None = None
) -> OpenClawReport:
    """Import one agent of an OpenClaw installation, or a bare workspace. Nothing there is changed.

    Args:
        arrivals: where sessions go.
        notebook: where notes go.
        path: OpenClaw's state folder, or a workspace.
        wish: the agent to read (empty: the usual one), whether the owner vouches for what comes in, whether to only
            say what would, and whether to set in our configuration what is proposed.
        paths: our folders.
        config: our configuration file, if it is another one than the usual.

    Raises:
        ImportRefused: there is no OpenClaw, or no such agent.
    """
    mine, dry_run = wish.mine, wish.dry_run
    source = look(path, wish.agent, paths.home)
    account, notices = Account(), _remarks(source)
    with ExitStack() as stack:
        database = _database(source, stack, account)
        gone = database.forgotten() if database is not None else frozenset()
        doubtful = database.doubtful_paths() if database is not None else frozenset()
        found = [each for each in _transcripts(source, database, account) if _wanted(each, gone, account)]
        # What a conversation continues in comes first, then what it had before, the latest of that first.
        found.sort(key=lambda one: (not one.current, -epoch_ms(one.begun), one.session))
        arriving = (_foreign(each, arrivals.agent, mine=mine) for each in found)
        sessions = take_in(arrivals, SOURCE, arriving, account, mine=mine, dry_run=dry_run)
        intents = database.intents() if database is not None else 0
    if intents:
        notices.append(f"{intents} standing intents wait in OpenClaw; intents are not imported")
    notes = Copied()
    if source.workspace is not None:
        notes = copy_notes(notebook, source.workspace, doubtful=doubtful, mine=mine, dry_run=dry_run)
    proposal = propose(source.settings) if source.settings is not None else Proposal()
    applied = _settled(proposal, source, wish, paths, config)
    return OpenClawReport(source.agent, dry_run, notes, sessions, proposal, applied, tuple(notices))


def _settled(proposal: Proposal, source: Source, wish: Wish, paths: Paths, config: Path | None) -> Applied:
    """Write the proposal down, and apply it where that is wanted."""
    if wish.dry_run or not proposal.settings:
        return Applied()
    done, kept = apply(proposal, paths, config) if wish.apply_config else ((), ())
    return Applied(write_down(proposal, paths, str(source.root / CONFIG)), done, kept)


def _remarks(source: Source) -> list[str]:
    found = [source.problem] if source.problem else []
    if source.workspace is None:
        found.append("the workspace is not here, so no notes came in")
    if source.others:
        found.append(
            f"other agents were left out: {', '.join(source.others)}; import each into an agent of its own,"
            " as in `reverie --agent yard import openclaw PATH --from yard`"
        )
    return found


def _database(source: Source, stack: ExitStack, account: Account) -> Database | None:
    if not source.database.is_file():
        return None
    try:
        return stack.enter_context(opened(source.database))
    except ImportRefused as error:
        account.skip(source.database.name, str(error.fields.get("reason") or error.message))
        return None


def _transcripts(source: Source, database: Database | None, account: Account) -> Iterator[Transcript]:
    """Yield the transcripts of both generations; one that is in both is taken from the newer."""
    seen: set[str] = set()
    if database is not None:
        for each in database.transcripts(source.folder, source.main_key, account):
            seen.add(each.session)
            yield each
    for each in transcripts(source.sessions, source.agent, source.main_key, account):
        if each.session not in seen:
            yield each


def _wanted(found: Transcript, gone: frozenset[str], account: Account) -> bool:
    if found.session in gone:
        account.skip(found.session, "it was forgotten in OpenClaw")
    elif found.key.incognito:
        account.skip(found.session, "an incognito session is not kept")
    else:
        return True
    return False


def _foreign(found: Transcript, agent: str, *, mine: bool) -> Foreign:
    session = found.session if is_session_id(found.session) else session_id(SOURCE, found.session)
    row = found.row or {}
    key = retargeted(found.key, agent) if found.key.text else explicit_key(agent, f"import-{SOURCE}-{session}").text
    parent = row.get("spawnedBy") or row.get("parentSessionKey")
    return Foreign(
        source=SOURCE,
        session=session,
        key=key,
        begun=found.begun,
        entries=lambda: classed(found, mine=mine),
        kind=found.kind if found.key.text else SessionKind.UNKNOWN,
        chat=found.chat if found.key.text else ChatType.UNKNOWN,
        label=str(row.get("label") or row.get("displayName") or ""),
        channel=str(row.get("channel") or row.get("lastChannel") or found.key.channel or ""),
        parent=retargeted(parse_key(parent), agent) if isinstance(parent, str) and parent else "",
        cwd=found.cwd,
        record={"id": found.session, "key": found.key.text, "mine": mine},
    )


def retargeted(key: SessionKey, agent: str) -> str:
    """Return a key as one of our agent; keys that name no agent stay as they are."""
    if key.agent is None:
        return key.text
    return replace(key, agent=agent, text=f"agent:{agent}:{key.rest}").text
