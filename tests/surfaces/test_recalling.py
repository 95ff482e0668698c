"""`reverie search` and `reverie get`."""

from __future__ import annotations

import pytest


def paths(ran):
    return [hit["path"] for hit in ran.data["hits"]]


def test_a_search_prints_the_place_the_origin_and_the_text(reverie, noted):
    noted("memory/2026-03-17.md", "# Day", "", "The backup runs on kormoran at 04:30.", "", "Bread is out.")
    ran = reverie("search", "when does the backup run")
    assert ran.status == 0
    assert ran.out.splitlines()[0].startswith("1. memory/2026-03-17.md#L")
    assert ran.out.splitlines()[0].endswith("  agent")
    assert "kormoran" in ran.out
    assert ran.err == ""


def test_a_search_prints_one_json_document_and_explains_only_when_asked(reverie, noted):
    noted("memory/a.md", "The backup runs on kormoran.")
    plain = reverie("search", "backup", "--json").data
    assert plain["query"] == "backup"
    assert plain["mode"] == "keyword"
    assert plain["hits"][0]["citation"] == "memory/a.md#L1"
    assert plain["hits"][0]["provenance"]["origin"] == "agent"
    assert "trace" not in plain["hits"][0]
    assert "dropped" not in plain
    told = reverie("--json", "search", "backup", "--explain").data
    assert told["hits"][0]["trace"]["keyword"]["rank"] == 1
    assert told["dropped"] == []


def test_an_explained_hit_shows_both_legs_and_every_factor(reverie, noted):
    noted("memory/2026-03-17.md", "The backup runs on kormoran.")
    out = reverie("search", "backup", "--explain").out
    assert "| by words    rank 1, score" in out
    assert "| by meaning  not found" in out
    assert "x recency" in out
    assert "x importance" in out
    assert "Mode: keyword. Time: keyword" in out


def test_several_words_need_no_quotes_and_a_dash_reads_standard_input(reverie, noted):
    noted("memory/a.md", "The backup runs on kormoran.")
    noted("memory/b.md", "Bread is out.")
    assert paths(reverie("search", "kormoran", "backup", "--json")) == ["memory/a.md"]
    assert paths(reverie("search", "-", "--json", stdin="kormoran\nbackup")) == ["memory/a.md"]


@pytest.mark.parametrize("query", ["anything", "", "   ", "???", "🙂", "\x00", "\ud800"])
def test_lex_15_a_search_in_an_empty_store_gives_a_reason_and_no_error(reverie, query):
    ran = reverie("search", query)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("No hits: ")
    assert reverie("search", query, "--json").data["notices"] != []


@pytest.mark.parametrize("query", ["", "   ", "???", "🙂"])
def test_lex_15_a_query_without_words_gives_a_reason_and_no_error(reverie, noted, query):
    noted("memory/a.md", "The backup runs on kormoran.")
    ran = reverie("search", query)
    assert (ran.status, ran.err) == (0, "")
    assert ran.out.startswith("No hits: ")


@pytest.mark.parametrize(
    "query",
    ["don't", '"--dry-run"', '"', "it's \"fine", "90 km/h", "std::map", "foo*", "(", "AND", "NEAR(a b)", "a:b", "--x"],
)
def test_lex_08_lex_11_no_query_is_a_syntax_error(reverie, noted, query):
    noted("memory/a.md", "don't pass --dry-run to std::map at 90 km/h (AND never foo*)")
    ran = reverie("search", "--", query)
    assert (ran.status, ran.err) == (0, "")


def test_a_query_of_any_bytes_is_answered(process, reverie, noted):
    noted("memory/a.md", "Süderfleet hat die Nummer 7.")
    ran = process("search", "--json", b"S\xc3\xbcderfleet \xff\xfe")
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b'"memory/a.md"' in ran.stdout


