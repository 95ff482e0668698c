"""memsearch: Markdown in, Milvus Lite inside, hybrid search; given Reverie's embedder in its own process."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.measuring.processes import Command, run
from bench.measuring.runs import CACHE
from bench.peers.contender import LIMIT, PeerMissing, Place
from bench.peers.installed import ROOT, check

FOLDER = CACHE / "peers" / "memsearch"
_COUNT = re.compile(r"Total indexed chunks: (\d+)")
_VERSION = re.compile(r"^(?P<name>memsearch|milvus_lite)-(?P<version>[^-]+)\.dist-info$")


class Memsearch:
    """The installed memsearch, with its files under ``place.home``."""

    name = "memsearch"

    def __init__(self, place: Place, folder: Path = FOLDER) -> None:
        check(self.name, folder / "bin" / "memsearch")
        self._place = place
        self._folder = folder
        place.home.mkdir(parents=True, exist_ok=True)

    @property
    def _store(self) -> Path:
        return self._place.home / "milvus.db"

    @property
    def versions(self) -> dict[str, str]:
        """Return the versions of memsearch and of Milvus Lite."""
        packages = self._folder.glob("lib/python*/site-packages/*.dist-info")
        found = filter(None, (_VERSION.match(path.name) for path in packages))
        return {match["name"].replace("_", "-"): match["version"] for match in found}

    def index(self) -> Command:
        """Return ``memsearch index``."""
        return self._command("index", str(self._place.notes / "memory"), "--provider", "reverie")

    def search(self, query: str) -> Command:
        """Return ``memsearch search``."""
        return self._command("search", query, "--json-output", "--top-k", str(LIMIT), "--provider", "reverie")

    def found(self, output: str) -> list[str]:
        """Return the paths; memsearch prints whole ones."""
        notes = self._place.notes.resolve()
        return [Path(hit["source"]).relative_to(notes).as_posix() for hit in json.loads(output)]

    def warm(self, queries: Sequence[str]) -> Command:
        """Return a process around memsearch's own class."""
        given = {"store": str(self._store), "queries": list(queries), "limit": LIMIT}
        return replace(self._command("warm"), read=json.dumps(given))

    def answer(self, results: int) -> Command:
        """Return the command that indexes ``{notes}`` and answers ``{queries}``, as the evaluator takes it."""
        return self._command("answer", "{notes}", "{queries}", str(results))

    def chunks(self) -> int:
        """Return what ``memsearch stats`` says."""
        ran = run(self._command("stats"), deadline=300)
        match = _COUNT.search(ran.output)
        if match is None:
            raise PeerMissing(f"memsearch stats: {ran.failure or ran.output[:200]}")
        return int(match[1])

    def _command(self, *words: str) -> Command:
        home = self._place.home
        program = ROOT / "bench" / "peers" / "memsearch_main.py"
        # -P: the folder of the program must not stand before the packages
        words = (
            str(self._folder / "bin" / "python"),
            "-P",
            str(program),
            *words,
            "--milvus-uri",
            str(self._store),
        )
        environment = {
            "HOME": str(home),
            "TMPDIR": str(home),
            "PYTHONPATH": str(ROOT / "src"),
            "BENCH_MODEL": str(self._place.model),
        }
        return Command(words, environment, home)
