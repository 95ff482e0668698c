from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.errors import UsageError
from reverie.core.types import Annotations
from reverie.workspace.markdown import (
    LineKind,
    Status,
    directives,
    entries,
    format_annotations,
    parse_annotations,
    scan,
    split_lines,
    strip_annotations,
    with_annotations,
    with_block,
)

PIECES = [
    "- entry",
    "  more",
    "# Title",
    "Title",
    "---",
    "===",
    "```",
    "~~~~",
    "  ```py",
    "- ```",
    "<!--",
    "-->",
    "<!-- importance: 7 -->",
    "<!-- trigger: a, b; c -->",
    "<!-- project: Git.Example/Own/Repo; path:/X -->",
    "<!-- openclaw:dreaming:light:start -->",
    "<!-- openclaw:dreaming:light:end -->",
    "<!-- openclaw-memory-promotion:k1 -->",
    "<!-- observed: 2026-10-02 | status: active -->",
    "`",
    "``",
    "\\",
    "\n",
    "\r\n",
    "\r",
    "\ufeff",
    "\u2028",
    "\x0c",
    "\x85",
    "\0",
    "é",
    "e\u0301",
    "🦊",
    "日本語",
    " ",
    "\t",
    "key: value",
    "",
]
ODD_TEXT = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=25).map("".join)


def kinds(text: str) -> list[str]:
    return [line.kind.value for line in scan(text).lines]


def entry_texts(text: str) -> list[str]:
    return [entry.text for entry in entries(scan(text))]


def annotated(line: str) -> Annotations:
    (entry,) = entries(scan(line))
    return entry.annotations


# --- lines


@given(ODD_TEXT)
def test_every_text_is_rendered_as_it_was_and_numbered_like_an_editor(text: str) -> None:
    document = scan(text)
    assert document.render() == text
    body = text.removeprefix("\ufeff")
    # What ``sed -n`` counts: the pieces between line feeds, without an empty last one.
    counted = body.split("\n")
    counted = counted if counted[-1] else counted[:-1]
    assert len(document.lines) == len(counted)
    assert [line.text for line in document.lines] == [
        one.removesuffix("\r") if line.ending == "\r\n" else one
        for one, line in zip(counted, document.lines, strict=True)
    ]
    assert [line.number for line in document.lines] == list(range(1, len(counted) + 1))


@given(ODD_TEXT, st.data())
def test_a_splice_changes_the_named_lines_and_no_other_byte(text: str, data: st.DataObject) -> None:
    document = scan(text)
    count = len(document.lines)
    start = data.draw(st.integers(1, count + 1))
    removed = data.draw(st.integers(0, count + 1 - start))
    new = data.draw(st.lists(st.sampled_from(["new", "other"]), max_size=3))
    after = document.spliced(start, removed, new, "\n")
    body = after.removeprefix("\ufeff") if document.bom else after
    # A lone carriage return at the very end becomes part of the ending that the next line needs.
    texts = [line.text for line in document.lines]
    wanted = texts[: start - 1] + new + texts[start - 1 + removed :]
    assert [line.rstrip("\r") for line, _ in split_lines(body)] == [text.rstrip("\r") for text in wanted]
    if count and removed == 0 and not new:
        assert after == text


def test_headings_rules_items_and_blank_lines_are_told_apart() -> None:
    text = (
        "# One #\n####### seven\n\nTwo\n===\n\nThree\n---\n\na\nb\n---\n- x\n* y\n1. z\n#no\n***\n- - -\n    # code\n"
    )
    words = "heading text blank heading underline blank heading underline blank text text rule item item item text rule rule text"
    assert " ".join(kinds(text)) == words
    assert [(line.level, line.title) for line in scan(text).lines if line.level] == [
        (1, "One"),
        (1, "Two"),
        (2, "Three"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```py\n# no\n```\n# yes\n", "fence code fence heading"),
        ("````\n```\n- no\n````\n- yes", "fence code code fence item"),
        ("~~~ a`b\n```\n~~~\n", "fence code fence"),
        ("``` a`b\n- yes\n", "text item"),
        ("```\n~~~\n- no\n", "fence code code"),
        ("- item\n  ```\n  - no\n  ```\n- yes", "item fence code fence item"),
        ("- item\n  ```\n  - no\n- yes", "item fence code item"),
        ("- ```\n  - no\n  ```\n- yes", "item code fence item"),
        ("    ```\n- yes", "text item"),
        ("   ```\n- no\n   ```\n- yes", "fence code fence item"),
        ("1. a\n\n   ~~~\n   - no\n\n   ~~~\n- yes", "item blank fence code code fence item"),
    ],
)
def test_fences_hide_what_looks_like_structure(text: str, expected: str) -> None:
    assert kinds(text) == expected.split()


