"""Single keys by their dotted name: showing a value, finding what a name means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from reverie.core.config.compound import Anything, MapOf
from reverie.core.config.kinds import Kind
from reverie.core.config.load import Config
from reverie.core.config.reading import MASK, Path, dotted, secret_name
from reverie.core.config.retired import retired_place
from reverie.core.config.schema import Root, describe
from reverie.core.config.section import Part, nearest
from reverie.core.errors import ConfigError, UsageError

_SEGMENT = re.compile(r'\["([^"]*)"\]|\.?([^.\["]+)')


def split_key(name: str) -> Path:
    """Return the segments of a dotted key; one with dots in it is written ``["a.b"]``.

    Raises:
        UsageError: the name cannot be split.
    """
    parts, at = [], 0
    while at < len(name):
        found = _SEGMENT.match(name, at)
        if found is None:
            break
        parts.append(found[1] if found[1] is not None else found[2].strip())
        at = found.end()
    if not parts or at < len(name) or not all(parts) or name.startswith("."):
        raise UsageError("This is not the name of a key", key=name, hint="write it like memory.search.query.maxResults")
    return tuple(parts)


def kind_at(path: Path) -> Kind:
    """Return the kind of value that a key has.

    Raises:
        ConfigError: there is no such key; the nearest one, or its present place, is named.
    """
    kind: Kind = Part(Root)
    for depth, name in enumerate(path):
        if isinstance(kind, Part):
            section = kind.section
            entry = section.keys.get(name)
            inner = entry.kind if entry is not None else section.rest
        else:
            inner = kind.item if isinstance(kind, MapOf) else kind if isinstance(kind, Anything) else None
        if inner is None:
            raise _unknown(path, depth, kind)
        kind = inner
    return kind


def _unknown(path: Path, depth: int, kind: Kind) -> ConfigError:
    retired = retired_place(path)
    if retired is not None:
        text, place = retired
        return ConfigError(f"{dotted(path)} {text}", hint=f"use {dotted(place)}" if place else "leave it out")
    if isinstance(kind, Part) and path[depth] in kind.section.foreign:
        return ConfigError(f"{dotted(path)} has no meaning in Reverie", hint="it is a key of OpenClaw's gateway")
    near = nearest(path[depth], kind.section.keys) if isinstance(kind, Part) else None
    if near:
        hint = f"did you mean {dotted((*path[:depth], near, *path[depth + 1 :]))}?"
    else:
        last = path[-1].lower()
        places = [info.key for info in describe() if info.key.rpartition(".")[2].lower() == last]
        hint = f"did you mean {places[0]}?" if places else "`reverie config get` lists every key"
    return ConfigError("There is no such key", key=dotted(path), hint=hint)


def get_value(config: Config, name: str = "") -> Any:
    """Return the value of a key, or of all below it, as of JSON: with defaults, and secrets as ``***``.

    Raises:
        ConfigError: there is no such key.
        UsageError: the name cannot be split.
    """
    if not name.strip():
        return Part(Root).shown(config.data)
    path = split_key(name)
    kind_at(path)
    kind: Kind = Part(Root)
    value: Any = config.data
    hidden = False
    for segment in path:
        kind, value = _step(kind, value, segment)
        hidden = hidden or (isinstance(kind, Anything) and secret_name(segment))
    return MASK if hidden and value is not None else kind.shown(value)


def _step(kind: Kind, value: Any, name: str) -> tuple[Kind, Any]:
    """Return the kind and the value one segment deeper; below what is not set there is only ``None``."""
    if isinstance(kind, Part):
        entry = kind.section.keys.get(name)
        if entry is None:
            rest = kind.section.rest or Anything()
            return rest, value.others.get(name) if value is not None else None
        if value is None:
            return entry.kind, None
        return entry.kind, getattr(value, kind.section.attributes[name])
    if isinstance(kind, MapOf):
        return kind.item, value.get(kind.normal(name)) if value is not None else None
    return Anything(), value.get(name) if isinstance(value, Mapping) else None