@pytest.mark.parametrize(
    "option", ["--max-results", "--min-score", "--corpus", "--since", "--until", "--as-of", "--agent", "--config"]
)
def test_sil_05_an_empty_option_is_one_that_was_not_given(reverie, noted, option):
    noted("memory/a.md", "The backup runs on kormoran.")
    assert paths(reverie("search", "backup", option, "", "--json")) == ["memory/a.md"]


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("--max-results", "0", "at least 1"),
        ("--max-results", "five", "not a whole number"),
        ("--min-score", "2", "from 0 to 1"),
        ("--corpus", "wiki", "memory"),
        ("--since", "soon", "2026-03-17"),
    ],
)
def test_sil_05_an_option_that_makes_no_sense_is_wrong_usage_and_says_what_would(reverie, option, value, told):
    ran = reverie("search", "backup", option, value)
    assert (ran.status, ran.out) == (2, "")
    assert told in ran.err.splitlines()[0]
    assert option in ran.err.splitlines()[0]


def test_days_bound_a_search_on_both_sides(reverie, noted):
    for day in ("2026-03-15", "2026-03-16", "2026-03-17"):
        noted(f"memory/{day}.md", f"The backup ran, said the log of {day}.")
    since = paths(reverie("search", "backup log", "--since", "2026-03-16", "--json"))
    until = paths(reverie("search", "backup log", "--until", "2026-03-16", "--json"))
    assert sorted(since) == ["memory/2026-03-16.md", "memory/2026-03-17.md"]
    assert sorted(until) == ["memory/2026-03-15.md", "memory/2026-03-16.md"]


def test_as_of_does_not_show_what_was_written_later(reverie, noted):
    noted("memory/2026-03-15.md", "The backup runs on moewe.")
    noted("memory/2026-03-17.md", "The backup runs on kormoran.")
    assert paths(reverie("search", "backup", "--as-of", "2026-03-16", "--json")) == ["memory/2026-03-15.md"]


def test_an_agent_searches_its_own_memory_only(reverie, state):
    ident = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"
    for agent, fact in (("team-a", "The door code is 1122."), (ident, "The door code is 3344.")):
        assert reverie("--agent", agent, "init").status == 0
        assert reverie("--agent", agent, "note", fact).status == 0
    found = {agent: reverie("search", "door code", "--agent", agent).out for agent in ("team-a", ident)}
    assert "1122" in found["team-a"]
    assert "3344" not in found["team-a"]
    assert "3344" in found[ident]
    assert "1122" not in found[ident]


# --- get -------------------------------------------------------------------------------------------------------


def test_lines_are_printed_as_they_stand_and_the_rest_is_named_beside_them(reverie, noted):
    noted("memory/a.md", "one", "", "  three", "four")
    ran = reverie("get", "memory/a.md", "--from", "2", "--lines", "2")
    assert (ran.status, ran.out) == (0, "\n  three\n")
    assert ran.err == "more: reverie get 'memory/a.md' --from 4\n"
    assert reverie("get", "memory/a.md", "--from", "3").out == "  three\nfour\n"


def test_rank_04_the_place_that_a_hit_cites_can_be_read(reverie, noted):
    noted("memory/long.md", *[f"line {number} of many" for number in range(1, 61)], "zanzibar stands here", "end")
    hit = reverie("search", "zanzibar", "--json").data["hits"][0]
    assert "zanzibar" in hit["snippet"]
    assert "zanzibar" in reverie("get", hit["citation"]).out
    assert reverie("get", "memory/long.md#L61").out == "zanzibar stands here\n"


def test_a_passage_is_data_for_programs(reverie, noted):
    noted("memory/a.md", "one", "two")
    data = reverie("get", "memory/a.md", "--lines", "1", "--json").data
    assert data == {"path": "memory/a.md", "fromLine": 1, "lines": 1, "text": "one", "nextFrom": 2, "status": "ok"}


@pytest.mark.parametrize("path", ["../secret.md", "/etc/passwd", "memory/../../x.md", "memory/x.txt", "reverie.json5"])
def test_what_is_no_memory_cannot_be_read(reverie, path):
    ran = reverie("get", path)
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("error: ")
    assert "hint: memory paths are" in ran.err


def test_a_file_that_is_not_there_is_an_error(reverie):
    ran = reverie("get", "memory/none.md")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("error: There is no such memory file (path: memory/none.md)")
