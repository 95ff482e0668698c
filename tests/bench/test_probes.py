import numpy as np
import pytest

from bench.probes.embedders import Recorded, Synthetic
from bench.stages.plan import Plan
from bench.stages.stores import ProbeFailed, Store, probe
from reverie.providers.bundled.embedder import BundledEmbedder


def test_synthetic_vectors_are_those_of_the_text_and_lie_together_as_the_models_do():
    embedder = Synthetic()
    vectors = embedder.embed_documents([f"text {number}" for number in range(50)])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert np.array_equal(Synthetic().embed_query("text 7"), vectors[7])
    cosines = (vectors @ vectors.T)[~np.eye(50, dtype=bool)]
    assert 0.7 < cosines.min() < cosines.max() < 0.98


def test_a_store_of_synthetic_vectors_can_be_opened_by_the_bundled_embedder():
    assert (Synthetic.provider, Synthetic.model, Synthetic.dimension) == (
        BundledEmbedder.provider,
        BundledEmbedder.model,
        BundledEmbedder.dimension,
    )
    assert Synthetic().identity() == BundledEmbedder.identity(Synthetic())


def test_a_recorded_embedder_passes_on_and_remembers():
    inner = Synthetic()
    recorded = Recorded(inner)
    assert np.array_equal(recorded.embed_documents(["a", "b"]), inner.embed_documents(["a", "b"]))
    assert recorded.batches == [["a", "b"]]
    assert recorded.identity() == inner.identity()


@pytest.mark.slow
@pytest.mark.parametrize("vectors", ["none", "synthetic"])
def test_a_probe_measures_a_store_in_a_process_of_its_own_and_leaves_the_notes_as_they_were(tmp_path, vectors):
    plan = Plan(tmp_path, tmp_path / "model", queries=4)
    store = Store(12, 3, tmp_path / "state", vectors)
    found = probe(plan, store, "index", "search", "unchanged", "append")
    assert found["index"]["files"] == 4
    assert found["index"]["embedded"] == (0 if vectors == "none" else found["index"]["chunks"])
    assert len(found["search"]["whole"]) == 4
    assert found["search"]["answered"] == 4
    assert found["search"]["modes"] == ["keyword" if vectors == "none" else "hybrid"]
    assert len(found["append"]["written"]) == len(found["append"]["noticed"]) == found["append"]["of"]
    assert sorted(path.name for path in (tmp_path / "notes-12-3" / "memory").iterdir()) == ["2023"]


def test_a_probe_that_fails_says_why(tmp_path):
    plan = Plan(tmp_path, tmp_path / "model", queries=1)
    (tmp_path / "state").write_text("a file, where a folder is needed", encoding="utf-8")
    with pytest.raises(ProbeFailed, match="none, 2 chunks: exit status 1"):
        probe(plan, Store(2, 1, tmp_path / "state", "none"), "index")
