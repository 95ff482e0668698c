"""Where things are on disk: the state folder, the default workspace, and the folders of each agent.

Nothing is created by asking. Nothing is ever placed in the current directory or in the installed package
(list A, DUR-15): without any setting everything is under ``~/.reverie``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from reverie.core.errors import StoreUnwritable

STATE_VARIABLE = "REVERIE_STATE_DIR"
WORKSPACE_VARIABLE = "REVERIE_WORKSPACE"
CONFIG_NAME = "reverie.json5"
DEFAULT_AGENT = "main"

_AGENT = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Paths:
    """The folders of one installation.

    ``workspace_given`` says that an argument or the environment chose the workspace, which then wins over the
    configuration for the default agent.
    """

    state: Path
    workspace: Path
    home: Path
    workspace_given: bool = False

    @classmethod
    def resolve(
        cls,
        state_dir: Path | None = None,
        workspace: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Paths:
        """Return the folders: arguments first, then ``env`` (default: the environment), then the defaults.

        Empty strings mean unset. Only absolute paths come out.
        """
        env = os.environ if env is None else env
        home = Path(env.get("HOME") or Path.home())
        state = absolute(state_dir or env.get(STATE_VARIABLE, "").strip() or home / ".reverie", home)
        chosen = workspace or env.get(WORKSPACE_VARIABLE, "").strip()
        return cls(
            state=state,
            workspace=absolute(chosen, home) if chosen else state / "workspace",
            home=home,
            workspace_given=bool(chosen),
        )

    @property
    def config_file(self) -> Path:
        """Return the configuration file, there or not."""
        return self.state / CONFIG_NAME

    @property
    def locks(self) -> Path:
        """Return the folder of lock files."""
        return self.state / "locks"

    @property
    def cache(self) -> Path:
        """Return the folder of what can be made again, such as a built model."""
        return self.state / "cache"

    def agent(self, ident: str = DEFAULT_AGENT) -> Path:
        """Return the folder of one agent; the id is normalised, so it cannot leave ``agents/``."""
        return self.state / "agents" / agent_id(ident)

    def memory_db(self, ident: str = DEFAULT_AGENT) -> Path:
        """Return the database of what files cannot hold (durable; choice C2)."""
        return self.agent(ident) / "memory.sqlite"

    def index_db(self, ident: str = DEFAULT_AGENT) -> Path:
        """Return the index (derived; it may be deleted at any moment)."""
        return self.agent(ident) / "index.sqlite"

    def sessions(self, ident: str = DEFAULT_AGENT) -> Path:
        """Return the folder of ``sessions.json`` and the transcripts."""
        return self.agent(ident) / "sessions"


def agent_id(text: str) -> str:
    """Return the normal form of an agent id: 1 to 64 of ``a-z 0-9 _ -``, never empty (then ``main``)."""
    text = text.strip()
    if _AGENT.fullmatch(text):
        return text.lower()
    return re.sub(r"[^a-z0-9_-]+", "-", text.lower()).strip("-")[:64].strip("-") or DEFAULT_AGENT


def absolute(path: str | Path, home: Path, base: Path | None = None) -> Path:
    """Return ``path`` made absolute: ``~`` is ``home``; a relative one stands below ``base`` (default: here)."""
    text = str(path)
    if text == "~" or text.startswith(("~/", "~\\")):
        return Path(os.path.normpath(home / text[2:]))
    return Path(os.path.normpath((base or Path.cwd()) / text))


def make_folder(path: Path) -> Path:
    """Create a private folder (mode 0700) with its parents, and return it.

    Raises:
        StoreUnwritable: it cannot be made, or something else stands in its place.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnwritable("The folder cannot be made", path=str(path), reason=error.strerror) from error
    return path
