"""What of memory a turn may see when it asks: everything in the owner's private chats, less anywhere else.

A group, a channel, and the direct chat of somebody else than the owner see notes, but neither the curated files, which
are the owner's, nor a line that was written in another conversation: what one person told stays between them and the
agent (invariant I4).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reverie.core.errors import FileUnreadable, PathNotAllowed
from reverie.core.types import Corpus, Hit, Passage, Provenance
from reverie.recall.snippets import SNIPPET_CHARS
from reverie.workspace.paths import is_curated

_WITHHELD = "[a line of another conversation was left out]"


@dataclass(frozen=True, slots=True)
class Sight:
    """The sight of one turn.

    ``private`` says that nobody but the owner reads along; ``sessions`` are those of its own conversation. Of each line
    of a memory file as it stands, ``classes`` gives the provenance, and ``homes`` the sessions that it was written in.
    The latter stays what it is when the owner vouches for a line: that makes it true, not public.
    """

    private: bool
    sessions: frozenset[str]
    classes: Callable[[str], Sequence[Provenance]]
    homes: Callable[[str], Sequence[frozenset[str]]]

    def check(self, path: str) -> None:
        """Raise ``PathNotAllowed`` if this turn may not read the file at all."""
        if not self.private and is_curated(path):
            raise PathNotAllowed("Curated memory is read in the owner's private chats only", path=path)

    def of_hit(self, hit: Hit) -> Hit | None:
        """Return the hit as this turn may see it, or ``None``. Sessions are bounded by the search itself."""
        if self.private or hit.corpus is Corpus.SESSIONS:
            return hit
        if is_curated(hit.path):
            return None
        homes = self.homes(hit.path)[hit.start_line - 1 : hit.end_line]
        if homes and all(self._sees(one) for one in homes):
            return hit
        lines = hit.snippet.split("\n")
        if len(lines) != len(homes):
            # Which line of the snippet is whose cannot be told any more.
            return None
        shown = [line for line, one in zip(lines, homes, strict=True) if self._sees(one)]
        text = "\n".join(shown).strip()
        return replace(hit, snippet=text[:SNIPPET_CHARS]) if text else None

    def of_passage(self, passage: Passage) -> tuple[str, Sequence[Provenance]]:
        """Return the text of a passage as this turn may see it, and where the lines that are shown come from.

        Raises:
            FileUnreadable: whose lines these are cannot be told.
        """
        if passage.lines == 0:
            return passage.text, ()
        window = slice(passage.from_line - 1, passage.from_line - 1 + passage.lines)
        born = self.classes(passage.path)[window]
        if len(born) < passage.lines:
            raise FileUnreadable("The file changed while it was read", path=passage.path, reason="changed")
        if self.private:
            return passage.text, born
        homes = [self._sees(one) for one in self.homes(passage.path)[window]]
        lines = passage.text.split("\n")
        kept = [line if seen else _WITHHELD for line, seen in zip(lines, homes, strict=False)]
        shown = [one for one, seen in zip(born, homes, strict=True) if seen]
        return "\n".join([*kept, *lines[len(kept) :]]), shown

    def _sees(self, homes: frozenset[str]) -> bool:
        return not homes or bool(homes & self.sessions)
