"""One HTTP client for all providers: a deadline, retries that the provider asked for, a breaker, and plain errors.

Redirects are not followed and the environment names no proxy: a request goes to the configured address or nowhere.
Keys travel in headers only and stand in no error and no representation.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from reverie.core.clock import as_utc
from reverie.core.errors import Failure, ProviderFailure
from reverie.core.redaction import redact
from reverie.core.text import collapse, cut
from reverie.core.types import Clock
from reverie.providers.remote.breaker import Breaker

if TYPE_CHECKING:
    import httpx2

#: Characters of a provider's own words that an error repeats.
SAID = 300
#: Words of headers from so many characters on are taken for secrets.
SECRET_CHARS = 8
_BY_STATUS = {401: Failure.DENIED, 403: Failure.DENIED, 404: Failure.UNKNOWN, 408: Failure.DOWN, 429: Failure.LIMITED}


@dataclass(frozen=True, slots=True)
class Patience:
    """How often and how long a request is tried; seconds.

    ``timeout`` bounds one attempt, ``total`` all of them with the pauses between. A provider that asks for a pause gets
    one of up to ``longest``.
    """

    attempts: int = 3
    timeout: float = 60.0
    total: float = 90.0
    first: float = 0.5
    longest: float = 8.0


class Client:
    """Sends JSON to one address. ``transport`` stands in for the network where one is given."""

    def __init__(
        self,
        name: str,
        base_url: str,
        headers: Mapping[str, str],
        *,
        clock: Clock,
        transport: httpx2.BaseTransport | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        import httpx2  # part of the extra `remote`, and slow to load

        self.name = name
        self._base = base_url.rstrip("/")
        self._http = httpx2.Client(
            headers=dict(headers), transport=transport, follow_redirects=False, trust_env=False, timeout=None
        )
        # Any word of a header may be the key or a part of it: no provider's message may repeat it.
        self._secrets = [word for value in headers.values() for word in value.split() if len(word) >= SECRET_CHARS]
        self._breaker = Breaker(now)
        self._now = now
        self._clock = clock

    def __repr__(self) -> str:
        """Return the name and the address, and nothing that is secret."""
        return f"Client({self.name}, {self._base})"

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def post(self, path: str, payload: object, patience: Patience) -> Any:
        """Send a value and return the answer, both as JSON.

        Raises:
            ProviderFailure: the provider refused, or gave no answer in time.
        """
        return self._tried(patience, lambda timeout: self._once(path, payload, timeout))

    @contextmanager
    def stream(self, path: str, payload: object, patience: Patience) -> Iterator[Iterator[str]]:
        """Send a value and give the lines of the answer as they come; it is not tried twice.

        Raises:
            ProviderFailure: as :meth:`post`, and when the answer breaks off.
        """
        self._rested()
        import httpx2

        try:
            with self._http.stream("POST", self._base + path, json=payload, timeout=patience.timeout) as response:
                if response.status_code >= 300:
                    response.read()
                    raise self._refused(response)
                yield response.iter_lines()
        except httpx2.HTTPError as error:
            self._breaker.failed()
            raise self._unreachable(error) from error
        self._breaker.succeeded()

    def _tried(self, patience: Patience, send: Callable[[float], Any]) -> Any:
        import stamina

        self._rested()
        ends = self._now() + patience.total

        def again(error: Exception) -> bool | float:
            if not isinstance(error, ProviderFailure) or not error.passes:
                return False
            if error.retry_after is None:
                return True
            return error.retry_after if error.retry_after <= min(patience.longest, ends - self._now()) else False

        try:
            for attempt in stamina.retry_context(
                on=again,
                attempts=patience.attempts,
                timeout=patience.total,
                wait_initial=patience.first,
                wait_max=patience.longest,
                wait_jitter=0.2 * patience.first,
            ):
                with attempt:
                    answer = send(max(0.001, min(patience.timeout, ends - self._now())))
        except ProviderFailure as failure:
            if failure.kind is Failure.DOWN:
                self._breaker.failed()
            raise
        self._breaker.succeeded()
        return answer

    def _rested(self) -> None:
        if left := self._breaker.waits():
            raise ProviderFailure(f"{self.name} did not answer lately; tried again in {left:.0f} s", kind=Failure.DOWN)

    def _once(self, path: str, payload: object, timeout: float) -> Any:
        import httpx2

        try:
            response = self._http.post(self._base + path, json=payload, timeout=timeout)
        except httpx2.HTTPError as error:
            raise self._unreachable(error) from error
        if response.status_code >= 300:
            raise self._refused(response)
        try:
            return response.json()
        except json.JSONDecodeError as error:
            raise ProviderFailure(f"{self.name} answered with no JSON", kind=Failure.GARBLED) from error

    def _unreachable(self, error: Exception) -> ProviderFailure:
        import httpx2

        what = "did not answer in time" if isinstance(error, httpx2.TimeoutException) else "cannot be reached"
        return ProviderFailure(f"{self.name} {what} at {self._base}: {type(error).__name__}", kind=Failure.DOWN)

    def _refused(self, response: httpx2.Response) -> ProviderFailure:
        status = response.status_code
        kind = _BY_STATUS.get(status, Failure.DOWN if status >= 500 else Failure.REFUSED)
        text = response.text
        for secret in self._secrets:
            text = text.replace(secret, "***")
        said = cut(redact(collapse(text))[0], SAID)
        hint = "check the key and the address" if kind is Failure.DENIED else None
        told = f"{self.name} answered {status}" + (f": {said}" if said else "")
        return ProviderFailure(told, kind=kind, retry_after=self._pause(response.headers.get("retry-after")), hint=hint)

    def _pause(self, header: str | None) -> float | None:
        """Return how many seconds a ``Retry-After`` asks for: seconds, or an HTTP date."""
        if header is None:
            return None
        with suppress(ValueError):
            return max(0.0, float(header))
        with suppress(ValueError):
            return max(0.0, (as_utc(parsedate_to_datetime(header)) - self._clock.now()).total_seconds())
        return None
