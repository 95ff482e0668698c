"""Keys, tokens and passwords stay where the owner put them, and go nowhere else."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from reverie import Sender

ME = Sender.owner("me")
MINE = "agent:main:main"
DAY = "memory/2031-05-06.md"
# Put together here, so that nothing that scans this file for leaked keys stumbles over it.
TOKEN, BEARER, BODY, PASSWORD = (
    "tok_live_" + "EXAMPLE1234567890",
    "abcDEF123" + "456789xyz",
    "MIIEowIBAAKCAQEA",
    "hunter77",
)
PEM = "-----BEGIN RSA PRI" + f"VATE KEY-----\n{BODY}\n-----END RSA PRI" + "VATE KEY-----"
OUTPUT = f"API_TOKEN={TOKEN}\nAuthorization: Bearer {BEARER}\n{PEM}\npostgres://u:{PASSWORD}@host/db\n"
VALUES = (TOKEN, BEARER, BODY, PASSWORD)


def leaked(data: bytes | str) -> list[str]:
    raw = data.encode() if isinstance(data, str) else data
    return [value for value in VALUES if value.encode() in raw]


def test_sec_01_keys_that_a_tool_prints_reach_no_note_no_index_and_no_log(
    home, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), home.memory.turn(MINE, f"my key: {OUTPUT}", ME) as turn:
        turn.tool_result("env", OUTPUT, source="local")
        turn.reply(f"It printed {OUTPUT}")
        tools = home.memory.tools(turn)
        noted = tools.call("memory_note", {"text": f"The output was {OUTPUT}", "heading": f"token={TOKEN}"})
        tools.call("memory_remember", {"text": f"The token is API_TOKEN={TOKEN}", "triggers": [f"API_TOKEN={TOKEN}"]})
        home.memory.note(OUTPUT, during=turn)
        home.memory.index(force=True)
        assert home.memory.search("output token", corpus="all")
    files = [home.text(DAY), home.text("MEMORY.md"), home.text("USER.md"), caplog.text]
    assert [leaked(text) for text in files] == [[]] * 4
    assert leaked(home.derived()) == []
    assert "a secret was replaced" in noted["note"]
    assert "[redacted: token]" in home.text(DAY)


def test_sec_01_the_owners_own_file_keeps_its_secret_the_index_does_not_and_doctor_tells_the_line(home) -> None:
    home.put("memory/keys.md", f"# Keys\n\nthe door opens with it\n{OUTPUT}\nand the window is closed\n")
    assert home.memory.note(f"API_TOKEN={TOKEN}").record
    home.memory.index()
    assert leaked(home.text("memory/keys.md")) == list(VALUES)
    assert TOKEN in home.text(DAY)
    assert leaked(home.derived()) == []
    (hit,) = [hit for hit in home.memory.search("window closed") if hit.path == "memory/keys.md"]
    assert (hit.start_line, "window is closed" in hit.snippet) == (1, True)
    found = [finding for finding in home.memory.doctor() if finding.check == "secret"]
    told = "\n".join(finding.message for finding in found)
    assert leaked(told) == []
    for place in (
        "memory/keys.md, line 4: looks like a token",
        "line 5: looks like a bearer token",
        "line 6: looks like a private key",
    ):
        assert place in told


def test_redaction_can_be_switched_off(build: Callable[..., Any]) -> None:
    home = build(privacy={"redact": False})
    with home.memory.turn(MINE, f"API_TOKEN={TOKEN}", ME) as turn:
        home.memory.tools(turn).call("memory_note", {"text": f"API_TOKEN={TOKEN}"})
    assert TOKEN in home.text(DAY)
    assert any(TOKEN in text for text in home.indexed("API_TOKEN", "sessions"))


@pytest.mark.parametrize(
    "text",
    [
        "keyboard: split",
        "monkey patch",
        "tokenised text",
        "0f" * 20,
        "3fa85f64-5717-4562-b3fc-2c963f66afa6",
        "Passwort vergessen",
    ],
)
def test_sec_03_ordinary_words_stay_as_they_are(home, text: str) -> None:
    with home.memory.turn(MINE, f"look: {text}", ME) as turn:
        home.memory.tools(turn).call("memory_note", {"text": f"note {text}"})
    assert f"note {text}" in home.text(DAY)
    assert any(text in found for found in home.indexed("look note", "all"))
    assert [finding for finding in home.memory.doctor() if finding.check == "secret"] == []


@pytest.mark.parametrize(
    "text",
    [
        "<private>alarm code 0000</private> and buy milk",
        "<private>alarm <private>code</private> code 0000</private> and buy milk",
        "and buy milk <private>alarm code 0000",
    ],
)
def test_sec_04_what_is_marked_as_private_reaches_nothing_that_is_made_of_the_transcript(home, text: str) -> None:
    with home.memory.turn(MINE, text, ME) as turn:
        turn.reply("Noted: alarm code 0000.")
        home.memory.tools(turn).call("memory_note", {"text": "Buy milk; alarm code 0000."})
        home.memory.note("Also <private>alarm code 0000</private> bread", during=turn)
    assert "0000" not in home.text(DAY)
    assert b"0000" not in home.derived().replace(b"\0\0\0\0", b"")
    assert not any("0000" in found for found in home.indexed("alarm code milk"))
    assert any("buy milk" in found for found in home.indexed("milk", "sessions"))


def test_sec_04_a_mark_that_goes_over_two_messages_hides_both_parts(home) -> None:
    for text in ("buy milk <private>alarm code", "0000</private> and bread"):
        with home.memory.turn(MINE, text, ME):
            pass
    found = " ".join(home.indexed("milk bread alarm code 0000"))
    assert "milk" in found
    assert "bread" in found
    assert "0000" not in found
    assert "alarm" not in found
