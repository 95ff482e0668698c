from __future__ import annotations

import os
import sqlite3
import sys
from dataclasses import replace

import pytest

from reverie.core.errors import EmbedderUnavailable
from reverie.core.types import Corpus, Provenance, SearchRequest, SessionKind, SourceClass, SourceStat
from reverie.index.identity import Chunking
from reverie.index.indexer import SyncBudget

FILES = "SELECT count(*) FROM source"
CHUNKS = "SELECT count(*) FROM chunk"
TEXTS = "SELECT count(*) FROM chunk_text"
WORDS = "SELECT count(*) FROM trusted_chunk_fts_docsize"
VECTORS = "SELECT count(*) FROM embedding WHERE vector IS NOT NULL"


def sizes(world, index):
    return [world.table(index, sql)[0][0] for sql in (FILES, CHUNKS, TEXTS, WORDS)]


def fill(world, count, text="note number {0} about topic{0}"):
    for number in range(count):
        world.notes.write(f"memory/n{number}.md", text.format(number) + "\n")


def test_idx_01_deleted_renamed_and_new_files_are_noticed(world):
    fill(world, 3)
    index = world.index()
    index.sync([world.notes])
    root = world.notes.root / "memory"
    (root / "n0.md").unlink()
    (root / "n1.md").rename(root / "moved.md")
    world.notes.write("memory/new.md", "something about topic9\n")
    report = index.sync([world.notes])
    assert (report.added, report.changed, report.removed, report.unchanged) == (2, 0, 2, 1)
    assert world.found(index, "topic0") == []
    assert world.found(index, "topic1") == ["memory/moved.md"]
    assert world.found(index, "topic9") == ["memory/new.md"]


def test_idx_03_no_phantom_rows_survive_a_forced_rebuild(world):
    embedder = world.embedder()
    fill(world, 10)
    world.index(embedder).sync([world.notes])
    world.close()
    for number in range(4):
        (world.notes.root / f"memory/n{number}.md").unlink()
    index = world.index(embedder)
    report = index.sync([world.notes], force=True)
    assert report.removed == 4 and report.embedded == 0
    assert sizes(world, index) == [6, 6, 6, 6]
    index.compact()
    assert world.table(index, VECTORS) == [(6,)]
    assert index.integrity() == []


def test_idx_14_a_new_source_is_found_after_one_sync(world):
    fill(world, 2)
    talks = world.provider("talks", corpus=Corpus.SESSIONS)
    talks.write("sessions/a.md", "user: the trombone is in the attic\n")
    index = world.index()
    index.sync([world.notes])
    assert world.found(index, "trombone") == []
    index.sync([world.notes, talks])
    assert world.found(index, "trombone") == ["sessions/a.md"]
    index.sync([world.notes])
    assert world.found(index, "trombone") == ["sessions/a.md"]


def test_idx_15_a_missing_root_loses_nothing_and_is_said_each_time(world):
    embedder = world.embedder()
    fill(world, 50)
    index = world.index(embedder)
    index.sync([world.notes])
    made = len(embedder.seen)
    world.notes.root.rename(world.folder / "away")
    for _ in range(2):
        report = index.sync([world.notes])
        assert report.removed == 0
        assert any("50 indexed documents are kept" in notice for notice in report.notices)
    assert world.found(index, "topic7") == ["memory/n7.md"]
    (world.folder / "away").rename(world.notes.root)
    assert index.sync([world.notes]).notices == ()
    assert sizes(world, index) == [50, 50, 50, 50] and len(embedder.seen) == made


def test_idx_15_a_root_that_vanishes_between_scan_and_read_loses_nothing(world):
    fill(world, 3)
    index = world.index()
    index.sync([world.notes])
    away = world.folder / "away"

    class Vanishing(type(world.notes)):
        def read(self, path):
            if self.root.exists():
                self.root.rename(away)
            return super().read(path)

    report = index.sync([Vanishing(world.notes.root)], force=True)
    assert report.removed == 0 and len(report.skipped) == 3
    assert sizes(world, index) == [3, 3, 3, 3]