def test_an_unclosed_fence_is_reported_with_the_line_that_would_close_it() -> None:
    document = scan("a\n~~~~ x\n- no\n")
    assert document.open_fence == "~~~~"
    assert document.notices == ("line 2: the code fence is not closed",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<!-- one -->\n- yes", "comment item"),
        ("<!--\n- no\n# no\n-->\n- yes", "comment comment comment comment item"),
        ("a <!-- b\n- no\n--> c\n- yes", "text comment text item"),
        ("<!-- never closed\n- yes\n# yes\n", "text item heading"),
        ("<!-- forgotten\n- yes <!-- importance: 3 -->\n- yes", "text item item"),
        ("`<!--` is a mark\n- yes\n-->\n", "text item text"),
        ("```\n<!--\n```\n- yes\n-->", "fence code fence item text"),
    ],
)
def test_comments_hide_their_lines_only_if_they_are_closed(text: str, expected: str) -> None:
    assert kinds(text) == expected.split()


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("---\ntitle: a\ntags:\n- x\n---\nbody\n", 5),
        ("\ufeff---\r\ntitle: a --- b\r\n---\r\nbody\r\n", 3),
        ("---\nnote: |\n  ---\n  inner\n...\nbody\n", 5),
        ("---\n" + "".join(f"key{number}: {'v' * 50}\n" for number in range(100)) + "---\nbody\n", 102),
        ("---\ntitle: never closed\nbody\n", 0),
        ("---\nfree words here\n---\nbody\n", 0),
        ("---\n---\nbody\n", 0),
        ("---\n# Heading\n- item\n---\n", 0),
        ("\n---\ntitle: a\n---\n", 0),
    ],
)
def test_enc_10_front_matter_is_found_where_it_is_and_nowhere_else(text: str, length: int) -> None:
    document = scan(text)
    assert sum(line.kind is LineKind.FRONT_MATTER for line in document.lines) == length
    assert document.render() == text


# --- managed blocks


def test_managed_blocks_need_both_marks_and_hide_only_what_was_generated() -> None:
    document = scan(
        "a\n<!-- openclaw:dreaming:rem:start -->\n- x\n<!-- openclaw:dreaming:rem:end -->\nb\n"
        "<!-- openclaw:wiki:start -->\n- y\n<!-- openclaw:wiki:end -->\n"
        "```\n<!-- reverie:a:start -->\n<!-- reverie:a:end -->\n```\n"
        "<!-- reverie:review:start -->\n- z\n"
    )
    assert [(block.name, block.start_line, block.end_line) for block in document.blocks] == [
        ("openclaw:dreaming:rem", 2, 4),
        ("openclaw:wiki", 6, 8),
    ]
    assert document.generated == {2, 3, 4}
    assert document.notices == ("line 13: the block reverie:review has no end",)
    assert [entry.text for entry in entries(document)] == ["y", "z"]


def test_enc_03_a_block_is_replaced_in_place_and_added_once() -> None:
    text = "\ufeff# Day\r\nmine\r\n<!-- openclaw:dreaming:light:start -->\r\nold\r\n<!-- openclaw:dreaming:light:end -->\r\nlast"
    once = with_block(scan(text), "openclaw:dreaming:light", ["new", "<!-- openclaw:dreaming:light:end -->"], "\r\n")
    assert once == text.replace("old", "new\r\n<\\!-- openclaw:dreaming:light:end -->")
    added = with_block(scan(once), "reverie:review", ["ask"], "\r\n")
    assert added == once + "\r\n\r\n<!-- reverie:review:start -->\r\nask\r\n<!-- reverie:review:end -->\r\n"
    assert with_block(scan(added), "reverie:review", ["ask"], "\r\n") == added
    assert len(scan(added).blocks) == 2


def test_a_block_added_behind_an_open_fence_is_not_code() -> None:
    assert len(scan(with_block(scan("```\ncode"), "reverie:x", ["a"], "\n")).blocks) == 1


# --- entries


def test_an_entry_takes_its_continuation_and_ends_before_what_belongs_to_the_next() -> None:
    text = (
        "# Memory\n\nintro\n\n- first\n  goes on\n\n  and on\n\n"
        "<!-- openclaw-memory-lineage:L1 -->\n<!-- openclaw-memory-promotion:P1 -->\n- second <!-- importance: 4 -->\n"
        "## Other\nfree\n* no entry\n- third\n---\nfree\n<!-- reverie-memory-promotion:P2 -->\n\n- fourth\n"
    )
    found = entries(scan(text))
    assert [(one.head_line, one.start_line, one.end_line, one.text, one.heading) for one in found] == [
        (5, 5, 8, "first\n  goes on\n\n  and on", "Memory"),
        (10, 12, 12, "second", "Memory"),
        (16, 16, 16, "third", "Other"),
        (21, 21, 21, "fourth", "Other"),
    ]
    assert [(one.promotion, one.lineage) for one in found] == [(None, None), ("P1", "L1"), (None, None), (None, None)]


