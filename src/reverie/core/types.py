"""The glossary: the values that travel between rooms, and the ports that rooms are given.

Everything here is a frozen value or a Protocol; nothing here reads a file, a clock or the environment.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from reverie.core.queries import QueryAnalysis

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]


# --- provenance -------------------------------------------------------------------------------------------


class SourceClass(StrEnum):
    """Who a text comes from. Set by code at write time, never read out of the text (invariant I1)."""

    OWNER = "owner"
    AGENT = "agent"
    SYSTEM = "system"
    UNTRUSTED = "untrusted"


class SessionKind(StrEnum):
    """What kind of session a text was said in. Only ``INTERACTIVE`` may produce candidates (I3)."""

    INTERACTIVE = "interactive"
    CRON = "cron"
    HEARTBEAT = "heartbeat"
    SUBAGENT = "subagent"
    UNKNOWN = "unknown"


class ChatType(StrEnum):
    """Who can read a conversation. Curated files enter ``DIRECT`` and ``EXPLICIT`` chats only (I4)."""

    DIRECT = "direct"
    EXPLICIT = "explicit"
    GROUP = "group"
    CHANNEL = "channel"
    UNKNOWN = "unknown"


class Corpus(StrEnum):
    """What a search reads: notes, transcripts, or both."""

    MEMORY = "memory"
    SESSIONS = "sessions"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a text comes from.

    ``observed_at`` is aware UTC. ``key`` is the supersession key (choice C6), if the writer gave or derived one.
    The defaults are the least that can be said: unknown is never ``owner``.
    """

    origin: SourceClass = SourceClass.UNTRUSTED
    kind: SessionKind = SessionKind.UNKNOWN
    observed_at: datetime | None = None
    session: str | None = None
    sender: str | None = None
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Sender:
    """Who sent a message, as the host established it. Text can never make a sender an owner."""

    id: str
    channel: str = "cli"
    account: str = "default"
    is_owner: bool = False
    is_bot: bool = False
    name: str = ""

    @classmethod
    def owner(cls, ident: str, *, channel: str = "cli", account: str = "default") -> Sender:
        """Return the authenticated owner; only host code that knows who is speaking may call this."""
        return cls(id=ident, channel=channel, account=account, is_owner=True)

    @classmethod
    def guest(cls, ident: str, *, channel: str, account: str = "default", name: str = "") -> Sender:
        """Return somebody who is not the owner."""
        return cls(id=ident, channel=channel, account=account, name=name)

    @classmethod
    def unknown(cls) -> Sender:
        """Return a sender of whom nothing is known; what they say is untrusted."""
        return cls(id="unknown", channel="unknown")


