"""How well time phrases are read, by cases that lie outside the project.

    export REVERIE_BENCH_DATA=…/data
    scripts/bench times

A case is a line of JSON: ``{"lang", "input", "reference", "results": [{"text", "type", "values": [{"value"}]}]}``, the
form of the Recognizers-Text specifications. Counted are cases with a single day, time of day, or time of a day:
right is the reading that lies ahead of the reference time; where a time of day is open between its two halves, either.
Cases with no result are right if nothing is found in them.
"""

from __future__ import annotations

import argparse
import json
import os
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
CODES = {"English": "en", "German": "de", "Chinese": "zh", "Spanish": "es", "French": "fr"}
KINDS = {"date": Kind.DATE, "time": Kind.TIME, "datetime": Kind.MOMENT}
FORMS = {"date": "%Y-%m-%d", "time": "%H:%M:%S", "datetime": "%Y-%m-%d %H:%M:%S"}
COLUMNS = ("language", *KINDS, "all three", "cases", "silent where nothing is", "of cases", "ms a case")


def right(kind: str, values: Sequence[str], found: Sequence[TimePhrase]) -> bool:
    """Say whether a case was read as it should be."""
    if not values or values[-1] == "not resolved":
        return not found
    wanted = {values[-1]} if kind == "date" else set(values)
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
        values = [value.get("value", "") for value in results[0]["values"]] if results else []
        good[language][kind] += not found if kind == "none" else right(kind, values, found)
    rows = []
    for language in CODES:
        of = {kind: _share(good[language][kind], asked[language][kind]) for kind in (*KINDS, "none")}
        three = sum(asked[language][kind] for kind in KINDS)
        whole = _share(sum(good[language][kind] for kind in KINDS), three)
        every = three + asked[language]["none"]
        cost = 1000 * spent[language] / every if every else None
        rows.append((language, *(of[kind] for kind in KINDS), whole, three, of["none"], asked[language]["none"], cost))
    return Table("Time phrases, read as lying ahead", COLUMNS, tuple(rows))


def _share(good: int, asked: int) -> float | None:
    return good / asked if asked else None


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the cases and keep the run."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench times", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    folder = os.environ.get(DATA)
    parser.add_argument("--data", type=Path, default=Path(folder) if folder else None, help=f"default: {DATA}")
    parser.add_argument("--results", type=Path, default=runs.RESULTS, help="where the run is kept")
    given = parser.parse_args(arguments)
    if given.data is None or not (given.data / "time-phrases" / "cases.jsonl").is_file():
        parser.error(f"no time-phrases/cases.jsonl below --data; set {DATA}")
    with (given.data / "time-phrases" / "cases.jsonl").open(encoding="utf-8") as file:
        cases = [json.loads(line) for line in file]
    table = score(cases)
    found = {"reverie": __version__} | versions()
    run = runs.new("times", list(arguments or ()), SystemClock("UTC").now(), describe(), found, [table])
    print(runs.page(run))
    print(run.save(given.results))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
