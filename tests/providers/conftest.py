"""The bundled model, built once for the whole test session into a temporary folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie.providers.bundled.embedder import BundledEmbedder


@pytest.fixture(scope="session")
def bundled_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache root with a finished build."""
    reason = BundledEmbedder.available()
    if reason is not None:
        pytest.skip(reason)
    root = tmp_path_factory.mktemp("model-cache")
    BundledEmbedder.open(root).close()
    return root


@pytest.fixture(scope="session")
def bundled_embedder(bundled_root: Path) -> Iterator[BundledEmbedder]:
    """An open embedder on the finished build."""
    embedder = BundledEmbedder.open(bundled_root)
    yield embedder
    embedder.close()
