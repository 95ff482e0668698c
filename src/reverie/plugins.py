"""The plugin slots: what a plugin may provide, and how the ones that fill the memory and the context slot are found.

The built-in engines ``memory-core`` and ``legacy`` are registered through the same hooks as any other, so the slots are
exercised by every run. Third-party plugins are found through the entry-point group ``reverie.plugins``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar, cast

import pluggy

from reverie.core.errors import PluginError
from reverie.core.queries import Reranker
from reverie.core.types import ChatModel, Clock, Embedder, Ids, MemoryEngine, Passage, SourceProvider
from reverie.sessions.context import ContextEngine
from reverie.sessions.directory import SessionDirectory

if TYPE_CHECKING:
    from reverie.core.config import AgentConfig
    from reverie.core.paths import Paths

ENTRY_POINTS = "reverie.plugins"
DEFAULT_ENGINE = "memory-core"
DEFAULT_CONTEXT = "legacy"

F = TypeVar("F")

hookspec = pluggy.HookspecMarker("reverie")
hookimpl = pluggy.HookimplMarker("reverie")


@dataclass(frozen=True, slots=True)
class EngineContext:
    """What an engine is built from.

    ``sources`` are the documents to index, with the provenance of each line; ``open_embedder`` opens the configured
    embedder or raises ``EmbedderUnavailable``; ``open_reranker`` gives a plugin's reranker by its name or raises
    ``PluginError``; ``read_lines`` reads memory files and nothing else.
    """

    agent: str
    paths: Paths
    config: AgentConfig
    clock: Clock
    ids: Ids
    sources: Sequence[SourceProvider]
    open_embedder: Callable[[], Embedder]
    open_reranker: Callable[[str], Reranker]
    read_lines: Callable[[str, int, int | None], Passage]


RerankerFactory = Callable[[EngineContext], Reranker]
EngineFactory = Callable[[EngineContext], MemoryEngine]


@dataclass(frozen=True, slots=True)
class ContextParts:
    """What a context engine is built from. ``chat_model`` is ``None`` where there is none; all must work without."""

    agent: str
    config: AgentConfig
    clock: Clock
    ids: Ids
    sessions: SessionDirectory
    chat_model: ChatModel | None = None


ContextFactory = Callable[[ContextParts], ContextEngine]


@dataclass(frozen=True, slots=True)
class PluginFact:
    """A registered plugin: what it provides, and the distribution that it came with (empty: built in)."""

    name: str
    engines: tuple[str, ...] = ()
    distribution: str = ""
    version: str = ""
    context_engines: tuple[str, ...] = ()


class Hooks:
    """Every hook that Reverie calls."""

    @hookspec
    def reverie_memory_engines(self) -> Mapping[str, EngineFactory]:  # type: ignore[empty-body]
        """Return the memory engines of this plugin, by the name that ``plugins.slots.memory`` selects."""

    @hookspec
    def reverie_rerankers(self) -> Mapping[str, RerankerFactory]:  # type: ignore[empty-body]
        """Return the rerankers of this plugin, by the name that ``memory.search.rerank.mode`` selects."""

    @hookspec
    def reverie_context_engines(self) -> Mapping[str, ContextFactory]:  # type: ignore[empty-body]
        """Return the context engines of this plugin, by the name that ``plugins.slots.contextEngine`` selects."""


class PluginSlots:
    """The registered plugins and the engine that each slot selects."""

    def __init__(self) -> None:
        self._plugins = pluggy.PluginManager("reverie")
        self._plugins.add_hookspecs(Hooks)
        self._found_installed = False

    def register(self, plugin: ModuleType | object, name: str) -> None:
        """Add a plugin under a name; a second one of the same name is refused."""
        try:
            self._plugins.register(plugin, name=name)
        except ValueError as error:
            raise PluginError("A plugin of this name is registered already", plugin=name) from error

    def find_installed(self) -> None:
        """Register the plugins that other distributions announce; done once, and only when one is needed."""
        if self._found_installed:
            return
        self._found_installed = True
        try:
            self._plugins.load_setuptools_entrypoints(ENTRY_POINTS)
        except Exception as error:  # a third party's import may fail in any way; it must not take Reverie down
            reason = f"{type(error).__name__}: {error}"
            raise PluginError("An installed plugin cannot be loaded", reason=reason) from error

    def engines(self) -> dict[str, EngineFactory]:
        """Return every memory engine by name. Two plugins that claim one name are refused, not silently ordered."""
        return _by_name(self._plugins.hook.reverie_memory_engines(), "memory engine")

    def rerankers(self) -> dict[str, RerankerFactory]:
        """Return every reranker of a plugin by name, as :meth:`engines`."""
        return _by_name(self._plugins.hook.reverie_rerankers(), "reranker")

    def context_engines(self) -> dict[str, ContextFactory]:
        """Return every context engine by name, as :meth:`engines`."""
        return _by_name(self._plugins.hook.reverie_context_engines(), "context engine")

    def engine(self, name: str) -> EngineFactory:
        """Return the engine that fills the memory slot; looks at installed plugins only if it is not built in."""
        return self._chosen(self.engines, name, "memory engine", "plugins.slots.memory")

    def reranker(self, name: str) -> RerankerFactory:
        """Return a plugin's reranker, as :meth:`engine`."""
        return self._chosen(self.rerankers, name, "reranker", "memory.search.rerank.mode")

    def context_engine(self, name: str) -> ContextFactory:
        """Return the engine that fills the context slot, as :meth:`engine`."""
        return self._chosen(self.context_engines, name, "context engine", "plugins.slots.contextEngine")

    def _chosen(self, found: Callable[[], dict[str, F]], name: str, what: str, slot: str) -> F:
        engines = found()
        if name not in engines:
            self.find_installed()
            engines = found()
        if name not in engines:
            raise PluginError(
                f"No plugin provides this {what}",
                engine=name,
                hint=f"set {slot} to one of: {', '.join(sorted(engines))}",
            )
        return engines[name]

    def names(self) -> list[str]:
        """Return the names of the registered plugins, sorted."""
        return sorted(name for name, _ in self._plugins.list_name_plugin())

    def facts(self) -> list[PluginFact]:
        """Return what each registered plugin provides, by name."""
        provides = _provided(self._plugins.hook.reverie_memory_engines)
        contexts = _provided(self._plugins.hook.reverie_context_engines)
        origins = {self._plugins.get_name(plugin): origin for plugin, origin in self._plugins.list_plugin_distinfo()}
        return [
            PluginFact(
                name,
                provides.get(name, ()),
                origins[name].project_name if name in origins else "",
                origins[name].version if name in origins else "",
                contexts.get(name, ()),
            )
            for name in self.names()
        ]


def _by_name(provided: Sequence[Mapping[str, F]], what: str) -> dict[str, F]:
    found: dict[str, F] = {}
    for engines in provided:
        for name, factory in engines.items():
            if name in found and found[name] is not factory:
                raise PluginError(f"Two plugins provide the same {what}", engine=name)
            found[name] = factory
    return found


def _provided(hook: pluggy.HookCaller) -> dict[str, tuple[str, ...]]:
    """Return the names that each plugin provides through a hook."""
    return {
        found.plugin_name: tuple(sorted(cast(Mapping[str, object], found.function()))) for found in hook.get_hookimpls()
    }
