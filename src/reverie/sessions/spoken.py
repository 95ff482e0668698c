"""What of a message's text somebody really said: the rest was put there by a program, or was said in private.

Pure functions over one text. None of them decides trust: they take away, and what they leave keeps the class that the
message has. Where a mark is ambiguous (unclosed, closed twice), more is taken away rather than less.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

#: Blocks of recalled memory that other programs put into prompts.
_FOREIGN_BLOCKS = (
    "active_memory_plugin",
    "relevant-memories",
    "relevant_memories",
    "standing_intents",
    "hindsight_memories",
)
#: Also as a model may quote it: other quotes, other case, other spaces.
_OUR_OPEN = re.compile(r"<\s{0,8}reverie-memory\b([^<>]{0,300})>", re.IGNORECASE)
_OUR_CLOSE = re.compile(r"<\s{0,8}/\s{0,8}reverie-memory\b([^<>]{0,300})>", re.IGNORECASE)
_NONCE = re.compile(r"nonce\s{0,8}=\s{0,8}[\"'`]?([^\s\"'`<>/]{1,128})", re.IGNORECASE)
_OUR_TAG = re.compile(r"<(?=/?\s{0,8}reverie-memory\b)", re.IGNORECASE)
_PRIVATE = re.compile(r"<\s{0,8}(/?)\s{0,8}private\b[^<>]{0,200}>", re.IGNORECASE)

_HISTORY = "[Chat messages since your last reply - for context]"
_CURRENT = "[Current message - respond to this]"
_METADATA_HEAD = re.compile(r".{1,160}\((?:untrusted metadata|untrusted, for context)\):\s*")
_ENVELOPE_KEYS = frozenset(
    [
        "messageid",
        "senderid",
        "chatid",
        "conversationid",
        "conversationlabel",
        "channelid",
        "threadid",
        "groupid",
        "accountid",
        "senderusername",
        "senderhandle",
        "replytoid",
    ]
)
_SYSTEM_LINE = re.compile(r"System(?: \(untrusted\))?: \[")
_CHANNELS = (
    "telegram|whatsapp|signal|discord|slack|imessage|matrix|webchat|irc|line|feishu|wechat|qq|zalo|msteams|teams"
    "|google ?chat|mattermost|sms|email|nostr|cli"
)
_WEEKDAYS = "mon|tue|wed|thu|fri|sat|sun"
_ENVELOPE = re.compile(
    rf"\[(?:(?:{_CHANNELS})\b[^\]\n]{{0,200}}"
    rf"|(?:{_WEEKDAYS})\w{{0,6}},? \d{{4}}-\d{{2}}-\d{{2}}[^\]\n]{{0,40}})\]\s{{0,4}}",
    re.IGNORECASE,
)
_DIRECTIVE = re.compile(r"\[\[\s{0,4}(?:reply_to_current|reply_to\s{0,4}:[^\]\n]{0,200}|audio_as_voice)\s{0,4}\]\]")
_MEDIA_LINE = re.compile(r"^(?:\[media attached[^\n]{0,2000}\]|MEDIA:\S{1,2000})[ \t]*$", re.MULTILINE)


# --- recalled memory -------------------------------------------------------------------------------------------


def wrap_injected(text: str, marker: str) -> str:
    """Return recalled text as a block that :func:`strip_injected` takes out again.

    ``marker`` is random and never shown to anybody who writes what is recalled, so no text can close the block early.
    What imitates such a tag inside the text is defused: a reader that looks less closely is not fooled by it either.
    """
    return f'<reverie-memory nonce="{marker}">\n{defused(text)}\n</reverie-memory nonce="{marker}">'


def defused(text: str) -> str:
    """Return the text with whatever imitates a tag of ours made readable text."""
    return _OUR_TAG.sub("&lt;", text)


def holds_injected(text: str) -> bool:
    """Say whether anything in the text is, or imitates, a tag around recalled memory, ours or another program's."""
    return _OUR_TAG.search(text) is not None or any(f"<{name}" in text for name in _FOREIGN_BLOCKS)


def strip_injected(text: str, marker: str = "") -> str:
    """Return the text without blocks of recalled memory, ours and those of other programs (I3).

    Ours end at the closing tag with the same nonce, whatever stands between; an unclosed one goes to the end. Those of
    others carry no nonce, so what they hold could close them: they go from the first opening to the last closing tag.
    A ``marker`` that stands anywhere else in the text takes the rest with it: nobody can have typed it.
    """
    if "<" in text:
        text = _strip_ours(text)
        for name in _FOREIGN_BLOCKS:
            text = _strip_foreign(text, name)
    if marker and marker in text:
        head = text[: text.index(marker)]
        text = head[: head.rfind("<")] if "<" in head else head
    return text


def _strip_ours(text: str) -> str:
    kept, position = [], 0
    while found := _OUR_OPEN.search(text, position):
        kept.append(text[position : found.start()])
        end = _end_of(text, found)
        if end < 0:
            return "".join(kept)
        position = end
    return "".join([*kept, text[position:]])


