"""OpenClaw's configuration as a proposal for ours: what means the same here, and what has no counterpart."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as File
from shlex import quote
from typing import Any

from reverie.core.config.change import set_value
from reverie.core.config.compound import Anything
from reverie.core.config.kinds import Secret
from reverie.core.config.layers import Layer, read_text
from reverie.core.config.reading import INVALID, Path, Reading, dotted, secret_name
from reverie.core.config.value import kind_at, split_key
from reverie.core.errors import ConfigError
from reverie.core.json5_text import parse
from reverie.core.paths import Paths, make_folder
from reverie.core.text import sha256
from reverie.workspace import files

#: Keys that say where OpenClaw's own files are: taken over, Reverie would write into them.
_PLACES = frozenset({"workspace", "agentDir"})
_PLACE_KEYS = frozenset({("session", "store")})
_NO_COUNTERPART = "it has no counterpart"


@dataclass(frozen=True, slots=True)
class Proposal:
    """Settings by dotted key, as of JSON, and the keys that are left out with the reason. No secret is in either."""

    settings: tuple[tuple[str, Any], ...] = ()
    without: tuple[tuple[str, str], ...] = ()

    @property
    def commands(self) -> tuple[str, ...]:
        """Return the commands that set all of it."""
        return tuple(
            f"reverie config set {quote(key)} {quote(json.dumps(value, ensure_ascii=False))}"
            for key, value in self.settings
        )

    def text(self, source: str) -> str:
        """Return the proposal as a configuration file."""
        tree: dict[str, Any] = {}
        for key, value in self.settings:
            place = tree
            *above, last = split_key(key)
            for name in above:
                place = place.setdefault(name, {})
            place[last] = value
        return (
            f"// Proposed by `reverie import openclaw` from {source}. Nothing reads this file:\n"
            f"// copy what you want into reverie.json5, or import again with --apply-config.\n"
            f"{json.dumps(tree, ensure_ascii=False, indent=2)}\n"
        )


def propose(layer: Layer) -> Proposal:
    """Return what of a configuration is understood here, every value checked as our own are."""
    settings: list[tuple[str, Any]] = []
    # Old places and keys that mean nothing any more were told while the layer was read.
    without = [(each.key, each.message) for each in layer.problems if "is read as" not in each.message]
    for path, value in _leaves(layer.tree):
        if value == {}:
            continue
        reason = _reason(path, value)
        if reason:
            without.append((dotted(path), reason))
        else:
            settings.append((dotted(path), value))
    return Proposal(tuple(settings), tuple(dict.fromkeys(without)))


def _leaves(tree: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    for name, value in tree.items():
        here = (*path, str(name))
        if isinstance(value, Mapping) and value and not _is_leaf(here):
            yield from _leaves(value, here)
        else:
            yield here, value


def _is_leaf(path: Path) -> bool:
    """Say whether nothing below a path is known: then it is told as one."""
    try:
        return isinstance(kind_at(path), Anything)
    except ConfigError:
        return True


def _reason(path: Path, value: Any) -> str:
    """Return why a setting is left out; empty if it is not."""
    if path[-1] in _PLACES or path in _PLACE_KEYS:
        return "it names a place of OpenClaw's own files, which Reverie only reads"
    try:
        kind = kind_at(path)
    except ConfigError as error:
        return (
            f"{error.message.removeprefix(dotted(path)).strip()}" if "has no meaning" in str(error) else _NO_COUNTERPART
        )
    if isinstance(kind, Secret) or secret_name(path[-1]):
        return "it is a secret, which is not copied"
    if isinstance(kind, Anything):
        return "it belongs to a plugin that is not here"
    log = Reading({})
    if kind.read(value, path, log) is INVALID or log.problems or log.foreign:
        found = [problem.message for problem in log.problems] or [
            f"{', '.join(sorted(log.foreign))}: {_NO_COUNTERPART}"
        ]
        return found[0]
    return ""


@dataclass(frozen=True, slots=True)
class Applied:
    """What became of a proposal: where it was written, the keys that were set, and those that are set here already."""

    file: str = ""
    set: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def write_down(proposal: Proposal, paths: Paths, source: str) -> str:
    """Write the proposal into the state folder, for its owner to look at, and return where.

    Raises:
        WriteRefused: it cannot be written.
    """
    target = make_folder(paths.state / "imports") / "openclaw.json5"
    text = proposal.text(source).encode("utf-8", "backslashreplace")
    before = sha256(target.read_bytes()) if target.is_file() else None
    if before != sha256(text):
        files.replace(target, text, expected=before, lock_dir=paths.locks)
    return str(target)


def apply(proposal: Proposal, paths: Paths, config: File | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Set what is proposed in our configuration. A key that is set there stays as it is.

    Returns:
        The keys that were set, and those that were left alone because they are set to something else.
    """
    done: list[str] = []
    kept: list[str] = []
    for key, value in proposal.settings:
        text = read_text(config or paths.config_file)
        present = parse(text).member(tuple(split_key(key))) if text is not None else None
        if present is None:
            set_value(paths, key, json.dumps(value, ensure_ascii=False), file=config)
            done.append(key)
        elif present.node.value != value:
            kept.append(key)
    return tuple(done), tuple(kept)
