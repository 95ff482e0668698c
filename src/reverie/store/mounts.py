"""Which file system a path lies on, read from the text of a mount table.

SQLite's write-ahead log needs shared memory and locks that network and VM-shared folders do not give; there it
corrupts (list A, DUR-04). The kind must be known before the database is read, hence from the mount table and
not by trial.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

_TABLE = Path("/proc/self/mounts")
_OCTAL = re.compile(r"\\([0-7]{3})")

#: Kinds whose locks and shared memory do not reach every machine or the host of a virtual machine.
_SHARED_KINDS = frozenset(
    {
        *("nfs", "nfs3", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "virtiofs", "9p", "v9fs"),
        *("vboxsf", "vmhgfs", "prl_fs", "drvfs", "afs", "ceph", "glusterfs", "lustre", "ocfs2", "gfs2"),
    }
)


def mount_table() -> str:
    """Return the mount table of this process, one mount a line; empty where the system has none."""
    try:
        return _TABLE.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def file_system(path: Path, table: str) -> str:
    """Return the kind of file system under ``path`` as ``table`` names it, or ``""`` if no line covers it.

    The longest mount point wins; of two mounts on one point, the later one (it hides the earlier).
    """
    target = os.path.realpath(path)
    best, kind = -1, ""
    for line in table.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = _OCTAL.sub(lambda match: chr(int(match[1], 8)), fields[1])
        inside = target == point or target.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= best:
            best, kind = len(point), fields[2]
    return kind


def shares_memory(path: Path, table: str) -> bool:
    """Say whether every process that opens ``path`` shares its memory: not so on network and VM-shared mounts.

    An unknown file system counts as local; a path that begins with a server's name is a network path.
    """
    if str(path).startswith(("\\\\", "//")):
        return False
    kind = file_system(path, table).lower()
    return kind not in _SHARED_KINDS and not kind.startswith("fuse")
