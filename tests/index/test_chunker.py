from __future__ import annotations

import hashlib
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.text import estimate_tokens
from reverie.core.types import Corpus, Provenance, SessionKind, SourceClass, SourceDocument, SourceLine
from reverie.index.chunker import embedded_text, split
from reverie.index.identity import Chunking

OWNER = Provenance(SourceClass.OWNER, SessionKind.INTERACTIVE)
AGENT = Provenance(SourceClass.AGENT, SessionKind.INTERACTIVE)
FOREIGN = Provenance(SourceClass.UNTRUSTED, SessionKind.INTERACTIVE)


def document(text, *, curated=False, who=lambda number: AGENT):
    lines = text.split("\n")
    return SourceDocument(
        "memory/a.md",
        "h",
        tuple(SourceLine(number, line, who(number)) for number, line in enumerate(lines, 1)),
        curated,
    )


def chunks(text, *, tokens=400, overlap=80, corpus=Corpus.MEMORY, **more):
    return list(split(document(text, **more), corpus, Chunking(tokens, overlap)))


def spans(found):
    return [(one.start_line, one.end_line) for one in found]


def test_a_short_note_is_one_chunk_without_blank_edges():
    (one,) = chunks("\n\n# Day\n\nWent out.\n\n")
    assert (one.start_line, one.end_line, one.text, one.heading) == (3, 5, "# Day\n\nWent out.", "Day")


def test_chunks_overlap_and_name_exact_lines():
    text = "\n".join(f"line {number} " + "word " * 9 for number in range(1, 81))
    found = chunks(text, tokens=100, overlap=30)
    lines = text.split("\n")
    for one in found:
        assert one.text == "\n".join(lines[one.start_line - 1 : one.end_line]).rstrip()
        assert estimate_tokens(one.text) <= 100
    for before, after in pairwise(found):
        assert before.start_line < after.start_line <= before.end_line < after.end_line
        repeated = "\n".join(lines[after.start_line - 1 : before.end_line])
        assert estimate_tokens(repeated) <= 30
    assert found[0].start_line == 1 and found[-1].end_line == 80


def test_a_top_heading_begins_a_chunk_and_headings_form_a_path():
    found = chunks("# Log\nintro\n## Morning\ntea\n### Detail\nmilk\n## Evening\nsoup")
    assert spans(found) == [(1, 2), (3, 6), (7, 8)]
    assert [one.heading for one in found] == ["Log", "Log > Morning", "Log > Evening"]


def test_headings_in_a_fence_and_in_messages_are_text():
    (one,) = chunks("start\n```\n# no heading\n```\nend")
    assert one.heading == ""
    (message,) = chunks("# 1 is my favourite\nand I said so", corpus=Corpus.SESSIONS)
    assert message.heading == "" and message.start_line == 1 and message.end_line == 2


def test_an_untrusted_paragraph_stands_alone():
    text = "mine one\nmine two\n\nfrom a page\nmore of it\n\nmine three"
    found = chunks(text, who=lambda number: FOREIGN if number in (4, 5) else OWNER)
    assert spans(found) == [(1, 2), (4, 5), (7, 7)]
    assert [one.provenance for one in found] == [OWNER, FOREIGN, OWNER]


def test_a_change_of_session_kind_ends_a_chunk():
    cron = Provenance(SourceClass.AGENT, SessionKind.CRON)
    found = chunks("a\nb", who=lambda number: cron if number == 2 else AGENT)
    assert [one.provenance.kind for one in found] == [SessionKind.INTERACTIVE, SessionKind.CRON]


def test_emb_08_a_line_longer_than_the_window_is_cut_at_word_ends_and_keeps_its_number():
    long = " ".join(f"word{number}" for number in range(3000))
    found = chunks(f"before\n{long}\nafter")
    pieces = [one for one in found if one.start_line == one.end_line == 2]
    assert len(pieces) > 10 and spans(found)[0] == (1, 1) and spans(found)[-1] == (3, 3)
    assert all(estimate_tokens(one.text) <= 400 for one in pieces)
    words = set(long.split())
    assert all(set(one.text.split()) <= words for one in pieces)
    assert {word for one in pieces for word in one.text.split()} == words


def test_emb_08_base64_on_one_line_is_cut():
    found = chunks("A" * 40_000)
    assert all(estimate_tokens(one.text) <= 400 for one in found)
    assert sum(len(one.text) for one in found) >= 40_000


