"""The cache folder is built whole or not at all, once, and again when it no longer fits."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from reverie.core.errors import EmbedderUnavailable
from reverie.providers.bundled import build, weights
from reverie.providers.bundled.embedder import BundledEmbedder

OPEN_AND_PRINT = """
import sys
from pathlib import Path
from reverie.providers.bundled.embedder import BundledEmbedder
steps = []
embedder = BundledEmbedder.open(Path(sys.argv[1]), progress=lambda what, part: steps.append(what))
print(len(steps), embedder.embed_query("the same question").tobytes().hex())
"""
BUILD_AND_DIE = """
import os, signal, sys
from pathlib import Path
from reverie.providers.bundled.embedder import BundledEmbedder
def die(what, part):
    if part >= 0.9:
        os.kill(os.getpid(), signal.SIGKILL)
BundledEmbedder.open(Path(sys.argv[1]), progress=die)
"""


@pytest.fixture
def own_root(bundled_root: Path, tmp_path: Path) -> Path:
    """A copy of the finished build that a test may damage."""
    shutil.copytree(bundled_root, tmp_path, dirs_exist_ok=True)
    return tmp_path


def visible_names(root: Path) -> set[str]:
    return {path.name for path in root.iterdir()} - {f"{build.FOLDER_NAME}.lock"}


def start(script: str, root: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", script, str(root)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")


def test_a_finished_build_is_whole_and_leaves_nothing_beside_it(bundled_root: Path) -> None:
    folder = bundled_root / build.FOLDER_NAME
    assert {path.name for path in folder.iterdir()} == {*build.FILES, build.META_NAME}
    assert build.damaged_files(folder) == []
    assert visible_names(bundled_root) == {build.FOLDER_NAME}


@pytest.mark.usefixtures("bundled_root")
def test_two_processes_at_once_build_once_and_agree(tmp_path: Path) -> None:
    running = [start(OPEN_AND_PRINT, tmp_path) for _ in range(2)]
    finished = [process.communicate(timeout=120) for process in running]
    assert [process.returncode for process in running] == [0, 0], finished
    (steps_a, vector_a), (steps_b, vector_b) = (output.split() for output, _ in finished)
    assert vector_a == vector_b
    assert sorted([int(steps_a) > 0, int(steps_b) > 0]) == [False, True]
    assert visible_names(tmp_path) == {build.FOLDER_NAME}


@pytest.mark.usefixtures("bundled_root")
def test_a_killed_build_leaves_nothing_half_and_the_next_one_cleans_up(tmp_path: Path) -> None:
    killed = start(BUILD_AND_DIE, tmp_path)
    killed.communicate(timeout=120)
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / build.FOLDER_NAME).exists()
    assert BundledEmbedder.open(tmp_path).embed_query("anything").any()
    assert visible_names(tmp_path) == {build.FOLDER_NAME}


def test_opening_a_finished_build_does_not_build_again(bundled_root: Path) -> None:
    steps: list[str] = []
    BundledEmbedder.open(bundled_root, progress=lambda what, _part: steps.append(what))
    assert steps == []


def test_a_build_of_another_format_is_replaced(own_root: Path) -> None:
    meta_path = own_root / build.FOLDER_NAME / build.META_NAME
    meta = json.loads(meta_path.read_text(encoding="utf-8"))
    meta_path.write_text(json.dumps(meta | {"format": build.FORMAT + 1}), encoding="utf-8")
    parts: list[float] = []
    BundledEmbedder.open(own_root, progress=lambda _what, part: parts.append(part))
    assert parts == sorted(parts)
    assert (parts[0], parts[-1]) == (0.0, 1.0)
    assert build.damaged_files(own_root / build.FOLDER_NAME) == []
    assert visible_names(own_root) == {build.FOLDER_NAME}


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 1}', "null"])
def test_unusable_meta_data_counts_as_no_build(tmp_path: Path, content: str) -> None:
    (tmp_path / build.META_NAME).write_text(content, encoding="utf-8")
    assert build.read_meta(tmp_path) is None


def test_a_shortened_file_counts_as_no_build(own_root: Path) -> None:
    folder = own_root / build.FOLDER_NAME
    with (folder / build.DATA_NAME).open("r+b") as file:
        file.truncate(1000)
    assert build.read_meta(folder) is None


def test_a_graph_overwritten_by_rubbish_is_built_again(own_root: Path) -> None:
    folder = own_root / build.FOLDER_NAME
    size = (folder / build.MODEL_NAME).stat().st_size
    (folder / build.MODEL_NAME).write_bytes(b"\xff" * size)
    assert build.damaged_files(folder) == [build.MODEL_NAME]
    assert BundledEmbedder.open(own_root).embed_query("anything").any()
    assert build.damaged_files(folder) == []


def test_another_weight_file_is_refused(tmp_path: Path) -> None:
    impostor = tmp_path / weights.FILE_NAME
    impostor.write_bytes(b"E5S1" + bytes(100))
    with pytest.raises(EmbedderUnavailable, match="not the pinned file"):
        build.ensure(tmp_path / "cache", impostor)
    assert visible_names(tmp_path / "cache") == set()


def test_a_cache_root_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(EmbedderUnavailable, match="cannot be built"):
        build.ensure(tmp_path / "file" / "cache", tmp_path / weights.FILE_NAME)
