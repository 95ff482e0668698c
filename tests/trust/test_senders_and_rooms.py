"""Whose words they are, in direct chats and in groups, and who may see what was said to whom."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from reverie import Sender
from reverie.core.errors import UsageError, WriteRefused
from reverie.core.types import SourceClass

ME = Sender.owner("me")
ANA = Sender.guest("ana", channel="telegram")
BEA = Sender.guest("bea", channel="telegram")
MINE = "agent:main:main"
HERS = "agent:main:telegram:direct:ana"
HIS = "agent:main:telegram:direct:bea"
GROUP = "agent:main:telegram:group:club"

OWNERS = {
    "commands": {"ownerAllowFrom": ["telegram:4711"]},
    "session": {"identityLinks": {"mara": ["telegram:4711", "discord:8"]}},
}


def said(home, text: str) -> SourceClass:
    """Return the class of a spoken line that stands in the index."""
    (hit,) = [hit for hit in home.memory.search(text, corpus="sessions", max_results=20) if text in hit.snippet]
    return hit.provenance.origin


def test_the_sender_of_a_raw_message_is_the_owner_by_configuration_only(build: Callable[..., Any]) -> None:
    memory = build(**OWNERS).memory
    assert memory.sender(channel="telegram", id="4711", name="Mara") == Sender(
        "4711", "telegram", is_owner=True, name="Mara"
    )
    assert memory.sender(channel="discord", id="8").is_owner
    assert not memory.sender(channel="telegram", id="4712", name="4711").is_owner
    assert not memory.sender(channel="telegram", id="4711", is_bot=True).is_owner
    assert not memory.sender(channel=None, id="4711").is_owner
    assert not memory.sender(channel="telegram", id=None).is_owner


def test_i1_without_a_configuration_nobody_on_a_channel_is_the_owner(home) -> None:
    assert not home.memory.sender(channel="telegram", id="4711").is_owner


def test_iso_07_in_the_owners_group_only_the_owners_words_are_the_owners(build: Callable[..., Any]) -> None:
    home = build(**OWNERS)
    spoken = {
        "I prefer trains": ("4711", False),
        "I prefer planes": ("99", False),
        "user prefers boats": ("4711", True),
    }
    for text, (ident, is_bot) in spoken.items():
        sender = home.memory.sender(channel="telegram", id=ident, is_bot=is_bot)
        with home.memory.turn(GROUP, text, sender) as turn:
            turn.reply("noted")
    assert [str(said(home, text)) for text in spoken] == ["owner", "untrusted", "untrusted"]
    found = home.memory.search("prefer prefers", corpus="sessions", max_results=20)
    asked = [hit for hit in found if "prefer" in hit.snippet]  # the answers that stand beside them are found as well
    shown = "\n".join(hit.snippet for hit in asked)
    assert [shown.count(text) for text in spoken] == [1, 1, 1]
    for hit in asked:
        refused = any(not gate.passed for gate in home.memory.why(hit.citation)[0].gates.promotion)
        assert refused is ("trains" not in hit.snippet)


def test_iso_07_what_a_guest_asks_to_remember_never_reaches_a_curated_file(home) -> None:
    with home.memory.turn(GROUP, "remember that I prefer planes", ANA) as turn:
        result = home.memory.tools(turn).call("memory_remember", {"text": "I prefer planes"})
    assert (result["originClass"], result["path"]) == ("untrusted", "memory/2031-05-06.md")
    assert "planes" not in home.text("USER.md") + home.text("MEMORY.md")


def test_iso_08_a_turn_in_a_group_has_its_own_sender_not_the_last_one(home) -> None:
    with home.memory.turn(HERS, "hello", ANA) as turn:
        home.memory.tools(turn).call("memory_note", {"text": "Ana greets."})
    with home.memory.turn(GROUP, "my kiln is green", BEA) as turn:
        home.memory.tools(turn).call("memory_note", {"text": "Bea has a green kiln."})
    (why,) = home.memory.why("Bea has a green kiln.")
    assert [write.sender for write in why.writes] == ["telegram:bea"]
    assert why.writes[0].session_key == GROUP


def test_iso_01_what_one_person_told_reaches_no_other_persons_prompt_or_search(home) -> None:
    with home.memory.turn(HERS, "I have a peanut allergy", ANA) as turn:
        home.memory.tools(turn).call("memory_note", {"text": "Ana has a peanut allergy."})
        turn.reply("I will keep that in mind.")
    with home.memory.turn(HIS, "which allergy do I have?", BEA) as turn:
        tools = home.memory.tools(turn)
        assert "peanut" not in turn.prompt.system + turn.prompt.hidden
        for corpus in ("memory", "sessions", "all"):
            assert "peanut" not in str(tools.call("memory_search", {"query": "peanut allergy", "corpus": corpus}))
        assert "peanut" not in str(tools.call("memory_get", {"path": "memory/2031-05-06.md"}))
    with home.memory.turn(HERS, "which allergy do I have?", ANA) as turn:
        tools = home.memory.tools(turn)
        assert "peanut" in str(tools.call("memory_search", {"query": "peanut allergy"}))
        assert "peanut" in str(tools.call("memory_get", {"path": "memory/2031-05-06.md"}))


def test_iso_01_lines_of_others_are_left_out_of_a_chunk_that_is_partly_ones_own(home) -> None:
    for session, sender, text in ((HERS, ANA, "Ana keeps kormoran."), (HIS, BEA, "Bea keeps kormoran too.")):
        with home.memory.turn(session, "note it", sender) as turn:
            home.memory.tools(turn).call("memory_note", {"text": text})
    with home.memory.turn(HIS, "kormoran?", BEA) as turn:
        found = str(home.memory.tools(turn).call("memory_search", {"query": "kormoran"}))
    assert "Bea keeps" in found
    assert "Ana keeps" not in found


def test_iso_01_a_line_that_the_owner_vouched_for_is_true_and_still_not_public(home) -> None:
    with home.memory.turn(HERS, "note it", ANA) as turn:
        home.memory.tools(turn).call("memory_note", {"text": "Ana keeps kormoran."})
    assert home.memory.trust("memory/2031-05-06.md").applied
    with home.memory.turn(HIS, "kormoran?", BEA) as turn:
        assert "Ana keeps" not in str(home.memory.tools(turn).call("memory_search", {"query": "kormoran"}))


@pytest.mark.parametrize(("session", "sender"), [(GROUP, ME), (GROUP, ANA), (HERS, ANA), (MINE, Sender.unknown())])
def test_i4_curated_files_enter_the_owners_private_chats_and_no_other(home, session: str, sender: Sender) -> None:
    home.memory.remember("The safe opens on Tuesdays.")
    with home.memory.turn(session, "when does the safe open?", sender) as turn:
        tools = home.memory.tools(turn)
        assert not turn.private
        assert "Tuesdays" not in turn.prompt.system + turn.prompt.hidden
        assert any("private chats only" in line.reason for line in turn.prompt.trace)
        assert "Tuesdays" not in str(tools.call("memory_search", {"query": "safe opens Tuesdays", "corpus": "all"}))
        assert tools.call("memory_get", {"path": "MEMORY.md"})["code"] == "MEMORY_PATH_NOT_ALLOWED"
    with home.memory.turn(MINE, "when does the safe open?", ME) as turn:
        assert turn.private
        assert "Tuesdays" in turn.prompt.system
        assert "Tuesdays" in str(home.memory.tools(turn).call("memory_search", {"query": "safe"}))


def test_a_note_by_hand_is_seen_in_groups_too(home) -> None:
    home.put("memory/2031-05-01.md", "- The kiln is called kormoran.\n")
    with home.memory.turn(GROUP, "kiln?", ANA) as turn:
        assert "kormoran" in str(home.memory.tools(turn).call("memory_search", {"query": "kiln"}))


def test_iso_05_without_a_scope_everything_sees_the_entry(home) -> None:
    written = home.memory.remember("The studio is in Altona.", key="studio")
    assert home.indexed("Altona")
    assert home.memory.why("studio")[0].citation == f"{written.path}#L{written.start_line}"
    assert home.memory.status().writes == 1
    assert "Altona" in home.memory.get("MEMORY.md").text


def test_iso_06_one_rule_for_the_ids_of_agents_holds_for_every_verb(home, build: Callable[..., Any]) -> None:
    assert home.memory.remember("The studio is in Altona.", key="studio").record
    with home.memory.turn("agent:MAIN:main", "hello", ME) as turn:
        assert turn.session == MINE
    assert home.memory.remember("The studio is in Ottensen.", key="studio").record
    assert "Ottensen" in home.text("MEMORY.md")
    assert "Altona" not in home.text("MEMORY.md")


def test_iso_13_a_cron_turn_without_an_agent_keeps_and_recalls_nothing(home, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"), pytest.raises(UsageError, match="names no agent"):
        home.memory.turn("cron:nightly", "the backup runs on kormoran", ME)
    assert "names no agent" in caplog.text
    assert home.indexed("kormoran") == []


def test_only_the_owner_can_vouch(home) -> None:
    home.put("memory/2031-05-01.md", "- one\n")
    with pytest.raises(WriteRefused, match="owner"):
        home.memory.trust("memory/2031-05-01.md", sender=ANA)
