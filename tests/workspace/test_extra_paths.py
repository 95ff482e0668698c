"""Folders beside memory that are searched, too: found, read, never trusted, never followed out of where they are."""

from __future__ import annotations

import json

import pytest

from reverie import Memory, Sender
from reverie.core.errors import PathNotAllowed
from reverie.core.types import SearchRequest, SourceClass


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "handbook"
    (folder / "ovens").mkdir(parents=True)
    (folder / "ovens" / "kiln.md").write_text("# Kiln\n\nThe kiln fires at 980 degrees.\n", encoding="utf-8")
    (folder / "readme.md").write_text("# Handbook\n\nHow the studio works.\n", encoding="utf-8")
    (folder / "notes.txt").write_text("The glaze recipe needs cobalt.\n", encoding="utf-8")
    (folder / ".secret.md").write_text("The alarm code is zanzibar-9.\n", encoding="utf-8")
    return folder


@pytest.fixture
def opened(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    memories = []

    def make(*extra):
        Memory.create(state_dir=tmp_path / "state", workspace=tmp_path / "notes")
        config = {"memory": {"search": {"provider": "none", "extraPaths": list(extra)}}}
        (tmp_path / "state" / "reverie.json5").write_text(json.dumps(config), encoding="utf-8")
        memory = Memory.open(state_dir=tmp_path / "state", workspace=tmp_path / "notes")
        memories.append(memory)
        return memory

    yield make
    for memory in memories:
        memory.close()


def found(memory, query):
    return {hit.path: hit for hit in memory.recall(SearchRequest(query, 10, 0.0)).hits}


def test_markdown_below_a_folder_is_found_and_can_be_read(opened, docs):
    memory = opened(str(docs))
    (hit,) = found(memory, "kiln degrees").values()
    assert hit.path == (docs / "ovens" / "kiln.md").as_posix()
    assert hit.provenance.origin is SourceClass.UNTRUSTED
    assert "980 degrees" in memory.get(hit.path, 3, 1).text
    assert found(memory, "cobalt glaze") == {}
    assert found(memory, "zanzibar-9") == {}


def test_a_pattern_chooses_and_is_taken_from_the_folder(opened, docs):
    memory = opened({"path": str(docs), "pattern": "*.txt"})
    assert [path.rsplit("/", 1)[1] for path in found(memory, "cobalt glaze kiln handbook")] == ["notes.txt"]


def test_a_single_file_and_a_folder_of_the_workspace_keep_their_paths(opened, docs, tmp_path):
    (tmp_path / "notes" / "docs").mkdir(parents=True)
    (tmp_path / "notes" / "docs" / "glaze.md").write_text("Celadon wants iron.\n", encoding="utf-8")
    memory = opened("docs", str(docs / "notes.txt"))
    (inside,) = found(memory, "celadon iron").values()
    assert (inside.path, inside.provenance.origin) == ("docs/glaze.md", SourceClass.UNTRUSTED)
    assert list(found(memory, "cobalt")) == [(docs / "notes.txt").as_posix()]


def test_a_file_under_two_roots_is_one_document_and_memory_stays_memory(opened, docs, tmp_path):
    memory = opened(str(docs), str(docs / "ovens"), ".")
    memory.note("The lamp of the lighthouse broke.")
    hits = memory.recall(SearchRequest("kiln degrees", 10, 0.0)).hits
    assert len(hits) == 1
    (own,) = found(memory, "lighthouse lamp").values()
    assert own.provenance.origin is SourceClass.OWNER


def test_what_is_changed_or_removed_outside_is_followed(opened, docs):
    memory = opened(str(docs))
    assert found(memory, "kiln")
    (docs / "ovens" / "kiln.md").write_text("The furnace is new.\n", encoding="utf-8")
    memory.index()
    assert "980" not in str(found(memory, "kiln degrees"))
    assert found(memory, "furnace")
    (docs / "ovens" / "kiln.md").unlink()
    memory.index()
    assert found(memory, "furnace") == {}


def test_a_folder_that_is_away_loses_nothing(opened, docs, tmp_path):
    memory = opened(str(docs))
    assert found(memory, "kiln")
    docs.rename(tmp_path / "away")
    memory.index()
    assert found(memory, "kiln")
    (tmp_path / "away").rename(docs)
    memory.index()
    assert found(memory, "kiln")


def test_a_root_that_is_not_there_is_named(opened, tmp_path):
    memory = opened(str(tmp_path / "nowhere"))
    memory.index()
    assert [(one.path, one.reason) for one in memory.status().engine.skipped] == [
        (str(tmp_path / "nowhere"), "not there")
    ]


def test_links_are_not_followed(opened, docs, tmp_path):
    outside = tmp_path / "private"
    outside.mkdir()
    (outside / "diary.md").write_text("The alarm code is zanzibar-9.\n", encoding="utf-8")
    (docs / "linked").symlink_to(outside, target_is_directory=True)
    (docs / "diary.md").symlink_to(outside / "diary.md")
    (tmp_path / "root").symlink_to(outside, target_is_directory=True)
    memory = opened(str(docs), str(tmp_path / "root"))
    assert found(memory, "zanzibar-9") == {}
    for path in (docs / "linked" / "diary.md", docs / "diary.md", tmp_path / "root" / "diary.md"):
        with pytest.raises(PathNotAllowed):
            memory.get(path.as_posix())


@pytest.mark.parametrize("path", ["../secret.md", "ovens/../../secret.md", ".secret.md", "notes.txt", "ovens", ""])
def test_nothing_but_what_is_searched_can_be_read(opened, docs, path):
    (docs.parent / "secret.md").write_text("The alarm code is zanzibar-9.\n", encoding="utf-8")
    memory = opened(str(docs))
    with pytest.raises(PathNotAllowed):
        memory.get(f"{docs.as_posix()}/{path}")


def test_i1_nothing_of_it_enters_a_prompt_and_the_agent_sees_it_framed(opened, docs):
    memory = opened(str(docs))
    with memory.turn("agent:main:main", "How hot is the kiln?", Sender.owner("me")) as turn:
        assert "980" not in str(turn.prompt)
        told = memory.tools(turn).call("memory_search", {"query": "kiln degrees"})
        assert turn.tainted
        turn.reply("980 degrees.")
    assert "980" in json.dumps(told)
    assert "untrusted" in json.dumps(told).lower()


def test_huge_binary_and_odd_files_are_skipped_by_name(opened, docs):
    (docs / "blob.md").write_bytes(b"\0\1\2" * 50)
    (docs / "utf16.md").write_bytes("kiln".encode("utf-16"))
    memory = opened(str(docs))
    memory.index()
    skipped = {one.path.rsplit("/", 1)[1]: one.reason for one in memory.status().engine.skipped}
    assert skipped == {"blob.md": "binary", "utf16.md": "UTF-16 text"}
