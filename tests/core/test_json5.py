"""The JSON5 reader agrees with an independent one, and edits touch nothing but what they are about."""

import json
import math
import re

import pyjson5
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reverie.core.errors import ConfigError
from reverie.core.json5_edit import set_in, unset_in
from reverie.core.json5_text import parse

CASES = [
    "{}",
    "[]",
    "[1,]",
    '{a: 1, \'b\': "c", $d_1: .5, "e f": +7,}',
    "{größe: 1, \\u0061b: 2}",
    "[0x1F, -0xa, 1., .25, 1e3, -2.5E-2, +1, 0, -0]",
    "[Infinity, -Infinity]",
    "'it''s'",
    "['a\\'b', \"\\x41\\u00e9\\n\\t\\0\\v\\q\"]",
    "'two \\\nlines'",
    "'two \\\r\nlines'",
    '"\\ud83d\\ude00"',
    "// top\n{ /* in */ a /* b */ : // c\n 1 /* d */ , }\n// end",
    "\ufeff{a: true,\u00a0b: false,\u2003c: null}",
    "/* a **/ [ /**/ ]",
    "{a: {b: {c: [[], {}, [{}]]}}}",
    "{a: 1, a: 2}",
    "12345678901234567890",
    "01",
    "{a: }",
    "{a 1}",
    "{a: 1 b: 2}",
    "{,}",
    "[,]",
    "[1,,2]",
    "{1a: 2}",
    "{a-b: 1}",
    "'open",
    '"line\nbreak"',
    "{a: tru}",
    "{a: 1}}",
    "{a: 1",
    "[1, 2",
    "/* open",
    "+",
    "--1",
    "0x",
    "1e",
    "{a: undefined}",
]


def read_by_the_other(text):
    try:
        return pyjson5.decode(text), True
    except pyjson5.Json5DecoderException:
        return None, False


def read(text):
    try:
        return parse(text).root.value, True
    except ConfigError:
        return None, False


@pytest.mark.parametrize("text", CASES)
def test_json5_is_read_as_by_an_independent_reader(text):
    assert read(text) == read_by_the_other(text)


def test_nothing_but_comments_is_an_empty_object():
    assert [parse(text).root.value for text in ("", " \n", "// a", "/* a */ // b\n")] == [{}] * 4


def test_the_number_that_is_none_is_read():
    assert math.isnan(parse("[NaN]").root.value[0])


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"])),
)
trees = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(trees)
def test_every_json_text_is_read_as_json(value):
    assert parse(json.dumps(value)).root.value == value
    assert parse(json.dumps(value, ensure_ascii=False, indent=2)).root.value == value


@given(st.text(alphabet="{}[]:,'\"\\/*\n abu01.eE+-x_$", max_size=24))
def test_any_text_is_read_as_by_an_independent_reader(text):
    ours, fine = read(text)
    theirs, accepted = read_by_the_other(text)
    if fine and re.sub(r"//[^\n]*|/\*.*?\*/|\s", "", text, flags=re.S):  # for the other, comments alone are no text
        assert (ours, fine) == (theirs, accepted)
    elif accepted:
        assert re.search(r"[0-9][0-9_.eE]|\\", text)  # it takes 01, 1_0, 0E and some escapes, which JSON5 does not know


@given(st.text(max_size=60))
def test_no_text_raises_anything_but_a_config_error(text):
    read(text)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [("{a: 1,\n b: }", 2, 5), ("{a: [1,\r\n2", 1, 5), ("{\n\n  a 1}", 3, 5), ("{a: '\n'}", 1, 5), ("\n/* x", 2, 1)],
)
def test_an_error_names_the_line_and_the_column(text, line, column):
    with pytest.raises(ConfigError) as raised:
        parse(text)
    assert (raised.value.fields["line"], raised.value.fields["column"]) == (line, column)


