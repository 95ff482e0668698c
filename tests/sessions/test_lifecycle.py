"""When a session is stale, what a message asks of it, and who is meant in a group."""

from datetime import UTC, datetime, timedelta
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.core.config.reading import Reading
from reverie.core.config.session import Session
from reverie.core.types import ChatType, SessionKind
from reverie.sessions.keys import parse_key
from reverie.sessions.lifecycle import (
    Activation,
    Command,
    CommandName,
    EndReason,
    Policy,
    ResetMode,
    Usage,
    addressed,
    command_in,
    freshness,
    last_boundary,
    mention_patterns,
    policy_for,
    resets_by_itself,
)

DM, GROUP, TOPIC = (
    parse_key(f"agent:main:{rest}") for rest in ("irc:direct:bea", "irc:group:attic", "irc:group:attic:topic:3")
)
DAILY = Policy(ResetMode.DAILY)
MARCH_9 = datetime(2026, 3, 9, tzinfo=UTC)


def at(hour, minute=0, *, day=0):
    return MARCH_9 + timedelta(days=day, hours=hour, minutes=minute)


def settings(**raw):
    return Session.read(MappingProxyType(raw), (), Reading({}))


# --- freshness ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("started", "now", "stale"),
    [
        (at(3, 59), at(4, 1), True),
        (at(4), at(23, 59), False),
        (at(5, day=-1), at(3), False),
        (at(5, day=-2), at(3), True),
        (at(3, 59, day=-1), at(4), True),
    ],
)
def test_a_daily_reset_goes_by_the_last_time_the_clock_showed_the_hour(started, now, stale):
    found = freshness(DAILY, Usage(started_at=started), now, "UTC")
    assert (found.stale, found.reason) == (stale, EndReason.DAILY if stale else None)


def test_idle_counts_what_people_said_and_no_bookkeeping():
    usage = Usage(at(8), updated_at=at(11, 55), last_interaction_at=at(10, 59))
    found = freshness(Policy(ResetMode.IDLE, idle_minutes=60), usage, at(12), "UTC")
    assert (found.stale, found.reason, found.since) == (True, EndReason.IDLE, at(11, 59))
    exact = Usage(at(8), last_interaction_at=at(11))
    assert not freshness(Policy(ResetMode.IDLE, idle_minutes=60), exact, at(12), "UTC").stale


def test_of_two_limits_the_one_reached_first_is_the_reason():
    both = Policy(ResetMode.DAILY, idle_minutes=30)
    night = freshness(both, Usage(at(23, day=-1), last_interaction_at=at(3, 50)), at(9), "UTC")
    evening = freshness(both, Usage(at(20, day=-1), last_interaction_at=at(21, day=-1)), at(9), "UTC")
    assert (night.reason, night.since) == (EndReason.DAILY, at(4))
    assert (evening.reason, evening.since) == (EndReason.IDLE, at(21, 30, day=-1))


def test_times_of_the_future_and_before_1970_are_not_believed():
    usage = Usage(started_at=at(9, day=300), header_at=datetime(1901, 1, 1, tzinfo=UTC), updated_at=at(3))
    assert freshness(DAILY, usage, at(9), "UTC").stale
    assert not freshness(DAILY, Usage(started_at=at(9, day=300)), at(9), "UTC").stale
    assert not freshness(DAILY, Usage(), at(9), "UTC").stale


def test_the_header_counts_where_the_row_is_older_than_starting_times():
    assert freshness(DAILY, Usage(header_at=at(3), updated_at=at(8)), at(9), "UTC").stale


@pytest.mark.parametrize(
    ("zone", "now", "boundary"),
    [
        ("Asia/Tokyo", datetime(2026, 3, 8, 18, 59, tzinfo=UTC), datetime(2026, 3, 7, 19, tzinfo=UTC)),
        ("Asia/Tokyo", datetime(2026, 3, 8, 19, 0, tzinfo=UTC), datetime(2026, 3, 8, 19, tzinfo=UTC)),
        ("Europe/Berlin", datetime(2026, 3, 29, 3, tzinfo=UTC), datetime(2026, 3, 29, 2, tzinfo=UTC)),
        ("Europe/Berlin", datetime(2026, 10, 25, 3, 30, tzinfo=UTC), datetime(2026, 10, 25, 3, tzinfo=UTC)),
    ],
)
def test_time_01_the_hour_is_that_of_the_users_zone_on_nights_of_clock_changes_too(zone, now, boundary):
    assert last_boundary(4, now, zone) == boundary


