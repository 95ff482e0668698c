"""Secrets in the lines of a file: replaced without moving a line, and told by place and kind."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reverie.core.redaction import redact, redact_lines, secrets_in

BEGIN, END = "-----BEGIN PRI" + "VATE KEY-----", "-----END PRI" + "VATE KEY-----"
TOKEN = "API_TOKEN=tok_live_" + "EXAMPLE1234567890"


def test_a_key_over_several_lines_goes_and_every_line_keeps_its_number() -> None:
    lines = ["head", f"> {BEGIN}", "> MIIEow", "> IBAAKC==", f"> {END} tail", "foot"]
    assert redact_lines(lines) == ["head", "> [redacted: private key]", "", "", " tail", "foot"]
    assert secrets_in(lines) == [(2, "private key")]


def test_a_key_without_an_end_takes_what_can_belong_to_it_and_no_more() -> None:
    lines = [BEGIN, "Proc-Type: 4,ENCRYPTED", "", "MIIEow", "This is a sentence again.", TOKEN]
    clean = redact_lines(lines)
    assert clean[:5] == ["[redacted: private key]", "", "", "", "This is a sentence again."]
    assert secrets_in(lines) == [(1, "private key"), (6, "token")]


def test_a_key_on_one_line_and_two_keys_in_a_row() -> None:
    assert redact_lines([f"k: {BEGIN}\\nMIIE\\n{END} x"]) == ["k: [redacted: private key] x"]
    assert secrets_in([BEGIN, "MII", END, BEGIN, "MII", END]) == [(1, "private key"), (4, "private key")]


def test_what_stands_before_and_behind_a_key_is_looked_through_too() -> None:
    assert redact_lines([f"{TOKEN} {BEGIN}", "MII", f"{END} {TOKEN}"]) == [
        "API_TOKEN=[redacted: token] [redacted: private key]",
        "",
        " API_TOKEN=[redacted: token]",
    ]


@given(
    st.lists(st.text(alphabet="abc -=:MI", max_size=30) | st.sampled_from([BEGIN, END, TOKEN, "MIIE", ""]), max_size=12)
)
def test_the_number_of_lines_never_changes_and_nothing_is_left_to_find(lines: list[str]) -> None:
    clean = redact_lines(lines)
    assert len(clean) == len(lines)
    assert secrets_in(clean) == []
    assert bool(secrets_in(lines)) is (clean != list(lines))


@given(st.lists(st.text(max_size=40).filter(lambda line: "\n" not in line), max_size=8))
def test_lines_without_keys_are_as_each_alone(lines: list[str]) -> None:
    assert redact_lines(lines) == [redact(line)[0] for line in lines]