def test_a_text_nested_without_end_is_refused_before_the_stack_is():
    with pytest.raises(ConfigError, match="nested too deeply"):
        parse("[" * 100_000)


# --- edits ------------------------------------------------------------------------------------------------------

COMMENTED = """\
// Head.
{
  // About search.
  memory: {
    search: { provider: 'openai', /* why */ query: { maxResults: 6 } }, // tail
    citations: "on"  // last, without a comma
  },

  "tools": {   "external": [ 'a',  'b' ]   },
  /* empty */ cron: {
    // enabled: false,
  },
}
// End.
"""


def test_a_value_is_replaced_where_it_stands():
    expected = COMMENTED.replace("maxResults: 6", "maxResults: 9")
    assert set_in(COMMENTED, ("memory", "search", "query", "maxResults"), 9) == expected


def test_a_new_key_follows_the_last_one_and_its_comment():
    expected = COMMENTED.replace(
        '"on"  // last, without a comma\n', '"on",  // last, without a comma\n    extra: true\n'
    )
    assert set_in(COMMENTED, ("memory", "extra"), True) == expected


def test_a_new_key_in_a_one_line_object_stays_on_the_line():
    expected = COMMENTED.replace("{ maxResults: 6 }", "{ maxResults: 6, minScore: 0.2 }")
    assert set_in(COMMENTED, ("memory", "search", "query", "minScore"), 0.2) == expected


def test_a_new_key_in_an_object_of_comments_follows_them():
    expected = COMMENTED.replace("// enabled: false,\n", "// enabled: false,\n    enabled: true,\n")
    assert set_in(COMMENTED, ("cron", "enabled"), True) == expected


def test_missing_objects_are_made_on_the_way():
    expected = COMMENTED.replace(
        "  },\n}\n", '  },\n  session: {\n    reset: {\n      mode: "daily",\n    },\n  },\n}\n'
    )
    assert set_in(COMMENTED, ("session", "reset", "mode"), "daily") == expected


def test_an_object_is_merged_so_that_comments_beside_the_rest_stay():
    text = "{a: {\n  x: 1, // one\n  y: 2, // two\n  z: 3, // three\n}}"
    assert set_in(text, ("a",), {"x": 1, "z": 4, "new": 5}) == (
        "{a: {\n  x: 1, // one\n  // two\n  z: 4, // three\n  new: 5,\n}}"
    )


def test_strict_json_stays_strict_json():
    text = '{\n  "memory": {\n    "citations": "on"\n  }\n}\n'
    grown = set_in(set_in(text, ("memory", "search", "model"), "m"), ("cron", "enabled"), False)
    assert json.loads(grown) == {"memory": {"citations": "on", "search": {"model": "m"}}, "cron": {"enabled": False}}
    assert json.loads(unset_in(grown, ("cron", "enabled"))) == {
        "memory": {"citations": "on", "search": {"model": "m"}},
        "cron": {},
    }
    assert unset_in(unset_in(grown, ("cron",)), ("memory", "search")) == text


def test_line_ends_and_the_byte_order_mark_are_kept():
    text = "\ufeff{\r\n\ta: 1,\r\n}\r\n"
    assert set_in(text, ("b", "c"), 2) == "\ufeff{\r\n\ta: 1,\r\n\tb: {\r\n\t\tc: 2,\r\n\t},\r\n}\r\n"


def test_a_comment_is_never_removed_with_its_key():
    assert unset_in("{\n  a: 1, // one\n  b: 2,\n}\n", ("a",)) == "{\n  // one\n  b: 2,\n}\n"
    assert unset_in("{\n  a: 1,\n  /* two */ b: 2\n}\n", ("b",)) == "{\n  a: 1\n  /* two */\n}\n"


def test_a_key_that_occurs_twice_is_changed_where_it_counts_and_goes_away_whole():
    assert set_in("{a: 1, a: 2}", ("a",), 3) == "{a: 1, a: 3}"
    assert unset_in("{a: 1, b: 0, a: 2}", ("a",)) == "{b: 0}"


