"""`reverie demo`: the main job on the conversations that come with Reverie, and on a file of anybody's own."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import pytest

from reverie.surfaces import output
from reverie.surfaces.demo import story
from reverie.surfaces.demo.asking import shows
from reverie.surfaces.demo.material import POISON, conversations, exchanges, questions
from reverie.surfaces.demo.telling import Telling


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
    assert shows(f"… {line[10:60]} …", line)
    assert not shows("The studio backup has moved to moewe, and the new hour is 02:00.", line)
    assert shows("他说藏在工作室混音台下面的蓝色箱子里。", "藏在工作室混音台下面的蓝色箱子里。")
    assert shows("- yes", "yes")


@pytest.fixture(scope="module")
def words_only(tmp_path_factory):
    """A configuration without a model."""
    file = tmp_path_factory.mktemp("config") / "words.json5"
    file.write_text('{memory: {search: {provider: "none"}}}', encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def told(tmp_path_factory, words_only):
    """The demonstration, run once by words only: its report, what it printed, and its folder."""
    home = tmp_path_factory.mktemp("demo")
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as printed:
        patch.setenv("REVERIE_STATE_DIR", str(tmp_path_factory.mktemp("state")))
        telling = Telling()
        report = story.run(home, kept=False, config_file=words_only, tell=telling)
        telling.summary(report)
    return report, printed.getvalue(), home


@pytest.mark.slow
def test_every_conversation_is_said_again_and_its_facts_are_noted(told):
    report, _, home = told
    assert (report.replayed.messages, report.replayed.sessions) == (336, 20)
    assert report.noted.files >= 10
    assert "kormoran" in (home / "workspace" / "memory" / "2026-03-17.md").read_text(encoding="utf-8")
    assert report.indexed.mode == "keyword"


@pytest.mark.slow
def test_questions_are_answered_with_the_newest_word_of_the_owner(told):
    answers = {answer.id: answer for answer in told[0].answers}
    assert len(answers) == 8
    # The eighth question shares no word with its answer, and there is no model here.
    assert [ident for ident, answer in answers.items() if answer.rank is None] in ([], ["q8"])
    assert answers["q1"].newest_first
    assert answers["q2"].newest_first
    assert all(hit.citation.count("#L") == 1 for answer in answers.values() for hit in answer.hits)


@pytest.mark.slow
def test_sec_05_what_a_poisoned_page_asks_for_is_kept_as_untrusted_and_enters_no_prompt(told):
    report, _, home = told
    assert report.poison.classes.keys() == {"untrusted"}
    assert (report.poison.trusted_lines, report.poison.prompts_with_it) == (0, 0)
    assert report.poison.prompts_checked > 50
    assert report.poison.attempt.startswith("kept as untrusted in memory/2026-03-10.md")
    for name in ("MEMORY.md", "USER.md"):
        assert POISON not in (home / "workspace" / name).read_text(encoding="utf-8")


@pytest.mark.slow
def test_what_the_owner_wants_for_good_enters_her_private_prompts_and_no_others(told):
    prompted = told[0].prompted
    assert prompted.with_it == {"private talk": prompted.prompts["private talk"], "group": 0, "cron": 0, "heartbeat": 0}
    assert all(count > 0 for count in prompted.prompts.values())


@pytest.mark.slow
def test_a_guest_and_a_schedule_are_not_the_owner(told):
    report = told[0]
    assert report.guest.classes == {"untrusted": report.guest.messages}
    assert len(report.guest.withheld) == 2
    assert [(each.found, each.candidates) for each in report.noise] == [(0, 0), (0, 0)]
    assert all(each.messages > 10 for each in report.noise)


@pytest.mark.slow
def test_the_demonstration_reads_well_on_a_plain_terminal(told):
    out = told[1]
    assert max(output.width(line) for line in out.splitlines() if "sessions/" not in line) <= 100
    assert "\x1b" not in out
    for words in ("When does the studio backup run now", "<- the answer", "dreaming: not built yet", "Summary"):
        assert words in out
    assert all(f"  ok  {check.what}" in out for check in told[0].checks[1:])


@pytest.mark.slow
def test_the_command_prints_the_demonstration_as_one_document_and_leaves_nothing_behind(with_model):
    ran = with_model("demo", "--json")
    assert (ran.status, ran.err) == (0, "")
    report = ran.data
    assert report["indexed"]["mode"] == "hybrid"
    assert [answer["id"] for answer in report["answers"] if answer["rank"] is None] in ([], ["q8"])
    assert all(check["ok"] for check in report["checks"][1:])
    assert not Path(report["home"]["folder"]).exists()


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
