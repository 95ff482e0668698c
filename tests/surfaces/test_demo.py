"""`reverie demo`: the main job on the conversations that come with Reverie, and on a file of anybody's own."""

from __future__ import annotations

import json

import pytest

from reverie.surfaces.demo.asking import shows
from reverie.surfaces.demo.material import POISON, conversations, exchanges, questions


def test_every_question_points_at_lines_that_exist():
    places = {line.place for line in conversations()}
    assert len(questions()) == 8
    for question in questions():
        assert {*question.gold, *question.older} <= places


def test_every_line_belongs_to_one_turn_and_turns_come_in_order_of_time():
    lines = conversations()
    turns = exchanges(lines)
    assert sorted(line.at for turn in turns for line in turn.lines) == [line.at for line in lines]
    assert [turn.opening.at for turn in turns] == sorted(turn.opening.at for turn in turns)
    assert all(line.session == turn.opening.session for turn in turns for line in turn.lines)


def test_only_an_account_makes_an_owner():
    for line in conversations():
        if line.sender.startswith("guest:"):
            assert not line.who().is_owner


def test_a_text_shows_a_line_if_it_holds_a_good_part_of_it_word_for_word():
    line = "The studio backup has moved to kormoran, and the new window is 04:30."
    assert shows(f"… {line[10:50]} …", line)
    assert not shows("The studio backup has not moved", line)
    assert shows("他说藏在工作室混音台下面的蓝色箱子里。", "藏在工作室混音台下面的蓝色箱子里。")
    assert shows("- yes", "yes")


@pytest.fixture(scope="module")
def words_only(tmp_path_factory):
    """A configuration without a model."""
    file = tmp_path_factory.mktemp("config") / "words.json5"
    file.write_text('{memory: {search: {provider: "none"}}}', encoding="utf-8")
    return file


@pytest.mark.slow
def test_the_demonstration_shows_the_main_job_and_keeps_its_promises(run, words_only, tmp_path):
    home = tmp_path / "kept"
    ran = run("demo", "--keep", str(home), "--config", str(words_only), "--json")
    assert (ran.status, ran.err) == (0, "")
    report = ran.data
    assert report["replayed"]["messages"] == 336
    assert report["noted"]["files"] >= 10
    assert report["indexed"]["mode"] == "keyword"
    answers = {answer["id"]: answer for answer in report["answers"]}
    assert len(answers) == 8
    # Without a model, the question that shares no word with its answer may fail; all others must not.
    assert all(answers[f"q{number}"]["rank"] for number in range(1, 8))
    for ident in ("q1", "q2"):
        older = answers[ident]["outdatedRank"]
        assert older is None or answers[ident]["rank"] < older
    poison = report["poison"]
    assert poison["classes"].keys() == {"untrusted"}
    assert (poison["trustedLines"], poison["promptsWithIt"]) == (0, 0)
    assert poison["promptsChecked"] > 50
    assert "untrusted" in poison["attempt"]
    assert report["guest"]["classes"] == {"untrusted": 8}
    assert report["guest"]["withheld"] != []
    assert [(each["found"], each["candidates"]) for each in report["noise"]] == [(0, 0), (0, 0)]
    assert "dreaming" in report["missing"]["features"]
    assert all(check["ok"] for check in report["checks"] if not check["what"].startswith("questions"))
    assert POISON not in (home / "workspace" / "MEMORY.md").read_text(encoding="utf-8")
    assert "kormoran" in (home / "workspace" / "memory" / "2026-03-17.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_demonstration_reads_well_on_a_plain_terminal(run, words_only):
    ran = run("demo", "--config", str(words_only))
    assert (ran.status, ran.err) == (0, "")
    assert max(len(line) for line in ran.out.splitlines()) <= 100
    assert "\x1b" not in ran.out
    for told in (
        "When does the studio backup run now",
        "<- the answer",
        "Not built yet",
        "dreaming: not built yet",
        "Summary",
    ):
        assert told in ran.out


@pytest.mark.slow
def test_with_the_bundled_model_every_question_is_answered_in_every_language(run, with_model, built_model):
    ran = run("demo", "--json")
    report = ran.data
    assert report["indexed"]["mode"] == "hybrid"
    assert [answer["id"] for answer in report["answers"] if answer["rank"] is None] == []
    assert all(check["ok"] for check in report["checks"])


def test_a_folder_that_holds_something_is_not_used(run, tmp_path):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").write_text("", encoding="utf-8")
    ran = run("demo", "--keep", str(tmp_path / "full"))
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: The folder is not empty")


# --- other data ------------------------------------------------------------------------------------------------


def pool(number):
    lines = [
        [f"{number}:{n}", f"Lighthouse {n} of coast {number} is painted {colour}."]
        for n, colour in enumerate(["red", "blue", "green"])
    ]
    return {
        "files": [{"path": f"memory/2026-03-{number + 10}.md", "head": "# Coast", "lines": lines}],
        "queries": [
            {
                "id": f"{number}-{n}",
                "query": f"Which lighthouse is {colour}?",
                "gold": [f"{number}:{n}"],
                "category": "colour",
            }
            for n, colour in enumerate(["red", "blue", "green"])
        ],
    }


@pytest.fixture
def pools(tmp_path):
    def call(*rows):
        file = tmp_path / "pools.jsonl"
        file.write_text(
            "".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows), encoding="utf-8"
        )
        return str(file)

    return call


def test_the_same_job_is_done_on_other_data(run, pools, words_only):
    ran = run("demo", "--data", pools(pool(1), pool(2)), "--config", str(words_only))
    assert (ran.status, ran.err) == (0, "")
    assert "2 pools, 2 notes, 6 lines" in ran.out
    assert "R@10" in ran.out


def test_questions_stop_at_the_number_asked_for_and_recall_is_counted(run, pools, words_only):
    data = run(
        "demo", "--data", pools(pool(1), pool(2), pool(3)), "--queries", "4", "--json", "--config", str(words_only)
    ).data
    assert (data["pools"], len(data["asked"])) == (2, 4)
    assert data["overall"] == {"name": "all", "questions": 4, "recall": 1.0, "any": 1.0}
    assert data["chunks"] >= 2


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("{\n", "Line 2 is no pool"),
        ("[]\n", '"files"'),
        ({"files": [{"path": "../x.md", "head": "", "lines": []}], "queries": []}, "no path of a note"),
        ({"files": [{"path": "/x.md", "head": "", "lines": []}], "queries": []}, "no path of a note"),
        ({"files": [{"path": "a.md", "head": "", "lines": [["x"]]}], "queries": []}, "no pair"),
        ({"files": [], "queries": [{"id": 1, "query": "x", "gold": []}]}, '"gold"'),
        ({"files": [], "queries": [{"query": "x", "gold": [1]}]}, '"id"'),
    ],
)
def test_a_line_that_is_no_pool_is_named(run, pools, words_only, row, told):
    ran = run("demo", "--data", pools(pool(1), row), "--config", str(words_only))
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: Line 2 is no pool of notes")
    assert told in ran.err


def test_a_file_without_questions_is_an_error(run, pools):
    ran = run("demo", "--data", pools(""))
    assert (ran.status, ran.out) == (2, "")
    assert "no question" in ran.err