def test_idx_16_unchanged_files_add_nothing(world):
    world.notes.write("memory/a.md", "\n\n".join(f"## Part {number}\ntext {number}" for number in range(6)))
    index = world.index()
    index.sync([world.notes])
    world.notes.write("memory/a.md", "\n\n".join(f"## Part {number}\nother {number}" for number in range(4)))
    index.sync([world.notes])
    for _ in range(3):
        os.utime(world.notes.root / "memory/a.md")
        report = index.sync([world.notes])
        assert (report.added, report.changed, report.unchanged) == (0, 0, 1)
    assert sizes(world, index) == [1, 4, 4, 4]
    assert world.table(index, "SELECT count(DISTINCT start_line) FROM chunk") == [(4,)]


@pytest.mark.slow
def test_idx_17_more_than_ten_thousand_chunks_survive_a_rebuild(world):
    world.notes.write("MEMORY.md", "# M\n" + "".join(f"- fact {number}\n" for number in range(10_050)))
    index = world.index()
    index.sync([world.notes])
    assert sizes(world, index) == [1, 10_050, 10_050, 10_050]
    index.sync([world.notes], force=True)
    assert sizes(world, index) == [1, 10_050, 10_050, 10_050]
    assert len(index.curated_rows()) == 10_050


def test_a_file_with_the_same_size_and_time_is_not_read_again(world):
    fill(world, 5)
    index = world.index()
    index.sync([world.notes])
    world.notes.reads.clear()
    before = index.revision
    report = index.sync([world.notes])
    assert report.unchanged == 5 and world.notes.reads == [] and index.revision == before


def test_a_file_written_a_moment_before_the_sync_is_looked_at_once_more(world):
    world.notes.write("memory/a.md", "one\n")
    moment = (world.notes.root / "memory/a.md").stat().st_mtime
    world.clock.set(world.clock.now().fromtimestamp(moment, world.clock.now().tzinfo))
    index = world.index()
    index.sync([world.notes])
    world.notes.reads.clear()
    index.sync([world.notes])
    assert world.notes.reads == ["memory/a.md"]


def test_only_named_paths_are_looked_at(world):
    fill(world, 3)
    index = world.index()
    index.sync([world.notes])
    world.notes.write("memory/n0.md", "rewritten about lighthouses\n")
    world.notes.write("memory/n1.md", "rewritten about volcanoes\n")
    world.notes.reads.clear()
    report = index.sync([world.notes], only=["memory/n0.md"])
    assert world.notes.reads == ["memory/n0.md"]
    assert report.changed == 1
    assert world.found(index, "lighthouses") == ["memory/n0.md"]
    assert world.found(index, "volcanoes") == []
    assert index.sync([world.notes]).changed == 1
    assert world.found(index, "volcanoes") == ["memory/n1.md"]


def test_a_named_path_that_cannot_be_read_brings_a_full_look(world):
    fill(world, 3)
    index = world.index()
    index.sync([world.notes])
    (world.notes.root / "memory/n2.md").unlink()
    report = index.sync([world.notes], only=["memory/n2.md"])
    assert report.removed == 1
    assert world.found(index, "topic2") == []


def test_a_changed_provenance_of_the_same_bytes_replaces_the_class(world):
    world.notes.write("memory/a.md", "from somewhere\n")
    index = world.index()
    index.sync([world.notes])
    world.notes.provenance = lambda path, number: Provenance(SourceClass.UNTRUSTED, SessionKind.INTERACTIVE)
    report = index.sync([world.notes], only=["memory/a.md"])
    assert report.changed == 1
    (row,) = index.rows_of("memory/a.md")
    assert row.chunk.provenance.origin is SourceClass.UNTRUSTED


def test_an_edit_at_the_top_keeps_the_rows_below_and_moves_their_lines(world):
    embedder = world.embedder()
    parts = [f"## Part {number}\ntext of part {number}" for number in range(5)]
    world.notes.write("memory/a.md", "\n".join(parts))
    index = world.index(embedder)
    index.sync([world.notes])
    before = {row.chunk.heading: row.id for row in index.rows_of("memory/a.md")}
    made = len(embedder.seen)
    world.notes.write("memory/a.md", "\n".join(["## New\nfirst", *parts]))
    report = index.sync([world.notes])
    assert report.embedded == 1 and len(embedder.seen) == made + 1
    after = index.rows_of("memory/a.md")
    assert [row.chunk.start_line for row in after] == [1, 3, 5, 7, 9, 11]
    assert {row.chunk.heading: row.id for row in after[1:]} == before


