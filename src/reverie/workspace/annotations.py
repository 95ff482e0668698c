"""The trailing comments of an entry: read by rule, written so that they read back the same, stripped for readers.

``<!-- trigger: a, b; c -->``, ``<!-- importance: 7 -->``, ``<!-- project: host/owner/repo; path:/x -->``,
``<!-- review: 2026-12-01 -->`` and ``<!-- key: home.city -->``. Names are read in any case. Except for ``project``,
which counts anywhere in an entry, a comment counts only on a line that ends with ``-->``. What stands in code is
never metadata. An invalid value is ignored; an invalid project marks the entry, which then stays out of every
automatic path.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from reverie.core.errors import UsageError
from reverie.core.types import Annotations
from reverie.workspace.inline import Comment, comments
from reverie.workspace.scanner import scan

#: The fields of :class:`~reverie.core.types.Annotations` that are written, in this order, and the comment of each.
FIELDS = {"triggers": "trigger", "importance": "importance", "project": "project", "review": "review", "key": "key"}

_COMMENT_NAMES = frozenset(FIELDS.values())
_FIELD = re.compile(r"([A-Za-z]+)[ \t\r\n]*:(.*)", re.DOTALL)
_PROJECT = re.compile(r"[ \t\r\n]*project\b", re.IGNORECASE)
_MARKER = re.compile(r"(?:openclaw|reverie)-memory-(promotion|lineage):(\S{1,1000})")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_UNWRITABLE = re.compile("[<>`\x00-\x1f\x7f\ud800-\udfff]+")


class Status(StrEnum):
    """Whether a directive of USER.md holds."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True)
class Found:
    """One annotation comment that counts: its name in lower case, its raw value, its place."""

    name: str
    value: str
    comment: Comment


def find_annotations(text: str) -> list[Found]:
    """Return the annotation comments of an entry's text that count, valid or not, in order."""
    if "<!--" not in text:
        return []
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    marked = [line.rstrip().endswith("-->") for line in text.split("\n")]
    found = []
    for comment in comments(text)[0]:
        field = _FIELD.fullmatch(comment.body)
        name = field[1].lower() if field else ""
        if field is None or name not in _COMMENT_NAMES:
            continue
        whole = "\n" not in text[comment.start : comment.end]
        if name == "project" or (whole and marked[bisect_right(starts, comment.start) - 1]):
            found.append(Found(name, field[2].strip(), comment))
    return found


def parse_annotations(text: str) -> Annotations:
    """Return what the annotations of an entry's text say; code lines must be blanked out by the caller."""
    found = find_annotations(text)
    values: dict[str, list[str]] = {name: [] for name in _COMMENT_NAMES}
    for one in found:
        values[one.name].append(one.value)
    keys = [_project_key(key) for value in values["project"] for key in value.split(";")]
    invalid = None in keys or ("<!--" in text and _has_malformed_project(text))
    return Annotations(
        triggers=_unique(_triggers(values["trigger"])),
        importance=max((int(value) for value in values["importance"] if _is_importance(value)), default=None),
        project=() if invalid else _unique(key for key in keys if key is not None),
        invalid_project=invalid,
        review=min((value for value in values["review"] if _is_day(value)), default=None),
        key=next((value for value in values["key"] if value), None),
    )


def format_annotation(field: str, value: object) -> str:
    """Return the comment for one field of ``Annotations``, or ``""`` where there is nothing to say.

    What cannot stand in such a comment is taken out of triggers and keys, and percent-encoded in project keys.

    Raises:
        UsageError: an importance outside 1..10, or a review date that is none.
    """
    if value is None or value == ():
        return ""
    if field == "triggers":
        text = ", ".join(_unique(_triggers(_UNWRITABLE.sub(" ", one) for one in _strings(value))))
    elif field == "importance":
        text = str(value)
        if not _is_importance(text):
            raise UsageError("Importance is a whole number from 1 to 10", importance=text)
    elif field == "project":
        text = "; ".join(_unique(_encoded(key) for key in _strings(value)))
    elif field == "review":
        text = str(value)
        if not _is_day(text):
            raise UsageError("A review date is written YYYY-MM-DD", review=text)
    elif field == "key":
        text = " ".join(_UNWRITABLE.sub(" ", str(value)).split())
    else:
        raise UsageError("There is no such annotation", name=field)
    return f"<!-- {FIELDS[field]}: {text} -->" if text else ""


