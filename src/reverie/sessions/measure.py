"""How long a message is for a model: characters as pruning counts them, and tokens as compaction estimates them.

Lengths are in UTF-16 units, as in the programs that transcripts are shared with, so that a marker that one of them
wrote tells the same number here. A CJK character counts as four, since it costs a model about a token.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence

from reverie.core.language import CJK
from reverie.sessions.messages import Block, Message, MessageRole

#: What an image counts: in characters when pruning, in tokens when compacting.
IMAGE_CHARS, IMAGE_TOKENS = 8000, 2000
#: A message whose shape is not known, and a tool call whose arguments JSON cannot hold.
_OTHER_CHARS, _CALL_CHARS = 256, 128

_WIDE = re.compile(f"[{CJK}\uff01-\uff60\uffe0-\uffe6]")
_BLOCK_ROLES = frozenset({MessageRole.USER, MessageRole.ASSISTANT, MessageRole.TOOL_RESULT})
_IMAGES = frozenset({"image", "image_url", "input_image"})
_UNFINISHED = frozenset({"aborted", "error"})


# --- UTF-16 ----------------------------------------------------------------------------------------------------


def utf16_length(text: str) -> int:
    """Return the length in UTF-16 units."""
    return len(text) if text.isascii() else len(text) + sum(character > "\uffff" for character in text)


def utf16_head(text: str, units: int) -> str:
    """Return the first so many UTF-16 units; half of a pair is left out."""
    return text[:units] if text.isascii() else _taken(text, units)


def utf16_tail(text: str, units: int) -> str:
    """Return the last so many UTF-16 units; half of a pair is left out."""
    if units <= 0:
        return ""
    return text[-units:] if text.isascii() else _taken(text[::-1], units)[::-1]


def _taken(text: str, units: int) -> str:
    used = 0
    for place, character in enumerate(text[: max(0, units)]):
        used += 2 if character > "\uffff" else 1
        if used > units:
            return text[:place]
    return text[: max(0, units)]


# --- characters ------------------------------------------------------------------------------------------------


def weighted_chars(text: str) -> int:
    """Return the length of a text, in which a CJK character counts four and an emoji two."""
    if text.isascii():
        return len(text)
    wide: list[str] = _WIDE.findall(text)
    return utf16_length(text) - sum(character > "\uffff" for character in wide) + 3 * len(wide)


def has_image(message: Message) -> bool:
    """Say whether a message carries an image."""
    return any(block.type in _IMAGES for block in message.blocks)


def message_chars(message: Message) -> int:
    """Return how many characters of a model's context a message takes."""
    if message.role not in _BLOCK_ROLES:
        return _OTHER_CHARS
    calls = {id(block) for block in message.calls}
    return sum(_call_chars(block) if id(block) in calls else _block_chars(block) for block in message.blocks)


def _block_chars(block: Block) -> int:
    if block.type == "text":
        found = block.data.get("text")
        return weighted_chars(found) if isinstance(found, str) else len(_json(block.data))
    if block.type in _IMAGES:
        return IMAGE_CHARS
    if block.type in ("thinking", "redacted_thinking"):
        names = ["thinking", "thinkingSignature"]
        names += ["data"] if block.type == "redacted_thinking" or block.data.get("redacted") else []
        return sum(weighted_chars(part) for name in names if isinstance(part := block.data.get(name), str))
    return 0


def _call_chars(block: Block) -> int:
    arguments = block.data.get("arguments", block.data.get("input", {}))
    return len(_json(arguments)) or _CALL_CHARS


def _json(value: object) -> str:
    try:
        return json.dumps(dict(value) if isinstance(value, Mapping) else value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return ""


# --- tokens ----------------------------------------------------------------------------------------------------


def text_tokens(text: str) -> int:
    """Return an estimate of the tokens of a text: a quarter of its weighted characters, rounded up."""
    return (weighted_chars(text) + 3) // 4


def message_tokens(message: Message) -> int:
    """Return an estimate of the tokens of a message."""
    if message.role not in _BLOCK_ROLES:
        said = message.text or " ".join(str(message.fields.get(name) or "") for name in ("command", "output"))
        return text_tokens(said)
    images = sum(block.type in _IMAGES for block in message.blocks)
    return (message_chars(message) - images * IMAGE_CHARS + 3) // 4 + images * IMAGE_TOKENS


def context_tokens(messages: Sequence[Message], *, fresh_from: int = 0) -> int:
    """Return the tokens of a context: what the provider last counted, and estimates of what came after it.

    Args:
        messages: the context.
        fresh_from: the first message after the last compaction; an older count includes what is gone since.
    """
    for place in range(len(messages) - 1, fresh_from - 1, -1):
        counted = _counted(messages[place])
        if counted:
            return counted + sum(map(message_tokens, messages[place + 1 :]))
    return total_tokens(messages)


def total_tokens(messages: Iterable[Message]) -> int:
    """Return the estimates of messages, added up."""
    return sum(map(message_tokens, messages))


def _counted(message: Message) -> int:
    """Return what the provider counted up to and with an answer; 0 if it did not say, or broke off."""
    usage = message.fields.get("usage")
    if message.role is not MessageRole.ASSISTANT or not isinstance(usage, Mapping):
        return 0
    if message.fields.get("stopReason") in _UNFINISHED:
        return 0
    total = usage.get("totalTokens")
    if isinstance(total, int) and total > 0:
        return total
    parts = [usage.get(name) for name in ("input", "output", "cacheRead", "cacheWrite")]
    return sum(part for part in parts if isinstance(part, int) and part > 0)