def test_a_document_that_changes_while_it_is_read_is_read_once_more(world):
    world.notes.write("memory/a.md", "first version\n")
    index = world.index()
    notes = world.notes

    class Changing(type(notes)):
        def read(self, path):
            found = super().read(path)
            if len(self.reads) == 1:
                self.write(path, "second version, longer\n")
            return found

    changing = Changing(notes.root)
    report = index.sync([changing])
    assert changing.reads == ["memory/a.md"] * 2
    assert (report.added, report.changed, report.unchanged) == (1, 0, 0)
    assert world.found(index, "second") == ["memory/a.md"] and world.found(index, "first") == []


def test_a_file_that_vanishes_while_it_is_read_is_named_and_leaves_nothing(world):
    fill(world, 2)
    index = world.index()
    index.sync([world.notes])

    class Vanishing(type(world.notes)):
        def read(self, path):
            (self.root / "memory/n1.md").unlink(missing_ok=True)
            return super().read(path)

    report = index.sync([Vanishing(world.notes.root)], force=True)
    assert [one.path for one in report.skipped] == ["memory/n1.md"]
    assert report.removed == 1 and world.found(index, "topic1") == []


def test_what_is_skipped_is_remembered_until_it_is_not(world):
    fill(world, 1)
    world.notes.skip = {"memory/big.md": "larger than 8 MB"}
    index = world.index()
    report = index.sync([world.notes])
    assert report.skipped == index.skipped() and index.skipped()[0].reason == "larger than 8 MB"
    world.notes.skip = {}
    index.sync([world.notes])
    assert index.skipped() == ()


def test_a_budget_leaves_the_oldest_for_later_and_counts_them(world):
    fill(world, 10)
    for number in range(10):
        os.utime(world.notes.root / f"memory/n{number}.md", (1_700_000_000 + number,) * 2)
    index = world.index()
    report = index.sync([world.notes], budget=SyncBudget(max_files=3))
    assert (report.added, report.pending) == (3, 7)
    assert world.found(index, "topic9") == ["memory/n9.md"] and world.found(index, "topic0") == []
    assert index.sync([world.notes]).pending == 0
    assert world.found(index, "topic0") == ["memory/n0.md"]


def test_a_deadline_that_is_over_leaves_everything_for_later(world):
    fill(world, 4)
    index = world.index()
    assert index.sync([world.notes], budget=SyncBudget(deadline_seconds=0.0)).pending == 4


def test_a_budget_of_vectors_publishes_the_words_first(world):
    embedder = world.embedder()
    fill(world, 10)
    index = world.index(embedder)
    report = index.sync([world.notes], budget=SyncBudget(max_embed=4))
    assert report.embedded == 4 and report.pending == 0
    assert (index.counts().vectors, index.counts().pending) == (4, 6)
    assert world.found(index, "topic3") == ["memory/n3.md"]
    assert index.sync([world.notes]).embedded == 6
    assert index.counts().pending == 0


def test_progress_counts_files_and_then_vectors(world):
    fill(world, 100)
    seen = []
    index = world.index(world.embedder())
    index.sync([world.notes], progress=lambda what, done, total: seen.append((what, done, total)))
    assert seen[:100] == [("files", number, 100) for number in range(1, 101)]
    assert seen[-1] == ("vectors", 100, 100)


# --- embedders --------------------------------------------------------------------------------------------------


def test_emb_01_another_width_rests_vectors_names_both_and_keeps_keywords(world):
    old, new = world.embedder(8, model="small"), world.embedder(16, model="large")
    fill(world, 3)
    world.index(old).sync([world.notes])
    world.close()
    index = world.index(new)
    report = index.sync([world.notes])
    text = " ".join(report.notices)
    assert "vector width: the index has 8, the configuration 16" in text and "reverie index --force" in text
    assert index.mismatch() and new.seen == []
    with pytest.raises(Exception, match="vector width"):
        world.near(index, new, "topic1")
    assert world.found(index, "topic1") == ["memory/n1.md"]
    index.sync([world.notes], force=True)
    assert index.mismatch() == () and len(new.seen) == 3
    assert world.near(index, new, "note number 1 about topic1")[0] == "memory/n1.md"


