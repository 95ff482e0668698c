"""A language model that says what a test has it say, behind the address that programs of others are configured with."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "scribe"
#: What the model answers to the messages of a request: words, or the name of a tool and what it is called with.
Answer = str | tuple[str, Mapping[str, Any]]
Messages = Sequence[Mapping[str, Any]]


class Scribe(ThreadingHTTPServer):
    """Answers ``POST …/chat/completions`` as a stream, on the loopback interface only."""

    daemon_threads = True

    def __init__(self, answer: Callable[[Messages], Answer]) -> None:
        super().__init__(("127.0.0.1", 0), _Exchange)
        self.answer = answer
        self.asked: list[Messages] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@contextmanager
def listening(answer: Callable[[Messages], Answer]) -> Iterator[Scribe]:
    """Run a model for as long as it is needed."""
    with Scribe(answer) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _Exchange(BaseHTTPRequestHandler):
    server: Scribe

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._head("application/json")
        self.wfile.write(json.dumps({"object": "list", "data": [{"id": MODEL, "object": "model"}]}).encode())

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(request["messages"])
        answer = self.server.answer(request["messages"])
        delta: dict[str, Any] = {"role": "assistant", "content": answer}
        if not isinstance(answer, str):
            function = {"name": answer[0], "arguments": json.dumps(answer[1])}
            call = {"index": 0, "id": "call_1", "type": "function", "function": function}
            delta = {"role": "assistant", "tool_calls": [call]}
        self._head("text/event-stream")
        ended = "stop" if isinstance(answer, str) else "tool_calls"
        self._piece(choices=[{"index": 0, "delta": delta, "finish_reason": None}])
        usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
        self._piece(choices=[{"index": 0, "delta": {}, "finish_reason": ended}], usage=usage)
        self.wfile.write(b"data: [DONE]\n\n")

    def _head(self, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()

    def _piece(self, **more: Any) -> None:
        data = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": MODEL, **more}
        self.wfile.write(f"data: {json.dumps(data)}\n\n".encode())
