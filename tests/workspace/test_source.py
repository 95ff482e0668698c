from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.core.text import sha256
from reverie.core.types import Corpus, Provenance, Skipped, SourceClass, SourceDocument, SourceProvider
from reverie.workspace.notes import Workspace
from reverie.workspace.source import WorkspaceSource

OWNER = Provenance(origin=SourceClass.OWNER)
UNKNOWN = Provenance()


class Classifier:
    """Answers ``OWNER`` for every line and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[str, ...]]] = []

    def __call__(self, path: str, lines: Sequence[str]) -> Sequence[Provenance]:
        self.asked.append((path, tuple(lines)))
        return [OWNER] * len(lines)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "memory").mkdir()
    return tmp_path


def source(root: Path, classify: Classifier | None = None) -> SourceProvider:
    return WorkspaceSource(Workspace(root), classify or Classifier())


def document(root: Path, path: str, data: str | bytes) -> SourceDocument:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
    found = source(root).read(path)
    assert isinstance(found, SourceDocument)
    return found


def numbered(found: SourceDocument) -> list[tuple[int, str]]:
    return [(line.number, line.text) for line in found.lines]


def test_a_note_is_read_with_its_lines_day_and_provenance(root: Path) -> None:
    data = b"\xef\xbb\xbf# Day\r\n\r\ntext\r\n"
    (root / "memory" / "2026-09-01-trip.md").write_bytes(data)
    classify = Classifier()
    found = source(root, classify).read("memory/2026-09-01-trip.md")
    assert isinstance(found, SourceDocument)
    assert numbered(found) == [(1, "# Day"), (2, ""), (3, "text")]
    assert {line.provenance for line in found.lines} == {OWNER}
    assert (found.hash, found.curated, found.date) == (sha256(data), False, datetime(2026, 9, 1, tzinfo=UTC))
    assert classify.asked == [("memory/2026-09-01-trip.md", ("# Day", "", "text"))]
    assert source(root).corpus is Corpus.MEMORY


def test_curated_files_are_evergreen_and_keep_their_comments(root: Path) -> None:
    found = document(
        root, "MEMORY.md", "- since 2026-09-01 <!-- importance: 3 -->\n<!-- openclaw-memory-promotion:k -->\n- b\n"
    )
    assert (found.curated, found.date) == (True, None)
    assert numbered(found)[:2] == [
        (1, "- since 2026-09-01 <!-- importance: 3 -->"),
        (2, "<!-- openclaw-memory-promotion:k -->"),
    ]
    assert document(root, "memory/topics.md", "x").date is None


def test_front_matter_and_generated_blocks_are_left_out_and_numbers_stay(root: Path) -> None:
    found = document(
        root,
        "memory/a.md",
        "---\ntitle: x\n---\none\n<!-- openclaw:dreaming:light:start -->\n- learned\n<!-- openclaw:dreaming:light:end -->\n"
        "two\n<!-- openclaw:dreaming:rem:start -->\nno end\n",
    )
    assert numbered(found) == [(4, "one"), (8, "two"), (9, "<!-- openclaw:dreaming:rem:start -->"), (10, "no end")]
    assert found.notices == ("memory/a.md: line 9: the block openclaw:dreaming:rem has no end",)


def test_a_file_of_which_something_new_is_recorded_looks_changed_and_reads_as_another(root: Path) -> None:
    (root / "memory" / "a.md").write_text("one\n", encoding="utf-8")
    known = {"memory/a.md": 1}
    place = WorkspaceSource(Workspace(root), Classifier(), revisions=lambda: known)
    before = place.scan().stats[0], place.read("memory/a.md")
    assert (place.scan().stats[0], place.read("memory/a.md")) == before
    known["memory/a.md"] = 2
    after = place.scan().stats[0], place.read("memory/a.md")
    assert after[0].mtime_ns != before[0].mtime_ns
    assert isinstance(before[1], SourceDocument)
    assert isinstance(after[1], SourceDocument)
    assert after[1].hash != before[1].hash


def test_lines_nobody_vouches_for_are_untrusted(root: Path) -> None:
    (root / "memory" / "a.md").write_text("one\ntwo\n", encoding="utf-8")
    found = WorkspaceSource(Workspace(root), lambda path, lines: [OWNER]).read("memory/a.md")
    assert isinstance(found, SourceDocument)
    assert [line.provenance for line in found.lines] == [OWNER, UNKNOWN]
    assert UNKNOWN.origin is SourceClass.UNTRUSTED


def test_enc_04_odd_files_are_read_or_skipped_one_by_one(root: Path) -> None:
    for number in range(5):
        (root / "memory" / f"good{number}.md").write_text("fine", encoding="utf-8")
    (root / "memory" / "odd.md").write_bytes(b"a \xc3\x28")
    (root / "memory" / "latin.md").write_bytes("Käse".encode("latin-1"))
    (root / "memory" / "wide.md").write_bytes("Käse".encode("utf-16"))
    provider = source(root)
    found = {one.path: provider.read(one.path) for one in provider.scan().stats}
    assert len(found) == 8
    assert found.pop("memory/wide.md") == Skipped("memory/wide.md", "UTF-16 text")
    assert all(isinstance(one, SourceDocument) for one in found.values())
    named = {path for path, one in found.items() if isinstance(one, SourceDocument) and one.notices}
    assert named == {"memory/odd.md", "memory/latin.md"}


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("memory/gone.md", "vanished"),
        ("DREAMS.md", "not indexed"),
        ("users/ann/USER.md", "not indexed"),
        ("memory/.git/a.md", "not indexed"),
        ("memory/../AGENTS.md", "not indexed"),
        ("memory/link.md", "symbolic link"),
        ("memory/folder.md", "folder"),
    ],
)
def test_what_is_not_indexed_is_skipped_with_its_reason(root: Path, path: str, reason: str) -> None:
    for name in ("DREAMS.md", "AGENTS.md", "users/ann/USER.md", "memory/.git/a.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x", encoding="utf-8")
    (root / "memory" / "link.md").symlink_to(root / "AGENTS.md")
    (root / "memory" / "folder.md").mkdir()
    assert source(root).read(path) == Skipped(path, reason)


def test_idx_15_a_folder_that_held_indexed_notes_and_is_gone_is_reported(root: Path) -> None:
    (root / "memory" / "a.md").write_text("x", encoding="utf-8")
    assert source(root).scan(known=["memory/a.md"]).missing_root is None
    (root / "memory").rename(root / "away")
    assert source(root).scan(known=["memory/a.md"]).missing_root == str(root / "memory")
    assert source(root).scan(known=["MEMORY.md"]).missing_root is None
    assert source(root).scan().missing_root is None


def test_enc_05_reading_does_not_depend_on_the_locale_of_the_machine(root: Path) -> None:
    (root / "memory" / "cheese.md").write_bytes("Käse für 🦊\n".encode())
    code = (
        "import sys; from pathlib import Path; from reverie.workspace.notes import Workspace;"
        "w = Workspace(Path(sys.argv[1])); p = w.scan().stats[0].path;"
        "sys.stdout.buffer.write((p + '|' + w.read_lines(p).text).encode('utf-8', 'surrogateescape'))"
    )
    outputs = []
    for locale in ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, {"LC_ALL": "C.UTF-8"}):
        environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(sys.path), **locale}
        outputs.append(
            subprocess.run(
                [sys.executable, "-c", code, str(root)], env=environment, capture_output=True, check=True
            ).stdout
        )
    assert outputs[1] == "memory/cheese.md|Käse für 🦊".encode()
    assert outputs[0] == outputs[1]