def test_emb_03_vectors_of_two_embedders_never_mix(world):
    old = world.embedder(16, model="first")
    fill(world, 4)
    index = world.index(old)
    index.sync([world.notes])
    new = world.embedder(16, model="second")
    index.use_embedder(new)
    world.notes.write("memory/n0.md", "an edit about kites\n")
    index.sync([world.notes])
    assert new.seen == [] and index.mismatch()
    assert world.table(index, "SELECT count(DISTINCT space) FROM embedding") == [(1,)]
    index.use_embedder(old)
    index.sync([world.notes])
    assert world.near(index, old, "an edit about kites")[0] == "memory/n0.md"
    index.use_embedder(new)
    index.sync([world.notes], force=True)
    assert world.table(index, "SELECT count(DISTINCT space), count(*) FROM embedding") == [(1, 4)]
    assert len(new.seen) == 4


def test_emb_03_a_killed_change_of_embedder_still_rests(world):
    old, new = world.embedder(16, model="first"), world.embedder(16, model="second")
    fill(world, 4)
    index = world.index(old)
    index.sync([world.notes])
    index.use_embedder(new)
    new.down = True
    report = index.sync([world.notes], force=True)
    assert any("switched off" in notice for notice in report.notices)
    assert index.mismatch() != ()
    index.use_embedder(old)
    assert index.mismatch() == ()
    assert world.near(index, old, "note number 2 about topic2")[0] == "memory/n2.md"


def test_emb_05_switching_embedders_loses_no_chunk(world):
    fill(world, 50)
    index = world.index(world.embedder(8))
    index.sync([world.notes])
    counts = [index.counts().chunks]
    index.use_embedder(world.embedder(16))
    index.sync([world.notes])
    counts.append(index.counts().chunks)
    index.sync([world.notes], force=True)
    counts.append(index.counts().chunks)
    assert counts == [50, 50, 50] and index.counts().vectors == 50


def test_an_embedder_after_none_embeds_what_is_there(world):
    fill(world, 5)
    index = world.index()
    index.sync([world.notes])
    embedder = world.embedder()
    index.use_embedder(embedder)
    report = index.sync([world.notes])
    assert report.embedded == 5 and report.notices == () and index.mismatch() == ()
    index.use_embedder(None)
    index.sync([world.notes])
    index.use_embedder(embedder)
    assert index.sync([world.notes]).embedded == 0


def test_emb_08_one_text_that_is_refused_stops_nothing(world):
    embedder = world.embedder(longest=100)
    fill(world, 19)
    world.notes.write("memory/huge.md", "Q" * 48_000)
    index = world.index(embedder)
    report = index.sync([world.notes])
    assert report.embedded == 19
    assert any("memory/huge.md#L1" in notice for notice in report.notices)
    assert world.found(index, "topic18") == ["memory/n18.md"]
    assert world.near(index, embedder, "note number 5 about topic5")[0] == "memory/n5.md"
    assert index.sync([world.notes]).embedded == 0
    assert (index.counts().pending, index.counts().vectors) == (0, 19)


def test_emb_08_a_provider_that_calls_a_long_text_an_outage_is_found_out(world):
    embedder = world.embedder(longest=100)

    class Misleading(type(embedder)):
        def embed_documents(self, texts):
            try:
                return super().embed_documents(texts)
            except ValueError as error:
                raise EmbedderUnavailable("400") from error

    fill(world, 5)
    world.notes.write("memory/huge.md", "Q" * 960)
    index = world.index(Misleading(16, longest=100))
    assert index.sync([world.notes]).embedded == 5


