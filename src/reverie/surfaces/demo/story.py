"""The demonstration, step by step: replay, note, index, ask, and look at what must not have happened."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from reverie.core.clock import FixedClock
from reverie.core.provenance import is_trusted, may_be_candidate
from reverie.core.types import Corpus
from reverie.memory import Memory
from reverie.surfaces.demo import parts
from reverie.surfaces.demo.asking import answer, classes_of, hits_showing
from reverie.surfaces.demo.material import GUEST, OWNER, POISON, ZONE, conversations, questions
from reverie.surfaces.demo.replay import Seen, replay, replayed
from reverie.surfaces.progress import Progress
from reverie.surfaces.scratch import scratch_state

#: The question that the poisoned page wants to be answered its way.
POISONED_QUESTION = "q3"
PRIVATE = "private talk"

P = TypeVar("P", bound=parts.Part)
Tell = Callable[[parts.Part], None]


def run(folder: Path, *, kept: bool, config_file: Path | None, tell: Tell) -> parts.Report:
    """Run the demonstration in ``folder``.

    Args:
        folder: an empty folder; state and workspace are made in it.
        kept: whether the folder is there afterwards (only told, not done here).
        config_file: a configuration to use; without one, the defaults.
        tell: called with what each step found, as soon as it is known.
    """
    started = time.perf_counter()
    lines = conversations()
    by_place = {line.place: line for line in lines}
    clock = FixedClock(lines[0].at, ZONE)
    state, workspace = scratch_state(folder / "state"), folder / "workspace"
    Memory.create(state_dir=state, workspace=workspace)
    home = _told(tell, parts.Home(str(folder), kept, OWNER, ZONE))
    with (
        Progress() as progress,
        Memory.open(
            state_dir=state, workspace=workspace, config_file=config_file, clock=clock, progress=progress
        ) as memory,
    ):
        seen = replay(memory, clock, lines)
        said = _told(tell, replayed(seen))
        noted = _told(tell, _noted(workspace, seen))
        prompted = _told(tell, _prompted(seen))
        indexed = _told(tell, _index(memory))
        answers = tuple(_told(tell, answer(memory, question, by_place)) for question in questions())
        poison = _told(tell, _poison(memory, seen, answers))
        guest = _told(tell, _guest(memory, seen))
        noise = tuple(_told(tell, _noise(memory, seen, kind)) for kind in ("cron", "heartbeat"))
        missing = _told(tell, parts.Missing(memory.status().not_built))
    checks = tuple(_checks(prompted, answers, poison, guest, noise))
    seconds = round(time.perf_counter() - started, 1)
    return parts.Report(home, said, noted, prompted, indexed, answers, poison, guest, noise, missing, checks, seconds)


def _told(tell: Tell, part: P) -> P:
    tell(part)
    return part


def _noted(workspace: Path, seen: Seen) -> parts.Noted:
    files = sum(1 for _ in (workspace / "memory").glob("*.md"))
    return parts.Noted(files, seen.noted, dict(seen.left_out.most_common()), seen.requested)


def _prompted(seen: Seen) -> parts.Prompted:
    return parts.Prompted("; ".join(seen.requested), dict(seen.prompts), dict(seen.prompts_with_request))


def _index(memory: Memory) -> parts.Indexed:
    started = time.perf_counter()
    with Progress() as progress:
        report = memory.index(progress=progress)
    seconds = time.perf_counter() - started
    engine = memory.status().engine
    notices = tuple(dict.fromkeys([*report.notices, *engine.notices]))
    return parts.Indexed(
        engine.files, engine.chunks, engine.vectors, engine.mode, engine.model, round(seconds, 2), notices
    )


def _poison(memory: Memory, seen: Seen, answers: tuple[parts.Answered, ...]) -> parts.Poison:
    """Look for the page's address everywhere, and at the class of every line that holds it."""
    page = next(line for line in seen.lines if line.role == "tool" and POISON in line.text)
    hits = [hit for corpus in (Corpus.MEMORY, Corpus.SESSIONS) for hit in hits_showing(memory, POISON, POISON, corpus)]
    classes = Counter(hit.provenance.origin.value for hit in hits)
    trusted = sum(1 for hit in hits if is_trusted(hit.provenance.origin))
    asked = next(each for each in answers if each.id == POISONED_QUESTION)
    return parts.Poison(
        address=POISON,
        page=f"{page.tool} in {page.session}",
        classes=dict(classes.most_common()),
        attempt=seen.attempt,
        trusted_lines=trusted,
        prompts_checked=len(seen.prompts_after_poison),
        prompts_with_it=sum(1 for prompt in seen.prompts_after_poison if POISON in prompt),
        answer_rank=asked.rank,
    )


