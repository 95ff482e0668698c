"""The one error tree. Catch :class:`ReverieError` to catch everything that Reverie raises on purpose.

::

    ReverieError
    ├── UsageError                 the call itself is wrong (exit status 2)
    ├── ConfigError                the configuration cannot be read or used
    ├── WorkspaceError             a file of the workspace
    │   ├── WorkspaceMissing       the workspace folder is not there
    │   ├── PathNotAllowed         a path leaves its root, or is no memory path
    │   ├── FileUnreadable         a file cannot be read as text
    │   ├── WriteConflict          the file changed since it was read
    │   └── WriteRefused           a rule forbids this write
    ├── StoreError                 a SQLite database of an agent
    │   ├── StoreDamaged           the database is damaged
    │   ├── StoreBusy              another process holds it
    │   └── StoreUnwritable        the folder or the database cannot be written
    ├── IndexMismatch              the index was built with other settings
    ├── EmbedderUnavailable        no vectors can be made
    ├── ModelUnavailable           the language model gave no answer
    ├── ProviderFailure            a provider of models refused, or does not answer
    ├── TranscriptError            a session transcript
    │   └── TranscriptDamaged      its header or lines cannot be read
    ├── PluginError                a plugin cannot be loaded or does not answer
    └── ImportRefused              a source to import cannot be read

A class's docstring is its default message. Facts travel in fields, so that a program need not parse text;
``hint`` is what the person can do next.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any


class ReverieError(Exception):
    """Something went wrong in Reverie."""

    #: What the person can do next; a class default, replaced per raise where more is known.
    hint: str = ""

    def __init__(self, message: str | None = None, *, hint: str | None = None, **fields: Any) -> None:
        self.message = message or first_line(type(self).__doc__)
        self.fields = fields
        if hint is not None:
            self.hint = hint
        super().__init__(self.message)

    def __str__(self) -> str:
        """Return the message with its fields, on one line."""
        facts = ", ".join(f"{name}: {value}" for name, value in self.fields.items() if value not in (None, ""))
        return f"{self.message} ({facts})" if facts else self.message


def first_line(doc: str | None) -> str:
    """Return the first line of a docstring without its full stop."""
    return (doc or "").strip().splitlines()[0].rstrip(".") if doc else ""


class UsageError(ReverieError):
    """The call is wrong."""


class ConfigError(ReverieError):
    """The configuration cannot be used."""

    hint = "run `reverie config check`"


class WorkspaceError(ReverieError):
    """A workspace file cannot be used."""


class WorkspaceMissing(WorkspaceError):
    """The workspace folder is not there."""

    hint = "run `reverie init`, or set REVERIE_WORKSPACE"


class PathNotAllowed(WorkspaceError):
    """The path is outside what memory may read or write."""

    hint = "memory paths are MEMORY.md, USER.md, DREAMS.md and memory/**/*.md"


class FileUnreadable(WorkspaceError):
    """The file cannot be read as text."""


class WriteConflict(WorkspaceError):
    """The file was changed by someone else since it was read; nothing was written."""

    hint = "read it again and repeat the write"


class WriteRefused(WorkspaceError):
    """A rule forbids this write; nothing was written."""


class StoreError(ReverieError):
    """A database of the agent cannot be used."""


class StoreDamaged(StoreError):
    """The database is damaged."""

    hint = "run `reverie doctor --fix`"


class StoreBusy(StoreError):
    """Another process holds the database."""

    hint = "try again in a moment"


class StoreUnwritable(StoreError):
    """The database cannot be written."""

    hint = "check the permissions and free space of the state folder, or set REVERIE_STATE_DIR"


class IndexMismatch(ReverieError):
    """The index was built with other settings than the present ones."""

    hint = "run `reverie index --force`"


class EmbedderUnavailable(ReverieError):
    """No embedder is available."""

    hint = "keyword search goes on working; see `reverie status --deep`"

    def __init__(self, reason: str = "", *, hint: str | None = None, **fields: Any) -> None:
        self.reason = reason or first_line(type(self).__doc__)
        super().__init__(self.reason, hint=hint, **fields)


class ModelUnavailable(ReverieError):
    """The language model gave no answer."""

    hint = "what needs no model goes on working"


class Failure(StrEnum):
    """How a provider failed."""

    DOWN = "down"
    """It cannot be reached, is too slow or broken."""
    LIMITED = "limited"
    """It was asked too much."""
    DENIED = "denied"
    """The key is wrong or may not do this."""
    REFUSED = "refused"
    """It does not take this request: too much at once, or not of its form."""
    UNKNOWN = "unknown"
    """It does not know the model or the address."""
    GARBLED = "garbled"
    """Its answer cannot be read."""


class ProviderFailure(ReverieError):
    """A provider of models failed.

    ``kind`` says how, ``retry_after`` for how many seconds it asks to be left alone.
    """

    def __init__(self, text: str, *, kind: Failure, retry_after: float | None = None, hint: str | None = None) -> None:
        self.text = text
        self.kind = kind
        self.retry_after = retry_after
        super().__init__(text, hint=hint)

    @property
    def passes(self) -> bool:
        """Say whether it may be gone in a moment; a quota that is used up asks for no pause and does not pass."""
        return self.kind is Failure.DOWN or (self.kind is Failure.LIMITED and self.retry_after is not None)


class TranscriptError(ReverieError):
    """A session transcript cannot be used."""


class TranscriptDamaged(TranscriptError):
    """The transcript is damaged."""

    hint = "the file was left as it is; run `reverie doctor`"


class PluginError(ReverieError):
    """A plugin cannot be used."""

    hint = "run `reverie plugins list`"


class ImportRefused(ReverieError):
    """The source cannot be imported."""
