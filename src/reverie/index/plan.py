"""What a sync has to do, found by looking at sizes and times only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reverie.core.types import Corpus, Skipped, SourceDocument, SourceProvider, SourceStat
from reverie.index.rows import storable
from reverie.store.database import Database

_SOURCES = "SELECT corpus, path, id, size, mtime_ns, recipe FROM source"
_IS_KNOWN = "SELECT EXISTS (SELECT 1 FROM source WHERE corpus = ? AND path = ?)"

#: A document: its corpus and its path as stored.
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Work:
    """A document to be read.

    ``known`` says that the index has rows of it, ``rewrite`` that those are to be replaced also where they look the
    same (their words may be of another tokenizer); ``document`` is set if it was read already.
    """

    provider: SourceProvider
    stat: SourceStat
    known: bool
    rewrite: bool = False
    document: SourceDocument | None = None

    @property
    def key(self) -> Key:
        """Return the document's name in the index."""
        return str(self.provider.corpus), storable(self.stat.path)


@dataclass(frozen=True, slots=True)
class Plan:
    """What to read, which rows to remove, what stays, and which corpora cannot be seen as a whole just now."""

    work: tuple[Work, ...] = ()
    gone: tuple[int, ...] = ()
    unchanged: int = 0
    hidden: frozenset[str] = frozenset()
    skipped: tuple[tuple[Corpus, Skipped], ...] = ()
    notices: tuple[str, ...] = ()


def plan_all(database: Database, providers: Sequence[SourceProvider], recipe: str, *, force: bool = False) -> Plan:
    """Compare what the providers see with what the index has.

    A corpus whose root is missing loses nothing: its folder may be on a disk that is not there at the moment, and
    embedding it all again would be the price of a mistake.
    """
    known = {(corpus, path): tuple(rest) for corpus, path, *rest in database.rows(_SOURCES)}
    work: list[Work] = []
    seen: set[Key] = set()
    hidden: set[str] = set()
    skipped: list[tuple[Corpus, Skipped]] = []
    notices: list[str] = []
    for provider in providers:
        corpus = str(provider.corpus)
        scan = provider.scan(known=[path for name, path in known if name == corpus])
        skipped.extend((provider.corpus, one) for one in scan.skipped)
        if scan.missing_root is not None:
            hidden.add(corpus)
            kept = sum(name == corpus for name, _ in known)
            if kept:  # a root that never had anything is no news
                notices.append(f"{scan.missing_root} is not there; its {kept} indexed documents are kept as they were")
        for stat in scan.stats:
            key = (corpus, storable(stat.path))
            if key in seen:
                continue
            seen.add(key)
            row = known.get(key)
            if force or row is None or row[1:] != (stat.size, stat.mtime_ns, recipe):
                work.append(Work(provider, stat, row is not None, force or (row is not None and row[3] != recipe)))
    served = {str(provider.corpus) for provider in providers} - hidden
    gone = tuple(row[0] for key, row in known.items() if key[0] in served and key not in seen)
    return Plan(tuple(work), gone, len(seen) - len(work), frozenset(hidden), tuple(skipped), tuple(notices))


def plan_named(database: Database, providers: Sequence[SourceProvider], paths: Sequence[str]) -> Plan | None:
    """Read just the named documents; ``None`` if one cannot be read, since only a full look can tell why.

    Their sizes and times stay unknown, so the next full sync looks at them once more.
    """
    work = []
    for path in dict.fromkeys(paths):
        for provider in providers:
            document = provider.read(path)
            if isinstance(document, SourceDocument):
                found = Work(provider, SourceStat(document.path, -1, -1), False, document=document)
                work.append(replace(found, known=bool(database.value(_IS_KNOWN, found.key))))
                break
        else:
            return None
    return Plan(tuple(work))
