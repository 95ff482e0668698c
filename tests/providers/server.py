"""A provider on this machine: it answers with what a test has it say, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Answer:
    """A status, a body (a value as JSON, or bytes as they are) and headers."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Asked:
    path: str
    headers: dict[str, str]
    body: Any


class Provider(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, answer: Callable[[Asked], Answer]) -> None:
        super().__init__(("127.0.0.1", 0), _Exchange)
        self.answer = answer
        self.asked: list[Asked] = []
        self.silent = threading.Event()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Exchange(BaseHTTPRequestHandler):
    server: Provider

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = Asked(self.path, dict(self.headers), body)
        self.server.asked.append(asked)
        answer = self.server.answer(asked)
        if answer.status == 0:  # says nothing until the test is over
            self.server.silent.wait(20)
            return
        data = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        self.send_response(answer.status)
        for name, value in {"Content-Length": str(len(data)), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serving(answer: Callable[[Asked], Answer]) -> Iterator[Provider]:
    with Provider(answer) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.silent.set()
            server.shutdown()
            thread.join()
