"""The layers that a configuration is put together from: the file, the project's file, and what a caller gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Any

from reverie.core.config.reading import Path, Problem, Reading, dotted, is_unset
from reverie.core.config.retired import Migration, migrate
from reverie.core.config.schema import PROJECT_KEYS, Root
from reverie.core.errors import ConfigError
from reverie.core.json5_text import Document, parse

MAX_BYTES = 4 * 1024 * 1024
PROJECT_FILE = ".reverie.json5"


@dataclass(slots=True)
class Layer:
    """One source of settings: its tree, with everything in its present place, and what is to be said about it."""

    tree: dict[str, Any]
    document: Document
    migration: Migration
    source: str
    problems: list[Problem] = field(default_factory=list)

    def locate(self, path: Path) -> int | None:
        """Return the line that a key stands on."""
        return self.document.line_of(self.migration.old_place(path))

    def reading(self, env: Mapping[str, str] | None) -> Reading:
        """Return a reading that knows this layer's lines."""
        return Reading(env, self.source, self.locate)

    def note(self, path: Path, message: str, *, error: bool = False, hint: str = "") -> None:
        """Note a problem at a key of the file, in its own place there."""
        self.problems.append(Problem(dotted(path), message, self.document.line_of(path), error, self.source, hint))


def read_text(file: File) -> str | None:
    """Return the text of a file, ``None`` if it is not there. A byte order mark stays part of the text.

    Raises:
        ConfigError: it cannot be read, is no UTF-8, or is far too large.
    """
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError("The configuration cannot be read", path=str(file), reason=error.strerror) from error
    if len(data) > MAX_BYTES:
        raise ConfigError("The configuration is too large", path=str(file), limit=f"{MAX_BYTES} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ConfigError("The configuration is not UTF-8", path=str(file), line=line) from error


def layer_of(text: str, source: str) -> Layer:
    """Return the layer that a text holds.

    Raises:
        ConfigError: it is not JSON5, or not an object.
    """
    try:
        document = parse(text)
    except ConfigError as error:
        raise ConfigError(error.message, hint=error.hint, path=source or None, **error.fields) from error
    if document.root.members is None:
        line = document.line(document.root.start)
        raise ConfigError("The configuration is not an object", path=source or None, line=line, hint="put it in { }")
    migration = migrate(document.root.value)
    layer = Layer(migration.tree, document, migration, source)
    for name, offset in document.duplicates:
        line = document.line(offset)
        layer.problems.append(Problem(name, "is given twice; this one counts", line, source=source))
    for path, message in migration.notes:
        layer.note(path, message)
    if "$include" in layer.tree:
        layer.tree.pop("$include")
        layer.note(("$include",), "is not followed: put the settings in this file")
    return layer


def project_layer(place: File) -> Layer | None:
    """Return what the file of a project may set; everything else in it is refused by name.

    Anyone may have written a project that was cloned, so a bad file there stops nothing.
    """
    file = place / PROJECT_FILE if place.is_dir() else place
    try:
        text = read_text(file)
        layer = layer_of(text, str(file)) if text is not None else None
    except ConfigError as error:
        layer = layer_of("", str(file))
        layer.problems.append(
            Problem("", f"{error.message}; it is ignored", error.fields.get("line"), source=str(file))
        )
    if layer is None:
        return None
    allowed = [tuple(name.split(".")) for name in PROJECT_KEYS]
    kept: dict[str, Any] = {}
    for path, value in _leaves(layer.tree):
        if any(path[: len(prefix)] == prefix for prefix in allowed):
            _put(kept, path, value)
        else:
            hint = f"a project may set {', '.join(PROJECT_KEYS)}"
            layer.note(layer.migration.old_place(path), "is refused: a project may not set it", hint=hint)
    layer.tree = _only_good(kept, layer)
    return layer


def _only_good(tree: dict[str, Any], layer: Layer) -> dict[str, Any]:
    """Drop the values of a project that are wrong, with a warning in place of an error."""
    log = layer.reading(None)
    Root.read(tree, (), log)
    wrong = {problem.key for problem in log.problems if problem.error}
    for problem in log.problems:
        text = f"{problem.message}; it is ignored" if problem.error else problem.message
        layer.problems.append(Problem(problem.key, text, problem.line, source=problem.source, hint=problem.hint))
    kept: dict[str, Any] = {}
    for path, value in _leaves(tree):
        if dotted(path) not in wrong:
            _put(kept, path, value)
    return kept


def given_layer(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tree of explicit arguments: dotted keys and their values; unset ones do nothing."""
    tree: dict[str, Any] = {}
    for name, value in values.items():
        if not is_unset(value):
            _put(tree, tuple(name.split(".")), value)
    return tree


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Return both trees in one: what is set above wins, objects are merged, ``extraPaths`` are joined."""
    merged = dict(below)
    for name, value in above.items():
        present = merged.get(name)
        if is_unset(value):
            continue
        if isinstance(present, Mapping) and isinstance(value, Mapping):
            merged[name] = merge(present, value)
        elif name == "extraPaths" and isinstance(present, list) and isinstance(value, (list, tuple)):
            merged[name] = [*present, *value]
        else:
            merged[name] = value
    return merged


def at(tree: Any, *path: str) -> dict[str, Any]:
    """Return the object at a path of a tree, an empty one if there is none."""
    for name in path:
        tree = tree.get(name) if isinstance(tree, Mapping) else None
    return dict(tree) if isinstance(tree, Mapping) else {}


def _leaves(tree: Mapping[str, Any], path: Path = ()) -> list[tuple[Path, Any]]:
    found: list[tuple[Path, Any]] = []
    for name, value in tree.items():
        here = (*path, name)
        found += _leaves(value, here) if isinstance(value, Mapping) and value else [(here, value)]
    return found


def _put(tree: dict[str, Any], path: Path, value: Any) -> None:
    for name in path[:-1]:
        tree = tree.setdefault(name, {})
    tree[path[-1]] = value
