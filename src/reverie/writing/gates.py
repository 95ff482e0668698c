"""The structural gates: what keeps a text out of prompts by itself, out of long-term memory, out of the first places.

Pure functions. Each gate says of itself whether the text passes, and why; all are asked, so that every reason can be
told. A gate can only refuse. What somebody wrote never opens one: class, kind and place come from the records, and the
gates that look at a text look for shapes that programs make (markers, scores, envelopes), never for meaning.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reverie.core.provenance import is_handwritten, is_trusted
from reverie.core.redaction import redact
from reverie.core.types import Annotations, Provenance, SessionKind, SourceClass
from reverie.sessions.capture import is_silent
from reverie.sessions.spoken import holds_injected, strip_directives, strip_envelope, strip_injected, strip_private
from reverie.store.lines import path_class
from reverie.workspace.annotations import parse_marker
from reverie.workspace.blocks import is_block_marker
from reverie.workspace.paths import is_curated, is_indexed, is_note

#: Notes of a day, wherever they lie below ``memory/``, and transcripts: what long-term memory may be made of.
_DATED = re.compile(r"(?:.*/)?\d{4}-\d{2}-\d{2}(?:-[^/]*)?\.(?:md|txt)", re.IGNORECASE)
_TALK = ("sessions/", "memory/.dreams/session-corpus/")

#: What diffs, quotes and lists put before a line.
_LEAD = re.compile(r"(?:[\s>+*|•-]|\d{1,3}[.)]\s|\[[ xX]\]\s)*")
_JOINT = re.compile(r"\n|\s>\s")
_SCORE = re.compile(r"\[\s*(?:score|confidence)\s*=\s*\d[^\]\n]{0,300}\]", re.IGNORECASE)
_STAGED = re.compile(r"(candidate|theme|confidence|evidence|recalls|status|note)\s*:\s*(.{0,200})", re.IGNORECASE)
_PLAINLY_STAGED = re.compile(r"status\s*:\s*staged\b|note\s*:\s*reflection\b", re.IGNORECASE)
_SPEAKER = re.compile(r"(?:user|assistant)\s*:\s", re.IGNORECASE)
_SESSION = re.compile(r"[*_]{0,2}session (key|id)[*_]{0,2}\s*:", re.IGNORECASE)
_SUMMARY = re.compile(r"(?:#{1,6}\s*)?conversation summary\s*:?\s*", re.IGNORECASE)
_FRAME = re.compile(r"</?untrusted-memory\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate: its name, whether the text passes, and why or why not in words for people."""

    name: str
    passed: bool
    why: str


def candidate_gates(text: str, born: Sequence[Provenance], path: str, *, marker: str = "") -> tuple[Gate, ...]:
    """Return every gate before long-term memory.

    Args:
        text: what would be learned.
        born: where each of its lines comes from; nothing counts as untrusted.
        path: where it stands, as a hit cites it.
        marker: the nonce of this process's blocks of recalled memory.
    """
    return (
        _class_gate(born),
        _kind_gate(born),
        _place_gate(path),
        *(
            Gate(name, not found, found or passed)
            for name, found, passed in (
                ("recalled memory", _recalled(text, marker), "nothing in it was put there from memory"),
                ("program marks", _marked(text), "no promotion marker, block marker or score"),
                ("staged block", _staged(text), "no block that dreaming stages"),
                ("conversation", _conversation(text, path), "no raw turns or session metadata"),
                ("envelope", _envelope(text), "nothing that a channel puts around a message"),
                ("silent reply", "it is a silent reply" if is_silent(text) else "", "somebody said something"),
                ("private", _private(text), "nothing marked as private"),
                ("secret", _secret(text), "no key, token or password of a known shape"),
            )
        ),
    )


def injection_gates(born: Sequence[Provenance], path: str, annotations: Annotations) -> tuple[Gate, ...]:
    """Return every gate before a prompt that nobody asked for (I2, I4). Budgets and the chat are asked per turn."""
    curated = is_curated(path)
    where = "it stands in a curated file" if curated else "only MEMORY.md and USER.md enter prompts by themselves"
    broken = annotations.invalid_project
    tag = "its project annotation is malformed" if broken else "no malformed project annotation"
    return (Gate("place", curated, where), _class_gate(born), Gate("project", not broken, tag))


