"""A workspace made up for measuring: notes in seven languages, of any size, the same for the same seed.

Section number ``n`` depends on the seed and ``n`` alone, so a small corpus is the beginning of a large one. Each
section holds one fact that stands nowhere else and a question that asks for it, so that a search that is fast because
it finds nothing is noticed.

    scripts/bench corpus FOLDER --chunks 1000 --queries 50
"""

from __future__ import annotations

import argparse
import json
import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

WORDING = Path(__file__).resolve().parent / "wording"
SEED = 20
#: Bytes of a section, at least: with its heading it stays under 400 tokens of four bytes, one chunk to every system.
SHORTEST, LONGEST = 700, 1_150
FIRST_DAY = date(2023, 1, 2)
DAYS = 1_000
HOSTS = (
    "amber",
    "basalt",
    "cobalt",
    "dahlia",
    "ember",
    "fjord",
    "garnet",
    "hollow",
    "indigo",
    "jetty",
    "krill",
    "lagoon",
)
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Section:
    """One heading and its lines; line ``fact`` (0-based) answers ``question``, and ``words`` are its key words."""

    number: int
    language: str
    heading: str
    lines: tuple[str, ...]
    fact: int
    question: str
    words: str


@dataclass(frozen=True, slots=True)
class Note:
    """One Markdown file; ``facts`` gives the 1-based line of each section's fact."""

    path: str
    text: str
    sections: tuple[Section, ...]
    facts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """One question, and where its answer stands."""

    ident: str
    text: str
    language: str
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: files, sections (one chunk each, where a note holds one), and their size in bytes."""

    files: int
    sections: int
    size: int


@dataclass(frozen=True, slots=True)
class _Language:
    name: str
    share: int
    words: Mapping[str, Sequence[str]]
    sentences: Sequence[str]
    facts: Sequence[Mapping[str, str]]
    join: str


@cache
def languages() -> tuple[str, ...]:
    """Return the codes of the languages, in the order in which shares are drawn."""
    return tuple(language.name for language in _languages())


def section(seed: int, number: int) -> Section:
    """Return section ``number`` of the corpus of this seed."""
    chance = random.Random(f"{seed}:{number}")
    language = chance.choices(_languages(), [one.share for one in _languages()])[0]
    kind = chance.choice(language.facts)
    slots = _Slots(language, chance, number)
    size = chance.randint(SHORTEST, LONGEST)
    lines: list[str] = []
    unsaid: list[str] = []
    while sum(len(line.encode()) + 1 for line in lines) < size:
        unsaid = unsaid or chance.sample(language.sentences, len(language.sentences))
        taken = [unsaid.pop() for _ in range(min(len(unsaid), chance.randint(1, 3)))]
        said = [template.format_map(_Slots(language, chance, number)) for template in taken]
        lines.append(language.join.join(said))
    fact = chance.randrange(len(lines))
    lines[fact] = kind["statement"].format_map(slots)
    return Section(
        number=number,
        language=language.name,
        heading=chance.choice(language.words["headings"]),
        lines=tuple(lines),
        fact=fact,
        question=kind["question"].format_map(slots),
        words=kind["words"].format_map(slots),
    )


def notes(chunks: int, *, sections_per_note: int = 1, seed: int = SEED) -> Iterator[Note]:
    """Yield the notes of a corpus of ``chunks`` sections: dated ones, spread over `DAYS` days and a folder a year."""
    for number, first in enumerate(range(0, chunks, sections_per_note)):
        last = min(first + sections_per_note, chunks)
        day = FIRST_DAY + timedelta(days=number % DAYS)
        sections = tuple(section(seed, at) for at in range(first, last))
        yield _note(f"memory/{day.year}/{day.isoformat()}-{number // DAYS:03d}.md", day, sections)


def write(folder: Path, chunks: int, *, sections_per_note: int = 1, seed: int = SEED) -> Written:
    """Write a corpus below ``folder``, which must not hold another one; one that is there already is kept."""
    stamp = folder / "corpus.json"
    wanted = {"chunks": chunks, "sections_per_note": sections_per_note, "seed": seed, "bytes": [SHORTEST, LONGEST]}
    if stamp.is_file():
        known = json.loads(stamp.read_text(encoding="utf-8"))
        if known["wanted"] == wanted:
            return Written(**known["written"])
        raise FileExistsError(f"{folder} holds another corpus: remove it, or name another folder")
    files = size = 0
    for note in notes(chunks, sections_per_note=sections_per_note, seed=seed):
        target = folder / note.path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(note.text, encoding="utf-8", newline="\n")
        files += 1
        size += len(note.text.encode())
    written = Written(files, chunks, size)
    known = {"wanted": wanted, "written": {"files": files, "sections": chunks, "size": size}}
    stamp.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    return written


def queries(chunks: int, count: int, *, sections_per_note: int = 1, seed: int = SEED) -> Iterator[Query]:
    """Yield ``count`` queries, spread evenly over the corpus; two of three are questions, the third is key words."""
    for number in range(count):
        at = (2 * number + 1) * chunks // (2 * count)
        first = at - at % sections_per_note
        note_number = first // sections_per_note
        day = FIRST_DAY + timedelta(days=note_number % DAYS)
        around = tuple(section(seed, one) for one in range(first, min(first + sections_per_note, chunks)))
        note = _note(f"memory/{day.year}/{day.isoformat()}-{note_number // DAYS:03d}.md", day, around)
        asked = around[at - first]
        text = asked.words if number % 3 == 2 else asked.question
        yield Query(f"q{number:04d}", text, asked.language, note.path, note.facts[at - first])


def _note(path: str, day: date, sections: Sequence[Section]) -> Note:
    lines = [f"# {day.isoformat()}", ""]
    facts = []
    for one in sections:
        lines += [f"## {one.heading}", ""]
        facts.append(len(lines) + one.fact + 1)
        lines += [*one.lines, ""]
    return Note(path, "\n".join(lines), tuple(sections), tuple(facts))


@cache
def _languages() -> tuple[_Language, ...]:
    found = []
    for path in sorted(WORDING.glob("*.toml")):
        data: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
        words = {key: data[key] for key in data if isinstance(data[key], list) and key not in ("sentences", "facts")}
        found.append(_Language(path.stem, data["share"], words, data["sentences"], data["facts"], data["join"]))
    return tuple(found)


class _Slots(dict[str, str]):
    """Draws the value of a slot when it is first asked for, and keeps it: a sentence names one person throughout.

    Names and codes are many, so that words are as unevenly rare as in real notes.
    """

    def __init__(self, language: _Language, chance: random.Random, number: int) -> None:
        super().__init__()
        self._language, self._chance, self._number = language, chance, number

    def __missing__(self, slot: str) -> str:
        self[slot] = value = self._draw(slot)
        return value

    def _draw(self, slot: str) -> str:
        chance = self._chance
        match slot:
            case "day":
                return chance.choice(self._language.words["days"])
            case "hour":
                return f"{chance.randrange(6, 23):02d}:{chance.randrange(0, 60, 5):02d}"
            case "number":
                return str(chance.randrange(2, 900))
            case "code":
                letters = chance.choice(LETTERS) + chance.choice(LETTERS)
                return f"{letters}-{self._number % 1000:03d}{chance.randrange(100):02d}"
            case "host":
                return f"{chance.choice(HOSTS)}-{chance.randrange(1, 4000)}"
            case "version":
                return f"{chance.randrange(1, 9)}.{chance.randrange(30)}.{chance.randrange(10)}"
            case _:
                return chance.choice(self._language.words[slot]).format_map(self)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a corpus and, beside it, its queries."""
    parser = argparse.ArgumentParser(prog="scripts/bench corpus", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("folder", type=Path, help="where to write; made if missing")
    parser.add_argument("--chunks", type=int, default=1_000, help="sections in all (default: 1000)")
    parser.add_argument("--sections-per-note", type=int, default=1, help="sections of a note (default: 1)")
    parser.add_argument("--queries", type=int, default=60, help="lines of queries.jsonl (default: 60)")
    parser.add_argument("--seed", type=int, default=SEED, help=f"another seed gives other notes (default: {SEED})")
    given = parser.parse_args(arguments)
    layout = {"sections_per_note": given.sections_per_note, "seed": given.seed}
    written = write(given.folder, given.chunks, **layout)
    rows = [
        {"id": query.ident, "query": query.text, "language": query.language, "path": query.path, "line": query.line}
        for query in queries(given.chunks, given.queries, **layout)
    ]
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (given.folder / "queries.jsonl").write_text(lines, encoding="utf-8")
    print(f"{written.files} files, {written.sections} sections, {written.size / 1e6:.1f} MB in {given.folder}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
