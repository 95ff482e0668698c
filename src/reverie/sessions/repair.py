"""Repair of a transcript: a copy first, then one step from the old file to the new one."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from reverie.core.errors import TranscriptError
from reverie.core.text import sha256
from reverie.sessions.lines import parsed, to_line
from reverie.sessions.messages import iso
from reverie.sessions.reading import header_of, is_session_id, new_header
from reverie.workspace.files import TEMP_PREFIX
from reverie.workspace.reading import opened, reason_of


def repair_header(path: Path, now: datetime) -> Path | None:
    """Give a transcript with a damaged header a new one, and return the copy that was made of it before.

    Every other line stays as it is, byte for byte. A transcript with a sound header is not touched: ``None``. The
    caller holds the lock of the transcript.

    Raises:
        TranscriptError: the copy or the repair failed; the original is as it was. ``backup`` names the copy, if made.
    """
    backup: Path | None = None
    try:
        fault, first = _header_state(path)
        if not fault:
            return None
        backup = _copy_aside(path, now)
        _rewrite(path, to_line(new_header(_id_from(path), now)), first)
    except OSError as error:
        raise TranscriptError(
            "The transcript could not be repaired; it is as it was",
            path=str(path),
            reason=reason_of(error),
            backup=str(backup) if backup else None,
        ) from error
    return backup


def _header_state(path: Path) -> tuple[str, int]:
    """Return what is wrong with the header, and the byte at which the lines to keep begin."""
    with opened(path) as (file, _):
        first = file.readline()
    data = parsed(first.removeprefix(b"\xef\xbb\xbf"))[0]
    if data is None:
        return ("damaged", len(first)) if first.strip() else ("missing", 0)
    return ("", 0) if header_of(data) is not None else ("missing", 0)


def _id_from(path: Path) -> str:
    stem = path.name.split(".jsonl")[0]
    return stem if is_session_id(stem) else sha256(stem)[:32]


def _copy_aside(path: Path, now: datetime) -> Path:
    """Copy a transcript beside itself under the name of an archive, safe on disk before anything else happens."""
    while True:
        copy = path.with_name(f"{path.name}.bak.{iso(now).replace(':', '-')}")
        try:
            with opened(path) as (source, _), copy.open("xb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
                target.flush()
                os.fsync(target.fileno())
            return copy
        except FileExistsError:
            now += timedelta(milliseconds=1)
        except OSError:
            with suppress(OSError):
                copy.unlink()
            raise


def _rewrite(path: Path, header: bytes, first: int) -> None:
    """Put a header before the bytes from ``first`` on, as one step."""
    temporary = path.with_name(f"{TEMP_PREFIX}{sha256(path.name)[:16]}-{os.urandom(6).hex()}")
    try:
        with opened(path) as (source, found), temporary.open("xb") as target:
            source.seek(first)
            target.write(header)
            shutil.copyfileobj(source, target, 1 << 20)
            target.flush()
            temporary.chmod(found.st_mode & 0o777)
            os.fsync(target.fileno())
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink()
