"""Whose word each line of a memory file is: one pure function over the lines and the acts recorded for the file.

The rule (choices C4 and C19): a line that a recorded write put there has the class of that write, wherever it stands
now; a line of which nothing is recorded was written by hand and counts as the agent's. While all lines of an
untrusted write are still there in their order, it speaks for itself alone. Once one of them is gone or out of order
somebody may have reworded it, so the whole file counts as untrusted until the owner clears it. Nothing but an act of
trust raises a line, and only the lines that it named.

An untrusted line is known again in any other file: a copy of it stays untrusted there until the owner vouches for it.
So is one that a program of the owner wrote by itself (cron, heartbeat, sub-agent): copied, it is still no candidate.
Two things are no copies. A line that stood in trusted text before the untrusted write said the same (an echo) is
whose it was; else whoever repeats the owner's words could silence them. And a line of few words (``FEW_WORDS``), which
two people write by chance, counts as untrusted only in the file where it was written as such, and there not where
trusted text with it was recorded.

Lines are compared by a hash that ignores white space and marks of lists, quotes, headings and emphasis: what a line
says does not change when it becomes a list item. Lines without any content (blank ones, rules, fences, headings that
are a date) say nothing and silence nobody: they are left out of every comparison and take the class of their better
neighbour.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from reverie.core.language import is_cjk, tokens
from reverie.core.provenance import TRUST_ORDER, is_trusted, least, lowered, merge
from reverie.core.text import collapse, sha256
from reverie.core.types import Provenance, SessionKind, SourceClass

#: Marks without words; a heading that is a date or a time; the date and status above a directive.
_BARE = re.compile(
    r"[\s\-*_=`~>|#:+]*"
    r"|\s*#+\s[\s\d:.\-/]*"
    r"|\s*<!--\s*(?:observed:\s*[\d-]+\s*\|\s*)?status:\s*(?:active|superseded)\s*-->\s*"
)
#: What stands before the words of a line, and marks of emphasis and code anywhere in it.
_LEADING = re.compile(r"\A(?:[\s>#*+\-•–—]+|\d{1,9}[.)]\s|\[[ xX]\](?=\s))+")
_EMPHASIS = re.compile(r"[*_`~]+")
#: A line of fewer words is no evidence that it was copied. A CJK character counts as half a word.
FEW_WORDS = 3

_CURATED = frozenset({"MEMORY.md", "memory.md", "USER.md"})
_PERSONAL = re.compile(r"users/[A-Za-z0-9][A-Za-z0-9_-]{0,127}/USER\.md")
_DIARY = "dreams.md"
_MACHINE_FOLDERS = ("memory/dreaming/", "memory/.dreams/")

#: Kinds of session that keep a line from ever becoming a candidate (invariant I3), even outside its range.
_CONFINED = frozenset({SessionKind.CRON, SessionKind.HEARTBEAT, SessionKind.SUBAGENT})


# --- the acts of a file ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Write:
    """A recorded write: hashes of the lines it wrote, in order, and of those it took out.

    ``pending`` is a write that was announced and not yet confirmed: its lines may or may not stand in the file.
    ``echoed`` are those of its lines that stood in trusted text before: what it says of them counts where it stands.
    """

    provenance: Provenance
    written: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    pending: bool = False
    echoed: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Trust:
    """The owner vouched for lines by their hashes; ``whole`` if it was the whole file as it stood."""

    hashes: frozenset[str]
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Removal:
    """Reverie itself removed the file. A file that vanished in any other way is no removal."""


Act = Write | Trust | Removal


def line_hash(line: str) -> str:
    """Return the hash by which a line is found again, whatever marks stand before its words and around them."""
    said = collapse(unicodedata.normalize("NFC", line))
    return sha256(collapse(_EMPHASIS.sub("", _LEADING.sub("", said))) or said)[:32]


def tells(line: str) -> bool:
    """Say whether a line has so many words that another one like it must be a copy."""
    words = tokens(line)
    characters = sum(map(is_cjk, words))
    return len(words) - characters / 2 >= FEW_WORDS


def is_bare(line: str) -> bool:
    """Say whether a line has no content of its own: blank, a rule, an empty bullet, a heading that is a date."""
    return _BARE.fullmatch(line) is not None


def line_hashes(lines: Iterable[str]) -> tuple[str, ...]:
    """Return the hashes of the lines that have content, in order: what a write record keeps."""
    return tuple(line_hash(line) for line in lines if not is_bare(line))


def path_class(path: str) -> SourceClass:
    """Return the best class that a line at this path can have.

    That is ``SYSTEM`` for what dreaming writes, ``UNTRUSTED`` outside memory, and ``OWNER``, which is no limit, in
    memory files. ``path`` is relative to the workspace, with ``/``.
    """
    # Folded, because on some disks `memory/Dreaming` is the same folder.
    folded = path.casefold()
    if ".." in path.split("/"):
        return SourceClass.UNTRUSTED
    if folded == _DIARY or folded.startswith(_MACHINE_FOLDERS):
        return SourceClass.SYSTEM
    if path in _CURATED or _PERSONAL.fullmatch(path) or (path.startswith("memory/") and folded.endswith(".md")):
        return SourceClass.OWNER
    return SourceClass.UNTRUSTED


# --- the classifier --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FileTrust:
    """The judgement of a file: one provenance a line, and why the whole file is lowered, if it is."""

    lines: tuple[Provenance, ...]
    lowered_to: SourceClass | None = None


def judge(
    path: str,
    lines: Sequence[str],
    history: Sequence[Act],
    *,
    strays: Container[str] = frozenset(),
    confined: Container[str] = frozenset(),
    observed_at: datetime | None = None,
) -> FileTrust:
    """Return the provenance of each line of a file.

    Args:
        path: Relative to the workspace, with ``/``.
        lines: The lines as they stand, without line endings.
        history: The acts recorded for this path, oldest first.
        strays: Hashes of lines that were written as untrusted to any other file.
        confined: Hashes of lines that programs of the owner wrote by themselves to any other file.
        observed_at: The moment to give to lines of which nothing is recorded, usually when the file changed.
    """
    ledger = _Ledger()
    for act in history:
        ledger.add(act)
    content = [number for number, line in enumerate(lines) if not is_bare(line)]
    hashes = [line_hash(lines[number]) for number in content]
    telling = frozenset(line for line, number in zip(hashes, content, strict=True) if tells(lines[number]))
    ceiling = path_class(path)
    handwritten = Provenance(SourceClass.AGENT, observed_at=observed_at)
    copies, retold = (_copies(hashes, telling, lines) for lines in (strays, confined))
    classes = _Judgement(ledger, hashes, telling, copies, retold, handwritten)
    found = [lowered(provenance, ceiling) for provenance in classes.provenances()]
    everything = _with_bare_lines(len(lines), content, found, lowered(classes.handwritten, ceiling))
    return FileTrust(everything, classes.taint)


def _copies(hashes: Sequence[str], telling: frozenset[str], strays: Container[str]) -> frozenset[int]:
    """Return the places where lines stand that were written as untrusted elsewhere.

    A line of few words is one of them only beside another: then a whole passage was copied.
    """
    alike = [line in strays for line in hashes]
    found = {place for place, line in enumerate(hashes) if alike[place] and line in telling}
    for way in (range(len(hashes)), reversed(range(len(hashes)))):
        last = -2
        for place in way:
            if place in found or (alike[place] and abs(place - last) == 1):
                found.add(place)
                last = place
    return frozenset(found)


class _Ledger:
    """What the acts of one file add up to, taken in order."""

    def __init__(self) -> None:
        #: Untrusted writes, each with the hashes that must still be in the file.
        self.open: list[tuple[Provenance, list[str]]] = []
        self.untrusted: dict[str, list[Provenance]] = {}
        self.vouched: set[str] = set()
        self.trusted: list[Write] = []

    def add(self, act: Act) -> None:
        if isinstance(act, Trust):
            self._trust(act)
        elif isinstance(act, Removal):
            # The text of untrusted lines is remembered: typed again, it is what it was.
            self.open.clear()
            self.trusted.clear()
            self.vouched.clear()
        elif is_trusted(act.provenance.origin):
            if not act.pending:
                self._drop(act.dropped)
                self.trusted.append(act)
        else:
            # An announced write may have reached the file already: its text counts, its absence does not.
            if not act.pending:
                self._drop(act.dropped)
                self.open.append((act.provenance, list(act.written)))
            for line in act.written:
                if line not in act.echoed:
                    self.untrusted.setdefault(line, []).append(act.provenance)

    def _trust(self, act: Trust) -> None:
        self.vouched |= act.hashes
        for line in act.hashes:
            self.untrusted.pop(line, None)
        if act.whole:
            self.open.clear()
        for _, lines in self.open:
            lines[:] = [line for line in lines if line not in act.hashes]

    def _drop(self, dropped: Iterable[str]) -> None:
        for line in dropped:
            for _, lines in reversed(self.open):
                if line in lines:
                    lines.remove(line)
                    break

    def expected(self) -> Counter[str]:
        return Counter(line for _, lines in self.open for line in lines)


class _Judgement:
    """The lines with content of one file, held against its ledger."""

    def __init__(
        self,
        ledger: _Ledger,
        hashes: Sequence[str],
        telling: frozenset[str],
        copies: frozenset[int],
        retold: frozenset[int],
        handwritten: Provenance,
    ) -> None:
        self.ledger = ledger
        self.hashes = hashes
        self.telling = telling
        self.copies = copies
        self.retold = retold
        self.handwritten = handwritten
        self._places: dict[str, list[int]] = {}
        for place, line in enumerate(hashes):
            self._places.setdefault(line, []).append(place)
        self.confined = self._confined()
        self.covered = self._covered()
        self.surrounded, self.taint = self._untrusted_ranges()

    def provenances(self) -> list[Provenance]:
        return [self._of(place, line) for place, line in enumerate(self.hashes)]

    def _of(self, place: int, line: str) -> Provenance:
        own = self.covered.get(place)
        if line in self.ledger.untrusted and (line in self.telling or not own):
            return merge(self.ledger.untrusted[line])
        if place in self.copies and line not in self.ledger.vouched and (line in self.telling or not own):
            return replace(self.handwritten, origin=SourceClass.UNTRUSTED)
        base = merge(own) if own else self._by_hand(place, line)
        if line in self.ledger.vouched:
            return base
        if not own and place in self.surrounded:
            base = lowered(base, self.surrounded[place])
        return lowered(base, self.taint) if self.taint else base

    def _by_hand(self, place: int, line: str) -> Provenance:
        """Return what a line is of which no write stands here: what a program said stays what it said (I3)."""
        if line in self.confined:
            return self.confined[line]
        if place in self.retold and line not in self.ledger.vouched:
            return replace(self.handwritten, kind=SessionKind.SUBAGENT)
        return self.handwritten

    def _confined(self) -> dict[str, Provenance]:
        """Map lines of cron, heartbeat and sub-agent writes to what they are outside an intact range."""
        found: dict[str, list[Provenance]] = {}
        for write in self.ledger.trusted:
            if write.provenance.kind in _CONFINED:
                for line in write.written:
                    found.setdefault(line, []).append(lowered(write.provenance, SourceClass.AGENT))
        return {line: merge(parts) for line, parts in found.items()}

    def _covered(self) -> dict[int, list[Provenance]]:
        """Map places to the trusted writes that stand there whole, line after line."""
        found: dict[int, list[Provenance]] = {}
        for write in self.ledger.trusted:
            size = len(write.written)
            for start in self._places.get(write.written[0], ()) if size else ():
                if tuple(self.hashes[start : start + size]) == write.written:
                    for place in range(start, start + size):
                        found.setdefault(place, []).append(write.provenance)
        return found

    def _untrusted_ranges(self) -> tuple[dict[int, SourceClass], SourceClass | None]:
        """Return the class of each place inside an untrusted range, and that of the file if a range is broken."""
        lacking = self.ledger.expected() - Counter(self.hashes)
        inside: dict[int, SourceClass] = {}
        broken: list[SourceClass] = []
        for provenance, lines in self.ledger.open:
            if not lines:
                continue
            span = None if any(line in lacking for line in lines) else self._span(lines)
            if span is None:
                broken.append(provenance.origin)
                continue
            for place in range(span[0], span[1] + 1):
                inside[place] = least((provenance.origin, inside.get(place, provenance.origin)))
        return inside, least(broken) if broken else None

    def _span(self, lines: Sequence[str]) -> tuple[int, int] | None:
        """Return the narrowest stretch in which all lines stand in order, or ``None``."""
        best: tuple[int, int] | None = None
        for start in self._places[lines[0]]:
            end = self._reach(start, lines[1:])
            if end is not None and (best is None or end - start < best[1] - best[0]):
                best = (start, end)
        return best

    def _reach(self, start: int, rest: Sequence[str]) -> int | None:
        at = start
        for line in rest:
            places = self._places[line]
            following = bisect_left(places, at + 1)
            if following == len(places):
                return None
            at = places[following]
        return at


def _with_bare_lines(
    count: int, content: Sequence[int], found: Sequence[Provenance], alone: Provenance
) -> tuple[Provenance, ...]:
    """Give every line a provenance: bare lines take the better one of the nearest lines with content."""
    result: list[Provenance] = []
    following = 0
    for number in range(count):
        while following < len(content) and content[following] < number:
            following += 1
        if following < len(content) and content[following] == number:
            result.append(found[following])
            continue
        near = found[max(0, following - 1) : following + 1]
        result.append(min(near, key=_rank) if near else alone)
    return tuple(result)


def _rank(provenance: Provenance) -> int:
    return TRUST_ORDER.index(provenance.origin)
