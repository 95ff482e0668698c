"""Turns text into the piece ids of the XLM-R vocabulary.

A unigram tokenizer (Kudo, 2018): among all ways to cut a word into known pieces, the cut with the highest
sum of piece scores wins.  It equals the official one on cleaned text, and is written here because the
usual library holds the 250,000 pieces in 300 MB and half a second; the mapped trie here costs neither.

Two things differ from the official tokenizer on purpose.  The names of control pieces in a text, such as
"</s>", are ordinary characters, so that text from outside cannot forge the end of a sequence.  Spaces at the
ends of a text give no piece.
"""

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np

MAX_TOKENS: Final = 512
"""The model has this many positions, the two control pieces included."""
MAX_CHARACTERS: Final = 8_192
"""Text beyond this is not read: 512 pieces of at most 16 characters cannot reach further."""

BOUNDARY: Final = "\u2581"
"""The mark that begins each word in the vocabulary."""
MAX_PIECE: Final = 16
"""Characters in the longest piece."""

TRIE_NAME: Final = "pieces.marisa"
SCORES_NAME: Final = "scores.npy"
IDS_NAME: Final = "ids.npy"

_UNKNOWN_PENALTY: Final = 10.0
_MEMO_WORDS: Final = 8_192
_MEMO_LETTERS: Final = 24
_SURROGATES: Final = re.compile("[\ud800-\udfff]")


def _character_rules() -> dict[int, str]:
    """What the vocabulary's normaliser does beyond NFKC: control characters go, odd spaces become spaces."""
    rules = dict.fromkeys((*range(32), 127, 143, 159), "")
    spaces = (0x09, 0x0A, 0x0C, 0x0D, 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD)
    rules.update((code, " ") for code in spaces)
    return rules


_RULES: Final = _character_rules()


def clean(text: str) -> str:
    """Normalises and bounds any string, so that nothing surprising reaches native code.

    The vocabulary's own rules come first (NUL and other control characters vanish), lone surrogates become
    spaces, then NFKC, which brings none of those back.  The text is cut before NFKC, which can make it 18
    times longer, and after.

    Returns:
        At most `MAX_CHARACTERS` characters, words parted by one space, no space at the ends.
    """
    if len(text) > MAX_CHARACTERS:
        text = text[:MAX_CHARACTERS]
    text = text.translate(_RULES)
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _SURROGATES.sub(" ", text))
    return " ".join(filter(None, text.split(" ")))[:MAX_CHARACTERS].rstrip(" ")


class Tokenizer:
    """Cuts cleaned text into piece ids.  Safe to share between threads."""

    __slots__ = ("_bos", "_eos", "_ids", "_memo", "_scores", "_trie", "_unknown", "_unknown_score")

    def __init__(self, trie: Any, scores: memoryview, ids: memoryview, *, bos: int, eos: int, unk: int) -> None:
        """Takes a `marisa_trie.Trie` of pieces and, by its key numbers, float32 scores and int32 piece ids."""
        self._trie = trie
        self._scores = scores
        self._ids = ids
        self._bos, self._eos, self._unknown = bos, eos, unk
        self._unknown_score = float(np.asarray(scores).min()) - _UNKNOWN_PENALTY
        self._memo: dict[str, tuple[int, ...]] = {}

    @classmethod
    def open(cls, folder: Path, *, bos: int, eos: int, unk: int) -> "Tokenizer":
        """Maps the tables that `build` left in `folder`; nothing is copied into memory."""
        import marisa_trie

        trie = marisa_trie.Trie()
        trie.mmap(str(folder / TRIE_NAME))
        # A memoryview gives plain Python numbers, several times faster than indexing the array.
        scores = memoryview(np.load(folder / SCORES_NAME, mmap_mode="r"))
        ids = memoryview(np.load(folder / IDS_NAME, mmap_mode="r"))
        return cls(trie, scores, ids, bos=bos, eos=eos, unk=unk)

    def encode(self, text: str, *, prefix: str = "") -> list[int]:
        """The ids of `prefix` and `text`, in control pieces, at most `MAX_TOKENS` of them.

        Both are cleaned text (see `clean`) and are parted by a space.
        """
        ids = [self._bos]
        for word in f"{prefix} {text}".split(" "):
            if word:
                ids.extend(self._word(word))
            if len(ids) >= MAX_TOKENS:
                break
        del ids[MAX_TOKENS - 1 :]
        ids.append(self._eos)
        return ids

    def _word(self, word: str) -> tuple[int, ...]:
        known = self._memo.get(word)
        if known is not None:
            return known
        ids = tuple(self._segment(BOUNDARY + word))
        if len(word) <= _MEMO_LETTERS:
            if len(self._memo) >= _MEMO_WORDS:
                # Starting afresh bounds the memory; tracking use would cost more than re-cutting a few words.
                self._memo.clear()
            self._memo[word] = ids
        return ids

    def _segment(self, word: str) -> Iterator[int]:
        """The best cut by Viterbi's algorithm: `best[i]` is the highest score of the first i characters."""
        length = len(word)
        best = [0.0] + [float("-inf")] * length
        start_of = [0] * (length + 1)
        id_of = [self._unknown] * (length + 1)
        scores, ids, prefixes = self._scores, self._ids, self._trie.iter_prefixes_with_ids
        for start in range(length):
            base = best[start]
            alone = False
            for piece, key in prefixes(word[start : start + MAX_PIECE]):
                end = start + len(piece)
                alone = alone or end == start + 1
                score = base + scores[key]
                if score > best[end]:
                    best[end], start_of[end], id_of[end] = score, start, ids[key]
            # Only a character that is no piece by itself may be unknown, and at a score below every piece.
            score = base + self._unknown_score
            if not alone and score > best[start + 1]:
                best[start + 1], start_of[start + 1], id_of[start + 1] = score, start, self._unknown
        return self._walk_back(length, start_of, id_of)

    def _walk_back(self, end: int, start_of: list[int], id_of: list[int]) -> Iterator[int]:
        """The ids of the best cut in reading order; neighbouring unknown characters give one id."""
        path: list[int] = []
        while end > 0:
            piece = id_of[end]
            if piece != self._unknown or not path or path[-1] != self._unknown:
                path.append(piece)
            end = start_of[end]
        return reversed(path)
