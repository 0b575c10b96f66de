"""Middleware: retry, logging, header refresh, event translation, written by applications.

A middleware is a function of the request and of what comes next, and an
asynchronous iterator of raw events::

    async def log_types(request: RunRequest, call_next: CallNext) -> AsyncIterator[RawEvent]:
        async for event in call_next(request):
            print(event["type"])
            yield event

It sees every event before anything is stripped from it, unknown types included
(PL-2), and what it yields is enforced and verified before the application sees
it (PL-3). The first in the list is the outermost.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

from client_sdk.errors import OptionError

RawEvent = dict[str, Any]
"""One event as it travels: a JSON object with a string ``type``."""


@dataclass(slots=True)
class RunRequest:
    """One request to the agent, for middleware to read and change.

    Attributes:
        input: the RunAgentInput in wire spelling. It is enforced after the middleware, immediately before
            sending (RI-1).
        headers: further HTTP headers of this request.
    """

    input: dict[str, Any]
    headers: dict[str, str] = field(default_factory=dict)


CallNext = Callable[[RunRequest], AsyncIterator[RawEvent]]
"""The rest of the way to the agent. It may be called again, for a retry, while nothing was yielded."""

Middleware = Callable[[RunRequest, CallNext], AsyncIterator[RawEvent]]
"""A middleware: see the module."""


def chain(
    middleware: Sequence[Middleware], innermost: CallNext, opened: Callable[[AsyncIterator[RawEvent]], None]
) -> CallNext:
    """Compose `middleware` around `innermost`, the first outermost.

    Args:
        middleware: the layers.
        innermost: what comes after the last layer.
        opened: told every iterator that a layer or `innermost` makes, so that whoever stops early can close it.
    """
    following = _told(innermost, opened)
    for layer in reversed(middleware):
        following = _told(_around(layer, following), opened)
    return following


def _around(layer: Middleware, following: CallNext) -> CallNext:
    def call(request: RunRequest) -> AsyncIterator[RawEvent]:
        events = layer(request, following)
        if not isinstance(events, AsyncIterable):
            name = getattr(layer, "__qualname__", type(layer).__name__)
            if isinstance(events, Coroutine):
                events.close()  # or it would be reported as never awaited, beside this
            raise OptionError(
                f"the middleware {name} returned a {type(events).__name__}; it is an async generator: it yields events",
                option="middleware",
            )
        return aiter(events)

    return call


def _told(following: CallNext, opened: Callable[[AsyncIterator[RawEvent]], None]) -> CallNext:
    def call(request: RunRequest) -> AsyncIterator[RawEvent]:
        events = following(request)
        opened(events)
        return events

    return call
