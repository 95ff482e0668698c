from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.types import Corpus, Provenance, SessionKind, SourceClass, SourceDocument, SourceLine
from reverie.index.chunker import PIECE_BYTES, WHOLE_BYTES, embedded_text, pieces, split

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


def chunks(text, *, corpus=Corpus.MEMORY, **more):
    return list(split(document(text, **more), corpus))


def spans(found):
    return [(one.start_line, one.end_line) for one in found]


def test_each_line_is_a_chunk_and_a_heading_goes_with_the_line_below_it():
    found = chunks("\n\n# Day\n\nWent out.\nCame back.\n\n")
    assert [(one.start_line, one.end_line, one.text, one.heading) for one in found] == [
        (3, 5, "# Day\nWent out.", "Day"),
        (6, 6, "Came back.", "Day"),
    ]


def test_headings_form_a_path_and_one_with_nothing_below_stands_for_itself():
    found = chunks("# Log\nintro\n## Morning\ntea\n### Detail\nmilk\n## Noon\n## Evening\nsoup")
    assert spans(found) == [(1, 2), (3, 4), (5, 6), (7, 7), (8, 9)]
    assert [one.heading for one in found] == [
        "Log",
        "Log > Morning",
        "Log > Morning > Detail",
        "Log > Noon",
        "Log > Evening",
    ]


def test_headings_in_a_fence_and_in_messages_are_text():
    found = chunks("start\n```\n# no heading\n```\nend")
    assert [one.heading for one in found] == [""] * len(found)
    first, second = chunks("# 1 is my favourite\nand I said so", corpus=Corpus.SESSIONS)
    assert (first.heading, spans([first, second])) == ("", [(1, 1), (2, 2)])


def test_a_line_without_words_goes_with_the_one_above_it():
    assert spans(chunks("* * *\nfirst\n\n* * *\nsecond\n```\n")) == [(1, 4), (5, 6)]


def test_an_untrusted_line_stands_alone():
    text = "# Mine\nmine\n---\n\nfrom a page\n## Its heading\nmine again"
    found = chunks(text, who=lambda number: FOREIGN if number in (3, 5, 6) else OWNER)
    assert spans(found) == [(1, 2), (3, 5), (6, 6), (7, 7)]
    assert [one.provenance for one in found] == [OWNER, FOREIGN, FOREIGN, OWNER]


def test_an_entry_of_two_classes_is_two_chunks():
    found = chunks("- mine\n  theirs\n", curated=True, who=lambda number: FOREIGN if number == 2 else OWNER)
    assert [one.provenance for one in found] == [OWNER, FOREIGN]


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


def test_a_long_entry_is_one_chunk_with_its_annotations():
    entry = "- " + "\n  ".join("many words in a row " * 10 for _ in range(30)) + "\n  end. <!-- importance: 9 -->"
    found = chunks(f"# M\n{entry}\n- short", curated=True)
    assert [one.annotations.importance for one in found] == [9, None]
    assert spans(found) == [(2, 32), (33, 33)]
    assert "importance" not in found[0].text


def test_enc_12_what_looks_like_an_annotation_in_code_stays_text():
    text = "- run it\n  ```\n  <!-- importance: 99 -->\n  ```\n- next"
    found = chunks(text, curated=True)
    assert "<!-- importance: 99 -->" in found[0].text and found[0].annotations.importance is None
    plain = chunks("Tags: a\n<!-- project: a;b -->\n---\ntext")
    assert "\n".join(one.text for one in plain) == "Tags: a\n<!-- project: a;b -->\n---\ntext"


def test_the_hash_is_that_of_what_is_embedded():
    (one,) = chunks("# Log\n## Rome\nsaw it")
    assert one.hash == hashlib.sha256(b"# Log\n## Rome\nsaw it").hexdigest()
    rome, oslo = chunks("# Log\n## Rome\n- saw it\n## Oslo\n- saw it", curated=True)
    assert rome.hash != oslo.hash
    assert oslo.hash == hashlib.sha256(b"Log > Oslo\nsaw it").hexdigest()


def test_headings_are_embedded_with_entries_and_said_once():
    assert embedded_text("Log > Oslo", "## Oslo\nsaw it", curated=True) == "Log\n## Oslo\nsaw it"
    assert embedded_text("Log > Oslo", "more", curated=True) == "Log > Oslo\nmore"
    assert embedded_text("Log > Oslo", "more", curated=False) == "more"
    assert embedded_text("", "plain\u200b\x00", curated=True) == "plain"


def test_emb_08_a_long_line_is_one_chunk_and_has_several_pieces_of_whole_sentences():
    long = " ".join(f"Sentence {number} has some words." for number in range(200))
    (before, line, after) = chunks(f"before\n{long}\nafter")
    assert spans([before, line, after]) == [(1, 1), (2, 2), (3, 3)]
    found = pieces(line.text)
    assert len(found) > 10 and " ".join(found) == long
    assert all(len(one) <= PIECE_BYTES and one.endswith(".") for one in found)


def test_emb_08_base64_on_one_line_is_cut_into_pieces():
    (line,) = chunks("A" * 40_000)
    found = pieces(line.text)
    assert "".join(found) == line.text and all(len(one) <= PIECE_BYTES for one in found)


@given(st.text(alphabet=st.sampled_from("ab .!?\n。漢é🦊"), max_size=3000))
def test_pieces_are_short_and_lose_nothing_but_blanks(text):
    found = pieces(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    if len(text.encode()) > WHOLE_BYTES:
        assert all(len(one.encode()) <= PIECE_BYTES + 1 for one in found)
    else:
        assert found == [text]


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
    found = chunks(text, curated=curated, who=who, corpus=corpus)
    assert found == chunks(text, curated=curated, who=who, corpus=corpus)
    covered = []
    for one in found:
        assert 1 <= one.start_line <= one.end_line <= len(lines) and one.text.strip()
        span = range(one.start_line, one.end_line + 1)
        covered.extend(number for number in span if lines[number - 1].strip())
        assert {who(number).origin for number in span if lines[number - 1].strip()} <= {one.provenance.origin}
    if not curated:
        assert covered == [number for number, line in enumerate(lines, 1) if line.strip()]


@pytest.mark.parametrize("text", ["", "\n\n", "   \n\t"])
def test_a_document_without_text_has_no_chunk(text):
    assert chunks(text) == chunks(text, curated=True) == []
