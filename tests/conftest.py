"""Settings for every test: property tests have no deadline, since shared machines are slow at times."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("reverie", deadline=None, max_examples=60)
settings.load_profile("reverie")
