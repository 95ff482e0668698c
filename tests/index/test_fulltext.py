from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from reverie.core.types import Corpus, Provenance, SearchRequest, SessionKind, SourceClass
from reverie.index.fulltext import parse


@pytest.mark.parametrize(
    ("line", "queries"),
    [
        ("昨天和装修队说好了厨房的工期", ["厨房", "工期", "装修队", "说好了厨房"]),
        ("来週の火曜日に歯医者の予約がある", ["歯医者", "火曜日", "予約"]),
        ("금요일까지 보고서 초안을 보내기로 했다", ["보고서", "금요일까지", "초안"]),
    ],
)
def test_lex_01_cjk_words_are_found_without_an_embedder(world, line, queries):
    world.notes.write("memory/a.md", f"# Tag\n\n{line}\n")
    world.notes.write("memory/b.md", "nothing of the kind\n")
    index = world.index()
    index.sync([world.notes])
    for query in queries:
        assert world.found(index, query) == ["memory/a.md"]


def test_lex_02_one_and_two_cjk_characters_match(world):
    world.notes.write("memory/a.md", "周末的门票已经买好\n")
    index = world.index()
    index.sync([world.notes])
    assert world.found(index, "门票") == world.found(index, "票") == ["memory/a.md"]
    assert world.found(index, "车") == []


def test_lex_04_latin_and_cjk_without_a_blank_match(world):
    world.notes.write("memory/a.md", "Grafana 的告警每五分钟检查一次\n")
    index = world.index()
    index.sync([world.notes])
    assert world.found(index, "Grafana告警检查") == ["memory/a.md"]


def test_lex_05_notes_and_transcripts_share_one_tokenizer(world):
    talks = world.provider("talks", corpus=Corpus.SESSIONS)
    for provider, name in ((world.notes, "memory/a.md"), (talks, "sessions/b.md")):
        provider.write(name, "我们决定把仓库搬到新的机房\n")
    index = world.index()
    index.sync([world.notes, talks])
    assert world.found(index, "仓库", corpus=Corpus.MEMORY) == ["memory/a.md"]
    assert world.found(index, "仓库", corpus=Corpus.SESSIONS) == ["sessions/b.md"]
    assert world.found(index, "仓库") == ["memory/a.md", "sessions/b.md"]


def test_lex_06_one_of_three_words_is_enough_and_more_rank_higher(world):
    for number, text in enumerate(
        ["caterer", "caterer deposit", "caterer deposit wedding", "unrelated talk", "more talk"]
    ):
        world.notes.write(f"memory/{number}.md", f"{text}\n")
    index = world.index()
    index.sync([world.notes])
    assert world.found(index, "wedding caterer deposit") == ["memory/2.md", "memory/1.md", "memory/0.md"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("we can't meet before noon", "can't"),
        ("start it with --no-cache every time", '"--no-cache"'),
        ('it\'s "ready" they said', "it's \"ready"),
    ],
)
def test_lex_08_apostrophes_and_quoted_flags_match(world, text, query):
    world.notes.write("memory/a.md", f"{text}\n")
    world.notes.write("memory/b.md", "quite another matter\n")
    index = world.index()
    index.sync([world.notes])
    assert world.found(index, query) == ["memory/a.md"]
    assert world.found(index, '"') == []


def test_lex_08_a_quoted_phrase_ranks_the_literal_match_first(world):
    world.notes.write("memory/a.md", "the key was under the red door mat\n")
    world.notes.write("memory/b.md", "a door that is red, and red again, and one more door\n")
    world.notes.write("memory/c.md", "filler\n\n# x\n")
    world.notes.write("memory/d.md", "more filler\n")
    world.notes.write("memory/e.md", "even more\n")
    index = world.index()
    index.sync([world.notes])
    assert world.found(index, '"red door"')[0] == "memory/a.md"


@pytest.mark.parametrize("query", ["parse_rate_card", "rate_card", "parse rate card", "parseRate rate_card()"])
def test_lex_09_parts_of_identifiers_are_found(world, query):
    world.notes.write("memory/a.md", "first call parse_rate_card() and wait\n")
    world.notes.write("memory/b.md", "nothing\n")
    index = world.index()
    index.sync([world.notes])
    assert world.found(index, query) == ["memory/a.md"]


def test_lex_09_words_that_stand_together_rank_before_words_apart(world):
    world.notes.write("memory/a.md", "the function split_ledger does it all, they say, every time\n")
    world.notes.write("memory/b.md", "the ledger and how to split, split the ledger; ledger here\n")
    for number in range(5):
        world.notes.write(f"memory/x{number}.md", "other things entirely\n")
    index = world.index()
    index.sync([world.notes])
    assert world.found(index, "split_ledger")[0] == "memory/a.md"


