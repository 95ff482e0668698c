"""Old places of keys, and keys that are gone: read where they stood, and reported.

Two generations of OpenClaw files are read. What is in its new place wins over what is in an old one.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from reverie.core.config.reading import Path, dotted
from reverie.core.paths import DEFAULT_AGENT

_INDEX = "the index has a fixed place and may be deleted at any time"
_FIXED = "this is fixed now"
_FUSION = "how keywords and vectors are weighed is fixed and measured"
_FOLLOWS = "transcripts are indexed as they grow"

#: Inside ``memory.search`` and every older home of it: old path, new path (``None``: gone), why it is gone.
_SEARCH: tuple[tuple[str, str | None, str], ...] = (
    ("query.hybrid.mmr.enabled", "mmr.enabled", ""),
    ("query.hybrid.mmr.lambda", "mmr.lambda", ""),
    ("query.hybrid.temporalDecay.enabled", "recency.enabled", ""),
    ("query.hybrid.temporalDecay.halfLifeDays", "recency.halfLifeDays", ""),
    ("query.hybrid", None, _FUSION),
    ("store.path", None, _INDEX),
    ("store.driver", None, _INDEX),
    ("sync.onSessionStart", None, _FOLLOWS),
    ("sync.intervalMinutes", None, "files are watched, and a search looks first"),
    ("sync.embeddingBatchTimeoutSeconds", None, _FIXED),
    ("sync.sessions", None, _FOLLOWS),
    ("remote.nonBatchConcurrency", None, _FIXED),
    ("remote.batch.wait", None, _FIXED),
    ("remote.batch.concurrency", None, _FIXED),
    ("remote.batch.pollIntervalMs", None, _FIXED),
    ("remote.batch.timeoutMinutes", None, _FIXED),
    ("local.modelCacheDir", None, "models are kept in the cache folder of the state folder"),
    ("local.contextSize", None, _FIXED),
    ("qmd.extraCollections", "extraPaths", ""),
    ("qmd", None, "the built-in index does this"),
)

_SETTINGS: tuple[tuple[str, str | None, str], ...] = (
    ("compaction.memoryFlush.prompt", None, "the memory engine supplies the text of the flush"),
    ("compaction.memoryFlush.systemPrompt", None, "the memory engine supplies the text of the flush"),
    ("compaction.truncateAfterCompaction", None, "a transcript is never cut"),
    ("bootstrapPromptTruncationWarning", None, "what was cut is always said in the trace and by `reverie status`"),
)

_DREAMING = "plugins.entries.memory-core.config.dreaming"

_ROOT: tuple[tuple[str, str | None, str], ...] = (
    ("memory.qmd.paths", "memory.search.extraPaths", ""),
    ("memory.qmd.sessions.enabled", "memory.search.experimental.sessionMemory", ""),
    ("memory.qmd.limits.maxResults", "memory.search.query.maxResults", ""),
    ("memory.qmd", None, "the built-in index does this"),
    ("memory.backend", None, "the engine is chosen with plugins.slots.memory"),
    ("userTimezone", "agents.defaults.userTimezone", ""),
    ("session.idleMinutes", "session.reset.idleMinutes", ""),
    ("session.resetByType.dm", "session.resetByType.direct", ""),
    ("session.maintenance.pruneDays", "session.maintenance.pruneAfter", ""),
    ("session.maintenance.rotateBytes", None, "sessions.json needs no rotation"),
    ("plugins.entries.active-memory.config.qmd", None, "the built-in index does this"),
    (f"{_DREAMING}.phases.light.sources", None, _FIXED),
    (f"{_DREAMING}.phases.rem.sources", None, _FIXED),
    (f"{_DREAMING}.phases.deep.sources", None, _FIXED),
    (f"{_DREAMING}.phases.deep.recovery", None, "it never had an effect"),
)

_ABSENT: Any = object()

Convert = Callable[[Any], Any]


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(slots=True)
class Migration:
    """A tree with everything in its present place.

    ``moved`` maps new paths to the old ones, for line numbers; ``notes`` are the old path and what to say about it.
    """

    tree: dict[str, Any]
    moved: dict[Path, Path] = field(default_factory=dict)
    notes: list[tuple[Path, str]] = field(default_factory=list)

    def old_place(self, path: Path) -> Path:
        """Return where in the file the value at ``path`` stands."""
        for length in range(len(path), 0, -1):
            old = self.moved.get(path[:length])
            if old is not None:
                return self.old_place((*old, *path[length:]))
        return path

    def move(
        self, old: Path, new: Path | None, reason: str = "", convert: Callable[[Any], Any] = lambda value: value
    ) -> None:
        """Move what is at ``old``, if anything, below what is at ``new``; without ``new`` drop it."""
        value = _take(self.tree, old)
        if value is _ABSENT:
            return
        if new is None:
            self.notes.append((self.old_place(old), f"has no effect any more: {reason}"))
            return
        self.notes.append((self.old_place(old), f"is an old place; it is read as {dotted(new)}"))
        self._put(new, convert(value), old)

    def _put(self, new: Path, value: Any, old: Path) -> None:
        present = _look(self.tree, new)
        if isinstance(value, Mapping) and isinstance(present, Mapping):
            for name, each in value.items():
                self._put((*new, name), each, (*old, name))
            return
        if present is _ABSENT or present is None:
            holder = self.tree
            for name in new[:-1]:
                inner = holder.get(name)
                if inner is None:
                    inner = holder[name] = {}
                if not isinstance(inner, dict):
                    return  # the reader says what is wrong there
                holder = inner
            holder[new[-1]] = value
            self.moved[new] = old


def migrate(raw: Mapping[str, Any]) -> Migration:
    """Return ``raw`` with old places moved to the present ones. ``raw`` is not changed."""
    found = Migration(copy.deepcopy(dict(raw)))
    search = ("memory", "search")
    found.move(("agents", "defaults", "memorySearch"), search)
    found.move(("memorySearch",), search)
    _agents_list(found)
    entries = _look(found.tree, ("agents", "entries"))
    homes: list[Path] = [("agents", "entries", ident) for ident in entries] if isinstance(entries, Mapping) else []
    for home in homes:
        found.move((*home, "memorySearch"), (*home, *search))
    everywhere: list[Path] = [(), *homes]
    for home in everywhere:
        for old, new, reason in _SEARCH:
            found.move(
                (*home, *search, *old.split(".")),
                (*home, *search, *new.split(".")) if new else None,
                reason,
                _extra_paths if new == "extraPaths" else _as_it_is,
            )
    everywhere = [("agents", "defaults"), *homes]
    for home in everywhere:
        for old, new, reason in _SETTINGS:
            found.move((*home, *old.split(".")), tuple(new.split(".")) if new else None, reason)
    reset = _look(found.tree, ("session", "reset"))
    if _look(found.tree, ("session", "idleMinutes")) is not _ABSENT and not (
        isinstance(reset, Mapping) and reset.get("mode")
    ):
        found._put(("session", "reset"), {"mode": "idle"}, ("session", "idleMinutes"))
    for old, new, reason in _ROOT:
        convert = (
            _extra_paths if old.endswith("qmd.paths") else _days if old.endswith("pruneDays") else lambda value: value
        )
        found.move(tuple(old.split(".")), tuple(new.split(".")) if new else None, reason, convert)
    return found


def retired_place(path: Path) -> tuple[str, Path | None] | None:
    """Return what to say to somebody who sets an old key and its present place, or ``None`` if it is no old key."""
    tree: dict[str, Any] = {}
    holder = tree
    for name in path[:-1]:
        holder[name] = {}
        holder = holder[name]
    holder[path[-1]] = True
    found = migrate(tree)
    if not found.notes:
        return None
    if not found.tree:
        return found.notes[-1][1], None
    place: list[str] = []
    inner: Any = found.tree
    while isinstance(inner, Mapping) and inner:
        place.append(next(iter(inner)))
        inner = inner[place[-1]]
    return f"has moved to {dotted(tuple(place))}", tuple(place)


def _agents_list(found: Migration) -> None:
    agents = found.tree.get("agents")
    listed = agents.get("list") if isinstance(agents, dict) else None
    if not isinstance(listed, list):
        return
    where = ("agents", "list")
    _take(found.tree, where)
    found.notes.append((where, "is an old place; it is read as agents.entries"))
    named = [entry for entry in listed if isinstance(entry, dict) and isinstance(entry.get("id"), str)]
    if named and not any(entry.get("default") or entry["id"].strip().lower() == DEFAULT_AGENT for entry in named):
        named[0]["default"] = True  # in a list the first agent was the one to use when none was named
    for entry in listed:
        if not isinstance(entry, dict) or not isinstance(entry.get("id"), str) or not entry["id"].strip():
            found.notes.append((where, "holds an agent without an id, which is left out"))
            continue
        rest = {name: value for name, value in entry.items() if name != "id"}
        found._put(("agents", "entries", entry["id"].strip()), rest, where)


def _extra_paths(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [
        {name: each[name] for name in ("path", "pattern") if name in each} if isinstance(each, Mapping) else each
        for each in value
    ]


def _days(value: Any) -> Any:
    return f"{value}d" if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _look(tree: Any, path: Path) -> Any:
    for name in path:
        if not isinstance(tree, Mapping) or name not in tree:
            return _ABSENT
        tree = tree[name]
    return tree


def _take(tree: dict[str, Any], path: Path) -> Any:
    """Remove and return what is at ``path``; objects that become empty by it go too."""
    holder = _look(tree, path[:-1])
    if not isinstance(holder, dict) or path[-1] not in holder:
        return _ABSENT
    value = holder.pop(path[-1])
    if not holder and len(path) > 1:
        _take(tree, path[:-1])
    return value


_CONVERTED: Mapping[str, Convert] = {"memory.qmd.paths": _extra_paths, "session.maintenance.pruneDays": _days}
