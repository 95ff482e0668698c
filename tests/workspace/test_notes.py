from __future__ import annotations

import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.errors import (
    FileUnreadable,
    PathNotAllowed,
    UsageError,
    WorkspaceMissing,
    WriteConflict,
    WriteRefused,
)
from reverie.core.text import sha256
from reverie.core.types import Annotations
from reverie.workspace.changes import with_entry, with_note, with_replaced, with_superseded
from reverie.workspace.files import decode
from reverie.workspace.ignore import is_ignored, parse_rules
from reverie.workspace.markdown import Entry, Status, directives, entries, scan
from reverie.workspace.notes import Edit, Workspace
from reverie.workspace.paths import daily_path, is_curated, is_memory_path, is_system

DAY = date(2026, 9, 1)
WRITERS = Path(__file__).with_name("writers.py")
FORGERIES = [
    "plain words",
    "<!-- importance: 10 -->",
    "-->",
    "<!--",
    "\n- second entry",
    "\n# heading",
    "# heading",
    "- dash",
    "1. one",
    "***",
    "---",
    "```",
    "~~~",
    "`",
    "\\",
    "<",
    "!--",
    "<!-- openclaw-memory-promotion:forged -->\n- x",
    "<!-- observed: 2026-10-02 | status: active -->",
    "\r",
    "\u2028- x",
    "\0",
    "\ud800",
    "\udc80",
    "é🦊日本",
    "  ",
    ">",
    "===",
]
HOSTILE = st.lists(st.sampled_from(FORGERIES) | st.text(max_size=6), min_size=1, max_size=8).map("".join)
FILES = st.lists(
    st.sampled_from(
        [
            "# Long-term memory",
            "",
            "- old <!-- importance: 3 -->",
            "- older",
            "  goes on",
            "```",
            "<!--",
            "-->",
            "## People",
            "People",
            "---",
            "free text",
            "<!-- openclaw:dreaming:x:start -->",
            "<!-- openclaw:dreaming:x:end -->",
            "<!-- observed: 2026-01-01 | status: active -->",
            "`odd",
        ]
    ),
    max_size=12,
).map("\n".join)
ANNOTATIONS = st.builds(
    Annotations,
    triggers=st.lists(HOSTILE, max_size=2).map(tuple),
    importance=st.none() | st.integers(1, 10),
    project=st.lists(st.sampled_from(["h/a", "path:/x;y", "h/<b>"]), max_size=2, unique=True).map(tuple),
    key=st.none() | HOSTILE,
)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    root = tmp_path / "workspace"
    (root / "memory").mkdir(parents=True)
    return Workspace(root, lock_dir=tmp_path / "state" / "locks")


def put(workspace: Workspace, path: str, data: str | bytes) -> Path:
    place = workspace.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
    return place


def text_of(workspace: Workspace, path: str) -> str:
    return (workspace.root / path).read_bytes().decode("utf-8")


def entry_of(workspace: Workspace, path: str, index: int = 0) -> Entry:
    return entries(scan(workspace.read(path).exact))[index]


def same_entry(old: Entry, new: Entry) -> bool:
    """The same lines and annotations, but for a fence that was closed and stray markers at the end."""
    closed = old.code[-1] and set(new.raw[-1].strip()) == {"`"} and new.raw[:-1] == old.raw
    stray = old.raw[len(new.raw) :]
    bared = new.raw == old.raw[: len(new.raw)] and all(not line.strip() or "observed:" in line for line in stray)
    return (closed or bared) and new.annotations == old.annotations


def scanned(workspace: Workspace) -> list[str]:
    return [one.path for one in workspace.scan().stats]


def skipped(workspace: Workspace) -> dict[str, str]:
    return {one.path: one.reason for one in workspace.scan().skipped}


# --- names


def test_memory_paths_are_the_named_files_and_nothing_else() -> None:
    yes = ["MEMORY.md", "USER.md", "DREAMS.md", "dreams.md", "users/ann-1/USER.md", "memory/a.md", "memory/x/ü 🦊.MD"]
    no = ["memory.md", "AGENTS.md", "users/../USER.md", "users/a b/USER.md", "memory", "memory/a.txt", "memory/../a.md"]
    no += ["memory//a.md", "./MEMORY.md", "/MEMORY.md", "memory/a\0.md", "Memory/a.md", "", "users/-a/USER.md"]
    assert [path for path in yes + no if is_memory_path(path)] == yes
    assert [path for path in yes if is_curated(path)] == ["MEMORY.md", "USER.md", "users/ann-1/USER.md"]
    assert daily_path(DAY) == "memory/2026-09-01.md"
    assert all(is_system(path) for path in ("dreams.MD", "memory/Dreaming/rem/a.md", "memory/.dreams/a.md"))
    assert not is_system("memory/dreaming.md")


