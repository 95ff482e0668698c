"""Sources that hold what they should not: odd values in every place, damage, locked archives, bombs, links."""

from __future__ import annotations

import copy
import json
import tracemalloc
import zipfile
from collections import Counter
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.imports import fixtures as made

from reverie.core.clock import CountingIds, FixedClock
from reverie.core.errors import ImportRefused
from reverie.core.paths import Paths
from reverie.imports.arrival import Arrivals
from reverie.imports.chatgpt import import_chatgpt
from reverie.imports.claude_code import import_claude_code
from reverie.imports.codex import import_codex
from reverie.imports.openclaw.importing import Wish, import_openclaw
from reverie.imports.openclaw.notes import Notebook
from reverie.imports.report import TranscriptReport
from reverie.imports.zstd import decompress
from reverie.sessions.directory import SessionDirectory
from reverie.sessions.reading import read_transcript

Importing = Callable[[Arrivals, Path], TranscriptReport]

ODD: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.sampled_from([float("nan"), float("inf"), 1e308, -1.0]),
    st.text(max_size=8),
    st.sampled_from(["\ud800", "../../x", "\0", "user", "assistant", "2026-99-99", "0000-00-00T00:00:00Z"]),
    st.lists(st.one_of(st.none(), st.text(max_size=3), st.dictionaries(st.text(max_size=3), st.none())), max_size=3),
    st.dictionaries(st.sampled_from(["type", "text", "id", "role", "content"]), st.text(max_size=3), max_size=3),
)


