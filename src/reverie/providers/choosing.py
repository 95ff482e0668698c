"""Which models the configuration means: the embedder, what replaces it, and the chat model.

A named provider is the only one that is called. A fallback, where one is set, takes the place of a primary that cannot
be had, whole and with its own model, so that vectors of two are never mixed; it gets none of the primary's address,
key or headers. A provider that runs on the owner's machines is never replaced by one that does not: text that was to
stay stays.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from reverie.core.errors import EmbedderUnavailable, ModelUnavailable
from reverie.core.paths import Paths
from reverie.core.types import ChatMessage, Clock, Embedder, Progress
from reverie.providers.bundled.embedder import BundledEmbedder
from reverie.providers.bundled.fallback import UseEmbedder
from reverie.providers.remote.chat import RemoteChat, Usage
from reverie.providers.remote.client import Client
from reverie.providers.remote.embedder import Kinds, RemoteEmbedder
from reverie.providers.remote.known import FORMATS, PROVIDERS, Known
from reverie.providers.remote.wire import OPENAI

if TYPE_CHECKING:
    from reverie.core.config import AgentConfig
    from reverie.core.config.schema import ModelProvider

_MISSING = "the package httpx2 is not installed"
_INSTALL = "pip install 'reverie-memory[remote]'"
#: Providers that are part of Reverie.
BUNDLED = (None, "auto", "bundled", "use")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a provider is reached, and how it is spoken to."""

    known: Known
    base_url: str
    key: str
    headers: Mapping[str, str]
    default_model: str

    @property
    def local(self) -> bool:
        """Say whether text that goes there stays on the owner's machines."""
        host = urlsplit(self.base_url).hostname or ""
        return host in ("localhost", "::1") or host.startswith("127.")


def open_embedder(
    config: AgentConfig,
    paths: Paths,
    clock: Clock,
    progress: Progress | None = None,
    *,
    providers: Mapping[str, ModelProvider],
    env: Mapping[str, str] = os.environ,
) -> Embedder:
    """Open the configured embedder, or its fallback where that is to be used.

    Raises:
        EmbedderUnavailable: neither can be had.
    """
    search = config.search
    provider = search.provider
    try:
        if provider in BUNDLED:
            return _bundled(provider, paths, progress)
        primary = _remote(provider or "", config, clock, providers, env, inherits=True)
        if search.fallback == "none":
            return primary
        reason = primary.reachable()
        if not reason:
            return primary
    except EmbedderUnavailable as error:
        if search.fallback == "none":
            raise
        reason = error.reason
    return _fallback(provider, reason, config, paths, clock, progress, providers, env)


def _fallback(
    provider: str | None,
    reason: str,
    config: AgentConfig,
    paths: Paths,
    clock: Clock,
    progress: Progress | None,
    providers: Mapping[str, ModelProvider],
    env: Mapping[str, str],
) -> Embedder:
    name = config.search.fallback
    if name in BUNDLED:
        return _bundled(name, paths, progress)
    other = _remote(name, config, clock, providers, env, inherits=False)
    if _is_local(provider, config, providers, env) and not other.local:
        other.close()
        raise EmbedderUnavailable(
            f"{reason}; the fallback {name} is not used, since it would send text from here to elsewhere",
            hint="set memory.search.fallback to none, or name that provider itself",
        )
    return other


def _is_local(
    provider: str | None, config: AgentConfig, providers: Mapping[str, ModelProvider], env: Mapping[str, str]
) -> bool:
    if provider in BUNDLED or provider == "local":
        return True
    try:
        return place_of(provider or "", config, providers, env, inherits=True).local
    except EmbedderUnavailable:
        known = PROVIDERS.get(provider or "")
        return known is not None and known.local


def _bundled(provider: str | None, paths: Paths, progress: Progress | None) -> Embedder:
    cache = paths.cache / "embedders"
    if provider == "use":
        reason = UseEmbedder.available()
        if reason is not None:
            raise EmbedderUnavailable(reason)
        return UseEmbedder.open()
    reason = BundledEmbedder.available()
    if reason is None:
        return BundledEmbedder.open(cache, progress=_building(progress))
    if provider == "bundled" or UseEmbedder.available() is not None:
        raise EmbedderUnavailable(reason)
    return UseEmbedder.open()


def _building(progress: Progress | None) -> Callable[[str, float], None] | None:
    """Return the progress of the model's build in hundredths; it happens once on a machine."""
    if progress is None:
        return None
    return lambda step, share: progress(f"building the model: {step}", round(share * 100), 100)


def _remote(
    name: str,
    config: AgentConfig,
    clock: Clock,
    providers: Mapping[str, ModelProvider],
    env: Mapping[str, str],
    *,
    inherits: bool,
) -> RemoteEmbedder:
    place = place_of(name, config, providers, env, inherits=inherits)
    search = config.search
    model = (search.model if inherits else None) or place.default_model
    if not model:
        raise EmbedderUnavailable(f"the provider {name} has no usual model", hint="set memory.search.model")
    headers = {**(place.known.wire.headers(place.key) if place.key else {}), **place.headers}
    width = search.output_dimensionality if inherits else None
    kinds = Kinds(search.query_input_type or search.input_type, search.document_input_type or search.input_type)
    return RemoteEmbedder(
        name,
        model,
        place.known.wire,
        _client(name, place, headers, clock),
        width=width,
        known_width=(place.known.widths or {}).get(model),
        kinds=kinds if inherits else Kinds(),
        local=place.local,
    )


