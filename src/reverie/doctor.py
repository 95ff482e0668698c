"""The state of a memory for its owner: ``status`` tells, ``doctor`` checks and repairs without losing anything."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from reverie._version import __version__
from reverie.assembly import Parts
from reverie.core.clock import host_zone, today
from reverie.core.errors import FileUnreadable, ReverieError
from reverie.core.redaction import secrets_in
from reverie.core.types import EngineStatus
from reverie.recall.prompt import MEMORY_CHARS, USER_CHARS
from reverie.store.usage import Spent
from reverie.trust import DoubtfulFile, doubtful_files
from reverie.writing.recording import lines_of

Level = Literal["ok", "note", "warning", "error"]

#: A curated file this near to its budget is worth a word.
NEAR = 0.9
#: So many lines with a secret are named a file and kind.
NAMED_LINES = 8
#: Over how many days the cost of language models is shown.
USAGE_DAYS = 30
#: What later versions bring; said plainly wherever the state is shown.
NOT_BUILT = ("dreaming", "forgetting", "standing intents", "gateway and MCP server")


@dataclass(frozen=True, slots=True)
class FileFact:
    """A curated file: how long it is, what its budget is, and what to say about that."""

    name: str
    chars: int
    budget: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """What ``reverie status`` shows."""

    agent: str
    version: str
    state: str
    workspace: str
    config_file: str
    engine: EngineStatus
    curated: tuple[FileFact, ...]
    sessions: int
    writes: int
    untrusted_files: tuple[DoubtfulFile, ...]
    warnings: tuple[str, ...]
    not_built: tuple[str, ...]
    model_usage: tuple[Spent, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: what was looked at, how it stands, what would repair it, and whether that was done."""

    check: str
    level: Level
    message: str
    fix: str = ""
    fixed: bool = False


def status(parts: Parts, *, deep: bool) -> Status:
    """Return the state; changes nothing."""
    return Status(
        agent=parts.agent,
        version=__version__,
        state=str(parts.paths.state),
        workspace=str(parts.workspace.root),
        config_file=str(parts.whole.source or parts.paths.config_file),
        engine=parts.engine.status(deep=deep),
        curated=tuple(_curated(parts)),
        sessions=len(parts.sessions.list()),
        writes=parts.durable.count(),
        untrusted_files=tuple(doubtful_files(parts)),
        warnings=parts.whole.warnings,
        not_built=NOT_BUILT,
        model_usage=tuple(parts.usage.since(today(parts.clock) - timedelta(days=USAGE_DAYS - 1))),
    )


def examine(parts: Parts, *, fix: bool) -> list[Finding]:
    """Run every check, in the order in which a fault would show."""
    findings = [Finding("configuration", "warning", text, "reverie config check") for text in parts.whole.warnings]
    if not findings:
        findings.append(Finding("configuration", "ok", f"read from {parts.whole.source or 'the defaults'}"))
    findings += [_direct_chats(parts), _zone(parts)]
    findings += _workspace(parts)
    findings += _secrets(parts)
    findings += _durable(parts)
    findings += _index(parts, fix=fix)
    findings += _embedder(parts)
    return findings


def _curated(parts: Parts) -> list[FileFact]:
    budgets = {"MEMORY.md": min(MEMORY_CHARS, parts.budgets.file), "USER.md": USER_CHARS}
    facts = []
    for name, budget in budgets.items():
        try:
            chars = len(parts.workspace.read(name).text)
        except FileUnreadable as error:
            reason = str(error.fields.get("reason", ""))
            facts.append(FileFact(name, 0, budget, "not there" if reason == "vanished" else reason))
            continue
        note = ""
        if chars > budget:
            note = f"{chars - budget} characters over its budget: a prompt gets it cut, with a notice"
        elif chars > budget * NEAR:
            note = "nearly full"
        facts.append(FileFact(name, chars, budget, note))
    return facts


def _direct_chats(parts: Parts) -> Finding:
    """Say which direct chats share a session: whoever shares one reads what the others said (ISO-01)."""
    scope = parts.whole.data.session.dm_scope
    if scope is None:
        kept = "the owner's share one session, everybody else has one of their own"
        return Finding("direct chats", "ok", f"{kept} (session.dmScope is not set)")
    if scope == "main":
        shared = "everybody who writes to this agent directly shares one session (session.dmScope is main)"
        return Finding("direct chats", "note", shared, "reverie config set session.dmScope per-channel-peer")
    return Finding("direct chats", "ok", f"session.dmScope is {scope}")


