"""Builds the int8 ONNX graph of the transformer from the 4-bit weights.

The graph is a BERT encoder (Devlin et al., 2019) of 12 post-norm layers.  Its input is the sum of word,
position and type embeddings of one text, its output the hidden state of each token.  Word rows are looked
up outside, from the mapped 4-bit table, because in the graph they would be 370 MB of float32.

Each linear layer is quantised as in dynamic int8 quantisation: activations to uint8 with one scale for the
call, found while running; weights to int8 with one scale for each output.  Because the activation scale
is of the whole call, the graph takes exactly one text: beside other texts a text would get another
vector.  It needs no attention mask, since one text has no padding.

Weights use 7 of the 8 bits (-63 to 63).  On processors without VNNI instructions the uint8 x int8 product
is summed in pairs in int16, which 8-bit weights can overflow silently; 7-bit weights cannot, so all
processors compute the same integers.  The weights come from 4-bit blocks, so little is lost.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reverie.providers.bundled.weights import FloatArray, Weights

if TYPE_CHECKING:
    import onnx

INPUT: Final = "embeddings"
"""Graph input: float32 (1, tokens, hidden)."""
OUTPUT: Final = "states"
"""Graph output: float32 (1, tokens, hidden), not yet of unit length."""

_CONTRIB: Final = "com.microsoft"
_OPSET, _CONTRIB_OPSET, _IR_VERSION = 17, 1, 9
_LIMIT: Final = 63
_EXTERNAL_THRESHOLD: Final = 1024


def quantise(matrix: FloatArray) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.int8]], FloatArray]:
    """Rounds a (inputs, outputs) matrix to int8 in -63..63 with one scale for each output.

    Returns:
        The int8 matrix of the same shape and float32 scales (outputs,), so that matrix = int8 * scale.
    """
    scales = np.maximum(np.abs(matrix).max(axis=0), np.float32(1e-12)) / np.float32(_LIMIT)
    return np.rint(matrix / scales).astype(np.int8), scales.astype(np.float32)


def write_graph(weights: Weights, model_path: Path, data_name: str) -> None:
    """Writes the graph to `model_path` and its weights beside it in a file called `data_name`.

    The weights are a separate file so that the runtime maps them instead of copying them through protobuf.
    """
    import onnx

    onnx.save_model(
        _Assembly(weights).model(),
        str(model_path),
        save_as_external_data=True,
        all_tensors_to_one_file=True,
        location=data_name,
        size_threshold=_EXTERNAL_THRESHOLD,
    )


class _Assembly:
    """Collects nodes and constants while the layers are laid one on another."""

    def __init__(self, weights: Weights) -> None:
        self._weights = weights
        self._shape = weights.shape
        self._nodes: list[onnx.NodeProto] = []
        self._constants: list[onnx.TensorProto] = []

    def model(self) -> "onnx.ModelProto":
        """The whole checked model."""
        import onnx
        from onnx import TensorProto, helper

        hidden = self._shape.hidden
        state = self._layer_norm(INPUT, "emb.ln", "embedded")
        for layer in range(self._shape.layers):
            state = self._layer(f"l{layer}.", state)
        self._node("Identity", [state], OUTPUT, domain="")
        given, found = (
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, "tokens", hidden]) for name in (INPUT, OUTPUT)
        )
        graph = helper.make_graph(self._nodes, "multilingual-e5-small", [given], [found], self._constants)
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_CONTRIB, _CONTRIB_OPSET)]
        model = helper.make_model(graph, opset_imports=opsets)
        model.ir_version = _IR_VERSION
        onnx.checker.check_model(model)
        return model

    def _layer(self, at: str, state: str) -> str:
        """One post-norm encoder layer: attention and feed-forward, each added to its input and normalised."""
        hidden, inner = self._shape.hidden, self._shape.feed_forward
        # Query, key and value share their input, so one product (and one quantisation) serves all three.
        joined = np.concatenate([self._weights.matrix(f"{at}{part}.w", hidden, hidden) for part in "qkv"])
        bias = np.concatenate([self._weights.floats(f"{at}{part}.b") for part in "qkv"])
        mixed = self._linear(state, f"{at}qkv", joined, bias)
        parts = [f"{at}q", f"{at}k", f"{at}v"]
        self._split(mixed, parts, hidden)
        context = self._node("MultiHeadAttention", parts, f"{at}context", num_heads=self._shape.heads)
        output = self._weights.matrix(f"{at}ao.w", hidden, hidden)
        attended = self._linear(context, f"{at}attended", output, self._weights.floats(f"{at}ao.b"))
        state = self._add_and_norm(state, attended, f"{at}aln")
        widened = self._linear(state, f"{at}wide", self._weights.matrix(f"{at}fi.w", inner, hidden), None)
        inner_bias = self._constant(f"{at}fi.b", self._weights.floats(f"{at}fi.b"))
        active = self._node("BiasGelu", [widened, inner_bias], f"{at}active")
        narrow = self._weights.matrix(f"{at}fo.w", hidden, inner)
        narrowed = self._linear(active, f"{at}narrow", narrow, self._weights.floats(f"{at}fo.b"))
        return self._add_and_norm(state, narrowed, f"{at}oln")

    def _linear(self, source: str, name: str, matrix: FloatArray, bias: FloatArray | None) -> str:
        """Computes source x matrix^T + bias, where `matrix` is (outputs, inputs) as the file stores it."""
        values, scales = quantise(np.ascontiguousarray(matrix.T))
        inputs = [source, self._constant(f"{name}.int8", values), self._constant(f"{name}.scale", scales)]
        inputs.append(self._constant(f"{name}.zero", np.zeros(len(scales), dtype=np.int8)))
        if bias is not None:
            inputs.append(self._constant(f"{name}.bias", bias))
        return self._node("DynamicQuantizeMatMul", inputs, name)

    def _add_and_norm(self, state: str, change: str, name: str) -> str:
        # The fused operator for this pair is a scalar loop on CPUs, three times slower than the two.
        total = self._node("Add", [state, change], f"{name}.sum", domain="")
        return self._layer_norm(total, name, f"{name}.out")

    def _layer_norm(self, source: str, name: str, output: str) -> str:
        parts = [self._constant(f"{name}.{part}", self._weights.floats(f"{name}.{part}")) for part in "wb"]
        epsilon = self._shape.epsilon
        return self._node("LayerNormalization", [source, *parts], output, domain="", axis=-1, epsilon=epsilon)

    def _split(self, source: str, outputs: list[str], width: int) -> None:
        from onnx import helper

        sizes = self._constant(f"{source}.sizes", np.full(len(outputs), width, dtype=np.int64))
        self._nodes.append(helper.make_node("Split", [source, sizes], outputs, axis=-1))

    def _constant(self, name: str, values: "np.ndarray[tuple[int, ...], np.dtype[np.generic]]") -> str:
        from onnx import numpy_helper

        self._constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def _node(self, kind: str, inputs: list[str], output: str, *, domain: str = _CONTRIB, **settings: Any) -> str:
        from onnx import helper

        self._nodes.append(helper.make_node(kind, inputs, [output], domain=domain, **settings))
        return output
