"""Remembering: an entry of a curated file, once, in the right file, in the place of what it supersedes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from reverie.core.clock import today
from reverie.core.errors import WriteRefused
from reverie.core.language import normal
from reverie.core.provenance import CONFINED, is_trusted, lowered
from reverie.core.text import collapse
from reverie.core.types import Annotations, Clock, Provenance, SourceClass, Written
from reverie.workspace import paths
from reverie.workspace.markdown import Entry, Status, directives, scan
from reverie.workspace.notes import Edit, Workspace
from reverie.workspace.wording import entry_text
from reverie.writing.recorded import RecordedFiles
from reverie.writing.routing import route

_SUPERSEDED = "Superseded"
_ENDS = " .!。！"


class Curation:
    """Writes entries of curated files; ``budgets`` are the most characters a file may come to by our hand."""

    def __init__(self, files: RecordedFiles, clock: Clock, budgets: Mapping[str, int]) -> None:
        self._files = files
        self._clock = clock
        self._budgets = budgets

    def remember(
        self,
        text: str,
        provenance: Provenance,
        *,
        target: str | None = None,
        key: str | None = None,
        importance: int | None = None,
        triggers: Sequence[str] = (),
        tool: str = "remember",
    ) -> Written:
        """See :meth:`reverie.writing.writer.RecordedWriter.remember`."""
        if not is_trusted(provenance.origin):
            told = self._files.note(text, provenance, today(self._clock), tool=tool)
            return replace(told, note="not said by the owner, so it went to the note of the day, out of curated memory")
        if provenance.kind in CONFINED:
            told = self._files.note(text, provenance, today(self._clock), tool=tool)
            why = f"said in a session of kind {provenance.kind}"
            return replace(told, note=f"{why}, so it went to the note of the day, out of curated memory")
        chosen = route(text)
        path, why = (chosen.target, chosen.why) if target is None else (target, f"{target} was asked for")
        wording = chosen.text if paths.is_user_model(path) else text
        annotations = Annotations(triggers=tuple(triggers), importance=importance, key=key)
        with self._files.locked(path):
            for place in dict.fromkeys((path, *paths.CURATED)):
                if standing := self._standing(place, wording):
                    return self._already(place, standing)
            older = self._with_key(path, key) if key else None
            try:
                if older is not None:
                    return self._supersede(path, older, wording, annotations, provenance, why=why, tool=tool)
                return self._append(path, wording, annotations, provenance, why=why, tool=tool)
            except WriteRefused as refusal:
                if "budget" not in refusal.fields:
                    raise
        told = self._files.note(text, provenance, today(self._clock), tool=tool)
        return replace(told, note=f"{path} is full, so it went to the note of the day")

    def _append(
        self, path: str, text: str, annotations: Annotations, provenance: Provenance, *, why: str, tool: str
    ) -> Written:
        def act(workspace: Workspace) -> Edit:
            return workspace.append_entry(
                path, text, annotations, observed=today(self._clock), max_chars=self._budgets.get(path)
            )

        return self._files.write(path, replace(provenance, key=annotations.key), act, tool=tool, reason=why, note=why)

    def _supersede(
        self,
        path: str,
        older: Entry,
        text: str,
        annotations: Annotations,
        provenance: Provenance,
        *,
        why: str,
        tool: str,
    ) -> Written:
        held = self._judged(path, older)
        if _outranks(held, provenance):
            told = self._files.note(text, provenance, today(self._clock), tool=tool)
            where = f"{path}, line {older.start_line}"
            return replace(told, note=f"the owner said otherwise later ({where}), so it went to the note of the day")
        budget = self._budgets.get(path)

        def act(workspace: Workspace) -> Edit:
            if paths.is_user_model(path):
                return workspace.mark_superseded(path, older, text, today(self._clock), annotations, max_chars=budget)
            given = {"triggers": annotations.triggers, "importance": annotations.importance}
            changes = {name: value for name, value in given.items() if value}
            return workspace.replace_entry(path, older, text=text, annotations=changes, max_chars=budget)

        note = f"{why}, in the place of an older one with the key {annotations.key}"
        if not paths.is_user_model(path):
            # The older fact stays readable, as who said it; the note is written first, so that no kill loses it.
            gone = "- " + older.text.replace("\n", "\n  ")
            self._files.note(
                gone,
                lowered(held, provenance.origin),
                today(self._clock),
                heading=_SUPERSEDED,
                tool=tool,
                reason=note,
            )
        return self._files.write(path, replace(provenance, key=annotations.key), act, tool=tool, reason=note, note=note)

    def _entries(self, path: str) -> list[Entry]:
        """Return the entries of a curated file that hold; superseded directives do not."""
        found = self._files.read(path)
        document = scan("" if found is None else found.exact)
        return [one.entry for one in directives(document) if one.status is Status.ACTIVE]

    def _standing(self, path: str, text: str) -> Entry | None:
        wanted = _plain(entry_text(text))
        return next((entry for entry in self._entries(path) if _plain(entry.text) == wanted), None)

    def _with_key(self, path: str, key: str) -> Entry | None:
        """Return the last entry that holds with this key."""
        wanted = _plain(key)
        found = [entry for entry in self._entries(path) if _plain(entry.annotations.key or "") == wanted]
        return found[-1] if found else None

    def _already(self, path: str, entry: Entry) -> Written:
        origin = self._judged(path, entry).origin
        note = "it stands there already; nothing was written"
        if not is_trusted(origin):
            lines = f"{entry.start_line}-{entry.end_line}"
            note += f", but it counts as {origin} until `reverie trust {path} --lines {lines}`"
        return Written(path, entry.start_line, entry.end_line, "", origin, note)

    def _judged(self, path: str, entry: Entry) -> Provenance:
        judged = self._files.judge.judge(path, self._files.lines(path)).lines
        return judged[entry.start_line - 1]


def _plain(text: str) -> str:
    """Return the text as it is compared: case, width, spaces and the full stop do not count."""
    return collapse(normal(text)).rstrip(_ENDS)


def _outranks(held: Provenance, new: Provenance) -> bool:
    """Say whether what is held may not be superseded: the owner said it later than somebody else said the new."""
    if held.origin is not SourceClass.OWNER or new.origin is SourceClass.OWNER:
        return False
    return held.observed_at is not None and new.observed_at is not None and held.observed_at > new.observed_at
