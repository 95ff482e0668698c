"""Words of a command line, as they are read."""

from __future__ import annotations

from datetime import UTC, datetime

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.surfaces.cli.parameters import COUNT, SCORE, WHEN, recovered


def first(text, zone="Europe/Berlin"):
    return WHEN.convert(text, None, None).first(zone)


def last(text, zone="Europe/Berlin"):
    return WHEN.convert(text, None, None).last(zone)


def test_a_day_begins_at_the_users_midnight():
    assert first("2026-03-17") == datetime(2026, 3, 16, 23, tzinfo=UTC)
    assert first("2026-03-17", "America/Chicago") == datetime(2026, 3, 17, 5, tzinfo=UTC)


def test_a_day_as_an_end_means_the_end_of_that_day_also_when_it_has_23_hours():
    assert last("2026-03-17") == datetime(2026, 3, 17, 22, 59, 59, 999999, tzinfo=UTC)
    assert last("2026-03-29") == datetime(2026, 3, 29, 21, 59, 59, 999999, tzinfo=UTC)
    assert last("9999-12-31").year == 9999


@pytest.mark.parametrize(
    "text",
    ["2026-03-17T20:22", "2026-03-17 20:22:00", "2026-03-17T19:22:00Z", "2026-03-17T20:22+01:00", "1773775320000"],
)
def test_time_05_a_moment_is_the_same_with_and_without_its_zone(text):
    moment = datetime(2026, 3, 17, 19, 22, tzinfo=UTC)
    assert first(text) == last(text) == moment


@pytest.mark.parametrize("kind", [COUNT, SCORE, WHEN])
@pytest.mark.parametrize("text", ["", "  "])
def test_sil_05_an_empty_text_is_unset(kind, text):
    assert kind.convert(text, None, None) is None


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (COUNT, "0"),
        (COUNT, "-1"),
        (COUNT, "many"),
        (SCORE, "1.5"),
        (SCORE, "nan"),
        (WHEN, "soon"),
        (WHEN, "2026-02-30"),
    ],
)
def test_a_value_that_makes_no_sense_is_wrong_usage(kind, text):
    with pytest.raises(click.BadParameter):
        kind.convert(text, None, None)


def test_bytes_of_an_argument_are_read_as_utf8_whatever_python_made_of_them():
    assert recovered("Süd".encode().decode("ascii", "surrogateescape")) == "Süd"
    assert recovered(b"caf\xe9".decode("utf-8", "surrogateescape")) == "caf\N{REPLACEMENT CHARACTER}"


@given(st.text(alphabet=st.characters()))
def test_every_argument_becomes_a_text_that_can_be_written(text):
    found = recovered(text)
    assert found.encode("utf-8").decode("utf-8") == found
    assert found == text or any("\ud800" <= one <= "\udfff" for one in text), "only what cannot be written is replaced"
