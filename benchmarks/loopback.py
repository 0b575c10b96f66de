"""The whole way over loopback: our `HttpAgent` against httpx, httpx-sse and strict validation of the same server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Iterator
from time import perf_counter
from typing import Any, Final

import httpx
from ag_ui.core import Event
from httpx_sse import EventSource
from pydantic import TypeAdapter

from benchmarks import streams
from benchmarks.measure import Goal, Row, Side, interleave, quiet_heap, rate
from benchmarks.server import MODES, serving
from benchmarks.sizes import Sizes
from client_sdk import HttpAgent

GROUP: Final = "HttpAgent ÷ httpx + httpx-sse + validation"

_EVENTS: TypeAdapter[Any] = TypeAdapter(Event)
_SAID: Final = "Where is order 42?"


def _side(work: Coroutine[Any, Any, float]) -> float:
    with quiet_heap():
        return asyncio.run(work)


async def _ours(url: str) -> float:
    async with HttpAgent(url) as agent:
        thread = agent.thread(streams.THREAD_ID)
        start = perf_counter()
        async with thread.run(_SAID, run_id=streams.RUN_ID) as run:
            async for _ in run:
                pass
        seconds = perf_counter() - start
    run.result.raise_for_status()
    return seconds


async def _theirs(url: str) -> float:
    said = {"id": "message-1", "role": "user", "content": _SAID}
    body = json.dumps({"threadId": streams.THREAD_ID, "runId": streams.RUN_ID, "messages": [said]}).encode()
    headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
    judge = _EVENTS.validate_json
    async with httpx.AsyncClient() as client:
        start = perf_counter()
        async with client.stream("POST", url, content=body, headers=headers) as response:
            async for sse in EventSource(response).aiter_sse():
                judge(sse.data, strict=True)
        return perf_counter() - start


def _sides(url: str) -> tuple[Side, Side]:
    return lambda: _side(_ours(url)), lambda: _side(_theirs(url))


def rows(sizes: Sizes) -> Iterator[Row]:
    """Every kind of stream, from a server that coalesces events and from one that flushes each."""
    made = {kind: make(sizes.wire_events) for kind, make in streams.KINDS.items()}
    with serving({kind.replace(" ", "-"): payloads for kind, payloads in made.items()}) as base:
        for mode in MODES:
            for kind, payloads in made.items():
                pairs = interleave(*_sides(f"{base}/{kind.replace(' ', '-')}/{mode}"), sizes.repetitions)
                count = len(payloads)
                figures = f"{rate(count, pairs.ours)} against {rate(count, pairs.theirs)}"
                yield Row(GROUP, f"{kind}, {mode}", pairs.speed_ratios(), Goal(least=0.6), figures)
