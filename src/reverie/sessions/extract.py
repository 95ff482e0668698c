"""What can be said of a conversation without a model: last turns word for word, and the beginnings of the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reverie.core.text import collapse, cut
from reverie.sessions.messages import MessageRole
from reverie.sessions.summaries import MAX_CHARS
from reverie.sessions.telling import told, told_one
from reverie.sessions.tree import Entry

EXTRACTIVE = "This is an extract, made without a language model: the beginnings of what was said, word for word."
_NOTE_CHARS, _LEAST_SHARE = 40, 100
_SPOKEN = frozenset({MessageRole.USER, MessageRole.ASSISTANT})


def recent_turns(entries: Sequence[Entry], turns: int, *, limit: int = 8000, each: int = 600) -> str:
    """Return the last turns of what is summarised, word for word, as a section; empty if there are none."""
    spoken = [entry for entry in entries if entry.message is not None and entry.message.role in _SPOKEN]
    opened = [place for place, entry in enumerate(spoken) if _is_user(entry)]
    if turns <= 0 or not opened:
        return ""
    lines = [cut(text, each) for text in told(spoken[opened[-turns:][0] :])]
    while lines and sum(len(line) + 1 for line in lines) > limit:
        lines.pop(0)
    return "## Recent turns preserved verbatim\n" + "\n".join(lines) if lines else ""


def _is_user(entry: Entry) -> bool:
    return entry.message is not None and entry.message.role is MessageRole.USER


def extract(entries: Sequence[Entry], *, earlier: str = "", limit: int = MAX_CHARS) -> str:
    """Return a deterministic summary: what each turn began with and ended in, the newest turns first to be kept."""
    head = _earlier(earlier, limit // 4)
    turns = list(_turns(entries))
    # What there is room for is shared out, down to lines that say next to nothing; beyond that the oldest turns go.
    share = (limit - len(EXTRACTIVE) - len(head)) // max(1, len(turns))
    lines = [line for turn in turns for line in _turn_lines(turn, max(_LEAST_SHARE, share))]
    kept: list[str] = []
    size = len(EXTRACTIVE) + len(head)
    for line in reversed(lines):
        size += len(line) + 1
        if size > limit - _NOTE_CHARS:
            break
        kept.append(line)
    gone = len(lines) - len(kept)
    parts = [EXTRACTIVE, head, f"({gone} older lines were left out.)" if gone else "", *reversed(kept)]
    return "\n".join(part for part in parts if part)


def _earlier(earlier: str, limit: int) -> str:
    plain = earlier.replace(EXTRACTIVE, "").strip()
    # The end of an extract is its newest part; a model's summary begins with what matters. A cut from the front of
    # the one and from the end of the other would need to know which it is, so both ends are kept.
    if len(plain) > limit:
        plain = f"{plain[: limit // 2].rstrip()}\n…\n{plain[-(limit // 2) :].lstrip()}"
    return f"Before that:\n{plain}\n" if plain else ""


def _turns(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    turn: list[Entry] = []
    for entry in entries:
        if _is_user(entry) and turn:
            yield turn
            turn = []
        turn.append(entry)
    if turn:
        yield turn


def _turn_lines(turn: Sequence[Entry], share: int) -> list[str]:
    asked = [cut(collapse(told_one(entry)), min(300, share * 3 // 5)) for entry in turn if _is_user(entry)]
    answers = [told_one(entry, calls=False) for entry in turn if entry.message and _is_answer(entry)]
    last = next((text for text in reversed(answers) if text), "")
    called = {str(call.data.get("name") or "") for entry in turn if entry.message for call in entry.message.calls}
    lines = [f"- {text}" for text in asked if text]
    lines += [f"  {cut(collapse(last), min(240, share * 2 // 5))}"] if last else []
    return [*lines, f"  (tools: {', '.join(sorted(called - {''}))})"] if called - {""} else lines


def _is_answer(entry: Entry) -> bool:
    return entry.message is not None and entry.message.role is MessageRole.ASSISTANT
