"""Nothing in the project depends on, or gives away, where it was written; and its scripts are in order."""

import os
import re
import subprocess
import tomllib

# Put together here, since this file is read as well.
MACHINE_PATHS = ["/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/runner/"]
REGISTRY_HOSTS = ["py" + "pi.org", "python" + "hosted.org", "npm" + "js.org", "npm" + "js.com", "deb." + "debian.org"]
UNFINISHED = ["TO" + "DO", "FIX" + "ME"]
WRITTEN_BY_HAND = {"", ".md", ".py", ".sh", ".toml"}  # sample data may hold any word


def mentions(files, root, words):
    pattern = re.compile("|".join(re.escape(word) for word in words))
    found = []
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if pattern.search(line):
                found.append(f"{path.relative_to(root)}:{number}: {line.strip()[:80]}")
    return found


def test_no_file_names_a_path_of_the_machine_it_was_written_on(files, root):
    assert mentions(files, root, MACHINE_PATHS) == []


def test_no_file_names_a_package_registry(files, root):
    assert mentions(files, root, REGISTRY_HOSTS) == []


def test_no_file_leaves_a_note_about_unfinished_work(files, root):
    by_hand = [path for path in files if path.suffix in WRITTEN_BY_HAND]
    assert mentions(by_hand, root, UNFINISHED) == []


def test_a_forbidden_word_is_noticed(tmp_path):
    (tmp_path / "a.md").write_text("see " + REGISTRY_HOSTS[0] + "\n", encoding="utf-8")
    (tmp_path / "b.bin").write_bytes(b"\xff\xfe\x00")
    assert len(mentions(sorted(tmp_path.iterdir()), tmp_path, REGISTRY_HOSTS)) == 1


def scripts(root):
    return [path for path in sorted((root / "scripts").iterdir()) if path.is_file() and not path.suffix] + [
        root / ".ci/run"
    ]


def test_every_script_can_be_started_and_stops_at_the_first_failure(root):
    found = []
    for path in scripts(root):
        text = path.read_text(encoding="utf-8")
        if not os.access(path, os.X_OK):
            found.append(f"{path.name} cannot be executed")
        if not text.startswith("#!/usr/bin/env bash\n") or "\nset -euo pipefail\n" not in text:
            found.append(f"{path.name} lacks its first lines")
        if subprocess.run(["bash", "-n", str(path)], check=False).returncode != 0:
            found.append(f"{path.name} is no valid bash")
    assert found == []


def test_every_script_and_every_target_is_in_the_contributing_guide(root):
    guide = (root / "CONTRIBUTING.md").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z]+):", (root / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    names = [f"scripts/{path.name}" for path in scripts(root) if path.parent.name == "scripts"]
    names += [f"make {target}" for target in targets if target != "help"]
    assert [name for name in names if name not in guide] == []


def contracts(root):
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    return {contract["id"]: contract for contract in settings["tool"]["importlinter"]["contracts"]}


def rooms(root):
    return sorted(path.parent.name for path in (root / "src" / "reverie").glob("*/__init__.py"))


def test_every_room_is_on_the_map_and_has_a_floor(root):
    map_page = (root / "AGENTS.md").read_text(encoding="utf-8")
    placed = set(re.findall(r"\w+", " ".join(contracts(root)["floors"]["layers"])))
    assert rooms(root) != []
    assert [room for room in rooms(root) if f"`{room}`" not in map_page] == []
    assert [room for room in rooms(root) if room not in placed] == []


def test_every_room_is_closed_to_the_surfaces(root):
    open_to_surfaces = {"aio", "core", "memory", "plugins", "surfaces"}
    closed = {name.removeprefix("reverie.") for name in contracts(root)["surfaces"]["forbidden_modules"]}
    assert set(rooms(root)) - open_to_surfaces <= closed
