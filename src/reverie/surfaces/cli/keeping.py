"""``reverie status`` and ``reverie doctor``: what the state of the memory is, and repairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click

from reverie.doctor import Finding, Status
from reverie.surfaces import output
from reverie.surfaces.cli.indexing import print_skipped
from reverie.surfaces.cli.opening import opened
from reverie.surfaces.cli.parts import Command, Invocation


@click.command(cls=Command, short_help="Show the state of the memory.")
@click.option("--deep", is_flag=True, help="Also open the embedder and try it.")
@click.option("--fix", is_flag=True, help="Repair first what `reverie doctor --fix` would repair.")
@click.pass_obj
def status(invocation: Invocation, deep: bool, fix: bool) -> None:
    """Show where the memory lies, what is in it, and what is wrong or not built yet."""
    with opened(invocation) as memory:
        findings = memory.doctor(fix=True) if fix else []
        state = memory.status(deep=deep)
    fixed = [finding for finding in findings if finding.fixed]
    if invocation.json:
        output.document({"status": state, "fixed": fixed} if fix else state)
        return
    if fix:
        print_findings(fixed, "Nothing had to be repaired.")
        output.say()
    print_status(state)


def print_status(state: Status) -> None:
    """Print the state of a memory."""
    engine = state.engine
    output.table(
        [
            ("agent", f"{state.agent}  (Reverie {state.version})"),
            ("workspace", state.workspace),
            ("state", state.state),
            ("configuration", state.config_file),
            ("engine", f"{engine.engine}, {engine.mode} search"),
            ("embedder", f"{engine.provider} {engine.model}".strip()),
            ("index", _index_line(state)),
            ("sessions", state.sessions),
        ]
    )
    if state.curated:
        output.say()
        rows = ((file.name, f"{file.chars:,}", f"{file.budget:,}", file.note or "ok") for file in state.curated)
        output.table(rows, head=("enters prompts", "characters", "budget", "state"))
    if engine.skipped:
        output.say()
        print_skipped(engine.skipped)
    _print_list("Warnings:", [*state.warnings, *engine.mismatch])
    _print_list(
        "Hold untrusted lines, which are never injected by themselves:",
        (
            f"{file.path}: {file.lines}{', as the whole file is lowered' if file.whole else ''}"
            for file in state.untrusted_files
        ),
    )
    _print_list("Notes:", [notice for notice in engine.notices if notice not in state.warnings])
    if state.model_usage:
        output.say()
        usage = (
            (one.feature, one.model, one.calls, f"{one.prompt:,}", f"{one.completion:,}") for one in state.model_usage
        )
        output.table(usage, head=("language models, 30 days", "model", "answers", "tokens in", "tokens out"))
    _print_list("Not built yet:", state.not_built)


def _index_line(state: Status) -> str:
    engine = state.engine
    parts = [f"{engine.files} files", f"{engine.chunks} chunks", f"{engine.vectors} vectors"]
    behind = f", behind by {engine.pending} files" if engine.pending else ""
    return ", ".join(parts) + behind + f", {engine.size_bytes / 1024:,.0f} KB"


def _print_list(title: str, lines: Iterable[str]) -> None:
    lines = list(lines)
    if lines:
        output.say()
        output.say(title)
    for line in lines:
        output.say(f"- {line}", indent=2)


# --- doctor ----------------------------------------------------------------------------------------------------


@click.command(cls=Command, short_help="Check everything, and repair what can be repaired.")
@click.option("--fix", is_flag=True, help="Repair what can be repaired without losing anything.")
@click.pass_context
def doctor(context: click.Context, fix: bool) -> None:
    """Check everything that can go wrong. The exit status is 1 while something is broken."""
    invocation: Invocation = context.obj
    with opened(invocation) as memory:
        findings = memory.doctor(fix=fix)
    broken = any(finding.level == "error" and not finding.fixed for finding in findings)
    if invocation.json:
        output.document({"ok": not broken, "findings": findings})
    else:
        print_findings(findings, "Everything is in order.")
    context.exit(1 if broken else 0)


def print_findings(findings: Sequence[Finding], nothing: str) -> None:
    """Print what a check found; ``nothing`` is said where there is nothing to say."""
    if not findings:
        output.say(nothing)
    output.table(_row(finding) for finding in findings)


def _row(finding: Finding) -> tuple[str, str, str]:
    if finding.fixed:
        return "fixed", finding.check, finding.message
    advice = f" (to do: {finding.fix})" if finding.fix and finding.level != "ok" else ""
    return finding.level, finding.check, finding.message + advice
