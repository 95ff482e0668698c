"""Finding and reading workspace files: never outside the root, never blocking, never failing for the text inside."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from reverie.core.errors import FileUnreadable, PathNotAllowed
from reverie.core.text import sha256

#: A larger file is skipped by name.
MAX_BYTES = 8 * 1024 * 1024

_BOM = b"\xef\xbb\xbf"
_SNIFF_BYTES = 8192
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_KINDS = (
    (stat.S_ISDIR, "folder"),
    (stat.S_ISFIFO, "named pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISLNK, "symbolic link"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)
_REASONS = {
    errno.ENOENT: "vanished",
    errno.ENOTDIR: "vanished",
    errno.ELOOP: "symbolic link",
    errno.ENXIO: "socket",
    errno.EISDIR: "folder",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ENOSPC: "no space left on the device",
    errno.EDQUOT: "disk quota used up",
    errno.EROFS: "read-only file system",
    errno.ENAMETOOLONG: "name too long",
}


def contained(root: Path, relative: str) -> Path:
    """Return the real path of ``relative`` inside ``root``; it need not exist.

    Both ``/`` and a backslash count as separators when ``..`` is looked for, so that a path that is harmless here is
    not a way out on another system.

    Raises:
        PathNotAllowed: the path is empty, absolute, climbs, holds NUL, or a symbolic link on it leads outside.
    """
    if not relative or "\0" in relative:
        raise PathNotAllowed(path=relative.replace("\0", "\\0"), reason="empty, or holds NUL")
    if relative[0] in "/\\" or _DRIVE.match(relative) or Path(relative).is_absolute():
        raise PathNotAllowed(path=relative, reason="absolute")
    if ".." in re.split(r"[\\/]", relative):
        raise PathNotAllowed(path=relative, reason="climbs out of its folder")
    try:
        base = root.resolve()
        target = (base / relative).resolve()
    except (OSError, RuntimeError, ValueError) as error:
        raise PathNotAllowed(path=ascii(relative), reason="not a usable path") from error
    if target == base or not target.is_relative_to(base):
        raise PathNotAllowed(path=relative, reason="leads outside")
    return target


@dataclass(frozen=True, slots=True)
class FileText:
    """A file read as text.

    ``text`` is for reading and indexing; in a ``lossy`` file each byte that is no UTF-8 stands as its Latin-1
    character. ``exact`` is for editing: such bytes are escaped, so that :meth:`encode` gives every byte back.
    ``hash`` is the sha256 of the raw bytes, ``newline`` the line ending that prevails.
    """

    text: str
    exact: str
    hash: str
    bom: bool
    newline: str
    lossy: bool
    notices: tuple[str, ...] = ()

    def encode(self, exact: str) -> bytes:
        """Return the bytes to write for an edited ``exact`` text, with the BOM if the file had one."""
        return (_BOM if self.bom else b"") + exact.encode("utf-8", "surrogateescape")


def read(path: Path, *, max_bytes: int | None = MAX_BYTES) -> FileText:
    """Read a text file without ever blocking or following a symbolic link.

    Raises:
        FileUnreadable: its ``reason`` field says why: ``vanished``, ``too large``, ``binary``, ``UTF-16 text``,
            ``permission denied``, or what the thing is instead of a file (``folder``, ``named pipe``, ...).
    """
    return as_text(read_bytes(path, max_bytes), path)


def as_text(data: bytes, path: Path) -> FileText:
    """Return the bytes as text, or raise :class:`FileUnreadable` for what is plainly no UTF-8 text."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise FileUnreadable(path=str(path), reason="UTF-16 text", hint="save it as UTF-8")
    if b"\0" in data[:_SNIFF_BYTES]:
        raise FileUnreadable(path=str(path), reason="binary")
    return decode(data, name=path.name)


def decode(data: bytes, *, name: str = "") -> FileText:
    """Return raw bytes as :class:`FileText`; every input has an answer."""
    bom = data.startswith(_BOM)
    body = data[len(_BOM) :] if bom else data
    notices: tuple[str, ...] = ()
    try:
        exact = text = body.decode("utf-8")
    except UnicodeDecodeError:
        exact = body.decode("utf-8", "surrogateescape")
        text, odd = re.subn("[\udc80-\udcff]", lambda found: chr(ord(found[0]) - 0xDC00), exact)
        notices = (f"{name or 'file'}: not valid UTF-8; {odd} bytes were read as Latin-1",)
    crlf = body.count(b"\r\n")
    newline = "\r\n" if crlf * 2 > body.count(b"\n") else "\n"
    return FileText(text, exact, sha256(data), bom, newline, bool(notices), notices)


def read_bytes(path: Path, max_bytes: int | None) -> bytes:
    """Return the raw bytes of a regular file; raises as :func:`read`. ``None`` means whatever its size."""
    try:
        with opened(path) as (file, found):
            if not stat.S_ISREG(found.st_mode):
                raise FileUnreadable(path=str(path), reason=kind_of(found.st_mode))
            if max_bytes is None:
                return file.read()
            if found.st_size > max_bytes:
                raise FileUnreadable(path=str(path), reason="too large", size=found.st_size, limit=max_bytes)
            data = file.read(max_bytes + 1)
    except (OSError, ValueError) as error:
        raise FileUnreadable(path=str(path), reason=reason_of(error)) from error
    if len(data) > max_bytes:
        raise FileUnreadable(path=str(path), reason="too large", limit=max_bytes)
    return data


@contextmanager
def opened(path: Path) -> Iterator[tuple[BufferedReader, os.stat_result]]:
    """Open without waiting for the writer of a pipe and without following a link in the last place."""
    flags = os.O_RDONLY
    for extra in ("O_NONBLOCK", "O_NOFOLLOW", "O_CLOEXEC", "O_BINARY", "O_NOCTTY"):
        flags |= getattr(os, extra, 0)
    descriptor = os.open(path, flags)
    try:
        found = os.fstat(descriptor)
        # fdopen refuses a folder; the caller says what the thing is, so it is told before that.
        if stat.S_ISDIR(found.st_mode):
            raise IsADirectoryError(errno.EISDIR, "folder", str(path))
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            yield file, found
    finally:
        os.close(descriptor)


def kind_of(mode: int) -> str:
    """Return what a thing that is no regular file is, in a word for people."""
    return next((name for test, name in _KINDS if test(mode)), "not a regular file")


def reason_of(error: Exception) -> str:
    """Return why the system refused, in a few words for people."""
    if isinstance(error, OSError) and error.errno is not None:
        return _REASONS.get(error.errno) or os.strerror(error.errno)
    return str(error)
