"""Identifiers that a summary must not lose: addresses, paths, hashes, numbers. A wrong digit makes them useless."""

from __future__ import annotations

import re
from collections.abc import Iterable

#: Each kind with its pattern, the longest kinds first, so that a part of one is not taken for another. Borders are
#: ASCII: in languages without spaces an identifier stands between letters.
_KINDS = (
    re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s<>\"'`\u3000-\u303f\uff00-\uffef]{2,400}"),
    re.compile(r"(?<![0-9A-Za-z])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![0-9A-Za-z])"),
    re.compile(r"(?<![\w@:/.-])[A-Za-z]:\\[^\s<>\"'|?*]{2,300}"),
    re.compile(r"(?<![A-Za-z0-9_@:/.~-])(?:~|\.{1,2})?(?:/[A-Za-z0-9_@+%=.,-]+){2,40}/?"),
    re.compile(r"(?<![A-Za-z0-9_@:/.~-])(?:[A-Za-z0-9_@+.-]+/)+[A-Za-z0-9_@+-]+\.[A-Za-z0-9]{1,8}"),
    re.compile(r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"),
    re.compile(
        r"(?<![A-Za-z0-9.-])(?:[A-Za-z0-9][A-Za-z0-9-]*\.)*[A-Za-z0-9][A-Za-z0-9-]*:[0-9]{2,5}(?![0-9:])", re.ASCII
    ),
    re.compile(r"(?<![0-9.])[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?![0-9.])"),
    re.compile(r"(?<![0-9A-Za-z])(?=[0-9a-fA-F]*[0-9])(?=[0-9]*[a-fA-F])[0-9a-fA-F]{7,128}(?![0-9A-Za-z])"),
    re.compile(r"(?<![0-9A-Za-z.,:-])[0-9]{4,40}(?![0-9A-Za-z:])(?![.,][0-9])"),
)
_HEX = re.compile(r"[0-9a-fA-F-]{7,}")
_ENDING = ".,;:!?)]}'\"*_"
#: A clock time or a ratio looks like host and port: ``9:30``.
_CLOCK = re.compile(r"[0-9]{1,3}:[0-9]{2}")


def identifiers(texts: Iterable[str], *, limit: int = 200) -> tuple[str, ...]:
    """Return the identifiers of texts, those of later texts first, each once, at most ``limit``."""
    found: dict[str, None] = {}
    for text in reversed(list(texts)):
        for one in _in(text):
            found.setdefault(one)
            if len(found) >= limit:
                return tuple(found)
    return tuple(found)


def missing_from(summary: str, wanted: Iterable[str]) -> tuple[str, ...]:
    """Return those that a summary does not hold literally; of hexadecimal ones the letter case does not count."""
    low = summary.lower()
    return tuple(
        one for one in wanted if not _stands(summary, one) and not (_HEX.fullmatch(one) and _stands(low, one.lower()))
    )


def _stands(text: str, one: str) -> bool:
    """Say whether it stands there whole, and not as a part of a longer one."""
    at = text.find(one)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(one) : at + len(one) + 1]
        joined = (before + one[0], one[-1] + after)
        if not any(len(pair) == 2 and pair.isascii() and pair.isalnum() for pair in joined):
            return True
        at = text.find(one, at + 1)
    return False


def _in(text: str) -> list[str]:
    """Return the identifiers of one text, in the order in which they stand there."""
    taken: list[tuple[int, int]] = []
    found: list[tuple[int, str]] = []
    for kind in _KINDS:
        for match in kind.finditer(text):
            start, end = match.span()
            one = match.group().rstrip(_ENDING)
            if len(one) < 4 or _CLOCK.fullmatch(one) or any(start < stop and begin < end for begin, stop in taken):
                continue
            taken.append((start, end))
            found.append((start, one))
    return [one for _, one in sorted(found)]
