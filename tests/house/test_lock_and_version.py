"""What is installed is what was locked, and every page agrees on the version."""

import os
import re
import subprocess
import sys
import tomllib

import pytest

PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;]+)", re.MULTILINE)
HASH = re.compile(r"^    --hash=sha256:[0-9a-f]{64}( \\)?$")
LOCKS = ["requirements/locked.txt", "requirements/runtime.txt"]


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(root, lock):
    return {(plain(m["name"]), m["version"]) for m in PIN.finditer((root / lock).read_text(encoding="utf-8"))}


def wanted(root, *extras):
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = list(project["dependencies"])
    for extra in extras:
        lines += project["optional-dependencies"][extra]
    return {plain(re.match(r"[A-Za-z0-9._-]+", line)[0]) for line in lines}


@pytest.mark.parametrize("lock", LOCKS)
def test_the_lock_holds_no_address(root, lock):
    text = (root / lock).read_text(encoding="utf-8")
    assert text.count("==") > 10
    assert ":" + "//" not in text
    assert re.findall(r"^(?:-i|-f|--\S*index\S*|--find-links)\b.*", text, re.MULTILINE) == []


@pytest.mark.parametrize("lock", LOCKS)
def test_every_line_of_the_lock_is_a_comment_an_exact_version_or_a_hash(root, lock):
    lines = (root / lock).read_text(encoding="utf-8").splitlines()
    odd = [line for line in lines if not (line.startswith("#") or PIN.match(line) or HASH.match(line))]
    assert odd == []


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_a_hash(root, lock):
    lines = (root / lock).read_text(encoding="utf-8").splitlines()
    bare = [
        line for line, after in zip(lines, [*lines[1:], ""], strict=True) if PIN.match(line) and not HASH.match(after)
    ]
    assert bare == []


def test_every_dependency_is_locked(root):
    assert wanted(root, "local", "dev") - {name for name, _ in pins(root, "requirements/locked.txt")} == set()
    assert wanted(root, "local") - {name for name, _ in pins(root, "requirements/runtime.txt")} == set()


def test_both_locks_name_the_same_versions(root):
    assert pins(root, "requirements/runtime.txt") <= pins(root, "requirements/locked.txt")


def versions(root, project):
    return subprocess.run(
        [sys.executable, str(root / "scripts" / "versions.py"), str(project)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_version_and_changelog_agree(root):
    ran = versions(root, root)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize(
    ("changelog", "complaint"),
    [
        ("## [Unreleased]\n\n## [1.9.0] - 2026-01-01\n", "is version 2.0.0, the newest one in CHANGELOG.md is 1.9.0"),
        ("## [2.0.0] - 2026-01-01\n", "does not open with [Unreleased]"),
        ("## [Unreleased]\n\n## [2.0.0]\n", "gives version 2.0.0 no date"),
        ("## [Unreleased]\n", "the newest one in CHANGELOG.md is none"),
    ],
)
def test_a_changelog_that_disagrees_is_noticed(root, tmp_path, changelog, complaint):
    package = tmp_path / "src" / "reverie"
    package.mkdir(parents=True)
    (package / "_version.py").write_text('__version__ = "2.0.0"\n', encoding="utf-8")
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n" + changelog, encoding="utf-8")
    ran = versions(root, tmp_path)
    assert ran.returncode == 1
    assert complaint in ran.stderr


def test_the_installed_package_states_its_version(root):
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            "import importlib.metadata as m, reverie; print(reverie.__version__, m.version('reverie-memory'))",
        ],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        env={**os.environ, "PYTHONPATH": ""},
    )
    stated, installed = ran.stdout.split()
    assert stated == installed
