"""The six steps of maintenance: the plan by a table, and the carrying out on real files."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.clock import FixedClock
from reverie.core.text import sha256
from reverie.core.types import Sender, SessionKind
from reverie.sessions.directory import SessionDirectory
from reverie.sessions.maintenance import maintain
from reverie.sessions.messages import epoch_ms
from reverie.sessions.retention import (
    Act,
    Folder,
    Kept,
    Policy,
    Step,
    archived_at,
    high_water,
    plan,
)
from reverie.sessions.rows import SessionEntry, entry_in
from reverie.sessions.transcript import LOCKS
from reverie.sessions.turns import TurnRecorder
from reverie.workspace.files import locked

NOW = datetime(2026, 8, 22, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)


def row(key: str, days: float | None, session: str = "", **data: object) -> SessionEntry:
    """A row that was used so many days ago; never, without a number."""
    session = session or f"id{sha256(key)[:16]}"
    data |= {"sessionId": session}
    data |= {"updatedAt": epoch_ms(NOW - days * DAY)} if days is not None else {}
    entry = entry_in({key: data}, key, Path("sessions"), "main")
    assert entry is not None
    return entry


def folder(*rows: SessionEntry, files: tuple[Kept, ...] = (), **more: object) -> Folder:
    return Folder({one.key: one for one in rows}, {one.name: one for one in files}, NOW, **more)  # type: ignore[arg-type]


def file(name: str, days: float = 0.0, size: int = 10) -> Kept:
    return Kept(name, size, NOW - days * DAY)


def told(state: Folder, policy: Policy, *steps: Step) -> list[tuple[Act, str]]:
    return [(deed.act, deed.name) for deed in plan(state, policy) if deed.step in (steps or tuple(Step))]


PEER = "agent:main:telegram:direct:{}"


# --- the plan --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cap", "at"), [(500, 550), (40, 41), (49, 50), (50, 75), (100, 125), (1000, 1100), (0, 1), (-3, 1)]
)
def test_automatic_clean_up_waits_for_a_batch(cap, at):
    assert high_water(cap) == at


@pytest.mark.parametrize(
    ("cap", "protected", "removable", "left"),
    [(500, 600, 80, 625), (10, 10, 30, 20), (500, 100, 500, 500), (500, 100, 400, 500), (30, 40, 10, 50)],
)
def test_the_cap_keeps_the_newest_and_never_a_protected_row(cap, protected, removable, left):
    kept = [row(f"agent:main:telegram:group:-{number}", 20) for number in range(protected)]
    free = [row(PEER.format(number), 1 + number / 1000) for number in range(removable)]
    gone = told(folder(*kept, *free), Policy(max_entries=cap), Step.CAP)
    assert protected + removable - len(gone) == left
    oldest_first = [PEER.format(number) for number in range(removable)][::-1]
    assert [name for _, name in gone] == oldest_first[: len(gone)]


def test_a_row_that_says_no_time_survives_age_and_is_the_first_over_the_cap():
    rows = [row(PEER.format("never"), None), row(PEER.format("old"), 29), row(PEER.format("new"), 1)]
    assert told(folder(*rows), Policy(), Step.PRUNE) == []
    assert told(folder(*rows), Policy(max_entries=2), Step.CAP) == [(Act.REMOVE_ROW, PEER.format("never"))]


@pytest.mark.parametrize(
    ("key", "data", "stays"),
    [
        ("agent:main:main", {}, True),
        ("agent:main:main:thread:9", {}, True),
        ("agent:main:telegram:group:-100", {}, True),
        ("agent:main:telegram:group:-100:topic:42", {}, True),
        ("agent:main:discord:channel:7", {}, True),
        ("agent:main:telegram:direct:7", {"chatType": "group"}, True),
        ("agent:main:telegram:direct:7", {"pinnedAt": 1}, True),
        ("agent:main:telegram:direct:7", {"archivedAt": 1}, True),
        ("agent:main:telegram:direct:7", {"modelSelectionLocked": True}, True),
        ("agent:main:telegram:direct:7", {"status": "running"}, True),
        ("agent:main:telegram:direct:7", {}, False),
        ("agent:main:explicit:errand", {}, False),
        ("agent:main:subagent:a", {"chatType": "group"}, False),
        ("agent:main:cron:job", {}, False),
        ("hook:abc", {}, False),
        ("agent:main:telegram:group:-100:heartbeat", {}, False),
    ],
)
def test_age_removes_what_nothing_protects(key, data, stays):
    gone = told(folder(row(key, 31, **data)), Policy(), Step.PRUNE)
    assert gone == ([] if stays else [(Act.REMOVE_ROW, key)])


def test_thirty_days_to_the_minute_is_not_yet_too_old():
    rows = [row(PEER.format("a"), 30), row(PEER.format("b"), 30 + 1 / 1440)]
    assert told(folder(*rows), Policy(), Step.PRUNE) == [(Act.REMOVE_ROW, PEER.format("b"))]


def test_the_session_in_use_is_never_touched_however_it_is_known():
    key = PEER.format("me")
    files = (file("s.jsonl", 90, 1000),)
    tight = Policy(max_entries=1, max_disk_bytes=1, prune_after=DAY)
    named = folder(row(key, 90, "s"), row(PEER.format("x"), 91, "x"), files=files, active=frozenset({key}))
    assert (Act.REMOVE_ROW, key) not in told(named, tight)
    assert (Act.DELETE_FILE, "s.jsonl") not in told(named, tight)
    just_used = folder(row(key, 0.01, "s"), files=files)
    assert told(just_used, Policy(max_disk_bytes=1, prune_after=timedelta(0))) == []


def test_runs_of_scheduled_jobs_go_after_a_day_and_the_job_itself_does_not():
    rows = [row("agent:main:cron:j:run:1", 1.1), row("agent:main:cron:j:run:2", 0.9), row("agent:main:cron:j", 2)]
    assert told(folder(*rows), Policy(), Step.PRUNE) == [(Act.REMOVE_ROW, "agent:main:cron:j:run:1")]
    assert told(folder(*rows), Policy(cron_retention=None), Step.PRUNE) == []


def test_probes_of_models_go_only_when_the_list_is_too_long():
    probe = "agent:main:explicit:model-run-01234567-89ab-cdef-0123-456789abcdef"
    rows = [row(probe, 2), row(PEER.format("a"), 3)]
    assert told(folder(*rows), Policy(max_entries=2), Step.PRUNE) == []
    assert told(folder(*rows), Policy(max_entries=1), Step.PRUNE) == [(Act.REMOVE_ROW, probe)]


def test_idle_dashboard_sessions_are_shelved_and_not_removed():
    state = folder(row("agent:main:dashboard:plan", 8), row("agent:main:dashboard:new", 6))
    assert told(state, Policy()) == [(Act.SHELVE_ROW, "agent:main:dashboard:plan")]
    assert told(state, Policy(dashboard_after=None)) == []


def test_preserve_recent_keeps_people_s_sessions_and_no_program_s():
    rows = [row(PEER.format("a"), 2), row("agent:main:subagent:b", 2)]
    policy = Policy(prune_after=DAY, preserve_recent=3 * DAY)
    assert told(folder(*rows), policy, Step.PRUNE) == [(Act.REMOVE_ROW, "agent:main:subagent:b")]


def test_a_transcript_that_another_row_uses_is_not_put_aside():
    gone, other = row(PEER.format("a"), 40, "shared"), row(PEER.format("b"), 1, "shared")
    alone = row(PEER.format("c"), 40, "alone")
    state = folder(gone, other, alone, files=(file("shared.jsonl", 1), file("alone.jsonl", 40)))
    assert told(state, Policy(), Step.ARCHIVE) == [(Act.ARCHIVE_FILE, "alone.jsonl")]


def test_what_a_conversation_had_before_is_put_aside_with_it():
    old = row(PEER.format("a"), 40, "now", usageFamilySessionIds=["then", "gone"])
    state = folder(old, files=(file("now.jsonl", 40), file("then.jsonl", 50)))
    assert told(state, Policy(), Step.ARCHIVE) == [(Act.ARCHIVE_FILE, "now.jsonl"), (Act.ARCHIVE_FILE, "then.jsonl")]


def test_archives_are_aged_by_the_moment_in_their_name():
    old, new = "2026-07-01T10-00-00.000Z", "2026-08-20T10-00-00.000Z"
    files = (
        file(f"a.jsonl.deleted.{old}", 0),
        file(f"b.jsonl.deleted.{new}", 90),
        file(f"c.jsonl.reset.{old}", 90),
        file(f"d.jsonl.bak.{old}", 90),
        file("e.jsonl.deleted.some-day", 90),
    )
    assert told(folder(files=files), Policy(), Step.PURGE) == [(Act.DELETE_FILE, f"a.jsonl.deleted.{old}")]
    opted = Policy(reset_archive_retention=10 * DAY)
    assert (Act.DELETE_FILE, f"c.jsonl.reset.{old}") in told(folder(files=files), opted, Step.PURGE)


def test_the_stamp_of_an_archive_is_read_back():
    assert archived_at("s.jsonl.deleted.2026-01-01T00-00-00.000Z") == datetime(2026, 1, 1, tzinfo=UTC)
    assert archived_at("s-1.jsonl.reset.2026-01-01T23-59-58.123Z.zst") == datetime(
        2026, 1, 1, 23, 59, 58, 123000, tzinfo=UTC
    )
    assert archived_at("s.jsonl") is None
    assert archived_at("s.jsonl.deleted.2026-99-99T00-00-00.000Z") is None


def test_what_was_forgotten_is_not_kept_by_maintenance():
    state = folder(
        row(PEER.format("a"), 2, "gone"),
        files=(file("gone.jsonl", 2), file("gone.jsonl.reset.2026-08-20T10-00-00.000Z", 2), file("stays.jsonl")),
        forgotten=frozenset({"gone"}),
    )
    assert told(state, Policy()) == [
        (Act.REMOVE_ROW, PEER.format("a")),
        (Act.DELETE_FILE, "gone.jsonl"),
        (Act.DELETE_FILE, "gone.jsonl.reset.2026-08-20T10-00-00.000Z"),
    ]


def test_a_large_store_is_copied_aside_and_three_copies_stay():
    backups = tuple(file(f"sessions.json.bak.{1700000000000 + number}") for number in range(4))
    state = folder(files=(file("sessions.json", 0, 2000), *backups))
    assert told(state, Policy(rotate_bytes=1000)) == [
        (Act.ROTATE_STORE, "sessions.json"),
        (Act.DELETE_FILE, "sessions.json.bak.1700000000001"),
        (Act.DELETE_FILE, "sessions.json.bak.1700000000000"),
    ]
    assert told(state, Policy(rotate_bytes=2000)) == []


def test_the_budget_takes_leftovers_then_history_then_the_oldest_conversations():
    archive = "z.jsonl.reset.2026-08-20T10-00-00.000Z"
    state = folder(
        row("agent:main:main", 90, "home"),
        row(PEER.format("a"), 20, "a", usageFamilySessionIds=["before"]),
        row(PEER.format("b"), 10, "b"),
        files=(
            file("home.jsonl", 90, 100),
            file("a.jsonl", 20, 100),
            file("a.trajectory.jsonl", 20, 100),
            file("b.jsonl", 10, 100),
            file("before.jsonl", 25, 100),
            file(archive, 2, 100),
            file("orphan.jsonl", 3, 100),
            file("sessions.json", 0, 100),
            file("notes.txt", 99, 100),
        ),
    )
    assert told(state, Policy(max_disk_bytes=899, clean_up_to=600)) == [
        (Act.DELETE_FILE, "orphan.jsonl"),
        (Act.DELETE_FILE, archive),
        (Act.DELETE_FILE, "before.jsonl"),
    ]
    assert told(state, Policy(max_disk_bytes=899, clean_up_to=400))[3:] == [
        (Act.REMOVE_ROW, PEER.format("a")),
        (Act.DELETE_FILE, "a.jsonl"),
        (Act.DELETE_FILE, "a.trajectory.jsonl"),
    ]
    assert told(state, Policy(max_disk_bytes=900)) == []
    assert told(state, Policy(max_disk_bytes=None)) == []
    everything = told(state, Policy(max_disk_bytes=1))
    kept = {"home.jsonl", "sessions.json", "notes.txt"}
    assert {name for act, name in everything if act is Act.DELETE_FILE} == set(state.files) - kept


@given(
    ages=st.lists(st.tuples(st.sampled_from(["direct", "group", "subagent"]), st.floats(0, 90)), max_size=40),
    cap=st.integers(1, 20),
    budget=st.integers(1, 5000),
)
def test_a_second_pass_over_the_same_folder_finds_nothing_more_to_do(ages, cap, budget):
    shapes = {"direct": "telegram:direct:{}", "group": "telegram:group:-{}", "subagent": "subagent:{}"}
    rows, files = [], []
    for number, (shape, age) in enumerate(ages):
        rows.append(row(f"agent:main:{shapes[shape].format(number)}", age, f"s{number}"))
        files.append(file(f"s{number}.jsonl", age, 100 + number))
    policy = Policy(max_entries=cap, max_disk_bytes=budget)
    first = folder(*rows, files=tuple(files))
    deeds = plan(first, policy)
    protected = {one.key for one in rows if ":group:" in one.key}
    assert not protected & {deed.name for deed in deeds}
    left = first.without(deeds)
    again = Folder(left.entries, left.files, NOW)
    assert plan(again, policy) == ()


# --- on files --------------------------------------------------------------------------------------------------


@pytest.fixture
def house(tmp_path, ids):
    clock = FixedClock(NOW - 60 * DAY)
    directory = SessionDirectory(tmp_path / "sessions")
    recorder = TurnRecorder(directory, clock, ids)

    def say(key: str, text: str, days: float) -> str:
        clock.set(NOW - days * DAY)
        turn = recorder.open(key, Sender.owner("me"), text)
        turn.reply("Noted.")
        clock.set(NOW)
        return turn.session.id

    return directory, clock, say


def names(directory: SessionDirectory) -> set[str]:
    return {path.name for path in directory.folder.iterdir() if path.is_file()}


def test_maintenance_puts_an_old_transcript_aside_and_lists_what_it_did(house):
    directory, clock, say = house
    old, new = say(PEER.format("a"), "The ferry is blue.", 40), say(PEER.format("b"), "The mill is shut.", 1)
    text = (directory.folder / f"{old}.jsonl").read_bytes()
    report = maintain(directory, Policy(), clock)
    archive = f"{old}.jsonl.deleted.2026-08-22T12-00-00.000Z"
    assert [(deed.act, deed.name) for deed in report.deeds] == [
        (Act.REMOVE_ROW, PEER.format("a")),
        (Act.ARCHIVE_FILE, f"{old}.jsonl"),
    ]
    assert (directory.folder / archive).read_bytes() == text
    assert names(directory) == {archive, f"{new}.jsonl", "sessions.json"}
    assert [one.key for one in directory.list()] == [PEER.format("b")]
    assert (report.rows_before, report.rows_after) == (2, 1)
    assert any("no longer searched" in notice for notice in report.notices)
    clock.advance(31 * DAY)
    say_again = maintain(directory, Policy(prune_after=30 * DAY), clock)
    assert archive in say_again.removed_files


@pytest.mark.parametrize(("policy", "dry_run"), [(Policy(), True), (Policy(enforce=False), False)])
def test_a_dry_run_and_the_warning_mode_change_no_byte(house, policy, dry_run):
    directory, clock, say = house
    say(PEER.format("a"), "The ferry is blue.", 40)
    before = {path: path.read_bytes() for path in directory.folder.rglob("*") if path.is_file()}
    report = maintain(directory, policy, clock, dry_run=dry_run)
    assert {path: path.read_bytes() for path in directory.folder.rglob("*") if path.is_file()} == before
    assert not report.applied
    assert [deed.act for deed in report.deeds] == [Act.REMOVE_ROW, Act.ARCHIVE_FILE]


def test_idx_11_maintenance_keeps_unknown_rows_and_fields(house):
    directory, clock, say = house
    say(PEER.format("a"), "The ferry is blue.", 40)
    say(PEER.format("b"), "The mill is shut.", 1)
    path = directory.folder / "sessions.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    rows["odd"] = {"of": "another program"}
    rows[PEER.format("b")]["somethingNew"] = [1, 2]
    path.write_text(json.dumps(rows), encoding="utf-8")
    maintain(directory, Policy(), clock)
    after = json.loads(path.read_text(encoding="utf-8"))
    assert after == {key: value for key, value in rows.items() if key != PEER.format("a")}


def test_a_transcript_that_is_being_written_stays_with_its_row(house):
    directory, clock, say = house
    old = say(PEER.format("a"), "The ferry is blue.", 40)
    held, done = threading.Event(), threading.Event()

    def write() -> None:
        with locked(directory.folder / LOCKS, directory.folder / f"{old}.jsonl"):
            held.set()
            done.wait(30)

    writer = threading.Thread(target=write)
    writer.start()
    assert held.wait(30)
    try:
        report = maintain(directory, Policy(), clock)
    finally:
        done.set()
        writer.join()
    assert report.deeds == ()
    assert directory.get(PEER.format("a")) is not None
    assert (directory.folder / f"{old}.jsonl").exists()


def test_a_forgotten_session_is_deleted_and_not_archived(house):
    directory, clock, say = house
    gone = say(PEER.format("a"), "The ferry is blue.", 40)
    report = maintain(directory, Policy(), clock, forgotten=lambda: {gone})
    assert report.removed_files == (f"{gone}.jsonl",)
    assert names(directory) == {"sessions.json"}


def test_a_session_goes_on_after_its_row_was_removed(house):
    directory, clock, say = house
    first = say(PEER.format("a"), "The ferry is blue.", 40)
    maintain(directory, Policy(), clock)
    second = say(PEER.format("a"), "The ferry is red.", 0)
    found = directory.get(PEER.format("a"))
    assert found is not None
    assert found.id == second != first
    assert found.kind is SessionKind.INTERACTIVE


def test_an_empty_place_needs_no_maintenance(tmp_path):
    report = maintain(SessionDirectory(tmp_path / "none"), Policy(), FixedClock(NOW))
    assert report.deeds == ()
    assert not (tmp_path / "none").exists()


def test_a_file_that_cannot_be_moved_is_reported_and_the_rest_is_done(house, monkeypatch):
    directory, clock, say = house
    first, second = say(PEER.format("a"), "One.", 41), say(PEER.format("b"), "Two.", 40)
    rename = Path.rename

    def refuse(self: Path, target: Path) -> Path:
        if self.name.startswith(first):
            raise PermissionError(13, "no", str(self))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse)
    report = maintain(directory, Policy(), clock)
    assert [(failure.deed.name, failure.reason) for failure in report.failures] == [
        (f"{first}.jsonl", "permission denied")
    ]
    assert f"{first}.jsonl" in names(directory)
    assert f"{second}.jsonl" not in names(directory)
