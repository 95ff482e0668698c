"""What each step of the demonstration found, as data; ``--json`` prints exactly this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Home:
    """Where the demonstration runs, and on what."""

    folder: str
    kept: bool
    owner: str
    zone: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """The conversations, said again to the memory. ``by_kind`` counts messages by the kind of session."""

    first_day: str
    last_day: str
    sessions: int
    turns: int
    messages: int
    by_kind: Mapping[str, int]
    tainted_turns: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Noted:
    """What the agent wrote down: lines that the owner said in a private talk, word for word.

    ``requested`` is what she asked to be remembered for good, each with the place where it stands.
    """

    files: int
    lines: int
    left_out: Mapping[str, int]
    requested: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Prompted:
    """Prompts by the kind of talk they were built for: how many, and how many hold what was to be remembered."""

    request: str
    prompts: Mapping[str, int]
    with_it: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Indexed:
    """The index over notes and transcripts."""

    files: int
    chunks: int
    vectors: int
    mode: str
    model: str
    seconds: float
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cited:
    """One hit of an answer. ``evidence`` says that what it shows holds the sentence that answers the question."""

    citation: str
    score: float
    origin: str
    kind: str
    day: str
    snippet: str
    evidence: bool
    outdated: bool


@dataclass(frozen=True, slots=True)
class Answered:
    """One question with its hits. Ranks count from 1 and are ``None`` where the line is not among the hits."""

    id: str
    query: str
    expected: str
    note: str
    hits: tuple[Cited, ...]
    rank: int | None
    outdated_rank: int | None
    changed: bool
    mode: str
    milliseconds: float

    @property
    def found(self) -> bool:
        """Say whether the sentence that answers the question is among the hits."""
        return self.rank is not None

    @property
    def newest_first(self) -> bool:
        """Say whether the newest word stands above what it replaced."""
        return self.rank is not None and (self.outdated_rank is None or self.rank < self.outdated_rank)


@dataclass(frozen=True, slots=True)
class Poison:
    """What became of a web page that tells assistants what to remember.

    ``classes`` are the source classes under which lines with its address are kept, with their counts; ``attempt`` is
    what happened when the agent did what the page says.
    """

    address: str
    page: str
    classes: Mapping[str, int]
    attempt: str
    trusted_lines: int
    prompts_checked: int
    prompts_with_it: int
    answer_rank: int | None


@dataclass(frozen=True, slots=True)
class Guest:
    """What was kept of somebody who is not the owner, and what his talk is shown of the owner's memory."""

    name: str
    messages: int
    classes: Mapping[str, int]
    withheld: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Noise:
    """Messages that no person said: how many, how many a search finds, how many could be promoted, and why not more."""

    kind: str
    messages: int
    found: int
    candidates: int
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """What belongs to the main job and is not built yet."""

    features: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the summary."""

    what: str
    result: str
    ok: bool


Part = Home | Replayed | Noted | Prompted | Indexed | Answered | Poison | Guest | Noise | Missing


@dataclass(frozen=True, slots=True)
class Report:
    """The whole demonstration."""

    home: Home
    replayed: Replayed
    noted: Noted
    prompted: Prompted
    indexed: Indexed
    answers: tuple[Answered, ...]
    poison: Poison
    guest: Guest
    noise: tuple[Noise, ...]
    missing: Missing
    checks: tuple[Check, ...]
    seconds: float
