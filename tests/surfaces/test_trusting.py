"""`reverie trust` and `reverie why`."""

from __future__ import annotations

import pytest

PAGE = "memory/imports/markdown/page.md"


@pytest.fixture
def imported(reverie, tmp_path):
    source = tmp_path / "page.md"
    source.write_text("# Kiln\n\n- The kiln fires at 980 degrees.\n- It is green.\n", encoding="utf-8")
    assert reverie("import", "markdown", str(source)).status == 0
    return reverie


def test_the_lines_are_shown_before_they_are_trusted(imported):
    ran = imported("trust", PAGE, "--lines", "3-4")
    assert ran.status == 0
    assert ran.out.index("The kiln fires at 980 degrees.") < ran.out.index("Trusted 2 lines")
    assert "It is green." in ran.out
    assert "# Kiln" not in ran.out


def test_a_dry_run_records_nothing(imported):
    ran = imported("trust", PAGE, "--dry-run")
    assert "would be trusted" in ran.out
    assert "nothing was recorded" in ran.out
    assert f"{PAGE}: 3" in imported("status").out


def test_after_it_status_and_search_see_the_new_class(imported):
    assert imported("search", "kiln degrees", "--json").data["hits"][0]["provenance"]["origin"] == "untrusted"
    imported("trust", PAGE)
    assert PAGE not in imported("status").out
    assert imported("status", "--json").data["untrustedFiles"] == []
    assert {hit["provenance"]["origin"] for hit in imported("search", "kiln degrees", "--json").data["hits"]} == {
        "agent"
    }


def test_trusting_again_says_that_it_is_trusted_already(imported):
    imported("trust", PAGE, "--lines", "3")
    ran = imported("trust", PAGE, "--lines", "3")
    assert ran.status == 0
    assert "trusted already" in ran.out


def test_the_act_as_json(imported):
    report = imported("trust", PAGE, "--lines", "3", "--json").data
    assert report["lines"] == [{"line": 3, "text": "- The kiln fires at 980 degrees.", "was": "untrusted"}]
    assert (report["applied"], report["path"], bool(report["record"])) == (True, PAGE, True)
    assert imported("trust", PAGE, "--json", "--dry-run").data["applied"] is False


@pytest.mark.parametrize(
    ("arguments", "status", "told"),
    [
        ((PAGE, "--lines", "9-12"), 2, "no such lines"),
        ((PAGE, "--lines", "4-3"), 2, "names no lines"),
        ((PAGE, "--lines", "x"), 2, "names no lines"),
        (("AGENTS.md",), 1, "outside what memory may read"),
        (("memory/none.md",), 1, "memory/none.md"),
        (("DREAMS.md",), 1, "cannot become trusted"),
    ],
)
def test_what_cannot_be_trusted_is_an_error(imported, arguments, status, told):
    ran = imported("trust", *arguments)
    assert ran.status == status
    assert told in ran.err
    assert ran.err.startswith("error: ")


def test_an_empty_option_is_one_that_was_not_given(imported):
    assert "Trusted 3 lines" in imported("trust", PAGE, "--lines", "").out


def test_why_shows_the_chain_and_the_gates_that_refuse(imported):
    ran = imported("why", f"{PAGE}#L3")
    assert ran.status == 0
    assert f"{PAGE}#L3" in ran.out
    assert "written by import as untrusted" in ran.out
    assert "enters prompts by itself: no" in ran.out
    assert "1 line of class untrusted" in ran.out
    imported("trust", PAGE)
    ran = imported("why", "kiln", "fires", "at", "980")
    assert "the owner vouched for it" in ran.out
    assert "trust: the whole file, by cli:cli" in ran.out


def test_why_of_a_remembered_fact_names_its_write(reverie):
    reverie("remember", "The studio is in Altona.", "--key", "studio")
    ran = reverie("why", "studio")
    assert "written by remember of cli:cli as owner" in ran.out
    assert "enters prompts by itself: yes" in ran.out
    assert "it is long-term memory already" in ran.out


def test_why_as_json_holds_every_gate(imported):
    data = imported("why", f"{PAGE}#L3", "--json").data
    (found,) = data["found"]
    assert (data["entry"], found["citation"]) == (f"{PAGE}#L3", f"{PAGE}#L3")
    assert {gate["name"] for gate in found["gates"]["promotion"]} >= {"class", "session kind", "place", "secret"}
    assert {"before": "promotion", "gate": "class", "why": "1 line of class untrusted"} in found["refused"]
    assert found["writes"][0]["tool"] == "import"


def test_why_reads_standard_input(imported):
    run = imported("why", "-", stdin=f"{PAGE}#L3\n")
    assert run.status == 0
    assert "written by import" in run.out


@pytest.mark.parametrize("arguments", [(), ("nothing like this",), ("MEMORY.md#L99",), ("",)])
def test_why_of_nothing_is_wrong_usage(reverie, arguments):
    ran = reverie("why", *arguments)
    assert ran.status == 2
    assert ran.err.startswith("error: ")


def test_a_line_with_control_characters_is_shown_harmlessly(reverie, noted):
    noted("memory/a.md", "- red \x1b[31malert\x07 kormoran")
    out = reverie("why", "memory/a.md#L1").out
    assert "kormoran" in out
    assert "\x1b" not in out
