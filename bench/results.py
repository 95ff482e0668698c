"""Writes bench/RESULTS.md from the newest run of each program, or from the runs that are named.

    scripts/bench results
    scripts/bench results speed.json quality.json --output FILE

Only what a run measured is printed. Each section names its command, date and machine, so that anyone can repeat it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.measuring.runs import RESULTS, Run, load, page

OUTPUT = Path(__file__).resolve().parent / "RESULTS.md"
ORDER = ("speed", "quality", "abstention", "times", "poison")
INTRODUCTION = """\
# Results

Written by `scripts/bench results`; edits are lost. [README.md](README.md) says how the figures come about. Ratios
compare runs that took turns on one machine; seconds alone say as much about the machine as about the program. A dash
is a figure that was not measured.
"""


def assemble(found: Sequence[Run]) -> str:
    """Return the page: the introduction, then a section a run, in a fixed order."""
    rank = {program: at for at, program in enumerate(ORDER)}
    ordered = sorted(found, key=lambda run: (rank.get(run.program, len(rank)), run.program, run.at))
    return "\n".join([INTRODUCTION, *map(page, ordered)])


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the runs and write the page."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench results", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("runs", nargs="*", type=Path, help="files of runs (default: the newest of each program)")
    parser.add_argument("--output", type=Path, default=OUTPUT, help="the page (default: bench/RESULTS.md)")
    given = parser.parse_args(arguments)
    paths = given.runs or sorted(RESULTS.glob("*.json"))
    if not paths:
        print("error: there is no run yet; `scripts/bench speed` makes one", file=sys.stderr)
        return 1
    try:
        text = assemble([load(path) for path in paths])
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    given.output.write_text(text, encoding="utf-8")
    print(f"{given.output}: {len(paths)} runs")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