def format_annotations(annotations: Annotations) -> str:
    """Return the trailing comments for an entry, one blank between them, ``""`` if there are none."""
    written = (format_annotation(field, getattr(annotations, field)) for field in FIELDS)
    return " ".join(comment for comment in written if comment)


def parse_marker(line: str) -> tuple[str, str] | None:
    """Return ``("promotion" | "lineage", key)`` of a line that holds nothing but such a marker."""
    match = _MARKER.fullmatch(_lone_comment(line))
    return (match[1], match[2]) if match else None


def parse_metadata(line: str) -> tuple[date | None, Status] | None:
    """Return the day and status of a line such as ``<!-- observed: 2026-10-02 | status: active -->``, else ``None``."""
    body = _lone_comment(line)
    parts = [part.partition(":") for part in body.split("|")]
    fields = {name.strip().lower(): value.strip() for name, colon, value in parts if colon}
    if not fields or len(fields) != len(parts) or not fields.keys() <= {"observed", "status"}:
        return None
    try:
        status = Status(fields.get("status", "active").lower())
    except ValueError:
        return None
    observed = fields.get("observed", "")
    return (date.fromisoformat(observed) if _is_day(observed) else None), status


def format_metadata(observed: date | None, status: Status) -> str:
    """Return the metadata line of a directive."""
    day = f"observed: {observed.isoformat()} | " if observed else ""
    return f"<!-- {day}status: {status} -->"


def strip_line(line: str) -> str | None:
    """Return a line that is no code without its annotation comments; ``None`` if nothing else stood there.

    Only well-formed comments go: an invalid value stays for a person to see, and so does every other comment.
    """
    if "<!--" not in line:
        return line
    if parse_marker(line) or parse_metadata(line):
        return None
    kept, at = "", 0
    for comment in comments(line)[0]:
        if _is_well_formed(comment.body):
            kept += line[at : comment.start].rstrip(" \t")
            at = comment.end
    if not at:
        return line
    kept += line[at:]
    return kept if kept.strip() else None


def strip_annotations(text: str) -> str:
    """Return the text without annotation comments, promotion and lineage markers and directive metadata.

    Fenced and inline code is left alone; a line that held nothing else goes.
    """
    if "<!--" not in text:
        return text
    document = scan(text)
    kept = ["\ufeff"] if document.bom else []
    for line in document.lines:
        bare = line.text if line.code else strip_line(line.text)
        if bare is not None:
            kept.append(bare + line.ending)
    return "".join(kept)


def _lone_comment(line: str) -> str:
    bare = line.strip(" \t")
    whole = bare.startswith("<!--") and bare.endswith("-->") and bare.find("-->") == len(bare) - 3 and len(bare) >= 7
    return bare[4:-3].strip() if whole else ""


def _is_well_formed(body: str) -> bool:
    field = _FIELD.fullmatch(body)
    if field is None:
        return False
    name, value = field[1].lower(), field[2].strip()
    if name == "importance":
        return _is_importance(value)
    if name == "project":
        return None not in [_project_key(key) for key in value.split(";")]
    if name == "review":
        return _is_day(value)
    return name == "trigger" or (name == "key" and bool(value))


def _has_malformed_project(text: str) -> bool:
    closed, loose = comments(text)
    return any(_PROJECT.match(text, place + 4) for place in loose) or any(
        _PROJECT.match(one.body) and not _FIELD.fullmatch(one.body) for one in closed
    )


def _project_key(raw: str) -> str | None:
    key = raw.strip()
    if not key or re.search(r"[\r\n<>]", key):
        return None
    if key.startswith("path:"):
        return key
    host, slash, rest = key.partition("/")
    return host.lower() + slash + rest


def _encoded(key: str) -> str:
    return re.sub("[;<>`\x00-\x1f\x7f\ud800-\udfff]", lambda found: f"%{ord(found[0]):02x}", key.strip())


def _triggers(values: Iterable[str]) -> list[str]:
    return [phrase for value in values for one in re.split("[,;]", value) if (phrase := " ".join(one.split()))]


def _strings(value: object) -> Sequence[str]:
    return [str(one) for one in value] if isinstance(value, Iterable) and not isinstance(value, str) else [str(value)]


def _is_importance(value: str) -> bool:
    return value.isascii() and value.isdigit() and len(value) <= 2 and 1 <= int(value) <= 10


def _is_day(value: str) -> bool:
    if not _DAY.fullmatch(value):
        return False
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
