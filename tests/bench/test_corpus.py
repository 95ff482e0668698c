import json

import pytest

from bench import corpus


def test_the_same_seed_writes_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        corpus.write(tmp_path / name, 30, sections_per_note=4)
    first, second = (
        {path.relative_to(tmp_path / name).as_posix(): path.read_bytes() for path in (tmp_path / name).rglob("*.md")}
        for name in ("one", "two")
    )
    assert first == second
    assert len(first) == 8


def test_another_seed_writes_other_notes():
    assert [note.text for note in corpus.notes(5)] != [note.text for note in corpus.notes(5, seed=corpus.SEED + 1)]


def test_a_small_corpus_is_the_beginning_of_a_large_one():
    small, large = list(corpus.notes(20)), list(corpus.notes(60))
    assert large[:20] == small
    assert len({note.path for note in large}) == 60


def test_a_query_is_answered_by_the_line_it_names():
    texts = {note.path: note.text.splitlines() for note in corpus.notes(90, sections_per_note=3)}
    asked = list(corpus.queries(90, 30, sections_per_note=3))
    sections = [corpus.section(corpus.SEED, number) for number in range(90)]
    answers = {one.question: one.lines[one.fact] for one in sections} | {
        one.words: one.lines[one.fact] for one in sections
    }
    assert len({query.ident for query in asked}) == 30
    for query in asked:
        assert texts[query.path][query.line - 1] == answers[query.text]


def test_a_fact_stands_in_one_place_only():
    facts = [one.lines[one.fact] for one in (corpus.section(corpus.SEED, number) for number in range(2_000))]
    assert len(set(facts)) == len(facts)


def test_a_section_is_one_chunk_of_four_hundred_tokens_and_every_slot_is_filled():
    for note in corpus.notes(400):
        assert len(note.text.encode()) < 1_600
        assert "{" not in note.text


def test_every_language_takes_part():
    seen = {corpus.section(corpus.SEED, number).language for number in range(400)}
    assert seen == set(corpus.languages()) == {"de", "en", "es", "fr", "ja", "ko", "zh"}


def test_a_corpus_that_is_there_is_kept_and_another_one_is_refused(tmp_path):
    written = corpus.write(tmp_path, 3)
    assert corpus.write(tmp_path, 3) == written
    with pytest.raises(FileExistsError):
        corpus.write(tmp_path, 4)


def test_the_command_writes_notes_and_queries(tmp_path, capsys):
    assert corpus.main([str(tmp_path), "--chunks", "6", "--sections-per-note", "2", "--queries", "4"]) == 0
    rows = [json.loads(line) for line in (tmp_path / "queries.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["id"] for row in rows] == ["q0000", "q0001", "q0002", "q0003"]
    assert all((tmp_path / row["path"]).is_file() for row in rows)
    assert "3 files, 6 sections" in capsys.readouterr().out