@pytest.mark.parametrize(
    ("literal", "query"),
    [
        ("the limit is 30 km/h here", "30 km/h"),
        ("prefer std::variant there", "std::variant"),
        ("written in C++ mostly", "C++"),
        ("use AND in the filter", "AND"),
        ("the column key:value pair", "key:value"),
        ("files like report* are big", "report*"),
    ],
)
def test_lex_11_marks_and_operators_are_plain_text(world, literal, query):
    world.notes.write("memory/a.md", f"{literal}\n")
    world.notes.write("memory/b.md", "zzz\n")
    index = world.index()
    index.sync([world.notes])
    assert world.found(index, query) == ["memory/a.md"]


@pytest.mark.parametrize(
    "query", ["(", "NEAR(a b)", "NOT", "^x", "- -", "{a b}: c", "a AND (b", "\\", "'; DROP TABLE chunk; --"]
)
def test_lex_11_no_operator_is_an_error(world, query):
    world.notes.write("memory/a.md", "zzz\n")
    index = world.index()
    index.sync([world.notes])
    assert world.found(index, query) == []
    assert world.found(index, "zzz") == ["memory/a.md"]


def test_lex_13_a_session_name_with_hyphens_is_a_filter(world):
    names = ["team-a", "3f0c9c1e-8a4b-4c55-9d0e-0a1b2c3d4e5f"]
    talks = world.provider(
        "talks",
        corpus=Corpus.SESSIONS,
        provenance=lambda path, number: Provenance(SourceClass.OWNER, SessionKind.INTERACTIVE, session=Path(path).stem),
    )
    for name in names:
        talks.write(f"sessions/{name}.md", "the sauna opens at seven\n")
    index = world.index()
    index.sync([talks])
    for name in names:
        assert world.found(index, "sauna", sessions=frozenset({name})) == [f"sessions/{name}.md"]
    assert world.found(index, "sauna", sessions=frozenset()) == []
    assert len(world.found(index, "sauna")) == 2


def test_lex_14_annotations_are_not_searched_and_not_shown(world):
    text = "# Facts\n\n- Take the northern gate. <!-- trigger: heavy delivery --> <!-- importance: 8 -->\n"
    world.notes.write("MEMORY.md", text)
    index = world.index()
    index.sync([world.notes])
    assert world.found(index, "importance") == world.found(index, "trigger") == world.found(index, "delivery") == []
    assert world.found(index, "northern gate") == ["MEMORY.md"]
    (entry,) = index.curated_rows()
    assert entry.chunk.text == "Take the northern gate."
    assert entry.chunk.annotations.triggers == ("heavy delivery",)
    assert entry.chunk.annotations.importance == 8
    assert (world.notes.root / "MEMORY.md").read_text(encoding="utf-8") == text


@pytest.mark.parametrize("query", ["", "   ", "???", "🙂", "\0", "\ud800", "\n\t", "…—–"])
def test_lex_15_an_empty_index_and_a_query_without_words_find_nothing(world, query):
    index = world.index()
    assert world.found(index, "anything") == []
    world.notes.write("memory/a.md", "one note\n")
    index.sync([world.notes])
    assert world.found(index, query) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(alphabet=st.characters(), max_size=200))
@example(query="a" * 50_000)
@example(query="\0'\"(){}*:^-+,;\\ AND OR NOT NEAR")
@example(query="是" * 3000)
def test_any_text_is_a_query(world, query):
    index = world.index()
    world.notes.write("memory/a.md", f"{query[:5000].encode('utf-8', 'replace').decode()} anchor\n")
    index.sync([world.notes])
    index.keyword_leg(SearchRequest(query), 10)
    index.path_matches(SearchRequest(query))
    assert world.found(index, f"{query[-100:]} anchor") == ["memory/a.md"]
    world.close()


def test_a_query_of_a_megabyte_reads_its_ends(world):
    world.notes.write("memory/a.md", "the airline with the blue tails\n")
    index = world.index()
    index.sync([world.notes])
    filler = "".join(f"w{number} " for number in range(150_000))
    assert len(filler) > 1_000_000
    assert world.found(index, f"{filler} which airline?") == ["memory/a.md"]
    assert world.found(index, f"which airline? {filler}") == ["memory/a.md"]
    query = parse(filler)
    assert len(query.words) < 6_000


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Die Rechnungen wurden bezahlt.", "Rechnung bezahlen"),
        ("Los vecinos protestaron por el ruido.", "vecino protesta"),
        ("Les voisines préparaient le dîner.", "voisin préparer"),
        ("She was repairing the bicycles.", "repair bicycle"),
        ("El CAFÉ está cerrado", "cafe"),
    ],
)
def test_inflected_words_match_in_every_stemmed_language(world, text, query):
    world.notes.write("memory/a.md", f"{text}\n")
    index = world.index()
    index.sync([world.notes])
    assert world.found(index, query) == ["memory/a.md"]


def test_stop_words_alone_are_searched_and_otherwise_dropped():
    assert parse("what is it about").words == ("what", "is", "it", "about")
    assert parse("what is the tariff").words == ("tariff",)
    assert parse("我的会议是什么").pairs == (("的", "会"), ("会", "议"), ("议", "是"))
    assert parse("我的会议是什么").singles == ("会", "议")


