"""Layers, agents, variables, secrets, old places, projects, and the live file."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.config import PROJECT_KEYS, Config, LiveConfig, check, get_value, load_config
from reverie.core.config.section import nearest
from reverie.core.errors import ConfigError, UsageError
from reverie.core.paths import Paths


@pytest.fixture
def paths(tmp_path):
    return Paths.resolve(env={"HOME": str(tmp_path / "home")})


def write(paths, text):
    paths.state.mkdir(parents=True, exist_ok=True)
    paths.config_file.write_text(text, encoding="utf-8", newline="")
    return paths


def load(paths, text, **options) -> Config:
    return load_config(write(paths, text), env=options.pop("env", {}), **options)


# --- layers -----------------------------------------------------------------------------------------------------


def test_without_a_file_the_defaults_hold_and_nothing_is_created(paths):
    config = load_config(paths, env={})
    assert (config.source, config.warnings, config.default_agent) == (None, (), "main")
    assert not paths.state.exists()


def test_the_later_layer_wins(paths, tmp_path):
    text = """{
      memory: {search: {query: {maxResults: 10, minScore: 0.1}, mmr: {lambda: 0.1}, model: "file"}},
      agents: {entries: {helper: {memory: {search: {query: {maxResults: 30}}}}}},
    }"""
    (tmp_path / ".reverie.json5").write_text(
        "{memory: {search: {query: {maxResults: 20, minScore: 0.2}}}}", encoding="utf-8"
    )
    layers = {"project": tmp_path, "given": {"memory.search.query.minScore": 0.5}}
    config = load(paths, text, **layers)
    main, helper = config.agent("main").search, config.agent("helper").search
    assert (main.query.max_results, main.query.min_score, main.mmr.lambda_, main.model) == (20, 0.5, 0.1, "file")
    assert (helper.query.max_results, helper.query.min_score) == (30, 0.5)
    assert config.data.memory.search.query.max_results == 20
    given_too = load(paths, text, given={"memory.search.query.maxResults": 40})
    assert given_too.agent("helper").search.query.max_results == 40


def test_an_argument_of_the_wrong_kind_or_name_is_an_error(paths):
    with pytest.raises(ConfigError, match=r"maxResults: expected whole number"):
        load_config(paths, given={"memory.search.query.maxResults": "lots"}, env={})
    with pytest.raises(ConfigError, match="maxResult: is not a known key"):
        load_config(paths, given={"memory.search.query.maxResult": 3}, env={})


def test_sil_05_empty_arguments_mean_unset(paths):
    config = load_config(paths, given={"memory.search.provider": "", "memory.search.query.maxResults": None}, env={})
    assert config.agent().search.embedder is None
    assert config.agent().search.query.max_results == 6


def test_extra_paths_of_all_levels_are_joined_and_stand_below_the_workspace(paths):
    text = """{
      memory: {search: {extraPaths: ["notes", {path: "~/team", pattern: "*.md"}]}},
      agents: {entries: {main: {memory: {search: {extraPaths: ["/srv/docs", "notes"]}}}}},
    }"""
    roots = load(paths, text).agent().extra_roots
    assert [(str(root.path), root.pattern, root.outside) for root in roots] == [
        (str(paths.workspace / "notes"), None, False),
        (str(paths.home / "team"), "*.md", True),
        ("/srv/docs", None, True),
    ]


def test_a_file_that_was_named_must_be_there(paths, tmp_path):
    with pytest.raises(ConfigError, match="is not there"):
        load_config(paths, file=tmp_path / "other.json5", env={})


def test_the_configuration_does_not_change_under_its_reader(paths):
    config = load_config(paths, env={})
    with pytest.raises(AttributeError, match="frozen"):
        config.data.memory.search.query.max_results = 1
    with pytest.raises(TypeError):
        config.data.models.providers["x"] = None
    with pytest.raises(AttributeError):
        config.source = None


# --- agents -----------------------------------------------------------------------------------------------------


def test_each_agent_has_a_workspace_of_its_own(paths):
    config = load(paths, "{agents: {entries: {helper: {}, own: {workspace: '~/own'}}}}")
    assert config.agent().workspace == paths.state / "workspace"
    assert config.agent("helper").workspace == paths.state / "workspace-helper"
    assert config.agent("own").workspace == paths.home / "own"


def test_a_common_workspace_holds_one_folder_for_each_other_agent(paths):
    config = load(paths, "{agents: {defaults: {workspace: 'all'}}}")
    assert config.agent().workspace == paths.state / "all"
    assert config.agent("helper").workspace == paths.state / "all" / "helper"


def test_a_workspace_from_the_environment_wins_for_the_default_agent(tmp_path):
    env = {"HOME": str(tmp_path), "REVERIE_WORKSPACE": str(tmp_path / "mine")}
    config = load(
        Paths.resolve(env=env), "{agents: {entries: {main: {workspace: '/other'}, helper: {workspace: '/h'}}}}"
    )
    assert str(config.agent().workspace) == str(tmp_path / "mine")
    assert str(config.agent("helper").workspace) == "/h"


def test_agent_settings_are_merged_key_by_key(paths):
    text = """{agents: {
      defaults: {bootstrapMaxChars: 100, userTimezone: "Europe/Berlin", compaction: {mode: "default", notifyUser: true}},
      entries: {Helper: {bootstrapMaxChars: 50, compaction: {mode: "safeguard"}}},
    }}"""
    config = load(paths, text)
    main, helper = config.agent(), config.agent("HELPER ")
    assert helper is config.agent("helper")
    assert (main.bootstrap_max_chars, helper.bootstrap_max_chars) == (100, 50)
    assert (main.compaction.mode, helper.compaction.mode) == ("default", "safeguard")
    assert helper.compaction.notify_user
    assert helper.bootstrap_total_max_chars == 60000
    assert helper.memory_get_max_chars == 12000
    assert (helper.timezone, helper.dreaming_timezone) == ("Europe/Berlin", "Europe/Berlin")
    assert get_value(config, "agents.entries.Helper.bootstrapMaxChars") == 50
    assert config.agent_ids == ("main", "helper")


def test_the_marked_agent_is_the_default_one(paths):
    config = load(paths, "{agents: {entries: {a: {}, b: {default: true}}}}")
    assert config.agent().id == config.agent("").id == "b"


@pytest.mark.parametrize(
    ("text", "remembers"),
    [
        ("{}", True),
        ("{session: {dmScope: 'per-peer'}}", False),
        ("{session: {dmScope: 'per-agent'}}", True),
        ("{bindings: [{agentId: 'main', session: {dmScope: 'main'}}]}", False),
        ("{session: {dmScope: 'per-peer'}, memory: {search: {rememberAcrossConversations: true}}}", True),
        ("{memory: {search: {rememberAcrossConversations: false}}}", False),
    ],
)
def test_conversations_recall_each_other_only_where_one_person_talks(paths, text, remembers):
    agent = load(paths, text).agent()
    assert agent.remember_across_conversations is remembers
    assert agent.indexes_sessions is remembers


@pytest.mark.parametrize(
    ("text", "dreams", "recalls"),
    [
        ("{}", True, True),
        ("{plugins: {slots: {memory: 'none'}}}", False, False),
        ("{plugins: {deny: ['active-memory']}}", True, False),
        ("{plugins: {allow: ['active-memory']}}", False, True),
        ("{plugins: {enabled: false}}", False, False),
        (
            "{plugins: {entries: {'active-memory': {config: {mode: 'off'}}, 'memory-core': {enabled: false}}}}",
            False,
            False,
        ),
    ],
)
def test_a_step_that_is_switched_off_is_off(paths, text, dreams, recalls):
    agent = load(paths, text).agent()
    assert (agent.dreaming_enabled, agent.active_memory_enabled) == (dreams, recalls)


def test_lane_two_gets_only_memory_tools(paths):
    text = "{plugins: {entries: {'active-memory': {config: {toolsAllow: ['memory_get', 'exec', 'web_fetch', 'my_tool']}}}}}"
    assert load(paths, text).agent().active_memory_tools == ("memory_get", "my_tool")
    assert load(paths, "{}").agent().active_memory_tools == ("memory_search", "memory_get")
    assert load(paths, "{plugins: {slots: {memory: 'memory-lancedb'}}}").agent().active_memory_tools == (
        "memory_recall",
    )


def test_a_tool_that_is_external_cannot_be_trusted_too(paths):
    config = load(paths, "{tools: {external: ['fetch', 'mail'], trusted: ['fetch', 'calc']}}")
    assert config.agent().external_tools == {"fetch", "mail"}
    assert config.agent().trusted_tools == {"calc"}
    assert any("tools.trusted" in warning and "fetch" in warning for warning in config.warnings)


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("{}", 10 * 1024**3 * 4 // 5),
        ("{session: {maintenance: {maxDiskBytes: false}}}", None),
        ("{session: {maintenance: {maxDiskBytes: 1000, highWaterBytes: 4000}}}", 1000),
        ("{session: {maintenance: {maxDiskBytes: '1kb', highWaterBytes: 0}}}", 819),
        ("{session: {maintenance: {maxDiskBytes: 1}}}", 1),
    ],
)
def test_the_disk_goal_never_exceeds_the_budget(paths, text, goal):
    assert load(paths, text).data.session.maintenance.clean_up_to == goal


# --- problems ---------------------------------------------------------------------------------------------------


def test_an_unknown_key_is_warned_of_with_the_nearest_known_one(paths):
    config = load(paths, "{\n memory: {\n  serch: {},\n  search: {query: {maxresults: 3}}},\n zebra: 1}")
    assert len(config.warnings) == 3
    assert f"{paths.config_file}:3: memory.serch: is not a known key; did you mean memory.search?" in config.warnings
    assert any(
        "maxresults" in each and "did you mean memory.search.query.maxResults?" in each for each in config.warnings
    )
    assert any(each.endswith("zebra: is not a known key") for each in config.warnings)


@given(st.text(min_size=1, max_size=12))
def test_a_name_is_nearest_to_itself(name):
    assert nearest(name, [name, name + "x", "another"]) == name


def test_a_value_of_the_wrong_kind_is_named_with_its_line_and_what_was_expected(paths):
    with pytest.raises(ConfigError) as raised:
        load(paths, "{\n  memory: {\n    search: {query: {\n      maxResults: 'six'}}}}")
    error = raised.value
    assert 'memory.search.query.maxResults: expected whole number of at least 1, got the text "six"' in str(error)
    assert (error.fields["line"], error.fields["path"]) == (4, str(paths.config_file))


def test_check_lists_everything_errors_first(paths):
    write(paths, "{\n a: 1,\n memory: {citations: 5},\n cron: {enabled: 'maybe'},\n memory: {citations: 5}}")
    problems = check(paths, env={})
    assert [(each.error, each.key, each.line) for each in problems] == [
        (True, "cron.enabled", 4),
        (True, "memory.citations", 5),
        (False, "a", 2),
        (False, "memory", 5),
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [("{\n a: \n}", 3), ("[1]", 1), ("\n\n5", 3), ("{a: 'x}", 1)],
)
def test_a_file_that_is_no_json5_object_is_one_clear_error(paths, text, line):
    (problem,) = check(write(paths, text), env={})
    assert (problem.error, problem.line, problem.source) == (True, line, str(paths.config_file))
    with pytest.raises(ConfigError):
        load_config(paths, env={})


def test_bytes_that_are_no_utf8_are_named_with_their_line(paths):
    write(paths, "").config_file.write_bytes(b"{\n a: '\xff'}")
    with pytest.raises(ConfigError, match="not UTF-8") as raised:
        load_config(paths, env={})
    assert raised.value.fields["line"] == 2


def test_a_folder_in_place_of_the_file_and_a_huge_file_are_clear_errors(paths):
    paths.config_file.mkdir(parents=True)
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(paths, env={})
    paths.config_file.rmdir()
    write(paths, "//" + "x" * (4 * 1024 * 1024))
    with pytest.raises(ConfigError, match="too large"):
        load_config(paths, env={})


@pytest.mark.parametrize("text", ["", "\ufeff", "// nothing yet\n", "{}", "\ufeff{}\r\n"])
def test_an_empty_file_is_an_empty_configuration(paths, text):
    assert load(paths, text).warnings == ()


def test_an_embedder_that_nobody_knows_is_warned_of(paths):
    (warning,) = load(paths, "{memory: {search: {provider: 'olama'}}}").warnings
    assert "did you mean ollama?" in warning
    mine = "{memory: {search: {provider: 'mine'}}, models: {providers: {mine: {baseUrl: 'http://localhost:1'}}}}"
    assert load(paths, mine).warnings == ()


def test_settings_that_contradict_each_other_are_errors(paths):
    with pytest.raises(ConfigError, match="must be less than"):
        load(paths, "{memory: {search: {chunking: {tokens: 50}}}}")
    with pytest.raises(ConfigError, match="fallback: must be none"):
        load(paths, "{memory: {search: {fallback: 'openai', multimodal: {enabled: true}}}}")


# --- variables and secrets --------------------------------------------------------------------------------------

SECRET = "sk-very-secret"


def test_variables_are_replaced_and_numbers_in_them_are_numbers(paths):
    text = "{memory: {search: {model: 'm-${SIZE}', query: {maxResults: '${COUNT}'}, local: {modelPath: '$${SIZE}'}}}}"
    search = load(paths, text, env={"SIZE": "small", "COUNT": "9"}).agent().search
    assert (search.model, search.query.max_results, search.local.model_path) == ("m-small", 9, "${SIZE}")


@pytest.mark.parametrize("env", [{}, {"KEY": ""}])
def test_a_variable_that_is_not_set_is_an_error_that_names_it(paths, env):
    with pytest.raises(ConfigError, match="the environment variable KEY is not set") as raised:
        load(paths, "{\n memory: {search: {remote: {apiKey: '${KEY}'}}}}", env=env)
    assert raised.value.fields["line"] == 2


def test_i13_a_secret_is_never_shown(paths):
    text = """{
      memory: {search: {remote: {apiKey: "${KEY}", headers: {Auth: "Bearer ${KEY}"}}}},
      models: {providers: {x: {apiKey: {source: "env", id: "KEY"}, extra: "${KEY}", token: "sk-very-secret"}}},
      plugins: {entries: {y: {config: {apiKey: "sk-very-secret", other: ["${KEY}"]}}}},
    }"""
    config = load(paths, text, env={"KEY": SECRET})
    assert config.agent().search.remote.api_key == SECRET
    assert config.data.models.providers["x"].api_key == SECRET
    assert config.data.plugins.entries.others["y"].config["other"] == (SECRET,)
    for shown in (json.dumps(get_value(config)), repr(config), repr(config.agent()), str(config.warnings)):
        assert SECRET not in shown
    for key in ("memory.search.remote.apiKey", "memory.search.remote.headers.Auth", "models.providers.x.apiKey",
                "models.providers.x.extra", "models.providers.x.token", "plugins.entries.y.config.apiKey"):  # fmt: skip
        assert get_value(config, key) == "***"
    assert get_value(load_config(Paths.resolve(paths.state / "none"), env={}), "memory.search.remote.apiKey") is None


def test_i13_an_error_about_a_secret_does_not_tell_it(paths):
    text = "{memory: {search: {remote: {apiKey: 12345678}, query: {maxResults: '${KEY}'}}}}"
    shown = "\n".join(str(problem) for problem in check(write(paths, text), env={"KEY": SECRET}))
    assert "12345678" not in shown
    assert SECRET not in shown
    assert "the value of ${KEY}" in shown


# --- old places -------------------------------------------------------------------------------------------------

OLD = """{
  agents: {
    defaults: {
      memorySearch: {
        provider: "openai",
        query: {hybrid: {enabled: true, vectorWeight: 0.6, mmr: {enabled: false, lambda: 0.4},
                         temporalDecay: {enabled: true, halfLifeDays: 60}}, maxResults: 4},
        store: {path: "x.sqlite", vector: {enabled: false}},
        sync: {watch: false, intervalMinutes: 5},
        remote: {batch: {wait: true, enabled: true}},
      },
      compaction: {memoryFlush: {prompt: "p", systemPrompt: "s", softThresholdTokens: 1}},
    },
    list: [
      {id: "Home", workspace: "/home-ws", memorySearch: {query: {maxResults: 2}}},
      {id: "work", memorySearch: {qmd: {extraCollections: [{path: "/srv", name: "srv", pattern: "*.md"}]}}},
      {name: "nobody"},
    ],
  },
  memory: {backend: "qmd", qmd: {paths: [{name: "n", path: "/notes"}], sessions: {enabled: true}, rerank: true}},
  session: {idleMinutes: 90, maintenance: {pruneDays: 12, rotateBytes: "10mb"}, resetByType: {dm: {mode: "daily"}}},
  plugins: {entries: {"memory-core": {config: {dreaming: {phases: {deep: {recovery: {enabled: true}, limit: 3}}}}}}},
}"""


def test_old_places_are_read(paths):
    config = load(paths, OLD)
    home, work = config.agent("home"), config.agent("work")
    assert config.default_agent == "home"
    assert (home.search.provider, home.search.query.max_results, work.search.query.max_results) == ("openai", 2, 4)
    assert (home.search.mmr.enabled, home.search.mmr.lambda_, home.search.recency.half_life_days) == (False, 0.4, 60)
    assert (home.search.store.vector.enabled, home.search.sync.watch, home.search.remote.batch.enabled) == (
        False,
        False,
        True,
    )
    assert str(home.workspace) == "/home-ws"
    assert [str(root.path) for root in work.extra_roots] == ["/notes", "/srv"]
    assert home.search.experimental.session_memory
    assert home.compaction.memory_flush.soft_threshold_tokens == 1
    session = config.data.session
    assert (session.reset.mode, session.reset.idle_minutes, session.reset_by_type.direct.mode) == ("idle", 90, "daily")
    assert get_value(config, "session.maintenance.pruneAfter") == "12d"
    assert config.agent().dreaming.phases.deep.limit == 3


def test_every_old_place_is_reported_with_its_line(paths):
    warnings = load(paths, OLD).warnings
    for line, words in [
        (4, "agents.defaults.memorySearch: is an old place; it is read as memory.search"),
        (6, "it is read as memory.search.mmr.lambda"),
        (7, "it is read as memory.search.recency.halfLifeDays"),
        (6, "memory.search.query.hybrid: has no effect"),
        (8, "store.path: has no effect"),
        (9, "sync.intervalMinutes: has no effect"),
        (10, "remote.batch.wait: has no effect"),
        (12, "memoryFlush.prompt: has no effect"),
        (12, "memoryFlush.systemPrompt: has no effect"),
        (14, "agents.list: is an old place; it is read as agents.entries"),
        (14, "holds an agent without an id"),
        (20, "memory.backend: has no effect"),
        (20, "memory.qmd.paths: is an old place; it is read as memory.search.extraPaths"),
        (20, "memory.qmd: has no effect"),
        (21, "session.idleMinutes: is an old place"),
        (21, "session.maintenance.rotateBytes: has no effect"),
        (21, "session.resetByType.dm: is an old place"),
        (22, "phases.deep.recovery: has no effect"),
    ]:
        found = [each for each in warnings if words.removeprefix("memory.search.") in each]
        assert found, (words, warnings)
        assert any(f":{line}: " in each for each in found), (line, found)


def test_the_present_place_wins_over_an_old_one(paths):
    text = "{memory: {search: {model: 'new'}}, agents: {defaults: {memorySearch: {model: 'old', inputType: 'x'}}}}"
    search = load(paths, text).agent().search
    assert (search.model, search.input_type) == ("new", "x")


def test_an_error_in_an_old_place_is_shown_where_it_stands(paths):
    with pytest.raises(ConfigError, match=r"memory\.search\.query\.maxResults") as raised:
        load(paths, "{agents: {\n defaults: {\n memorySearch: {\n query: {maxResults: 0}}}}}")
    assert raised.value.fields["line"] == 4


def test_keys_of_the_gateway_are_let_be_in_one_sentence(paths):
    text = (
        "{gateway: {port: 1}, channels: {chat: {token: '${NOT_SET}'}}, agents: {defaults: {sandbox: {}}}, $schema: 's'}"
    )
    (warning,) = load(paths, text).warnings
    assert "$schema, agents.defaults.sandbox, channels, gateway" in warning


def test_a_file_that_is_included_is_not_followed_but_named(paths):
    (warning,) = load(paths, "{$include: './more.json5'}").warnings
    assert "$include" in warning
    assert "not followed" in warning


# --- projects ---------------------------------------------------------------------------------------------------


def test_a_project_may_set_only_what_is_harmless_and_the_rest_is_refused_by_name(paths, tmp_path):
    file = tmp_path / ".reverie.json5"
    text = """{
      memory: {
        citations: "off",
        search: {
          query: {maxResults: 3},
          remote: {baseUrl: "https://evil.example"},
          provider: "openai", extraPaths: ["/etc"]}},
      tools: {trusted: ["web_fetch"]},
      agents: {defaults: {memorySearch: {provider: "openai"}}},
      commands: {ownerAllowFrom: ["chat:evil"]},
      unknown: 1,
    }"""
    file.write_text(text, encoding="utf-8")
    config = load_config(paths, project=tmp_path, env={"HOME": "/x"})
    agent = config.agent()
    assert (agent.citations, agent.search.query.max_results) == ("off", 3)
    assert (agent.search.provider, agent.search.remote.base_url, agent.extra_roots) == (None, None, ())
    assert (agent.trusted_tools, agent.owner_allow_from) == (frozenset(), ())
    for line, name in [
        (6, "memory.search.remote.baseUrl"),
        (7, "memory.search.provider"),
        (7, "memory.search.extraPaths"),
        (8, "tools.trusted"),
        (10, "commands.ownerAllowFrom"),
        (11, "unknown"),
    ]:
        assert any(f"{file}:{line}: {name}: is refused" in warning for warning in config.warnings), name
    assert load_config(paths, project=file, env={}).warnings == config.warnings


@pytest.mark.parametrize(
    "text",
    ["{memory: {citations: 'loud'}}", "{memory: {citations: '${HOME}'}}", "{memory: ", "[1]", "{memory: {search: 5}}"],
)
def test_a_bad_project_file_stops_nothing(paths, tmp_path, text):
    (tmp_path / ".reverie.json5").write_text(text, encoding="utf-8")
    config = load_config(paths, project=tmp_path, env={"HOME": "secret-home"})
    assert config.agent().citations == "auto"
    assert len(config.warnings) == 1
    assert "secret-home" not in config.warnings[0]


def test_what_a_project_may_set_is_known_and_neither_address_nor_trust():
    config = load_config(Paths.resolve("/nonexistent"), env={})
    for key in PROJECT_KEYS:
        shown = json.dumps([key, get_value(config, key)]).lower()
        assert not any(word in shown for word in ("url", "key", "path", "prompt", "tool", "model", "provider"))


# --- one key ----------------------------------------------------------------------------------------------------


def test_a_single_key_or_all_below_it_can_be_asked_for(paths):
    config = load(paths, '{session: {identityLinks: {"a.b": ["chat:1"]}}}')
    assert get_value(config, "memory.search.query") == {"maxResults": 6, "minScore": 0.35, "minConfidence": 0.0}
    assert get_value(config, 'session.identityLinks["a.b"]') == ["chat:1"]
    assert get_value(config, "session.identityLinks.nobody") is None
    assert get_value(config, "agents.entries.nobody.memory.search.provider") is None
    assert set(get_value(config)) == set(get_value(config, "  ")) >= {"memory", "agents", "session"}
    json.dumps(get_value(config))


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("memory.search.query.maxResult", "memory.search.query.maxResults"),
        ("maxResults", "memory.search.query.maxResults"),
        ("agents.defaults.memorySearch.query.maxResults", "memory.search.query.maxResults"),
        ("agents.entries.x.memorySearch.model", "agents.entries.x.memory.search.model"),
        ("memory.search.store.path", "leave it out"),
        ("memory.citations.deeper", "`reverie config get`"),
        ("gateway.port", "gateway"),
    ],
)
def test_a_key_that_is_not_there_is_refused_with_the_way_to_go(paths, name, hint):
    with pytest.raises(ConfigError) as raised:
        get_value(load_config(paths, env={}), name)
    assert hint in raised.value.hint


@pytest.mark.parametrize("name", [".", "a..b", ".memory", "memory.", "memory[0]", 'memory["x'])
def test_what_is_no_name_of_a_key_is_wrong_usage(paths, name):
    with pytest.raises(UsageError):
        get_value(load_config(paths, env={}), name)


# --- live -------------------------------------------------------------------------------------------------------


def test_idx_14_a_changed_file_is_read_without_a_restart(paths):
    write(paths, "{memory: {search: {rememberAcrossConversations: false}}}")
    live = LiveConfig(paths, env={})
    first = live.current()
    assert live.current() is first
    assert not first.agent().indexes_sessions
    replaced(paths, "{memory: {search: {sources: ['memory', 'sessions'], rememberAcrossConversations: false}}}")
    assert live.current().agent().indexes_sessions


def test_a_changed_file_that_cannot_be_used_changes_nothing_and_says_so(paths):
    live = LiveConfig(write(paths, "{memory: {citations: 'on'}}"), env={})
    replaced(paths, "{memory: ")
    assert live.current().agent().citations == "on"
    assert live.problem is not None
    replaced(paths, "{memory: {citations: 'off'}}")
    assert live.current().agent().citations == "off"
    assert live.problem is None


def test_a_file_that_comes_or_goes_is_noticed(paths, tmp_path):
    live = LiveConfig(paths, project=tmp_path, env={})
    write(paths, "{memory: {citations: 'on'}}")
    assert live.current().agent().citations == "on"
    (tmp_path / ".reverie.json5").write_text("{memory: {citations: 'off'}}", encoding="utf-8")
    assert live.current().agent().citations == "off"
    (tmp_path / ".reverie.json5").unlink()
    paths.config_file.unlink()
    assert live.current().agent().citations == "auto"


def replaced(paths, text):
    """Write as an editor does: a new file takes the place of the old one."""
    new = paths.config_file.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(paths.config_file)
