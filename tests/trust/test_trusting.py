"""An untrusted line silences nobody around it, and counts once the owner has read it and says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from reverie import Sender
from reverie.core.errors import PathNotAllowed, UsageError, WriteConflict, WriteRefused
from reverie.core.types import SourceClass

ME = Sender.owner("me")
ANA = Sender.guest("ana", channel="telegram")
MINE = "agent:main:main"

DAY = "memory/2031-05-06.md"
OWNER, AGENT, UNTRUSTED = SourceClass.OWNER, SourceClass.AGENT, SourceClass.UNTRUSTED


def mixed(home) -> int:
    """Make a note of five lines by the owner, one of a guest, and five more; returns the guest's line."""
    for number in range(5):
        home.memory.note(f"mine {number}")
    with home.memory.turn(MINE, "note it", ANA) as turn:
        home.memory.tools(turn).call("memory_note", {"text": "the guest was here"})
    for number in range(5, 10):
        home.memory.note(f"mine {number}")
    return next(n for n, line in enumerate(home.text(DAY).split("\n"), 1) if "guest" in line)


def test_sec_08_one_untrusted_line_silences_nobody_and_borrows_no_trust(home) -> None:
    mixed(home)
    classes = home.classes(DAY)
    assert [origin for text, origin in classes.items() if "guest" in text] == [UNTRUSTED]
    assert {origin for text, origin in classes.items() if "mine" in text} == {OWNER}
    (file,) = home.memory.status().untrusted_files
    assert (file.path, file.lines, file.whole) == (DAY, 1, False)
    for number in range(10):
        (why,) = home.memory.why(f"mine {number}")
        assert all(gate.passed for gate in why.gates.promotion)


def test_sec_08_a_line_reworded_by_hand_lowers_the_file_and_that_is_shown(home) -> None:
    mixed(home)
    home.put(DAY, home.text(DAY).replace("the guest was here", "the guest was kind"))
    (file,) = home.memory.status().untrusted_files
    assert file.whole
    assert any("lowered" in finding.message for finding in home.memory.doctor())
    assert "changed or taken away by hand" in home.memory.why(DAY)[0].lowered
    assert home.memory.trust(DAY).applied
    assert home.memory.status().untrusted_files == ()
    assert UNTRUSTED not in home.classes(DAY).values()


def test_a_preview_shows_what_would_be_raised_and_changes_nothing(home) -> None:
    line = mixed(home)
    before = home.classes(DAY)
    seen = home.memory.trust(DAY, dry_run=True)
    assert [(number, was) for number, _, was in seen.lines] == [(line, UNTRUSTED)]
    assert (seen.applied, seen.record) == (False, "")
    assert home.classes(DAY) == before
    assert len(home.memory.status().untrusted_files) == 1


def test_the_act_is_recorded_raises_no_further_than_the_agent_and_is_told_by_why(home) -> None:
    line = mixed(home)
    report = home.memory.trust(DAY, (line, line), sender=ME)
    assert report.applied
    (why,) = home.memory.why(f"{DAY}#L{line}")
    assert why.lines[0].origin is AGENT
    assert [(one.id, one.by, one.lines) for one in why.trusts] == [(report.record, "cli:me", (line, line))]
    assert "vouched" in why.lines[0].because
    assert home.memory.status().untrusted_files == ()


def test_trusting_what_is_trusted_already_says_so_and_records_nothing(home) -> None:
    line = mixed(home)
    assert home.memory.trust(DAY, (line, line)).applied
    again = home.memory.trust(DAY, (line, line))
    assert (again.applied, again.record, again.lines) == (False, "", ())
    assert "already" in again.note
    assert len(home.memory.why(f"{DAY}#L{line}")[0].trusts) == 1


def test_c24_the_next_search_sees_the_new_class_although_the_text_is_the_same(home) -> None:
    mixed(home)
    (before,) = [hit for hit in home.memory.search("guest") if "guest" in hit.snippet]
    assert before.provenance.origin is UNTRUSTED
    home.memory.trust(DAY)
    (after,) = [hit for hit in home.memory.search("guest") if "guest" in hit.snippet]
    assert after.provenance.origin is AGENT


def test_a_trusted_line_that_is_changed_afterwards_is_judged_anew(home, tmp_path: Path) -> None:
    path = home.import_text(tmp_path, "page.md", "- The kiln fires at 980 degrees.\n- It is green.\n")
    home.memory.trust(path, (1, 1))
    assert list(home.classes(path).values()) == [AGENT, UNTRUSTED]
    home.put(path, "- The kiln fires at 20 degrees.\n- It is green.\n")
    assert home.classes(path)["- It is green."] is UNTRUSTED


def test_what_the_owner_has_not_seen_is_not_vouched_for(home) -> None:
    mixed(home)
    seen = home.memory.trust(DAY, dry_run=True)
    with home.memory.turn(MINE, "note it", ANA) as turn:
        home.memory.tools(turn).call("memory_note", {"text": "one more"})
    with pytest.raises(WriteConflict):
        home.memory.trust(DAY, expected_hash=seen.content_hash)
    assert home.memory.status().untrusted_files[0].lines == 2


def test_what_cannot_be_trusted_is_refused(home) -> None:
    mixed(home)
    home.put("DREAMS.md", "a dream\n")
    with pytest.raises(WriteRefused):
        home.memory.trust("DREAMS.md")
    for path in ("../outside.md", "AGENTS.md"):
        with pytest.raises(PathNotAllowed):
            home.memory.trust(path)
    with pytest.raises(UsageError):
        home.memory.trust(DAY, (1, 999))


def test_a_trusted_import_may_be_shown_without_a_frame_and_taints_nothing(home, tmp_path: Path) -> None:
    path = home.import_text(tmp_path, "page.md", "The kiln fires at 980 degrees.\n")
    for frame, tainted in ((True, True), (False, False)):
        with home.memory.turn(MINE, "kiln?", ME) as turn:
            (hit,) = home.memory.tools(turn).call("memory_search", {"query": "kiln"})["results"]
            assert hit["snippet"].startswith("<untrusted-memory") is frame
            assert turn.tainted is tainted
        home.memory.trust(path)
