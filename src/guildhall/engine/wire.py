"""The wire between a run and its providers: calls are led through the relay, which outlives a run that is killed.

Only the transport of a provider's HTTP client is exchanged, so that its address, its keys and its log stay what they
are. Clients that are not built on httpx go their own way, and so does whatever no run has asked for.
"""

from __future__ import annotations

import json
import sys
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self

from guildhall.engine.receipts import Slip
from guildhall.engine.relay import FAILED, ORDER
from guildhall.engine.relays import RunningRelay, relay_for
from guildhall.engine.terms import Terms
from guildhall.store.ledger import Sent

if TYPE_CHECKING:
    from inspect_ai.model import Model

_WRAPPED = "_guildhall_through_relay"
_ANSWERING = ("/chat/completions", "/completions", "/responses", "/messages")


@dataclass
class Asked:
    """One model call of a run on its way: asked more than once where an attempt fails.

    `book` is the file its receipts go to.
    """

    sent: Sent
    terms: Terms
    elsewhere: bool
    book: Path
    number: int = 0
    given_up: list[int] = field(default_factory=list)

    def begin_again(self) -> None:
        """An attempt begins: whatever was asked before, nobody waits for any more."""
        self.given_up = list(range(1, self.number + 1))

    def slip(self, *, repeats: bool) -> Slip:
        """For the next request; one that repeats the last, as clients do by themselves, gives that one up."""
        if repeats and self.number not in self.given_up:
            self.given_up.append(self.number)
        self.number += 1
        return Slip(
            call=self.sent.id,
            item=self.sent.item,
            run=self.sent.run,
            model=self.sent.model,
            begun_at=self.sent.at,
            elsewhere=self.elsewhere,
            price=self.terms.prices.own.get(self.sent.model),
            number=self.number,
            given_up=tuple(self.given_up),
        )


ASKED: ContextVar[Asked | None] = ContextVar("guildhall_asked", default=None)
"""The call that is being asked; absent where nothing is to be relayed."""


def through_relay(model: Model) -> Model:
    """The same model, whose calls go through the relay. Inspect hands out one object for one name: wrapped once."""
    if getattr(model.api, _WRAPPED, False):
        return model
    generate = model.api.generate

    async def relayed(*arguments: Any, **named: Any) -> Any:
        if (asked := ASKED.get()) is not None:
            asked.begin_again()
            # Before every attempt, since Inspect makes a new client when one was closed.
            _exchange_transports(getattr(getattr(model.api, "client", None), "_client", None))
        return await generate(*arguments, **named)

    setattr(model.api, _WRAPPED, True)
    setattr(model.api, "generate", relayed)  # noqa: B010 - a method of one instance, which mypy will not have assigned
    return model


def _exchange_transports(client: Any) -> None:
    base = next((kind for kind in type(client).__mro__ if kind.__name__ == "AsyncClient"), None)
    transport, mounts = getattr(client, "_transport", None), getattr(client, "_mounts", None)
    if base is None or transport is None or mounts is None or isinstance(transport, _Transport):
        return
    http = sys.modules[base.__module__.partition(".")[0]]
    # httpx has no public way to exchange the transport of a client that exists.
    client._transport = _Transport(transport, http)  # noqa: SLF001
    client._mounts = {at: direct and _Transport(direct, http) for at, direct in mounts.items()}  # noqa: SLF001


class _Transport:
    """In place of the transport `direct` of a client built on `http` (httpx, or its successor of the same shape)."""

    def __init__(self, direct: Any, http: ModuleType) -> None:
        self.direct, self.http = direct, http
        # A connection for each request: one that is kept belongs to an event loop, and a client outlives those.
        limits = http.Limits(max_connections=None, max_keepalive_connections=0)
        self.loopback = http.AsyncHTTPTransport(limits=limits, verify=False, trust_env=False)

    async def handle_async_request(self, request: Any) -> Any:
        asked, answering = ASKED.get(), request.method == "POST" and request.url.path.endswith(_ANSWERING)
        relay = relay_for(self.http.__name__) if asked is not None and answering else None
        if asked is None or relay is None:
            return await self.direct.handle_async_request(request)
        slip = asked.slip(repeats=request.headers.get("x-stainless-retry-count", "0") != "0")
        try:
            answer = await self.loopback.handle_async_request(self._to_relay(request, relay, slip, asked.book))
        except self.http.ConnectError as error:  # nothing was sent
            relay.give_up(str(error))
            return await self.direct.handle_async_request(request)
        if (kind := answer.headers.get(FAILED)) is None:
            return answer
        words = (await answer.aread()).decode()
        await answer.aclose()
        raise getattr(self.http, kind)(words, request=request)

    def _to_relay(self, request: Any, relay: RunningRelay, slip: Slip, book: Path) -> Any:
        order = {
            "token": relay.token,
            "upstream": str(request.url),
            "book": str(book.resolve()),
            "slip": slip.model_dump(mode="json"),
        }
        return self.http.Request(
            request.method,
            relay.url,
            headers=[*request.headers.raw, (ORDER.encode(), json.dumps(order).encode())],
            stream=request.stream,
            extensions=request.extensions,
        )

    async def aclose(self) -> None:
        await self.loopback.aclose()
        await self.direct.aclose()

    async def __aenter__(self) -> Self:
        await self.direct.__aenter__()
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()