def test_a_key_below_a_value_that_is_no_object_is_refused():
    with pytest.raises(ConfigError, match="no object") as raised:
        set_in("{\n a: 5}", ("a", "b"), 1)
    assert raised.value.fields["line"] == 2
    assert set_in("{a: null}", ("a", "b"), 1) == "{a: {\n  b: 1,\n}}"


names = st.sampled_from(["a", "b", "c", "two words", "ü"])
gaps = st.sampled_from(["", " ", "\n", "\n  ", " /* x, } */ ", " // y: {\n", "\r\n\t", "\n\n"])
values = st.one_of(
    st.integers(-5, 5), st.booleans(), st.none(), st.sampled_from(["'s,}'", '"t // u"', "[1, {q: 2},]", "0x1F"])
)


@st.composite
def objects(draw, depth=2):
    """Draw the text of an object with gaps and comments wherever they may stand."""
    keys = draw(st.lists(names, max_size=3, unique=True))
    pieces = ["{", draw(gaps)]
    for number, key in enumerate(keys):
        shown = key if key.isidentifier() and draw(st.booleans()) else json.dumps(key)
        value = draw(objects(depth - 1)) if depth and draw(st.booleans()) else draw(values.map(as_text))
        comma = "," if number < len(keys) - 1 or draw(st.booleans()) else ""
        pieces += [shown, draw(gaps), ":", draw(gaps), value, draw(gaps), comma, draw(gaps)]
    return "".join([*pieces, "}"])


def as_text(value):
    return value if isinstance(value, str) else json.dumps(value)


def placed(tree, path, value):
    for name in path[:-1]:
        if not isinstance(tree.get(name), dict):
            tree[name] = {}
        tree = tree[name]
    tree[path[-1]] = value


@given(objects(), st.lists(names, min_size=1, max_size=3), trees)
def test_setting_changes_the_value_and_nothing_else(text, path, value):
    document = parse(text)
    tree, found = document.root.value, document.member(tuple(path))
    try:
        after = set_in(text, tuple(path), value)
    except ConfigError:
        return  # something on the way is no object
    placed(tree, path, value)
    assert parse(after).root.value == tree
    assert pyjson5.decode(after) == tree
    if found is None:
        assert comments(after) == comments(text)
    elif not (isinstance(value, dict) and found.node.members is not None):
        assert comments(after) == comments(text[: found.node.start]) + comments(text[found.node.end :])


@given(objects(), st.lists(names, min_size=1, max_size=2))
def test_unsetting_removes_the_key_and_keeps_every_comment(text, path):
    document = parse(text)
    tree, found = document.root.value, document.member(tuple(path))
    after = unset_in(text, tuple(path))
    if found is None:
        assert after == text
        return
    inner = tree
    for name in path[:-1]:
        inner = inner[name]
    del inner[path[-1]]
    assert parse(after).root.value == tree
    within = comments(text[found.start : found.node.end])
    assert sorted(comments(after) + within) == sorted(comments(text))


@given(objects(), names, st.integers())
def test_an_edit_leaves_every_other_byte(text, name, value):
    found = parse(text).member((name,))
    after = set_in(text, (name,), value)
    if found is not None:
        assert after == text[: found.node.start] + str(value) + text[found.node.end :]
    else:
        it = iter(after)
        assert all(char in it for char in text)  # the old text is what is left when the new letters are taken away


@given(objects(), names, scalars)
def test_setting_a_new_key_and_unsetting_it_gives_the_same_tree(text, name, value):
    assume(parse(text).member((name,)) is None)
    assert parse(unset_in(set_in(text, (name,), value), (name,))).root.value == parse(text).root.value


def comments(text):
    """Return the comments of a text, in order; what looks like one inside a string is none."""
    found = re.findall(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|(/\*.*?\*/|//[^\n\r]*)", text, flags=re.S)
    return [comment for comment in found if comment]