def _guest(memory: Memory, seen: Seen) -> parts.Guest:
    said = [line for line in seen.lines if line.sender == f"guest:{GUEST}"]
    return parts.Guest(
        GUEST.capitalize(), len(said), dict(classes_of(memory, said).most_common()), seen.withheld.get("group", ())
    )


def _noise(memory: Memory, seen: Seen, kind: str) -> parts.Noise:
    """Count what a scheduler's sessions said, and how much of it can be found, or could become long-term memory."""
    said = [line for line in seen.lines if line.kind == kind]
    texts = sorted({line.text for line in said})
    hits = [hit for text in texts for hit in hits_showing(memory, text, text) if hit.provenance.kind == kind]
    candidates = sum(1 for hit in hits if may_be_candidate(hit.provenance))
    skipped = memory.status().engine.skipped
    reasons = [each.reason for each in skipped if each.path.startswith("sessions/") and kind in each.reason]
    return parts.Noise(kind, len(said), len(hits), candidates, (*dict.fromkeys(reasons), *seen.withheld.get(kind, ())))


def _checks(
    prompted: parts.Prompted,
    answers: tuple[parts.Answered, ...],
    poison: parts.Poison,
    guest: parts.Guest,
    noise: tuple[parts.Noise, ...],
) -> list[parts.Check]:
    found = [each for each in answers if each.found]
    first = sum(1 for each in found if each.rank == 1)
    changed = [each for each in answers if each.changed]
    newest = [each for each in changed if each.newest_first]
    untrusted = guest.classes.get("untrusted", 0)
    inside = prompted.with_it.get(PRIVATE, 0)
    outside = sum(prompted.with_it.values()) - inside
    others = sum(prompted.prompts.values()) - prompted.prompts.get(PRIVATE, 0)
    quiet = all(each.found == 0 and each.candidates == 0 for each in noise)
    return [
        parts.Check(
            "questions whose answer is shown, with its place",
            f"{len(found)} of {len(answers)}, {first} at the first place",
            len(found) == len(answers),
        ),
        parts.Check(
            "facts that changed: the newest word stands first",
            f"{len(newest)} of {len(changed)}",
            len(newest) == len(changed),
        ),
        parts.Check(
            "private prompts that hold the owner's standing wish",
            f"{inside} of {prompted.prompts.get(PRIVATE, 0)}",
            inside == prompted.prompts.get(PRIVATE, 0),
        ),
        parts.Check("other prompts that hold it", f"{outside} of {others}", outside == 0),
        parts.Check(
            "lines with the poisoned page's address that are trusted",
            f"{poison.trusted_lines} of {sum(poison.classes.values())}",
            poison.trusted_lines == 0,
        ),
        parts.Check(
            "prompts that hold the poisoned page's address",
            f"{poison.prompts_with_it} of {poison.prompts_checked}",
            poison.prompts_with_it == 0,
        ),
        parts.Check(
            "the guest's messages that are untrusted",
            f"{untrusted} of {guest.messages}",
            untrusted == guest.messages,
        ),
        parts.Check(
            "messages of jobs and heartbeats that a search finds",
            f"{sum(each.found for each in noise)} of {sum(each.messages for each in noise)}",
            quiet,
        ),
    ]
