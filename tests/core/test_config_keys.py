"""Every documented key: its default, what it accepts, what it refuses. The table is written by hand, not derived."""

import json

import pytest

from reverie.core.config import check, describe, get_value, load_config
from reverie.core.errors import ConfigError
from reverie.core.paths import Paths

SWITCH = ([True, False, "true"], ["yes", 1, [], {}])
TEXT = (["some-text"], [5, True, [], {}])
TEXTS = ([[], ["a", "b"]], ["a", 5, {}, [5]])
MODEL = (["provider/model"], [5, []])
RERANKERS = (["none", "late", "my-own"], ["A B", 5, []])
SHARE = ([0, 0.5, 1, "0.25"], [-0.01, 1.01, "half", True, []])
COUNT = ([0, 7, "7"], [-1, 1.5, "many", True, []])
POSITIVE = ([1, 7], [0, -1, 1.5, True])

FLUSH = "agents.defaults.compaction.memoryFlush"
COMPACTION = "agents.defaults.compaction"
PRUNING = "agents.defaults.contextPruning"
STARTUP = "agents.defaults.startupContext"
DREAMING = "plugins.entries.memory-core.config.dreaming"
EXCLUDE = "plugins.entries.memory-core.config.memoryPolicy.excludeSessions"
ACTIVE = "plugins.entries.active-memory.config"
WIKI = "plugins.entries.memory-wiki.config"
UPKEEP = "session.maintenance"


def within(low, high):
    return [low, high], [low - 1, high + 1, "x", True]


def words(*choices):
    return list(choices), ["something-else", 5, []]


# key, default, (accepted, refused)
SEARCH = [
    ("enabled", True, SWITCH),
    ("rememberAcrossConversations", None, SWITCH),
    ("sources", ["memory"], ([["memory", "sessions"], ["sessions"]], ["memory", ["notes"], 5])),
    ("extraPaths", [], ([["~/notes"], [{"path": "x", "pattern": "*.md"}]], ["notes", [5], [{"path": 5}]])),
    ("multimodal.enabled", False, SWITCH),
    ("multimodal.modalities", [], ([["image"], ["audio"], ["all"]], [["video"], "image"])),
    ("multimodal.maxFileBytes", 10485760, POSITIVE),
    ("experimental.sessionMemory", False, SWITCH),
    ("provider", None, (["openai", "bundled", "use", "none", "auto", "ollama", "my.own"], [5, "two words", []])),
    ("model", None, TEXT),
    ("fallback", "none", TEXT),
    ("remote.baseUrl", None, (["https://models.example/v1"], ["models.example", 5])),
    ("remote.batch.enabled", False, SWITCH),
    ("inputType", None, TEXT),
    ("queryInputType", None, TEXT),
    ("documentInputType", None, TEXT),
    ("outputDimensionality", None, POSITIVE),
    ("local.modelPath", None, TEXT),
    ("store.fts.tokenizer", "unicode61", words("unicode61", "trigram")),
    ("store.vector.enabled", True, SWITCH),
    ("store.vector.extensionPath", None, TEXT),
    ("query.maxResults", 6, POSITIVE),
    ("query.minScore", 0.35, SHARE),
    ("cache.enabled", True, SWITCH),
    ("cache.maxEntries", 50000, COUNT),
    ("chunking.tokens", 200, ([101, 8000], [31, 8001, "x"])),
    ("chunking.overlap", 100, ([0, 199], [-1, 4001, "x"])),
    ("recency.enabled", True, SWITCH),
    ("recency.halfLifeDays", 30, ([1, 0.5, 3650], [0, -1, "x"])),
    ("recency.floor", 0.9, SHARE),
    ("importance.enabled", True, SWITCH),
    ("mmr.enabled", True, SWITCH),
    ("mmr.lambda", 0.7, SHARE),
    ("query.minConfidence", 0.0, SHARE),
    ("rerank.mode", "none", RERANKERS),
    ("rerank.candidates", 24, within(3, 200)),
    ("rerank.deadlineMs", 500, within(1, 60_000)),
    ("sync.watch", True, SWITCH),
    ("sync.watchDebounceMs", 1500, within(0, 600000)),
    ("sync.onSearch", True, SWITCH),
]

