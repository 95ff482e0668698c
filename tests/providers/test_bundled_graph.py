"""The int8 graph computes the same model as a plain forward pass of the same weights."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from reverie.providers.bundled import build, graph, weights
from reverie.providers.bundled.embedder import PASSAGE_PREFIX, BundledEmbedder
from reverie.providers.bundled.tokenizer import Tokenizer, clean

Array = weights.FloatArray

TEXTS = [
    "How much protein should I eat per day?",
    "Die Katze saß auf der Matte und sah den Vögeln zu.",
    "我喜欢在北京吃拉面，但是东京的更好。",
    "회의는 내일 오후 세 시에 시작합니다.",
    "The server crashed at 03:12 UTC with error code 0x8007; we rolled back release 4.2.1 and paged Anna.",
]
_ERF: Callable[[Array], Array] = np.vectorize(math.erf, otypes=[np.float32])


def normalise(values: Array, model: weights.Weights, name: str) -> Array:
    centred = values - values.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(model.shape.epsilon))
    return np.asarray(centred / spread * model.floats(f"{name}.w") + model.floats(f"{name}.b"))


def linear(values: Array, model: weights.Weights, name: str, outputs: int) -> Array:
    matrix = model.matrix(f"{name}.w", outputs, values.shape[-1])
    return np.asarray(values @ matrix.T + model.floats(f"{name}.b"))


def attention(values: Array, model: weights.Weights, at: str) -> Array:
    tokens, hidden = values.shape
    heads = model.shape.heads
    query, key, value = (
        linear(values, model, at + part, hidden).reshape(tokens, heads, -1).transpose(1, 0, 2) for part in "qkv"
    )
    scores = query @ key.transpose(0, 2, 1) / math.sqrt(hidden // heads)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    mixed = shares / shares.sum(axis=-1, keepdims=True) @ value
    return linear(np.asarray(mixed.transpose(1, 0, 2).reshape(tokens, hidden)), model, f"{at}ao", hidden)


def word_rows(model: weights.Weights, ids: list[int]) -> Array:
    table = model.tensors["emb.word"]
    blocks = np.frombuffer(model.data, weights.Q4_BLOCK, table.values // weights.BLOCK, table.offset)
    return weights.expand(blocks.reshape(model.shape.vocabulary, -1)[ids]).reshape(len(ids), -1)


def forward(model: weights.Weights, ids: list[int]) -> Array:
    """BERT's encoder in plain float32 numpy."""
    shape = model.shape
    words = word_rows(model, ids)
    positions = model.floats("emb.pos").reshape(shape.positions, shape.hidden)[: len(ids)]
    state = normalise(words + positions + model.floats("emb.type")[: shape.hidden], model, "emb.ln")
    for layer in range(shape.layers):
        at = f"l{layer}."
        state = normalise(state + attention(state, model, at), model, f"{at}aln")
        wide = linear(state, model, f"{at}fi", shape.feed_forward)
        active = np.asarray(wide * 0.5 * (1 + _ERF(wide / math.sqrt(2))))
        state = normalise(state + linear(active, model, f"{at}fo", shape.hidden), model, f"{at}oln")
    return state


@pytest.fixture(scope="module")
def model() -> weights.Weights:
    source = weights.locate()
    if source is None:
        pytest.skip(f"package {weights.PACKAGE} is not installed")
    return weights.read(source)


def test_vectors_agree_with_a_plain_forward_pass(
    bundled_embedder: BundledEmbedder, bundled_root: Path, model: weights.Weights
) -> None:
    tokenizer = Tokenizer.open(bundled_root / build.FOLDER_NAME, bos=model.bos, eos=model.eos, unk=model.unk)
    found = bundled_embedder.embed_documents(TEXTS)
    for text, vector in zip(TEXTS, found, strict=True):
        mean = forward(model, tokenizer.encode(clean(text), prefix=PASSAGE_PREFIX)).mean(axis=0)
        assert vector @ (mean / np.linalg.norm(mean)) >= 0.99


def test_the_weight_file_has_the_shape_of_the_model(model: weights.Weights) -> None:
    assert model.shape == weights.Shape(384, 12, 12, 1536, 250_037, 512, model.shape.epsilon)
    assert (model.bos, model.eos, model.unk, len(model.pieces)) == (0, 2, 3, 250_002)


def test_rounding_keeps_each_output_within_half_a_step() -> None:
    matrix = np.random.default_rng(5).normal(size=(64, 16)).astype(np.float32)
    values, scales = graph.quantise(matrix)
    assert np.abs(values).max() <= 63
    assert (np.abs(values * scales - matrix) <= scales / 2 + 1e-6).all()


def test_four_bit_blocks_unpack_low_nibbles_first() -> None:
    block = np.zeros((), dtype=weights.Q4_BLOCK)
    block["scale"], block["nibbles"] = 0.5, np.full(16, 0xF0)
    assert weights.expand(block).tolist() == [-4.0] * 16 + [3.5] * 16
