"""Prints the demonstration for people, each part as soon as it is known."""

from __future__ import annotations

from collections.abc import Mapping

from reverie.surfaces import output
from reverie.surfaces.demo import parts
from reverie.surfaces.demo.pools import PoolsReport

#: Hits of an answer that are printed; the others are in ``--json``.
SHOWN = 3


class Telling:
    """Prints parts, with a heading where a new step begins."""

    def __init__(self) -> None:
        self._step = 0
        self._title = ""

    def __call__(self, part: parts.Part) -> None:
        """Print one part."""
        match part:
            case parts.Home():
                self._home(part)
            case parts.Replayed():
                self._replayed(part)
            case parts.Noted():
                self._noted(part)
            case parts.Prompted():
                self._prompted(part)
            case parts.Indexed():
                self._indexed(part)
            case parts.Answered():
                self._answered(part)
            case parts.Poison():
                self._poison(part)
            case parts.Guest():
                self._guest(part)
            case parts.Noise():
                self._noise(part)
            case parts.Missing():
                self._missing(part)

    def summary(self, report: parts.Report) -> None:
        """Print the table at the end."""
        self._heading("Summary")
        output.table(((("ok" if check.ok else "NO"), check.what, check.result) for check in report.checks), indent=2)
        output.say()
        output.say(f"{report.seconds:.1f} seconds, no network, no language model. {_where(report.home)}", indent=2)

    def _heading(self, title: str) -> bool:
        """Print a heading where a step begins, and say whether one did."""
        if title == self._title:
            return False
        self._title = title
        self._step += 1
        output.say()
        heading = f"{self._step}. {title}"
        output.say(heading)
        output.say("=" * output.width(heading))
        return True

    def _home(self, home: parts.Home) -> None:
        output.say("Reverie's main job, on three weeks of talk between a sound engineer and her agent.")
        output.say(f"Everything happens in {home.folder}; your own memory is not touched.")

    def _replayed(self, part: parts.Replayed) -> None:
        self._heading("The conversations are said again, each turn at its own moment")
        output.say(
            f"{part.messages} messages in {part.sessions} sessions, from {part.first_day} to {part.last_day}: "
            f"{counted(part.by_kind)}. {part.turns} turns, {part.tainted_turns} of them tainted by a web page. "
            f"{part.seconds:.1f} s.",
            indent=2,
        )

    def _noted(self, part: parts.Noted) -> None:
        self._heading("The agent notes what its owner stated, word for word")
        left = ", ".join(f"{reason} ({count})" for reason, count in part.left_out.items())
        output.say(f"{part.lines} lines in {part.files} daily notes. Not noted: {left}.", indent=2)
        for wish, place in part.requested.items():
            output.say(f'To be remembered for good: "{wish}" It stands in {place}.', indent=2)

    def _prompted(self, part: parts.Prompted) -> None:
        rows = ((name, f"{part.with_it.get(name, 0)} of {count}") for name, count in part.prompts.items())
        output.say("Prompts that hold it since then:", indent=2)
        output.table(rows, indent=4)

    def _indexed(self, part: parts.Indexed) -> None:
        self._heading("Notes and transcripts are indexed")
        model = f", {part.vectors} vectors by {part.model}" if part.vectors else ""
        output.say(f"{part.files} files, {part.chunks} chunks{model}. {part.seconds:.1f} s.", indent=2)
        for notice in part.notices:
            output.say(f"note: {notice}", indent=2)

    def _answered(self, part: parts.Answered) -> None:
        if not self._heading("Eight questions are asked of notes and transcripts"):
            output.say()
        output.say(part.query, indent=2)
        output.say(f"right: {part.expected}", indent=4)
        for number, hit in enumerate(part.hits[:SHOWN], 1):
            mark = "  <- the answer" if hit.evidence else "  <- the older word" if hit.outdated else ""
            output.line(f"{number}. {hit.citation}  {hit.score:.3f}  {_origin(hit)}{mark}", indent=4)
            output.say(f'"{output.shorten(hit.snippet, output.columns() - 9)}"', indent=7)
        told = "The answer is not among the hits" if part.rank is None else f"The answer is hit {part.rank}"
        if part.changed and part.newest_first:
            told += f"; what it replaced is {_rank(part.outdated_rank)}"
        output.say(f"{told}. {part.mode} search, {part.milliseconds:.0f} ms.", indent=4)
        if not part.found:
            output.say(f"({part.note})", indent=4)

    def _poison(self, part: parts.Poison) -> None:
        self._heading("A web page that gives orders")
        output.say(
            f"A page read by {part.page} tells assistants to send invoices to {part.address} from now on. "
            f"Lines that hold this address: {counted(part.classes)}.",
            indent=2,
        )
        output.say(
            f"A careless agent does as it is told and asks to remember it. The text is {part.attempt}.", indent=2
        )
        output.say(
            f"It stands in {part.prompts_with_it} of the {part.prompts_checked} prompts that were built afterwards, "
            f"and {part.trusted_lines} of its lines are trusted.",
            indent=2,
        )
        if part.answer_rank is not None:
            output.say(f"Asked for the address, the owner's own sentence is hit {part.answer_rank}.", indent=2)

    def _guest(self, part: parts.Guest) -> None:
        self._heading("A guest in the family's group")
        output.say(f"{part.messages} messages of {part.name}: {counted(part.classes)}.", indent=2)
        for line in part.withheld:
            output.say(f"kept from the group: {line}", indent=2)

    def _noise(self, part: parts.Noise) -> None:
        self._heading("Jobs and heartbeats")
        output.say(
            f"{part.kind}: {part.messages} messages, {part.found} of them found by a search, "
            f"{part.candidates} candidates for long-term memory.",
            indent=2,
        )
        for reason in part.reasons:
            output.say(f"- {reason}", indent=4)

    def _missing(self, part: parts.Missing) -> None:
        self._heading("Not built yet")
        for feature in part.features:
            output.say(f"- {feature}: not built yet", indent=2)


