"""Compaction makes room, loses no identifier, changes nothing that was written, and always comes to an end."""

from datetime import UTC, datetime
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.clock import CountingIds, FixedClock
from reverie.core.config.agents import Compaction
from reverie.core.config.reading import Reading
from reverie.core.errors import ModelUnavailable
from reverie.core.provenance import ContentSource
from reverie.core.types import Sender, SessionKind, SourceClass
from reverie.sessions.capture import Captured, capture
from reverie.sessions.compaction import Compactor
from reverie.sessions.cutting import find_cut, live_of
from reverie.sessions.extract import EXTRACTIVE, extract
from reverie.sessions.flushplan import thresholds
from reverie.sessions.identifiers import identifiers, missing_from
from reverie.sessions.messages import Block, Message, MessageRole, Stamp
from reverie.sessions.summaries import SECTIONS, TRUNCATED, finished, missing_sections, unusable
from reverie.sessions.telling import pieces
from reverie.sessions.transcript import FsyncPolicy, Transcript
from reverie.sessions.tree import path_to_leaf

OWNER, AGENT, UNTRUSTED = SourceClass.OWNER, SourceClass.AGENT, SourceClass.UNTRUSTED
ME = Sender.owner("me")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
INTERACTIVE = SessionKind.INTERACTIVE
FACTS = "The loft needs a new window, the carpenter Ilvy comes on Tuesday, and the frame is made of larch."
WELL_FORMED = "\n".join(f"{section}\nThe carpenter Ilvy brings the larch frame on Tuesday." for section in SECTIONS)


def settings(**raw):
    return Compaction.read(MappingProxyType(raw), (), Reading({}))


