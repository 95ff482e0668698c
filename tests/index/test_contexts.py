from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.types import Corpus, Provenance, SessionKind, SourceClass, SourceDocument, SourceLine
from reverie.index.chunker import split
from reverie.index.contexts import contexts
from reverie.index.identity import Chunking

OWNER = Provenance(SourceClass.OWNER, SessionKind.INTERACTIVE)
AGENT = Provenance(SourceClass.AGENT, SessionKind.INTERACTIVE)
FOREIGN = Provenance(SourceClass.UNTRUSTED, SessionKind.INTERACTIVE)


def made(text, *, tokens=400, overlap=80, who=lambda number: AGENT):
    lines = tuple(SourceLine(number, line, who(number)) for number, line in enumerate(text.split("\n"), 1))
    chunks = list(split(SourceDocument("memory/a.md", "h", lines), Corpus.MEMORY))
    return chunks, list(contexts(chunks, Chunking(tokens, overlap)))


def spans(found):
    return [(one.first, one.last) for one in found]


def test_contexts_keep_their_length_and_repeat_the_end_of_the_one_before():
    chunks, found = made("\n".join(f"line {number} " + "word " * 9 for number in range(80)), tokens=100, overlap=30)
    for one in found:
        assert sum(len(chunk.text) + 1 for chunk in chunks[one.first : one.last + 1]) <= 400
    for before, after in pairwise(found):
        assert before.first < after.first <= before.last < after.last
        assert sum(len(chunk.text) + 1 for chunk in chunks[after.first : before.last + 1]) <= 120
    assert (found[0].first, found[-1].last) == (0, 79)


def test_a_top_heading_begins_a_context_and_the_headings_above_it_are_known():
    _, found = made("# Log\nintro\n## Morning\ntea\nmilk\n### Detail\nsugar\n## Evening\nsoup")
    assert spans(found) == [(0, 0), (1, 3), (4, 4)]
    assert [one.heading for one in found] == ["", "Log", "Log"]


def test_owner_and_agent_share_a_context_and_untrusted_text_has_its_own():
    origins = {1: OWNER, 2: AGENT, 3: FOREIGN, 4: OWNER}
    _, found = made("a1\nb2\nc3\nd4", who=origins.__getitem__)
    assert spans(found) == [(0, 1), (2, 2), (3, 3)]


def test_a_context_with_other_lines_or_headings_has_another_hash():
    _, (one,) = made("tea\nmilk")
    _, (two,) = made("tea\nsoup")
    assert one.hash != two.hash
    assert one == made("tea\nmilk")[1][0]


@pytest.mark.parametrize(("tokens", "overlap"), [(0, 0), (1, 50), (8, 8), (400, 0)])
def test_odd_settings_still_end(tokens, overlap):
    chunks, found = made("🦊" * 500 + "\n" + "a b " * 500 + "\nend", tokens=tokens, overlap=overlap)
    assert {number for one in found for number in range(one.first, one.last + 1)} == set(range(len(chunks)))


@given(
    st.lists(st.sampled_from(["", "# A", "## B", "### C", "word " * 30, "short", "漢字" * 40]), max_size=30),
    st.lists(st.sampled_from([OWNER, AGENT, FOREIGN]), min_size=1, max_size=6),
    st.integers(8, 80),
    st.integers(0, 60),
)
def test_every_chunk_has_a_context_and_no_context_mixes_trust(lines, classes, tokens, overlap):
    chunks, found = made(
        "\n".join(lines), tokens=tokens, overlap=overlap, who=lambda number: classes[number % len(classes)]
    )
    assert {number for one in found for number in range(one.first, one.last + 1)} == set(range(len(chunks)))
    for one in found:
        origins = {chunk.provenance.origin for chunk in chunks[one.first : one.last + 1]}
        assert len(origins) == 1 or SourceClass.UNTRUSTED not in origins
