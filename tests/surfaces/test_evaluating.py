"""`reverie eval retrieval`: numbers about the search, on notes and questions of anybody's own."""

from __future__ import annotations

import itertools
import json

import pytest

from reverie.core.types import Hit, Provenance, SearchResult
from reverie.surfaces.cli.evaluating import Notes, percentile, results


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "corpus"


@pytest.fixture
def evaluate(run, folder, tmp_path):
    """Write notes and queries, run the command, and return its lines."""

    def call(notes, queries, *more):
        for name, lines in notes.items():
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("\n".join(lines) + "\n", encoding="utf-8")
        file = tmp_path / "queries.jsonl"
        file.write_text(
            "".join(json.dumps({"id": ident, "query": query}, ensure_ascii=False) + "\n" for ident, query in queries),
            encoding="utf-8",
        )
        return run("eval", "retrieval", "--notes", str(folder), "--queries", str(file), "--no-vectors", *more)

    return call


NOTES = {
    "memory/2026-03-15.md": ["# Day", "", "The backup runs on moewe.", "Bread is out."],
    "memory/2026-03-17.md": ["# Day", "", "The backup runs on kormoran now."],
    "MEMORY.md": ["- The owner is called Mara."],
}


def test_every_query_gets_a_line_and_the_last_line_has_the_figures(evaluate):
    ran = evaluate(NOTES, [("one", "kormoran backup"), (2, "who is the owner"), ("three", "🙂")])
    assert ran.status == 0
    *answers, figures = ran.rows
    assert [answer["id"] for answer in answers] == ["one", 2, "three"]
    first = answers[0]["results"][0]
    assert first["path"] == "memory/2026-03-17.md"
    assert first["startLine"] <= 3 <= first["endLine"]
    assert answers[1]["results"][0]["path"] == "MEMORY.md"
    assert answers[2]["results"] == []
    assert all(answer["ms"] > 0 for answer in answers)
    assert figures["files"] == 3
    assert figures["chunks"] >= 3
    assert figures["mode"] == "keyword"
    assert figures["p50Ms"] <= figures["p95Ms"]
    assert figures["indexSeconds"] >= 0


def test_scores_fall_strictly_even_where_texts_are_alike(evaluate):
    alike = {f"memory/{number}.md": ["The very same sentence about a lighthouse."] for number in range(8)}
    answer, _ = evaluate(alike, [("a", "lighthouse sentence")], "--k", "8").rows
    scores = [result["score"] for result in answer["results"]]
    assert len(scores) > 1
    assert all(higher > lower for higher, lower in itertools.pairwise(scores))


def test_rank_decides_where_scores_do_not():
    hits = [
        Hit(f"{name}.md", 1, 1, score, "", "memory", Provenance())
        for name, score in (("a", 0.1), ("b", 0.5), ("c", 0.5))
    ]
    rows = results(SearchResult(tuple(hits)), Notes(None, {}))
    ordered = sorted(rows, key=lambda row: -row["score"])
    assert [row["path"] for row in ordered] == ["a.md", "b.md", "c.md"]


def test_no_more_results_than_asked_for(evaluate):
    alike = {f"memory/{number}.md": [f"A lighthouse number {number} of the coast."] for number in range(8)}
    answer, _ = evaluate(alike, [("a", "lighthouse")], "--k", "3").rows
    assert len(answer["results"]) == 3


def test_notes_outside_the_memory_folder_are_indexed_under_the_path_that_they_have(evaluate):
    notes = {"2026-03-17 plan.md": ["The backup runs on kormoran."], "deep/er/a.md": ["Bread is out."], **NOTES}
    answers = evaluate(notes, [("a", "bread"), ("b", "moewe")]).rows
    assert "deep/er/a.md" in [result["path"] for result in answers[0]["results"]]
    assert answers[1]["results"][0]["path"] == "memory/2026-03-15.md"
    assert answers[-1]["files"] == 5


def test_a_folder_without_a_memory_folder_is_a_folder_of_notes(evaluate):
    answer, figures = evaluate({"a.md": ["Bread is out."], "b/c.md": ["Milk is out."]}, [("a", "milk")]).rows
    assert [result["path"] for result in answer["results"]] == ["b/c.md"]
    assert figures["files"] == 2


def test_neither_the_notes_nor_the_own_memory_are_changed(evaluate, folder, tmp_path, state):
    assert evaluate(NOTES, [("a", "backup")]).status == 0
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()) == sorted(NOTES)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus", "here", "queries.jsonl", "state"]
    assert [path.name for path in state.iterdir()] == ["cache"]  # where the model is built, once on a machine


def test_one_document_can_be_had_as_well(evaluate):
    data = evaluate(NOTES, [("a", "backup")], "--json").data
    assert data["queries"][0]["id"] == "a"
    assert data["mode"] == "keyword"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"{", "Line 3"),
        (b"[]", "no JSON object"),
        (b'{"query": "x"}', "no id"),
        (b'{"id": 1, "query": 2}', "no text"),
        (b"\xff", "Line 3"),
    ],
)
def test_a_query_that_is_none_is_named_by_its_line(run, tmp_path, line, told):
    (tmp_path / "notes").mkdir(exist_ok=True)
    file = tmp_path / "queries.jsonl"
    file.write_bytes(b'{"id": 1, "query": "x"}\n\n' + line + b"\n")
    ran = run("eval", "retrieval", "--notes", str(tmp_path / "notes"), "--queries", str(file), "--no-vectors")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: Line 3 of the queries cannot be used")
    assert told in ran.err


def test_queries_may_come_from_standard_input(run, folder):
    folder.mkdir()
    (folder / "a.md").write_text("Bread is out.\n", encoding="utf-8")
    query = '{"id": "a", "query": "bread"}\n'
    ran = run("eval", "retrieval", "--notes", str(folder), "--queries", "-", "--no-vectors", stdin=query)
    assert ran.rows[0]["results"][0]["path"] == "a.md"


def test_the_percentile_is_the_nearest_rank():
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.95) == 4.0
    assert percentile([float(n) for n in range(1, 101)], 0.95) == 95.0
    assert percentile([7.0], 0.5) == 7.0
