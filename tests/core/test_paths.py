import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.errors import StoreUnwritable
from reverie.core.paths import Paths, agent_id, make_folder


def test_without_any_setting_everything_is_below_the_home_folder(tmp_path):
    paths = Paths.resolve(env={"HOME": str(tmp_path)})
    state = tmp_path / ".reverie"
    assert (paths.state, paths.workspace) == (state, state / "workspace")
    assert paths.config_file == state / "reverie.json5"
    assert paths.agent("main") == state / "agents" / "main"
    assert paths.memory_db("main") == state / "agents" / "main" / "memory.sqlite"
    assert paths.index_db("main") == state / "agents" / "main" / "index.sqlite"
    assert paths.sessions("main") == state / "agents" / "main" / "sessions"
    assert {paths.locks, paths.cache} == {state / "locks", state / "cache"}


def test_arguments_win_over_the_environment(tmp_path):
    env = {"HOME": str(tmp_path), "REVERIE_STATE_DIR": "~/state", "REVERIE_WORKSPACE": str(tmp_path / "notes")}
    paths = Paths.resolve(env=env)
    assert (paths.state, paths.workspace) == (tmp_path / "state", tmp_path / "notes")
    assert paths.workspace_given
    given_paths = Paths.resolve(tmp_path / "a", tmp_path / "b", env)
    assert (given_paths.state, given_paths.workspace) == (tmp_path / "a", tmp_path / "b")


def test_sil_05_empty_variables_mean_unset(tmp_path):
    env = {"HOME": str(tmp_path), "REVERIE_STATE_DIR": "", "REVERIE_WORKSPACE": "  "}
    paths = Paths.resolve(env=env)
    assert paths.state == tmp_path / ".reverie"
    assert not paths.workspace_given


def test_dur_15_nothing_is_created_in_the_current_folder_or_the_package(tmp_path):
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    program = (
        "from reverie.core.config import Paths, load_config, set_value\n"
        "paths = Paths.resolve()\n"
        "load_config(paths).agent('helper')\n"
        "assert not paths.state.exists()\n"
        "set_value(paths, 'memory.citations', 'on')\n"
    )
    env = {name: value for name, value in os.environ.items() if not name.startswith("REVERIE_")}
    env |= {"HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    ran = subprocess.run([sys.executable, "-c", program], cwd=here, env=env, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert list(here.iterdir()) == []
    assert {path.name for path in home.iterdir()} == {".reverie"}


@pytest.mark.parametrize(
    ("text", "ident"),
    [
        ("", "main"),
        ("  ", "main"),
        ("Main", "main"),
        ("work_2", "work_2"),
        ("My Agent!", "my-agent"),
        ("../../etc", "etc"),
        ("记忆", "main"),
        ("-x-", "x"),
        ("a" * 70, "a" * 64),
    ],
)
def test_agent_ids_have_one_normal_form(text, ident):
    assert agent_id(text) == ident


@given(st.text(max_size=80))
def test_no_agent_id_leaves_its_folder(text):
    paths = Paths(Path("/state"), Path("/state/workspace"), Path("/home"))
    assert paths.agent(text).parent == Path("/state/agents")
    assert agent_id(agent_id(text)) == agent_id(text)


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StoreUnwritable, match="cannot be made"):
        make_folder(tmp_path / "file" / "state")


def test_a_new_folder_is_private(tmp_path):
    assert make_folder(tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o700
