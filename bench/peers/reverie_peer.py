"""Reverie itself, started as the peers are: a whole process, its own home, the same notes and model."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.measuring.processes import Command, run
from bench.peers.contender import LIMIT, PeerMissing, Place
from bench.peers.installed import ROOT
from reverie import __version__


class Reverie:
    """The command of this checkout, or of the environment that the benchmark runs in.

    ``provider`` is ``bundled`` for the default embedder, or ``none`` for keywords only.
    """

    def __init__(self, place: Place, provider: str = "bundled") -> None:
        self._place = place
        self._provider = provider
        self.name = "Reverie" if provider == "bundled" else "Reverie, keywords only"
        state = place.home / "state"
        state.mkdir(parents=True, exist_ok=True)
        shared = state / "cache" / "embedders"
        shared.parent.mkdir(exist_ok=True)
        if not shared.exists():
            shared.symlink_to(place.model)  # built once for all, as on any machine after the first use
        settings = json.dumps({"memory": {"search": {"provider": provider}}}, indent=1)
        (state / "reverie.json5").write_text(settings + "\n", encoding="utf-8")

    @property
    def versions(self) -> dict[str, str]:
        """Return the version of Reverie."""
        return {"reverie": __version__}

    def index(self) -> Command:
        """Return ``reverie index``."""
        return self.command("index", "--json")

    def search(self, query: str) -> Command:
        """Return ``reverie search``."""
        return self.command("search", query, "--json", "--max-results", str(LIMIT), "--min-score", "0")

    def found(self, output: str) -> list[str]:
        """Return the paths, which Reverie gives relative to the workspace."""
        answer = json.loads(output)
        return [str(hit["path"]) for hit in answer["hits"]]

    def warm(self, queries: Sequence[str]) -> Command:
        """Return a process around Reverie's own class."""
        given = {"queries": list(queries), "limit": LIMIT}
        words = (sys.executable, "-m", "bench.probes.answering")
        return Command(words, self.environment(), ROOT, json.dumps(given))

    def chunks(self) -> int:
        """Return what ``reverie status`` says."""
        ran = run(self.command("status", "--json"), deadline=300)
        try:
            return int(json.loads(ran.output)["engine"]["chunks"])
        except (ValueError, KeyError, TypeError) as error:
            raise PeerMissing(f"reverie status: {ran.failure or ran.output[:200]}") from error

    def command(self, *words: str) -> Command:
        """Return any command of Reverie on these notes."""
        return Command((*program(), *words), self.environment(), self._place.home)

    def environment(self) -> dict[str, str]:
        """Return what a process needs to work in this place."""
        home = self._place.home
        return {
            "HOME": str(home),
            "TMPDIR": str(home),
            "PYTHONPATH": str(ROOT / "src"),
            "REVERIE_STATE_DIR": str(home / "state"),
            "REVERIE_WORKSPACE": str(self._place.notes),
        }


def program() -> tuple[str, ...]:
    """Return the words that start Reverie: the installed command, or the package where it was not installed."""
    beside = shutil.which("reverie", path=str(Path(sys.executable).parent))
    return (beside,) if beside else (sys.executable, "-m", "reverie")