THINKING = ["off", "minimal", "low", "medium", "high", "xhigh", "adaptive", "max"]

KEYS = [
    ("memory.citations", "auto", words("auto", "on", "off")),
    *((f"memory.search.{name}", default, values) for name, default, values in SEARCH),
    ("plugins.enabled", True, SWITCH),
    ("plugins.allow", [], TEXTS),
    ("plugins.deny", [], TEXTS),
    ("plugins.load.paths", [], TEXTS),
    ("plugins.slots.memory", "memory-core", TEXT),
    ("plugins.slots.contextEngine", "legacy", TEXT),
    ("plugins.entries.memory-core.enabled", True, SWITCH),
    ("plugins.entries.memory-core.subagent.allowModelOverride", False, SWITCH),
    ("plugins.entries.memory-core.subagent.allowedModels", [], TEXTS),
    ("plugins.entries.active-memory.enabled", True, SWITCH),
    ("plugins.entries.memory-wiki.enabled", False, SWITCH),
    (f"{EXCLUDE}.hookExternalContentSources", [], TEXTS),
    (f"{EXCLUDE}.channels", [], TEXTS),
    (f"{EXCLUDE}.chatTypes", [], ([["direct", "group", "channel"]], [["dm"], "direct"])),
    (f"{DREAMING}.enabled", True, SWITCH),
    (f"{DREAMING}.frequency", "0 3 * * *", (["*/5 1-3 * * MON"], ["daily", "0 3 * *", "0 3 * * * *", 5])),
    (f"{DREAMING}.timezone", None, (["Europe/Berlin", "Asia/Tokyo"], ["Moon/Base", 5])),
    (f"{DREAMING}.model", None, MODEL),
    (f"{DREAMING}.execution.defaults.model", None, MODEL),
    (f"{DREAMING}.verboseLogging", False, SWITCH),
    (f"{DREAMING}.storage.mode", "separate", words("inline", "separate", "both")),
    (f"{DREAMING}.storage.separateReports", False, SWITCH),
    (f"{DREAMING}.phases.light.enabled", True, SWITCH),
    (f"{DREAMING}.phases.light.lookbackDays", 2, COUNT),
    (f"{DREAMING}.phases.light.limit", 100, COUNT),
    (f"{DREAMING}.phases.light.dedupeSimilarity", 0.9, SHARE),
    (f"{DREAMING}.phases.light.execution.model", None, MODEL),
    (f"{DREAMING}.phases.rem.enabled", True, SWITCH),
    (f"{DREAMING}.phases.rem.lookbackDays", 7, COUNT),
    (f"{DREAMING}.phases.rem.limit", 10, COUNT),
    (f"{DREAMING}.phases.rem.minPatternStrength", 0.75, SHARE),
    (f"{DREAMING}.phases.deep.enabled", True, SWITCH),
    (f"{DREAMING}.phases.deep.limit", 10, COUNT),
    (f"{DREAMING}.phases.deep.minScore", 0.75, SHARE),
    (f"{DREAMING}.phases.deep.minRecallCount", 3, COUNT),
    (f"{DREAMING}.phases.deep.minUniqueQueries", 3, COUNT),
    (f"{DREAMING}.phases.deep.recencyHalfLifeDays", 14, ([0, 14.5], [-1, "x"])),
    (f"{DREAMING}.phases.deep.maxAgeDays", 30, POSITIVE),
    (f"{DREAMING}.phases.deep.maxPromotedSnippetTokens", 160, POSITIVE),
    (f"{DREAMING}.phases.deep.maxPriorEntryLossFraction", 0.25, SHARE),
    (f"{ACTIVE}.enabled", True, SWITCH),
    (f"{ACTIVE}.mode", "escalate", words("escalate", "always", "off")),
    (f"{ACTIVE}.agents", [], TEXTS),
    (f"{ACTIVE}.model", None, MODEL),
    (f"{ACTIVE}.modelFallback", None, MODEL),
    (f"{ACTIVE}.modelFallbackPolicy", None, words("default-remote", "resolved-only")),
    (f"{ACTIVE}.allowedChatTypes", ["direct"], ([["direct", "group", "channel", "explicit"]], [["dm"], "group"])),
    (f"{ACTIVE}.allowedChatIds", [], TEXTS),
    (f"{ACTIVE}.deniedChatIds", [], TEXTS),
    (f"{ACTIVE}.thinking", "off", words(*THINKING)),
    (f"{ACTIVE}.fastMode", None, ([True, False, "auto"], ["fast", 5])),
    (f"{ACTIVE}.timeoutMs", 15000, within(250, 120000)),
    (f"{ACTIVE}.setupGraceTimeoutMs", 0, within(0, 30000)),
    (f"{ACTIVE}.queryMode", "recent", words("message", "recent", "full")),
    (
        f"{ACTIVE}.promptStyle",
        None,
        words("strict", "balanced", "contextual", "recall-heavy", "precision-heavy", "preference-only"),
    ),
    (f"{ACTIVE}.toolsAllow", None, ([["memory_search"]], [["*"], ["group:memory"], [f"t{i}" for i in range(33)]])),
    (f"{ACTIVE}.promptOverride", None, TEXT),
    (f"{ACTIVE}.promptAppend", None, TEXT),
    (f"{ACTIVE}.maxSummaryChars", 220, within(40, 1000)),
    (f"{ACTIVE}.recentUserTurns", 2, within(0, 4)),
    (f"{ACTIVE}.recentAssistantTurns", 1, within(0, 3)),
    (f"{ACTIVE}.recentUserChars", 220, within(40, 1000)),
    (f"{ACTIVE}.recentAssistantChars", 180, within(40, 1000)),
    (f"{ACTIVE}.logging", False, SWITCH),
    (f"{ACTIVE}.persistTranscripts", False, SWITCH),
    (f"{ACTIVE}.transcriptDir", "active-memory", (["a/b"], ["/tmp", "../up", "a/../../b", "~/x", "C:\\x"])),
    (f"{ACTIVE}.cacheTtlMs", 15000, within(1000, 120000)),
    (f"{ACTIVE}.circuitBreakerMaxTimeouts", 3, within(1, 20)),
    (f"{ACTIVE}.circuitBreakerCooldownMs", 60000, within(5000, 600000)),
    (f"{WIKI}.vaultMode", "isolated", words("isolated", "bridge", "unsafe-local")),
    (f"{WIKI}.vault.scope", "global", words("global", "agent")),
    (f"{WIKI}.vault.path", None, TEXT),
    (f"{WIKI}.vault.renderMode", "native", words("native", "obsidian")),
    (f"{WIKI}.bridge.enabled", False, SWITCH),
    (f"{WIKI}.bridge.readMemoryArtifacts", True, SWITCH),
    (f"{WIKI}.bridge.indexDreamReports", True, SWITCH),
    (f"{WIKI}.bridge.indexDailyNotes", True, SWITCH),
    (f"{WIKI}.bridge.indexMemoryRoot", True, SWITCH),
    (f"{WIKI}.bridge.followMemoryEvents", True, SWITCH),
    (f"{WIKI}.unsafeLocal.allowPrivateMemoryCoreAccess", False, SWITCH),
    (f"{WIKI}.unsafeLocal.paths", [], TEXTS),
    (f"{WIKI}.ingest.autoCompile", True, SWITCH),
    (f"{WIKI}.ingest.maxConcurrentJobs", 1, POSITIVE),
    (f"{WIKI}.ingest.allowUrlIngest", True, SWITCH),
    (f"{WIKI}.search.backend", "shared", words("shared", "local")),
    (f"{WIKI}.search.corpus", "wiki", words("wiki", "memory", "all")),
    (f"{WIKI}.context.includeCompiledDigestPrompt", False, SWITCH),
    (f"{WIKI}.render.preserveHumanBlocks", True, SWITCH),
    (f"{WIKI}.render.createBacklinks", True, SWITCH),
    (f"{WIKI}.render.createDashboards", True, SWITCH),
    (f"{WIKI}.obsidian.enabled", False, SWITCH),
    (f"{WIKI}.obsidian.useOfficialCli", False, SWITCH),
    (f"{WIKI}.obsidian.openAfterWrites", False, SWITCH),
    (f"{WIKI}.obsidian.vaultName", None, TEXT),
    (f"{FLUSH}.enabled", True, SWITCH),
    (f"{FLUSH}.model", None, MODEL),
    (f"{FLUSH}.softThresholdTokens", 4000, COUNT),
    (f"{FLUSH}.forceFlushTranscriptBytes", 2097152, ([0, 5, "2mb", "512 KB"], [-1, "big", True, []])),
    (f"{COMPACTION}.enabled", True, SWITCH),
    (f"{COMPACTION}.mode", "safeguard", words("default", "safeguard")),
    (f"{COMPACTION}.provider", None, TEXT),
    (f"{COMPACTION}.model", None, MODEL),
    (f"{COMPACTION}.thinkingLevel", "low", words("inherit", *THINKING)),
    (f"{COMPACTION}.timeoutSeconds", 180, POSITIVE),
    (f"{COMPACTION}.keepRecentTokens", 20000, COUNT),
    (f"{COMPACTION}.recentTurnsPreserve", 3, within(0, 12)),
    (f"{COMPACTION}.identifierPolicy", "strict", words("strict", "off", "custom")),
    (f"{COMPACTION}.identifierInstructions", None, TEXT),
    (f"{COMPACTION}.qualityGuard.enabled", True, SWITCH),
    (f"{COMPACTION}.qualityGuard.maxRetries", 1, within(0, 3)),
    (f"{COMPACTION}.midTurnPrecheck.enabled", False, SWITCH),
    (f"{COMPACTION}.postIndexSync", "async", words("off", "async", "await")),
    (f"{COMPACTION}.postCompactionSections", [], TEXTS),
    (f"{COMPACTION}.maxActiveTranscriptBytes", False, ([5, "2mb", False], ["big", -1])),
    (f"{COMPACTION}.notifyUser", False, SWITCH),
    (f"{COMPACTION}.reserveTokensFloor", 20000, COUNT),
    ("agents.defaults.bootstrapMaxChars", 20000, POSITIVE),
    ("agents.defaults.bootstrapTotalMaxChars", 60000, POSITIVE),
    ("agents.defaults.contextLimits.memoryGetMaxChars", 12000, within(1, 250000)),
    ("agents.defaults.contextInjection", "always", words("always", "continuation-skip", "never")),
    ("agents.defaults.userTimezone", None, (["America/New_York"], ["Berlin", 5])),
    ("agents.defaults.workspace", None, TEXT),
    ("agents.defaults.systemAgent.agentId", None, TEXT),
    (f"{STARTUP}.enabled", True, SWITCH),
    (f"{STARTUP}.applyOn", ["new", "reset"], ([["new"], ["reset"]], [["start"], "new"])),
    (f"{STARTUP}.dailyMemoryDays", 2, within(1, 14)),
    (f"{STARTUP}.maxFileBytes", 16384, within(1, 65536)),
    (f"{STARTUP}.maxFileChars", 1200, within(1, 10000)),
    (f"{STARTUP}.maxTotalChars", 2800, within(1, 50000)),
    (f"{PRUNING}.mode", "off", words("off", "cache-ttl")),
    (f"{PRUNING}.ttl", "5m", (["1h", 5, "90s"], [])),
    (f"{PRUNING}.usageThreshold", 0.85, ([0.5, 1, False], [1.5, -1, "x"])),
    (f"{PRUNING}.keepLastAssistants", 3, COUNT),
    (f"{PRUNING}.softTrimRatio", 0.3, SHARE),
    (f"{PRUNING}.hardClearRatio", 0.5, SHARE),
    (f"{PRUNING}.minPrunableToolChars", 50000, COUNT),
    (f"{PRUNING}.softTrim.maxChars", 4000, POSITIVE),
    (f"{PRUNING}.softTrim.headChars", 1500, COUNT),
    (f"{PRUNING}.softTrim.tailChars", 1500, COUNT),
    (f"{PRUNING}.hardClear.enabled", True, SWITCH),
    (f"{PRUNING}.hardClear.placeholder", "[Old tool result content cleared]", TEXT),
    (f"{PRUNING}.tools.allow", [], TEXTS),
    (f"{PRUNING}.tools.deny", [], TEXTS),
    ("tools.sessions.visibility", "tree", words("self", "tree", "agent", "all")),
    ("tools.agentToAgent.enabled", False, SWITCH),
    ("tools.agentToAgent.allow", [], TEXTS),
    ("tools.external", [], TEXTS),
    ("tools.trusted", [], TEXTS),
    ("commands.ownerAllowFrom", [], TEXTS),
    ("privacy.redact", True, SWITCH),
    ("hooks.internal.enabled", True, SWITCH),
    ("hooks.internal.entries.session-memory.enabled", False, SWITCH),
    ("hooks.internal.entries.session-memory.messages", 15, POSITIVE),
    ("hooks.internal.entries.session-memory.llmSlug", False, SWITCH),
    ("hooks.internal.entries.session-memory.model", None, MODEL),
    ("session.dmScope", None, words("main", "per-peer", "per-channel-peer", "per-account-channel-peer")),
    ("session.scope", "per-sender", words("per-sender", "global")),
    ("session.groupScope", "per-group", words("per-group", "main")),
    ("session.mainKey", "main", TEXT),
    ("session.identityLinks", {}, ([{"ann": ["mail:ann", "chat:7"]}], [[], {"ann": "mail:ann"}])),
    ("session.sendPolicy.default", "allow", words("allow", "deny")),
    (
        "session.sendPolicy.rules",
        [],
        ([[{"action": "deny", "match": {"chatType": "group"}}]], [[{"action": "maybe"}], {}, [5]]),
    ),
    ("session.reset.mode", None, words("none", "daily", "idle")),
    ("session.reset.atHour", None, within(0, 23)),
    ("session.reset.idleMinutes", None, COUNT),
    ("session.resetByType.direct.mode", None, words("none", "daily", "idle")),
    ("session.resetByType.group.atHour", None, within(0, 23)),
    ("session.resetByType.thread.idleMinutes", None, COUNT),
    ("session.resetByChannel", {}, ([{"chat": {"mode": "daily"}}], [5, {"chat": {"mode": "weekly"}}])),
    ("session.resetTriggers", ["/new", "/reset"], TEXTS),
    ("session.store", None, TEXT),
    (f"{UPKEEP}.mode", "enforce", words("enforce", "warn")),
    (f"{UPKEEP}.pruneAfter", "30d", (["7d", 7, "36h"], [])),
    (f"{UPKEEP}.maxEntries", 500, POSITIVE),
    (f"{UPKEEP}.resetArchiveRetention", False, (["30d", False], [])),
    (f"{UPKEEP}.maxDiskBytes", 10 * 1024**3, (["5gb", False, 0, "0"], [])),
    (f"{UPKEEP}.highWaterBytes", None, (["4gb", 0], ["much", -1])),
    (f"{UPKEEP}.archiveDashboardAfter", "7d", (["2d", False, 0], [])),
    (f"{UPKEEP}.preserveRecent", False, (["1d", False], [])),
    ("cron.enabled", True, SWITCH),
    ("cron.sessionRetention", "1d", (["48h", False, "0h"], [])),
    ("models.mode", "merge", words("merge", "replace")),
]


