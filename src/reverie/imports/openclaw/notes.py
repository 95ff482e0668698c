"""The notes of OpenClaw's workspace: copies below ``memory/imports/openclaw``, curated files where ours are empty."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from reverie.core.errors import FileUnreadable, PathNotAllowed, WorkspaceError, WriteConflict
from reverie.core.types import Provenance, SessionKind, Skipped, SourceClass, Written
from reverie.workspace import files
from reverie.workspace.paths import CURATED, NOTES, is_system
from reverie.writing.recording import lines_of

FOLDER = f"{NOTES}/imports/openclaw"
#: Files that enter every prompt as instructions: whether they do so here is for the owner to decide.
_INSTRUCTIONS = frozenset(
    {"AGENTS.md", "SOUL.md", "IDENTITY.md", "TOOLS.md", "BOOTSTRAP.md", "HEARTBEAT.md", "BOOT.md"}
)


class Keeper(Protocol):
    """What an import needs of the writer."""

    def import_file(self, relative: str, text: str, provenance: Provenance) -> Written:
        """Write one imported file; nothing if it stands there already."""
        ...

    def replace_file(
        self,
        relative: str,
        new_text: str,
        expected_hash: str | None,
        provenance: Provenance,
        *,
        tool: str = "replace",
        reason: str = "",
        may_drop: bool = False,
    ) -> Written:
        """Replace a whole memory file, if it still is what was read."""
        ...

    def trust(self, relative: str, by: str, lines: tuple[int, int] | None = None) -> int:
        """Record that the owner vouches for a file."""
        ...


@dataclass(frozen=True, slots=True)
class Notebook:
    """Where notes go: our workspace, its writer, and how long our curated files may be, in characters."""

    root: Path
    writer: Keeper
    budgets: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Copied:
    """What became of the notes: paths here; what was left out, and what conflicts with what is here."""

    written: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    conflicts: tuple[Skipped, ...] = ()
    notices: tuple[str, ...] = ()


def copy_notes(notebook: Notebook, workspace: Path, *, doubtful: Collection[str], mine: bool, dry_run: bool) -> Copied:
    """Copy the Markdown of a workspace. What comes in is untrusted until the owner vouches for it (``mine``).

    Args:
        notebook: where it goes.
        workspace: OpenClaw's workspace.
        doubtful: paths there that hold what OpenClaw itself takes for untrusted; nobody vouches for these.
        mine: record that the owner vouches for every other file.
        dry_run: write nothing.
    """
    written: list[str] = []
    unchanged: list[str] = []
    skipped: list[Skipped] = []
    conflicts: list[Skipped] = []
    notices: list[str] = []
    instructions: list[str] = []
    for path, name in _sources(workspace):
        if is_system(name):
            skipped.append(Skipped(name, "dreaming wrote it for people; Reverie writes its own"))
            continue
        instructions += [name] if name in _INSTRUCTIONS else []
        try:
            text = files.read(path).text
            target, remark = _place(notebook, name, text)
            new = _copy(notebook, target, text, dry_run=dry_run)
            if mine and not dry_run and name not in doubtful:
                notebook.writer.trust(target, "the owner, importing from OpenClaw")
        except WriteConflict as error:
            conflicts.append(Skipped(name, error.message))
            continue
        except (FileUnreadable, PathNotAllowed, WorkspaceError) as error:
            skipped.append(Skipped(name, str(error.fields.get("reason") or error.message)))
            continue
        (written if new else unchanged).append(target)
        conflicts += [Skipped(name, remark)] if remark and new else []
    if instructions:
        notices.append(
            f"{', '.join(instructions)} came in as notes to search; to have them in every prompt, copy them yourself"
        )
    if written and not mine:
        notices.append("the notes are untrusted until you vouch for them: import again with --mine if they are yours")
    return Copied(tuple(written), tuple(unchanged), tuple(skipped), tuple(conflicts), tuple(notices))


def _sources(workspace: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files that OpenClaw's memory is made of: Markdown in the root, and all below ``memory``."""
    root = sorted(path for path in workspace.iterdir() if path.suffix == ".md")
    below = sorted((workspace / NOTES).rglob("*.md")) if (workspace / NOTES).is_dir() else []
    for path in [*root, *below]:
        name = path.relative_to(workspace).as_posix()
        hidden = any(part.startswith(".") for part in name.split("/"))
        inside = path.resolve().is_relative_to(workspace.resolve())
        if path.is_file() and not path.is_symlink() and inside and not hidden:
            yield path, name


def _place(notebook: Notebook, name: str, text: str) -> tuple[str, str]:
    """Return where a file goes, and what to say if that is not where it was."""
    aside = f"{FOLDER}/{name}"
    if name not in CURATED:
        return aside, ""
    budget = dict(notebook.budgets).get(name)
    if budget is not None and len(text) > budget:
        return aside, f"it is longer than {budget} characters, so it came in beside ours"
    try:
        ours = lines_of(files.read(notebook.root / name).text)
    except FileUnreadable as error:
        ours = [] if error.fields["reason"] == "vanished" else ["something"]
    if ours == lines_of(text) or not any(line.strip() and not line.startswith("#") for line in ours):
        return name, ""
    return aside, "ours is not empty, so it came in beside it"


def _copy(notebook: Notebook, target: str, text: str, *, dry_run: bool) -> bool:
    """Write the copy and say whether there was anything to write."""
    provenance = Provenance(SourceClass.UNTRUSTED, SessionKind.UNKNOWN)
    try:
        found = files.read(notebook.root / target)
    except FileUnreadable as error:
        if error.fields["reason"] != "vanished":
            raise
        found = None
    same = found is not None and lines_of(found.text) == lines_of(text)
    if dry_run or same:
        return not same
    if target in CURATED:
        before = found.hash if found is not None else None
        notebook.writer.replace_file(target, text, before, provenance, tool="import", reason="from OpenClaw")
        return True
    return bool(notebook.writer.import_file(target, text, provenance).record)