def test_a_long_line_has_a_vector_for_each_of_its_parts(world):
    embedder = world.embedder()
    talk = " ".join(f"Sentence number {number} is about something else again." for number in range(40))
    world.notes.write("memory/a.md", f"{talk} The violin is in the attic of the mill.\n")
    for number in range(30):
        world.notes.write(f"memory/n{number}.md", f"Sentence number {number} tells of some other thing again.\n")
    index = world.index(embedder)
    report = index.sync([world.notes])
    assert report.embedded == index.counts().vectors == 31 and len(embedder.seen) > 34
    assert world.near(index, embedder, "The violin is in the attic of the mill.")[0] == "memory/a.md"


def test_an_index_of_the_version_before_is_made_again(world):
    fill(world, 3)
    index = world.index()
    index.sync([world.notes])
    path = index.path
    world.close()
    with sqlite3.connect(path) as database:
        database.execute("DROP TABLE context")
        database.execute("DELETE FROM migration WHERE name = '0005_keys'")
    database.close()
    index = world.index()
    assert index.sync([world.notes]).added == 3
    assert world.found(index, "topic2") == ["memory/n2.md"] and index.integrity() == []


def test_an_embedder_that_cannot_say_who_it_is_leaves_keywords(world):
    embedder = world.embedder()

    def unknown():
        raise EmbedderUnavailable("its weights are not there")

    embedder.identity = unknown
    fill(world, 2)
    index = world.index(embedder)
    report = index.sync([world.notes])
    assert any("its weights are not there" in notice for notice in report.notices)
    assert world.found(index, "topic1") == ["memory/n1.md"]
    assert (index.mismatch(), index.counts().vectors, index.model()) == ((), 0, "")
    with pytest.raises(EmbedderUnavailable):
        world.near(index, embedder, "topic1")


def test_dur_19_an_edit_while_the_embedder_is_down_keeps_words_and_old_vectors(world):
    embedder = world.embedder()
    fill(world, 3)
    index = world.index(embedder)
    index.sync([world.notes])
    embedder.down = True
    world.notes.write("memory/n0.md", "replaced by a line about herons\n")
    report = index.sync([world.notes])
    assert any("1 chunks wait for vectors" in notice for notice in report.notices)
    assert world.found(index, "herons") == ["memory/n0.md"]
    assert world.near(index, embedder, "note number 1 about topic1")[0] == "memory/n1.md"
    embedder.down = False
    assert index.sync([world.notes]).embedded == 1
    assert world.near(index, embedder, "replaced by a line about herons")[0] == "memory/n0.md"


def test_equal_text_is_embedded_once_and_a_moved_note_not_again(world):
    embedder = world.embedder()
    for name in ("a", "b", "c"):
        world.notes.write(f"memory/{name}.md", "the very same sentence\n")
    index = world.index(embedder)
    index.sync([world.notes])
    assert len(embedder.seen) == 1 and len(world.near(index, embedder, "the very same sentence")) == 3
    (world.notes.root / "memory/a.md").rename(world.folder / "a.md")
    index.sync([world.notes])
    (world.folder / "a.md").rename(world.notes.root / "memory/z.md")
    index.sync([world.notes])
    assert len(embedder.seen) == 1


# --- what our own code changed ----------------------------------------------------------------------------------


def test_another_context_length_rebuilds_by_itself_and_says_so(world):
    world.notes.write("memory/a.md", "\n".join("some words on a line of text" for _ in range(60)))
    world.index().sync([world.notes])
    world.close()
    index = world.index(chunking=Chunking(tokens=50, overlap=0))
    report = index.sync([world.notes])
    assert any("context length: the index has 200, this version makes 50" in notice for notice in report.notices)
    assert world.table(index, "SELECT count(*) FROM context")[0][0] > 5
    assert index.counts().chunks == 60
    assert index.sync([world.notes]).notices == ()


def test_another_tokenizer_version_analyses_every_row_again(world, monkeypatch):
    fill(world, 3)
    index = world.index()
    index.sync([world.notes])
    ids = {row.id for number in range(3) for row in index.rows_of(f"memory/n{number}.md")}
    monkeypatch.setattr("reverie.index.identity.TOKENIZER_VERSION", 99)
    report = index.sync([world.notes])
    assert any("tokenizer version" in notice for notice in report.notices)
    fresh = {row.id for number in range(3) for row in index.rows_of(f"memory/n{number}.md")}
    assert len(fresh) == 3 and not fresh & ids
    assert index.integrity() == []


