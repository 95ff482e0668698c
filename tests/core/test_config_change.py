"""Setting and unsetting keys in the file."""

import multiprocessing
import os

import pyjson5
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.config import get_value, load_config, set_value, unset_value
from reverie.core.config.change import HEADER
from reverie.core.errors import ConfigError, ReverieError, StoreBusy, StoreUnwritable, UsageError
from reverie.core.paths import Paths


@pytest.fixture
def paths(tmp_path):
    return Paths.resolve(env={"HOME": str(tmp_path)})


def write(paths, text):
    paths.state.mkdir(parents=True, exist_ok=True)
    paths.config_file.write_bytes(text.encode("utf-8"))
    return text


def content(paths):
    return paths.config_file.read_bytes().decode("utf-8")


def test_the_first_key_makes_a_private_file_that_explains_itself(paths):
    set_value(paths, "memory.search.query.maxResults", "8")
    expected = "{\n  memory: {\n    search: {\n      query: {\n        maxResults: 8,\n      },\n    },\n  },\n}\n"
    assert content(paths) == HEADER + expected
    assert paths.config_file.stat().st_mode & 0o777 == 0o600
    assert {path.name for path in paths.state.iterdir()} == {"reverie.json5", "locks"}


@pytest.mark.parametrize(
    ("key", "raw", "value"),
    [
        ("memory.search.query.maxResults", "8", 8),
        ("memory.search.query.maxResults", ' "8" ', 8),
        ("memory.search.query.minScore", ".5", 0.5),
        ("memory.search.provider", "openai", "openai"),
        ("memory.search.provider", "'openai'", "openai"),
        ("memory.search.model", "123", "123"),
        ("memory.search.model", "a b // c", "a b // c"),
        ("memory.search.enabled", "false", False),
        ("memory.citations", "off", "off"),
        ("tools.external", "['web', \"mail\"]", ["web", "mail"]),
        ("session.maintenance.pruneAfter", "45d", "45d"),
        ("session.maintenance.pruneAfter", "45", "45d"),
        ("session.maintenance.maxDiskBytes", "false", False),
        ("session.maintenance.maxDiskBytes", "1kb", 1024),
        ("agents.entries.Helper.memory.search.query.maxResults", "2", 2),
        ('session.identityLinks["ann.b"]', "['chat:1']", ["chat:1"]),
        ("memory.search.query", "{maxResults: 9, minScore: 0}", {"maxResults": 9, "minScore": 0, "minConfidence": 0.0}),
        ("plugins.entries.other.config.depth", "{a: [1, null]}", {"a": [1, None]}),
        ("memory.search.remote.apiKey", "${HIDDEN}", "***"),
    ],
)
def test_what_was_set_is_what_is_got(paths, key, raw, value):
    env = {"HIDDEN": "x"}
    set_value(paths, key, raw, env=env)
    assert get_value(load_config(paths, env=env), key) == value


@pytest.mark.parametrize(
    ("key", "raw", "words"),
    [
        ("memory.search.query.maxResults", "0", "expected whole number of at least 1, got 0"),
        ("memory.search.query.maxResults", "some", 'got the text "some"'),
        ("memory.search.query.maxResult", "5", "no such key"),
        ("memory.search.query", "{maxResult: 5}", "not a known key"),
        ("memory.search", "5", "expected object"),
        ("memory.citations", "[", "expected one of auto, on, off"),
        ("tools.external", "web", "expected a list of text"),
        ("session.maintenance.pruneAfter", "soon", "expected duration"),
        ("agents.defaults.memorySearch.model", "m", "has moved to memory.search.model"),
        ("memory.backend", "qmd", "no effect any more"),
        ("memory.search.remote.apiKey", "${NOT_SET}", "NOT_SET is not set"),
        ("memory.search.chunking.overlap", "400", "must be less than"),
        ("memory.search.model", "// only a comment", None),
    ],
)
def test_a_wrong_value_is_refused_before_anything_is_written(paths, key, raw, words):
    before = write(paths, "{a: 1, /* kept */}")
    if words is None:
        set_value(paths, key, raw, env={})
        assert get_value(load_config(paths, env={}), key) == raw
        return
    with pytest.raises(ConfigError, match=r".*") as raised:
        set_value(paths, key, raw, env={})
    assert words in str(raised.value)
    assert content(paths) == before


def test_a_key_can_be_mended_while_another_is_wrong(paths):
    write(paths, "{memory: {citations: 'loud'}, cron: {enabled: 'maybe'}}")
    set_value(paths, "cron.enabled", "true")
    with pytest.raises(ConfigError, match="citations"):
        load_config(paths, env={})
    set_value(paths, "memory.citations", "on")
    assert load_config(paths, env={}).agent().citations == "on"


def test_a_file_that_is_no_json5_is_not_touched(paths):
    before = write(paths, "{memory: ")
    with pytest.raises(ConfigError, match="not JSON5"):
        set_value(paths, "memory.citations", "on")
    with pytest.raises(ConfigError, match="not JSON5"):
        unset_value(paths, "memory.citations")
    assert content(paths) == before


def test_unsetting_brings_the_default_back_and_keeps_the_comments(paths):
    write(paths, "{\n  // how\n  memory: {citations: 'on', /* x */},\n  cron: {enabled: false},\n}\n")
    assert unset_value(paths, "memory.citations")
    assert content(paths) == "{\n  // how\n  memory: {/* x */},\n  cron: {enabled: false},\n}\n"
    assert not unset_value(paths, "memory.citations")
    assert load_config(paths, env={}).agent().citations == "auto"


