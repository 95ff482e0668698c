"""How well time phrases are read, by cases that lie outside the project.

    export REVERIE_BENCH_DATA=…/data
    scripts/bench times

A case is a line of JSON: ``{"lang", "input", "reference", "results": [{"text", "type", "values": [{"value"}]}]}``, the
form of the Recognizers-Text specifications. Counted are cases with a single day, time of day, or time of a day:
right is the reading that lies ahead of the reference time; where a time of day is open between its two halves, either.
Cases with no result are right if nothing is found in them. The language is told, and in a column of its own it is not.

A request, in ``reminders/utterances.jsonl``, is ``{"lang", "text", "slots"}`` with slots ``from:to:name``, where those
named ``datetime`` are times. Requests without slots are only counted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.measuring import runs
from bench.measuring.machine import describe, versions
from bench.measuring.tables import Table
from reverie import __version__
from reverie.core.clock import SystemClock
from reverie.core.times.find import find_times
from reverie.core.times.phrase import Direction, Kind, TimePhrase

DATA = "REVERIE_BENCH_DATA"
REQUESTS = ("language", "requests", "with a phrase", "marked", "found", "whole", "none marked", "silent there")
PREPOSITIONS = ("for", "at", "on", "to", "in", "by", "from", "of", "this", "the")
CODES = {"English": "en", "German": "de", "Chinese": "zh", "Spanish": "es", "French": "fr"}
KINDS = {"date": Kind.DATE, "time": Kind.TIME, "datetime": Kind.MOMENT}
FORMS = {"date": "%Y-%m-%d", "time": "%H:%M:%S", "datetime": "%Y-%m-%d %H:%M:%S"}
COLUMNS = (
    "language",
    *KINDS,
    "all three",
    "language not told",
    "cases",
    "silent where nothing is",
    "of cases",
    "ms a case",
)


def right(kind: str, values: Sequence[Mapping[str, str]], found: Sequence[TimePhrase]) -> bool:
    """Say whether a case was read as it should be.

    Values of one ``timex`` are the same words behind and ahead of the reference time, and only the last is right;
    another ``timex`` is the other half of the day.
    """
    if not values or values[-1]["value"] == "not resolved":
        return not found
    last = values[-1]
    wanted = {last["value"]} | {one["value"] for one in values if kind != "date" and one["timex"] != last["timex"]}
    for phrase in found:
        if phrase.kind != KINDS[kind] or phrase.since is None:
            continue
        readings = [phrase.since] if kind == "date" else [phrase.since, *phrase.others]
        if any(reading.strftime(FORMS[kind]) in wanted for reading in readings):
            return True
    return False


def score(cases: Sequence[Mapping[str, Any]]) -> Table:
    """Return a language a row."""
    asked: dict[str, Counter[str]] = {language: Counter() for language in CODES}
    good: dict[str, Counter[str]] = {language: Counter() for language in CODES}
    spent = dict.fromkeys(CODES, 0.0)
    for case in cases:
        language, results, reference = case["lang"], case["results"], case["reference"]
        kind = results[0]["type"].rpartition(".")[2] if len(results) == 1 else "" if results else "none"
        if language not in CODES or (kind not in KINDS and kind != "none") or (results and not reference):
            continue
        now = datetime.fromisoformat(reference or "2020-01-01T00:00:00").replace(tzinfo=UTC)
        started = time.perf_counter()
        found = find_times(case["input"], now, "UTC", prefer=Direction.FUTURE, languages=[CODES[language]])
        spent[language] += time.perf_counter() - started
        asked[language][kind] += 1
        values = results[0]["values"] if results else []
        good[language][kind] += not found if kind == "none" else right(kind, values, found)
        if kind != "none":
            untold = find_times(case["input"], now, "UTC", prefer=Direction.FUTURE)
            good[language]["untold"] += right(kind, values, untold)
    rows = []
    for language in CODES:
        of = {kind: _share(good[language][kind], asked[language][kind]) for kind in (*KINDS, "none")}
        three = sum(asked[language][kind] for kind in KINDS)
        whole = _share(sum(good[language][kind] for kind in KINDS), three)
        unhelped = _share(good[language]["untold"], three)
        silent = asked[language]["none"]
        cost = 1000 * spent[language] / (three + silent) if three + silent else None
        rows.append((language, *(of[kind] for kind in KINDS), whole, unhelped, three, of["none"], silent, cost))
    return Table("Time phrases, read as lying ahead", COLUMNS, tuple(rows))


def requests(cases: Sequence[Mapping[str, Any]]) -> Table:
    """Return how many times of spoken requests are found, a language a row."""
    now = datetime(2026, 12, 1, 9, tzinfo=UTC)
    counts: dict[str, Counter[str]] = {}
    for case in cases:
        row = counts.setdefault(case["lang"], Counter())
        found = find_times(case["text"], now, "UTC", prefer=Direction.FUTURE)
        row["requests"] += 1
        row["some"] += bool(found)
        if "slots" not in case:
            continue
        slots = [slot.split(":") for slot in case["slots"].split(",") if slot.endswith(":datetime")]
        row["times"] += len(slots)
        row["none"] += not slots
        row["silent"] += not slots and not found
        for start, end, _ in slots:
            touching = [one for one in found if one.start < int(end) and one.end > int(start)]
            row["touched"] += bool(touching)
            row["covered"] += any(_covers(one, case["text"], int(start), int(end)) for one in touching)
    rows = [
        (
            language,
            row["requests"],
            row["some"],
            row["times"] or None,
            _share(row["touched"], row["times"]),
            _share(row["covered"], row["times"]),
            row["none"] or None,
            _share(row["silent"], row["none"]),
        )
        for language, row in sorted(counts.items())
    ]
    return Table("Times in spoken requests", REQUESTS, tuple(rows))


def _covers(found: TimePhrase, text: str, start: int, end: int) -> bool:
    """Say whether a phrase reaches over the whole of a marked time, the preposition in front of it aside."""
    inside = text[start:end].lower()
    lead = next((len(word) + 1 for word in PREPOSITIONS if inside.startswith(f"{word} ")), 0)
    return found.start <= start + lead and found.end >= end


def _share(good: int, asked: int) -> float | None:
    return good / asked if asked else None


def _lines(path: Path) -> list[Mapping[str, Any]]:
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the cases and keep the run."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(
        prog="scripts/bench times", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    folder = os.environ.get(DATA)
    parser.add_argument("--data", type=Path, default=Path(folder) if folder else None, help=f"default: {DATA}")
    parser.add_argument("--results", type=Path, default=runs.RESULTS, help="where the run is kept")
    given = parser.parse_args(words)
    if given.data is None or not (given.data / "time-phrases" / "cases.jsonl").is_file():
        parser.error(f"no time-phrases/cases.jsonl below --data; set {DATA}")
    tables = [score(_lines(given.data / "time-phrases" / "cases.jsonl"))]
    spoken = given.data / "reminders" / "utterances.jsonl"
    if spoken.is_file():
        tables.append(requests(_lines(spoken)))
    found = {"reverie": __version__} | versions()
    run = runs.new("times", words, SystemClock("UTC").now(), describe(), found, tables)
    print(runs.page(run))
    print(run.save(given.results))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
