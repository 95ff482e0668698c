"""Sections of the configuration: classes whose attributes are keys, read from a raw JSON tree.

A section is declared as a table::

    class Query(Section):
        max_results: int = key(Whole(1), 6, "How many hits a search returns.")

Its instances are frozen; attributes are the JSON keys in snake case and hold the value or the default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Self, TypeVar, cast

from reverie.core.config.kinds import Kind
from reverie.core.config.reading import INVALID, Path, Reading, dotted, is_unset

T = TypeVar("T")
S = TypeVar("S", bound="Section")


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a section: its kind, its default (as read), and what it means. ``name`` is the JSON name."""

    kind: Kind
    default: Any
    meaning: str
    name: str = ""
    retired: str = ""


@dataclass(frozen=True, slots=True)
class KeyInfo:
    """One line of the reference: a dotted key (``<id>`` stands for a name), its type, default, range and meaning."""

    key: str
    type: str
    default: Any
    range: str
    meaning: str


def key(kind: Kind, default: T, meaning: str, *, name: str = "", retired: str = "") -> T:
    """Declare a key; it is typed as its value. ``retired`` tells why setting it has no effect any more."""
    kept = MappingProxyType(default) if isinstance(default, dict) else default  # shared by all: it must not change
    return cast("T", Key(kind, kept, meaning, name, retired))


def part(section: type[S], meaning: str = "", *, name: str = "") -> S:
    """Declare a section inside a section."""
    return cast("S", Key(Part(section), None, meaning, name))


class Section:
    """A part of the configuration.

    Unknown keys are warned of by name, ``foreign`` ones belong to a program that shares the file, and ``rest``, if set,
    is the kind of all keys that are not declared (found in ``others``). ``described_at`` is a base class and the place
    in the reference where its keys are explained.
    """

    keys: ClassVar[Mapping[str, Key]] = {}
    attributes: ClassVar[Mapping[str, str]] = {}
    foreign: ClassVar[frozenset[str]] = frozenset()
    rest: ClassVar[Kind | None] = None
    rest_name: ClassVar[str] = "<id>"
    described_at: ClassVar[tuple[type[Section], str] | None] = None
    _empty: ClassVar[Any] = None

    others: Mapping[str, Any]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Collect the declared keys; those of the base class come first."""
        super().__init_subclass__(**kwargs)
        keys, attributes = dict(cls.keys), dict(cls.attributes)
        for attribute, value in list(vars(cls).items()):
            if isinstance(value, Key):
                name = value.name or camel(attribute)
                keys[name] = value
                attributes[name] = attribute
                delattr(cls, attribute)
        cls.keys, cls.attributes, cls._empty = keys, attributes, None

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse: a configuration does not change."""
        raise AttributeError(f"{type(self).__name__} is frozen: {name} cannot be set")

    def __repr__(self) -> str:
        """Return what is set, secrets masked."""
        return f"{type(self).__name__}({Part(type(self)).shown(self)})"

    def __eq__(self, other: object) -> bool:
        """Say whether both are the same section with the same values."""
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        """Return a hash by class: sections hold mappings."""
        return hash(type(self))

    @classmethod
    def empty(cls) -> Self:
        """Return the section with nothing set."""
        if cls._empty is None:
            cls._empty = cls.read({}, (), Reading(None))
        return cast("Self", cls._empty)

    @classmethod
    def read(cls, raw: Mapping[str, Any], path: Path, log: Reading) -> Self:
        """Read a raw tree. Problems go to ``log``; a value that is wrong or unset gives the default."""
        found = cls.__new__(cls)
        values = vars(found)
        for name, entry in cls.keys.items():
            given = raw.get(name)
            value = INVALID
            if not is_unset(given):
                if entry.retired:
                    log.report((*path, name), f"has no effect: {entry.retired}")
                value = entry.kind.read(given, (*path, name), log)
            if value is INVALID:
                value = entry.kind.section.empty() if isinstance(entry.kind, Part) else entry.default
            values[cls.attributes[name]] = value
        values["others"] = cls._read_others(raw, path, log)
        return found

    @classmethod
    def _read_others(cls, raw: Mapping[str, Any], path: Path, log: Reading) -> Mapping[str, Any]:
        others: dict[str, Any] = {}
        for name, value in raw.items():
            if name in cls.keys:
                continue
            if cls.rest is not None:
                read = INVALID if is_unset(value) else cls.rest.read(value, (*path, name), log)
                if read is not INVALID:
                    others[name] = read
            elif name in cls.foreign:
                log.foreign.append(dotted((*path, name)))
            else:
                near = nearest(name, cls.keys)
                hint = f"did you mean {dotted((*path, near))}?" if near else ""
                log.report((*path, name), "is not a known key", hint=hint)
        return MappingProxyType(others)


