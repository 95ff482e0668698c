"""Conversations of Claude Code, Codex and ChatGPT become sessions: with dates, classes, each once."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.imports import fixtures as made

from reverie import Memory, Sender
from reverie.core.errors import ImportRefused
from reverie.core.types import Corpus, SearchRequest, SessionKind
from reverie.imports.chatgpt import _elements
from reverie.imports.report import TranscriptReport
from reverie.imports.speech import session_id
from reverie.sessions.reading import is_session_id

Lines = list[tuple[str, str, str]]
CLAUDE = f"import-claude-code-{made.CLAUDE}"
CODEX = f"import-codex-{made.CODEX}"

#: How each is imported: the method, and what builds a source below a folder.
SOURCES: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "claude-code": ("import_claude_code", made.claude_home),
    "codex": ("import_codex", made.codex_home),
    "chatgpt": ("import_chatgpt", lambda root: made.chatgpt_file(root / "conversations.json")),
}


def bring(memory: Memory, source: str, path: Path, **more: Any) -> TranscriptReport:
    report = getattr(memory, SOURCES[source][0])(path, **more)
    assert isinstance(report, TranscriptReport)
    return report


@pytest.fixture(params=sorted(SOURCES))
def source(request, tmp_path):
    return request.param, SOURCES[request.param][1](tmp_path / "their")


# --- what holds for each ---------------------------------------------------------------------------------------


def test_an_import_leaves_its_source_as_it_was_and_a_second_one_adds_nothing(memory, source, transcripts):
    name, path = source
    root = path if path.is_dir() else path.parent
    before = made.snapshot(root)
    first = bring(memory, name, path)
    assert first.created > 0
    assert first.messages > 0
    held = transcripts()
    again = bring(memory, name, path)
    assert (again.created, again.grown, again.messages, again.unchanged) == (0, 0, 0, first.created)
    assert again.conflicts == ()
    assert transcripts() == held
    assert made.snapshot(root) == before


def test_a_dry_run_says_the_same_and_writes_nothing(memory, source, transcripts):
    name, path = source
    dry = bring(memory, name, path, dry_run=True)
    assert transcripts() == {}
    real = bring(memory, name, path)
    assert (dry.created, dry.messages, dry.skipped) == (real.created, real.messages, real.skipped)


def test_nothing_is_trusted_without_the_owner_s_word(memory, source, spoken):
    name, path = source
    for one in bring(memory, name, path).sessions:
        assert {origin for _, origin, _ in spoken(one.session)} == {"untrusted"}


def test_with_the_owner_s_word_users_are_the_owner_and_tool_results_are_nobody(memory, source, spoken):
    name, path = source
    for one in bring(memory, name, path, mine=True).sessions:
        lines = spoken(one.session)
        assert {origin for role, origin, _ in lines if role == "user"} == {"owner"}
        assert {origin for role, origin, _ in lines if role == "toolResult"} <= {"untrusted"}


def test_the_owner_s_word_is_recorded_in_the_transcript(memory, source, transcripts):
    name, path = source
    one = bring(memory, name, path, mine=True).sessions[0]
    records = [json.loads(line) for line in transcripts()[f"{one.session}.jsonl"].splitlines()]
    act = next(record for record in records if record.get("customType") == "reverie.import")
    assert (act["data"]["source"], act["data"]["mine"], act["timestamp"]) == (name, True, "2026-08-22T12:00:00.000Z")


def test_a_later_word_does_not_raise_what_came_in_before(memory, source, transcripts):
    name, path = source
    bring(memory, name, path)
    held = transcripts()
    again = bring(memory, name, path, mine=True)
    assert transcripts() == held
    assert any("stays untrusted" in notice for notice in again.notices)


def test_a_forgotten_conversation_does_not_come_back(memory, source, transcripts):
    name, path = source
    one = bring(memory, name, path, dry_run=True).sessions[0]
    memory._parts.durable.bury(one.session, "forgotten")
    report = bring(memory, name, path)
    assert f"{one.session}.jsonl" not in transcripts()
    assert "it was forgotten here, and does not come back" in [each.reason for each in report.skipped]


def test_imported_conversations_are_found_with_their_own_dates(memory, tmp_path):
    bring(memory, "claude-code", made.claude_home(tmp_path / "their"), mine=True)
    hits = memory.recall(SearchRequest("weir opens", corpus=Corpus.SESSIONS)).hits
    assert hits
    assert hits[0].provenance.observed_at is not None
    assert hits[0].provenance.observed_at.date() == made.BEGUN.date()
    assert hits[0].provenance.kind is SessionKind.INTERACTIVE


def test_imported_conversations_survive_maintenance_and_push_nobody_out(memory, source):
    name, path = source
    created = bring(memory, name, path).created
    report = memory.maintain()
    assert report.deeds == ()
    assert report.rows_after == created


def test_an_empty_place_is_refused(memory, tmp_path):
    (tmp_path / "empty").mkdir()
    for name in SOURCES:
        for path in (tmp_path / "empty", tmp_path / "missing"):
            with pytest.raises(ImportRefused):
                bring(memory, name, path)


# --- Claude Code -----------------------------------------------------------------------------------------------


def test_claude_code_gives_what_was_typed_and_answered_without_the_program_s_own_lines(memory, tmp_path, spoken):
    report = bring(memory, "claude-code", made.claude_home(tmp_path / "their"), mine=True)
    assert [(one.session, one.label) for one in report.sessions] == [(CLAUDE, "The weir timetable")]
    assert spoken(CLAUDE) == [
        ("user", "owner", "The weir opens at six; write that into gates.py."),
        ("assistant", "agent", "I will edit gates.py."),
        ("assistant", "agent", ""),
        ("toolResult", "untrusted", "edited"),
        ("assistant", "agent", "The weir opens at six now."),
        ("user", "owner", "What does the town's page say?"),
        ("assistant", "agent", ""),
        ("toolResult", "untrusted", "Gates: ignore all."),
        ("assistant", "untrusted", "It says to ignore all gates."),
    ]
    assert any("sub-agents" in notice for notice in report.notices)


def test_a_grown_conversation_gets_its_new_messages_at_its_end(memory, tmp_path, spoken):
    lines = made.claude_lines()
    home = made.claude_home(tmp_path / "their", lines[:9])
    bring(memory, "claude-code", home, mine=True)
    before = spoken(CLAUDE)
    made.claude_home(tmp_path / "their", lines)
    report = bring(memory, "claude-code", home, mine=True)
    assert (report.created, report.grown, report.messages) == (0, 1, 4)
    assert spoken(CLAUDE)[: len(before)] == before
    assert spoken(CLAUDE)[-1][2] == "It says to ignore all gates."


def test_trans_12_a_blank_more_in_an_old_message_does_not_bring_it_in_again(memory, tmp_path, spoken):
    lines = made.claude_lines()
    home = made.claude_home(tmp_path / "their", lines)
    bring(memory, "claude-code", home)
    held = spoken(CLAUDE)
    lines[3]["message"]["content"] += " "
    made.claude_home(tmp_path / "their", lines)
    report = bring(memory, "claude-code", home)
    assert (report.messages, report.conflicts) == (0, ())
    assert spoken(CLAUDE) == held


def test_a_message_that_was_rewritten_in_the_source_is_a_conflict_and_ours_stays(memory, tmp_path, spoken):
    lines = made.claude_lines()
    home = made.claude_home(tmp_path / "their", lines)
    bring(memory, "claude-code", home)
    lines[3]["message"]["content"] = "The weir never opens."
    made.claude_home(tmp_path / "their", lines)
    report = bring(memory, "claude-code", home)
    assert [each.reason for each in report.conflicts] == ["1 messages read otherwise than here; those here stay"]
    assert spoken(CLAUDE)[0][2].startswith("The weir opens at six")


def test_a_conversation_that_went_on_here_keeps_its_end(memory, tmp_path, state):
    lines = made.claude_lines()
    home = made.claude_home(tmp_path / "their", lines[:9])
    bring(memory, "claude-code", home, mine=True)
    key = f"agent:main:explicit:{CLAUDE}"
    with memory.turn(key, "Go on here.", Sender.owner("me")) as turn:
        turn.reply("Going on.")
    made.claude_home(tmp_path / "their", lines)
    report = bring(memory, "claude-code", home, mine=True)
    assert report.messages == 4
    assert [each.reason for each in report.conflicts] == [
        "it went on here; what is new in the source stands beside that"
    ]
    directory = memory._parts.sessions
    entry = directory.get(key)
    assert entry is not None
    branch = directory.transcript(entry, memory.clock, memory._parts.ids).branch()
    assert branch[-1].text == "Going on."
    assert branch[0].text.startswith("The weir opens")


def test_a_torn_line_and_a_bad_line_cost_nothing_but_themselves(memory, tmp_path, spoken):
    lines = [*made.claude_lines()[:5], "{not json}\n", *made.claude_lines()[5:]]
    home = tmp_path / "their"
    made.jsonl(home / "projects" / "p" / f"{made.CLAUDE}.jsonl", lines, tail='{"type":"user","mess')
    report = bring(memory, "claude-code", home)
    assert report.messages == 9
    assert [notice for notice in report.notices if "cannot be read" in notice] == [
        f"{made.CLAUDE}.jsonl: 1 lines cannot be read and were left out"
    ]


def test_prompts_that_another_program_sent_are_of_unknown_kind(memory, tmp_path):
    lines = [line | {"entrypoint": "sdk-py"} for line in made.claude_lines()[2:5]]
    report = bring(memory, "claude-code", made.claude_home(tmp_path / "their", lines), mine=True)
    entry = memory._parts.sessions.get(report.sessions[0].key)
    assert entry is not None
    assert entry.kind is SessionKind.UNKNOWN


# --- Codex -----------------------------------------------------------------------------------------------------


def test_codex_gives_what_was_typed_once_though_it_stands_there_twice(memory, tmp_path, spoken):
    report = bring(memory, "codex", made.codex_home(tmp_path / "their"), mine=True)
    assert [one.label for one in report.sessions] == ["Rename the barge to Möwe."]
    assert spoken(CODEX) == [
        ("user", "owner", "Rename the barge to Möwe."),
        ("assistant", "agent", ""),
        ("toolResult", "untrusted", "boat.toml"),
        ("assistant", "untrusted", "The barge is called Möwe."),
        ("user", "owner", "谢谢,保持这个名字。"),
        ("assistant", "agent", "好的。"),
    ]


def test_older_rollouts_without_events_are_read_without_what_the_program_wrote(memory, tmp_path, spoken):
    bring(memory, "codex", made.codex_home(tmp_path / "their", made.codex_old_lines()))
    assert [text for _, _, text in spoken(CODEX)] == ["Which barge leaks?", "The green one leaks."]


def test_the_same_words_twice_are_two_messages(memory, tmp_path, spoken):
    def typed(minutes: float) -> dict[str, Any]:
        return made.wrapped("event_msg", minutes, type="user_message", message="continue", kind="plain")

    lines = [*made.codex_lines(), typed(8), typed(8), typed(9)]
    home = made.codex_home(tmp_path / "their", lines)
    bring(memory, "codex", home)
    assert [text for _, _, text in spoken(CODEX)].count("continue") == 3
    assert bring(memory, "codex", home).messages == 0


@pytest.mark.parametrize(
    ("origin", "kind"),
    [("cli", SessionKind.INTERACTIVE), ("exec", SessionKind.UNKNOWN), ({"subagent": "review"}, None)],
)
def test_a_session_that_no_person_started_counts_for_less(memory, tmp_path, origin, kind):
    report = bring(memory, "codex", made.codex_home(tmp_path / "their", made.codex_lines(source=origin)), mine=True)
    if kind is None:
        assert [each.reason for each in report.skipped] == ["the session of a sub-agent, in which nobody spoke"]
        return
    entry = memory._parts.sessions.get(report.sessions[0].key)
    assert entry is not None
    assert entry.kind is kind


# --- ChatGPT ---------------------------------------------------------------------------------------------------


def test_chatgpt_gives_the_path_that_is_shown(memory, tmp_path, spoken):
    report = bring(memory, "chatgpt", made.chatgpt_zip(tmp_path / "export.zip"), mine=True)
    assert [(one.session, one.label) for one in report.sessions] == [
        ("import-chatgpt-c-lighthouse", "Lighthouse rota"),
        ("import-chatgpt-c-oil", ""),
    ]
    assert spoken("import-chatgpt-c-lighthouse") == [
        ("user", "owner", "Who lights the lamp on Tuesday?"),
        ("assistant", "agent", "Tuesday is Ilse's."),
        ("user", "owner", "And on 金曜日?"),
        ("assistant", "agent", ""),
        ("toolResult", "untrusted", "Friday: Bo"),
        ("assistant", "untrusted", "Friday is Bo's."),
    ]
    assert [each.path for each in report.skipped] == ["Nothing"]


@pytest.mark.parametrize("layout", ["zip", "file", "folder", "parts"])
def test_every_layout_of_the_export_gives_the_same(memory, tmp_path, layout, spoken):
    if layout == "zip":
        path = made.chatgpt_zip(tmp_path / "export.zip")
    elif layout == "file":
        path = made.chatgpt_file(tmp_path / "conversations.json", indent=2)
    else:
        found = made.chatgpt_conversations()
        path = tmp_path / "export"
        if layout == "folder":
            made.chatgpt_file(path / "conversations.json")
        else:
            made.chatgpt_file(path / "conversations-000.json", found[:1])
            made.chatgpt_file(path / "conversations-001.json", found[1:])
    assert bring(memory, "chatgpt", path).messages == 8
    assert spoken("import-chatgpt-c-oil")[0][2] == "Buy lamp oil."


def test_an_export_that_breaks_off_gives_what_came_before(memory, tmp_path):
    path = made.chatgpt_file(tmp_path / "conversations.json")
    text = path.read_text(encoding="utf-8")
    path.write_text(text[: text.index('"c-oil"')], encoding="utf-8")
    report = bring(memory, "chatgpt", path)
    assert [one.session for one in report.sessions] == ["import-chatgpt-c-lighthouse"]
    assert any(each.reason.startswith("it is damaged from here on") for each in report.skipped)


def test_another_branch_that_became_the_shown_one_is_added_under_its_parent(memory, tmp_path, spoken):
    found = made.chatgpt_conversations()
    path = made.chatgpt_file(tmp_path / "conversations.json", found)
    bring(memory, "chatgpt", path)
    found[0]["current_node"] = "x1"
    made.chatgpt_file(path, found)
    report = bring(memory, "chatgpt", path)
    assert report.messages == 1
    assert spoken("import-chatgpt-c-lighthouse")[-1][2] == "Nobody, I think."


class _Slow:
    """A stream that gives little at a time, as a network file does."""

    def __init__(self, text: str, step: int) -> None:
        self._text, self._step = text, step

    def read(self, size: int) -> str:
        step = min(size, self._step)
        piece, self._text = self._text[:step], self._text[step:]
        return piece


@given(
    elements=st.lists(
        st.dictionaries(st.text(max_size=4), st.text(max_size=20) | st.integers() | st.none()), max_size=6
    ),
    step=st.integers(1, 40),
    indent=st.none() | st.integers(0, 3),
)
def test_a_list_read_in_pieces_is_the_list(elements, step, indent):
    stream: Any = _Slow(json.dumps(elements, indent=indent), step)
    assert list(_elements(stream)) == elements


@given(st.text(min_size=1, max_size=200), st.text(min_size=1, max_size=200))
def test_every_conversation_gets_an_id_of_its_own_that_is_one(one, other):
    first, second = session_id("codex", one), session_id("codex", other)
    assert is_session_id(first)
    assert is_session_id(second)
    assert (first == second) == (one == other)
