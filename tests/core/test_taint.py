"""Undeclared tools taint by their name and by what they were called with, never by what they gave back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.provenance import ContentSource, taints
from reverie.core.taint import ExternalTools, path_read

DEFAULT = ExternalTools()
names = st.text(min_size=1, max_size=20)


@pytest.mark.parametrize(
    "tool",
    [
        "bash",
        "Bash",
        "exec",
        "run_in_terminal",
        "run-command",
        "mcp__mail__read",
        "mcp:notes",
        "MCP__X__Y",
        "web_fetch",
        "WebSearch",
        "x_search",
        "browser",
        "browser_navigate",
        "browser-snapshot",
        "bashExecution",
        "http_request",
    ],
)
def test_shells_mcp_tools_and_readers_of_the_web_are_external_by_default(tool: str) -> None:
    assert tool in DEFAULT
    assert taints(ContentSource.UNDECLARED, tool=tool, external_tools=DEFAULT)
    assert not taints(ContentSource.LOCAL, tool=tool, external_tools=DEFAULT)


@pytest.mark.parametrize("tool", ["read", "clock", "memory_search", "calculator", "edit", "mcpish", "webhook"])
def test_other_tools_are_not(tool: str) -> None:
    assert tool not in DEFAULT


def test_trust_is_given_to_the_exact_spelling_and_taken_from_any() -> None:
    assert "bash" not in ExternalTools(trusted=frozenset({"bash"}))
    assert "Bash" in ExternalTools(trusted=frozenset({"bash"}))
    assert "mcp__calendar__list" not in ExternalTools(trusted=frozenset({"mcp__calendar__*"}))
    assert "MAIL" in ExternalTools(listed=frozenset({"mail"}))
    assert "mail_read" in ExternalTools(listed=frozenset({"mail_*"}))


@given(names, st.frozensets(names, max_size=3))
def test_a_tool_that_is_listed_is_external_whatever_else_is_said_of_it(tool: str, trusted: frozenset[str]) -> None:
    assert tool.strip() in ExternalTools(listed=frozenset({"*"}), trusted=trusted | {tool})


def test_something_that_is_no_name_is_external() -> None:
    assert None in DEFAULT  # type: ignore[operator]


@pytest.mark.parametrize(
    "arguments",
    [{"image": "https://host.example/a.png"}, {"sources": [{"url": "HTTP://host.example"}]}, {"f": " ftp://x/y "}],
)
def test_sec_06_an_argument_that_is_an_address_reaches_out(arguments: dict[str, object]) -> None:
    assert DEFAULT.reaches_out("image", arguments)
    assert not ExternalTools(trusted=frozenset({"image"})).reaches_out("image", arguments)


@pytest.mark.parametrize(
    "arguments",
    [{"image": "/tmp/a.png"}, {"text": "see https://host.example for more"}, {}, {"n": 5}, {"p": "file:///a"}],
)
def test_sec_06_a_local_path_and_a_text_that_mentions_an_address_do_not(arguments: dict[str, object]) -> None:
    assert not DEFAULT.reaches_out("image", arguments)


def test_arguments_that_nest_without_end_are_looked_through_within_bounds() -> None:
    deep: dict[str, object] = {}
    deep["again"] = deep
    assert not DEFAULT.reaches_out("image", deep)
    assert not DEFAULT.reaches_out("image", {"many": ["x"] * 100_000})


def test_the_file_that_a_reading_tool_was_for_is_known_from_its_arguments() -> None:
    assert path_read("Read", {"file_path": "memory/a.md"}) == "memory/a.md"
    assert path_read("read_file", {"path": "a", "limit": 3}) == "a"
    assert path_read("write", {"path": "memory/a.md"}) == ""
    assert path_read("read", {"path": 7}) == ""