def test_two_providers_of_one_corpus_do_not_remove_each_others_files(world):
    extra = world.provider("extra")
    world.notes.write("memory/a.md", "alpha\n")
    extra.write("docs/b.md", "beta\n")
    index = world.index()
    for _ in range(2):
        index.sync([world.notes, extra])
        assert world.found(index, "alpha") == ["memory/a.md"] and world.found(index, "beta") == ["docs/b.md"]


def test_enc_05_text_of_any_script_is_the_same_whatever_the_locale(world):
    text = "Grüße aus Köln 🦊 漢字 ﬁn"
    world.notes.write("memory/a.md", text)
    index = world.index()
    index.sync([world.notes])
    assert [row.chunk.text for row in index.rows_of("memory/a.md")] == [text]
    assert world.found(index, "koln") == world.found(index, "漢字") == ["memory/a.md"]


@pytest.mark.skipif(sys.getfilesystemencoding() != "utf-8", reason="the system cannot write such names")
def test_enc_06_paths_of_any_script_come_back_as_they_are(world):
    text = "Grüße aus Köln 🦊 漢字 ﬁn"
    world.notes.write("memory/Планы 🦊 café.md", text)
    index = world.index()
    index.sync([world.notes])
    (row,) = index.rows_of("memory/Планы 🦊 café.md")
    assert row.chunk.text == text
    assert world.found(index, "koln") == world.found(index, "漢字") == ["memory/Планы 🦊 café.md"]


def test_lone_surrogates_and_nul_are_stored_as_something_readable(world):
    class Odd(type(world.notes)):
        def scan(self, *, known=()):
            found = super().scan()
            return replace(found, stats=(SourceStat("memory/x\udcff.md", 1, 1),))

        def read(self, path):
            found = super().read("memory/a.md")
            return replace(found, path=path, lines=(replace(found.lines[0], text="be\ud800fore \0 after"),))

    world.notes.write("memory/a.md", "x")
    index = world.index(world.embedder())
    odd = Odd(world.notes.root)
    assert index.sync([odd]).added == 1
    assert index.sync([odd]).unchanged == 1
    assert world.found(index, "after") == ["memory/x?.md"]


def test_importance_and_triggers_change_without_new_vectors_or_words(world):
    world.notes.write("MEMORY.md", "- likes rye bread\n")
    embedder = world.embedder()
    index = world.index(embedder)
    index.sync([world.notes])
    (before,) = index.curated_rows()
    world.notes.write("MEMORY.md", "- likes rye bread <!-- importance: 9 --> <!-- trigger: bakery -->\n")
    index.sync([world.notes])
    (after,) = index.curated_rows()
    assert after.id == before.id and after.chunk.annotations.importance == 9
    assert after.chunk.annotations.triggers == ("bakery",) and len(embedder.seen) == 1


def test_neighbours_are_the_chunks_around_in_the_document(world):
    world.notes.write("memory/a.md", "\n".join(f"## H{number}\nline {number}" for number in range(5)))
    index = world.index()
    index.sync([world.notes])
    rows = index.rows_of("memory/a.md")
    around = index.around([rows[2].id, rows[4].id], 2)
    assert [line.id for line in around[rows[2].id]] == [row.id for row in rows]
    assert [line.id for line in around[rows[4].id]] == [row.id for row in rows[2:]]
    assert [(line.start_line, line.chars) for line in around[rows[4].id]] == [
        (row.chunk.start_line, len(row.chunk.text)) for row in rows[2:]
    ]


def test_counts_are_kept_by_corpus(world):
    talks = world.provider("talks", corpus=Corpus.SESSIONS)
    talks.write("sessions/a.md", "hello\n")
    fill(world, 2)
    index = world.index()
    index.sync([world.notes, talks])
    counts = index.by_corpus()
    assert (counts["memory"].sources, counts["memory"].chunks) == (2, 2)
    assert (counts["sessions"].sources, counts["sessions"].chunks) == (1, 1)
    assert (index.counts().files, index.counts().chunks) == (3, 3)
    assert not index.keyword_leg(SearchRequest("hello"), 5)
