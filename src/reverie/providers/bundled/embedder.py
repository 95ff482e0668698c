"""The bundled embedder: text in, unit vectors out, no network.

multilingual-e5-small (Wang et al., 2024): a text gets the prefix "query: " or "passage: ", runs through the
encoder, and its vector is the mean of its tokens' states, scaled to length 1.  Cosines of this model lie close
together (about 0.7 to 0.95), so they rank; they make no absolute threshold.

The same text always gives the same bits on one machine: each text runs alone, on one thread.  Several texts
run side by side, since the runtime releases the interpreter's lock.
"""

import importlib.util
import os
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from reverie.core.errors import EmbedderUnavailable
from reverie.providers.bundled import build, graph, weights
from reverie.providers.bundled.tokenizer import Tokenizer, clean

FloatArray = npt.NDArray[np.float32]

QUERY_PREFIX: Final = "query:"
PASSAGE_PREFIX: Final = "passage:"
"""The words the model was trained to see first; the tokenizer adds the space."""

_NEEDED: Final = ("onnxruntime", "marisa_trie", "onnx", "filelock")
_REMEDY: Final = "pip install 'reverie[local]'"
_MEMO_QUERIES: Final = 256


class BundledEmbedder:
    """multilingual-e5-small in int8.  Safe to share between threads."""

    provider: str = "bundled"
    model: str = "multilingual-e5-small-int8"
    dimension: int = 384

    def __init__(
        self, tokenizer: Tokenizer, session: Any, words: npt.NDArray[np.void], offsets: FloatArray, threads: int
    ) -> None:
        """Takes opened parts; use `open`."""
        self._tokenizer = tokenizer
        self._session = session
        self._words = words
        self._offsets = offsets
        self._threads = max(1, threads)
        self._pool: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()
        self._queries: OrderedDict[str, FloatArray] = OrderedDict()
        prefixes = (QUERY_PREFIX, PASSAGE_PREFIX)
        self._prefix_tokens = {prefix: len(tokenizer.encode("", prefix=prefix)) - 1 for prefix in prefixes}

    @staticmethod
    def available() -> str | None:
        """None if the embedder can be opened, else the reason in one line.  Looks for packages, imports none."""
        if weights.locate() is None:
            return f"package {weights.PACKAGE} is not installed ({_REMEDY})"
        for package in _NEEDED:
            if importlib.util.find_spec(package) is None:
                return f"package {package} is not installed ({_REMEDY})"
        return None

    @classmethod
    def open(cls, cache_root: Path, *, threads: int = 2, progress: build.Progress | None = None) -> "BundledEmbedder":
        """Opens the model from its cache folder under `cache_root`, which is built first if need be.

        Args:
            cache_root: folder for built files; made if missing.
            threads: texts embedded side by side.
            progress: told what a build is doing.

        Raises:
            EmbedderUnavailable: a package is missing, the weight file is not the pinned one, or the cache
                cannot be built or loaded.
        """
        reason = cls.available()
        source = weights.locate()
        if reason is not None or source is None:
            raise EmbedderUnavailable(reason or "the weight file is gone")
        if source.stat().st_size != weights.SIZE:
            raise EmbedderUnavailable(f"{weights.FILE_NAME} of package {weights.PACKAGE} is not the pinned file")
        folder, meta = build.ensure(cache_root, source, progress)
        try:
            return cls._load(folder, meta, source, threads)
        except (EmbedderUnavailable, OSError, RuntimeError, ValueError) as error:
            # Trigger: right sizes, wrong content.  Built files can be made anew, so a bad disk costs seconds.
            if not build.damaged_files(folder):
                raise EmbedderUnavailable(f"the local model does not load: {error}") from error
        build.discard(folder)
        folder, meta = build.ensure(cache_root, source, progress)
        return cls._load(folder, meta, source, threads)

    @classmethod
    def _load(cls, folder: Path, meta: build.Meta, source: Path, threads: int) -> "BundledEmbedder":
        words = np.memmap(
            source,
            dtype=weights.Q4_BLOCK,
            mode="r",
            offset=meta.word_table_offset,
            shape=(meta.word_table_rows, meta.hidden // weights.BLOCK),
        )
        offsets = np.load(folder / build.OFFSETS_NAME, mmap_mode="r")
        tokenizer = Tokenizer.open(folder, bos=meta.bos, eos=meta.eos, unk=meta.unk)
        return cls(tokenizer, _open_session(folder / build.MODEL_NAME), words, offsets, threads)

    def identity(self) -> str:
        """Names all that decides a vector; vectors of different identities must not be compared."""
        return f"{self.provider}/{self.model}/{build.FORMAT}/{QUERY_PREFIX}|{PASSAGE_PREFIX}"

    def embed_query(self, text: str) -> FloatArray:
        """The unit vector (384,) of a question; zeros for a text without content.  Repeats are remembered."""
        cleaned = clean(text)
        with self._lock:
            known = self._queries.get(cleaned)
            if known is not None:
                self._queries.move_to_end(cleaned)
                return known.copy()
        vector = self._vector(cleaned, QUERY_PREFIX)
        with self._lock:
            self._queries[cleaned] = vector
            if len(self._queries) > _MEMO_QUERIES:
                self._queries.popitem(last=False)
        return vector.copy()

    def embed_documents(self, texts: Sequence[str]) -> FloatArray:
        """Unit vectors (n, 384) of passages, in the order given; zeros for a text without content."""
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        alone = len(texts) < 2 or self._threads == 1
        found: Iterable[FloatArray] = map(self._passage, texts) if alone else self._workers().map(self._passage, texts)
        for row, vector in enumerate(found):
            vectors[row] = vector
        return vectors

    def token_states(self, text: str, *, query: bool) -> FloatArray:
        """Unit rows (tokens, 384), one for each piece of the text in its context, for late interaction.

        The prefix and the control pieces take part in the run but get no row.
        """
        prefix = QUERY_PREFIX if query else PASSAGE_PREFIX
        cleaned = clean(text)
        if not cleaned:
            return np.zeros((0, self.dimension), dtype=np.float32)
        states = self._states(cleaned, prefix)[self._prefix_tokens[prefix] : -1]
        lengths = np.linalg.norm(states, axis=1, keepdims=True)
        return np.asarray(states / np.maximum(lengths, np.float32(1e-12)), dtype=np.float32)

    def close(self) -> None:
        """Ends the worker threads.  The embedder stays usable and starts them again when needed."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown()

    def _workers(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="reverie-embed")
            return self._pool

    def _passage(self, text: str) -> FloatArray:
        return self._vector(clean(text), PASSAGE_PREFIX)

    def _vector(self, cleaned: str, prefix: str) -> FloatArray:
        if not cleaned:
            return np.zeros(self.dimension, dtype=np.float32)
        mean = self._states(cleaned, prefix).mean(axis=0)
        return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12), dtype=np.float32)

    def _states(self, cleaned: str, prefix: str) -> FloatArray:
        """The hidden states (tokens, 384) of one text, control pieces and prefix included."""
        ids = self._tokenizer.encode(cleaned, prefix=prefix)
        embedded = weights.expand(self._words[ids]).reshape(len(ids), self.dimension)
        embedded += self._offsets[: len(ids)]
        (states,) = self._session.run(None, {graph.INPUT: embedded[None]})
        return np.asarray(states[0], dtype=np.float32)


def _open_session(model: Path) -> Any:
    """An onnxruntime session that sums in a fixed order (one thread) and sleeps when idle.

    Raises:
        EmbedderUnavailable: the runtime does not load, or refuses the graph.
    """
    try:
        # Trigger: from 1.32 on, loading it starts a telemetry client that writes into the user's home and reports to
        # its maker. Why: no connection happens that the configuration did not name (I12). Outcome: it never starts.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime
    except ImportError as error:
        raise EmbedderUnavailable(f"onnxruntime does not load: {error}") from error
    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # The graph is made of fused operators already; searching for more would only slow the start.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the runtime's errors have no public base class
        raise EmbedderUnavailable(f"onnxruntime refuses the local model: {error}") from error
