"""The providers that are known by name: where they are, what key they take, what they speak, and what is usual there.

Addresses, default models and variables are those of OpenClaw 2026.9.6 and of the providers' own documentation. Widths
are those of the default models, so that a search needs no request to know them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reverie.providers.remote import wire
from reverie.providers.remote.wire import Wire


@dataclass(frozen=True, slots=True)
class Known:
    """A provider. ``local``: it runs on the owner's machines, so text that goes there does not leave them."""

    wire: Wire
    base_url: str = ""
    model: str = ""
    variables: tuple[str, ...] = ()
    widths: Mapping[str, int] | None = None
    local: bool = False
    needs_key: bool = True


PROVIDERS: Mapping[str, Known] = {
    "openai": Known(
        wire.OPENAI,
        "https://api.openai.com/v1",
        "text-embedding-3-small",
        ("OPENAI_API_KEY",),
        {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536},
    ),
    "gemini": Known(
        wire.GEMINI,
        "https://generativelanguage.googleapis.com/v1beta",
        "gemini-embedding-001",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        {"gemini-embedding-001": 3072},
    ),
    "voyage": Known(
        wire.VOYAGE, "https://api.voyageai.com/v1", "voyage-4-large", ("VOYAGE_API_KEY",), {"voyage-4-large": 1024}
    ),
    "mistral": Known(
        wire.MISTRAL, "https://api.mistral.ai/v1", "mistral-embed", ("MISTRAL_API_KEY",), {"mistral-embed": 1024}
    ),
    "deepinfra": Known(
        wire.OPENAI,
        "https://api.deepinfra.com/v1/openai",
        "BAAI/bge-m3",
        ("DEEPINFRA_API_KEY",),
        {"BAAI/bge-m3": 1024},
    ),
    "bedrock": Known(
        wire.BEDROCK,
        "",
        "amazon.titan-embed-text-v2:0",
        ("AWS_BEARER_TOKEN_BEDROCK",),
        {"amazon.titan-embed-text-v2:0": 1024},
    ),
    "github-copilot": Known(
        wire.OPENAI, "https://api.githubcopilot.com", "", ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN")
    ),
    "lmstudio": Known(wire.OPENAI, "http://127.0.0.1:1234/v1", local=True, needs_key=False),
    "ollama": Known(wire.OLLAMA, "http://127.0.0.1:11434", variables=("OLLAMA_API_KEY",), local=True, needs_key=False),
    "openai-compatible": Known(wire.OPENAI, needs_key=False),
}

#: The formats that ``models.providers.<id>.api`` may name for embeddings; all others speak OpenAI's.
FORMATS: Mapping[str, Wire] = {
    "ollama": wire.OLLAMA,
    "google-generative-ai": wire.GEMINI,
    "voyage": wire.VOYAGE,
    "mistral": wire.MISTRAL,
    "bedrock-converse-stream": wire.BEDROCK,
}
