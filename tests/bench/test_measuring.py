import dataclasses
import os
import sys
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.measuring import machine, processes, runs
from bench.measuring.figures import percentile, ratio, summary
from bench.measuring.processes import Command
from bench.measuring.tables import Table, markdown, shown

TIMES = st.lists(st.floats(min_value=0.001, max_value=1e6), min_size=1, max_size=40)


def test_a_percentile_is_a_value_that_was_measured():
    values = [float(value) for value in range(100, 0, -1)]
    assert (percentile(values, 0.5), percentile(values, 0.95), percentile(values, 1.0)) == (50.0, 95.0, 100.0)
    assert percentile([7.0], 0.95) == 7.0


@given(TIMES)
def test_a_summary_lies_within_what_was_measured(values):
    figures = summary(values)
    assert min(values) == figures.lowest <= figures.median <= figures.highest == max(values)
    assert figures.median <= figures.p95
    assert figures.p95 in values


def test_a_ratio_is_taken_pair_by_pair():
    # The machine became ten times slower halfway; the pairs do not care.
    compared = ratio([1.0, 1.0, 10.0], [2.0, 2.0, 20.0])
    assert (compared.pairs, compared.median, compared.lowest, compared.highest) == (3, 0.5, 0.5, 0.5)


@given(TIMES)
def test_a_thing_takes_as_long_as_itself(values):
    assert ratio(values, values).median == 1.0


def test_nothing_measured_gives_no_figure():
    with pytest.raises(ValueError, match="nothing was measured"):
        summary([])
    with pytest.raises(ValueError, match="nothing was measured"):
        ratio([], [])
    with pytest.raises(ValueError, match="longer"):
        ratio([1.0], [1.0, 2.0])


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, "–"),
        (12_345, "12,345"),
        (0.04567, "0.046"),
        (3.14159, "3.14"),
        (27.18, "27.2"),
        (1234.5, "1,234"),
        ("a|b", "a\\|b"),
    ],
)
def test_a_figure_is_shown_with_the_digits_it_deserves(cell, text):
    assert shown(cell) == text


def test_a_table_leaves_out_what_was_not_measured():
    table = Table(
        "Cold",
        ("system", "median s", "never"),
        (("one", 1.5, None), ("two", None, None), ("three", 2, None)),
        ("A note.",),
    )
    assert markdown(table) == (
        "### Cold\n\n| system | median s |\n| --- | ---: |\n| one | 1.50 |\n| three | 2 |\n\nA note.\n"
    )


def test_a_table_of_nothing_says_so():
    assert "Nothing was measured." in markdown(Table("Cold", ("system", "s"), (("one", None),)))


def test_a_process_is_measured_with_its_output_and_its_children():
    program = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'sum(range(3_000_000))']); print('done')"
    ran = processes.run(Command((sys.executable, "-c", program)))
    assert (ran.status, ran.output.strip(), ran.failure) == (0, "done", "")
    assert ran.seconds > 0
    assert ran.cpu > 0


def test_a_peak_that_may_be_the_parents_is_not_measured():
    # In a process of its own: the one that runs the suite may be larger than any child.
    program = (
        "import sys\n"
        "from bench.measuring import processes\n"
        "from bench.measuring.processes import Command\n"
        "small = processes.run(Command((sys.executable, '-c', 'pass')))\n"
        "large = processes.run(Command((sys.executable, '-c', \"held = b'x' * (200 * 2**20)\")))\n"
        "print(small.peak, large.peak > 200, processes.peak([large, large]) == large.peak, "
        "processes.peak([large, small]))\n"
    )
    ran = processes.run(Command((sys.executable, "-c", program), {**os.environ, "PYTHONPATH": ":".join(sys.path)}))
    assert ran.output.split() == ["None", "True", "True", "None"]


def test_a_process_sees_only_the_environment_it_is_given(monkeypatch):
    monkeypatch.setenv("BENCH_SECRET", "seen")
    program = "import os; print(os.environ.get('BENCH_SECRET'), os.environ.get('GIVEN'))"
    assert processes.run(Command((sys.executable, "-c", program), {"GIVEN": "yes"})).output.split() == ["None", "yes"]


def test_a_failed_process_says_why_in_one_line():
    ran = processes.run(Command((sys.executable, "-c", "import sys; sys.exit('error: no room\\n')")))
    assert ran.failure == "exit status 1: error: no room"


def test_a_process_past_its_deadline_is_ended():
    ran = processes.run(Command((sys.executable, "-c", "import time; time.sleep(60)")), deadline=0.2)
    assert ran.failure == "exit status -9"


def test_the_machine_is_described():
    found = machine.describe()
    assert found.cores >= 1
    assert found.python.split()[-1] == ".".join(map(str, sys.version_info[:3]))
    assert machine.versions("pytest", "no-such-distribution") == {"pytest": pytest.__version__}


def a_run(**changes):
    table = Table("Cold", ("system", "s"), (("Reverie", 0.5), ("OpenClaw", None)))
    at = datetime(2026, 3, 17, 20, 22, tzinfo=UTC)
    run = runs.new("speed", ["--chunks", "10"], at, machine.describe(), {"reverie": "0.1"}, [table])
    return dataclasses.replace(run, **changes)


def test_a_run_survives_its_file(tmp_path):
    run = a_run(missing={"OpenClaw": "not installed"}, raw={"seconds": [0.5]})
    assert runs.load(run.save(tmp_path)) == run


def test_a_file_that_holds_no_run_is_refused(tmp_path):
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ValueError, match="holds no run"):
        runs.load(tmp_path / "x.json")


def test_a_page_names_command_machine_and_the_missing():
    text = runs.page(a_run(missing={"OpenClaw": "not installed; see /opt/some/where/install.log"}))
    assert "`scripts/bench speed --chunks 10`" in text
    assert f"{machine.describe().cores} cores of" in text
    assert "* OpenClaw: not installed; see …/install.log" in text
    assert "| OpenClaw |" not in text


@pytest.mark.parametrize(
    ("text", "without"),
    [
        ("bench --data /srv/some/data x", "bench --data …/data x"),
        ("--data=/srv/some/data", "--data=…/data"),
        ("http://127.0.0.1:80/v1/models stays", "http://127.0.0.1:80/v1/models stays"),
        ("bench/cache/x and 3/4 stay", "bench/cache/x and 3/4 stay"),
    ],
)
def test_whole_paths_lose_their_folders(text, without):
    assert runs.portable(text) == without
