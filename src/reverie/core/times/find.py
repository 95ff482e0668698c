"""Finding the time phrases of a text."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from reverie.core.clock import as_utc
from reverie.core.times.clocks import AGAIN, CLOCKS, IN_PARTS, LENGTHS
from reverie.core.times.days import DAYS, JOINED_DAYS
from reverie.core.times.grammar import Now
from reverie.core.times.joining import BETWEEN, DISTANT, MOMENTS
from reverie.core.times.lexicon import Symbol
from reverie.core.times.phrase import Direction, Grain, Kind, Recurrence, TimePhrase
from reverie.core.times.spans import NAMED
from reverie.core.times.values import SECONDS, Clock, Day, Instant, Span, begin
from reverie.core.times.words import LEXICONS, languages_of

#: The longest text that is looked through; a question or a reminder is shorter.
LONGEST = 2_000
#: Nobody means a year outside these.
FIRST_YEAR, LAST_YEAR = 1000, 9000
#: Of these letters every phrase has one.
_NAMING = frozenset("MWURDCZQVPOYyjifcHhKwr2@")
_PASSES = (CLOCKS, DAYS, NAMED, LENGTHS, IN_PARTS, DISTANT, JOINED_DAYS, AGAIN, MOMENTS, BETWEEN)


def find_times(
    text: str,
    now: datetime,
    zone: str,
    *,
    prefer: Direction = Direction.PAST,
    languages: Iterable[str] = (),
) -> tuple[TimePhrase, ...]:
    """Return the time phrases of a text, in order, none inside another.

    Args:
        text: what somebody said; beyond ``LONGEST`` characters it is not read.
        now: the moment at which it was said, aware.
        zone: the IANA zone in which days and times of day are meant.
        prefer: which side of now is meant where the text leaves it open.
        languages: codes of the languages to try (``en``, ``de``, ``zh``, ``ja``, ``ko``, ``es``, ``fr``); none: those
            that the writing allows. Where several find something, the one that covers most of the text counts.
    """
    text = text[:LONGEST]
    place = ZoneInfo(zone)
    local = as_utc(now).astimezone(place).replace(tzinfo=None, microsecond=0)
    best: tuple[int, tuple[TimePhrase, ...]] = (0, ())
    for code in languages or languages_of(text):
        found = _found(text, code, Now(local, prefer, place, local.fold))
        covered = sum(phrase.end - phrase.start for phrase in found)
        if covered > best[0]:
            best = (covered, found)
    return best[1]


@lru_cache(maxsize=64)
def _found(text: str, language: str, now: Now) -> tuple[TimePhrase, ...]:
    symbols = LEXICONS[language].symbols(text)
    if _NAMING.isdisjoint(symbol.letter for symbol in symbols):
        return ()
    try:
        for rules in _PASSES:
            symbols = rules.over(symbols, now)
        phrases = [_phrase(symbol, text, now) for symbol in symbols]
    except OverflowError:  # beyond the calendar
        return ()
    return tuple(phrase for phrase in phrases if phrase is not None and _in_reach(phrase))


def _in_reach(phrase: TimePhrase) -> bool:
    """Say whether a phrase lies where dates can be counted with: zones and days may be added to it."""
    moments = (phrase.since, phrase.until, *phrase.others)
    return all(moment is None or FIRST_YEAR <= moment.year <= LAST_YEAR for moment in moments)


def _phrase(symbol: Symbol, text: str, now: Now) -> TimePhrase | None:
    def made(
        kind: Kind,
        grain: Grain,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        exact: bool = True,
        others: Iterable[datetime] = (),
        recurrence: Recurrence | None = None,
        seconds: float = 0.0,
    ) -> TimePhrase:
        said = text[symbol.start : symbol.end]
        rest = tuple(_aware(other, now.zone) for other in others)
        ends = [None if moment is None else _aware(moment, now.zone) for moment in (since, until)]
        return TimePhrase(
            symbol.start, symbol.end, said, kind, grain, ends[0], ends[1], exact, rest, recurrence, seconds
        )

    match symbol.letter, symbol.value:
        case "d", Day() as day if not day.weak:
            days = [begin(one.year, one.month, one.day) for one in day.resolve(now.today, now.direction)]
            if not days:
                return None
            until = days[0] + timedelta(days=1)
            return made(Kind.DATE, Grain.DAY, days[0], until, exact=day.exact, others=days[1:])
        case "k", Clock() as clock:
            readings = _nearest(clock, now)
            end = now.elapsed(readings[0], SECONDS[clock.grain.value])
            return made(Kind.TIME, clock.grain, readings[0], end, exact=clock.exact, others=readings[1:])
        case _, Instant() as instant:
            end = now.elapsed(instant.at, SECONDS[instant.grain.value])
            return made(Kind.MOMENT, instant.grain, instant.at, end, exact=instant.exact, others=instant.others)
        case "r", Span() as span:
            return made(Kind.RANGE, span.grain, span.since, span.until, exact=span.exact)
        case "u", tuple() as length:
            seconds = sum(number * SECONDS[unit] for number, unit in length)
            return made(Kind.DURATION, Grain(length[0][1]), seconds=seconds)
        case "v", Recurrence() as recurrence:
            return made(Kind.RECURRENCE, recurrence.unit, recurrence=recurrence)
    return None


def _nearest(clock: Clock, now: Now) -> list[datetime]:
    """Return the times of day that may be meant, the nearest in the direction of now first."""
    hours = [clock.hour, (clock.hour + 12) % 24] if clock.half_open else [clock.hour]
    today = now.moment.replace(hour=0, minute=clock.minute, second=clock.second)
    days = [today + timedelta(days=shift, hours=hour) for shift in (-1, 0, 1) for hour in hours]
    if now.direction == Direction.FUTURE:
        return sorted(moment for moment in days if moment >= now.moment)[: len(hours)]
    return sorted((moment for moment in days if moment <= now.moment), reverse=True)[: len(hours)]


def _aware(moment: datetime, zone: ZoneInfo) -> datetime:
    """Return the local moment in its zone; one that a change of clocks leaves out is moved on by that change."""
    aware = moment.replace(tzinfo=zone)
    return aware.astimezone(ZoneInfo("UTC")).astimezone(zone)