def tree(key, value):
    for name in reversed(key.split(".")):
        value = {name: value}
    return value


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    home = tmp_path_factory.mktemp("home")
    return Paths.resolve(env={"HOME": str(home)})


def write(paths, content):
    paths.state.mkdir(exist_ok=True)
    paths.config_file.write_text(json.dumps(content), encoding="utf-8")


by_key = pytest.mark.parametrize(("key", "values"), [(key, values) for key, _, values in KEYS])


def test_a_key_that_is_not_set_has_its_documented_default(tmp_path):
    config = load_config(Paths.resolve(env={"HOME": str(tmp_path)}), env={})
    shown = [(key, repr(get_value(config, key))) for key, _, _ in KEYS]
    assert shown == [(key, repr(float(default) if "alfLifeDays" in key else default)) for key, default, _ in KEYS]


@by_key
def test_a_value_in_range_is_accepted_without_a_word_about_its_kind(paths, key, values):
    for value in values[0]:
        write(paths, tree(key, value))
        config = load_config(paths, env={})
        get_value(config, key)
        assert [each for each in config.warnings if "expected" in each or "known key" in each] == []


@by_key
def test_a_value_out_of_range_is_an_error_that_names_key_and_line(paths, key, values):
    for value in values[1]:
        write(paths, tree(key, value))
        with pytest.raises(ConfigError, match="expected") as raised:
            load_config(paths, env={})
        assert raised.value.fields["key"].startswith(key)
        assert raised.value.fields["line"] == 1