def places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the ways to everything inside a document."""
    found = [above] if above else []
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, each in inner:
        found += places(each, (*above, name))
    return found


def put(document: Any, place: tuple[Any, ...], value: Any) -> None:
    for name in place[:-1]:
        document = document[name]
    document[place[-1]] = value


def openclaw(arrivals: Arrivals, path: Path) -> TranscriptReport:
    paths = Paths.resolve({"HOME": str(path), "REVERIE_STATE_DIR": str(path / "ours")})
    return import_openclaw(arrivals, Notebook(path, None), path, Wish(mine=True), paths).sessions  # type: ignore[arg-type]


def openclaw_state(root: Path, document: Any) -> Path:
    folder = root / "agents" / "main" / "sessions"
    for number, lines in enumerate(document["sessions"] if isinstance(document.get("sessions"), list) else []):
        made.jsonl(folder / f"t{number}.jsonl", lines if isinstance(lines, list) else [lines])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sessions.json").write_text(json.dumps(document.get("rows")), encoding="utf-8")
    return root


def rows_of() -> dict[str, Any]:
    ids = {name: f"t{number}" for number, name in enumerate(made.SESSIONS)}
    return {key: {**row, "sessionId": ids[row["sessionId"]]} for key, row in made.ROWS.items()}


#: Of each program: a whole document, how it is laid down below a folder, and how it is brought in.
PROGRAMS: dict[str, tuple[Any, Callable[[Path, Any], Path], Importing]] = {
    "claude-code": (made.claude_lines(), lambda root, lines: made.claude_home(root, lines), import_claude_code),
    "codex": (made.codex_lines(), lambda root, lines: made.codex_home(root, lines), import_codex),
    "codex, older": (made.codex_old_lines(), lambda root, lines: made.codex_home(root, lines), import_codex),
    "chatgpt": (
        made.chatgpt_conversations(),
        lambda root, chats: made.chatgpt_file(root / "conversations.json", chats),
        import_chatgpt,
    ),
    "openclaw": ({"sessions": list(made.SESSIONS.values()), "rows": rows_of()}, openclaw_state, openclaw),
}


@pytest.fixture
def fresh(tmp_path: Path) -> Callable[[], tuple[Arrivals, Path]]:
    """Give an empty sessions folder and an empty folder for a source, new ones each time."""
    numbers = count()

    def make() -> tuple[Arrivals, Path]:
        root = tmp_path / str(next(numbers))
        directory = SessionDirectory(root / "agents" / "main" / "sessions", "main")
        (root / "their").mkdir(parents=True)
        return Arrivals("main", directory, FixedClock(made.BEGUN), CountingIds("n")), root / "their"

    return make


@pytest.mark.parametrize("program", sorted(PROGRAMS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80)
@given(data=st.data())
def test_an_odd_value_anywhere_costs_no_more_than_what_holds_it(fresh, program, data):
    document, lay, bring = PROGRAMS[program]
    document = copy.deepcopy(document)
    for _ in range(data.draw(st.integers(1, 3))):
        put(document, data.draw(st.sampled_from(places(document))), data.draw(ODD))
    arrivals, root = fresh()
    path = lay(root, document)
    report = bring(arrivals, path)
    folder = arrivals.directory.folder
    added = Counter({one.session: 0 for one in report.sessions})
    for one in report.sessions:
        added[one.session] += one.added
    assert added == {name: len(read_transcript(folder / f"{name}.jsonl").messages) for name in added}
    assert bring(arrivals, path).messages == 0


def test_a_number_that_json_cannot_hold_costs_nothing_but_itself(fresh):
    arrivals, root = fresh()
    lines = made.claude_lines()
    (call,) = (block for block in lines[6]["message"]["content"] if block["type"] == "tool_use")
    call["input"] = {"scale": float("nan"), "file": "gates.py"}
    report = import_claude_code(arrivals, made.claude_home(root, lines))
    (session,) = report.sessions
    assert (report.conflicts, session.added) == ((), 9)


def test_a_locked_or_broken_zip_file_is_named_and_ends_nothing(fresh):
    arrivals, root = fresh()
    path = made.chatgpt_zip(root / "export.zip")
    whole = bytearray(path.read_bytes())
    locked = bytearray(whole)
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):  # the flag "encrypted", in both headers of every file
        place = locked.find(mark)
        while place >= 0:
            locked[place + at] |= 1
            place = locked.find(mark, place + 4)
    (root / "locked.zip").write_bytes(locked)
    report = import_chatgpt(arrivals, root / "locked.zip")
    assert [(one.path, report.created) for one in report.skipped] == [("conversations.json", 0)]
    assert "encrypted" in report.skipped[0].reason

    broken = whole.copy()
    begin = whole.find(b"conversations.json") + len("conversations.json")
    broken[begin + 40 : begin + 60] = bytes(20)
    (root / "broken.zip").write_bytes(broken)
    assert import_chatgpt(arrivals, root / "broken.zip").skipped[0].reason.startswith("it is damaged from here on")


def test_a_zip_file_without_its_list_of_files_is_refused_or_named(fresh):
    arrivals, root = fresh()
    whole = made.chatgpt_zip(root / "export.zip").read_bytes()
    (root / "torn.zip").write_bytes(whole[:60] + whole[-22:])
    try:
        report = import_chatgpt(arrivals, root / "torn.zip")
    except ImportRefused as error:
        assert "damaged" in error.message
    else:  # later Pythons do not take it for a ZIP file at all
        assert (report.created, len(report.skipped)) == (0, 1)


def test_a_zip_file_reaches_nothing_outside_itself(fresh):
    arrivals, root = fresh()
    with zipfile.ZipFile(root / "export.zip", "w") as archive:
        archive.writestr("../../conversations.json", json.dumps(made.chatgpt_conversations()))
    before = made.snapshot(root)
    assert import_chatgpt(arrivals, root / "export.zip").created == 2
    assert made.snapshot(root) == before
    assert list(root.parent.parent.glob("conversations.json")) == []


def test_a_small_frame_that_would_fill_the_memory_is_refused_before_it_does():
    bomb = zstandard.ZstdCompressor().compress(bytes(200 << 20))
    assert len(bomb) < 1 << 17
    tracemalloc.start()
    try:
        with pytest.raises(ImportRefused, match="more than is expected"):
            decompress(bomb, 1000)
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("program", ["claude-code", "codex", "openclaw"])
def test_a_link_in_a_source_is_not_followed(fresh, tmp_path, program):
    arrivals, root = fresh()
    document, lay, bring = PROGRAMS[program]
    aside = lay(tmp_path / "aside", document)
    (file, *_) = sorted(file for file in aside.rglob("*.jsonl") if not file.name.startswith("agent-"))
    place = root / file.relative_to(aside)
    place.parent.mkdir(parents=True)
    place.symlink_to(file)
    try:
        assert bring(arrivals, root).sessions == ()
    except ImportRefused:
        assert program != "openclaw"
