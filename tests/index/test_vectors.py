from __future__ import annotations

import numpy as np
import pytest

from reverie.core.types import Corpus, Provenance, SearchRequest, SessionKind, SourceClass
from reverie.index import centres, evidence, vectors


class Directions:
    """Gives each text ``v <number>`` its own row of a matrix."""

    provider = "stub"
    model = "directions"

    def __init__(self, matrix):
        self.matrix = matrix
        self.dimension = matrix.shape[1]

    def identity(self):
        return f"directions-{self.dimension}"

    def embed_query(self, text):
        return self.matrix[int(text.split()[-1])]

    def embed_documents(self, texts):
        return np.stack([self.embed_query(text) for text in texts])

    def close(self):
        return None


def curated(world, count):
    world.notes.write("MEMORY.md", "".join(f"- v {number}\n" for number in range(count)))


def apart(world, count):
    """Write each text into a file of its own, so that none has a neighbour."""
    for number in range(count):
        world.notes.write(f"memory/{number:04d}.md", f"v {number}\n")


def numbers(index, hits):
    return [int(row.chunk.text.split()[-1]) for row in index.load([hit.chunk_id for hit in hits])]


def leg(index, query, limit=10):
    return index.vector_leg(query, SearchRequest("q", corpus=Corpus.ALL), limit)


def clustered(count, dimension, seed=5):
    """Return vectors that all point about the same way, as those of small models do."""
    random = np.random.default_rng(seed)
    matrix = random.normal(size=(count, dimension)) + 4 * random.normal(size=dimension)
    return (matrix / np.linalg.norm(matrix, axis=1, keepdims=True)).astype(np.float32)


def test_the_best_are_those_of_a_full_comparison_in_float64(world):
    matrix = clustered(200, 24)
    apart(world, 200)
    index = world.index(Directions(matrix))
    index.sync([world.notes])
    half = matrix.astype(np.float16).astype(np.float64)
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    for query in clustered(5, 24, seed=9):
        hits = leg(index, query)
        wide = query.astype(np.float64) / np.linalg.norm(query.astype(np.float64))
        cosines = half @ wide
        particular = half @ (wide - evidence.TEXT_SHARE * half.mean(axis=0))
        found = numbers(index, hits)
        assert particular[found] == pytest.approx(np.sort(particular)[::-1][:10], abs=0.001)
        assert [hit.score for hit in hits] == pytest.approx(cosines[found], abs=0.001)
        standing = (particular - particular.mean()) / particular.std()
        assert [hit.evidence for hit in hits] == pytest.approx(standing[found], abs=0.01)


def test_the_neighbours_of_a_match_count_more_than_others_do(world):
    matrix = np.eye(12, dtype=np.float32)
    curated(world, 12)
    index = world.index(Directions(matrix + 0.2))
    index.sync([world.notes])
    hits = leg(index, matrix[5] + 0.2, limit=12)
    assert numbers(index, hits)[0] == 5 and set(numbers(index, hits)[1:3]) == {4, 6}


def test_evidence_can_be_had_of_any_chunk_after_the_best(world):
    matrix = clustered(60, 24)
    curated(world, 60)
    index = world.index(Directions(matrix))
    index.sync([world.notes])
    every = leg(index, matrix[7], limit=60)
    last = every[-1]
    found = index.vector_leg(matrix[7], SearchRequest("q", corpus=Corpus.ALL), 5, np.array([last.chunk_id]))
    assert [hit.chunk_id for hit in found] == [*(hit.chunk_id for hit in every[:5]), last.chunk_id]
    assert found[-1].evidence == last.evidence


def test_what_all_questions_share_is_taken_off_a_question(world):
    embedder = world.embedder()
    apart(world, 3)
    index = world.index(embedder)
    index.sync([world.notes])
    assert world.table(index, "SELECT script FROM centre ORDER BY script") == [("ja",), ("ko",), ("latin",), ("zh",)]
    mean = np.mean([embedder.embed_query(text) for text in centres.GENERIC["zh"]], axis=0)
    found = centres.Centres(index._reader, 1, embedder.dimension).of("护照在哪里")
    assert found == pytest.approx(mean, abs=1e-6)


