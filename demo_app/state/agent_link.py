"""The way to the agent: one `HttpAgent` for all threads, and a transport that shows each thread what came for it."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from typing import Final

from client_sdk import HttpAgent, HttpTransport, Transport
from demo_app.state.places import agent_url

RECORDERS: Final[dict[str, Callable[[str], None]]] = {}
"""Who is shown the payloads of a thread, by its id."""


class Recorder:
    """A transport that shows every payload to its thread's recorder, exactly as it came over the wire."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner

    def open(self, body: bytes, headers: Mapping[str, str]) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """See `Transport.open`."""
        return self._recorded(body, headers)

    @asynccontextmanager
    async def _recorded(self, body: bytes, headers: Mapping[str, str]) -> AsyncIterator[AsyncIterator[str]]:
        record = RECORDERS.get(str(json.loads(body)["threadId"]))
        async with self._inner.open(body, headers) as payloads:
            yield payloads if record is None else _shown(record, payloads)

    async def aclose(self) -> None:
        """See `Transport.aclose`."""
        await self._inner.aclose()


async def _shown(record: Callable[[str], None], payloads: AsyncIterator[str]) -> AsyncIterator[str]:
    async for payload in payloads:
        record(payload)
        yield payload


@cache
def agent() -> HttpAgent:
    """The one agent of this process; its connections are shared by all threads."""
    url = agent_url()
    return HttpAgent(url, transport=Recorder(HttpTransport(url)))