@pytest.mark.parametrize(
    "path", ["AGENTS.md", "memory/../AGENTS.md", "memory/link.md", "memory/sub/a.md", "memory\\a.md"]
)
def test_reading_and_writing_stay_within_memory(workspace: Workspace, path: str) -> None:
    put(workspace, "AGENTS.md", "instructions")
    put(workspace, "memory/real/a.md", "x")
    (workspace.root / "memory" / "link.md").symlink_to(workspace.root / "AGENTS.md")
    (workspace.root / "memory" / "sub").symlink_to(workspace.root / "memory" / "real")
    with pytest.raises(PathNotAllowed):
        workspace.read_lines(path)
    with pytest.raises(PathNotAllowed):
        workspace.append_entry(path, "x")


# --- scanning


def test_idx_06_only_notes_are_found_among_dependencies(workspace: Workspace) -> None:
    for number in range(300):
        put(workspace, f"memory/node_modules/p{number}/README.md", "x")
    for path in (
        "memory/.venv/a.md",
        "memory/.git/a.md",
        "memory/x/__pycache__/a.md",
        "memory/.dreams/a.md",
        "node_modules/a.md",
    ):
        put(workspace, path, "x")
    for path in (
        "MEMORY.md",
        "memory/a.md",
        "memory/x/b.md",
        "memory/x/.hidden.md",
        "memory/c.txt",
        "README.md",
        "DREAMS.md",
    ):
        put(workspace, path, "x")
    assert scanned(workspace) == ["MEMORY.md", "memory/a.md", "memory/x/b.md"]
    assert skipped(workspace) == {}
    assert workspace.is_ignored("memory/node_modules/p1/README.md")
    assert workspace.is_ignored("memory/.git/a.md")
    assert not workspace.is_ignored("memory/x/b.md")


def test_ignore_rules_are_globs_and_the_last_one_decides(workspace: Workspace) -> None:
    put(
        workspace,
        ".reverieignore",
        "# comment\n\ndraft-*\narchive/\n/memory/x/**\n!memory/x/keep.md\nmemory/**/old/*.md\n",
    )
    kept = ["memory/a.md", "memory/archive.md", "memory/x/keep.md"]
    gone = [
        "memory/draft-1.md",
        "memory/y/draft-2.md",
        "memory/z/archive/a.md",
        "memory/x/b.md",
        "memory/p/q/old/a.md",
        "memory/old/a.md",
    ]
    for path in kept + gone:
        put(workspace, path, "x")
    assert scanned(workspace) == kept
    assert [path for path in kept + gone if workspace.is_ignored(path)] == gone


def test_a_glob_of_nothing_but_stars_is_matched_in_passing() -> None:
    rules = parse_rules("/".join(["**"] * 60) + "/x\n" + "*a" * 60 + "\n")
    assert not is_ignored(rules, "/".join(["aaaaaaaaaaaaaaaaaaaaaaaaaaaab"] * 60), folder=False)


def test_a_broken_ignore_file_is_reported_and_hides_nothing(workspace: Workspace) -> None:
    put(workspace, ".reverieignore", b"*\0")
    put(workspace, "memory/a.md", "x")
    assert scanned(workspace) == ["memory/a.md"]
    assert skipped(workspace) == {".reverieignore": "binary"}
    assert not workspace.is_ignored("memory/a.md")


def test_enc_06_file_names_of_any_letters_are_found_or_skipped_one_by_one(workspace: Workspace) -> None:
    names = ["🦊", "™", "==", "Планы", "CON", "n" * 247, "👩‍👩‍👧", "a:b", "x. ", "a\\b"]
    for name in names:
        put(workspace, f"memory/{name}.md", "text")
    put(workspace, "memory/two\nlines.md", "text")
    Path(os.fsdecode(os.fsencode(workspace.root) + b"/memory/\xff.md")).write_bytes(b"text")
    assert sorted(scanned(workspace)) == sorted(f"memory/{name}.md" for name in names)
    assert sorted(skipped(workspace).values()) == ["its name holds control characters", "its name is not valid UTF-8"]
    for path in scanned(workspace):
        assert workspace.read_lines(path).text == "text"


