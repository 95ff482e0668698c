import json
import subprocess
import sys

import pytest

from bench import speed
from bench.measuring import runs
from bench.measuring.processes import Command, Ran
from bench.measuring.tables import Table, markdown
from bench.peers.contender import PeerMissing
from bench.peers.installed import ROOT
from bench.stages import cold, warm
from bench.stages.plan import Field, Outcome, Plan


def plan(folder, **sizes):
    return Plan(folder, folder / "model", **sizes)


def test_quick_fills_in_only_what_was_left_open(tmp_path):
    words = ["--quick", "--chunks", "7", "--folder", str(tmp_path), "--model", str(tmp_path)]
    chosen = speed.plan_of(speed.parser().parse_args(words))
    assert (chosen.chunks, chosen.large) == (7, speed.QUICK["large"])
    whole = speed.plan_of(speed.parser().parse_args([]))
    assert (whole.chunks, whole.large) == (10_000, 100_000)


def test_a_run_holds_every_part_and_names_the_missing(tmp_path, monkeypatch, capsys):
    table = Table("Start", ("process", "s"), (("reverie", 0.1),))
    parts = {
        "start": lambda given, say: Outcome([table], {"memsearch": "not installed"}, {"seconds": [given.rounds]}),
        "cold": lambda given, say: Outcome([], {"OpenClaw": "does not start"}, versions={"node": "24"}),
    }
    monkeypatch.setattr(speed, "PARTS", parts)
    assert speed.main(["--rounds", "4", "--results", str(tmp_path)]) == 0
    run = runs.load(tmp_path / "speed.json")
    assert run.missing == {"memsearch": "not installed", "OpenClaw": "does not start"}
    assert run.raw == {"seconds": [4]}
    assert run.versions["node"] == "24"
    assert "| reverie | 0.100 |" in capsys.readouterr().out


class Echo:
    """A system that prints a path it was told, and takes as long as a process takes."""

    versions = {"echo": "1"}  # noqa: RUF012 - never changed

    def __init__(self, name, path="", status=0):
        self.name = name
        self.path = path
        self.status = status

    def index(self):
        return Command((sys.executable, "-c", "pass"))

    def search(self, query):
        return Command((sys.executable, "-c", f"print({self.path!r}); raise SystemExit({self.status})"))

    def found(self, output):
        return output.split()

    def warm(self, queries):
        return None

    def chunks(self):
        return 10


def test_systems_take_turns_and_one_that_fails_leaves_with_its_reason(tmp_path):
    field = Field([Echo("Reverie", "memory/a.md"), Echo("Other"), Echo("Broken", status=3)])
    given = plan(tmp_path, chunks=10, rounds=2)
    indexed = cold._index_all(field, lambda text: None)
    searches, found = cold._search_all(field, given, lambda text: None)
    assert {name: len(done) for name, done in searches.items()} == {"Reverie": 2, "Other": 2}
    assert field.missing == {"Broken": "search: exit status 3"}
    text = markdown(cold._cold_table(field, searches, found, given)) + markdown(
        cold._index_table(field, indexed, given)
    )
    assert "Broken" not in text
    assert text.count("| Other |") == 2


def ran(seconds):
    return Ran(seconds, seconds / 2, 100.0, 0, "", "")


def test_a_peer_is_compared_pair_by_pair(tmp_path):
    field = Field([Echo("Reverie"), Echo("Other")])
    searches = {"Reverie": [ran(1.0), ran(2.0), ran(4.0)], "Other": [ran(2.0), ran(4.0), ran(16.0)]}
    found = {"Reverie": [True, True, False], "Other": [False] * 3}
    text = markdown(cold._cold_table(field, searches, found, plan(tmp_path)))
    assert "| Reverie | 2.00 | 4.00 | 1.00 | 100 | – | – | 2 of 3 |" in text
    assert "| Other | 4.00 | 16.0 | 2.00 | 100 | 0.500 | 0.250 to 0.500 | 0 of 3 |" in text


def test_a_peer_that_can_not_be_entered_is_named(tmp_path, monkeypatch):
    def absent(*_):
        raise PeerMissing("not installed")

    monkeypatch.setattr(cold, "Memsearch", type("Memsearch", (), {"name": "memsearch", "__init__": absent}))
    monkeypatch.setattr(cold, "OpenClaw", type("OpenClaw", (), {"name": "OpenClaw", "__init__": absent}))
    monkeypatch.setattr(cold, "Reverie", lambda place: Echo("Reverie"))
    with cold.gathered(plan(tmp_path), tmp_path) as field:
        assert [one.name for one in field.present] == ["Reverie"]
        assert field.missing == {"memsearch": "not installed", "OpenClaw": "not installed"}


def canned(chunks, milliseconds):
    return {
        "index": {"seconds": 2.0, "chunks": chunks},
        "search": {
            "whole": [milliseconds] * 3,
            "parts": {"keyword": [1.0] * 3, "embed": [9.0] * 3, "ranking": [0.5] * 3},
        },
        "unchanged": {"sync": [4.0], "search": [6.0]},
        "append": {"written": [8.0], "noticed": [], "of": 1},
        "resident": {"imported": 20.0, "search": 60.0},
        "status": {"chunks": chunks, "files": 5},
    }


def test_the_tables_of_a_store_tell_the_search_from_the_call_and_show_growth(tmp_path):
    figures = {(100, "none"): canned(100, 12.0), (1_000, "none"): canned(1_000, 24.0)}
    text = markdown(warm._search_table(figures))
    assert "| keywords only | 100 | 5 | 1.50 | 1.50 | 12.0 | 12.0 | 1.00 | 9.00 | 0.500 |" in text
    assert "| keywords only | 100 | 5 | 2.00 | 50.0 | 4.00 | 10.0 | 8.00 | 1 of 1 | 0 of 1 |" in markdown(
        warm._keeping_table(figures)
    )
    grown = markdown(warm._growth_table(figures, plan(tmp_path, chunks=100, large=1_000)))
    assert "| microseconds to index a chunk: keywords only | 20,000 | 2,000 | 0.100 |" in grown
    assert "| milliseconds a search: keywords only | 12.0 | 24.0 | 2.00 |" in grown


@pytest.mark.parametrize("name", ["corpus", "speed", "quality", "results"])
def test_every_program_explains_itself_and_loads_no_model(name):
    program = (
        f"import json, sys\nfrom bench.{name} import main\ntry:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(json.dumps([name for name in ('numpy', 'onnxruntime', 'apsw') if name in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=True
    )
    *told, loaded = done.stdout.splitlines()
    assert told[0].startswith(f"usage: scripts/bench {name}")
    assert json.loads(loaded) == []
