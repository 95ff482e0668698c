"""Reverie: long-term memory for AI agents that its owner can read, edit and trust.

Start at :class:`reverie.memory.Memory`; its verbs call the rooms in order. ``reverie.core.types`` is the glossary.
Names are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from reverie._version import __version__

if TYPE_CHECKING:
    from reverie.core.errors import ReverieError
    from reverie.core.types import Corpus, Hit, Provenance, SearchRequest, SearchResult, Sender, SourceClass
    from reverie.memory import Memory

_HOME = {
    "Memory": "reverie.memory",
    "ReverieError": "reverie.core.errors",
    "Corpus": "reverie.core.types",
    "Hit": "reverie.core.types",
    "Provenance": "reverie.core.types",
    "SearchRequest": "reverie.core.types",
    "SearchResult": "reverie.core.types",
    "Sender": "reverie.core.types",
    "SourceClass": "reverie.core.types",
}

__all__ = [
    "Corpus",
    "Hit",
    "Memory",
    "Provenance",
    "ReverieError",
    "SearchRequest",
    "SearchResult",
    "Sender",
    "SourceClass",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'reverie' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