def test_sil_05_setting_an_empty_text_unsets(paths):
    write(paths, "{memory: {citations: 'on'}}")
    assert set_value(paths, "memory.citations", " ") is None
    assert content(paths) == "{memory: {}}"


def test_a_key_that_is_unknown_or_old_can_be_taken_out(paths):
    write(paths, "{zebra: 1, memory: {backend: 'qmd'}}")
    assert unset_value(paths, "zebra")
    assert unset_value(paths, "memory.backend")
    assert load_config(paths, env={}).warnings == ()
    with pytest.raises(UsageError):
        unset_value(paths, "a..b")


def test_nothing_is_made_by_unsetting_where_no_file_is(paths):
    assert not unset_value(paths, "memory.citations")
    assert not paths.state.exists()


def test_another_file_can_be_changed_and_a_link_to_it_stays_a_link(paths, tmp_path):
    real = tmp_path / "dotfiles" / "real.json5"
    real.parent.mkdir()
    real.write_text("{}", encoding="utf-8")
    real.chmod(0o644)
    link = tmp_path / "link.json5"
    link.symlink_to(real)
    set_value(paths, "memory.citations", "on", file=link)
    assert link.is_symlink()
    assert pyjson5.decode(real.read_text(encoding="utf-8")) == {"memory": {"citations": "on"}}
    assert real.stat().st_mode & 0o777 == 0o644
    assert [path.name for path in real.parent.iterdir()] == ["real.json5"]


def test_a_state_folder_that_cannot_be_written_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    paths = Paths.resolve(tmp_path / "file" / "state")
    assert load_config(paths, env={}).source is None
    with pytest.raises(StoreUnwritable) as raised:
        set_value(paths, "memory.citations", "on")
    assert "REVERIE_STATE_DIR" in raised.value.hint


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is closed to the superuser")
def test_a_read_only_state_folder_is_one_clear_error_and_the_file_stays(paths):
    before = write(paths, "{}")
    paths.state.chmod(0o500)
    try:
        with pytest.raises(StoreUnwritable):
            set_value(paths, "memory.citations", "on")
    finally:
        paths.state.chmod(0o700)
    assert content(paths) == before


def test_dur_07_a_change_that_fails_on_the_way_leaves_the_old_file_and_no_other(paths, monkeypatch):
    before = write(paths, "{memory: {citations: 'on'}}")

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("reverie.core.config.change.os.fsync", full)
    with pytest.raises(StoreUnwritable, match="No space left"):
        set_value(paths, "memory.citations", "off")
    assert content(paths) == before
    assert {path.name for path in paths.state.iterdir()} == {"reverie.json5", "locks"}


def test_dur_06_a_save_by_an_editor_in_between_is_not_lost(paths, monkeypatch):
    write(paths, "{cron: {enabled: true}}")
    real = os.fsync
    saved = []

    def fsync(handle):
        if not saved:
            saved.append(write(paths, "{cron: {enabled: false}, /* mine */}"))
        real(handle)

    monkeypatch.setattr("reverie.core.config.change.os.fsync", fsync)
    set_value(paths, "memory.citations", "off")
    assert "/* mine */" in content(paths)
    assert pyjson5.decode(content(paths)) == {"cron": {"enabled": False}, "memory": {"citations": "off"}}


def test_a_process_that_never_ends_its_change_is_not_waited_for_without_end(paths, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    before = write(paths, "{}")
    paths.locks.mkdir()
    monkeypatch.setattr("reverie.core.config.change.LOCK_SECONDS", 0)
    with (paths.locks / "config.lock").open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(StoreBusy):
            set_value(paths, "memory.citations", "on")
    assert content(paths) == before
    set_value(paths, "memory.citations", "on")


KEYS_BY_PROCESS = [[f"session.identityLinks.person{number}-{count}" for count in range(6)] for number in range(3)]


def set_all(state, keys, barrier):
    paths = Paths.resolve(state)
    barrier.wait()
    for key in keys:
        set_value(paths, key, "['chat:1']")


def test_dur_06_processes_that_set_different_keys_at_once_lose_none(paths):
    write(paths, "{\n  // mine\n  cron: {enabled: true}, // too\n}\n")
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(len(KEYS_BY_PROCESS))
    processes = [context.Process(target=set_all, args=(paths.state, keys, barrier)) for keys in KEYS_BY_PROCESS]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * len(processes)
    links = load_config(paths, env={}).data.session.identity_links
    assert sorted(links) == sorted(key.rpartition(".")[2] for keys in KEYS_BY_PROCESS for key in keys)
    assert content(paths).startswith("{\n  // mine\n  cron: {enabled: true}, // too\n")


names = st.sampled_from(
    ["memory.search.model", "memory.search.query.maxResults", "tools.external", "cron.enabled", "session.store"]
)


@given(names, st.text(max_size=30))
def test_any_text_is_either_set_and_got_or_refused(tmp_path_factory, name, raw):
    paths = Paths.resolve(tmp_path_factory.mktemp("state"))
    before = write(paths, "{\n  // keep\n  cron: {enabled: true}, // me\n}\n")
    try:
        value = set_value(paths, name, raw, env={})
    except ReverieError:
        assert content(paths) == before
        return
    shown = get_value(load_config(paths, env={}), name)
    assert shown == value or str(shown) == str(value).strip() or value is None
    assert "// keep" in content(paths)
    assert "// me" in content(paths)
