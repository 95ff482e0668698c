"""`reverie config` and `reverie plugins`."""

from __future__ import annotations

import pytest


def test_a_value_is_set_in_the_file_and_read_back(reverie, state):
    ran = reverie("config", "set", "memory.search.query.maxResults", "9")
    assert ran.out == f"memory.search.query.maxResults is now 9 in {state / 'reverie.json5'}.\n"
    assert reverie("config", "get", "memory.search.query.maxResults").out == "9\n"
    assert reverie("config", "get", "memory.search.query", "--json").data["maxResults"] == 9


def test_an_empty_value_brings_the_default_back(reverie):
    reverie("config", "set", "memory.search.query.maxResults", "9")
    assert "is not set any more" in reverie("config", "set", "memory.search.query.maxResults", "").out
    assert reverie("config", "get", "memory.search.query.maxResults").out == "6\n"


def test_without_a_key_every_value_is_printed(reverie):
    lines = reverie("config", "get").out.splitlines()
    rows = dict(line.split(maxsplit=1) for line in lines if not line.startswith(" "))
    assert rows["memory.search.provider"] == "none"
    assert rows["memory.search.model"] == "-"


def test_the_number_of_hits_is_as_configured_unless_the_call_says_otherwise(reverie, noted):
    for number in range(4):
        noted(f"memory/{number}.md", f"The backup number {number} on machine {'abcd'[number] * 5} is fine.")
    reverie("config", "set", "memory.search.query.maxResults", "2")
    assert len(reverie("search", "backup", "--json").data["hits"]) == 2
    assert len(reverie("search", "backup", "-n", "3", "--json").data["hits"]) == 3


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("set", "memory.search.query.maxResults", "many"), "whole number"),
        (("set", "memory.serch.provider", "none"), "memory.search"),
        (("get", "memory.serch"), "memory.search"),
    ],
)
def test_a_wrong_key_or_value_changes_nothing_and_is_explained(reverie, state, arguments, told):
    before = (state / "reverie.json5").read_bytes()
    ran = reverie("config", *arguments)
    assert (ran.status, ran.out) == (1, "")
    assert told in ran.err
    assert (state / "reverie.json5").read_bytes() == before


def test_a_good_configuration_is_in_order(reverie, state):
    ran = reverie("config", "check")
    assert (ran.status, ran.out) == (0, f"{state / 'reverie.json5'} is in order.\n")
    assert reverie("config", "check", "--json").data["ok"] is True


def test_a_broken_configuration_is_named_with_its_line_and_stops_every_command(reverie, state):
    (state / "reverie.json5").write_text('{\n  memory: {search: {query: {maxResults: "many"}}},\n}\n', encoding="utf-8")
    ran = reverie("config", "check")
    assert ran.status == 1
    assert "reverie.json5:2: memory.search.query.maxResults" in ran.err
    assert reverie("config", "check", "--json").data["problems"][0]["line"] == 2
    assert reverie("search", "x").status == 1


def test_another_file_can_be_named(reverie, tmp_path):
    other = tmp_path / "other.json5"
    other.write_text("{memory: {search: {provider: 'none', query: {maxResults: 3}}}}", encoding="utf-8")
    assert reverie("--config", str(other), "config", "get", "memory.search.query.maxResults").out == "3\n"
    assert reverie("config", "get", "--config", str(other), "memory.search.query.maxResults").out == "3\n"
    ran = reverie("search", "x", "--config", str(tmp_path / "none.json5"))
    assert ran.status == 1
    assert "hint: check the name after --config" in ran.err


def test_the_built_in_engine_is_a_plugin_like_any_other(reverie):
    ran = reverie("plugins", "list")
    assert ran.status == 0
    assert "memory-core" in ran.out
    listed = reverie("plugins", "list", "--json").data
    assert [plugin["name"] for plugin in listed["plugins"]] == ["memory-core"]
    assert listed["plugins"][0]["engines"] == ["memory-core"]
    assert listed["slots"] == {"memory": "memory-core"}


def test_a_slot_that_nobody_fills_is_named(reverie):
    reverie("config", "set", "plugins.slots.memory", "nothing-of-the-kind")
    ran = reverie("search", "x")
    assert ran.status == 1
    assert "nothing-of-the-kind" in ran.err
    assert "memory-core" in ran.err
    listed = reverie("plugins", "list")
    assert listed.status == 0
    assert "nothing-of-the-kind, which no plugin provides" in listed.out
