"""The door to workspace files: nothing else in Reverie opens one.

Reading (:mod:`~reverie.workspace.reading`) never blocks and says what it could not read. Writing
(:mod:`~reverie.workspace.atomic`) replaces whole files under a lock, compared with what the writer has seen.
"""

from __future__ import annotations

from reverie.workspace.atomic import TEMP_PREFIX, Appended, append, edit, replace
from reverie.workspace.locks import WAIT_SECONDS, locked
from reverie.workspace.reading import MAX_BYTES, FileText, contained, decode, read

__all__ = [
    "MAX_BYTES",
    "TEMP_PREFIX",
    "WAIT_SECONDS",
    "Appended",
    "FileText",
    "append",
    "contained",
    "decode",
    "edit",
    "locked",
    "read",
    "replace",
]
