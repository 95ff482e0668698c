"""A whole memory on real files for the tests of this room."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.security.house import House


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House.build(tmp_path)
    yield made
    made.memory.close()
