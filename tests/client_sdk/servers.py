"""A real HTTP server on loopback that behaves as badly as its script says.

A script is a list of actions, run once the request has been read::

    async with serve([event_stream(), b"data: {...}\\n\\n", Until(event), Reset()]) as server:
        ...client.post(server.url)
        server.requests[0].headers["accept"]

The head of the response is bytes like any other: `head()` and `event_stream()` make one. The body is
delimited by the end of the connection unless the head says otherwise; `chunked()` makes chunks. Several
scripts answer one request each, in order, and the last one all that follow.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

SECONDS = 30.0
"""Bound of every wait in here; reaching it is a failure of the test."""


@dataclass(frozen=True)
class Until:
    """Send nothing until `event` is set, or the client is gone."""

    event: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True)
class Repeat:
    """Send `chunk` `times` times, waiting for the client to take each."""

    chunk: bytes
    times: int


@dataclass(frozen=True)
class Reset:
    """Break the connection with a TCP reset."""


Action = bytes | Until | Repeat | Reset


@dataclass(frozen=True)
class Request:
    """What the client sent: names of headers in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


def head(status: str = "200 OK", content_type: str | None = "text/event-stream", **headers: str) -> bytes:
    """Return the head of a response; underscores in names of `headers` become hyphens."""
    named = {"connection": "close", **({"content-type": content_type} if content_type is not None else {})}
    named |= {name.replace("_", "-"): value for name, value in headers.items()}
    return "".join([f"HTTP/1.1 {status}\r\n", *(f"{n}: {v}\r\n" for n, v in named.items()), "\r\n"]).encode()


def event_stream(**headers: str) -> bytes:
    """Return the head of an event stream."""
    return head(**headers)


def chunked(data: bytes) -> bytes:
    """Return `data` as one chunk of the chunked transfer coding; empty data ends the body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


class Server:
    """The running server.

    Attributes:
        url: its address.
        requests: what was asked of it so far.
        sent: how many bytes it could hand to the network.
        hung_up: set once a client has closed its connection.
        streaming: set once a script has reached its first `Until`.
    """

    def __init__(self, scripts: Sequence[Sequence[Action]]) -> None:
        self.url = ""
        self.requests: list[Request] = []
        self.sent = 0
        self.hung_up = asyncio.Event()
        self.streaming = asyncio.Event()
        self._scripts = scripts
        self._run: dict[type, Callable[..., Coroutine[None, None, None]]] = {
            bytes: self._send,
            Until: self._until,
            Repeat: self._repeat,
            Reset: self._reset,
        }

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection: one request, one script."""
        gone = None
        try:
            async with asyncio.timeout(SECONDS):
                self.requests.append(await _read_request(reader))
                gone = asyncio.create_task(self._watch(reader))
                script = self._scripts[min(len(self.requests), len(self._scripts)) - 1]
                for action in script:
                    await self._run[type(action)](writer, action)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.hung_up.set()
        finally:
            if gone is not None:
                gone.cancel()
            writer.close()

    async def _watch(self, reader: asyncio.StreamReader) -> None:
        try:
            await reader.read()
        except ConnectionError:
            pass
        finally:
            if reader.at_eof() or reader.exception() is not None:
                self.hung_up.set()

    async def _send(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        writer.write(data)
        await writer.drain()
        self.sent += len(data)

    async def _repeat(self, writer: asyncio.StreamWriter, action: Repeat) -> None:
        for _ in range(action.times):
            await self._send(writer, action.chunk)

    async def _until(self, writer: asyncio.StreamWriter, action: Until) -> None:
        self.streaming.set()
        waits = [asyncio.create_task(action.event.wait()), asyncio.create_task(self.hung_up.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _reset(self, writer: asyncio.StreamWriter, action: Reset) -> None:
        raw: socket.socket = writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()


async def _read_request(reader: asyncio.StreamReader) -> Request:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = lines[0].split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:-2])}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, target, headers, body)


@asynccontextmanager
async def serve(*scripts: Sequence[Action]) -> AsyncIterator[Server]:
    """Run a server with `scripts` on a free port of loopback until the block is left."""
    server = Server(scripts)
    connections: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        task.add_done_callback(connections.discard)
        await server.answer(reader, writer)

    listener = await asyncio.start_server(connected, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/agent"
    try:
        yield server
    finally:
        listener.close()
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)


def closed_port() -> int:
    """Return a port of loopback where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
