"""Invariant I9: an index that was kept up to date is worth no more than one made anew."""

from __future__ import annotations

import random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from reverie.core.types import Corpus, Provenance, SearchRequest, SessionKind, SourceClass

WORDS = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "glade",
    "haven",
    "inlet",
    "joker",
    "報告",
    "会议",
    "réunion",
    "Straße",
]
NAMES = ["MEMORY.md", "USER.md", "memory/2026-01-02.md", "memory/a.md", "memory/deep/b c.md", "memory/über.md"]
QUERIES = ["amber", "birch cedar", "会议", "joker fjord glade", "reunion strasse", '"delta ember"', "haven_inlet"]

LINE = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=9).map(" ".join),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(lambda words: "- " + " ".join(words)),
    st.sampled_from(["# Top", "## Part", "### Deep", "", "```", "- x <!-- importance: 7 -->", "amber " * 300]),
)
TEXT = st.lists(LINE, max_size=12).map("\n".join)


def legs(index, embedder):
    found = []
    for query in QUERIES:
        for corpus in (Corpus.ALL, Corpus.MEMORY):
            request = SearchRequest(query, corpus=corpus)
            for hits in (
                index.keyword_leg(request, 7),
                index.vector_leg(embedder.embed_query(query), request, 7),
            ):
                rows = index.load([hit.chunk_id for hit in hits])
                found.append(
                    [
                        (row.chunk.path, row.chunk.start_line, row.chunk.end_line, row.chunk.text, hit.rank, hit.score)
                        for row, hit in zip(rows, hits, strict=True)
                    ]
                )
    return found


def contents(world, index):
    paths = [path for (path,) in world.table(index, "SELECT path FROM source ORDER BY corpus, path")]
    return paths, [(row.chunk, row.date, row.curated, row.position) for path in paths for row in index.rows_of(path)]


def compared(world, kept, embedder, name, done):
    fresh = world.index(embedder, agent=name)
    fresh.sync([world.notes])
    assert contents(world, kept) == contents(world, fresh)
    assert legs(kept, embedder) == legs(fresh, embedder)
    assert kept.integrity() == []
    fresh.close()
    done.append(name)


def machine(worlds, done):
    class Editing(RuleBasedStateMachine):
        def __init__(self):
            super().__init__()
            self.world = worlds()
            self.embedder = self.world.embedder()
            self.index = self.world.index(self.embedder)
            self.world.notes.provenance = self.provenance
            self.untrusted = set()
            self.builds = 0
            self.in_step = False

        def provenance(self, path, number):
            origin = SourceClass.UNTRUSTED if (path, number % 4) in self.untrusted else SourceClass.AGENT
            return Provenance(origin, SessionKind.INTERACTIVE)

        def path(self, name):
            return self.world.notes.root / name

        @rule(name=st.sampled_from(NAMES), text=TEXT)
        def write(self, name, text):
            self.world.notes.write(name, text)
            self.in_step = False

        @rule(name=st.sampled_from(NAMES), line=LINE)
        def append(self, name, line):
            old = self.path(name).read_text(encoding="utf-8") if self.path(name).exists() else ""
            self.world.notes.write(name, f"{old}\n{line}")
            self.in_step = False

        @rule(name=st.sampled_from(NAMES))
        def delete(self, name):
            self.path(name).unlink(missing_ok=True)
            self.in_step = False

        @rule(name=st.sampled_from(NAMES), other=st.sampled_from(NAMES))
        def rename(self, name, other):
            if self.path(name).exists() and name != other:
                self.path(other).parent.mkdir(parents=True, exist_ok=True)
                self.path(name).replace(self.path(other))
                self.in_step = False

        @rule(name=st.sampled_from(NAMES), remainder=st.integers(0, 3))
        def distrust(self, name, remainder):
            self.untrusted ^= {(name, remainder)}
            if self.path(name).exists():
                self.index.sync([self.world.notes], only=[name])

        @rule(force=st.booleans())
        def sync(self, force):
            self.index.sync([self.world.notes], force=force)
            self.in_step = True

        @rule()
        def compact(self):
            self.index.compact()

        @precondition(lambda self: self.in_step)
        @rule()
        def rebuild(self):
            self.builds += 1
            compared(self.world, self.index, self.embedder, f"fresh-{self.builds}", done)

        @invariant()
        def nothing_is_left_over(self):
            files, chunks, texts, trusted, untrusted = (
                self.world.table(self.index, f"SELECT count(*) FROM {table}")[0][0]
                for table in (
                    "source",
                    "chunk",
                    "chunk_text",
                    "trusted_chunk_fts_docsize",
                    "untrusted_chunk_fts_docsize",
                )
            )
            assert chunks == texts == trusted + untrusted
            assert self.index.integrity() == []
            assert (self.index.counts().files, self.index.counts().chunks) == (files, chunks)

        def teardown(self):
            self.index.sync([self.world.notes])
            compared(self.world, self.index, self.embedder, "last", done)
            self.world.close()

    return Editing


def test_i9_an_index_kept_up_to_date_equals_one_made_anew(worlds):
    done = []
    run_state_machine_as_test(
        machine(worlds, done), settings=settings(max_examples=15, stateful_step_count=15, deadline=None)
    )
    assert done.count("last") >= 15, "each life of an index ends with a comparison"


def test_i9_deleting_the_index_and_rebuilding_gives_the_same_results(world):
    choose = random.Random(11)
    for number in range(60):
        lines = [" ".join(choose.choices(WORDS, k=8)) for _ in range(30)]
        world.notes.write(f"memory/n{number:02d}.md", "\n".join(lines))
    embedder = world.embedder()
    index = world.index(embedder)
    index.sync([world.notes])
    before = legs(index, embedder)
    world.close()
    for found in world.agent.glob("index.sqlite*"):
        found.unlink()
    again = world.index(embedder)
    again.sync([world.notes])
    assert legs(again, embedder) == before
