"""`reverie note`, `reverie remember` and `reverie import markdown`."""

from __future__ import annotations

import pytest


def test_what_was_noted_is_found_at_once_and_belongs_to_the_owner(reverie, workspace):
    written = reverie("note", "The dentist moved to Friday.", "--json").data
    assert written["origin"] == "owner"
    assert written["path"].startswith("memory/")
    lines = (workspace / written["path"]).read_text(encoding="utf-8").splitlines()
    assert "The dentist moved to Friday." in lines[written["startLine"] - 1]
    hit = reverie("search", "dentist", "--json").data["hits"][0]
    assert hit["path"] == written["path"]
    assert hit["provenance"]["origin"] == "owner"


def test_a_note_says_where_it_went(reverie):
    ran = reverie("note", "Buy", "milk", "--heading", "Errands")
    assert ran.status == 0
    assert ran.out.startswith("Noted in memory/")
    assert ran.out.rstrip().endswith("as said by the owner.")


def test_a_dash_reads_the_text_from_standard_input_whatever_its_length(reverie, workspace):
    text = "\n".join(f"line {number}" for number in range(2000))
    written = reverie("note", "-", "--json", stdin=text).data
    kept = (workspace / written["path"]).read_text(encoding="utf-8")
    assert all(f"line {number}\n" in kept + "\n" for number in range(2000))


@pytest.mark.parametrize("command", ["note", "remember"])
@pytest.mark.parametrize(("arguments", "stdin"), [(("",), ""), (("  ",), ""), (("-",), ""), ((), "")])
def test_there_must_be_something_to_write(reverie, workspace, command, arguments, stdin):
    before = sorted(path.name for path in workspace.rglob("*"))
    ran = reverie(command, *arguments, stdin=stdin)
    assert (ran.status, ran.out) == (2, "")
    assert sorted(path.name for path in workspace.rglob("*")) == before


def test_text_that_could_only_be_kept_changed_is_refused(reverie, process):
    assert reverie("note", "-", stdin=b"caf\xe9").err.splitlines()[0] == "error: Standard input is not UTF-8 (byte: 3)"
    ran = process("note", b"caf\xe9")
    assert ran.returncode == 2
    assert b"not UTF-8" in ran.stderr


def test_a_fact_goes_to_memory_and_a_preference_to_the_user_model(reverie, workspace):
    assert reverie("remember", "The studio backup runs on kormoran.").out.startswith("Remembered in MEMORY.md")
    assert reverie("remember", "I prefer the aisle seat.").out.startswith("Remembered in USER.md")
    assert "kormoran" in (workspace / "MEMORY.md").read_text(encoding="utf-8")


def test_a_newer_fact_with_the_same_key_takes_the_place_of_the_older_one(reverie, workspace):
    assert reverie("remember", "The pool is on Tuesday.", "--key", "lien.pool").status == 0
    assert reverie("remember", "The pool is on Thursday.", "--key", "lien.pool").status == 0
    kept = (workspace / "MEMORY.md").read_text(encoding="utf-8")
    assert "Thursday" in kept
    assert "Tuesday" not in kept


def test_importance_and_triggers_are_kept_with_the_fact(reverie):
    ran = reverie(
        "remember",
        "Lock the studio door.",
        "--importance",
        "9",
        "--trigger",
        "leaving",
        "--trigger",
        "",
        "--trigger",
        "door",
    )
    assert ran.status == 0
    hit = reverie("search", "studio door", "--json").data["hits"][0]
    assert hit["annotations"]["importance"] == 9
    assert hit["annotations"]["triggers"] == ["leaving", "door"]


@pytest.mark.parametrize("value", ["0", "11", "much"])
def test_importance_goes_from_1_to_10(reverie, value):
    assert reverie("remember", "x", "--importance", value).status == 2


# --- import ----------------------------------------------------------------------------------------------------


def test_an_import_copies_notes_and_leaves_their_source_alone(reverie, workspace, tmp_path):
    source = tmp_path / "old notes"
    (source / "deep").mkdir(parents=True)
    (source / "a.md").write_text("The boiler is from 1998.\n", encoding="utf-8")
    (source / "deep" / "b.md").write_text("The roof is from 2004.\n", encoding="utf-8")
    (source / "c.bin").write_bytes(b"\x00")
    before = {path: path.read_bytes() for path in source.rglob("*") if path.is_file()}
    first = reverie("import", "markdown", str(source), "--json").data
    assert len(first["import"]["written"]) == 2
    assert all(path.startswith("memory/imports/markdown/") for path in first["import"]["written"])
    assert "roof" in reverie("search", "roof").out
    again = reverie("import", "markdown", str(source), "--json").data
    assert again["import"]["written"] == []
    assert {path: path.read_bytes() for path in source.rglob("*") if path.is_file()} == before


def test_an_import_for_people_names_what_was_done(reverie, tmp_path):
    (tmp_path / "a.md").write_text("The boiler is from 1998.\n", encoding="utf-8")
    ran = reverie("import", "markdown", str(tmp_path / "a.md"))
    assert ran.status == 0
    assert ran.out.startswith("1 imported, 0 unchanged, 0 skipped.")


def test_an_import_of_nothing_is_an_error(reverie, tmp_path):
    ran = reverie("import", "markdown", str(tmp_path / "nowhere"))
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("error: ")


def test_time_02_two_processes_of_different_zones_agree_on_today(reverie, process, workspace):
    zones = ("Etc/GMT+12", "Etc/GMT-14")  # their calendar days never agree
    for zone in zones:
        assert process("note", f"written in {zone}", env={"TZ": zone}).returncode == 0
    (note,) = (workspace / "memory").glob("*.md")
    assert all(f"written in {zone}" in note.read_text(encoding="utf-8") for zone in zones)
    first, other = (" ".join(process("doctor", env={"TZ": zone}).stdout.decode().split()) for zone in zones)
    assert "where this memory began" not in first
    assert "days are those of Etc/GMT+12, where this memory began; this process is in Etc/GMT-14" in other