def _end_of(text: str, opened: re.Match[str]) -> int:
    """Return where a block ends: behind the closing tag of its nonce, or, without one, behind the last of any."""
    nonce = _NONCE.search(opened[1])
    ends = _OUR_CLOSE.finditer(text, opened.end())
    if nonce is None:
        return max((close.end() for close in ends), default=-1)
    return next((close.end() for close in ends if (own := _NONCE.search(close[1])) and own[1] == nonce[1]), -1)


def _strip_foreign(text: str, name: str) -> str:
    start = re.search(rf"<{name}\b[^<>]{{0,500}}>", text)
    if start is None:
        return text
    close = f"</{name}>"
    end = text.rfind(close, start.end())
    if end < 0 or re.search(rf"<{name}\b[^<>]{{0,500}}>", text[end:]):
        return text[: start.start()]
    return text[: start.start()] + text[end + len(close) :]


# --- private ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PublicText:
    """A text without what was marked as private.

    ``spans`` is what was taken out. ``open`` says that a mark was not closed: the next message may begin in private.
    """

    text: str
    spans: tuple[str, ...] = ()
    open: bool = False


def strip_private(text: str, *, inside: bool = False) -> PublicText:
    """Take out what stands between ``<private>`` and ``</private>``: nested, unclosed, or begun a message earlier.

    ``inside`` says that the message before ended in private. Then this one begins in private if a closing tag comes
    before any opening one; a mark that nobody closes ends with its message, or all that follows would be lost.
    """
    tags = list(_PRIVATE.finditer(text))
    depth = 1 if inside and tags and tags[0][1] else 0
    kept: list[str] = []
    spans: list[str] = []
    position = 0
    for tag in tags:
        (spans if depth else kept).append(text[position : tag.start()])
        position = tag.end()
        depth = max(0, depth - 1) if tag[1] else depth + 1
    (spans if depth else kept).append(text[position:])
    return PublicText("".join(kept), tuple(span.strip() for span in spans if span.strip()), depth > 0)


def without_spans(text: str, spans: Sequence[str]) -> str:
    """Return the text with every literal repetition of a private span replaced, in any letter case."""
    # The longest first: a nested mark leaves spans of which one is a part of another.
    for span in sorted(spans, key=lambda one: (-len(one), one)):
        if len(span) >= 4:
            text = re.sub(re.escape(span), "[private]", text, flags=re.IGNORECASE)
    return text


# --- envelopes -------------------------------------------------------------------------------------------------


def strip_envelope(text: str, sender: str = "") -> str:
    """Return a user message without what its channel put around it: metadata, history, system lines, the envelope.

    ``sender`` is the name that the channel may have put before the words.
    """
    if _CURRENT in text:
        # The last one is the channel's own: a guest whose message is quoted before cannot write behind it.
        text = text.rpartition(_CURRENT)[2]
    elif _HISTORY in text:
        text = text.partition(_HISTORY)[0]
    lines = _without_metadata(text).strip().split("\n")
    said = next((place for place, line in enumerate(lines) if line.strip() and not is_system_line(line)), len(lines))
    text = "\n".join(lines[said:])
    envelope = _ENVELOPE.match(text)
    if envelope is not None:
        text = text[envelope.end() :]
        if sender:
            text = text.removeprefix(f"{sender}: ")
    return strip_directives(text)


def is_system_line(text: str) -> bool:
    """Say whether a text begins with what a host tells the assistant (``System: [...]``)."""
    return _SYSTEM_LINE.match(text) is not None


def strip_directives(text: str) -> str:
    """Return the text without directives to the channel (``[[reply_to_current]]``) and media markers."""
    return _MEDIA_LINE.sub("", _DIRECTIVE.sub("", text)).strip()


def _without_metadata(text: str) -> str:
    """Drop labelled blocks of metadata anywhere, and a fenced block of message ids at the beginning."""
    if "```" not in text:
        return text
    lines, place = text.split("\n"), 0
    kept: list[str] = []
    closings = [number for number, line in enumerate(lines) if line.strip() == "```"]
    following = iter(closings)
    closing = next(following, -1)
    while place < len(lines):
        fence = place + 1 if _METADATA_HEAD.fullmatch(lines[place]) else place
        while fence > place and fence < len(lines) and not lines[fence].strip():
            fence += 1
        if fence >= len(lines) or not _opens_json(lines[fence]):
            kept.append(lines[place])
            place += 1
            continue
        while 0 <= closing <= fence:
            closing = next(following, -1)
        end = closing if closing >= 0 else len(lines)
        if fence > place:
            place = end + 1
        elif _only_a_heading(kept) and _holds_ids("\n".join(lines[fence + 1 : end])):
            kept.clear()
            place = end + 1
        else:
            kept += lines[place : end + 1]
            place = end + 1
    return "\n".join(kept)


def _opens_json(line: str) -> bool:
    return line.strip() in ("```json", "```")


def _only_a_heading(lines: list[str]) -> bool:
    """Say whether nothing but one line stands there that introduces what follows."""
    said = [line.strip() for line in lines if line.strip()]
    return not said or (
        len(said) == 1 and len(said[0]) <= 160 and (said[0].endswith((":", "]", "*")) or said[0][0] == "#")
    )


def _holds_ids(body: str) -> bool:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(data, dict) and any(name.replace("_", "").lower() in _ENVELOPE_KEYS for name in data)
