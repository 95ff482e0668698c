"""Whether a peer was installed by ``bench/peers/install``, and what the installation said if it failed."""

from __future__ import annotations

from pathlib import Path

from bench.measuring.runs import CACHE
from bench.peers.contender import PeerMissing

ROOT = Path(__file__).resolve().parents[2]


def check(name: str, program: Path, failures: Path = CACHE / "peers") -> None:
    """See that the program of a peer is there.

    Raises:
        PeerMissing: it is not; with the reason, if the installation left one.
    """
    if program.exists():
        return
    reason = failures / f"{name}.failed"
    if reason.is_file():
        said = [line.strip() for line in reason.read_text(encoding="utf-8").splitlines() if line.strip()]
        raise PeerMissing(f"its installation failed: {said[-1] if said else 'no reason was given'}")
    raise PeerMissing(f"not installed; `bench/peers/install {name}` does it")
