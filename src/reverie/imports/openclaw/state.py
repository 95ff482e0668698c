"""Where OpenClaw keeps what: the state folder, its configuration, its agents and their workspaces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reverie.core.config.layers import Layer, at, layer_of, read_text
from reverie.core.errors import ConfigError, ImportRefused
from reverie.core.paths import DEFAULT_AGENT, absolute, agent_id

CONFIG = "openclaw.json"


@dataclass(frozen=True, slots=True)
class Source:
    """One agent of an OpenClaw installation.

    ``settings`` is its configuration, read as ours is read; ``None`` if there is none or it cannot be read, and
    ``problem`` says why. ``others`` are agents that were not asked for.
    """

    root: Path
    agent: str
    workspace: Path | None
    settings: Layer | None = None
    problem: str = ""
    main_key: str = "main"
    others: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Return the folder of the agent."""
        return self.root / "agents" / self.agent

    @property
    def sessions(self) -> Path:
        """Return the folder of its session files."""
        return self.folder / "sessions"

    @property
    def database(self) -> Path:
        """Return its database."""
        return self.folder / "agent" / "openclaw-agent.sqlite"


def look(path: Path, wanted: str, home: Path) -> Source:
    """Look at a state folder, or at a bare workspace.

    Args:
        path: the folder.
        wanted: the agent to read; empty for the one that OpenClaw uses when none is named.
        home: what ``~`` means in its configuration.

    Raises:
        ImportRefused: it is neither, or has no such agent.
    """
    if not path.is_dir():
        raise ImportRefused("There is no such folder", path=str(path))
    if not any((path / name).exists() for name in (CONFIG, "agents", "state")):
        if any((path / name).exists() for name in ("MEMORY.md", "USER.md", "AGENTS.md", "memory")):
            return Source(path, DEFAULT_AGENT, path)
        raise ImportRefused(
            "This is neither a state folder nor a workspace of OpenClaw",
            path=str(path),
            hint="usually it is ~/.openclaw",
        )
    settings, problem = _settings(path / CONFIG)
    tree: Mapping[str, Any] = settings.tree if settings is not None else {}
    entries = {agent_id(name): entry for name, entry in at(tree, "agents", "entries").items()}
    usual = next((name for name, entry in entries.items() if at(entry).get("default") is True), DEFAULT_AGENT)
    folders = path / "agents"
    present = {one.name for one in folders.iterdir() if one.is_dir()} if folders.is_dir() else set()
    known = sorted(present | set(entries) | {usual})
    agent = agent_id(wanted) if wanted.strip() else usual
    if agent not in known:
        raise ImportRefused("OpenClaw has no such agent", agent=agent, hint=f"it has: {', '.join(known)}")
    main_key = at(tree, "session").get("mainKey")
    return Source(
        root=path,
        agent=agent,
        workspace=_workspace(path, agent, usual, at(entries.get(agent)), at(tree, "agents", "defaults"), home),
        settings=settings,
        problem=problem,
        main_key=main_key.strip().lower() if isinstance(main_key, str) and main_key.strip() else "main",
        others=tuple(name for name in known if name != agent and name in present),
    )


def _settings(file: Path) -> tuple[Layer | None, str]:
    try:
        text = read_text(file)
        return (layer_of(text, str(file)), "") if text is not None else (None, "")
    except ConfigError as error:
        return None, str(error)


def _workspace(
    root: Path, agent: str, usual: str, entry: Mapping[str, Any], defaults: Mapping[str, Any], home: Path
) -> Path | None:
    """Return the workspace of an agent: as configured, else where OpenClaw puts it; ``None`` if it is not there."""
    own, common = entry.get("workspace"), defaults.get("workspace")
    named: list[Path] = []
    if isinstance(own, str) and own.strip():
        named.append(absolute(own.strip(), home, root))
    elif isinstance(common, str) and common.strip():
        place = absolute(common.strip(), home, root)
        named.append(place if agent == usual else place / agent)
    # A state folder that was copied here names places of another machine; what stands beside it is meant then.
    named += [root / "workspace"] if agent == usual else [root / f"workspace-{agent}"]
    return next((place for place in named if place.is_dir()), None)