def test_enc_07_every_path_found_opens_and_twin_spellings_are_two_files(workspace: Workspace) -> None:
    names = ["Costs & Income (H1) [old] #7.md", "with  spaces .md", "caf\u00e9.md", "cafe\u0301.md"]
    for name in names:
        put(workspace, f"memory/{name}", name)
    found = scanned(workspace)
    assert sorted(found) == sorted(f"memory/{name}" for name in names)
    assert [workspace.read_lines(path).text for path in found] == [path.removeprefix("memory/") for path in found]


def test_enc_08_links_pipes_and_sockets_are_named_and_do_not_stop_the_scan(workspace: Workspace) -> None:
    root = workspace.root
    for name in ("a", "b", "c"):
        put(workspace, f"memory/{name}.md", name)
    put(workspace, "elsewhere/user.md", "x")
    (root / "USER.md").symlink_to(root / "elsewhere" / "user.md")
    (root / "memory" / "loop").symlink_to(root)
    (root / "memory" / "broken.md").symlink_to(root / "nowhere")
    os.mkfifo(root / "memory" / "x.md")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "memory" / "s.md"))
    assert scanned(workspace) == ["memory/a.md", "memory/b.md", "memory/c.md"]
    link = "symbolic link; links are not followed"
    assert skipped(workspace) == {
        "USER.md": link,
        "memory/broken.md": link,
        "memory/loop": link,
        "memory/s.md": "socket",
        "memory/x.md": "named pipe",
    }


def test_enc_13_paths_use_slashes_and_two_cases_of_a_name_are_two_notes(workspace: Workspace) -> None:
    for path in ("memory/A.md", "memory/a.md", "memory/deep/er/n.md", "MEMORY.md", "memory.md", "User.md"):
        put(workspace, path, "x")
    assert scanned(workspace) == ["MEMORY.md", "memory/A.md", "memory/a.md", "memory/deep/er/n.md"]
    assert skipped(workspace) == {"memory.md": "MEMORY.md is read instead", "User.md": "rename it to USER.md"}


def test_a_huge_note_is_skipped_by_name_and_a_read_of_it_is_refused(workspace: Workspace) -> None:
    with put(workspace, "memory/long.md", "x").open("r+b") as file:
        file.truncate(40 * 1024 * 1024)
    assert scanned(workspace) == []
    assert skipped(workspace)["memory/long.md"].startswith("too large: 41943040 bytes")
    with pytest.raises(FileUnreadable):
        workspace.read_lines("memory/long.md")


def test_idx_15_a_missing_folder_is_no_deletion_if_files_were_known(workspace: Workspace) -> None:
    put(workspace, "MEMORY.md", "x")
    put(workspace, "memory/a.md", "x")
    (workspace.root / "memory").rename(workspace.root / "away")
    assert workspace.scan().missing_root is None
    for _ in range(2):
        found = workspace.scan(known=True)
        assert found.missing_root == str(workspace.root / "memory")
        assert [one.path for one in found.stats] == ["MEMORY.md"]
    (workspace.root / "away").rename(workspace.root / "memory")
    assert workspace.scan(known=True).missing_root is None
    (workspace.root / "memory" / "a.md").unlink()
    assert workspace.scan(known=True).missing_root is None
    workspace.root.rename(workspace.root.with_name("gone"))
    assert str(workspace.root) in str(workspace.scan().missing_root)


# --- reading lines


@pytest.mark.parametrize(
    ("text", "from_line", "lines", "expected"),
    [
        ("a\nb\n", 1, 2, ("a\nb", 2, None)),
        ("a\nb", 1, None, ("a\nb", 2, None)),
        ("", 1, None, ("", 0, None)),
        ("\nsecond\n", 1, None, ("\nsecond", 2, None)),
        ("\n", 1, 1, ("", 1, None)),
        ("a\nb\nc\n", 1, 2, ("a\nb", 2, 3)),
        ("a\nb\nc\n", 3, 5, ("c", 1, None)),
        ("a\nb\nc\n", 4, 5, ("", 0, None)),
        ("\ufeffa\r\nb\rc\r\n", 1, None, ("a\nb\rc", 2, None)),
    ],
)
def test_rank_05_a_window_announces_a_next_page_only_if_there_is_one(
    workspace: Workspace, text: str, from_line: int, lines: int | None, expected: tuple[str, int, int | None]
) -> None:
    put(workspace, "memory/a.md", text)
    found = workspace.read_lines("memory/a.md", from_line, lines)
    assert (found.text, found.lines, found.next_from) == expected
    assert (found.status, found.from_line) == ("ok", from_line)