@given(
    now=st.integers(0, 60 * 365 * 24 * 60).map(lambda minutes: MARCH_9 - timedelta(minutes=minutes - 10**7)),
    hour=st.integers(0, 23),
    zone=st.sampled_from(["UTC", "Asia/Kolkata", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia"]),
)
def test_the_boundary_is_never_ahead_and_never_two_days_back(now, hour, zone):
    assert timedelta() <= now - last_boundary(hour, now, zone) < timedelta(days=2)


def test_nothing_is_stale_where_nothing_is_configured():
    policy = policy_for(settings(), DM)
    assert policy.mode is ResetMode.NONE
    assert not freshness(policy, Usage(at(0, day=-900), last_interaction_at=at(0, day=-900)), at(9), "UTC").stale


# --- which policy ------------------------------------------------------------------------------------------------


def test_an_entry_of_the_channel_wins_outright():
    found = settings(
        reset={"mode": "daily", "atHour": 6},
        resetByType={"direct": {"mode": "idle", "idleMinutes": 5}},
        resetByChannel={"IRC": {"idleMinutes": 90}},
    )
    assert policy_for(found, DM) == Policy(ResetMode.IDLE, 4, 90, "session.resetByChannel.irc")
    assert policy_for(found, parse_key("agent:main:main"), channel="irc").idle_minutes == 90


def test_a_type_is_laid_over_what_holds_for_all():
    found = settings(
        reset={"mode": "daily", "atHour": 6, "idleMinutes": 240},
        resetByType={"group": {"idleMinutes": 0}, "thread": {"mode": "none"}},
    )
    assert policy_for(found, DM) == Policy(ResetMode.DAILY, 6, 240, "session.reset")
    assert policy_for(found, GROUP) == Policy(ResetMode.DAILY, 6, None, "session.resetByType.group")
    assert policy_for(found, TOPIC).mode is ResetMode.NONE
    main = parse_key("agent:main:main")
    assert policy_for(found, main, chat=ChatType.GROUP).source == "session.resetByType.group"


def test_idle_minutes_alone_mean_idle_and_idle_alone_means_an_hour():
    assert policy_for(settings(reset={"idleMinutes": 20}), DM).mode is ResetMode.IDLE
    assert policy_for(settings(reset={"mode": "idle"}), DM).idle_minutes == 60
    assert policy_for(settings(reset={"mode": "idle", "idleMinutes": 0}), DM).idle_minutes is None


@pytest.mark.parametrize("kind", [SessionKind.CRON, SessionKind.HEARTBEAT, SessionKind.SUBAGENT])
def test_programs_do_not_find_their_sessions_stale(kind):
    assert not resets_by_itself(kind, DM)
    assert resets_by_itself(SessionKind.INTERACTIVE, DM)
    assert not resets_by_itself(SessionKind.UNKNOWN, parse_key("hook:1f"))


# --- commands ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("/new", Command(CommandName.RESET, "", EndReason.NEW)),
        ("  /NEW  ", Command(CommandName.RESET, "", EndReason.NEW)),
        ("/reset and now the taxes", Command(CommandName.RESET, "and now the taxes", EndReason.RESET)),
        ("/new\n次の話", Command(CommandName.RESET, "次の話", EndReason.NEW)),
        ("/reset soft", Command(CommandName.SOFT_RESET)),
        ("/reset soft say hello", Command(CommandName.SOFT_RESET, "say hello")),
        ("/reset softly", Command(CommandName.RESET, "softly", EndReason.RESET)),
        ("Von vorn bitte", Command(CommandName.RESET, "bitte", EndReason.RESET)),
        ("/compact", Command(CommandName.COMPACT)),
        ("/compact keep the numbers", Command(CommandName.COMPACT, "keep the numbers")),
        ("/activation always", Command(CommandName.ACTIVATION, "always")),
        ("/newer", None),
        ("/compactor", None),
        ("please /new", None),
        ("", None),
    ],
)
def test_a_command_stands_at_the_beginning_and_is_a_whole_word(text, wanted):
    assert command_in(text, ["/new", "/reset", "von vorn", " "]) == wanted


# --- groups ------------------------------------------------------------------------------------------------------


def test_in_a_group_the_agent_is_called_or_answered():
    patterns, refused = mention_patterns([r"@?Ravn\b", "レイヴン"])
    assert refused == ()

    def meant(text, **facts):
        found = addressed(text, shared=True, patterns=patterns, **facts)
        return found.active, found.text

    assert meant("@ravn: /new") == (True, "/new")
    assert meant("レイヴン、今日は") == (True, "今日は")
    assert meant("ask ravn tomorrow") == (True, "ask ravn tomorrow")
    assert meant("ravnsborg is nice") == (False, "ravnsborg is nice")
    assert meant("yes", replied=True) == (True, "yes")
    assert meant("yes", mentioned=True) == (True, "yes")
    assert meant("yes", mode=Activation.ALWAYS) == (True, "yes")
    assert addressed("yes", shared=False).active


@pytest.mark.parametrize("pattern", ["(a+)+$", "(", r"(x)\1", "", "a" * 201, r"([a-z]*){9}"])
def test_a_pattern_that_is_broken_or_could_run_away_is_refused(pattern):
    assert mention_patterns(["ok", pattern])[1] == (pattern,)
