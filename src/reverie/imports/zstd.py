"""Reading Zstandard frames (RFC 8878), which newer OpenClaw databases and archives hold.

Python has a decoder from 3.14 on; it is used where there is one. The one here needs nothing and is meant for messages
of a few kilobytes: some hundred kilobytes a second. A frame without a dictionary is all that it reads; a content
checksum is checked.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field

from reverie.core.errors import ImportRefused

MAGIC = b"\x28\xb5\x2f\xfd"
_MASK = (1 << 64) - 1
_LARGEST_BLOCK = 1 << 17


def decompress(data: bytes, limit: int) -> bytes:
    """Return what one or several frames hold.

    Raises:
        ImportRefused: the data is damaged, needs a dictionary, or holds more than ``limit`` bytes.
    """
    native = _native()
    if native is not None:
        return native(data, limit)
    return decompress_here(data, limit)


def _native() -> Callable[[bytes, int], bytes] | None:
    try:
        module = importlib.import_module("compression.zstd")
    except ImportError:
        return None

    def run(data: bytes, limit: int) -> bytes:
        found = b""
        while data:
            decoder = module.ZstdDecompressor()
            try:
                found += decoder.decompress(data, limit + 1 - len(found))
            except module.ZstdError as error:
                raise ImportRefused(str(error)) from error
            if len(found) > limit:
                raise ImportRefused("The compressed data holds more than is expected")
            if not decoder.eof:
                raise ImportRefused("The compressed data breaks off")
            data = decoder.unused_data
        return found

    return run


def decompress_here(data: bytes, limit: int) -> bytes:
    """Do what :func:`decompress` does, in Python alone."""
    out, at = bytearray(), 0
    try:
        while at < len(data):
            at = _frame(data, at, out, limit)
    except (IndexError, KeyError) as error:
        raise ImportRefused("The compressed data is damaged") from error
    return bytes(out)


# --- frames and blocks -----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Tables:
    """What later blocks of a frame may use again: the Huffman table, the three FSE tables, the last offsets."""

    huffman: tuple[list[tuple[int, int]], int] | None = None
    fse: dict[str, tuple[list[tuple[int, int, int]], int]] = field(default_factory=dict)
    offsets: list[int] = field(default_factory=lambda: [1, 4, 8])


def _frame(data: bytes, at: int, out: bytearray, limit: int) -> int:
    magic = int.from_bytes(data[at : at + 4], "little")
    if magic & 0xFFFFFFF0 == 0x184D2A50:  # a frame that is to be skipped
        return at + 8 + int.from_bytes(data[at + 4 : at + 8], "little")
    if data[at : at + 4] != MAGIC:
        raise ImportRefused("This is no Zstandard frame")
    descriptor, at = data[at + 4], at + 5
    single, checksum = descriptor >> 5 & 1, descriptor >> 2 & 1
    if descriptor & 3:
        raise ImportRefused("The compressed data needs a dictionary")
    if not single:
        at += 1
    at += (single, 2, 4, 8)[descriptor >> 6]
    start, tables, last = len(out), _Tables(), False
    while not last:
        header, at = int.from_bytes(_take(data, at, 3), "little"), at + 3
        last, kind, size = bool(header & 1), header >> 1 & 3, header >> 3
        if len(out) - start + (size if kind == 1 else 0) > limit:
            raise ImportRefused("The compressed data holds more than is expected")
        if kind == 0:
            out += _take(data, at, size)
            at += size
        elif kind == 1:
            out += _take(data, at, 1) * size
            at += 1
        elif kind == 2:
            _block(_take(data, at, size), out, start, tables)
            at += size
        else:
            raise ImportRefused("The compressed data is damaged")
    if len(out) - start > limit:
        raise ImportRefused("The compressed data holds more than is expected")
    if checksum:
        if int.from_bytes(_take(data, at, 4), "little") != xxh64(bytes(out[start:])) & 0xFFFFFFFF:
            raise ImportRefused("The checksum of the compressed data is wrong")
        at += 4
    return at


def _take(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise ImportRefused("The compressed data breaks off")
    return data[at : at + size]


def _block(block: bytes, out: bytearray, start: int, tables: _Tables) -> None:
    literals, at = _literals(block, tables)
    count, at = block[at], at + 1
    if count >= 128:
        if count < 255:
            count, at = (count - 128 << 8) + block[at], at + 1
        else:
            count, at = int.from_bytes(block[at : at + 2], "little") + 0x7F00, at + 2
    if not count:
        out += literals
        return
    modes, at = block[at], at + 1
    for name, mode in (("literal", modes >> 6), ("offset", modes >> 4 & 3), ("match", modes >> 2 & 3)):
        at = _sequence_table(block, at, name, mode, tables)
    _sequences(block[at:], count, literals, out, start, tables)


# --- bits, read from the end of the data backwards ---------------------------------------------------------------


class _Bits:
    """The bits of a stream that is read backwards, as one large number."""

    def __init__(self, data: bytes) -> None:
        if not data or not data[-1]:
            raise ImportRefused("The compressed data is damaged")
        self._value = int.from_bytes(data, "little")
        self.left = self._value.bit_length() - 1

    def take(self, count: int) -> int:
        """Return the next bits; beyond the beginning there are zeros."""
        self.left -= count
        mask = (1 << count) - 1
        return self._value >> self.left & mask if self.left >= 0 else self._value << -self.left & mask

    def peek(self, count: int) -> int:
        """Return the next bits and stay."""
        self.left -= count
        found = self._value >> self.left if self.left >= 0 else self._value << -self.left
        self.left += count
        return found & (1 << count) - 1


# --- finite state entropy ------------------------------------------------------------------------------------


def _distribution(data: bytes, at: int, most: int) -> tuple[list[int], int, int]:
    """Read the table of probabilities at a place: the probabilities, the accuracy, and the byte behind it."""
    value, bit = int.from_bytes(data[at : at + 512], "little"), 4
    accuracy = (value & 15) + 5
    if accuracy > most:
        raise ImportRefused("The compressed data is damaged")
    left, found = (1 << accuracy) + 1, []
    while left > 1:
        width = left.bit_length()
        low = (1 << width - 1) - 1
        spare = (1 << width) - 1 - left
        read = value >> bit & (1 << width) - 1
        if read & low < spare:
            read, bit = read & low, bit + width - 1
        else:
            read, bit = (read - spare if read > low else read), bit + width
        found.append(read - 1)
        left -= abs(read - 1)
        while read == 1:
            more, bit = value >> bit & 3, bit + 2
            found += [0] * more
            if more != 3:
                break
    if left != 1 or len(found) > 256:
        raise ImportRefused("The compressed data is damaged")
    return found, accuracy, at + (bit + 7) // 8


def _fse(probabilities: list[int], accuracy: int) -> tuple[list[tuple[int, int, int]], int]:
    """Return the decoding table: of each state the symbol, the bits to read and the base of the next state."""
    size = 1 << accuracy
    symbols, high = [0] * size, size - 1
    for symbol, probability in enumerate(probabilities):
        if probability == -1:
            symbols[high] = symbol
            high -= 1
    place, step = 0, (size >> 1) + (size >> 3) + 3
    for symbol, probability in enumerate(probabilities):
        for _ in range(max(0, probability)):
            symbols[place] = symbol
            place = place + step & size - 1
            while place > high:
                place = place + step & size - 1
    following = [1 if probability == -1 else probability for probability in probabilities]
    table = []
    for symbol in symbols:
        state = following[symbol]
        following[symbol] += 1
        bits = accuracy - state.bit_length() + 1
        table.append((symbol, bits, (state << bits) - size))
    return table, accuracy


# --- literals ---------------------------------------------------------------------------------------------------


def _literals(block: bytes, tables: _Tables) -> tuple[bytes, int]:
    """Return the literals of a block and the place behind them."""
    kind, shape = block[0] & 3, block[0] >> 2 & 3
    if kind < 2:
        width = (1, 2, 1, 3)[shape]
        size = int.from_bytes(block[:width], "little") >> (4 if shape & 1 else 3)
        if kind == 0:
            return _take(block, width, size), width + size
        return _take(block, width, 1) * size, width + 1
    width, bits = ((3, 10), (3, 10), (4, 14), (5, 18))[shape]
    header = int.from_bytes(_take(block, 0, width), "little") >> 4
    size, packed = header & (1 << bits) - 1, header >> bits
    data, end = _take(block, width, packed), width + packed
    at = 0
    if kind == 2:
        tables.huffman, at = _huffman(data)
    if tables.huffman is None:
        raise ImportRefused("The compressed data is damaged")
    if shape == 0:
        return _decoded(data[at:], size, tables.huffman), end
    ends = [int.from_bytes(data[at + 2 * part : at + 2 * part + 2], "little") for part in range(3)]
    at, each, found = at + 6, (size + 3) // 4, b""
    for part in range(4):
        stop = at + ends[part] if part < 3 else len(data)
        found += _decoded(data[at:stop], each if part < 3 else size - 3 * each, tables.huffman)
        at = stop
    return found, end


def _huffman(data: bytes) -> tuple[tuple[list[tuple[int, int]], int], int]:
    """Read a Huffman table: of each code the symbol and its length; and the place behind it."""
    head = data[0]
    if head >= 128:
        count = head - 127
        packed = _take(data, 1, (count + 1) // 2)
        weights = [packed[n // 2] >> 4 if n % 2 == 0 else packed[n // 2] & 15 for n in range(count)]
        at = 1 + len(packed)
    else:
        weights, at = _weights(_take(data, 1, head)), 1 + head
    total = sum(1 << weight - 1 for weight in weights if weight)
    length = total.bit_length()
    rest = (1 << length) - total
    if not total or length > 11 or rest & rest - 1:
        raise ImportRefused("The compressed data is damaged")
    weights.append(rest.bit_length())
    table: list[tuple[int, int]] = []
    for weight in range(1, length + 1):
        for symbol, one in enumerate(weights):
            if one == weight:
                table += [(symbol, length + 1 - weight)] * (1 << weight - 1)
    return (table, length), at


def _weights(data: bytes) -> list[int]:
    probabilities, accuracy, at = _distribution(data, 0, 6)
    table, accuracy = _fse(probabilities, accuracy)
    bits = _Bits(data[at:])
    states, found = [bits.take(accuracy), bits.take(accuracy)], []
    turn = 0
    while True:
        symbol, count, base = table[states[turn]]
        found.append(symbol)
        if bits.left < count:
            found.append(table[states[1 - turn]][0])
            return found
        states[turn] = base + bits.take(count)
        turn = 1 - turn
        if len(found) > 255:
            raise ImportRefused("The compressed data is damaged")


def _decoded(data: bytes, size: int, huffman: tuple[list[tuple[int, int]], int]) -> bytes:
    table, length = huffman
    bits, found = _Bits(data), bytearray()
    for _ in range(size):
        symbol, used = table[bits.peek(length)]
        bits.left -= used
        found.append(symbol)
    if bits.left != 0:
        raise ImportRefused("The compressed data is damaged")
    return bytes(found)


# --- sequences --------------------------------------------------------------------------------------------------

_LITERAL_CODES = [(n, 0) for n in range(16)]
_LITERAL_CODES += [(16, 1), (18, 1), (20, 1), (22, 1), (24, 2), (28, 2), (32, 3), (40, 3), (48, 4), (64, 6)]
_LITERAL_CODES += [(1 << bits, bits) for bits in range(7, 17)]
_MATCH_CODES = [(n + 3, 0) for n in range(32)]
_MATCH_CODES += [(35, 1), (37, 1), (39, 1), (41, 1), (43, 2), (47, 2), (51, 3), (59, 3), (67, 4), (83, 4), (99, 5)]
_MATCH_CODES += [((1 << bits) + 3, bits) for bits in range(7, 17)]
_LITERAL_DEFAULT = [4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1]
_LITERAL_DEFAULT += [-1] * 4
_MATCH_DEFAULT = [1, 4, 3, 2, 2, 2, 2, 2, 2, *[1] * 37, *[-1] * 7]
_OFFSET_DEFAULT = [1, 1, 1, 1, 1, 1, 2, 2, 2, *[1] * 15, *[-1] * 5]
#: Of each kind of code: the predefined probabilities, their accuracy, and the most that a table may have.
_KINDS = {
    "literal": (_LITERAL_DEFAULT, 6, 9),
    "offset": (_OFFSET_DEFAULT, 5, 8),
    "match": (_MATCH_DEFAULT, 6, 9),
}


def _sequence_table(block: bytes, at: int, name: str, mode: int, tables: _Tables) -> int:
    default, accuracy, most = _KINDS[name]
    if mode == 0:
        tables.fse[name] = _fse(default, accuracy)
    elif mode == 1:
        tables.fse[name] = ([(block[at], 0, 0)], 0)
        at += 1
    elif mode == 2:
        probabilities, accuracy, at = _distribution(block, at, most)
        tables.fse[name] = _fse(probabilities, accuracy)
    elif name not in tables.fse:
        raise ImportRefused("The compressed data is damaged")
    return at


def _sequences(data: bytes, count: int, literals: bytes, out: bytearray, start: int, tables: _Tables) -> None:
    bits, at, begun = _Bits(data), 0, len(out)
    literal, offset, match = (tables.fse[name] for name in ("literal", "offset", "match"))
    states = [bits.take(table[1]) for table in (literal, offset, match)]
    for number in range(count):
        code, offset_bits, length_bits = (
            literal[0][states[0]],
            offset[0][states[1]],
            match[0][states[2]],
        )
        value = (1 << offset_bits[0]) + bits.take(offset_bits[0])
        base, extra = _MATCH_CODES[length_bits[0]]
        length = base + bits.take(extra)
        base, extra = _LITERAL_CODES[code[0]]
        run = base + bits.take(extra)
        if number < count - 1:
            states[0] = code[2] + bits.take(code[1])
            states[2] = length_bits[2] + bits.take(length_bits[1])
            states[1] = offset_bits[2] + bits.take(offset_bits[1])
        out += _take(literals, at, run)
        at += run
        _copy(out, start, _distance(value, run, tables.offsets), length)
        if len(out) - begun > _LARGEST_BLOCK:
            raise ImportRefused("The compressed data is damaged")
    if bits.left != 0:
        raise ImportRefused("The compressed data is damaged")
    out += literals[at:]


def _distance(value: int, run: int, offsets: list[int]) -> int:
    """Return how far back to copy from, and remember it: small values stand for the last three distances."""
    if value > 3:
        offsets[:] = [value - 3, offsets[0], offsets[1]]
        return offsets[0]
    place = value - 1 + (run == 0)
    if place == 0:
        return offsets[0]
    found = offsets[0] - 1 if place == 3 else offsets[place]
    offsets[:] = [found, offsets[0], offsets[1] if place > 1 else offsets[2]]
    return found


def _copy(out: bytearray, start: int, distance: int, length: int) -> None:
    at = len(out) - distance
    if distance < 1 or at < start:
        raise ImportRefused("The compressed data is damaged")
    if distance >= length:
        out += out[at : at + length]
        return
    piece = bytes(out[at:])
    out += (piece * (length // distance + 1))[:length]


# --- the checksum -----------------------------------------------------------------------------------------------

_P1, _P2, _P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
_P4, _P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def xxh64(data: bytes) -> int:
    """Return the 64-bit XXH hash of the data, with seed 0."""
    at, size = 0, len(data)
    if size >= 32:
        lanes = [_P1 + _P2 & _MASK, _P2, 0, -_P1 & _MASK]
        while at <= size - 32:
            for lane in range(4):
                word = int.from_bytes(data[at : at + 8], "little")
                lanes[lane] = _round(lanes[lane], word)
                at += 8
        found = sum(_rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) & _MASK
        for lane in lanes:
            found = (found ^ _round(0, lane)) * _P1 + _P4 & _MASK
    else:
        found = _P5
    found = found + size & _MASK
    while at <= size - 8:
        word = int.from_bytes(data[at : at + 8], "little")
        found, at = _rotated(found ^ _round(0, word), 27) * _P1 + _P4 & _MASK, at + 8
    if at <= size - 4:
        word = int.from_bytes(data[at : at + 4], "little")
        found, at = _rotated(found ^ word * _P1 & _MASK, 23) * _P2 + _P3 & _MASK, at + 4
    for byte in data[at:]:
        found = _rotated(found ^ byte * _P5 & _MASK, 11) * _P1 & _MASK
    found = (found ^ found >> 33) * _P2 & _MASK
    found = (found ^ found >> 29) * _P3 & _MASK
    return found ^ found >> 32


def _round(lane: int, word: int) -> int:
    return _rotated(lane + word * _P2 & _MASK, 31) * _P1 & _MASK


def _rotated(value: int, by: int) -> int:
    return (value << by | value >> 64 - by) & _MASK
