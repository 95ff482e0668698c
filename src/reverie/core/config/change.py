"""Changing the configuration file: checked first, then edited in place, then replaced at once."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path as File
from typing import Any, BinaryIO

from reverie.core.config.layers import read_text
from reverie.core.config.load import problems_of
from reverie.core.config.reading import INVALID, Path, Problem, Reading, dotted, is_unset
from reverie.core.config.value import kind_at, split_key
from reverie.core.errors import ConfigError, StoreBusy, StoreUnwritable
from reverie.core.json5_edit import set_in, unset_in
from reverie.core.json5_text import parse
from reverie.core.paths import Paths, make_folder

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

#: How long a change waits for another process.
LOCK_SECONDS = 10.0

HEADER = """\
// The configuration of Reverie, in JSON5: comments, trailing commas and bare keys are welcome.
// `reverie config get` lists every key with its value, `reverie config check` looks this file over.
"""


def set_value(
    paths: Paths, name: str, raw: str, *, file: File | None = None, env: Mapping[str, str] | None = None
) -> Any:
    """Set one key from text as a person types it (``8``, ``true``, ``openai``, ``["a", "b"]``); return the value.

    Comments, order and formatting of the file stay; a missing file is made. An empty text unsets the key.
    Several processes may set keys at once.

    Raises:
        ConfigError: there is no such key, the value is not of its kind, or the file is not JSON5. Nothing is written.
        UsageError: the name is not that of a key.
        StoreUnwritable: the file cannot be written.
        StoreBusy: another process has been changing it for a long time.
    """
    path = split_key(name)
    if is_unset(raw):
        unset_value(paths, name, file=file)
        return None
    env = os.environ if env is None else env
    value = _typed(path, raw, env)
    _change(paths, file, lambda text: set_in(text or HEADER, path, value), path, env)
    return value


def unset_value(paths: Paths, name: str, *, file: File | None = None) -> bool:
    """Take one key out of the file, so that its default holds; say whether it was there.

    Raises:
        ConfigError: the file is not JSON5.
        UsageError: the name is not that of a key.
        StoreUnwritable: the file cannot be written.
    """
    path = split_key(name)
    target = file or paths.config_file
    text = read_text(target)
    if text is None or parse(text).member(path) is None:
        return False
    _change(paths, file, lambda text: unset_in(text or "", path), None, {})
    return True


def _typed(path: Path, raw: str, env: Mapping[str, str]) -> Any:
    """Return the text as a value of JSON that fits the key: read as JSON5 if that fits, else as a bare text."""
    kind = kind_at(path)
    candidates: list[Any] = [raw.strip()]
    with contextlib.suppress(ConfigError):
        candidates.insert(0, parse(raw).root.value)
    first: Problem | None = None
    for value in candidates:
        if is_unset(value):
            continue
        log = Reading(env)
        read = kind.read(value, path, log)
        if read is not INVALID and not log.problems:
            return value
        first = first or (log.problems[0] if log.problems else None)
    if first is None:
        raise ConfigError("There is no value in this text", key=dotted(path))
    raise ConfigError(f"{first.key}: {first.message}", key=first.key, hint=first.hint or "nothing was changed")


def _change(
    paths: Paths, file: File | None, edit: Callable[[str | None], str], path: Path | None, env: Mapping[str, str]
) -> None:
    """Edit the file under the lock. An editor that saves meanwhile is noticed, and the edit made again."""
    target = File(os.path.realpath(file or paths.config_file))  # a link to the file stays a link
    make_folder(target.parent)
    with _locked(paths):
        for _ in range(20):
            before = read_text(target)
            after = edit(before)
            if path is not None:
                _refuse_errors(after, str(target), path, env)
            if after == before or _replace(target, before, after):
                return
    raise ConfigError("The configuration changes all the time; nothing was written", path=str(target))


def _refuse_errors(text: str, source: str, path: Path, env: Mapping[str, str]) -> None:
    """Raise for an error that concerns the key; one elsewhere must not keep anybody from mending this one."""
    name = dotted(path)
    for problem in problems_of(text, source, env):
        related = (
            problem.key == name
            or problem.key.startswith((f"{name}.", f"{name}["))
            or name.startswith(f"{problem.key}.")
        )
        if problem.error and problem.key and related:
            raise ConfigError(
                f"{problem.key}: {problem.message}", key=problem.key, hint=problem.hint or "nothing was changed"
            )


def _replace(target: File, before: str | None, after: str) -> bool:
    """Put the new text in place whole or not at all; ``False`` if the file is not what was read."""
    # Named after the process: while the lock is held nobody else writes here, and what a dead one left goes away.
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        mode = target.stat().st_mode & 0o777 if before is not None else 0o600
        temporary.unlink(missing_ok=True)
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as stream:
            stream.write(after.encode("utf-8"))
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(mode)
        if read_text(target) != before:
            return False
        temporary.replace(target)
        _sync_folder(target.parent)
    except OSError as error:
        raise StoreUnwritable("The configuration cannot be written", path=str(target), reason=error.strerror) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    return True


def _sync_folder(folder: File) -> None:
    if sys.platform != "win32":  # there a folder cannot be opened
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def _locked(paths: Paths) -> Iterator[None]:
    """Hold the lock of the configuration; the system frees it when a process dies."""
    lock = make_folder(paths.locks) / "config.lock"
    try:
        stream = lock.open("ab")
    except OSError as error:
        raise StoreUnwritable("The lock cannot be made", path=str(lock), reason=error.strerror) from error
    with stream:
        deadline = time.monotonic() + LOCK_SECONDS
        while not _taken(stream):
            if time.monotonic() >= deadline:
                raise StoreBusy("Another process is changing the configuration", path=str(lock))
            time.sleep(0.02)
        yield


def _taken(stream: BinaryIO) -> bool:
    """Try to take the lock, without waiting."""
    try:
        if sys.platform == "win32":
            stream.seek(0)
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
