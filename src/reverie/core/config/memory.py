"""The keys of ``memory``: search, and what Reverie adds to it."""

from __future__ import annotations

from collections.abc import Mapping

from reverie.core.config.compound import ListOf, MapOf
from reverie.core.config.kinds import Choice, Number, Secret, Switch, Text, Whole
from reverie.core.config.section import Part, Section, key, part

#: The embedding providers known by name; ``models.providers.<id>`` and plugins can add others.
PROVIDERS = (
    "bundled", "use", "none", "auto", "openai", "gemini", "voyage", "mistral", "deepinfra", "bedrock",
    "github-copilot", "lmstudio", "ollama", "local", "openai-compatible",
)  # fmt: skip


class ExtraPath(Section):
    """A file or folder beside the workspace that is searched too."""

    path: str = key(Text(), "", "The file or folder; relative to the workspace, `~` is the home folder.")
    pattern: str | None = key(Text(), None, "A glob relative to the folder; without it `**/*.md`.")


class Multimodal(Section):
    """Images and sound files of the extra paths."""

    enabled: bool = key(Switch(), False, "Index images and sound files of `extraPaths`; needs a Gemini model that can.")
    modalities: tuple[str, ...] = key(ListOf(Choice("image", "audio", "all")), (), "Which files; empty means all.")
    max_file_bytes: int = key(Whole(1), 10_485_760, "Larger files are skipped and named.")


class Experimental(Section):
    """Switches whose place may change."""

    session_memory: bool = key(Switch(), False, "Index the transcripts for search.")


class Batch(Section):
    """The provider's batch interface."""

    enabled: bool = key(Switch(), False, "Index by the provider's batch interface (openai, gemini, voyage).")


class Remote(Section):
    """Where a remote embedder is reached."""

    base_url: str | None = key(Text("(?i)https?://.+", "(http or https)"), None, "Another address of the provider.")
    api_key: str | None = key(Secret(), None, "The key; else the provider's environment variable.")
    headers: Mapping[str, str] = key(MapOf(Secret()), {}, "Headers sent along, never shown.")
    batch: Batch = part(Batch)


class Local(Section):
    """A local GGUF model."""

    model_path: str | None = key(Text(), None, "The GGUF file; without it the default model.")


class Fts(Section):
    """The keyword index."""

    tokenizer: str = key(Choice("unicode61", "trigram"), "unicode61", "The tokenizer; CJK text is found with either.")


class Vector(Section):
    """The vector index."""

    enabled: bool = key(Switch(), True, "Use vectors at all.")
    extension_path: str | None = key(Text(), None, "A sqlite-vec library to use instead of the exact search.")


class SearchStore(Section):
    """How the index is kept."""

    fts: Fts = part(Fts)
    vector: Vector = part(Vector)


class Query(Section):
    """What one search returns."""

    max_results: int = key(Whole(1), 6, "How many hits a search returns.")
    min_score: float = key(Number(0, 1), 0.35, "Hits below this score are left out, except to fill free places.")
    min_confidence: float = key(
        Number(0, 1), 0.0, "A search that is less sure of being answered gives no hits and says so (Reverie); 0: never."
    )


class Cache(Section):
    """The cache of embeddings."""

    enabled: bool = key(Switch(), True, "Keep embeddings by content, so that a rebuild need not make them again.")
    max_entries: int = key(Whole(0), 50_000, "How many embeddings are kept; the oldest go first.")


class Chunking(Section):
    """How much of what stands around a line counts for it (Reverie)."""

    tokens: int = key(Whole(32, 8000), 200, "Estimated tokens of the run of lines whose words count for each of them.")
    overlap: int = key(Whole(0, 4000), 100, "How much of a run of lines the next one repeats.")


class Recency(Section):
    """Newer notes first, within a bound (Reverie; choice C10)."""

    enabled: bool = key(Switch(), True, "Let the age of a dated note count.")
    half_life_days: float = key(Number(0.1), 30.0, "After so many days half of the bonus for being new is gone.")
    floor: float = key(Number(0, 1), 0.9, "The factor that the oldest note keeps; 1 turns the decay off.")