def test_what_is_written_together_is_asked_for_together():
    query = parse('the split_ledger of "our red door", Mara\'s north gate')
    assert query.literals == (("our", "red", "door"), ("split", "ledger"))
    assert query.phrases == (("red", "door"), ("door", "mara"), ("north", "gate"))


def test_a_name_is_not_rarer_for_a_line_in_another_language(world):
    for number in range(60):
        world.notes.write(f"memory/n{number:02d}.md", f"what happened on day {number} was that Rosales left at noon\n")
    world.notes.write("memory/x.md", "los Rosales no están y el vecino es de la casa\n")
    index = world.index()
    index.sync([world.notes])
    terms = index._fulltext[True].terms("what was it that Rosales did")
    assert [words for words in terms.line if words[0].startswith("rosal")] == [("rosal",)]
    assert world.found(index, "vecinos") == ["memory/x.md"]


def test_words_around_a_line_count_for_it(world):
    filler = [f"An unrelated remark about the weather of day {number}, and of the next." for number in range(40)]
    talk = ["Ana: The pottery class in Lugo begins soon.", "Ben: Lovely! How much is it?", "Ana: It is ninety a month."]
    world.notes.write("memory/talk.md", "\n".join(talk))
    world.notes.write(
        "memory/other.md", "\n".join([*filler, "The gym is forty a month.", "The gas is ninety a month."])
    )
    index = world.index()
    index.sync([world.notes])
    hits = index.keyword_leg(SearchRequest("what does the pottery class cost a month"), 5)
    texts = [one.chunk.text for one in index.load([hit.chunk_id for hit in hits])]
    assert talk[2] in texts[:2]


def test_headings_and_paths_are_searched(world):
    world.notes.write("memory/trip-to-oslo.md", "# Ferry\n\nleaves at nine\n")
    index = world.index()
    index.sync([world.notes])
    assert world.found(index, "oslo") == world.found(index, "ferry") == ["memory/trip-to-oslo.md"]


def test_a_query_that_names_a_file_finds_its_chunks(world):
    world.notes.write("memory/Plan 2.md", "a\n")
    world.notes.write("memory/other.md", "b\n")
    index = world.index()
    index.sync([world.notes])
    for query, exact in (("memory/plan 2.MD", 3), ("PLAN 2.md", 2), ("plan 2", 1), ("plan", None)):
        matches = index.path_matches(SearchRequest(query))
        assert list(matches.values()) == ([exact] if exact else [])
    assert index.path_matches(SearchRequest("other.md", path_prefix="memory/P")) == {}


def _day(day: int) -> datetime:
    return datetime(2026, 5, day, tzinfo=UTC)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"since": _day(3)}, ["2026-05-03", "2026-05-04"]),
        ({"until": _day(2)}, ["2026-05-01", "2026-05-02"]),
        ({"since": _day(2), "until": _day(3)}, ["2026-05-02", "2026-05-03"]),
        ({"as_of": _day(1)}, ["2026-05-01", "undated"]),
        ({"path_prefix": "memory/u"}, ["undated"]),
        ({"path_prefix": "memory/%"}, []),
        ({"corpus": Corpus.SESSIONS}, []),
        ({"sessions": frozenset()}, ["2026-05-01", "2026-05-02", "2026-05-03", "2026-05-04", "undated"]),
    ],
)
def test_both_legs_apply_the_same_filters(world, filters, expected):
    embedder = world.embedder()
    for name in [f"2026-05-0{day}" for day in range(1, 5)] + ["undated"]:
        world.notes.write(f"memory/{name}.md", "the same sentence everywhere\n")
    index = world.index(embedder)
    index.sync([world.notes])
    paths = [f"memory/{name}.md" for name in expected]
    assert sorted(world.found(index, "sentence", **filters)) == paths
    assert world.near(index, embedder, "sentence", **filters) == paths


def test_equal_scores_are_cut_by_path_and_line(world):
    for number in reversed(range(300)):
        world.notes.write(f"memory/{number:03d}.md", "an identical remark\n")
    index = world.index()
    index.sync([world.notes])
    hits = index.keyword_leg(SearchRequest("remark"), 5)
    assert [one.chunk.path for one in index.load([hit.chunk_id for hit in hits])] == [
        f"memory/{number:03d}.md" for number in range(5)
    ]


def test_many_threads_that_search_at_once_each_get_the_answer_of_one(world):
    for number in range(40):
        world.notes.write(f"memory/n{number:02d}.md", f"heron {number} at the mill\nthe weir of day {number}\n")
    index = world.index()
    index.sync([world.notes])
    queries = [f"heron weir {number} mill day" for number in range(40)]
    expected = [list(index.keyword_leg(SearchRequest(query), 20)) for query in queries]
    fresh = world.index()
    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            found = list(pool.map(lambda query: list(fresh.keyword_leg(SearchRequest(query), 20)), queries))
            assert found == expected
