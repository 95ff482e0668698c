"""Run by tests as a process of its own: ``worker.py FOLDER COMMAND [ARGUMENT]``."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from conftest import TrigramEmbedder, World


class Stuck(TrigramEmbedder):
    """Embeds some batches, says so, and then never comes back."""

    def embed_documents(self, texts):
        if len(self.seen) >= 64:
            print("stuck", len(self.seen), flush=True)
            threading.Event().wait()
        return super().embed_documents(texts)


def main() -> None:
    world = World(Path(sys.argv[1]))
    if sys.argv[2] == "stuck":
        world.index(Stuck()).sync([world.notes])
        return
    index = world.index(world.embedder())
    print("ready", flush=True)
    sys.stdin.readline()
    if sys.argv[2] == "write":
        for number in range(20):
            world.notes.write(f"memory/{sys.argv[3]}-{number}.md", f"note of {sys.argv[3]} on topic{number}\n")
    report = index.sync([world.notes], wait_seconds=60.0)
    print(report.added, report.pending, flush=True)
    world.close()


main()
