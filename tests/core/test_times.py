"""Time phrases in seven languages: what they name, on which side of now, and what is none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.core.times.find import LONGEST, find_times
from reverie.core.times.phrase import Direction, Grain, Kind
from reverie.core.times.words import LEXICONS

#: A Tuesday.
NOW = datetime(2026, 12, 1, 14, 20, tzinfo=UTC)
PAST, FUTURE = Direction.PAST, Direction.FUTURE


def one(text, prefer=PAST, now=NOW, zone="UTC", languages=()):
    (found,) = find_times(text, now, zone, prefer=prefer, languages=languages)
    return found


def span(text, prefer=PAST, **more):
    found = one(text, prefer, **more)
    return tuple(None if moment is None else f"{moment:%Y-%m-%d %H:%M}" for moment in (found.since, found.until))


def days(text, prefer=PAST, **more):
    return tuple(None if moment is None else moment[:10] for moment in span(text, prefer, **more))


@pytest.mark.parametrize(
    "text",
    [
        "What did I say last week?",
        "Was habe ich letzte Woche gesagt?",
        "¿Qué dije la semana pasada?",
        "Qu'est-ce que j'ai dit la semaine dernière ?",
        "上周我说了什么？",
        "先週は何を話しましたか",
        "지난주에 뭐라고 했지?",
    ],
)
def test_last_week_is_the_whole_week_before_this_one(text):
    assert days(text) == ("2026-11-23", "2026-11-30")


@pytest.mark.parametrize(
    "text",
    ["two weeks ago", "vor zwei Wochen", "hace dos semanas", "il y a deux semaines", "两周前", "二週間前", "2주 전"],
)
def test_a_distance_back_is_a_day(text):
    assert days(text) == ("2026-11-17", "2026-11-18")
    assert one(text).kind == Kind.DATE


@pytest.mark.parametrize(
    "text",
    [
        "remind me tomorrow at 5:30 pm",
        "erinnere mich morgen um 17:30 Uhr",
        "recuérdame mañana a las 17:30",
        "rappelle-moi demain à 17h30",
        "明天下午五点半提醒我",
        "明日の午後5時半に教えて",
        "내일 오후 5시 30분에 알려 줘",
    ],
)
def test_a_time_on_a_day_is_a_moment(text):
    found = one(text, FUTURE)
    assert (found.kind, found.grain, found.others) == (Kind.MOMENT, Grain.MINUTE, ())
    assert found.since == datetime(2026, 12, 2, 17, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "every Tuesday at 8:00",
        "jeden Dienstag um 8 Uhr",
        "cada martes a las 8:00",
        "tous les mardis à 8h",
        "每周二早上8点",
        "毎週火曜日の朝8時",
        "매주 화요일 오전 8시",
    ],
)
def test_what_comes_again_is_a_cron_line(text):
    found = one(text, FUTURE)
    assert found.kind == Kind.RECURRENCE
    assert found.recurrence is not None
    assert found.recurrence.cron() == "0 8 * * 2"


@pytest.mark.parametrize(
    "text",
    [
        "Mondays at 9 am",
        "montags um 9 Uhr",
        "los lunes a las 9:00",
        "les lundis à 9h",
        "毎週月曜日の朝9時",
        "월요일마다 오전 9시",
        "每周一早上9点",
    ],
)
def test_a_weekday_in_the_plural_comes_again(text):
    assert one(text, FUTURE).recurrence.cron() == "0 9 * * 1"


@pytest.mark.parametrize(
    "text",
    [
        "weekdays at 7 am",
        "at 7 am on weekdays",
        "werktags um 7 Uhr",
        "entre semana a las 7:00",
        "en semaine à 7h",
        "工作日早上7点",
        "平日の朝7時",
        "평일 오전 7시",
    ],
)
def test_working_days_with_a_time_of_day_come_again(text):
    assert one(text, FUTURE).recurrence.cron() == "0 7 * * 1,2,3,4,5"


@pytest.mark.parametrize(
    "text", ["every other Friday", "every second Friday", "jeden zweiten Freitag", "隔周五", "隔週金曜日"]
)
def test_every_other_weekday_is_neither_one_day_nor_every_week(text):
    found = one(text, FUTURE).recurrence
    assert (found.every, found.unit, found.weekdays, found.cron()) == (2, Grain.WEEK, (4,), None)


@pytest.mark.parametrize(
    ("text", "nth"),
    [
        ("every first Monday", 1),
        ("every second Monday of the month", 2),
        ("the third Monday of every month", 3),
        ("the last Monday of each month", -1),
        ("jeden ersten Montag im Monat", 1),
    ],
)
def test_one_weekday_of_every_month_is_not_a_day_of_the_month(text, nth):
    found = one(text, FUTURE).recurrence
    assert (found.unit, found.weekdays, found.nth, found.cron()) == (Grain.MONTH, (0,), nth, None)


@pytest.mark.parametrize(
    ("text", "cron"),
    [
        ("15分ごとに", "*/15 * * * *"),
        ("15분마다", "*/15 * * * *"),
        ("2時間おきに", "0 */2 * * *"),
        ("격주", None),
        ("2주마다", None),
    ],
)
def test_what_comes_again_may_say_so_behind_its_unit(text, cron):
    assert one(text, FUTURE).recurrence.cron() == cron


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("in half an hour", 30),
        ("in an hour and a half", 90),
        ("in einer halben Stunde", 30),
        ("in anderthalb Stunden", 90),
        ("en media hora", 30),
        ("dans une demi-heure", 30),
        ("dans une heure et demie", 90),
        ("半小时后", 30),
        ("一个半小时后", 90),
        ("1時間半後", 90),
        ("한 시간 반 후", 90),
    ],
)
def test_half_an_hour_is_not_one_and_a_half(text, minutes):
    assert one(text, FUTURE).since - NOW == timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("now", "text", "minutes"),
    [
        ("2026-03-29T00:30+00:00", "in 2 hours", 120),  # Berlin skips the hour from two
        ("2026-10-24T23:30+00:00", "in 2 Stunden", 120),  # and has it twice
        ("2026-10-25T00:50+00:00", "in 20 minutes", 20),
        ("2026-10-25T01:10+00:00", "vor 30 Minuten", -30),
        ("2026-10-25T00:59+00:00", "1分钟后", 1),
        ("2026-10-25T00:58+00:00", "in 1 minute", 1),
        ("2026-10-24T22:30+00:00", "3時間後", 180),
    ],
)
def test_hours_pass_alike_while_clocks_are_changed(now, text, minutes):
    at = datetime.fromisoformat(now)
    found = one(text, FUTURE, now=at, zone="Europe/Berlin")
    assert found.since.astimezone(UTC) - at == timedelta(minutes=minutes)
    assert found.until.astimezone(UTC) - found.since.astimezone(UTC) == timedelta(minutes=1)


def test_both_passes_of_the_hour_that_comes_twice_are_told_apart():
    passes = [datetime(2026, 10, 25, hour, 50, tzinfo=UTC) for hour in (0, 1)]
    found = [one("in 20 minutes", FUTURE, now=now, zone="Europe/Berlin").since.astimezone(UTC) for now in passes]
    assert found[1] - found[0] == timedelta(hours=1)


def test_the_last_hours_are_as_many_as_were_said_while_clocks_are_changed():
    at = datetime(2026, 10, 25, 3, 0, tzinfo=UTC)
    found = one("the last 3 hours", now=at, zone="Europe/Berlin")
    assert found.until.astimezone(UTC) - found.since.astimezone(UTC) == timedelta(hours=3)


def test_three_digits_before_noon_are_an_hour_and_minutes():
    assert one("wake me at 615am", FUTURE).since.strftime("%H:%M") == "06:15"


@pytest.mark.parametrize(
    "text",
    [
        "in 20 minutes",
        "in 20 Minuten",
        "dentro de 20 minutos",
        "dans 20 minutes",
        "20分钟后",
        "20分後",
        "20분 후",
    ],
)
def test_a_distance_shorter_than_a_day_is_a_moment(text):
    assert span(text, FUTURE) == ("2026-12-01 14:40", "2026-12-01 14:41")


@pytest.mark.parametrize(
    ("text", "past", "future"),
    [
        ("in May", "2026-05-01", "2027-05-01"),
        ("im Mai", "2026-05-01", "2027-05-01"),
        ("en mayo", "2026-05-01", "2027-05-01"),
        ("en mai", "2026-05-01", "2027-05-01"),
        ("五月", "2026-05-01", "2027-05-01"),
        ("on Friday", "2026-11-27", "2026-12-04"),
        ("am Freitag", "2026-11-27", "2026-12-04"),
        ("周五", "2026-11-27", "2026-12-04"),
        ("金曜日", "2026-11-27", "2026-12-04"),
        ("금요일", "2026-11-27", "2026-12-04"),
        ("on the 25th", "2026-11-25", "2026-12-25"),
        ("12月25日", "2025-12-25", "2026-12-25"),
        ("at the weekend", "2026-11-28", "2026-12-05"),
        ("Christmas", "2025-12-25", "2026-12-25"),
        ("2月29日", "2024-02-29", "2028-02-29"),
    ],
)
def test_what_a_phrase_leaves_open_lies_on_the_side_asked_for(text, past, future):
    assert (days(text, PAST)[0], days(text, FUTURE)[0]) == (past, future)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("between March and June 2024", "2024-03-01", "2024-07-01"),
        ("zwischen März und Juni 2024", "2024-03-01", "2024-07-01"),
        ("entre marzo y junio de 2024", "2024-03-01", "2024-07-01"),
        ("entre mars et juin 2024", "2024-03-01", "2024-07-01"),
        ("2024年3月到6月", "2024-03-01", "2024-07-01"),
        ("from Monday to Friday", "2026-11-30", "2026-12-05"),
        ("3 May to 5 May 2024", "2024-05-03", "2024-05-06"),
        ("5月3日から5日", "2026-05-03", "2026-05-06"),
        ("since March", "2026-03-01", None),
        ("seit März", "2026-03-01", None),
        ("before 2020", None, "2020-01-01"),
        ("2018年之前", None, "2018-01-01"),
        ("after 3 May 2024", "2024-05-04", None),
        ("the last 3 months", "2026-09-01", "2026-12-01"),
        ("los últimos 3 meses", "2026-09-01", "2026-12-01"),
        ("les 3 derniers mois", "2026-09-01", "2026-12-01"),
        ("in 2023", "2023-01-01", "2024-01-01"),
        ("last summer", "2026-06-01", "2026-09-01"),
        ("去年夏天", "2025-06-01", "2025-09-01"),
        ("the week before last", "2026-11-16", "2026-11-23"),
        ("vorletzte Woche", "2026-11-16", "2026-11-23"),
        ("上上周", "2026-11-16", "2026-11-23"),
        ("in the 1990s", "1990-01-01", "2000-01-01"),
        ("end of June", "2026-06-21", "2026-07-01"),
        ("Q3 2025", "2025-07-01", "2025-10-01"),
    ],
)
def test_spans_have_a_beginning_and_an_end_unless_they_are_open(text, since, until):
    assert days(text) == (since, until)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("3 days after Christmas 2024", "2024-12-28"),
        ("two weeks before 13 May 1999", "1999-04-29"),
        ("the day before yesterday", "2026-11-29"),
        ("vorgestern", "2026-11-29"),
        ("前天", "2026-11-29"),
        ("last Wednesday", "2026-11-25"),
        ("Wednesday of last week", "2026-11-25"),
        ("上周三", "2026-11-25"),
        ("下个月5号", "2027-01-05"),
        ("the 15th of next month", "2027-01-15"),
        ("Tuesday the 13th", "2026-10-13"),
        ("03.05.2024", "2024-05-03"),
        ("2024-05-03", "2024-05-03"),
        ("twenty-fifth of January nineteen eighty-six", "1986-01-25"),
        ("二零零四年八月十五", "2004-08-15"),
        ("Ostermontag 2025", "2025-04-21"),
    ],
)
def test_days_are_found_however_they_are_said(text, day):
    assert days(text)[0] == day
    assert one(text).kind == Kind.DATE


@pytest.mark.parametrize("text", ["3/5/2024", "03/05/2024"])
def test_day_and_month_stand_in_the_order_of_the_language(text):
    assert days(text, languages=["en"])[0] == "2024-03-05"
    assert days(text, languages=["de"])[0] == "2024-05-03"


def test_an_hour_without_its_half_of_the_day_has_both_readings():
    found = one("at 9", FUTURE)
    assert [moment.hour for moment in (found.since, *found.others)] == [21, 9]
    tomorrow = one("tomorrow at 3", FUTURE)
    assert [moment.hour for moment in (tomorrow.since, *tomorrow.others)] == [15, 3]
    assert one("tomorrow at 15:00", FUTURE).others == ()


def test_what_is_only_about_right_says_so():
    assert not one("tomorrow around 5", FUTURE).exact
    assert not one("a year ago").exact
    assert one("yesterday").exact


@pytest.mark.parametrize(
    "text",
    [
        "I may go.",
        "The sun sat on the wall.",
        "One may ask.",
        "Call 206 555 1212.",
        "Version 3.14.159 is out.",
        "February 30",
        "2019年2月29日",
        "a march through the mud",
        "Ich mag Kuchen.",
        "我喜欢喝茶",
        "お茶が好きです",
        "차를 좋아해요",
        "",
    ],
)
def test_what_names_no_time_is_none(text):
    assert find_times(text, NOW, "UTC") == ()


def test_days_are_those_of_the_zone():
    late = datetime(2026, 2, 10, 17, 40, tzinfo=UTC)
    assert one("today", now=late, zone="Asia/Tokyo").since == datetime(2026, 2, 11, tzinfo=ZoneInfo("Asia/Tokyo"))
    assert one("today", now=late).since == datetime(2026, 2, 10, tzinfo=UTC)


def test_a_time_that_a_change_of_clocks_leaves_out_is_moved_on_and_a_day_stays_a_day():
    before = datetime(2026, 3, 28, 12, tzinfo=UTC)
    found = one("tomorrow at 2:30 am", FUTURE, now=before, zone="Europe/Berlin")
    assert found.since.isoformat() == "2026-03-29T03:30:00+02:00"
    whole = one("tomorrow", FUTURE, now=before, zone="Europe/Berlin")
    assert whole.until.astimezone(UTC) - whole.since.astimezone(UTC) == timedelta(hours=23)


@pytest.mark.parametrize(
    ("text", "cron"),
    [
        ("every day at 7:30", "30 7 * * *"),
        ("every weekday at 8 am", "0 8 * * 1,2,3,4,5"),
        ("every Monday and Thursday at 9 am", "0 9 * * 1,4"),
        ("every 15 minutes", "*/15 * * * *"),
        ("every 2 hours", "0 */2 * * *"),
        ("every month", "0 9 1 * *"),
        ("every year on May 3", "0 9 3 5 *"),
        ("every Sunday evening", "0 18 * * 0"),
        ("every other week", None),
        ("jeden Tag um 6 Uhr", "0 6 * * *"),
        ("毎日 午前6時", "0 6 * * *"),
        ("每个月15号", "0 9 15 * *"),
    ],
)
def test_recurrences_are_cron_where_cron_can_say_them(text, cron):
    found = one(text, FUTURE)
    assert found.kind == Kind.RECURRENCE
    assert found.recurrence.cron() == cron


def test_offsets_cut_the_phrase_out_of_the_text():
    text = "Bitte erinnere mich 「übermorgen」 um acht — danke"
    found = find_times(text, NOW, "UTC", prefer=FUTURE)
    assert found[0].text.startswith("übermorgen")
    assert all(phrase.text == text[phrase.start : phrase.end] for phrase in found)


@pytest.mark.parametrize(
    "text",
    [
        "before 0001-01-01",
        "after 9999-12-31",
        "9999-12-31",
        "in 9999 years",
        "99999999 weeks ago",
        "since 9999",
        "公元前1年",
    ],
)
def test_what_lies_beyond_the_calendar_is_no_time(text):
    assert [phrase for phrase in find_times(text, NOW, "Asia/Tokyo") if phrase.kind != Kind.DURATION] == []


def test_a_text_beyond_the_limit_is_not_read():
    assert find_times("x" * LONGEST + " yesterday", NOW, "UTC") == ()


WORDS = st.sampled_from(
    [
        "last",
        "next",
        "week",
        "month",
        "on",
        "at",
        "5",
        "3pm",
        "the",
        "of",
        "may",
        "march",
        "12",
        "2024",
        "every",
        "monday",
        "ago",
        "in",
        "two",
        "days",
        "上",
        "周",
        "三",
        "下午",
        "点",
        "昨天",
        "前",
        "年",
        "月",
        "日",
        "vor",
        "zwei",
        "Wochen",
        "morgen",
        "um",
        "hace",
        "dos",
        "il",
        "y",
        "a",
        "先週",
        "の",
        "月曜日",
        "지난",
        "주",
        "-",
        ",",
        ".",
        "and",
        "between",
        "from",
        "to",
        "until",
        "31",
        "0",
        "29",
        "feb",
    ]
)


@settings(max_examples=400)
@given(
    st.lists(WORDS, max_size=9).map(" ".join) | st.text(max_size=60),
    st.sampled_from(Direction),
    st.integers(0, 55_000).map(lambda days: datetime(1971, 1, 1, 5, 7, tzinfo=UTC) + timedelta(days=days)),
    st.sampled_from(["UTC", "Asia/Tokyo", "America/Chicago", "Europe/Berlin"]),
)
def test_any_text_gives_ordered_spans_inside_it_and_the_same_ones_again(text, prefer, now, zone):
    found = find_times(text, now, zone, prefer=prefer)
    assert found == find_times(text, now, zone, prefer=prefer)
    last = 0
    for phrase in found:
        assert last <= phrase.start < phrase.end <= len(text)
        assert phrase.text == text[phrase.start : phrase.end]
        last = phrase.end
        if phrase.since is not None and phrase.until is not None:
            assert phrase.since.astimezone(UTC) < phrase.until.astimezone(UTC)
        assert phrase.kind in (Kind.DURATION, Kind.RECURRENCE) or (phrase.since or phrase.until) is not None


@given(
    st.sampled_from(["last Monday", "上周五", "vor 3 Tagen", "next Friday at 8", "先週", "어제"]), st.integers(-60, 60)
)
def test_what_is_counted_from_now_moves_with_it(text, weeks):
    shift = timedelta(weeks=weeks)
    first, moved = one(text), one(text, now=NOW + shift)
    assert moved.since - first.since == shift
    assert moved.until - first.until == shift


def test_every_lexicon_compiles_and_reads_digits():
    for code in LEXICONS:
        assert days("2024-05-03", languages=[code]) == ("2024-05-03", "2024-05-04")