def _zone(parts: Parts) -> Finding:
    zone, here = parts.clock.zone, host_zone()
    if parts.config.timezone is not None or zone == here:
        return Finding("time zone", "ok", f"days are those of {zone}")
    told = f"days are those of {zone}, where this memory began; this process is in {here}"
    return Finding("time zone", "warning", told, "reverie config set agents.defaults.userTimezone ZONE")


def _workspace(parts: Parts) -> list[Finding]:
    findings = [
        Finding(f"file {fact.name}", "warning" if "over" in fact.note else "note", fact.note, "move old entries out")
        for fact in _curated(parts)
        if fact.note
    ]
    scan = parts.workspace.scan()
    if scan.missing_root:
        findings.append(Finding("workspace", "warning", scan.missing_root, "reverie init"))
    findings += [Finding("skipped file", "note", f"{one.path}: {one.reason}") for one in scan.skipped]
    findings += [_doubtful(file) for file in doubtful_files(parts)]
    if not findings:
        findings.append(Finding("workspace", "ok", f"{len(scan.stats)} files"))
    return findings


def _doubtful(file: DoubtfulFile) -> Finding:
    told = f"{file.path}: {file.lines} lines are never injected by themselves"
    if file.whole:
        return Finding(
            "untrusted lines", "warning", f"{told}; the file is lowered as a whole", f"reverie why {file.path}"
        )
    return Finding("untrusted lines", "note", told)


def _secrets(parts: Parts) -> list[Finding]:
    """Report secrets in the owner's files by kind and line. The files are left as they are, the value is not told."""
    findings = []
    for stat in parts.workspace.scan().stats:
        try:
            lines = lines_of(parts.workspace.read(stat.path).text)
        except ReverieError:
            continue
        places: dict[str, list[str]] = {}
        for number, kind in secrets_in(lines):
            places.setdefault(kind, []).append(str(number))
        for kind, numbers in sorted(places.items()):
            where = ", ".join(numbers[:NAMED_LINES]) + (" and more" if len(numbers) > NAMED_LINES else "")
            told = f"{stat.path}, line {where}: looks like a {kind}; it is kept out of the index, not out of the file"
            findings.append(Finding("secret", "warning", told, "move it to a keychain"))
    return findings


def _durable(parts: Parts) -> list[Finding]:
    problems = parts.durable.integrity()
    if problems:
        return [
            Finding("memory.sqlite", "error", text, "restore it from a copy; nothing was changed") for text in problems
        ]
    return [Finding("memory.sqlite", "ok", "intact")]


def _index(parts: Parts, *, fix: bool) -> list[Finding]:
    try:
        found = parts.engine.status()
    except ReverieError as error:
        return [Finding("index", "error", str(error), error.hint)]
    findings = []
    for text in found.mismatch:
        if fix:
            parts.engine.sync(force=True)
        findings.append(Finding("index", "warning", text, "reverie index --force", fixed=fix))
    if found.pending and not findings:
        if fix:
            parts.engine.sync()
        findings.append(Finding("index", "note", f"{found.pending} chunks wait for a vector", "reverie index", fix))
    unread = len(parts.workspace.scan().stats) if not found.files else 0
    if unread and not findings:
        if fix:
            parts.engine.sync()
        findings.append(Finding("index", "note", f"{unread} files are not indexed yet", "reverie index", fix))
    findings += [Finding("index", "note", text) for text in found.notices if text not in found.mismatch]
    if not findings:
        findings.append(Finding("index", "ok", f"{found.files} files, {found.chunks} chunks, {found.vectors} vectors"))
    return findings


def _embedder(parts: Parts) -> list[Finding]:
    try:
        found = parts.engine.status(deep=True)
    except ReverieError as error:
        return [Finding("embedder", "warning", str(error), error.hint)]
    spoken = [text for text in found.notices if text.startswith(("keyword only", "the embedder"))]
    if spoken:
        return [Finding("embedder", "note", text, "pip install 'reverie-memory[local]'") for text in spoken]
    return [Finding("embedder", "ok", f"{found.provider}, {found.model}")]
