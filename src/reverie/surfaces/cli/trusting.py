"""``reverie trust`` and ``reverie why``: vouching for lines, and asking where something comes from."""

from __future__ import annotations

from collections.abc import Sequence

import click

from reverie.surfaces import output
from reverie.surfaces.cli.opening import opened
from reverie.surfaces.cli.parameters import LINES, WORDS, text_of
from reverie.surfaces.cli.parts import Command, Invocation
from reverie.trust import TrustReport
from reverie.why import LineWhy, Why, WriteWhy

#: So many lines are printed before the rest is only counted.
SHOWN = 40


@click.command(cls=Command, short_help="Vouch for lines that count as untrusted.")
@click.argument("path", type=WORDS)
@click.option("--lines", type=LINES, metavar="A-B", help="Only these lines; without it the whole file.")
@click.option("--dry-run", is_flag=True, help="Show what would be trusted, and record nothing.")
@click.pass_obj
def trust(invocation: Invocation, path: str, lines: tuple[int, int] | None, dry_run: bool) -> None:
    """Vouch for the memory file PATH, or for lines of it, as they stand now.

    What came from outside (a page, a guest, an import) stays out of prompts and of long-term memory until you have read
    it and say that it may count. The lines are shown first. What is changed afterwards is judged anew.
    """
    with opened(invocation) as memory:
        seen = memory.trust(path, lines, dry_run=True)
        if not invocation.json:
            _print_lines(seen, dry_run=dry_run)
        report = seen
        if seen.lines and not dry_run:
            report = memory.trust(path, lines, expected_hash=seen.content_hash)
    if invocation.json:
        output.document(_document(report))
    elif report.applied:
        output.say(f"Trusted {_count(len(report.lines))} of {report.path}: {report.note}.")
    else:
        output.say(f"{report.path}: {report.note}.")


def _print_lines(seen: TrustReport, *, dry_run: bool) -> None:
    if not seen.lines:
        return
    output.say(f"{seen.path}, {'would be' if dry_run else 'to be'} trusted:")
    output.table(((number, was, text) for number, text, was in seen.lines[:SHOWN]), indent=2)
    if len(seen.lines) > SHOWN:
        output.say(f"and {len(seen.lines) - SHOWN} more; --json shows all of them", indent=2)


def _document(report: TrustReport) -> dict[str, object]:
    lines = [{"line": number, "text": text, "was": was} for number, text, was in report.lines]
    return {**output.jsonable(report), "lines": lines}


def _count(lines: int) -> str:
    return "1 line" if lines == 1 else f"{lines} lines"


# --- why -------------------------------------------------------------------------------------------------------


@click.command(cls=Command, short_help="Show where something in memory comes from.")
@click.argument("entry", nargs=-1, type=WORDS)
@click.pass_obj
def why(invocation: Invocation, entry: tuple[str, ...]) -> None:
    """Show the chain of ENTRY: its lines, who wrote them in which session, and every gate that would refuse it.

    ENTRY is a place such as MEMORY.md#L3 or memory/2026-03-17.md#L12-L15, a path, the id of a write record, the key of
    an entry, or a text that stands in memory; - reads it from standard input.
    """
    wanted = text_of(entry, "entry", errors="replace")
    with opened(invocation) as memory:
        found = memory.why(wanted)
    if invocation.json:
        output.document({"entry": wanted, "found": [_told(one) for one in found]})
        return
    for number, one in enumerate(found):
        if number:
            output.say()
        _print_why(one)


def _told(one: Why) -> dict[str, object]:
    refused = [{"before": purpose, "gate": gate.name, "why": gate.why} for purpose, gate in one.gates.refused]
    return {"citation": one.citation, **output.jsonable(one), "refused": refused}


def _print_why(one: Why) -> None:
    output.say(one.citation)
    for line in one.lines[:SHOWN]:
        if line.text.strip() or len(one.lines) == 1:
            _print_line(line)
    if len(one.lines) > SHOWN:
        output.say(f"and {len(one.lines) - SHOWN} more lines; --json shows all of them", indent=2)
    if one.lowered:
        output.say(f"The whole file is lowered: {one.lowered}.")
    for write in one.writes:
        output.say(f"write: {_written(write)}", indent=2)
    for act in one.trusts:
        part = f"line {'-'.join(map(str, dict.fromkeys(act.lines)))}" if act.lines else "the whole file"
        output.say(f"trust: {part}, by {act.by}, {act.at.isoformat(timespec='seconds')} ({act.id})", indent=2)
    _print_gates(one)


def _print_line(line: LineWhy) -> None:
    output.table([(f"L{line.number}", line.origin, line.text.strip() or "(nothing)")], indent=2)
    output.say(f"| {line.because}", indent=4)


def _written(write: WriteWhy) -> str:
    parts = [write.tool or "unnamed", f"class {write.origin}", f"session kind {write.kind}"]
    if write.sender:
        parts.append(f"sender {write.sender}")
    if write.session:
        parts.append(f"session {write.session_key or write.session}")
    if write.at:
        parts.append(write.at.isoformat(timespec="seconds"))
    if write.reason:
        parts.append(write.reason)
    ident = f" ({write.id}{'' if write.state == 'committed' else ', ' + write.state})" if write.id else ""
    return ", ".join(parts) + ident


def _print_gates(one: Why) -> None:
    asked: Sequence[tuple[str, str]] = (
        ("injection", "enters prompts by itself"),
        ("promotion", "may become long-term memory"),
        ("search", "is found, and may take a first place"),
    )
    refused = one.gates.refused
    for purpose, meaning in asked:
        against = [gate for before, gate in refused if before == purpose]
        output.say(f"{meaning}: {'no' if against else 'yes'}", indent=2)
        output.table(((f"| {gate.name}", gate.why) for gate in against), indent=4)
