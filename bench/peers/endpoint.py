"""The bundled embedder behind an OpenAI-compatible address on this machine, for a peer that embeds over HTTP.

It listens on the loopback interface only, runs as a process of its own so that neither side pays for the other, and
tells texts that are searched for from texts that are stored by the request's ``input_type``.
"""

from __future__ import annotations

import base64
import json
import struct
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

MODEL = "multilingual-e5-small-int8"
LARGEST_REQUEST = 64 * 2**20


class Vectors(Protocol):
    """What the endpoint needs of an embedder."""

    def embed_query(self, text: str) -> Any:
        """Return one vector."""

    def embed_documents(self, texts: Sequence[str]) -> Any:
        """Return one vector a text."""


class Endpoint(ThreadingHTTPServer):
    """Answers ``POST …/embeddings`` and ``GET …/models``."""

    daemon_threads = True

    def __init__(self, embedder: Vectors, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Exchange)
        self.embedder = embedder
        self.one_at_a_time = threading.Lock()

    @property
    def address(self) -> str:
        """Return the base address that a client is configured with."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Endpoint

    def do_GET(self) -> None:
        if self.path.rstrip("/").endswith("/models"):
            self._answer(200, {"object": "list", "data": [{"id": MODEL, "object": "model", "owned_by": "bench"}]})
        else:
            self._answer(404, {"error": {"message": f"nothing is at {self.path}"}})

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        if not self.path.rstrip("/").endswith("/embeddings") or not 0 < size <= LARGEST_REQUEST:
            self._answer(404, {"error": {"message": f"nothing takes {size} bytes at {self.path}"}})
            return
        try:
            request = json.loads(self.rfile.read(size))
            texts = [request["input"]] if isinstance(request["input"], str) else list(map(str, request["input"]))
        except (KeyError, TypeError, ValueError) as error:
            self._answer(400, {"error": {"message": f"no request for embeddings: {error!r}"}})
            return
        asked = request.get("input_type") == "query"
        with self.server.one_at_a_time:
            embedder = self.server.embedder
            rows = [embedder.embed_query(text) for text in texts] if asked else embedder.embed_documents(texts)
        packed = request.get("encoding_format") == "base64"
        data = [{"object": "embedding", "index": at, "embedding": _vector(row, packed)} for at, row in enumerate(rows)]
        tokens = sum(len(text) for text in texts) // 4
        self._answer(
            200,
            {
                "object": "list",
                "model": MODEL,
                "data": data,
                "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
            },
        )

    def _answer(self, status: int, body: dict[str, Any]) -> None:
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing: standard error is for what fails."""


def _vector(row: Sequence[float], packed: bool) -> str | list[float]:
    values = [float(value) for value in row]
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode() if packed else values