def test_a_text_cut_by_a_limit_says_where_to_go_on(workspace: Workspace) -> None:
    put(workspace, "memory/a.md", "".join(f"line {number}\n" for number in range(1, 201)))
    first = workspace.read_lines("memory/a.md")
    assert (first.lines, first.next_from) == (120, 121)
    assert first.text.endswith("line 120\n[more lines follow: go on from 121]")
    rest = workspace.read_lines("memory/a.md", 121)
    assert (rest.lines, rest.next_from, rest.text[-8:]) == (80, None, "line 200")
    short = workspace.read_lines("memory/a.md", 1, 100, max_chars=19)
    assert short.text == "line 1\nline 2\n[more lines follow: go on from 3]"
    put(workspace, "memory/b.md", "x" * 50 + "\nnext\n")
    cut = workspace.read_lines("memory/b.md", max_chars=10)
    assert cut.text == "x" * 10 + "\n[line 1 is cut: 10 of 50 characters; more lines follow: go on from 2]"
    assert (cut.lines, cut.next_from) == (1, 2)


def test_a_missing_note_is_not_found_and_a_missing_workspace_is_an_error(workspace: Workspace, tmp_path: Path) -> None:
    assert workspace.read_lines("memory/none.md").status == "not_found"
    with pytest.raises(WorkspaceMissing):
        Workspace(tmp_path / "nowhere").read_lines("memory/none.md")
    with pytest.raises(UsageError):
        workspace.read_lines("memory/none.md", 0)


# --- daily notes


def test_a_daily_note_begins_with_its_date_and_grows_at_its_end(workspace: Workspace) -> None:
    first = workspace.append_note(DAY, "Moved the backup to Friday.")
    second = workspace.append_note(DAY, "- one\n- two\n\n", "Session")
    third = workspace.append_note(DAY, "- three", "Session")
    fourth = workspace.append_note(DAY, "Plain again.")
    assert text_of(workspace, "memory/2026-09-01.md") == (
        "# 2026-09-01\n\nMoved the backup to Friday.\n\n## Session\n\n- one\n- two\n- three\n\nPlain again.\n"
    )
    assert [(one.start_line, one.end_line) for one in (first, second, third, fourth)] == [
        (3, 3),
        (7, 8),
        (9, 9),
        (11, 11),
    ]
    assert first.before_hash is None
    assert third.before_hash == second.after_hash
    assert fourth.after_hash == sha256((workspace.root / "memory/2026-09-01.md").read_bytes())
    assert [one.splices[0].start_line for one in (first, second, third, fourth)] == [1, 4, 9, 10]


def test_enc_03_a_note_is_added_in_the_way_of_the_file(workspace: Workspace) -> None:
    before = b"\xef\xbb\xbf# Day\r\n\r\nodd \xff byte\r\nno end"
    put(workspace, "memory/2026-09-01.md", before)
    found = workspace.append_note(DAY, "new\nlines")
    assert (workspace.root / "memory/2026-09-01.md").read_bytes() == before + b"\r\n\r\nnew\r\nlines\r\n"
    assert (found.start_line, found.end_line) == (6, 7)


def test_a_note_cannot_hide_or_be_hidden(workspace: Workspace) -> None:
    put(workspace, "memory/2026-09-01.md", "```\nleft open\n")
    workspace.append_note(DAY, "<!-- reverie:x:start -->\n~~~\nopen again")
    workspace.append_note(DAY, "## Visible\n<!-- reverie:x:end -->")
    document = scan(text_of(workspace, "memory/2026-09-01.md"))
    assert document.blocks == ()
    assert document.notices == ()
    assert [line.title for line in document.lines if line.level] == ["Visible"]


