"""Serves the bundled embedder on this machine until standard input ends; the first line printed is the address."""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from bench.peers.endpoint import Endpoint
from reverie.providers.bundled.embedder import BundledEmbedder


def main(arguments: Sequence[str] | None = None) -> int:
    """Open the model, serve, and end with standard input, so that no endpoint outlives the one who started it."""
    parser = argparse.ArgumentParser(prog="python -m bench.peers.endpoint_main", description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="folder of the built model")
    given = parser.parse_args(arguments)
    embedder = BundledEmbedder.open(given.model)
    embedder.embed_query("ping")
    with Endpoint(embedder) as endpoint:
        thread = threading.Thread(target=endpoint.serve_forever)
        thread.start()
        print(endpoint.address, flush=True)
        sys.stdin.read()
        endpoint.shutdown()
        thread.join()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
