"""How a command gets at the memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from reverie.core.config import load_config
from reverie.core.errors import WorkspaceMissing
from reverie.core.paths import Paths
from reverie.memory import Memory
from reverie.surfaces.cli.parts import Invocation
from reverie.surfaces.progress import Progress


@contextmanager
def opened(invocation: Invocation) -> Iterator[Memory]:
    """Open the memory that the global options name, and close it at the end."""
    agent = agent_of(invocation)
    with Progress() as progress:
        try:
            memory = Memory.open(agent, config_file=invocation.config_file, progress=progress)
        except WorkspaceMissing as error:
            if not invocation.agent:
                raise
            raise WorkspaceMissing(hint=f"run `reverie init --agent {agent}`", **error.fields) from error
        with memory:
            yield memory


def agent_of(invocation: Invocation) -> str:
    """Return the agent that is meant: the one named, else the default one of the configuration."""
    return invocation.agent or load_config(Paths.resolve(), file=invocation.config_file).default_agent