@given(FILES, HOSTILE, st.none() | HOSTILE)
def test_a_note_of_any_text_changes_nothing_above_it(old: str, text: str, heading: str | None) -> None:
    data = old.encode("utf-8")
    try:
        draft = with_note(decode(data), DAY, text, heading)
    except UsageError:
        return
    assert draft.data.startswith(data)
    lines = scan(decode(draft.data).exact).lines
    assert 1 <= draft.start_line <= draft.end_line == len(lines)
    assert len(scan(old).lines) + draft.splices[0].inserted == len(lines)
    assert "\0" not in draft.data.decode("utf-8")
    kept = [line.text for line in lines[draft.start_line - 1 :]]
    assert kept[0].strip()
    assert not any("<!--" in line or "-->" in line for line in kept)


def test_dur_05_notes_of_many_threads_are_all_kept_once(workspace: Workspace) -> None:
    put(workspace, "memory/2026-09-01.md", "earlier text")
    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(lambda number: workspace.append_note(DAY, f"- line {number}"), range(20)))
    lines = text_of(workspace, "memory/2026-09-01.md").splitlines()
    assert lines[:2] == ["earlier text", ""]
    assert sorted(lines[2:]) == sorted(f"- line {number}" for number in range(20))
    assert sorted(one.start_line for one in found) == list(range(3, 23))


# --- entries


def test_entries_are_added_to_the_file_and_to_sections(workspace: Workspace) -> None:
    marks = Annotations(triggers=("backup", "restore"), importance=7)
    first = workspace.append_entry("MEMORY.md", "The backup runs on Friday.", marks)
    workspace.append_entry("MEMORY.md", "Ann is the landlord.", section="People")
    workspace.append_entry("MEMORY.md", "Bob fixes bikes.", section="people")
    workspace.append_entry("MEMORY.md", "It is kept for a year.", section="Long-term memory")
    assert text_of(workspace, "MEMORY.md") == (
        "# Long-term memory\n\n- The backup runs on Friday. <!-- trigger: backup, restore --> <!-- importance: 7 -->\n"
        "- It is kept for a year.\n\n## People\n\n- Ann is the landlord.\n- Bob fixes bikes.\n"
    )
    assert (first.start_line, first.end_line, first.before_hash) == (3, 3, None)


def test_a_section_without_a_blank_line_below_gets_one(workspace: Workspace) -> None:
    put(workspace, "MEMORY.md", "People\n======\n# Next\n\n```\nopen")
    found = workspace.append_entry("MEMORY.md", "x", section="People")
    assert text_of(workspace, "MEMORY.md") == "People\n======\n\n- x\n\n# Next\n\n```\nopen"
    assert (found.start_line, found.splices[0].start_line, found.splices[0].inserted) == (4, 3, 3)
    workspace.append_entry("MEMORY.md", "y", section="next")
    assert text_of(workspace, "MEMORY.md").endswith("```\nopen\n```\n\n- y\n")


def test_directives_are_dated_and_superseded_in_place(workspace: Workspace) -> None:
    with pytest.raises(UsageError):
        workspace.append_entry("USER.md", "Always answer in German.")
    workspace.append_entry("USER.md", "Always answer in German.", observed=date(2026, 9, 14))
    workspace.append_entry("USER.md", "Never call before nine.", observed=date(2026, 9, 15))
    old = entry_of(workspace, "USER.md")
    found = workspace.mark_superseded(
        "USER.md", old, "Prefer English for code.", date(2026, 10, 2), Annotations(importance=5)
    )
    assert text_of(workspace, "USER.md") == (
        "# About the user\n\n<!-- observed: 2026-09-14 | status: superseded -->\n\n- Always answer in German.\n\n"
        "<!-- observed: 2026-10-02 | status: active -->\n\n- Prefer English for code. <!-- importance: 5 -->\n\n"
        "<!-- observed: 2026-09-15 | status: active -->\n\n- Never call before nine.\n"
    )
    assert (found.start_line, found.end_line) == (9, 9)
    assert [(one.start_line, one.removed, one.inserted) for one in found.splices] == [(3, 1, 1), (6, 0, 4)]
    with pytest.raises(WriteRefused):
        workspace.mark_superseded("USER.md", old, "Again.", date(2026, 10, 3))
    with pytest.raises(PathNotAllowed):
        workspace.mark_superseded("MEMORY.md", old, "x", DAY)