class Importance(Section):
    """The importance annotation (Reverie)."""

    enabled: bool = key(Switch(), True, "Let `<!-- importance: N -->` raise and lower entries.")


class Mmr(Section):
    """Diversity of the hits (Reverie)."""

    enabled: bool = key(Switch(), True, "Put hits that repeat each other further down.")
    lambda_: float = key(Number(0, 1), 0.7, "1 is pure relevance, 0 pure diversity.")


class Rerank(Section):
    """A second look at the best hits (Reverie)."""

    mode: str = key(
        Text("[a-z0-9][a-z0-9-]*", "(`none`, `late`, or the name of a plugin's reranker)"),
        "none",
        "What looks again: `late` compares word by word with the bundled embedder; `none` saves the time.",
    )
    candidates: int = key(Whole(3, 200), 24, "How many of the best are looked at again.")
    deadline_ms: int = key(Whole(1, 60_000), 500, "For how long at most; then the order stays as far as it is known.")


class Sync(Section):
    """When the index follows the files (Reverie)."""

    watch: bool = key(Switch(), True, "Watch the memory files while a long-running command is up.")
    watch_debounce_ms: int = key(Whole(0, 600_000), 1500, "How long files must rest before they are indexed.")
    on_search: bool = key(Switch(), True, "Bring the index up before a search answers.")


class Search(Section):
    """``memory.search``, for all agents or for one."""

    enabled: bool = key(Switch(), True, "Search, its tools and the index; false turns all of them off.")
    remember_across_conversations: bool | None = key(
        Switch(),
        None,
        "Let private conversations recall each other; unset: on where `session.dmScope` is main.",
    )
    sources: tuple[str, ...] = key(ListOf(Choice("memory", "sessions")), ("memory",), "What a plain search reads.")
    extra_paths: tuple[ExtraPath, ...] = key(
        ListOf(Part(ExtraPath, "path")), (), "More files and folders to search; the lists of all levels are joined."
    )
    multimodal: Multimodal = part(Multimodal)
    experimental: Experimental = part(Experimental)
    provider: str | None = key(
        Text("[A-Za-z0-9][A-Za-z0-9._-]*", f"({', '.join(PROVIDERS)}, or an id of `models.providers`)"),
        None,
        "The embedder. Unset or `auto`: the bundled one, else keywords. A named one that is down stops search.",
    )
    model: str | None = key(Text(), None, "The embedding model; unset: the provider's default.")
    fallback: str = key(Text(), "none", "One other provider to use when the first fails; `none` for no fallback.")
    remote: Remote = part(Remote)
    input_type: str | None = key(Text(), None, "The provider's input type for queries and documents.")
    query_input_type: str | None = key(Text(), None, "The input type of queries; wins over `inputType`.")
    document_input_type: str | None = key(Text(), None, "The input type of documents; wins over `inputType`.")
    output_dimensionality: int | None = key(Whole(1, 65_536), None, "Width of the vectors; unset: the provider's.")
    local: Local = part(Local)
    store: SearchStore = part(SearchStore)
    query: Query = part(Query)
    cache: Cache = part(Cache)
    chunking: Chunking = part(Chunking)
    recency: Recency = part(Recency)
    importance: Importance = part(Importance)
    mmr: Mmr = part(Mmr)
    rerank: Rerank = part(Rerank)
    sync: Sync = part(Sync)

    @property
    def embedder(self) -> str | None:
        """Return the provider that was named, ``None`` if the choice is left to Reverie."""
        return None if self.provider in (None, "auto") else self.provider


class Memory(Section):
    """``memory``."""

    citations: str = key(
        Choice("auto", "on", "off"), "auto", "Whether hits carry `path#line`; auto: in direct chats only."
    )
    search: Search = part(Search)


class AgentMemory(Section):
    """``agents.entries.<id>.memory``."""

    search: Search = key(Part(Search, same_as="memory.search"), Search.empty(), "")


class Privacy(Section):
    """What is taken out of texts (Reverie)."""

    redact: bool = key(Switch(), True, "Replace keys, tokens and passwords before anything derived is stored.")