def _client(name: str, place: Place, headers: Mapping[str, str], clock: Clock) -> Client:
    try:
        return Client(name, place.base_url, headers, clock=clock)
    except ImportError as error:
        raise EmbedderUnavailable(_MISSING, hint=_INSTALL) from error


def place_of(
    name: str,
    config: AgentConfig,
    providers: Mapping[str, ModelProvider],
    env: Mapping[str, str],
    *,
    inherits: bool,
) -> Place:
    """Return where a provider is reached.

    Args:
        name: the provider, known by name or one of ``models.providers``.
        config: ``memory.search.remote`` counts where ``inherits`` is true: it is the primary's.
        providers: ``models.providers``.
        env: where keys are looked for that the configuration does not name.
        inherits: whether this is the primary.

    Raises:
        EmbedderUnavailable: nothing says where it is, or its key is missing.
    """
    own = providers.get(name)
    remote = config.search.remote if inherits else None
    known = PROVIDERS.get(name)
    if known is None:
        if own is None:
            raise EmbedderUnavailable(
                f"this version has no adapter for the provider {name}",
                hint="name its address in models.providers, or choose another memory.search.provider",
            )
        known = Known(FORMATS.get(own.api or "", OPENAI), needs_key=False)
    base_url = (remote and remote.base_url) or (own and own.base_url) or known.base_url
    if name == "bedrock" and not base_url and (region := env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION")):
        base_url = f"https://bedrock-runtime.{region}.amazonaws.com"
    if not base_url:
        raise EmbedderUnavailable(f"nothing says where {name} is", hint="set memory.search.remote.baseUrl")
    key = (remote and remote.api_key) or (own and own.api_key) or ""
    # A key of the environment is the provider's own and goes to its own address only.
    if (not key and base_url == known.base_url) or name == "bedrock":
        key = key or next((env[variable] for variable in known.variables if env.get(variable)), "")
    if not key and known.needs_key and base_url == known.base_url:
        raise EmbedderUnavailable(
            f"there is no key for {name}",
            hint=f"set {known.variables[0] if known.variables else 'memory.search.remote.apiKey'}",
        )
    headers = {**(dict(own.headers) if own else {}), **(dict(remote.headers) if remote else {})}
    return Place(known, base_url, key, headers, known.model or _first_model(own))


def _first_model(own: ModelProvider | None) -> str:
    """Return the first model that the configuration lists for a provider of one's own."""
    first = own.models[0] if own is not None and own.models else None
    name = first.get("id") if isinstance(first, Mapping) else first
    return name if isinstance(name, str) else ""


def open_chat(
    reference: str,
    providers: Mapping[str, ModelProvider],
    clock: Clock,
    spent: Callable[[Usage], None],
    env: Mapping[str, str] = os.environ,
) -> RemoteChat:
    """Open a chat model by its reference ``provider/model``.

    Raises:
        ModelUnavailable: the reference names no provider that is configured, or its key is missing.
    """
    name, _, model = reference.partition("/")
    own, known = providers.get(name), PROVIDERS.get(name)
    if not model or (own is None and known is None):
        hint = "name it as provider/model, with the provider in models.providers"
        raise ModelUnavailable("This chat model names no provider that is known", model=reference, hint=hint)
    base_url = (own and own.base_url) or (_chat_address(name, known) if known else "")
    if not base_url:
        raise ModelUnavailable("Nothing says where this provider is", model=reference, hint="set its baseUrl")
    key = (own.api_key if own is not None else None) or ""
    if not key and known is not None and base_url == _chat_address(name, known):
        key = next((env[variable] for variable in known.variables if env.get(variable)), "")
        if not key and known.needs_key:
            said = f"set {known.variables[0]}" if known.variables else None
            raise ModelUnavailable("There is no key for this provider", model=reference, hint=said)
    headers = {**({"Authorization": f"Bearer {key}"} if key else {}), **(dict(own.headers) if own else {})}
    try:
        client = Client(name, base_url, headers, clock=clock)
    except ImportError as error:
        raise ModelUnavailable(_MISSING, hint=_INSTALL) from error
    return RemoteChat(model, client, spent=spent)


class NamedChat:
    """The models of a configuration in order: the first that answers counts. Each is opened when it is needed."""

    def __init__(self, references: Sequence[str], opener: Callable[[str], RemoteChat]) -> None:
        self._references = references
        self._open = opener
        self._opened: dict[str, RemoteChat] = {}

    def complete(self, system: str, messages: Sequence[ChatMessage], *, timeout: float) -> str:
        """Return the answer of the first model that gives one; see :class:`reverie.core.types.ChatModel`."""
        failed: ModelUnavailable | None = None
        for reference in self._references:
            try:
                if reference not in self._opened:
                    self._opened[reference] = self._open(reference)
                return self._opened[reference].complete(system, messages, timeout=timeout)
            except ModelUnavailable as error:
                failed = error
        raise failed or ModelUnavailable()


def _chat_address(name: str, known: Known) -> str:
    """Return the OpenAI-compatible address for chat, which some providers have beside their own."""
    return known.base_url + {"ollama": "/v1", "gemini": "/openai"}.get(name, "")
