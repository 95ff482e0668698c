"""Opens the memory that the environment names once, answers each query, and prints the milliseconds as a list.

Reads ``{"queries": [...], "limit": N}`` from standard input.
"""

from __future__ import annotations

import json
import sys
import time

from reverie import Memory, SearchRequest


def main() -> int:
    """Search as a program does that keeps its memory open."""
    given = json.load(sys.stdin)
    times = []
    with Memory.open() as memory:
        for query in given["queries"]:
            begun = time.perf_counter()
            memory.recall(SearchRequest(query, given["limit"], 0.0))
            times.append(1_000 * (time.perf_counter() - begun))
    print(json.dumps(times))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
