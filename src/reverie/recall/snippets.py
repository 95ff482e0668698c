"""The part of a chunk that answers: the lines around the words of the question, within a budget of characters."""

from __future__ import annotations

from functools import lru_cache

from reverie.core.language import STOP, guess, stem, tokens, variants
from reverie.core.text import cut

#: Characters of a snippet (OpenClaw 2026.9.6).
SNIPPET_CHARS = 700


@lru_cache(maxsize=64)
def query_forms(query: str) -> frozenset[str]:
    """Return every index form of the words of a question; stop words only if there is nothing else."""
    words = tokens(query)
    carrying = [word for word in words if word not in STOP[guess(words)]] or words
    return frozenset(form for word in carrying for form in variants(word))


def matches(text: str, forms: frozenset[str]) -> int:
    """Return how many distinct forms of the question occur in the text."""
    found = tokens(text)
    language = guess(found)
    return len({stem(word, language) for word in found} & forms)


def snippet(text: str, query: str, limit: int = SNIPPET_CHARS) -> str:
    """Return at most ``limit`` characters of ``text`` that hold its best-matching line, whole lines where possible.

    Short texts come back whole. Otherwise lines are added on both sides of the best line, the following one first,
    while they fit; a single line that is too long is cut around the first matching word.
    """
    if len(text) <= limit:
        return text
    forms = query_forms(query)
    lines = text.split("\n")
    scores = [matches(line, forms) for line in lines]
    best = max(range(len(lines)), key=lambda at: (scores[at], -at))
    if len(lines[best]) > limit:
        return _around(lines[best], forms, limit)
    first = last = best
    size = len(lines[best])
    while True:
        if last + 1 < len(lines) and size + 1 + len(lines[last + 1]) <= limit:
            last += 1
            size += 1 + len(lines[last])
        elif first > 0 and size + 1 + len(lines[first - 1]) <= limit:
            first -= 1
            size += 1 + len(lines[first])
        else:
            return "\n".join(lines[first : last + 1])


def _around(line: str, forms: frozenset[str], limit: int) -> str:
    """Return a window of a very long line, begun shortly before the first word that matches."""
    step = max(1, limit // 2)
    starts = range(0, max(1, len(line) - step), step)
    best = max(starts, key=lambda at: (matches(line[at : at + limit], forms), -at), default=0)
    lead = "…" if best else ""
    return lead + cut(line[best:], limit - len(lead))
