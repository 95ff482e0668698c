import json

import pytest

from bench import times
from bench.measuring import runs

NOW = "2026-12-01T14:20:00"


def case(text, kind, *values, language="English"):
    named = [{"timex": timex, "type": kind, "value": value} for timex, value in values]
    results = [{"text": text, "type": f"datetimeV2.{kind}", "values": named}] if values else []
    return {"lang": language, "input": text, "reference": NOW, "results": results}


def english(*cases):
    return dict(zip(times.COLUMNS, times.score(cases).rows[0], strict=True))


def test_only_the_reading_ahead_is_right():
    ahead = case("on Friday", "date", ("F", "2026-11-27"), ("F", "2026-12-04"))
    behind = case("on Friday", "date", ("F", "2026-12-04"), ("F", "2026-11-27"))
    assert english(ahead)["all three"] == 1
    assert english(behind)["all three"] == 0
    moments = [("F", "2026-12-04 20:00:00"), ("F", "2026-11-27 20:00:00")]
    assert english(case("on Friday at 8 pm", "datetime", *moments))["all three"] == 0
    assert english(case("on Friday at 8 pm", "datetime", *reversed(moments)))["all three"] == 1


def test_of_two_halves_of_a_day_either_is_right():
    halves = [("M", "2026-12-02 08:00:00"), ("E", "2026-12-02 20:00:00")]
    assert english(case("tomorrow at 8", "datetime", *halves))["datetime"] == 1
    assert english(case("tomorrow at 8", "datetime", *reversed(halves)))["datetime"] == 1


def test_sentences_that_name_no_time_are_counted_apart():
    found = english(case("nothing here", "date"), case("see you tomorrow", "date"))
    assert (found["of cases"], found["silent where nothing is"], found["cases"]) == (2, 0.5, 0)


def test_requests_are_scored_by_the_places_of_their_times():
    said = [
        {"lang": "en", "text": "wake me at 6 am", "slots": "8:15:datetime"},
        {"lang": "en", "text": "wake me at dawn-ish", "slots": "8:19:datetime"},
        {"lang": "en", "text": "what is the weather", "slots": ""},
        {"lang": "en", "text": "see you tomorrow"},
    ]
    (row,) = times.requests(said).rows
    assert dict(zip(times.REQUESTS, row, strict=True)) == {
        "language": "en",
        "requests": 4,
        "with a phrase": 2,
        "marked": 2,
        "found": 0.5,
        "whole": 0.5,
        "none marked": 1,
        "silent there": 1,
    }


def test_a_run_is_kept_with_its_command(tmp_path, capsys):
    for folder, name, line in (
        ("time-phrases", "cases.jsonl", case("tomorrow", "date", ("T", "2026-12-02"))),
        ("reminders", "utterances.jsonl", {"lang": "de", "text": "weck mich um 7", "slots": ""}),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_text(json.dumps(line) + "\n", encoding="utf-8")
    words = ["--data", str(tmp_path), "--results", str(tmp_path)]
    assert times.main(words) == 0
    assert "### Times in spoken requests" in capsys.readouterr().out
    kept = runs.load(tmp_path / "times.json")
    assert kept.command.startswith("scripts/bench times --data")
    assert len(kept.tables) == 2


def test_without_cases_nothing_is_read(tmp_path, capsys):
    with pytest.raises(SystemExit) as ended:
        times.main(["--data", str(tmp_path)])
    assert ended.value.code == 2
    assert times.DATA in capsys.readouterr().err
