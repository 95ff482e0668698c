"""A breaker: after some failures in a row nothing is tried for a while, so that nobody waits for what is down."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Breaker:
    """Opens after ``failures`` failures in a row and lets one call try again after ``rest`` seconds.

    ``now`` gives seconds that only rise. Safe to use from several threads.
    """

    def __init__(self, now: Callable[[], float], *, failures: int = 3, rest: float = 30.0) -> None:
        self._now = now
        self._failures = failures
        self._rest = rest
        self._lock = threading.Lock()
        self._row = 0
        self._opened: float | None = None

    def waits(self) -> float:
        """Return for how many seconds nothing is tried; 0 where a call may go on.

        A call that may go on after a rest holds the others back until it has ended.
        """
        with self._lock:
            if self._opened is None:
                return 0.0
            left = self._opened + self._rest - self._now()
            if left <= 0:
                self._opened = self._now()
                return 0.0
            return left

    def succeeded(self) -> None:
        """Close again."""
        with self._lock:
            self._row, self._opened = 0, None

    def failed(self) -> None:
        """Count a failure."""
        with self._lock:
            self._row += 1
            if self._row >= self._failures:
                self._opened = self._now()