@pytest.mark.parametrize("nothing", ["", "  ", None])
def test_sil_05_an_empty_text_means_unset(paths, tmp_path, nothing):
    everything = {}
    for key, _, _ in KEYS:
        *way, last = key.split(".")
        inner = everything
        for name in way:
            inner = inner.setdefault(name, {})
        inner[last] = nothing
    write(paths, everything)
    config = load_config(paths, env={})
    assert config.warnings == ()
    assert get_value(config) == get_value(load_config(Paths.resolve(env={"HOME": str(tmp_path)}), env={}))


@pytest.mark.parametrize(("name", "values"), [(name, values) for name, _, values in SEARCH])
def test_an_agent_may_override_every_key_of_search(paths, name, values):
    for value in values[0]:
        write(paths, tree(f"agents.entries.helper.memory.search.{name}", value))
        assert [problem for problem in check(paths, env={}) if problem.error] == []
    for value in values[1]:
        write(paths, tree(f"agents.entries.helper.memory.search.{name}", value))
        assert [problem.error for problem in check(paths, env={})][:1] == [True]


@pytest.mark.parametrize(
    ("key", "value", "used"),
    [
        (f"{UPKEEP}.pruneAfter", "soon", "30d"),
        (f"{UPKEEP}.resetArchiveRetention", "soon", False),
        (f"{UPKEEP}.maxDiskBytes", "plenty", False),
        (f"{UPKEEP}.archiveDashboardAfter", "soon", False),
        ("cron.sessionRetention", "soon", False),
        (f"{PRUNING}.ttl", "soon", "5m"),
    ],
)
def test_a_bad_limit_that_could_destroy_something_is_replaced_by_one_that_keeps_the_data(paths, key, value, used):
    write(paths, tree(key, value))
    config = load_config(paths, env={})
    assert get_value(config, key) == used
    assert any(key in warning and value in warning for warning in config.warnings)


