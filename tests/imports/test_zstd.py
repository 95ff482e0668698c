"""Zstandard frames that another implementation made are read here, and damaged ones are refused."""

from __future__ import annotations

import base64
import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.errors import ImportRefused
from reverie.imports.zstd import decompress

_WORDS = ("heron", "sluice", "Möwe", "桥", "ferry", "quay", "noon", "rope")


def prose(count: int, seed: int = 1) -> str:
    """Words in an order that looks like chance and is always the same."""
    found = []
    for _ in range(count):
        seed = seed * 1103515245 + 12345 & 0x7FFFFFFF
        found.append(_WORDS[seed >> 16 & 7])
    return " ".join(found)


def event() -> str:
    """A message as a transcript holds it."""
    content = [{"type": "text", "text": prose(200, 7)}]
    return json.dumps({"type": "message", "message": {"role": "user", "content": content}})


#: What was compressed, and the frame that the library of Zstandard made of it.
FRAMES = {
    "empty": (b"", "KLUv/SQAAQAAmenYUQ=="),
    "short": (b"noon", "KLUv/SQEIQAAbm9vbkADgrI="),
    "one byte over and over": (b"a" * 5000, "KLUv/WSIEk0AABBhYQEAg9MDLNY8gNQ="),
    "words": (
        prose(160).encode(),
        (
            "KLUv/WRxAj0HAEQDbm9vbiBub29uIHNsdWljZSDmoaVNw7Z3ZmVycnlxdWF5IHJvcGVoZXJvbuahpeahpeahpXiosafJtG8gAsIg"
            "XA8RtMEVDGlSWOYIXrXw+x8XvrUE9ig2Pj0vRCFZgk4w3VsUwJRaiWsZhC8x4PW1Bb8B/NBlgTXG4knqqA0R2DfAo+31JihnNKEn"
            "EbnAmhMBwP/CoSkhrE4rNIrbjTyHQvM1J7gI8OK1ziskUCPYmuaL5HE6YTwLmFa1DoaFkxI04G+GkoZaSmc6LofKE/ohbRtoyYUR"
            "ncJzJ4iRIo664q+OKfO3CgBjx1g="
        ),
    ),
    "many words": (
        prose(900).encode(),
        (
            "KLUv/WBgEs0VAHQCbm9vbiBzbHVpY2Ug5qGlTcO2d2ZlcnJ5cXVheSByb3BlIGhlcm9ugWyo4UttBiEIAYVxElPJBxEkKCHRBE4J"
            "IDHZoLBQGDYDUEsaneMtlDQivlmZ7NPPzG1zliirbF0HGuvNl/j3oNafrxCGAo3zbO6n5gz9Pz15FA0jSBLzKYrpIgCsyYXP4s3I"
            "EQ5mS5IOe+LFvgO+gxWo8iFNbAUy6Tp3CH1MgBIUeOzzI/taBXFa5i9r4pueMMIkdhsJSvCYzfxG/HSGnSEpiLYbCOuHJlGQJRar"
            "mkES8EPh8jLsg94UqV1WW1PsJU2Y80JDYHED4i+7nAKfJapm9bypLRQZJzV5Hjpp8PD5Um43tuZAQBReeqrACQoZZQ74ziAvOMVb"
            "w0Z0eeyPGsgyCw0SkZ3YmpW6PXye9eyKi/eZJ/qy64RVMSMenofXVpXpVD8hPQ3GK00eSkRLK+f5/nE/OiAWAb8sGQa6sE6cJcBs"
            "rXjxHxjKVInQ3CBeNgsxn6NNWA5k/RwHYK1lQxEq8k7mOYYt8e53iLyWQ6lHoqHpzOW4xs7vbNXezaBQhqQ0rSdAZ64h5Jm+Ysvi"
            "t8HFcFdlOs5wWlwaxjr2LaeylRJ3Uut1VUu9IiPnmh2Qf9M5fztqSpdGBtdBRUUgL7GlU0eCpEs2fxh04Cif3/nfivLt7ITJBYAY"
            "oZ2K8oJEL8sTaPpDHcfSY5AXY2IC3lIHbg0BnNUStqHAACKcWAtqpnpqRfGqqGKt64Woh/0ZF21j71qt5+/DGETad0NEJv8atUfX"
            "HIMcZBFxCj4pQn3oaCwF8g7O6IwjR0Bhs8ehuQMSx8DIUyeD9UV6cz8C7XHUGKaBVWzVUvkF18QkxToWAZjDOR7qhHeAkMacCqYa"
            "6yLpU3gCGgOYvX5ZUM1Ptw7aGCnUq5WqJbD/dSsAlxo="
        ),
    ),
    "an event": (
        event().encode(),
        (
            "KLUv/WRTBHUKANLGFhqAOW3N/t3CDduFRXzZHCA4k8FRC+9A4gwAEM9DeHyId5g3nMF8cthlIZswQAqkPeyKpBjGHgI7xLMm84pN"
            "IeviOjBlvethYkPOr10w7ZhCfgFZ6wib8plG7QSAoqihR0lqLQcgQsckHxEkuSZBkpEkSaUxzZ6BJeAUmJ6/YliKyWc0JsxDkM8l"
            "R/d1yMpLSBJ5E551gmxqCkoCc8WeM4n4STp7DfoRiFGrwkTxLdpnEgjDBOrtjDQIggJBDLjLU6iEl8RJajS1AKhcsWoK/XxE+JHG"
            "7NVyaTq+IGAtzCBj0L/k9XrIU4xDSBENcyd5v+bjTWCGR6WRgAblmjP+cPrV7vilDnScPt1HUb8CNImkDuZionT90JEiDJzCuno4"
            "WkGGlZUscb3hpTaz70KN3xyHgBai3kFCRC+yi9RB1NIrj/9i+o8qHtXPVAM5dyXy"
        ),
    ),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_gives_back_what_was_compressed(name):
    text, frame = FRAMES[name]
    packed = base64.b64decode(frame)
    assert decompress(packed, len(text)) == text


def test_frames_one_after_the_other_are_one_text_and_skippable_ones_are_skipped():
    first, second = (base64.b64decode(FRAMES[name][1]) for name in ("short", "words"))
    skipped = b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc"
    assert decompress(first + skipped + second, 5000) == FRAMES["short"][0] + FRAMES["words"][0]


def test_a_frame_larger_than_expected_is_refused():
    for name in ("one byte over and over", "many words", "words"):
        text, frame = FRAMES[name]
        with pytest.raises(ImportRefused, match="more than is expected"):
            decompress(base64.b64decode(frame), len(text) - 1)


def test_what_is_no_frame_or_breaks_off_is_refused():
    packed = base64.b64decode(FRAMES["an event"][1])
    with pytest.raises(ImportRefused):
        decompress(b"{}", 10)
    for end in range(1, len(packed)):
        with pytest.raises(ImportRefused):
            decompress(packed[:end], 5000)


@given(place=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_a_flipped_bit_is_never_taken_for_the_text(place, bit):
    text, frame = FRAMES["an event"]
    packed = bytearray(base64.b64decode(frame))
    packed[place % len(packed)] ^= 1 << bit
    with suppress(ImportRefused):
        assert decompress(bytes(packed), 5000) == text