def test_bit_codes_find_what_the_full_comparison_finds(world, monkeypatch):
    # Groups of alike texts on top of a direction that all share, as in real collections.
    topics = clustered(150, 256, seed=3)
    matrix = np.repeat(topics, 20, axis=0) + 0.03 * np.random.default_rng(2).normal(size=(3_000, 256))
    curated(world, 3_000)
    index = world.index(Directions(matrix))
    index.sync([world.notes])
    queries = [matrix[number] + 0.02 * noise for number, noise in enumerate(clustered(20, 256, seed=2))]
    exact = [numbers(index, leg(index, query)) for query in queries]
    index.use_embedder(Directions(matrix))
    monkeypatch.setattr(vectors, "EXACT_ROWS", 1_000)
    coded = [numbers(index, leg(index, query)) for query in queries]
    # Within a topic all texts are about as near; which come first differs with the sample that the mean is of.
    assert [one[0] // 20 for one in exact] == [one[0] // 20 for one in coded] == [number // 20 for number in range(20)]
    shared = [len(set(one) & set(two)) for one, two in zip(exact, coded, strict=True)]
    assert sum(shared) / (10 * len(queries)) > 0.75


@pytest.mark.parametrize("exact_rows", [50_000, 100])
def test_an_index_grown_by_edits_answers_like_one_built_at_once(world, monkeypatch, exact_rows):
    monkeypatch.setattr(vectors, "EXACT_ROWS", exact_rows)
    matrix = clustered(600, 32)
    grown = world.index(Directions(matrix), agent="grown")
    for count in (90, 300, 301, 600, 450):
        curated(world, count)
        grown.sync([world.notes])
        assert len(leg(grown, matrix[0], limit=count)) == count
    fresh = world.index(Directions(matrix), agent="fresh")
    fresh.sync([world.notes])
    for query in matrix[::50]:
        one, two = leg(grown, query, limit=40), leg(fresh, query, limit=40)
        assert numbers(grown, one) == numbers(fresh, two)
        assert [hit.score for hit in one] == [hit.score for hit in two]


def test_only_what_is_new_is_read_again(world, monkeypatch):
    embedder = world.embedder()
    world.notes.write("memory/a.md", "first\n")
    index = world.index(embedder)
    index.sync([world.notes])
    world.near(index, embedder, "first")
    loads = []
    load = vectors.VectorTable._loaded
    monkeypatch.setattr(
        vectors.VectorTable, "_loaded", lambda table, columns: (loads.append(1), load(table, columns))[1]
    )
    world.notes.write("memory/b.md", "second\n")
    index.sync([world.notes])
    assert set(world.near(index, embedder, "first second")) == {"memory/a.md", "memory/b.md"}
    (world.notes.root / "memory/a.md").unlink()
    index.sync([world.notes])
    assert world.near(index, embedder, "first second") == ["memory/b.md"]
    assert loads == []


def test_a_reader_finds_nothing_of_what_was_removed_since_it_looked(world, monkeypatch):
    monkeypatch.setattr("reverie.index.sync.ORPHANS_KEPT", 0)
    embedder = world.embedder()
    curated(world, 40)
    index = world.index(embedder)
    index.sync([world.notes])
    assert len(world.near(index, embedder, "v 1")) == 40
    curated(world, 10)
    index.sync([world.notes])
    assert len(world.near(index, embedder, "v 1")) == 10


@pytest.mark.parametrize(
    "query", [np.zeros(16), np.full(16, np.nan), np.full(16, np.inf), np.ones(8), np.ones((2, 16))]
)
def test_a_query_vector_that_is_none_has_no_neighbours(world, query):
    embedder = world.embedder()
    world.notes.write("memory/a.md", "text\n")
    index = world.index(embedder)
    index.sync([world.notes])
    assert not leg(index, query.astype(np.float32))


@pytest.mark.parametrize("bad", [np.zeros(4), np.full(4, np.nan), np.array([np.inf, 0, 0, 0]), np.array([1e-30] * 4)])
def test_vectors_that_are_zero_or_no_numbers_are_not_stored(world, bad):
    embedder = Directions(np.stack([np.eye(4)[0], bad.astype(np.float64), np.eye(4)[1]]))
    curated(world, 3)
    index = world.index(embedder)
    report = index.sync([world.notes])
    assert report.embedded == 2 and any("refused 1 texts" in notice for notice in report.notices)
    assert numbers(index, leg(index, np.ones(4))) == [0, 2]


@pytest.mark.parametrize("shape", ["short", "wide", "none"])
def test_an_answer_of_the_wrong_shape_is_refused(world, shape):
    embedder = world.embedder()
    answers = {
        "short": lambda texts: np.ones((0, 16)),
        "wide": lambda texts: np.ones((len(texts), 17)),
        "none": lambda texts: None,
    }
    embedder.embed_documents = answers[shape]
    world.notes.write("memory/a.md", "text\n")
    index = world.index(embedder)
    assert index.sync([world.notes]).embedded == 0
    assert world.found(index, "text") == ["memory/a.md"]


def test_equal_cosines_are_ordered_by_path_and_line(world):
    embedder = world.embedder()
    for name in ("c", "a", "b"):
        world.notes.write(f"memory/{name}.md", "\n\n".join(f"## x\nsame words{' ' * number}" for number in range(3)))
    index = world.index(embedder)
    index.sync([world.notes])
    hits = leg(index, embedder.embed_query("same words"), limit=4)
    rows = index.load([hit.chunk_id for hit in hits])
    assert [(row.chunk.path, row.chunk.start_line) for row in rows] == [
        ("memory/a.md", 1),
        ("memory/a.md", 4),
        ("memory/a.md", 7),
        ("memory/b.md", 1),
    ]


def test_without_an_embedder_there_is_no_vector_leg(world):
    world.notes.write("memory/a.md", "text\n")
    index = world.index()
    index.sync([world.notes])
    assert not leg(index, np.ones(16))
    assert (index.counts().vectors, index.counts().pending, index.model()) == (0, 0, "")


@pytest.mark.parametrize("exact_rows", [50_000, 100])
def test_i2_vectors_that_are_sent_in_change_no_score_of_trusted_ones(world, monkeypatch, exact_rows):
    monkeypatch.setattr(vectors, "EXACT_ROWS", exact_rows)
    matrix = clustered(400, 64, seed=8)
    world.notes.provenance = lambda path, number: Provenance(
        SourceClass.UNTRUSTED if path.startswith("memory/sent/") else SourceClass.AGENT, SessionKind.INTERACTIVE
    )
    curated(world, 200)
    index = world.index(Directions(matrix))
    index.sync([world.notes])
    before = leg(index, matrix[3], limit=30)
    world.notes.write("memory/sent/page.md", "".join(f"v {number}\n" for number in (3, 3, *range(200, 400))))
    index.sync([world.notes])
    after = leg(index, matrix[3], limit=30)
    assert [hit for hit in after if hit.trusted] == list(before)
    foreign = [hit for hit in after if not hit.trusted]
    assert len(foreign) == 30
    assert numbers(index, foreign)[0] == 3
