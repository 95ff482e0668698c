"""The plugin slot: what a plugin may provide, and how the one that fills the memory slot is found.

The built-in engine ``memory-core`` is registered through the same hook as any other, so the slot is exercised by
every run. Third-party plugins are found through the entry-point group ``reverie.plugins``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, cast

import pluggy

from reverie.core.errors import PluginError
from reverie.core.types import Clock, Embedder, Ids, MemoryEngine, Passage, SourceProvider

if TYPE_CHECKING:
    from reverie.core.config import AgentConfig
    from reverie.core.paths import Paths

ENTRY_POINTS = "reverie.plugins"
DEFAULT_ENGINE = "memory-core"

hookspec = pluggy.HookspecMarker("reverie")
hookimpl = pluggy.HookimplMarker("reverie")


@dataclass(frozen=True, slots=True)
class EngineContext:
    """What an engine is built from.

    ``sources`` are the documents to index, with the provenance of each line; ``open_embedder`` opens the configured
    embedder or raises ``EmbedderUnavailable``; ``read_lines`` reads memory files and nothing else.
    """

    agent: str
    paths: Paths
    config: AgentConfig
    clock: Clock
    ids: Ids
    sources: Sequence[SourceProvider]
    open_embedder: Callable[[], Embedder]
    read_lines: Callable[[str, int, int | None], Passage]


EngineFactory = Callable[[EngineContext], MemoryEngine]


@dataclass(frozen=True, slots=True)
class PluginFact:
    """A registered plugin: the engines that it provides, and the distribution that it came with (empty: built in)."""

    name: str
    engines: tuple[str, ...] = ()
    distribution: str = ""
    version: str = ""


class Hooks:
    """Every hook that Reverie calls."""

    @hookspec
    def reverie_memory_engines(self) -> Mapping[str, EngineFactory]:  # type: ignore[empty-body]
        """Return the memory engines of this plugin, by the name that ``plugins.slots.memory`` selects."""


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
        """Return every engine by name. Two plugins that claim one name are refused, not silently ordered."""
        found: dict[str, EngineFactory] = {}
        for engines in self._plugins.hook.reverie_memory_engines():
            for name, factory in engines.items():
                if name in found and found[name] is not factory:
                    raise PluginError("Two plugins provide the same memory engine", engine=name)
                found[name] = factory
        return found

    def engine(self, name: str) -> EngineFactory:
        """Return the engine that fills the memory slot; looks at installed plugins only if it is not built in."""
        engines = self.engines()
        if name not in engines:
            self.find_installed()
            engines = self.engines()
        if name not in engines:
            raise PluginError(
                "No plugin provides this memory engine",
                engine=name,
                hint=f"set plugins.slots.memory to one of: {', '.join(sorted(engines))}",
            )
        return engines[name]

    def names(self) -> list[str]:
        """Return the names of the registered plugins, sorted."""
        return sorted(name for name, _ in self._plugins.list_name_plugin())

    def facts(self) -> list[PluginFact]:
        """Return what each registered plugin provides, by name."""
        provides = {
            found.plugin_name: tuple(sorted(cast(Mapping[str, EngineFactory], found.function())))
            for found in self._plugins.hook.reverie_memory_engines.get_hookimpls()
        }
        origins = {self._plugins.get_name(plugin): origin for plugin, origin in self._plugins.list_plugin_distinfo()}
        return [
            PluginFact(
                name,
                provides.get(name, ()),
                origins[name].project_name if name in origins else "",
                origins[name].version if name in origins else "",
            )
            for name in self.names()
        ]
