"""Whose word each line of a file in the workspace is: the pure rule of the store, given the files around it."""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping, Sequence
from datetime import datetime

from reverie.store.durable import DurableStore
from reverie.store.lines import Act, FileTrust, judge


class LineJudge:
    """Judges lines of workspace files. What it knows of other files is as old as the last :meth:`refresh`."""

    def __init__(self, durable: DurableStore) -> None:
        self._durable = durable
        self._known: tuple[object, ...] | None = None
        self._lines: dict[str, frozenset[str]] = {}
        self._homes: dict[str, set[str]] = {}
        self._confined: dict[str, set[str]] = {}

    def judge(
        self,
        relative: str,
        lines: Sequence[str],
        *,
        observed_at: datetime | None = None,
        more: Sequence[Act] = (),
    ) -> FileTrust:
        """Return the provenance of each line of a file and whether the file as a whole is lowered.

        Args:
            relative: The path in the workspace, with ``/``.
            lines: The lines as they stand, without endings.
            observed_at: The moment for handwritten lines, usually when the file changed.
            more: Acts to be taken for done although they are not recorded, to see what they would change.
        """
        if self._known is None:
            self.refresh()
        strays, confined = (_Elsewhere(homes, relative) for homes in (self._homes, self._confined))
        history = [*self._durable.history(relative), *more]
        return judge(relative, lines, history, strays=strays, confined=confined, observed_at=observed_at)

    def doubtful(self) -> list[str]:
        """Return the files to which something untrusted was ever written."""
        return self._durable.doubtful_paths()

    def strays(self, relative: str) -> dict[str, frozenset[str]]:
        """Return the hashes of lines that were written as untrusted, by the file that they were written to."""
        if self._known is None:
            self.refresh()
        return {path: lines for path, lines in self._lines.items() if path != relative}

    def refresh(self) -> None:
        """Look again for what was written as untrusted. Call it before a round of judgements.

        It costs one small query while nothing was recorded since the last look.
        """
        stamp = self._durable.stamp()
        if self._known == stamp:
            return
        self._lines = self._durable.untrusted_lines()
        self._homes = _homes(self._lines)
        self._confined = _homes(self._durable.confined_lines())
        self._known = stamp


def _homes(lines: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
    """Return the files of each line."""
    homes: dict[str, set[str]] = {}
    for path, hashes in lines.items():
        for line in hashes:
            homes.setdefault(line, set()).add(path)
    return homes


class _Elsewhere(Container[str]):
    """The lines that were written in one way to any file but one."""

    def __init__(self, homes: Mapping[str, Collection[str]], relative: str) -> None:
        self._homes = homes
        self._relative = relative

    def __contains__(self, line: object) -> bool:
        """Say whether a line, given by its hash, was."""
        homes = self._homes.get(line, ()) if isinstance(line, str) else ()
        return len(homes) > 1 or (len(homes) == 1 and self._relative not in homes)
