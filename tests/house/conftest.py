"""What the house tests look at: the project's files, read and parsed once."""

import ast
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Source:
    """One Python file of the project."""

    name: str  # relative to the project's folder, with slashes
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, filename=self.name)

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.name.split("/"))

    def at(self, node: ast.AST, remark: str) -> str:
        return f"{self.name}:{getattr(node, 'lineno', 0)}: {remark}"


def project_files() -> Iterator[Path]:
    """Yield every file that is, or is about to be, under version control."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    ).stdout
    for name in sorted(filter(None, listed.split("\0"))):
        if (ROOT / name).is_file():
            yield ROOT / name


def read_sources(*folders: str) -> list[Source]:
    found = []
    for path in project_files():  # not what is only installed or built in these folders
        name = path.relative_to(ROOT).as_posix()
        if path.suffix == ".py" and name.split("/")[0] in folders:
            found.append(Source(name, path.read_text(encoding="utf-8")))
    return found


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def files() -> list[Path]:
    return list(project_files())


@pytest.fixture(scope="session")
def product() -> list[Source]:
    """The package itself."""
    return read_sources("src")


@pytest.fixture(scope="session")
def everything() -> list[Source]:
    """The package, its tests, its benchmarks and its scripts."""
    return read_sources("src", "tests", "bench", "scripts")


@pytest.fixture(scope="session")
def house_source() -> type[Source]:
    """Build a source out of a name and a text, to show that a check notices what it should."""
    return Source