def search_gates(born: Sequence[Provenance], path: str, annotations: Annotations) -> tuple[Gate, ...]:
    """Return the gates of a search: whether it is found at all, and whether it may take one of the first places."""
    talk = path.startswith(_TALK[0])
    found = talk or is_indexed(path)
    place = "it is in the index" if found else "this place is not indexed"
    broken = annotations.invalid_project
    tag = "its project annotation is malformed" if broken else "no malformed project annotation"
    lead = _class_gate(born)
    why = lead.why if lead.passed else f"{lead.why}: it is placed after trusted text, and shown in a frame"
    return (Gate("place", found, place), Gate("project", not broken, tag), Gate("leading place", lead.passed, why))


def passes(gates: Iterable[Gate]) -> bool:
    """Say whether every gate lets the text through."""
    return all(gate.passed for gate in gates)


# --- what the records say --------------------------------------------------------------------------------------


def _class_gate(born: Sequence[Provenance]) -> Gate:
    counts = Counter(one.origin for one in born)
    doubtful = {origin: count for origin, count in counts.items() if not is_trusted(origin)}
    if not born:
        return Gate("class", False, "nothing is known of where it comes from")
    if doubtful:
        told = ", ".join(f"{count} {_lines(count)} of class {origin}" for origin, count in sorted(doubtful.items()))
        return Gate("class", False, told)
    return Gate("class", True, "every line is of class " + " or ".join(sorted(counts)))


def _kind_gate(born: Sequence[Provenance]) -> Gate:
    refused = sorted({one.kind for one in born if one.kind is not SessionKind.INTERACTIVE and not is_handwritten(one)})
    if refused:
        return Gate("session kind", False, f"said in a session of kind {', '.join(refused)}; only people's count")
    if not born:
        return Gate("session kind", False, "nothing is known of the session")
    spoken = any(one.kind is SessionKind.INTERACTIVE for one in born)
    return Gate("session kind", True, "said or asked for by a person" if spoken else "written by hand")


def _place_gate(path: str) -> Gate:
    if path.startswith(_TALK):
        return Gate("place", True, "it was said in a conversation")
    if path_class(path) is SourceClass.SYSTEM:
        return Gate("place", False, "what dreaming writes for people is never learned again")
    if is_curated(path):
        return Gate("place", False, "it is long-term memory already")
    if is_note(path) and _DATED.fullmatch(path):
        return Gate("place", True, "it stands in the note of a day")
    return Gate("place", False, "only notes of a day and conversations become long-term memory")


# --- shapes that programs make ---------------------------------------------------------------------------------


def _parts(text: str) -> list[str]:
    """Return the lines, and what a list joined into one line, without what stands before them in lists and diffs."""
    return [part[found.end() :] for part in _JOINT.split(text) if (found := _LEAD.match(part))]


def _recalled(text: str, marker: str) -> str:
    if holds_injected(text) or strip_injected(text, marker) != text:
        return "it holds a block of recalled memory"
    return "it holds a frame of a memory tool" if _FRAME.search(text) else ""


def _marked(text: str) -> str:
    for part in (*text.split("\n"), *_parts(text)):
        if parse_marker(part) or is_block_marker(part):
            return "it holds a marker that dreaming writes"
    return "it ends in a score that a program wrote" if _SCORE.search(text) else ""


def _staged(text: str) -> str:
    parts = _parts(text)
    if any(_PLAINLY_STAGED.match(part) for part in parts):
        return "it is part of a block that dreaming stages"
    labels = {found[1].lower() for part in parts if (found := _STAGED.match(part))}
    # One of the words alone is a person's; together they are the report of a program.
    together = len(labels & {"candidate", "theme", "confidence", "evidence", "recalls"})
    return "it has the shape of a block that dreaming stages" if together > 1 else ""


def _conversation(text: str, path: str) -> str:
    parts = _parts(text)
    if any(_SUMMARY.fullmatch(part) for part in parts):
        return "it is the summary of a conversation"
    if {found[1].lower() for part in parts if (found := _SESSION.match(part))} == {"key", "id"}:
        return "it holds the metadata of a session"
    if not path.startswith(_TALK) and any(_SPEAKER.match(part) for part in parts):
        return "it is a raw turn of a conversation"
    return ""


def _envelope(text: str) -> str:
    bare = strip_directives(text.strip())
    return "it holds what a channel puts around a message" if strip_envelope(text) != bare else ""


def _private(text: str) -> str:
    return "part of it was marked as private" if strip_private(text).text != text else ""


def _secret(text: str) -> str:
    kinds = redact(text)[1]
    return f"it holds a secret: {', '.join(kinds)}" if kinds else ""


def _lines(count: int) -> str:
    return "line" if count == 1 else "lines"
