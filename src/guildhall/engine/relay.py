"""The relay: a small process that stands between a run and its providers, and outlives the run when it is killed.

It passes each request on and each answer back as it comes, byte for byte. When the caller is gone it goes on reading,
so that what the provider counts for an answer is known even where nobody waits for it any more. For each answer it
writes one line: whose call it belongs to, its tokens, its time. Keys, prompts and answers are held in memory only.

`guildhall.engine.wire` starts it on a socket that listens already, with its orders as the first line of its input. The
end of that input is the end of its caller: the relay then ends as soon as nothing is in flight.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import secrets
import socket
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from guildhall.engine.metering import told

ORDER = "x-guildhall-order"
"""The header by which a caller says where a request goes and whose it is; no provider sees it."""
FAILED = "x-guildhall-failed"
"""The header by which a relay says that there is no answer, and what kind of error the caller is to raise."""
HEAD = "relay.json"
"""In a relay's folder of receipts: who its caller is and who it is itself; as old as its last sign of life."""
GOES_ON_S = 600
"""How long an answer is read on after its caller hung up or ended."""
SIGN_OF_LIFE_S = 60.0

_KEPT_BACK = {
    *(ORDER.encode(), FAILED.encode()),
    *(b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection"),
    *(b"te", b"trailer", b"transfer-encoding", b"upgrade"),
}

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]


class Relay:
    """One relay at work, as an ASGI application.

    `http` names the library its caller's client is built on, so that proxies, certificates and codings are the same
    here as they would be there.
    """

    def __init__(self, *, name: str, token: str, head: dict[str, str], http: str) -> None:
        self.name, self.token, self.head = name, token, head
        self.http: Any = importlib.import_module(http)
        limits = self.http.Limits(max_connections=None, max_keepalive_connections=100)
        self.client = self.http.AsyncClient(timeout=self.http.Timeout(None, connect=60.0), limits=limits)
        self.folders: set[Path] = set()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request; that nobody listens any more is no reason to stop, only a reason to stop some time."""
        order = json.loads(dict(scope["headers"]).get(ORDER.encode(), b"{}"))
        if not secrets.compare_digest(str(order.get("token")), self.token):
            await _say(send, 403, [], b"this relay serves its own caller only")
            return
        content = await _body(receive)
        if content is None:
            return
        headers = _passed_on(scope["headers"])
        request = self.http.Request(scope["method"], order["upstream"], headers=headers, content=content)
        async with asyncio.timeout(None) as limit:
            listening = asyncio.create_task(_limit_once_hung_up(receive, limit))
            try:
                await self._exchange(request, order, send)
            finally:
                listening.cancel()

    async def _exchange(self, request: Any, order: Message, send: Send) -> None:
        try:
            answer = await self.client.send(request, stream=True)
        except self.http.TransportError as error:
            await _say(send, 502, [(FAILED.encode(), type(error).__name__.encode())], str(error).encode())
            return
        try:
            passed = _passed_on(answer.headers.raw)
            await send({"type": "http.response.start", "status": answer.status_code, "headers": passed})
            raw = bytearray()
            async for chunk in answer.aiter_raw():
                raw += chunk
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        finally:
            await answer.aclose()
        if answer.is_success:
            self._write_receipt(order, self._decoded(answer, bytes(raw)))
        await send({"type": "http.response.body"})

    def _decoded(self, answer: Any, raw: bytes) -> bytes:
        """The content as the caller reads it; nothing where it cannot be decoded, and then no usage is known."""
        coding = {"content-encoding": answer.headers.get("content-encoding", "identity")}
        try:
            content: bytes = self.http.Response(200, headers=coding, content=raw).content
        except self.http.DecodingError:
            return b""
        return content

    def _write_receipt(self, order: Message, content: bytes) -> None:
        usage, served_by = told(content)
        receipt = {"id": uuid4().hex, "slip": order["slip"], "at": time.time(), "usage": usage, "served_by": served_by}
        book = Path(order["book"])
        # Where a line cannot be written the ledger goes on saying that it does not know; the answer matters more.
        with suppress(OSError):
            file = os.open(self._folder(book.parent) / book.name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(file, json.dumps(receipt).encode() + b"\n")  # one write: nothing kills it half-way
            finally:
                os.close(file)

    def _folder(self, receipts: Path) -> Path:
        folder = receipts / self.name
        if folder not in self.folders:
            receipts.mkdir(exist_ok=True)
            folder.mkdir(exist_ok=True)
            (folder / f".{HEAD}").write_text(json.dumps(self.head))
            (folder / f".{HEAD}").rename(folder / HEAD)
            self.folders.add(folder)
        return folder

    async def show_signs_of_life(self) -> None:
        """For machines that share the folder and cannot see this process."""
        while True:
            await asyncio.sleep(SIGN_OF_LIFE_S)
            for folder in self.folders:
                if (folder / HEAD).exists():
                    os.utime(folder / HEAD)


async def _limit_once_hung_up(receive: Receive, limit: asyncio.Timeout) -> None:
    await receive()  # once a request has been read, the only message left is that its caller is gone
    limit.reschedule(asyncio.get_running_loop().time() + GOES_ON_S)


async def _body(receive: Receive) -> bytes | None:
    """What is to be sent; None where the caller went away before it had said all of it."""
    body, more = bytearray(), True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message["body"]
        more = message["more_body"]
    return bytes(body)


def _passed_on(headers: Headers) -> Headers:
    """What belongs to the message, and neither to us nor to the connection it came by."""
    return [(name.lower(), value) for name, value in headers if name.lower() not in _KEPT_BACK]


async def _say(send: Send, status: int, headers: Headers, words: bytes) -> None:
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": words})


async def serve(listening: socket.socket) -> None:
    """Serve until the caller's end of our input closes, and then for as long as something is in flight."""
    import uvicorn

    orders = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin.buffer)
    relay = Relay(**json.loads(await orders.readline()))
    config = uvicorn.Config(
        relay,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=GOES_ON_S,
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    living = asyncio.create_task(relay.show_signs_of_life())
    await asyncio.wait({serving, asyncio.create_task(orders.read())}, return_when=asyncio.FIRST_COMPLETED)
    server.should_exit = True
    await serving
    living.cancel()


if __name__ == "__main__":
    asyncio.run(serve(socket.socket(fileno=int(sys.argv[1]))))