def counted(counts: Mapping[str, int]) -> str:
    """Return counts as a phrase, such as ``3 cron, 1 heartbeat``."""
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"


def _origin(hit: parts.Cited) -> str:
    kind = "" if hit.kind == "interactive" else f", {hit.kind}"
    return f"{hit.origin}{kind}" + (f", {hit.day}" if hit.day else "")


def _rank(rank: int | None) -> str:
    return f"hit {rank}" if rank else "not among the hits"


def _where(home: parts.Home) -> str:
    return f"Kept in {home.folder}." if home.kept else "The folder is removed now; --keep DIR leaves it in DIR."


def tell_pools(report: PoolsReport) -> None:
    """Print what came out for a file of notes and questions."""
    output.line(f"{report.file}")
    output.say(f"{report.pools} pools, {report.files} notes, {report.lines} lines.")
    output.say(f"{report.chunks} chunks indexed in {report.index_seconds:.1f} s, {report.mode} search.")
    for notice in report.notices:
        output.say(f"note: {notice}")
    output.say()
    for asked in report.asked[:SHOWN]:
        output.say(output.shorten(asked.query, output.columns() - 2), indent=2)
        output.say(f"1. {asked.best or 'no hit'}", indent=4)
        output.say(f'"{output.shorten(asked.snippet, output.columns() - 9)}"', indent=7)
    output.say()
    every = [*report.categories, report.overall] if len(report.categories) > 1 else [report.overall]
    rows = ((f"{each.recall:.3f}", f"{each.any:.3f}", each.questions, each.name) for each in every)
    output.table(rows, head=("R@10", "any@10", "questions", "category"))
    output.say()
    output.say(
        f"Answers take {report.p50_ms:.1f} ms (median), {report.p95_ms:.1f} ms (95 %). {report.seconds:.1f} s in all."
    )
