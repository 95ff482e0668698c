"""Keeps the cache folder of the bundled embedder: built once, in seconds, then only mapped.

    <cache root>/e5-small-<version>/
        model.onnx      the graph (see `graph`)
        model.weights   its int8 weights
        pieces.marisa   the vocabulary as a trie, control pieces left out
        scores.npy      float32 (pieces,), by the trie's key numbers
        ids.npy         int32 (pieces,), piece ids by the trie's key numbers
        offsets.npy     float32 (positions, hidden): position embedding plus the embedding of type 0
        meta.json       written last: format, source hash, where the word table lies, size and hash of each file

A build works in a sibling folder under a file lock and moves it into place in one step.  A killed build thus
leaves at most a sibling, which the next build removes; two builders at once give one build.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from reverie.core.errors import EmbedderUnavailable
from reverie.providers.bundled import graph, tokenizer, weights

FORMAT: Final = 1
"""Raised whenever a built file or a vector would come out differently."""

FOLDER_NAME: Final = f"e5-small-{FORMAT}"
META_NAME: Final = "meta.json"
MODEL_NAME: Final = "model.onnx"
DATA_NAME: Final = "model.weights"
OFFSETS_NAME: Final = "offsets.npy"
FILES: Final = (
    MODEL_NAME,
    DATA_NAME,
    tokenizer.TRIE_NAME,
    tokenizer.SCORES_NAME,
    tokenizer.IDS_NAME,
    OFFSETS_NAME,
)

_LOCK_SECONDS: Final = 300.0
_TEMPORARY_PREFIX: Final = f".{FOLDER_NAME}-"

Progress = Callable[[str, float], None]
"""Called with what is being done, in a few words, and the part of the build that is behind, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class BuiltFile:
    """What a built file must look like."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Meta:
    """The content of meta.json."""

    format: int
    source_sha256: str
    word_table_offset: int
    word_table_rows: int
    hidden: int
    bos: int
    eos: int
    unk: int
    files: dict[str, BuiltFile]


def read_meta(folder: Path) -> Meta | None:
    """The meta data of a complete and current cache folder; None where a build is needed.

    Looks at sizes only, since hashing 25 MB at each start would cost more than loading them.
    """
    try:
        raw: dict[str, Any] = json.loads((folder / META_NAME).read_text(encoding="utf-8"))
        files = {name: BuiltFile(**file) for name, file in raw.pop("files").items()}
        meta = Meta(**raw, files=files)
        current = meta.format == FORMAT and meta.source_sha256 == weights.SHA256 and set(files) == set(FILES)
        whole = current and all((folder / name).stat().st_size == file.size for name, file in files.items())
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return meta if whole else None


def damaged_files(folder: Path) -> list[str]:
    """Names of built files whose hash is not the recorded one; all of them where the meta data is unusable."""
    meta = read_meta(folder)
    if meta is None:
        return [META_NAME, *FILES]
    return [name for name, file in meta.files.items() if _sha256(folder / name) != file.sha256]


def discard(folder: Path) -> None:
    """Marks a cache folder as unusable, so that the next `ensure` builds it anew."""
    (folder / META_NAME).unlink(missing_ok=True)


def ensure(cache_root: Path, source: Path, progress: Progress | None = None) -> tuple[Path, Meta]:
    """The cache folder for the weight file `source`, built first if it is missing, outdated or incomplete.

    Raises:
        EmbedderUnavailable: the weight file is not the pinned one, the folder cannot be written, a package
            that the build needs is missing, or another process has been building for minutes.
    """
    folder = cache_root / FOLDER_NAME
    meta = read_meta(folder)
    if meta is not None:
        return folder, meta
    try:
        return folder, _build_locked(folder, source, progress or _silent)
    except ImportError as error:
        raise EmbedderUnavailable(f"building the local model needs a package that does not load: {error}") from error
    except OSError as error:
        raise EmbedderUnavailable(f"the local model cannot be built in {cache_root}: {error}") from error


def _build_locked(folder: Path, source: Path, progress: Progress) -> Meta:
    from filelock import FileLock, Timeout

    root = folder.parent
    root.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(root / f"{FOLDER_NAME}.lock", timeout=_LOCK_SECONDS):
            meta = read_meta(folder)
            if meta is not None:
                return meta
            # The lock is ours, so any sibling was left by a build that died.
            for leftover in root.glob(f"{_TEMPORARY_PREFIX}*"):
                shutil.rmtree(leftover, ignore_errors=True)
            return _build_and_swap(folder, source, progress)
    except Timeout as error:
        raise EmbedderUnavailable("another process is still building the local model") from error


def _build_and_swap(folder: Path, source: Path, progress: Progress) -> Meta:
    work = Path(tempfile.mkdtemp(prefix=_TEMPORARY_PREFIX, dir=folder.parent))
    try:
        meta = _build(work, source, progress)
        if folder.exists():
            # A folder that is not empty cannot be replaced, so the outdated one steps aside first.
            folder.rename(work.with_name(f"{work.name}-outdated"))
        work.replace(folder)
        _sync(folder.parent)
    finally:
        for leftover in folder.parent.glob(f"{_TEMPORARY_PREFIX}*"):
            shutil.rmtree(leftover, ignore_errors=True)
    progress("ready", 1.0)
    return meta


def _build(work: Path, source: Path, progress: Progress) -> Meta:
    progress("checking the weight file", 0.0)
    weights.check_hash(source)
    progress("reading the weights", 0.1)
    model = weights.read(source)
    progress("indexing the vocabulary", 0.2)
    _write_vocabulary(work, model)
    positions = model.floats("emb.pos").reshape(model.shape.positions, model.shape.hidden)
    np.save(work / OFFSETS_NAME, positions + model.floats("emb.type")[: model.shape.hidden])
    progress("writing the graph", 0.4)
    graph.write_graph(model, work / MODEL_NAME, DATA_NAME)
    progress("recording", 0.9)
    files: dict[str, BuiltFile] = {}
    for name in FILES:
        _sync(work / name)
        files[name] = BuiltFile((work / name).stat().st_size, _sha256(work / name))
    meta = Meta(
        format=FORMAT,
        source_sha256=weights.SHA256,
        word_table_offset=model.tensors["emb.word"].offset,
        word_table_rows=model.shape.vocabulary,
        hidden=model.shape.hidden,
        bos=model.bos,
        eos=model.eos,
        unk=model.unk,
        files=files,
    )
    (work / META_NAME).write_text(json.dumps(asdict(meta), indent=2), encoding="utf-8")
    _sync(work / META_NAME)
    _sync(work)
    return meta


def _write_vocabulary(work: Path, model: weights.Weights) -> None:
    import marisa_trie

    # "<mask>" is the last piece; the other control pieces lead.
    control = {"<s>", "<pad>", "</s>", "<unk>", "<mask>"}
    by_piece = {piece: number for number, piece in enumerate(model.pieces) if piece not in control}
    trie = marisa_trie.Trie(by_piece)
    ids = np.empty(len(by_piece), dtype=np.int32)
    for piece, key in trie.items():
        ids[key] = by_piece[piece]
    trie.save(str(work / tokenizer.TRIE_NAME))
    np.save(work / tokenizer.IDS_NAME, ids)
    np.save(work / tokenizer.SCORES_NAME, model.scores[ids])


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    """Asks the system to put a file or folder on disk; systems that cannot open a folder are left alone."""
    if path.is_dir() and os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _silent(_what: str, _part: float) -> None:
    """Reports to nobody."""
