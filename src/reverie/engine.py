"""``memory-core``, the built-in engine: keeps the index beside the files and answers searches from it.

It enters the memory slot through the hook in :mod:`reverie.plugins`, as any other engine would. It owns no truth:
everything it holds can be rebuilt from the sources that it is given.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from reverie.context import LegacyContext
from reverie.core.errors import EmbedderUnavailable, ReverieError
from reverie.core.queries import Reranker
from reverie.core.types import Embedder, EngineStatus, Passage, Progress, SearchRequest, SearchResult, SyncReport
from reverie.index.identity import Chunking
from reverie.index.index import Index
from reverie.index.sync import SyncBudget
from reverie.plugins import DEFAULT_CONTEXT, DEFAULT_ENGINE, ContextFactory, EngineContext, EngineFactory, hookimpl
from reverie.recall.ranking import RankingSettings
from reverie.recall.rerank import LateInteraction, Reranking, TokenStates
from reverie.recall.search import Searcher

if TYPE_CHECKING:
    from reverie.core.types import Vector

#: What a search may catch up on before it answers; the rest is said to be pending (choice C24). A note written a
#: moment ago fits; a folder of thousands of new files does not, and must not hold up an answer.
REFRESH = SyncBudget(max_files=64, max_embed=64, deadline_seconds=1.0)
#: Edits made outside are looked for at most this often, in seconds; our own writes are seen by the next search at once.
LOOK_EVERY = 0.5
#: How many vectors of questions are kept.
QUERIES_KEPT = 256
#: The reranker that is built in.
LATE = "late"


class CoreEngine:
    """The built-in memory engine of one agent."""

    name = DEFAULT_ENGINE
    capabilities = frozenset({"search", "sessions", "provenance", "dreaming"})

    def __init__(self, context: EngineContext) -> None:
        self._context = context
        self._lock = threading.RLock()
        self._index: Index | None = None
        self._embedder: Embedder | None = None
        self._no_embedder = ""
        self._reranks: Reranker | None = None
        self._asked: dict[tuple[str, str], Vector] = {}
        self._tried = False
        self._looked = float("-inf")
        self._last = SyncReport()

    # --- the verbs ---

    def search(self, request: SearchRequest) -> SearchResult:
        """Catch up on what is new, within bounds, then search. Failures of the model leave keyword search."""
        with self._lock:
            index = self._open()
            embed, blocked, notices = self._query_embedder(index)
            if blocked:
                return SearchResult(mode="unavailable", notices=(blocked,))
            report = self._refresh(index)
            reranking = self._reranker(embed is not None, notices)
            model = self._embedder.model if embed is not None and self._embedder is not None else ""
            searcher = Searcher(index, self._ranking(), self._context.clock, embed, reranking, model)
            found = searcher.search(request)
            notices += list(report.notices)
            if report.pending:
                notices.append(f"the index is behind by {report.pending} files; run `reverie index`")
            notices += index.notices()
            stale = report.pending > 0
            return replace(found, stale=stale, notices=tuple(dict.fromkeys([*notices, *found.notices])))

    def touched(self) -> None:
        """Look at the files before the next search: something was just written."""
        self._looked = float("-inf")

    def get(self, path: str, from_line: int = 1, lines: int | None = None) -> Passage:
        """Read lines of a memory file."""
        return self._context.read_lines(path, from_line, lines)

    def sync(
        self,
        *,
        force: bool = False,
        only: Iterable[str] | None = None,
        progress: Progress | None = None,
    ) -> SyncReport:
        """Bring the index up to the files, whatever it takes."""
        with self._lock:
            index = self._open()
            self._ensure_embedder(index)
            return index.sync(self._context.sources, force=force, only=only, progress=progress)

    def status(self, *, deep: bool = False) -> EngineStatus:
        """Return the state of the index; ``deep`` opens the embedder and embeds a word."""
        with self._lock:
            index = self._open()
            notices = index.notices()
            if deep:
                self._ensure_embedder(index)
                notices += self._probe()
            counts = index.counts()
            search = self._context.config.search
            provider = self._embedder.provider if self._embedder else (search.provider or "bundled")
            return EngineStatus(
                engine=self.name,
                provider=provider,
                model=self._embedder.model if self._embedder else index.model(),
                mode="hybrid" if counts.vectors else "keyword",
                files=counts.files,
                chunks=counts.chunks,
                vectors=counts.vectors,
                pending=counts.pending,
                size_bytes=index.size_bytes,
                mismatch=index.mismatch(),
                skipped=index.skipped(),
                notices=tuple(dict.fromkeys(notices)),
                capabilities=self.capabilities,
            )

    def close(self) -> None:
        """Close the index and the embedder."""
        with self._lock:
            if self._index is not None:
                self._index.close()
            if self._embedder is not None:
                self._embedder.close()
            self._index = self._embedder = None
            self._tried = False

    # --- parts, opened on first use ------------------------------------------------------------------------------

    def _open(self) -> Index:
        if self._index is None:
            cut = self._context.config.search.chunking
            self._index = Index.open(
                self._context.paths.agent(self._context.agent),
                self._context.clock,
                chunking=Chunking(cut.tokens, cut.overlap),
            )
        return self._index

    def _refresh(self, index: Index) -> SyncReport:
        """Catch up within bounds, unless the files were looked at a moment ago; returns what the last look found."""
        now = time.monotonic()
        if now - self._looked >= LOOK_EVERY or self._last.pending:
            self._last = index.sync(self._context.sources, budget=REFRESH)
            self._looked = now
        return self._last

    def _ensure_embedder(self, index: Index) -> None:
        """Open the embedder once; remember why there is none."""
        if self._tried:
            return
        self._tried = True
        if self._context.config.search.provider == "none":
            self._no_embedder = "keyword only: the embedding provider is set to none"
            return
        try:
            self._embedder = self._context.open_embedder()
            index.use_embedder(self._embedder)
        except EmbedderUnavailable as error:
            self._no_embedder = f"keyword only: {error.reason}"

    def _query_embedder(self, index: Index) -> tuple[Callable[[str], Vector] | None, str, list[str]]:
        """Return how to embed the query, why the search is blocked (if it is), and what must be said.

        A provider that the owner named and that is down blocks the search: silently answering by other means would
        hide the failure (choice C11). Without a named one, keywords answer and say so.
        """
        self._ensure_embedder(index)
        if self._embedder is not None:
            if index.mismatch():
                return None, "", [f"keyword only: {text}" for text in index.mismatch()]
            return partial(self._embed_query, self._embedder), "", []
        named = self._context.config.search.provider
        if named and named != "none":
            reason = self._no_embedder.removeprefix("keyword only: ")
            return None, f"the embedding provider {named} is unavailable: {reason}", []
        return None, "", [self._no_embedder] if self._no_embedder else []

    def _embed_query(self, embedder: Embedder, text: str) -> Vector:
        """Return the vector of a question; the last ones are kept, since an agent asks the same again."""
        key = (embedder.identity(), text)
        if key not in self._asked:
            vector = embedder.embed_query(text)
            if len(self._asked) >= QUERIES_KEPT:
                del self._asked[next(iter(self._asked))]
            self._asked[key] = vector
        return self._asked[key]

    def _probe(self) -> list[str]:
        if self._embedder is None:
            return [self._no_embedder]
        try:
            self._embedder.embed_query("ping")
        except ReverieError as error:
            return [f"the embedder does not answer: {error}"]
        return []

    def _reranker(self, embedding: bool, notices: list[str]) -> Reranking | None:
        """Return what looks at the best hits again; one that cannot be had is said so, and the order stays."""
        wanted = self._context.config.search.rerank
        if wanted.mode == "none":
            return None
        if self._reranks is None:
            if wanted.mode == LATE:
                embedder: object = self._embedder
                if not embedding or not isinstance(embedder, TokenStates):
                    notices.append("not reranked: `late` needs the bundled embedder")
                    return None
                self._reranks = LateInteraction(embedder)
            else:
                try:
                    self._reranks = self._context.open_reranker(wanted.mode)
                except ReverieError as error:
                    notices.append(f"not reranked: {error}")
                    return None
        return Reranking(self._reranks, wanted.candidates, wanted.deadline_ms)

    def _ranking(self) -> RankingSettings:
        search = self._context.config.search
        return RankingSettings(
            recency=search.recency.enabled,
            recency_half_life_days=search.recency.half_life_days,
            recency_floor=search.recency.floor,
            importance=search.importance.enabled,
            mmr=search.mmr.enabled,
            mmr_lambda=search.mmr.lambda_,
        )


@hookimpl
def reverie_memory_engines() -> Mapping[str, EngineFactory]:
    """Provide the built-in engine."""
    return {DEFAULT_ENGINE: CoreEngine}


@hookimpl
def reverie_context_engines() -> Mapping[str, ContextFactory]:
    """Provide the built-in context engine."""
    return {DEFAULT_CONTEXT: LegacyContext}