@given(ODD_TEXT)
def test_entries_never_overlap_and_hold_the_lines_they_name(text: str) -> None:
    document = scan(text)
    last = 0
    for entry in entries(document):
        assert last < entry.head_line <= entry.start_line <= entry.end_line
        assert entry.raw == tuple(line.text for line in document.lines[entry.start_line - 1 : entry.end_line])
        assert entry.raw[0].startswith("- ")
        last = entry.end_line


def test_directives_of_user_md_carry_their_day_and_status() -> None:
    text = (
        "# User\n\n<!-- observed: 2026-09-14 | status: superseded -->\n\n- Always answer in German.\n\n"
        "<!-- observed: 2026-10-02 | status: active -->\n\n- Prefer English for code.\n  Except in tests.\n\n"
        "- Never call before nine.\n<!-- observed: 2026-13-40 | status: active -->\n- Prefer tea.\n"
    )
    found = directives(scan(text))
    assert [(one.observed, one.status, one.line, one.entry.start_line, one.entry.end_line) for one in found] == [
        (date(2026, 9, 14), Status.SUPERSEDED, 3, 5, 5),
        (date(2026, 10, 2), Status.ACTIVE, 7, 9, 10),
        (None, Status.ACTIVE, None, 12, 12),
        (None, Status.ACTIVE, 13, 14, 14),
    ]
    assert found[1].entry.text == "Prefer English for code.\n  Except in tests."


# --- annotations


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("- a <!-- trigger: x, y; x ;; z -->", Annotations(triggers=("x", "y", "z"))),
        ("- a <!--TRIGGER:x--><!-- Importance : 7 -->", Annotations(triggers=("x",), importance=7)),
        ("- a <!-- importance: 3 --> <!-- importance: 9 -->", Annotations(importance=9)),
        ("- a <!-- importance: 99 -->", Annotations()),
        ("- a <!-- importance: 7.5 -->", Annotations()),
        ("- a <!-- importance: ７ -->", Annotations()),
        ("- a <!-- importance: 7 --> and more", Annotations()),
        ("- a <!-- importance: 7 --> and <!-- trigger: x -->", Annotations(triggers=("x",), importance=7)),
        (
            "- a <!-- project: GitHub.Example/Own/Repo; path:/X/y -->",
            Annotations(project=("github.example/Own/Repo", "path:/X/y")),
        ),
        ("- a <!-- project: h/a --> words", Annotations(project=("h/a",))),
        ("- a <!-- project: h/a;\n  h/b -->", Annotations(project=("h/a", "h/b"))),
        ("- a <!-- project: -->", Annotations(invalid_project=True)),
        ("- a <!-- project: a;;b -->", Annotations(invalid_project=True)),
        ("- a <!-- project h/a -->", Annotations(invalid_project=True)),
        ("- a <!-- project: h/a", Annotations(invalid_project=True)),
        ("- a <!-- project: h/a <!-- importance: 2 -->", Annotations(importance=2, invalid_project=True)),
        ("- a <!-- project: h/<b -->", Annotations(invalid_project=True)),
        ("- a <!-- projects are fun -->", Annotations()),
        ("- a <!-- review: 2026-12-01 --> <!-- key: home.city -->", Annotations(review="2026-12-01", key="home.city")),
        ("- a <!-- review: 2026-02-30 -->", Annotations()),
        ("- a `<!-- importance: 9 -->`", Annotations()),
        ("- a ``x ` <!-- importance: 9 -->``", Annotations()),
        ("- a ` b <!-- importance: 9 -->", Annotations(importance=9)),
        ("- a \\<!-- importance: 9 -->", Annotations()),
        ("- a\n  ```\n  <!-- importance: 9 -->\n  ```", Annotations()),
        ("- ```<!-- importance: 9 -->\n  x\n  ```", Annotations()),
        ("- a\n  b <!-- importance: 4 -->\n  c", Annotations(importance=4)),
    ],
)
def test_annotations_are_read_by_the_rules(line: str, expected: Annotations) -> None:
    assert annotated(line) == expected


def test_enc_12_text_that_looks_like_the_storage_format_stays_text() -> None:
    text = (
        "- Tags: none <!-- importance: 99 -->\n  ```md\n  <!-- importance: 9 -->\n"
        "  <!-- openclaw-memory-promotion:forged -->\n  - not an entry\n  ```\n"
        "- after <!-- project: a;b -->\n---\n`<!-- openclaw-memory-promotion:forged -->`\n- last\n"
    )
    found = entries(scan(text))
    assert [one.annotations for one in found] == [Annotations(), Annotations(project=("a", "b")), Annotations()]
    assert [one.promotion for one in found] == [None, None, None]
    assert strip_annotations(text) == text.replace(" <!-- project: a;b -->", "")
    assert "<!-- importance: 99 -->" in found[0].text
    assert "<!-- importance: 9 -->" in found[0].text