class Part(Kind):
    """A section as a value. With ``shorthand``, a bare text stands for an object with that one key."""

    noun = "object"

    def __init__(self, section: type[Section], shorthand: str = "", same_as: str = "") -> None:
        self.section, self.shorthand, self.same_as = section, shorthand, same_as
        self.noun = f"text or object with {', '.join(section.keys)}" if shorthand else "object"

    def read(self, value: object, path: Path, log: Reading) -> Any:
        """Return the section."""
        if self.shorthand and isinstance(value, str):
            value = {self.shorthand: value}
        if not isinstance(value, Mapping):
            log.report(path, f"expected {self.expected}, got {self.described(value)}", error=True)
            return None
        return self.section.read(value, path, log)

    def shown(self, value: Any) -> Any:
        """Return a plain object with every key, masked where secret."""
        if value is None:
            return None
        section = type(value)
        shown = {
            name: entry.kind.shown(getattr(value, section.attributes[name])) for name, entry in section.keys.items()
        }
        if section.rest is not None:
            shown |= {name: section.rest.shown_as(name, each) for name, each in value.others.items()}
        return shown


def describe_section(section: type[Section], prefix: Path = ()) -> Iterator[KeyInfo]:
    """Yield every key below a section, in the order of declaration."""
    base, place = section.described_at or (Section, "")
    entries = [(name, entry) for name, entry in section.keys.items() if base.keys.get(name) is not entry]
    if place:
        yield KeyInfo(".".join((*prefix, "*")), "object", None, "", f"The keys of `{place}`, for this one alone.")
    if section.rest is not None:
        entries.append((section.rest_name, Key(section.rest, None, "Handed on as it is.")))
    for name, entry in entries:
        yield from _describe(entry, (*prefix, name))


def _describe(entry: Key, path: Path) -> Iterator[KeyInfo]:
    kind = entry.kind
    if isinstance(kind, Part) and not kind.shorthand:
        if kind.same_as:
            yield KeyInfo(".".join(path), "object", None, "", f"The keys of `{kind.same_as}`, for this one alone.")
            return
        yield from describe_section(kind.section, path)
        return
    inner = getattr(kind, "item", None)
    placeholder = getattr(kind, "placeholder", None)
    if placeholder and isinstance(inner, Part) and not inner.shorthand:
        yield from describe_section(inner.section, (*path, placeholder))
        return
    meaning = f"Retired: {entry.retired}." if entry.retired else entry.meaning
    name = ".".join((*path, placeholder) if placeholder else path)
    shown = inner if placeholder and inner is not None else kind
    default = None if kind.secret or placeholder else kind.shown(entry.default)
    yield KeyInfo(name, shown.noun, default, shown.range, meaning)


def words(text: str) -> frozenset[str]:
    """Return the words of a text, for lists of names."""
    return frozenset(text.split())


def camel(attribute: str) -> str:
    """Return the JSON name of an attribute: ``max_results`` is ``maxResults``."""
    return re.sub(r"_([a-z0-9])", lambda match: match[1].upper(), attribute.rstrip("_"))


def nearest(name: str, known: Mapping[str, Any] | list[str]) -> str | None:
    """Return the known name that ``name`` is most likely meant to be, if one is near enough."""
    lower = name.lower()
    scored = sorted((_distance(lower, each.lower()), each) for each in known)
    return scored[0][1] if scored and scored[0][0] <= max(1, len(name) // 3) else None


def _distance(one: str, two: str) -> int:
    """Return the Levenshtein distance, a swap of neighbours counting once."""
    before: list[int] = []
    row = list(range(len(two) + 1))
    for i, a in enumerate(one, 1):
        older, before, row = before, row, [i]
        for j, b in enumerate(two, 1):
            cost = min(before[j] + 1, row[-1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == two[j - 2] and one[i - 2] == b:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
    return row[-1]
