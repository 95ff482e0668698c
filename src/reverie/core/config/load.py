"""Reading the configuration: layers in, one frozen :class:`Config` out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path as File
from typing import Any

from reverie.core.config.agent import AgentConfig, resolve_agent
from reverie.core.config.agents import AgentSettings
from reverie.core.config.layers import Layer, at, given_layer, layer_of, merge, project_layer, read_text
from reverie.core.config.memory import PROVIDERS, Search
from reverie.core.config.reading import Path, Problem, Reading
from reverie.core.config.schema import Root
from reverie.core.config.section import nearest
from reverie.core.errors import ConfigError
from reverie.core.paths import DEFAULT_AGENT, Paths, agent_id


@dataclass(frozen=True, slots=True)
class Config:
    """The configuration.

    ``data`` mirrors the file, with the defaults filled in; what holds for one agent is in :meth:`agent`. ``source`` is
    the file that was read, ``None`` if there is none.
    """

    data: Root
    paths: Paths
    warnings: tuple[str, ...] = ()
    source: File | None = None
    _tree: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    _given: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    _env: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)
    _agents: dict[str, AgentConfig] = field(default_factory=dict, repr=False, compare=False)

    @property
    def default_agent(self) -> str:
        """Return the id of the agent that is used when none is named: the one that is marked, else ``main``."""
        return next((ident for ident, entry in self.data.agents.entries.items() if entry.default), DEFAULT_AGENT)

    @property
    def agent_ids(self) -> tuple[str, ...]:
        """Return the ids of all agents, the default one first."""
        return tuple(dict.fromkeys((self.default_agent, *self.data.agents.entries)))

    def agent(self, ident: str | None = None) -> AgentConfig:
        """Return what holds for an agent; one that has no entry gets what holds for all."""
        ident = agent_id(ident) if ident and ident.strip() else self.default_agent
        if ident not in self._agents:
            self._agents[ident] = self._resolve(ident)
        return self._agents[ident]

    def _resolve(self, ident: str) -> AgentConfig:
        entries = at(self._tree, "agents", "entries")
        entry = next((at(entries, name) for name in reversed(entries) if agent_id(name) == ident), {})
        log = Reading(self._env)  # every level was read and reported before
        search = merge(at(self._tree, "memory", "search"), at(entry, "memory", "search"))
        settings = merge(at(self._tree, "agents", "defaults"), entry)
        search = merge(search, at(self._given, "memory", "search"))
        settings = merge(settings, at(self._given, "agents", "defaults"))
        known = {name: settings[name] for name in AgentSettings.keys if name in settings}
        return resolve_agent(
            ident,
            data=self.data,
            settings=AgentSettings.read(known, (), log),
            search=Search.read(search, (), log),
            paths=self.paths,
            default=self.default_agent,
        )


@dataclass(slots=True)
class _Loaded:
    config: Config
    problems: list[Problem]


def load_config(
    paths: Paths,
    *,
    file: File | None = None,
    project: File | None = None,
    given: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
) -> Config:
    """Read the configuration. What is later wins: defaults, the file, the project, the agent, ``given``.

    Args:
        paths: the folders of this installation.
        file: another file than ``paths.config_file``; this one must be there.
        project: the folder of a project (its ``.reverie.json5`` is read, if there) or such a file.
        given: explicit arguments by dotted key.
        env: the variables for ``${NAME}``; the environment by default.

    Raises:
        ConfigError: the file cannot be used; ``key`` and ``line`` say where.
    """
    loaded = _load(paths, file, project, given or {}, os.environ if env is None else env)
    errors = [problem for problem in loaded.problems if problem.error]
    if errors:
        first = errors[0]
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        raise ConfigError(
            f"{first.key}: {first.message}{more}" if first.key else first.message,
            hint=first.hint or None,
            path=first.source,
            line=first.line,
            key=first.key,
        )
    return loaded.config


def check(
    paths: Paths,
    *,
    file: File | None = None,
    project: File | None = None,
    env: Mapping[str, str] | None = None,
) -> list[Problem]:
    """Return everything that is to be said about the configuration, errors first; never raises for its content."""
    try:
        problems = _load(paths, file, project, {}, os.environ if env is None else env).problems
    except ConfigError as error:
        reason = error.fields.get("reason")
        text = f"{error.message}: {reason}" if reason else error.message
        source = str(error.fields.get("path") or "")
        problems = [Problem("", text, error.fields.get("line"), True, source, error.hint)]
    return sorted(problems, key=lambda problem: (not problem.error, problem.line or 0))


def problems_of(text: str, source: str, env: Mapping[str, str] | None = None) -> list[Problem]:
    """Return what is to be said about a text of a configuration file.

    Raises:
        ConfigError: it is not JSON5, or no object.
    """
    return _read(layer_of(text, source), os.environ if env is None else env)[1]


def _load(
    paths: Paths, file: File | None, project: File | None, given: Mapping[str, Any], env: Mapping[str, str]
) -> _Loaded:
    chosen = file or paths.config_file
    text = read_text(chosen)
    if text is None and file is not None:
        raise ConfigError("The configuration is not there", path=str(file), hint="check the name after --config")
    layer = layer_of(text or "", str(chosen))
    data, problems = _read(layer, env)
    tree: dict[str, Any] = layer.tree
    local = project_layer(project) if project is not None else None
    if local is not None:
        problems += local.problems
        tree = merge(tree, local.tree)
    arguments = given_layer(given)
    if arguments:
        log = Reading(env, "arguments")
        Root.read(arguments, (), log)
        # A wrong key in a file may be a typo of its owner; in a call it is one of the program.
        problems += [Problem(each.key, each.message, None, True, each.source, each.hint) for each in log.problems]
    merged = merge(tree, arguments)
    if local is not None or arguments:
        data = Root.read(merged, (), Reading(env))
    warnings = tuple(_line(problem) for problem in problems if not problem.error)
    source = chosen if text is not None else None
    return _Loaded(Config(data, paths, warnings, source, merged, arguments, dict(env)), problems)


def _read(layer: Layer, env: Mapping[str, str]) -> tuple[Root, list[Problem]]:
    log = layer.reading(env)
    data = Root.read(layer.tree, (), log)
    problems = layer.problems + log.problems
    if log.foreign:
        names = ", ".join(sorted(log.foreign))
        problems.append(Problem("", f"kept, but of no meaning here: {names}", source=layer.source))
    _check_together(data, layer, problems)
    return data, problems


def _check_together(data: Root, layer: Layer, problems: list[Problem]) -> None:
    """Add what can only be said of several keys at once."""
    searches: dict[Path, Search] = {("memory", "search"): data.memory.search}
    for ident, entry in data.agents.entries.items():
        searches["agents", "entries", ident, "memory", "search"] = entry.memory.search
    for home, search in searches.items():
        for name, value in (("provider", search.provider), ("fallback", search.fallback)):
            if value is None or value in PROVIDERS or value in data.models.providers:
                continue
            near = nearest(value, list(PROVIDERS))
            path: Path = (*home, name)
            text = f'"{value}" is no provider that is known by name' + (f"; did you mean {near}?" if near else "")
            hint = "name it in models.providers, or install the plugin that brings it"
            problems.append(Problem(".".join(path), text, layer.locate(path), False, layer.source, hint))
        if search.multimodal.enabled and search.fallback != "none":
            path = (*home, "fallback")
            text = "must be none while multimodal.enabled is true"
            problems.append(Problem(".".join(path), text, layer.locate(path), True, layer.source))
        if search.chunking.overlap >= search.chunking.tokens:
            path = (*home, "chunking", "overlap")
            text = f"must be less than chunking.tokens ({search.chunking.tokens})"
            problems.append(Problem(".".join(path), text, layer.locate(path), True, layer.source))
    both = sorted(set(data.tools.external) & set(data.tools.trusted))
    if both:
        text = f"{', '.join(both)} is in tools.external too; it counts as external"
        problems.append(Problem("tools.trusted", text, layer.locate(("tools", "trusted")), False, layer.source))


def _line(problem: Problem) -> str:
    return f"{problem}; {problem.hint}" if problem.hint else str(problem)


class LiveConfig:
    """A configuration that follows its file, for programs that run long.

    :meth:`current` looks at the file (one ``stat``) and reads it again when it has changed. A file that cannot be
    used changes nothing: the last good configuration stays and ``problem`` says why.
    """

    def __init__(
        self,
        paths: Paths,
        *,
        file: File | None = None,
        project: File | None = None,
        given: Mapping[str, Any] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self._paths, self._file, self._project, self._given, self._env = paths, file, project, given, env
        self._seen = self._stamp()
        self._config = load_config(paths, file=file, project=project, given=given, env=env)
        self.problem: ConfigError | None = None

    def current(self) -> Config:
        """Return the configuration as it stands now; the same object until a file changes."""
        stamp = self._stamp()
        if stamp != self._seen:
            self._seen = stamp
            try:
                self._config = load_config(
                    self._paths, file=self._file, project=self._project, given=self._given, env=self._env
                )
                self.problem = None
            except ConfigError as error:
                self.problem = error
        return self._config

    def _stamp(self) -> tuple[tuple[int, int, int] | None, ...]:
        return tuple(_stat(each) for each in self._watched())

    def _watched(self) -> list[File]:
        files = [self._file or self._paths.config_file]
        if self._project is not None:
            files += [self._project, self._project / ".reverie.json5"]
        return files


def _stat(file: File) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