def test_a_curated_file_has_one_chunk_an_entry_with_what_belongs_to_it():
    text = (
        "# Memory\n\nWhat matters.\n\n## Home\n- Lives in Graz. <!-- key: home.city -->\n  near the river\n"
        "- Has two cats. <!-- importance: 3 -->\n\n## Work\n\n## Travel\n- Prefers trains.\n"
    )
    found = chunks(text, curated=True)
    assert [(one.start_line, one.end_line, one.text) for one in found] == [
        (1, 3, "# Memory\nWhat matters."),
        (6, 7, "Lives in Graz.\n  near the river"),
        (8, 8, "Has two cats."),
        (10, 10, "## Work"),
        (13, 13, "Prefers trains."),
    ]
    assert found[1].annotations.key == "home.city" and found[2].annotations.importance == 3
    assert found[1].heading == "Memory > Home" and found[4].heading == "Memory > Travel"


def test_annotations_hold_for_every_piece_of_a_long_entry():
    entry = "- " + "\n  ".join("many words in a row " * 10 for _ in range(30)) + "\n  end. <!-- importance: 9 -->"
    found = chunks(f"# M\n{entry}\n- short", curated=True)
    assert len(found) > 3
    assert [one.annotations.importance for one in found] == [9] * (len(found) - 1) + [None]
    assert "importance" not in "".join(one.text for one in found)


def test_enc_12_what_looks_like_an_annotation_in_code_stays_text():
    text = "- run it\n  ```\n  <!-- importance: 99 -->\n  ```\n- next"
    found = chunks(text, curated=True)
    assert "<!-- importance: 99 -->" in found[0].text and found[0].annotations.importance is None
    (plain,) = chunks("Tags: a\n<!-- project: a;b -->\n---\ntext")
    assert plain.text == "Tags: a\n<!-- project: a;b -->\n---\ntext"


def test_the_hash_is_that_of_what_is_embedded_and_headings_are_said_once():
    first, second = chunks("# Log\n## Rome\nsaw it\n## Oslo\nsaw it")[-2:]
    assert first.hash != second.hash
    for one in (first, second):
        assert one.hash == hashlib.sha256(embedded_text(one.heading, one.text).encode()).hexdigest()
    assert embedded_text(second.heading, second.text) == "Log\n## Oslo\nsaw it"
    assert embedded_text("Log > Oslo", "more") == "Log > Oslo\nmore"
    assert embedded_text("", "plain\u200b\x00") == "plain"


LINES = st.lists(
    st.one_of(
        st.sampled_from(["", "# Top", "## Second", "#### Deep", "- item", "```", "---", "- x <!-- importance: 4 -->"]),
        st.text(alphabet=st.characters(exclude_characters="\n\r", exclude_categories=()), max_size=300),
        st.text(alphabet="ab ", min_size=200, max_size=900),
        st.text(alphabet="漢字かな交じり", min_size=30, max_size=200),
    ),
    max_size=40,
)
CLASSES = st.lists(st.sampled_from([OWNER, AGENT, FOREIGN]), min_size=1, max_size=8)


@given(LINES, CLASSES, st.booleans(), st.sampled_from([Corpus.MEMORY, Corpus.SESSIONS]))
def test_no_line_is_lost_and_no_chunk_mixes_classes(lines, classes, curated, corpus):
    def who(number):
        return classes[number % len(classes)]

    text = "\n".join(lines)
    found = chunks(text, tokens=60, overlap=12, curated=curated, who=who, corpus=corpus)
    assert found == chunks(text, tokens=60, overlap=12, curated=curated, who=who, corpus=corpus)
    covered = set()
    for one in found:
        assert 1 <= one.start_line <= one.end_line <= len(lines) and one.text.strip()
        assert estimate_tokens(one.text) <= 60
        span = range(one.start_line, one.end_line + 1)
        covered.update(span)
        assert {who(number).origin for number in span if lines[number - 1].strip()} <= {one.provenance.origin}
    if not curated:
        assert covered >= {number for number, line in enumerate(lines, 1) if line.strip()}


@pytest.mark.parametrize(("tokens", "overlap"), [(0, 0), (1, 50), (8, 8), (400, 0)])
def test_odd_settings_still_end(tokens, overlap):
    found = chunks("🦊" * 500 + "\n" + "a b " * 500, tokens=tokens, overlap=overlap)
    assert "".join(one.text for one in found if one.start_line == 1).count("🦊") >= 500