def test_a_directive_without_metadata_is_marked_too(workspace: Workspace) -> None:
    put(workspace, "users/ann/USER.md", "- Use tabs.\r\n- Other.\r\n")
    workspace.mark_superseded("users/ann/USER.md", entry_of(workspace, "users/ann/USER.md"), "Use blanks.", DAY)
    assert text_of(workspace, "users/ann/USER.md") == (
        "<!-- status: superseded -->\r\n\r\n- Use tabs.\r\n\r\n<!-- observed: 2026-09-01 | status: active -->\r\n\r\n"
        "- Use blanks.\r\n\r\n- Other.\r\n"
    )
    found = directives(scan(text_of(workspace, "users/ann/USER.md")))
    assert [one.status for one in found] == [Status.SUPERSEDED, Status.ACTIVE, Status.ACTIVE]


def test_enc_03_replacing_an_entry_keeps_every_other_byte(workspace: Workspace) -> None:
    head = b"\xef\xbb\xbf# M\r\n\r\n- one <!-- trigger: x -->\t<!-- a remark -->\r\n"
    entry, tail = (
        b"- two <!-- importance: 3 -->\r\n  more\r\n",
        b"- three \xff\n<!-- openclaw:dreaming:x:start -->\r\nend",
    )
    put(workspace, "MEMORY.md", head + entry + tail)
    changed = workspace.replace_entry(
        "MEMORY.md", entry_of(workspace, "MEMORY.md", 1), annotations={"importance": 9, "key": "k"}
    )
    assert (workspace.root / "MEMORY.md").read_bytes() == (
        head + b"- two <!-- importance: 9 --> <!-- key: k -->\r\n  more\r\n" + tail
    )
    assert (changed.start_line, changed.end_line) == (4, 5)
    again = workspace.replace_entry(
        "MEMORY.md", entry_of(workspace, "MEMORY.md", 1), text="2\nlines", annotations={"key": None}
    )
    assert (workspace.root / "MEMORY.md").read_bytes() == head + b"- 2 lines <!-- importance: 9 -->\r\n" + tail
    assert [(one.start_line, one.removed, one.inserted) for one in again.splices] == [(4, 2, 1)]


def test_an_entry_that_moved_is_found_and_one_that_changed_is_a_conflict(workspace: Workspace) -> None:
    put(workspace, "MEMORY.md", "- one\n- two\n")
    one, two = entry_of(workspace, "MEMORY.md", 0), entry_of(workspace, "MEMORY.md", 1)
    put(workspace, "MEMORY.md", "# New head\n\n- ONE\n- two\n")
    assert workspace.replace_entry("MEMORY.md", two, text="deux").start_line == 4
    with pytest.raises(WriteConflict):
        workspace.replace_entry("MEMORY.md", one, text="un")
    put(workspace, "MEMORY.md", "# Head\n- one\n- one\n")
    with pytest.raises(WriteConflict):
        workspace.replace_entry("MEMORY.md", one, text="un")
    assert text_of(workspace, "MEMORY.md") == "# Head\n- one\n- one\n"


def test_a_broken_project_tag_is_never_dropped_by_a_new_text(workspace: Workspace) -> None:
    put(workspace, "MEMORY.md", "- secret <!-- project: h/a;; -->\n")
    entry = entry_of(workspace, "MEMORY.md")
    with pytest.raises(WriteRefused):
        workspace.replace_entry("MEMORY.md", entry, text="open")
    workspace.replace_entry("MEMORY.md", entry, text="open", annotations={"project": ("h/a",)})
    assert text_of(workspace, "MEMORY.md") == "- open <!-- project: h/a -->\n"


def test_a_budget_is_kept_by_writing_nothing(workspace: Workspace) -> None:
    workspace.append_entry("MEMORY.md", "ä" * 50, max_chars=80)
    before = text_of(workspace, "MEMORY.md")
    with pytest.raises(WriteRefused):
        workspace.append_entry("MEMORY.md", "ä" * 50, max_chars=80)
    assert text_of(workspace, "MEMORY.md") == before


@given(FILES, HOSTILE, ANNOTATIONS, st.none() | st.sampled_from(["People", "New", "# <!-- x -->"]), st.booleans())
def test_no_text_can_forge_an_entry_an_annotation_or_a_marker(
    old: str, text: str, annotations: Annotations, section: str | None, directive: bool
) -> None:
    observed = DAY if directive else None
    file = decode(old.encode("utf-8"))
    before = entries(scan(old))
    try:
        draft = with_entry(file, text, annotations, title="Long-term memory", section=section, observed=observed)
    except UsageError as error:
        # Only emptiness is refused: whatever has words can be written.
        assert str(error) == "There is nothing to write"
        return
    document = scan(decode(draft.data).exact)
    after = entries(document)
    (own,) = [one for one in after if one.start_line == draft.start_line]
    others = [one for one in after if one is not own]
    assert len(others) == len(before)
    assert all(same_entry(*pair) for pair in zip(before, others, strict=True))
    assert (own.annotations.importance, own.annotations.invalid_project) == (annotations.importance, False)
    assert own.promotion is None
    assert own.lineage is None
    assert len(own.raw) == 1
    if directive:
        found = next(one for one in directives(document) if one.entry == own)
        assert (found.observed, found.status) == (DAY, Status.ACTIVE)


