"""`reverie index`, `reverie status` and `reverie doctor`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"


def test_an_index_says_what_is_new_changed_and_gone(reverie, noted, workspace):
    noted("memory/a.md", "one")
    noted("memory/b.md", "two")
    assert "4 new" in reverie("index").out  # with MEMORY.md and USER.md
    assert "nothing changed" in reverie("index").out
    noted("memory/a.md", "one and more")
    (workspace / "memory" / "b.md").unlink()
    report = reverie("index", "--json").data
    assert (report["changed"], report["removed"]) == (1, 1)
    assert report["skipped"] == []


def test_a_forced_index_reads_everything_again_and_finds_the_same(reverie, noted):
    noted("memory/a.md", "The backup runs on kormoran.")
    before = reverie("search", "backup", "--json").data["hits"]
    assert reverie("index", "--force").status == 0
    assert reverie("search", "backup", "--json").data["hits"] == before


def test_enc_04_a_file_that_cannot_be_read_is_named_and_the_others_are_indexed(reverie, noted, workspace):
    for number in range(5):
        noted(f"memory/good-{number}.md", f"The backup number {number} runs.")
    (workspace / "memory" / "binary.md").write_bytes(b"\x00\x01\x02" * 2000)
    ran = reverie("index")
    assert ran.status == 0
    assert "memory/binary.md" in ran.out
    hits = reverie("search", "backup", "--max-results", "9", "--json").data["hits"]
    assert {hit["path"] for hit in hits} == {f"memory/good-{number}.md" for number in range(5)}


@pytest.mark.slow
def test_a_watch_indexes_what_comes_and_ctrl_c_is_its_proper_end(reverie, noted):
    noted("memory/a.md", "first")
    reverie("config", "set", "memory.search.sync.watchDebounceMs", "50")
    watch = subprocess.Popen(
        [sys.executable, "-W", "error", "-m", "reverie", "index", "--watch", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(SOURCE)},
        text=True,
        encoding="utf-8",
    )
    limit = threading.Timer(60, watch.kill)
    limit.start()
    try:
        assert json.loads(watch.stdout.readline())["added"] >= 1
        reports = [json.loads(watch.stdout.readline())]
        noted("memory/b.md", "second")
        while not any(report["added"] for report in reports):
            reports.append(json.loads(watch.stdout.readline()))
        watch.send_signal(signal.SIGINT)
        _, err = watch.communicate(timeout=30)
    finally:
        limit.cancel()
        watch.kill()
    assert (watch.returncode, err) == (0, "")


# --- status and doctor -----------------------------------------------------------------------------------------


def test_the_state_names_folders_counts_and_what_is_not_built_yet(reverie, noted, workspace, state):
    noted("memory/a.md", "one")
    reverie("index")
    out = reverie("status").out
    for told in (str(workspace), str(state), "memory-core, keyword search", "MEMORY.md", "Not built yet:", "dreaming"):
        assert told in out
    data = reverie("status", "--json").data
    assert data["engine"]["files"] >= 1
    assert data["workspace"] == str(workspace)
    assert "dreaming" in data["notBuilt"]


def test_a_skipped_file_and_a_full_one_are_named_in_the_state(reverie, noted, workspace):
    (workspace / "memory" / "bad.md").write_bytes(b"\x00\x01" * 3000)
    noted("USER.md", *["- a preference that takes some room here"] * 200)
    reverie("index")
    out = reverie("status").out
    assert "memory/bad.md" in out
    assert "over its budget" in out


def test_the_doctor_finds_nothing_wrong_in_a_new_memory(reverie, noted):
    noted("memory/a.md", "one")
    reverie("index")
    ran = reverie("doctor", "--json")
    assert (ran.status, ran.data["ok"]) == (0, True)
    assert all(finding["level"] in ("ok", "note") for finding in ran.data["findings"])


def test_the_doctor_fails_while_what_cannot_be_rebuilt_is_damaged(reverie, state):
    reverie("note", "something")
    database = next(state.rglob("memory.sqlite"))
    for side in ("-wal", "-shm"):
        database.with_name(database.name + side).unlink(missing_ok=True)
    database.write_bytes(b"this is no database" * 500)
    ran = reverie("doctor")
    assert ran.status == 1
    assert "Traceback" not in ran.err + ran.out
    assert database.read_bytes().startswith(b"this is no database")


def test_sil_03_what_status_and_doctor_advise_really_repairs(reverie, noted):
    noted("memory/a.md", "one")
    assert reverie("status", "--json").data["engine"]["files"] == 0
    advised = [finding for finding in reverie("doctor", "--json").data["findings"] if finding["check"] == "index"]
    assert [(finding["message"], finding["fix"]) for finding in advised] == [
        ("3 files are not indexed yet", "reverie index")
    ]
    assert "fixed  index" in reverie("doctor", "--fix").out
    assert reverie("status", "--json").data["engine"]["files"] == 3
    assert any(line.split()[:2] == ["ok", "index"] for line in reverie("doctor").out.splitlines())
    assert reverie("status", "--fix").out.startswith("Nothing had to be repaired.")


@pytest.mark.parametrize("damage", [b"", b"garbage" * 5000])
def test_a_damaged_index_is_made_again_and_loses_nothing(reverie, noted, state, damage):
    noted("memory/a.md", "The backup runs on kormoran.")
    reverie("index")
    index = next(state.rglob("index.sqlite"))
    for side in ("-wal", "-shm"):
        index.with_name(index.name + side).unlink(missing_ok=True)
    index.write_bytes(damage)
    ran = reverie("search", "backup")
    assert ran.status == 0
    assert "memory/a.md" in ran.out
    assert "Traceback" not in ran.err


# --- what is missing or cannot be written ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [("search", "x"), ("note", "x"), ("index",), ("status",), ("doctor",), ("get", "MEMORY.md")]
)
def test_without_a_workspace_every_command_says_how_to_make_one(run, tmp_path, arguments):
    ran = run(*arguments)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.splitlines()[0].startswith("error: The workspace folder is not there")
    assert "reverie init" in ran.err.splitlines()[1]
    ran = run("--agent", "team-a", *arguments)
    assert ran.status == 1
    assert ran.err.splitlines()[1] == "hint: run `reverie init --agent team-a`"


def test_a_state_folder_that_cannot_be_made_is_one_clear_error(run, tmp_path, workspace, monkeypatch):
    workspace.mkdir()
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("REVERIE_STATE_DIR", str(tmp_path / "file" / "state"))
    for arguments in (("search", "x"), ("note", "x"), ("init",)):
        ran = run(*arguments)
        assert (ran.status, ran.out) == (1, "")
        assert ran.err.startswith("error: ")
        assert len(ran.err.splitlines()) <= 2


def bound_by_permissions():
    """Return the words before a command that make permissions hold for it; the super-user is above them."""
    if os.name != "nt" and os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("nobody here is bound by permissions")
    powers = "-dac_override,-dac_read_search,-fowner"
    return ["setpriv", f"--bounding-set={powers}", f"--inh-caps={powers}"]


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [("search", "hello"), ("note", "x"), ("config", "set", "memory.citations", "on")])
def test_a_read_only_state_folder_is_one_clear_error(reverie, state, arguments):
    before = bound_by_permissions()
    reverie("note", "hello")
    folders = [state, *(path for path in state.rglob("*") if path.is_dir())]
    files = [path for path in state.rglob("*") if path.is_file()]
    try:
        for path in (*files, *folders):
            path.chmod(0o500)
        ran = subprocess.run(
            [*before, sys.executable, "-m", "reverie", *arguments],
            capture_output=True,
            env={**os.environ, "PYTHONPATH": str(SOURCE)},
            text=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
    finally:
        for path in (*folders, *files):
            path.chmod(0o700)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert [line.split(":")[0] for line in ran.stderr.splitlines()] == ["error", "hint"]


@pytest.mark.slow
def test_dur_15_nothing_is_made_where_the_command_runs_or_where_it_lies(process, tmp_path, noted):
    here = tmp_path / "here"
    home = tmp_path / "home"
    home.mkdir()
    plain = {"REVERIE_STATE_DIR": "", "REVERIE_WORKSPACE": "", "HOME": str(home)}
    package = {path for path in SOURCE.rglob("*") if "__pycache__" not in path.parts}
    for arguments in (("init",), ("config", "set", "memory.search.provider", "none"), ("note", "x"), ("search", "x")):
        ran = process(*arguments, env=plain, cwd=here)
        assert (ran.returncode, ran.stderr) == (0, b""), arguments
    assert list(here.iterdir()) == []
    assert [path.name for path in home.iterdir()] == [".reverie"]
    assert {path for path in SOURCE.rglob("*") if "__pycache__" not in path.parts} == package


@pytest.mark.slow
def test_enc_05_answers_do_not_depend_on_the_locale(process, reverie, noted):
    noted("memory/2026-03-11.md", "Brösel bekommt morgens 40 Gramm. 🐈")
    noted("memory/Планы.md", "Die Söhne von Thüringen.")
    plain = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    good = {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"}
    for arguments in (
        ("search", "Brösel", "--json"),
        ("search", "Söhne"),
        ("get", "memory/2026-03-11.md"),
        ("get", "memory/Планы.md"),
    ):
        ran = [process(*arguments, env=env) for env in (good, plain)]
        assert [one.returncode for one in ran] == [0, 0], (arguments, ran)
        assert without_moment(ran[0].stdout) == without_moment(ran[1].stdout)
    written = process("note", "Grüße von Måns", "--json", env=plain)
    assert written.returncode == 0
    assert "Grüße von Måns" in process("search", "Grüße", env=plain).stdout.decode("utf-8")


def without_moment(out):
    if not out.startswith(b"{"):
        return out
    found = json.loads(out)
    hits = [{name: value for name, value in hit.items() if "core" not in name} for hit in found["hits"]]
    return {**found, "hits": hits, "milliseconds": None}
