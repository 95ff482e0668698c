"""Progress of long work."""

from __future__ import annotations

import pytest

from reverie.surfaces import progress
from reverie.surfaces.progress import Progress


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(progress, "REDRAW_SECONDS", 0.0)


def test_progress_is_one_line_on_standard_error_that_goes_away_in_the_end(capsys):
    with Progress(shown=True) as tell:
        tell("indexing", 1, 4)
        tell("indexing", 250, 1000)
        tell("done \x1b[2J", 0, 0)
    out, err = capsys.readouterr()
    assert out == ""
    assert "\rindexing   25 %" in err
    assert "\rindexing   25 %  250 of 1,000" in err
    assert "\n" not in err
    assert "\x1b" not in err
    assert err.endswith("\r")


def test_there_is_no_progress_where_nobody_looks(capsys):
    with Progress() as tell:
        tell("indexing", 1, 4)
    assert capsys.readouterr() == ("", "")


def test_work_that_is_quickly_done_shows_nothing(capsys, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 3600.0)
    with Progress(shown=True) as tell:
        tell("indexing", 1, 4)
    assert capsys.readouterr().err == ""