class Scripted:
    """A model that gives prepared answers, the last one again and again; keeps what it was asked."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def complete(self, system, messages, *, timeout):
        self.asked.append((system, messages[-1].content, timeout))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer(messages[-1].content) if callable(answer) else answer


@pytest.fixture
def talk(transcript, noon):
    """Append a conversation: ``talk(("u", text), ("a", text), ("t", text), ...)``; returns the ids of the entries."""

    def call(*said, origin=OWNER, tainted=False):
        found = []
        for kind, text in said:
            if kind == "u":
                message = Message.user(text, noon, Stamp(origin, INTERACTIVE, ME))
            elif kind == "a":
                message = Message.assistant(
                    text, noon, Stamp(UNTRUSTED if tainted else AGENT, INTERACTIVE, tainted=tainted)
                )
            elif kind == "c":
                call_block = Block("toolCall", {"id": "c1", "name": "write", "arguments": {"path": text}})
                message = Message.assistant("", noon, Stamp(AGENT, INTERACTIVE), calls=(call_block,))
            else:
                message = Message.tool_result(
                    "read", "c1", text, noon, Stamp(UNTRUSTED, INTERACTIVE, source=ContentSource.LOCAL)
                )
            found.append(transcript.append(message))
        return found

    return call


def path_of(transcript):
    return path_to_leaf(transcript.read().entries)


def compact(transcript, model=None, *, window=0, used=0, wishes="", ticks=None, **raw):
    compactor = Compactor(settings(**raw), model, **({"ticks": ticks} if ticks else {}))
    found = compactor.decide(path_of(transcript), window=window, kind=INTERACTIVE, used=used, wishes=wishes)
    if found.done:
        transcript.append_entry("compaction", found.entry())
    return found


def turns(count, text=FACTS):
    return [part for number in range(count) for part in (("u", f"{number}: {text}"), ("a", f"Noted, {number}. {text}"))]


# --- thresholds --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "raw", "reserve", "flush_at", "compact_at"),
    [
        (200_000, {}, 20_000, 176_000, 180_000),
        (32_768, {}, 8192, 20_576, 24_576),
        (200_000, {"reserveTokensFloor": 40_000}, 40_000, 156_000, 160_000),
        (200_000, {"reserveTokensFloor": 0}, 16_384, 179_616, 183_616),
        (8000, {}, 2000, 3000, 6000),
        (0, {}, 20_000, 0, 0),
    ],
)
def test_thresholds_leave_a_quarter_of_a_small_window_and_a_fixed_reserve_of_a_large_one(
    window, raw, reserve, flush_at, compact_at
):
    found = thresholds(settings(**raw), window)
    assert (found.reserve, found.flush_at, found.compact_at) == (reserve, flush_at, compact_at)


# --- cuts --------------------------------------------------------------------------------------------------------


def test_a_cut_keeps_about_as_much_as_is_asked_for_and_begins_with_a_turn(transcript, talk):
    talk(*turns(10))
    live = live_of(path_of(transcript))
    each = live.tokens // 20
    cut = find_cut(live, each * 4)
    assert cut.kept[0].message.role is MessageRole.USER
    assert len(cut.kept) == 4
    assert (cut.turn_prefix, cut.history + cut.kept) == ((), live.entries)
    assert find_cut(live, live.tokens * 2) is None
    assert find_cut(live_of(()), 10) is None


def test_a_result_is_never_cut_from_its_call(transcript, talk):
    ids = talk(("u", FACTS), ("a", FACTS), ("u", "read it"), ("c", "a.md"), ("t", "x" * 4000), ("a", "so it is"))
    cut = find_cut(live_of(path_of(transcript)), 500)
    assert cut.kept[0].id == ids[5]
    assert [entry.id for entry in cut.turn_prefix] == ids[2:5]
    assert [entry.id for entry in cut.history] == ids[:2]
    huge = find_cut(live_of(path_of(transcript)[:-1]), 500)
    assert huge.kept[0].id == ids[3]


def test_bookkeeping_right_before_a_cut_stays_with_it(transcript, talk):
    talk(*turns(2))
    mark = transcript.append_entry("custom", {"customType": "bookmark", "data": {}})
    last = talk(("u", FACTS), ("a", FACTS))
    live = live_of(path_of(transcript))
    cut = find_cut(live, 30)
    assert [entry.id for entry in cut.kept] == [mark, *last]
    assert cut.turn_prefix == ()


@given(
    said=st.lists(st.tuples(st.sampled_from("uact"), st.integers(1, 400)), min_size=1, max_size=30),
    keep=st.integers(0, 4000),
)
def test_every_cut_divides_the_conversation_and_keeps_pairs(tmp_path_factory, said, keep):
    transcript = Transcript.create(
        tmp_path_factory.mktemp("cut") / "s1.jsonl",
        session="s1",
        clock=FixedClock(NOON),
        ids=CountingIds(),
        fsync=FsyncPolicy.NEVER,
    )
    for kind, size in said:
        transcript.append(_message(kind, "y" * size))
    live = live_of(path_of(transcript))
    cut = find_cut(live, keep)
    if cut is None:
        return
    assert cut.history + cut.turn_prefix + cut.kept == live.entries
    assert cut.gone and cut.kept
    assert cut.kept[0].message.role is not MessageRole.TOOL_RESULT
    assert not cut.history or not cut.turn_prefix or cut.turn_prefix[0].message.role is MessageRole.USER


def _message(kind, text):
    if kind == "u":
        return Message.user(text, NOON, Stamp(OWNER))
    if kind == "t":
        return Message.tool_result("read", "c1", text, NOON, Stamp(UNTRUSTED))
    calls = (Block("toolCall", {"id": "c1", "name": "read", "arguments": {}}),) if kind == "c" else ()
    return Message.assistant(text, NOON, Stamp(AGENT), calls=calls)


# --- what comes of it --------------------------------------------------------------------------------------------


def test_a_summary_stands_for_what_went_and_the_rest_stays_word_for_word(transcript, talk):
    ids = talk(*turns(20))
    model = Scripted(WELL_FORMED)
    before = transcript.path.read_bytes()
    found = compact(transcript, model, keepRecentTokens=100, wishes="keep the days")
    assert (found.done, found.means, found.attempts, found.faults) == (True, "model", 1, ())
    assert found.tokens_after < found.tokens_before
    assert transcript.path.read_bytes().startswith(before)
    summary, *kept = transcript.branch()
    assert summary.role is MessageRole.COMPACTION_SUMMARY
    assert summary.text.count("Ilvy brings the larch frame") == 5
    assert [message.text for message in kept] == [
        entry.message.text for entry in transcript.read().messages if entry.id in ids[ids.index(found.first_kept) :]
    ]
    system, text, timeout = model.asked[0]
    assert "keep the days" in system and all(section in system for section in SECTIONS)
    assert "User: 0: The loft needs" in text
    assert 0 < timeout <= 180


def test_an_earlier_summary_is_brought_up_to_date_and_files_are_carried_on(transcript, talk):
    talk(("u", FACTS), ("c", "src/a.py"), ("a", FACTS), *turns(4))
    compact(transcript, keepRecentTokens=60)
    talk(("u", FACTS), ("c", "src/b.py"), ("a", FACTS), *turns(20))
    model = Scripted(WELL_FORMED)
    compact(transcript, model, keepRecentTokens=106)
    entry = [one for one in transcript.read().entries if one.type == "compaction"][-1]
    details = entry.data["details"]
    assert (details["readFiles"], details["modifiedFiles"]) == ([], ["src/a.py", "src/b.py"])
    assert f"<earlier-summary>\n{EXTRACTIVE}" in model.asked[0][1]
    assert sum(message.role is MessageRole.COMPACTION_SUMMARY for message in transcript.branch()) == 1


def test_the_beginning_of_a_cut_turn_is_summarised_for_itself(transcript, talk):
    talk(*turns(20), ("u", "Plan the roof of the loft with Ilvy"), *[("a", f"step {n}. {FACTS}") for n in range(8)])
    model = Scripted(WELL_FORMED, "Planning the roof of the loft with the carpenter Ilvy.")
    found = compact(transcript, model, keepRecentTokens=120)
    assert "<turn-beginning>" in model.asked[1][1]
    assert "## The turn that goes on\nPlanning the roof" in found.summary
    assert found.request == "Plan the roof of the loft with Ilvy"


def test_nothing_to_do_is_said(transcript, talk):
    assert compact(transcript).reason.startswith("everything was said")
    talk(*turns(3))
    assert compact(transcript).reason == "everything was said within the last 20,000 tokens, which stay"
    assert compact(transcript, keepRecentTokens=50).done
    assert compact(transcript, keepRecentTokens=50).reason == "nothing was said since the last compaction"
    assert [entry.type for entry in transcript.read().entries].count("compaction") == 1


def test_without_a_model_the_summary_is_an_extract_and_says_so(transcript, talk):
    talk(*turns(8))
    found = compact(transcript, keepRecentTokens=100)
    assert (found.means, found.attempts) == ("extract", 0)
    assert found.summary.startswith(EXTRACTIVE)
    assert "- User: 5: The loft needs a new window" in found.summary
    assert compact_again(transcript, talk).summary.count(EXTRACTIVE) == 1


def compact_again(transcript, talk):
    talk(*turns(8, "The roof is next, says Ilvy."))
    return compact(transcript, keepRecentTokens=100)


def test_an_extract_drops_the_oldest_lines_and_counts_them(transcript, talk):
    talk(*turns(40))
    text = extract(path_of(transcript), limit=2000)
    assert "older lines were left out" in text
    assert "39: The loft" in text and "- User: 0:" not in text
    assert len(text) <= 2000
    assert text == extract(path_of(transcript), limit=2000)


# --- list A ------------------------------------------------------------------------------------------------------


def test_trans_09_a_summariser_that_never_shortens_is_asked_a_bounded_number_of_times(transcript, talk):
    talk(*turns(12))
    model = Scripted(lambda text: text)
    found = compact(transcript, model, keepRecentTokens=100, qualityGuard={"maxRetries": 3})
    assert (len(model.asked), found.attempts, found.means) == (4, 4, "extract")
    assert set(found.faults) == {"it is not shorter than the conversation"}
    assert found.tokens_after < found.tokens_before


def test_trans_09_a_second_pass_takes_more_where_one_is_not_enough(transcript, talk):
    talk(*turns(60))
    model = Scripted(WELL_FORMED)
    total = live_of(path_of(transcript)).tokens
    window = total * 2 // 3
    found = compact(transcript, model, window=window, keepRecentTokens=total - 200)
    assert (found.means, found.over) == ("model", False)
    assert 2 <= len(model.asked) <= 6
    assert [entry.type for entry in transcript.read().entries].count("compaction") == 1


def test_trans_09_a_context_that_is_over_right_after_a_compaction_is_compacted_again(transcript, talk):
    talk(*turns(60))
    assert compact(transcript, keepRecentTokens=2000).done
    again = compact(transcript, window=2000, used=9000)
    assert again.done
    assert again.tokens_after < again.tokens_before
    assert len(transcript.branch()) < 20


def test_trans_09_a_trim_ends_it_where_nothing_else_helps(transcript, talk):
    talk(*turns(60))
    found = compact(transcript, window=1000, keepRecentTokens=5000)
    assert found.means == "trim"
    assert len(found.summary) <= 2000
    assert not found.over


@pytest.mark.parametrize("length", [20_000, 60_000])
def test_trans_10_identifiers_survive_a_summary_that_is_too_long(transcript, talk, length):
    wanted = ["7c9e6679-7425-40de-944b-e07fc1f90ae7", "9f1c2ab7d0e4", "5433", "srv/atlas/deploy.toml"]
    texts = [f"端口{wanted[2]}，提交 {wanted[1]}。", f"Run {wanted[0]} failed on /{wanted[3]}."]
    talk(*[("u", text) for text in texts], *turns(400))
    model = Scripted("The carpenter Ilvy brings larch. " * (length // 33))
    found = compact(transcript, model, keepRecentTokens=100, mode="default")
    assert found.means == "model"
    assert len(found.summary) <= 16_000
    assert TRUNCATED in found.summary
    assert [one for one in wanted if one not in found.summary] == []


@pytest.mark.parametrize(
    "answer",
    [
        "summary unavailable",
        "Summary unavailable due to size limits.",
        "Zusammenfassung nicht möglich.",
        "無法摘要",
        " ",
        "## Decisions",
    ],
)
def test_trans_11_an_answer_that_says_nothing_is_no_summary_and_the_turns_stay_evidence(transcript, talk, answer):
    talk(*turns(8))
    before = list(learned(transcript))
    found = compact(transcript, Scripted(answer), keepRecentTokens=100)
    assert (found.means, found.attempts) == ("extract", 2)
    assert answer.strip() == "" or answer not in found.summary
    assert list(learned(transcript)) == before
    assert len(before) == 16


def learned(transcript):
    walk = capture(transcript.read().entries, kind=INTERACTIVE, session="s1")
    return [(one.text, one.provenance.origin) for one in walk if isinstance(one, Captured)]


def test_trans_12_no_message_is_stored_twice_and_no_summary_is_learned(transcript, talk):
    for _ in range(3):
        talk(*turns(8))
        assert compact(transcript, Scripted(WELL_FORMED), keepRecentTokens=100).done
    ids = [entry.id for entry in transcript.read().entries]
    assert len(ids) == len(set(ids)) == 3 * 16 + 3
    assert [text for text, _ in learned(transcript)].count(f"3: {FACTS}") == 3
    assert not [text for text, _ in learned(transcript) if "brings the larch frame" in text]


@pytest.mark.parametrize("failure", [ModelUnavailable(), TimeoutError("too slow"), RuntimeError("odd\nthing")])
def test_a_model_that_fails_leaves_an_extract(transcript, talk, failure):
    talk(*turns(8))
    found = compact(transcript, Scripted(failure), keepRecentTokens=100)
    assert (found.means, found.attempts) == ("extract", 2)
    assert type(failure).__name__ in found.faults[0] and "\n" not in found.faults[0]


def test_a_model_gets_no_more_time_than_there_is(transcript, talk):
    talk(*turns(8))
    now = [0.0]

    def slow(text):
        now[0] += 100
        return "nothing"

    model = Scripted(slow)
    found = compact(transcript, model, keepRecentTokens=100, ticks=lambda: now[0], qualityGuard={"maxRetries": 3})
    assert [timeout for _, _, timeout in model.asked] == [180, 80]
    assert found.faults[-1] == "there was no time left"


def test_a_long_conversation_is_summarised_piece_by_piece(transcript, talk):
    talk(*turns(60))
    model = Scripted(WELL_FORMED)
    found = compact(transcript, model, window=4000, keepRecentTokens=300, used=10)
    assert len(model.asked) > 1
    assert all(len(text) < 4000 * 4 for _, text, _ in model.asked)
    assert "<earlier-summary>" in model.asked[1][1]
    assert found.means == "model"


def test_missing_sections_are_asked_for_once_more_and_then_forgiven(transcript, talk):
    talk(*turns(8))
    loose = "The carpenter Ilvy brings the larch frame on Tuesday."
    model = Scripted(loose)
    found = compact(transcript, model, keepRecentTokens=100)
    assert (found.means, found.attempts) == ("model", 2)
    assert "sections missing" in model.asked[1][1]
    assert found.summary.startswith(loose)
    assert "## Recent turns preserved verbatim" in found.summary


# --- whose word a summary is -------------------------------------------------------------------------------------


def origin_of(transcript):
    return transcript.branch()[0].stamp.origin


def test_a_summary_is_the_agents_word_and_no_better_than_what_went_into_it(transcript, talk):
    talk(*turns(4))
    compact(transcript, keepRecentTokens=60)
    assert origin_of(transcript) is AGENT
    talk(("u", FACTS), ("a", FACTS), origin=UNTRUSTED, tainted=True)
    talk(*turns(3))
    compact(transcript, keepRecentTokens=60)
    assert origin_of(transcript) is UNTRUSTED
    talk(*turns(4))
    compact(transcript, keepRecentTokens=60)
    assert origin_of(transcript) is UNTRUSTED, "what an untrusted summary goes into stays untrusted"


def test_secrets_and_private_parts_go_into_no_summary(transcript, talk):
    talk(("u", "The key is sk-abcdefghijklmnopqrstuvwxyz0123456789 <private>and Ilvy is ill</private>."), *turns(6))
    model = Scripted(WELL_FORMED)
    found = compact(transcript, model, keepRecentTokens=60)
    for text in (model.asked[0][1], found.summary):
        assert "sk-abcdefghij" not in text and "is ill" not in text


# --- parts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("run 7c9e6679-7425-40de-944b-e07fc1f90ae7.", ("7c9e6679-7425-40de-944b-e07fc1f90ae7",)),
        ("at db.attic.example:5433, please", ("db.attic.example:5433",)),
        ("(see https://attic.example/a?b=1#c)", ("https://attic.example/a?b=1#c",)),
        ("在 /srv/attic/config.toml 里，端口8443。", ("/srv/attic/config.toml", "8443")),
        ("C:\\Users\\ilvy\\plan.txt and ~/plans/roof", ("C:\\Users\\ilvy\\plan.txt", "~/plans/roof")),
        ("src/attic/roof.py at DEADBEEF12", ("src/attic/roof.py", "DEADBEEF12")),
        ("mail ilvy@larch.example from 10.0.0.7", ("ilvy@larch.example", "10.0.0.7")),
        ("at 9:30 and/or 3/4 of it, facade effect", ()),
    ],
)
def test_identifiers_are_found_in_any_language(text, wanted):
    assert identifiers([text]) == wanted


def test_an_identifier_must_stand_there_whole():
    assert missing_from("commit 9F1C2AB7D0, port 54330", ["9f1c2ab7d0", "5433"]) == ("5433",)


@given(
    body=st.text(max_size=3000),
    ids=st.lists(st.from_regex(r"[0-9a-f]{12}a1", fullmatch=True), max_size=20),
    limit=st.integers(1500, 4000),
)
def test_a_finished_summary_keeps_its_budget_and_its_identifiers(body, ids, limit):
    found = finished(body, ids, keep=True, limit=limit)
    assert len(found) <= limit
    assert missing_from(found, ids) == ()
    assert finished("short", ids, keep=False) == "short"


def test_sections_count_once_and_in_their_order():
    assert missing_sections(WELL_FORMED) == ()
    assert missing_sections(WELL_FORMED + "\n## Decisions") == ("## Decisions",)
    lines = WELL_FORMED.split("\n")
    assert missing_sections("\n".join(reversed(lines))) == ("their order",)


def test_a_summary_is_judged_by_what_it_shares_and_not_by_what_it_claims():
    assert unusable("The summary says it is unavailable, but Ilvy brings larch on Tuesday.", FACTS * 3) == ""
    assert unusable("絶対に完全な要約です", FACTS) == "it says nothing of the conversation"
    assert unusable("木匠周二来", "木匠周二来，窗框是落叶松做的。") == ""


@given(paragraphs=st.lists(st.text(alphabet="ab c", min_size=1, max_size=50)), limit=st.integers(1, 60))
def test_pieces_hold_everything_in_order(paragraphs, limit):
    found = pieces(paragraphs, limit)
    assert "".join("".join(found).split("\n")) == "".join("".join(paragraphs).split("\n"))
    assert all(len(piece) <= limit for piece in found)