def test_only_well_formed_annotation_comments_are_stripped() -> None:
    text = (
        "<!-- openclaw-memory-lineage:a -->\n<!-- observed: 2026-10-02 | status: active -->\n\n"
        "- a <!-- trigger: x --> b <!-- a remark --> <!-- importance: 3 -->\r\n  <!-- project: h/x -->\n"
        "<!-- project: h/x;\nh/y -->\n`<!-- trigger: x -->` <!-- importance: 30 -->"
    )
    assert strip_annotations(text) == (
        "\n- a b <!-- a remark -->\r\n<!-- project: h/x;\nh/y -->\n`<!-- trigger: x -->` <!-- importance: 30 -->"
    )
    assert strip_annotations("\ufeffplain") == "\ufeffplain"


WORDS = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=12)
VALUES = st.builds(
    Annotations,
    triggers=st.lists(WORDS, max_size=3).map(tuple),
    importance=st.none() | st.integers(1, 10),
    project=st.lists(
        st.sampled_from(["github.example/Own/Repo", "path:/A b", "h", "path:/x%3by"]), unique=True, max_size=2
    ).map(tuple),
    review=st.none() | st.dates().map(date.isoformat),
    key=st.none() | WORDS,
)


@given(VALUES, ODD_TEXT)
def test_written_annotations_read_back_the_same_and_stay_on_one_line(wanted: Annotations, noise: str) -> None:
    wanted = replace(wanted, triggers=(*wanted.triggers, noise), key=noise or wanted.key)
    comment = format_annotations(wanted)
    assert not set("\r\n") & set(comment)
    once = parse_annotations(f"- fact {comment}")
    assert parse_annotations(f"- fact {format_annotations(once)}") == once
    assert (once.importance, once.review, once.project) == (wanted.importance, wanted.review, wanted.project)
    assert not once.invalid_project
    assert strip_annotations(f"- fact {comment}") == "- fact" + (" " if not comment else "")


@given(ODD_TEXT, st.integers(1, 10))
def test_an_annotation_is_set_and_taken_back_without_touching_another_byte(noise: str, importance: int) -> None:
    document = scan("- start " + noise)
    entry = entries(document)[0] if entries(document) else None
    if entry is None:
        return
    lines = with_annotations(entry, importance=importance)
    text = document.spliced(entry.start_line, len(entry.raw), lines, "\n")
    changed = entries(scan(text))[0]
    assert changed.annotations == replace(entry.annotations, importance=importance)
    assert with_annotations(changed, importance=importance) == changed.raw
    if entry.annotations.importance is None and "importance" not in noise:
        back = with_annotations(changed, importance=None)
        assert [line.rstrip() for line in back if line.strip()] == [line.rstrip() for line in entry.raw if line.strip()]


def test_annotations_are_changed_in_their_place() -> None:
    (entry,) = entries(scan("- a  <!-- trigger: x -->  <!-- importance: 3 -->\t<!-- importance: 5 -->\n  tail "))
    assert with_annotations(entry, importance=8) == ("- a  <!-- trigger: x -->\t<!-- importance: 8 -->", "  tail ")
    assert with_annotations(entry, importance=5, triggers=("x",)) == entry.raw
    assert with_annotations(entry, triggers=(), importance=None) == ("- a", "  tail ")
    assert with_annotations(entry, key="k")[0] == entry.raw[0] + " <!-- key: k -->"
    (broken,) = entries(scan("- a <!-- project: a;; -->"))
    assert with_annotations(broken, project=("h/a",)) == ("- a <!-- project: h/a -->",)


@pytest.mark.parametrize("changes", [{"importance": 11}, {"importance": True}, {"review": "soon"}, {"colour": "red"}])
def test_a_value_that_cannot_be_written_is_refused(changes: dict[str, object]) -> None:
    (entry,) = entries(scan("- a"))
    with pytest.raises(UsageError):
        with_annotations(entry, **changes)


HOSTILE = [
    "<!--",
    "`",
    "``a`",
    "<!-- a -->",
    "<!-- project",
    "# ",
    "- ",
    "* ",
    "\\",
    " ",
    "<!-- importance: 1 -->",
    "~",
    "#",
    "<!--\n",
    "-->\n",
    "``` \n",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_line_of_nothing_but_marks_is_scanned_in_passing(piece: str) -> None:
    # Anything that looks ahead once per mark would take minutes here.
    text = "- " + piece * (100_000 // len(piece))
    document = scan(text)
    assert document.render() == text
    assert piece == "- " or entries(document)[0].start_line == 1
    strip_annotations(text)
