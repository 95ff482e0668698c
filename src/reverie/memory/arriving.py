"""What comes in from elsewhere: notes, and what other programs kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from reverie.assembly import Parts
from reverie.imports.chatgpt import import_chatgpt
from reverie.imports.claude_code import import_claude_code
from reverie.imports.codex import import_codex
from reverie.imports.openclaw.importing import OpenClawReport as OpenClawReport
from reverie.imports.openclaw.importing import Wish, import_openclaw
from reverie.imports.report import TranscriptReport as TranscriptReport
from reverie.writing.importing import ImportReport, import_markdown


class Arriving:
    """The verbs that bring something in."""

    _parts: Parts

    def import_markdown(self, source: Path | str) -> ImportReport:
        """Copy Markdown files into ``memory/imports/markdown``; the source is never changed.

        Raises:
            ImportRefused: there is nothing to import there.
        """
        report = import_markdown(self._parts.writer, Path(source))
        self._parts.engine.touched()
        return report

    def import_openclaw(
        self,
        source: Path | str,
        *,
        agent: str = "",
        mine: bool = False,
        dry_run: bool = False,
        apply_config: bool = False,
    ) -> OpenClawReport:
        """Import one agent of OpenClaw: its notes, its sessions of both storage generations, its settings to look at.

        Args:
            source: its state folder (usually ``~/.openclaw``), or a workspace alone; nothing there is changed.
            agent: the agent to read, if not the one that OpenClaw uses when none is named.
            mine: the owner vouches for the notes, and for what was said in private chats; recorded with each.
            dry_run: only say what would come in.
            apply_config: set in our configuration what of its settings means the same here.

        Raises:
            ImportRefused: there is nothing to import there.
        """
        parts, wish = self._parts, Wish(agent, mine, dry_run, apply_config)
        path = Path(source).expanduser()
        report = import_openclaw(parts.arrivals, parts.notebook, path, wish, parts.paths, parts.whole.source)
        parts.engine.touched()
        return report

    def import_claude_code(self, source: Path | str, *, mine: bool = False, dry_run: bool = False) -> TranscriptReport:
        """Import conversations of Claude Code (``~/.claude``, one project, or one file) as sessions.

        Without ``mine``, the owner's recorded word that the user in them was the owner, all of it is untrusted.

        Raises:
            ImportRefused: there is nothing to import there.
        """
        return self._conversations(import_claude_code, source, mine, dry_run)

    def import_codex(self, source: Path | str, *, mine: bool = False, dry_run: bool = False) -> TranscriptReport:
        """Import conversations of Codex (``~/.codex``, or one rollout file); as :meth:`import_claude_code`."""
        return self._conversations(import_codex, source, mine, dry_run)

    def import_chatgpt(self, source: Path | str, *, mine: bool = False, dry_run: bool = False) -> TranscriptReport:
        """Import ChatGPT's data export (the ZIP, or ``conversations.json``); as :meth:`import_claude_code`."""
        return self._conversations(import_chatgpt, source, mine, dry_run)

    def _conversations(
        self, bring_in: Callable[..., TranscriptReport], source: Path | str, mine: bool, dry_run: bool
    ) -> TranscriptReport:
        report = bring_in(self._parts.arrivals, Path(source).expanduser(), mine=mine, dry_run=dry_run)
        self._parts.engine.touched()
        return report
