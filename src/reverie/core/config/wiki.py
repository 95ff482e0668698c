"""The keys of ``plugins.entries.memory-wiki.config``."""

from __future__ import annotations

from reverie.core.config.compound import ListOf
from reverie.core.config.kinds import Choice, Switch, Text, Whole
from reverie.core.config.section import Section, key, part


class WikiVault(Section):
    """The vault."""

    scope: str = key(Choice("global", "agent"), "global", "One vault for all agents, or one for each.")
    path: str | None = key(Text(), None, "Where it is; unset: in the state folder.")
    render_mode: str = key(Choice("native", "obsidian"), "native", "The style of links.")


class WikiBridge(Section):
    """What the wiki reads of memory."""

    enabled: bool = key(Switch(), False, "Read the memory of the agents.")
    read_memory_artifacts: bool = key(Switch(), True, "Read public artifacts.")
    index_dream_reports: bool = key(Switch(), True, "Read dream reports.")
    index_daily_notes: bool = key(Switch(), True, "Read daily notes.")
    index_memory_root: bool = key(Switch(), True, "Read the curated files.")
    follow_memory_events: bool = key(Switch(), True, "Follow memory events.")


class WikiUnsafeLocal(Section):
    """Reading files directly."""

    allow_private_memory_core_access: bool = key(Switch(), False, "Read private memory files.")
    paths: tuple[str, ...] = key(ListOf(Text()), (), "Files and folders to read.")


class WikiIngest(Section):
    """Taking sources in."""

    auto_compile: bool = key(Switch(), True, "Compile after taking in.")
    max_concurrent_jobs: int = key(Whole(1), 1, "How many at once.")
    allow_url_ingest: bool = key(Switch(), True, "Allow addresses as sources.")


class WikiSearch(Section):
    """Searching the wiki."""

    backend: str = key(Choice("shared", "local"), "shared", "Which index answers.")
    corpus: str = key(Choice("wiki", "memory", "all"), "wiki", "What is searched.")


class WikiContext(Section):
    """What of the wiki enters prompts."""

    include_compiled_digest_prompt: bool = key(Switch(), False, "Put the digest into prompts.")


class WikiRender(Section):
    """How pages are written."""

    preserve_human_blocks: bool = key(Switch(), True, "Leave what people wrote.")
    create_backlinks: bool = key(Switch(), True, "Write backlinks.")
    create_dashboards: bool = key(Switch(), True, "Write dashboards.")


class WikiObsidian(Section):
    """Obsidian."""

    enabled: bool = key(Switch(), False, "Write for Obsidian.")
    use_official_cli: bool = key(Switch(), False, "Use its command.")
    open_after_writes: bool = key(Switch(), False, "Open what was written.")
    vault_name: str | None = key(Text(), None, "The name of the vault there.")


class WikiConfig(Section):
    """The memory wiki, for a plugin that fills this place."""

    vault_mode: str = key(Choice("isolated", "bridge", "unsafe-local"), "isolated", "Where the wiki reads from.")
    vault: WikiVault = part(WikiVault)
    bridge: WikiBridge = part(WikiBridge)
    unsafe_local: WikiUnsafeLocal = part(WikiUnsafeLocal)
    ingest: WikiIngest = part(WikiIngest)
    search: WikiSearch = part(WikiSearch)
    context: WikiContext = part(WikiContext)
    render: WikiRender = part(WikiRender)
    obsidian: WikiObsidian = part(WikiObsidian)