@given(FILES, HOSTILE, st.data())
def test_a_superseded_or_replaced_entry_leaves_the_others_as_they_were(
    old: str, text: str, data: st.DataObject
) -> None:
    file = decode(old.encode("utf-8"))
    before = entries(scan(old))
    if not before or not text.strip():
        return
    entry = data.draw(st.sampled_from(before))
    rest = [one.raw for one in before if one != entry]
    try:
        replaced = with_replaced(file, entry, text=text, annotations={"importance": 2})
        superseded = with_superseded(file, entry, text, Annotations(importance=4), observed=DAY)
    except WriteRefused as error:
        assert "project" in str(error) or "superseded already" in str(error)
        return
    except UsageError as error:
        assert str(error) == "There is nothing to write"
        return
    after = entries(scan(decode(replaced.data).exact))
    others = [one for one in after if one.start_line != replaced.start_line]
    assert [one.raw for one in others] == rest
    found = directives(scan(decode(superseded.data).exact))
    place = next(index for index, one in enumerate(found) if one.entry.start_line == superseded.start_line)
    assert (found[place].observed, found[place].status, found[place].entry.annotations.importance) == (
        DAY,
        Status.ACTIVE,
        4,
    )
    assert same_entry(entry, found[place - 1].entry)
    assert found[place - 1].status is Status.SUPERSEDED
    size = len(scan(old).lines) + sum(one.inserted - one.removed for one in superseded.splices)
    assert len(scan(decode(superseded.data).exact).lines) == size


def test_dur_06_two_processes_add_twenty_entries_each_and_none_is_lost(workspace: Workspace, tmp_path: Path) -> None:
    put(workspace, "MEMORY.md", "# Mine\r\n\r\n- first\r\n")
    command = [sys.executable, str(WRITERS), "remember", str(tmp_path / "state" / "locks"), str(workspace.root)]
    writers = [subprocess.Popen([*command, name, "20"]) for name in ("left", "right")]
    assert [writer.wait() for writer in writers] == [0, 0]
    found = [one.text for one in entries(scan(text_of(workspace, "MEMORY.md")))]
    assert found[0] == "first"
    assert sorted(found[1:]) == sorted(f"{name} {number}" for name in ("left", "right") for number in range(20))


def test_writes_need_a_workspace_and_a_place_for_locks(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceMissing):
        Workspace(tmp_path / "unmounted", lock_dir=tmp_path / "locks").append_note(DAY, "x")
    assert not (tmp_path / "unmounted").exists()
    with pytest.raises(UsageError):
        Workspace(workspace.root).append_note(DAY, "x")
    with pytest.raises(UsageError):
        workspace.append_note(DAY, " \n\0 ")
    assert scanned(workspace) == []


# --- a new workspace


def test_a_new_workspace_is_made_whole_and_never_made_over(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "deep" / "workspace", lock_dir=tmp_path / "locks")
    found = workspace.create()
    assert found.made == ("memory/", "MEMORY.md", "USER.md", "AGENTS.md")
    assert found.kept == ()
    put(workspace, "MEMORY.md", "mine")
    (workspace.root / "USER.md").unlink()
    again = workspace.create()
    assert (again.made, again.kept) == (("USER.md",), ("memory/", "MEMORY.md", "AGENTS.md"))
    assert text_of(workspace, "MEMORY.md") == "mine"
    assert entries(scan(text_of(workspace, "USER.md"))) == ()


def test_a_workspace_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WriteRefused) as caught:
        Workspace(tmp_path / "file", lock_dir=tmp_path / "locks").create()
    assert str(tmp_path / "file") in str(caught.value)


def test_an_edit_is_a_plain_value(workspace: Workspace) -> None:
    found = workspace.append_note(DAY, "x")
    assert found == replace(found)
    assert isinstance(found, Edit)