# --- sources of the index ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SourceStat:
    """One file as the scan saw it. ``path`` is relative to its root and uses ``/``."""

    path: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A source that is not indexed, and why. ``reason`` is a short sentence for people."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class SourceScan:
    """The result of looking at a root.

    ``missing_root`` is set when the root itself is not there: then nothing may be taken for deleted.
    """

    stats: tuple[SourceStat, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    missing_root: str | None = None


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One line of a source: ``number`` is its 1-based line in the file that a reader would open."""

    number: int
    text: str
    provenance: Provenance


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A source, read whole. ``curated`` files are chunked one entry a chunk and may carry annotations."""

    path: str
    hash: str
    lines: tuple[SourceLine, ...]
    curated: bool = False
    date: datetime | None = None
    notices: tuple[str, ...] = ()


class SourceProvider(Protocol):
    """Something the indexer reads documents from: the workspace, or the transcripts."""

    @property
    def corpus(self) -> Corpus:
        """Return which corpus these documents belong to (``MEMORY`` or ``SESSIONS``)."""
        ...

    def scan(self, *, known: Collection[str] = ()) -> SourceScan:
        """Look at the root without reading contents; must be cheap (one ``stat`` a file).

        ``known`` are the paths that are indexed already: where they were, a root that is not there is an accident,
        to be told as ``missing_root``, and not an empty one.
        """
        ...

    def read(self, path: str) -> SourceDocument | Skipped:
        """Read one document, or say why not; never raises for what is wrong with a single file."""
        ...


# --- chunks, hits ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Annotations:
    """What the trailing comments of an entry say.

    ``project`` is empty for an untagged entry; ``invalid_project`` marks a malformed tag, which keeps the entry out
    of every automatic path. ``superseded`` is true of a directive that no longer holds.
    """

    triggers: tuple[str, ...] = ()
    importance: int | None = None
    project: tuple[str, ...] = ()
    invalid_project: bool = False
    review: str | None = None
    key: str | None = None
    superseded: bool = False


@dataclass(frozen=True, slots=True)
class Chunk:
    """What is found as one: a line, a turn, an entry of a curated file.

    Lines are 1-based and inclusive; ``text`` is what a person sees (annotation comments removed), ``hash`` is the
    sha256 of what is embedded.
    """

    path: str
    corpus: Corpus
    start_line: int
    end_line: int
    text: str
    heading: str
    hash: str
    provenance: Provenance
    annotations: Annotations = Annotations()


@dataclass(frozen=True, slots=True)
class Leg:
    """How one leg of the search saw a hit: its 1-based rank and its own score."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class HitTrace:
    """Why a hit stands where it stands: each leg, then each multiplier by name, in the order applied.

    ``line`` is where the part of the hit that matched begins; the rest of its lines stand around it.
    """

    keyword: Leg | None = None
    vector: Leg | None = None
    fused: float = 0.0
    multipliers: Mapping[str, float] = field(default_factory=dict)
    exact_path: int = 0
    line: int = 0
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """One search result: a passage around a line that matched.

    ``score`` is 0..1 and comparable within one answer only.
    """

    path: str
    start_line: int
    end_line: int
    score: float
    snippet: str
    corpus: Corpus
    provenance: Provenance
    text_score: float = 0.0
    vector_score: float = 0.0
    heading: str = ""
    annotations: Annotations = Annotations()
    trace: HitTrace = HitTrace()

    @property
    def citation(self) -> str:
        """Return ``path#L3`` or ``path#L3-L7``."""
        tail = f"-L{self.end_line}" if self.end_line > self.start_line else ""
        return f"{self.path}#L{self.start_line}{tail}"


SearchMode = Literal["hybrid", "keyword", "vector", "unavailable", "empty"]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What is asked of a search. Empty filters mean unset. Dates are aware; ``until`` and ``as_of`` are inclusive."""

    query: str
    max_results: int = 6
    min_score: float | None = None
    corpus: Corpus = Corpus.MEMORY
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    path_prefix: str = ""
    sessions: frozenset[str] | None = None
    projects: tuple[str, ...] = ()
    min_confidence: float = 0.0


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The answer of a search.

    ``notices`` say in plain words what the reader must know: that only keywords were used, that the index is behind,
    what was withheld. ``dropped`` explains candidates that did not come through; ``confidence`` says in
    0..1 how sure it is that the hits are about the question at all; ``analysis`` is what was read out of
    the query, ``None`` where nothing was searched.
    """

    hits: tuple[Hit, ...] = ()
    mode: SearchMode = "empty"
    stale: bool = False
    notices: tuple[str, ...] = ()
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    dropped: tuple[tuple[str, str], ...] = ()
    confidence: float | None = None
    analysis: QueryAnalysis | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """Lines read from a memory file. ``next_from`` is the line to go on at, or ``None`` at the end."""

    path: str
    from_line: int
    lines: int
    text: str
    next_from: int | None = None
    status: Literal["ok", "not_found"] = "ok"


# --- reports ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did.

    Counts are of files except ``chunks`` and ``embedded``; ``pending`` counts files that are known to have changed
    but were left for later.
    """

    added: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    chunks: int = 0
    embedded: int = 0
    pending: int = 0
    seconds: float = 0.0
    skipped: tuple[Skipped, ...] = ()
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """The state of a memory engine, for ``reverie status`` and ``doctor``."""

    engine: str
    provider: str
    model: str
    mode: str
    files: int
    chunks: int
    vectors: int
    pending: int
    size_bytes: int
    mismatch: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notices: tuple[str, ...] = ()
    capabilities: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Written:
    """An acknowledged write: where the text stands now, and the record of it."""

    path: str
    start_line: int
    end_line: int
    record: str
    origin: SourceClass
    note: str = ""


# --- ports -----------------------------------------------------------------------------------------------------

#: Told how long work goes on: what is being done, how much of it is done, how much there is.
Progress = Callable[[str, int, int], None]


class Clock(Protocol):
    """The only source of time. ``now`` is aware UTC; ``zone`` is the user's IANA time zone."""

    @property
    def zone(self) -> str:
        """Return the IANA name of the user's time zone."""
        ...

    def now(self) -> datetime:
        """Return the present moment, aware, in UTC."""
        ...


class Ids(Protocol):
    """The only source of identifiers, so that tests can repeat a run."""

    def new(self) -> str:
        """Return a new identifier, unique in this store."""
        ...


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation with a model."""

    role: Literal["user", "assistant"]
    content: str


class ChatModel(Protocol):
    """A language model that completes a conversation. It proposes; code decides what becomes of its answer."""

    def complete(self, system: str, messages: Sequence[ChatMessage], *, timeout: float) -> str:
        """Return the answer as text, within ``timeout`` seconds.

        Args:
            system: what the model is told beforehand.
            messages: the conversation; the last one is the user's.
            timeout: seconds that it may take; more than that counts as no answer.

        Raises:
            ModelUnavailable: there is no answer.
        """
        ...


@runtime_checkable
class Embedder(Protocol):
    """Makes vectors of unit length. An empty text gives the zero vector."""

    provider: str
    model: str

    @property
    def dimension(self) -> int:
        """Return the width of the vectors; a provider that must be asked for it may raise."""
        ...

    def identity(self) -> str:
        """Return a string that changes whenever the same text would get another vector."""
        ...

    def embed_query(self, text: str) -> Vector:
        """Return the vector of a question: float32, shape ``(dimension,)``."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> Vector:
        """Return the vectors of passages: float32, shape ``(len(texts), dimension)``."""
        ...

    def close(self) -> None:
        """Free what is held; using the embedder afterwards opens it again or raises."""
        ...


@runtime_checkable
class MemoryEngine(Protocol):
    """What fills the memory slot. The built-in engine is ``memory-core``; it enters through the same hook."""

    name: str

    def search(self, request: SearchRequest) -> SearchResult:
        """Return the best hits; never raises for the text of a query."""
        ...

    def get(self, path: str, from_line: int = 1, lines: int | None = None) -> Passage:
        """Read lines of a memory file. Raises ``PathNotAllowed`` for anything else."""
        ...

    def sync(
        self, *, force: bool = False, only: Iterable[str] | None = None, progress: Progress | None = None
    ) -> SyncReport:
        """Bring the index up to the files. ``only`` names memory paths that are known to have changed."""
        ...

    def touched(self) -> None:
        """Be told that a source was just written, so that the next search sees it (choice C24)."""
        ...

    def status(self, *, deep: bool = False) -> EngineStatus:
        """Return the state; ``deep`` may probe the embedder."""
        ...

    def close(self) -> None:
        """Let go of files and databases."""
        ...
