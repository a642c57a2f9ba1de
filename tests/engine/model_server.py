"""A model server on loopback for tests: three dialects, streamed or not, slow, packed, silent or refusing as told."""

from __future__ import annotations

import gzip
import json
import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

READ, WRITTEN, CACHED = 1200, 345, 200
TEXT = "the quiet answer"


@dataclass
class ModelServer:
    """Answers every question alike. `seconds` are taken up one an answer, then none; so are `refusals`.

    The first `breaks` questions are read, and then the line goes dead.
    """

    seconds: list[float] = field(default_factory=list)
    refusals: list[int] = field(default_factory=list)
    breaks: int = 0
    packed: bool = False
    tells_usage: bool = True
    certified: ssl.SSLContext | None = None
    asked: list[dict[str, str]] = field(default_factory=list)
    answered: int = 0
    refused: int = 0

    def __post_init__(self) -> None:
        server, self._lock = self, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                server.handle(self)

            def log_message(self, *_arguments: Any) -> None:
                """Nothing on the terminal."""

        class Listening(ThreadingHTTPServer):
            request_queue_size = 256

        self._server = Listening(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        if self.certified is not None:
            self._server.socket = self.certified.wrap_socket(self._server.socket, server_side=True)
            self.address = f"https://localhost:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def handle(self, request: BaseHTTPRequestHandler) -> None:
        length = int(request.headers["Content-Length"])
        if len(content := request.rfile.read(length)) < length:  # its sender was stopped half-way
            request.close_connection = True
            return
        body = json.loads(content)
        with self._lock:
            self.asked.append({name.lower(): value for name, value in request.headers.items()})
            seconds = self.seconds.pop(0) if self.seconds else 0.0
            refusal = self.refusals.pop(0) if self.refusals else None
            self.breaks, dead = max(0, self.breaks - 1), self.breaks > 0
        if dead:
            request.close_connection = True
            return
        if refusal is not None:
            self._send(request, refusal, "application/json", [b'{"error": {"message": "not now"}}'], 0.0)
            return
        dialect = {"completions": _chat, "responses": _responses, "messages": _messages}[request.path.rsplit("/")[-1]]
        whole, events = dialect(body["model"], self.tells_usage)
        if body.get("stream"):
            pieces = [
                f"event: {event.get('type', 'message')}\ndata: {json.dumps(event)}\n\n".encode() for event in events
            ]
            self._send(request, 200, "text/event-stream", pieces, seconds)
        else:
            self._send(request, 200, "application/json", [json.dumps(whole).encode()], seconds)

    def _send(
        self, request: BaseHTTPRequestHandler, status: int, kind: str, pieces: list[bytes], seconds: float
    ) -> None:
        """The first half at once, the rest after a while; an answer counts when all of it was sent."""
        if self.packed:
            pieces = [gzip.compress(b"".join(pieces))]
        request.send_response(status)
        request.send_header("Content-Type", kind)
        request.send_header("Transfer-Encoding", "chunked")
        if self.packed:
            request.send_header("Content-Encoding", "gzip")
        request.end_headers()
        try:
            for number, chunk in enumerate(_halves(pieces)):
                time.sleep(seconds if number == 1 else 0)
                request.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            request.wfile.write(b"0\r\n\r\n")
        except OSError:
            request.close_connection = True
            return
        with self._lock:
            self.answered += status == 200
            self.refused += status != 200


def _halves(pieces: list[bytes]) -> Iterator[bytes]:
    whole = b"".join(pieces)
    yield whole[: len(whole) // 2]
    yield whole[len(whole) // 2 :]


def _chat(model: str, tells: bool) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    usage = {
        "prompt_tokens": READ,
        "completion_tokens": WRITTEN,
        "total_tokens": READ + WRITTEN,
        "prompt_tokens_details": {"cached_tokens": CACHED},
        "completion_tokens_details": {"reasoning_tokens": 5},
    }
    base = {"id": "x", "created": 1, "model": model}
    said = {"role": "assistant", "content": TEXT}
    whole = {**base, "object": "chat.completion", "choices": [{"index": 0, "finish_reason": "stop", "message": said}]}
    chunk = {**base, "object": "chat.completion.chunk"}
    events = [
        {**chunk, "choices": [{"index": 0, "delta": said, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {**chunk, "choices": [], "usage": usage if tells else None},
    ]
    return whole | ({"usage": usage} if tells else {}), events


def _responses(model: str, tells: bool) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    usage = {
        "input_tokens": READ,
        "input_tokens_details": {"cached_tokens": CACHED},
        "output_tokens": WRITTEN,
        "output_tokens_details": {"reasoning_tokens": 5},
        "total_tokens": READ + WRITTEN,
    }
    said = {"type": "output_text", "text": TEXT, "annotations": []}
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [said]}
    base = {"id": "r", "object": "response", "created_at": 1, "model": model, "parallel_tool_calls": True}
    whole = {**base, "status": "completed", "tools": [], "tool_choice": "auto", "output": [message]}
    whole |= {"usage": usage} if tells else {}
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events = [
        {"type": "response.created", "sequence_number": 0, "response": begun},
        {"type": "response.completed", "sequence_number": 1, "response": whole},
    ]
    return whole, events


def _messages(model: str, tells: bool) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    counts = {"input_tokens": READ - CACHED, "cache_read_input_tokens": CACHED, "cache_creation_input_tokens": 0}
    base = {"id": "m", "type": "message", "role": "assistant", "model": model}
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    whole: dict[str, Any] = {**base, **end, "content": [{"type": "text", "text": TEXT}]}
    whole["usage"] = {**counts, "output_tokens": WRITTEN}
    begun: dict[str, Any] = {**base, "stop_reason": None, "stop_sequence": None, "content": []}
    begun["usage"] = {**counts, "output_tokens": 1}
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": TEXT}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": WRITTEN}},
        {"type": "message_stop"},
    ]
    if not tells:
        del whole["usage"]
    return whole, events
