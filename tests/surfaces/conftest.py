"""A state folder and a workspace for each test, and the command, in process and as a process of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from reverie.providers.bundled.embedder import BundledEmbedder
from reverie.surfaces.cli import main

SOURCE = Path(__file__).resolve().parents[2] / "src"


@dataclass(frozen=True)
class Ran:
    """What a run of the command left behind."""

    status: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        return json.loads(self.out)

    @property
    def rows(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, state: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sees the memory of whoever runs it; none leaves anything where it runs."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("REVERIE_STATE_DIR", str(state))
    monkeypatch.setenv("REVERIE_WORKSPACE", str(workspace))
    monkeypatch.setenv("TZ", "Europe/Berlin")


@pytest.fixture
def run() -> Callable[..., Ran]:
    """Run the command in this process."""

    def call(*arguments: str, stdin: str | bytes = "") -> Ran:
        result = CliRunner().invoke(main, arguments, input=stdin, catch_exceptions=False)
        return Ran(result.exit_code, result.stdout, result.stderr)

    return call


@pytest.fixture
def reverie(run: Callable[..., Ran], state: Path) -> Callable[..., Ran]:
    """Run the command in this process on a workspace that is there, by keywords only, which is quick."""
    assert run("init").status == 0
    assert run("config", "set", "memory.search.provider", "none").status == 0
    return run


@pytest.fixture
def process() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """Run the command in a process of its own; output comes as bytes."""

    def call(
        *arguments: str | bytes, stdin: bytes = b"", env: dict[str, str] | None = None, cwd: Path | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-W", "error", "-m", "reverie", *arguments],
            input=stdin,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": str(SOURCE), **(env or {})},
            cwd=cwd,
            timeout=120,
            check=False,
        )

    return call


@pytest.fixture(scope="session")
def built_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for the built model, so that it is built once for all tests that need it."""
    reason = BundledEmbedder.available()
    if reason is not None:
        pytest.skip(reason)
    return tmp_path_factory.mktemp("model")


@pytest.fixture
def with_model(state: Path, built_model: Path, run: Callable[..., Ran]) -> Callable[..., Ran]:
    """Run the command with the bundled embedder, whose built model all tests share."""
    assert run("init").status == 0
    shutil.rmtree(state / "cache", ignore_errors=True)
    (state / "cache").symlink_to(built_model, target_is_directory=True)
    return run


def write(folder: Path, name: str, *lines: str) -> Path:
    """Write a note."""
    target = folder / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return target


@pytest.fixture
def noted(workspace: Path) -> Callable[..., Path]:
    """Write a note into the workspace."""

    def call(name: str, *lines: Sequence[str] | str) -> Path:
        return write(workspace, name, *map(str, lines))

    return call