def test_every_key_of_the_reference_is_in_this_table():
    own = {key for key, _, _ in KEYS}
    covered = (
        "agents.defaults.model",
        "agents.entries.",
        "bindings",
        "hooks.internal.entries.<name>",
        "hooks.internal.load",
        "memory.search.remote.apiKey",
        "memory.search.remote.headers",
        "models.providers",
        "plugins.entries.<id>",
        "session.identityLinks",
        "session.resetByChannel",
        "session.resetByType",
        f"{DREAMING}.phases",
        "plugins.entries.memory-core.*",
        "plugins.entries.active-memory.*",
        "plugins.entries.memory-wiki.*",
    )
    assert [info.key for info in describe() if info.key not in own and not info.key.startswith(covered)] == []


def test_the_remaining_shapes_are_accepted(paths):
    content = {
        "agents": {"defaults": {"model": {"primary": "a/b", "fallbacks": ["c/d"]}}, "entries": {"x": {"model": "e/f"}}},
        "bindings": [{"agentId": "x", "match": {"channel": "chat"}, "session": {"dmScope": "per-peer"}}],
        "hooks": {"internal": {"entries": {"other": {"enabled": True, "anything": 1}}, "load": {"extraDirs": ["h"]}}},
        "models": {"providers": {"mine": {"baseUrl": "https://m.example", "apiKey": "k", "models": [{"id": "m"}]}}},
        "plugins": {"entries": {"other": {"config": {"depth": [1, {"a": None}]}, "llm": {"allowedModels": ["m"]}}}},
        "memory": {"search": {"provider": "mine", "remote": {"apiKey": "k", "headers": {"X-Team": "t"}}}},
    }
    write(paths, content)
    config = load_config(paths, env={})
    assert config.warnings == ()
    assert config.agent("x").settings.model.primary == "e/f"
    assert config.agent("main").settings.model.fallbacks == ("c/d",)
    assert config.data.plugins.entries.others["other"].config["depth"][0] == 1
    assert get_value(config, "plugins.entries.other.config") == {"depth": [1, {"a": None}]}
    assert get_value(config, "plugins.entries.other.config.depth") == [1, {"a": None}]
    assert get_value(config, "bindings")[0]["session"]["dmScope"] == "per-peer"
    assert not config.agent().remember_across_conversations
