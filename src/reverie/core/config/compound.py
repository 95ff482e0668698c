"""Kinds that are made of other kinds: lists, objects with free keys, alternatives, "or off"."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from reverie.core.config.kinds import Kind
from reverie.core.config.reading import INVALID, MASK, FromEnv, Path, Reading, is_unset, secret_name


class OrOff(Kind):
    """Another kind, or ``false`` (also 0, and the words off and false) for "none", which is read as ``None``."""

    def __init__(self, inner: Kind) -> None:
        self.inner = inner
        self.noun = inner.noun
        self.range = f"{inner.range}, or false"

    def convert(self, value: object) -> Any:
        """Return the inner value, or ``None``."""
        if value is False or (isinstance(value, str) and value.lower() in ("off", "false")):
            return None
        return self.inner.convert(value) or None

    def shown(self, value: Any) -> Any:
        """Return the inner value, or ``False``."""
        return False if value is None else self.inner.shown(value)


class Lenient(Kind):
    """A kind whose bad values do not stop anything: ``fallback``, which keeps the data, is used and it is said so."""

    def __init__(self, inner: Kind, fallback: Any) -> None:
        self.inner, self.fallback = inner, fallback
        self.noun, self.range = inner.noun, inner.range

    def read(self, value: object, path: Path, log: Reading) -> Any:
        """Return the inner value, or the fallback with a warning."""
        try:
            return self.inner.convert(value)
        except (ValueError, OverflowError):
            instead = self.inner.shown(self.fallback)
            text = "off" if instead in (None, False) else instead
            log.report(path, f"expected {self.expected}, got {self.described(value)}; {text} is used")
            return self.fallback

    def shown(self, value: Any) -> Any:
        """Return the inner value as of JSON."""
        return self.inner.shown(value)


class Either(Kind):
    """The first of several kinds that accepts the value."""

    def __init__(self, *kinds: Kind) -> None:
        self.kinds = kinds
        self.noun = " or ".join(kind.expected for kind in kinds)

    def convert(self, value: object) -> Any:
        """Return the value of the first kind that takes it."""
        for kind in self.kinds:
            try:
                return kind.convert(value)
            except ValueError:
                continue
        raise ValueError


class ListOf(Kind):
    """A list of one kind, read as a tuple. Texts are trimmed, empty ones and repeats dropped."""

    def __init__(self, item: Kind, most: int | None = None) -> None:
        self.item, self.most = item, most
        self.noun = f"list of {item.expected}"
        self.range = f"(at most {most})" if most else ""

    def read(self, value: object, path: Path, log: Reading) -> Any:
        """Return the items as a tuple."""
        if not isinstance(value, (list, tuple)) or (self.most is not None and len(value) > self.most):
            log.report(path, f"expected a {self.expected}, got {self.described(value)}", error=True)
            return INVALID
        items = [self.item.read(each, path, log) for each in value if not is_unset(each)]
        kept: list[Any] = []
        for item in items:
            if item is not INVALID and item not in kept:
                kept.append(item)
        return tuple(kept)

    def shown(self, value: Any) -> Any:
        """Return the items as a list."""
        return None if value is None else [self.item.shown(each) for each in value]


class MapOf(Kind):
    """An object whose keys are free and whose values are of one kind; ``placeholder`` names the keys."""

    def __init__(self, item: Kind, placeholder: str = "<name>", normal: Callable[[str], str] = str) -> None:
        self.item, self.placeholder, self.normal = item, placeholder, normal
        self.noun = f"object of {item.noun}"

    def read(self, value: object, path: Path, log: Reading) -> Any:
        """Return a read-only mapping."""
        if not isinstance(value, Mapping):
            log.report(path, f"expected an object, got {self.described(value)}", error=True)
            return INVALID
        read: dict[str, Any] = {}
        for name, each in value.items():
            if is_unset(each):
                continue
            if self.normal(name) in read:
                log.report((*path, name), f"is {self.normal(name)} once more; this one counts")
            read[self.normal(name)] = self.item.read(each, (*path, name), log)
        return MappingProxyType({key: each for key, each in read.items() if each is not INVALID})

    def shown(self, value: Any) -> Any:
        """Return a plain object."""
        return {key: self.item.shown(each) for key, each in (value or {}).items()}


class Anything(Kind):
    """Any JSON value, handed on as it is; ``${NAME}`` is replaced in its texts."""

    noun = "any value"

    def read(self, value: object, path: Path, log: Reading) -> Any:
        """Return the value with variables replaced, read-only at the top."""
        if isinstance(value, Mapping):
            return MappingProxyType({key: self.read(each, (*path, key), log) for key, each in value.items()})
        if isinstance(value, (list, tuple)):
            return tuple(self.read(each, path, log) for each in value)
        return (
            value if not isinstance(value, str) else INVALID if (text := log.substitute(value, path)) is None else text
        )

    def shown(self, value: Any) -> Any:
        """Return the value as of JSON, with what may be a secret masked."""
        if isinstance(value, Mapping):
            return {name: self.shown_as(name, each) for name, each in value.items()}
        if isinstance(value, tuple):
            return [self.shown(each) for each in value]
        return MASK if isinstance(value, FromEnv) else value

    def shown_as(self, name: str, value: Any) -> Any:
        """Return the value, masked where its name tells that it is a secret."""
        return MASK if value and secret_name(name) else self.shown(value)
