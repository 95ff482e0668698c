"""State folders that are thrown away, for the demonstration and for evaluations: nobody's memory may be touched."""

from __future__ import annotations

import contextlib
from pathlib import Path

from reverie.core.errors import StoreUnwritable
from reverie.core.paths import Paths, make_folder


def scratch_state(folder: Path) -> Path:
    """Make ``folder`` a state folder that shares only the built model with the state folder of this machine.

    The model takes seconds to build and is the same for every memory. Where it cannot be shared, as on a read-only
    disk or without symbolic links, the scratch folder gets a model of its own.
    """
    state = make_folder(folder)
    with contextlib.suppress(StoreUnwritable, OSError):
        shared = make_folder(Paths.resolve().cache)
        Paths.resolve(state).cache.symlink_to(shared, target_is_directory=True)
    return state
