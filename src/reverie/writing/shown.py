"""What of a file that a tool has shown to the assistant was not born trusted."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from reverie.core.errors import FileUnreadable
from reverie.core.provenance import is_trusted
from reverie.store.lines import is_bare
from reverie.workspace import files
from reverie.workspace.paths import NOTES, is_memory_path
from reverie.writing.judging import LineJudge
from reverie.writing.recording import lines_of


def doubt_about(
    path: str, root: Path, judge: LineJudge, *, outside: Iterable[Path] = (), lines: tuple[int, int] | None = None
) -> str:
    """Return why what a tool read at a path is not trusted; empty if nothing speaks against it.

    Only records speak: a file of which nothing is recorded, such as a program's source, is the owner's machine and no
    concern of memory.

    Args:
        path: the file, or the folder searched, as the tool was given it: absolute or relative to the workspace.
        root: the workspace.
        judge: knows whose word each line of it is.
        outside: folders and files whose content is untrusted as a whole, such as transcripts.
        lines: first and last line that were shown; the whole file by default.
    """
    try:
        real = (root / Path(path).expanduser()).resolve()
        base = root.resolve()
        folders = [folder.resolve() for folder in outside]
        if any(real.is_relative_to(folder) or (folder.is_relative_to(real) and folder.exists()) for folder in folders):
            return f"{real.name} holds what others have said"
    except (OSError, RuntimeError, ValueError):
        return "the path cannot be followed"
    if real.is_dir():
        return _doubt_below(real, base, judge)
    if not real.is_relative_to(base):
        return ""
    return _doubt_in(real, real.relative_to(base).as_posix(), judge, lines)


def _doubt_below(folder: Path, base: Path, judge: LineJudge) -> str:
    """Return the first doubt about the files below a folder, which a search through it may have shown."""
    for relative in judge.doubtful():
        real = base / relative
        if real.is_relative_to(folder) and (doubt := _doubt_in(real, relative, judge, None)):
            return doubt
    return ""


def _doubt_in(real: Path, relative: str, judge: LineJudge, lines: tuple[int, int] | None) -> str:
    if not is_memory_path(relative) and not relative.startswith(f"{NOTES}/"):
        return ""
    try:
        every = lines_of(files.read(real, max_bytes=None).text)
    except FileUnreadable as error:
        return "" if error.fields["reason"] == "vanished" else f"{relative} cannot be judged"
    first, last = lines or (1, len(every))
    judged = list(zip(every, judge.judge(relative, every).lines, strict=True))[max(0, first - 1) : last]
    count = sum(not is_trusted(born.origin) for line, born in judged if not is_bare(line))
    return f"{relative} was shown, of which {count} lines are not trusted" if count else ""
