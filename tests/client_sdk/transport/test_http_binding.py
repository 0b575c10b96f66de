"""The HTTP + SSE binding against a real server that misbehaves (TR-1 to TR-7)."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import ssl
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Mapping

import httpx
import pytest

from client_sdk.errors import (
    ConnectionBroken,
    ConnectionFailed,
    ContentTypeError,
    FrameTooLarge,
    HttpStatusError,
    ReadTimedOut,
    RequestUnusable,
    TransportError,
)
from client_sdk.transport import http
from client_sdk.transport.http import DEFAULT_TIMEOUT, HttpTransport
from tests.client_sdk.servers import (
    Action,
    Repeat,
    Reset,
    Server,
    Until,
    chunked,
    closed_port,
    event_stream,
    head,
    serve,
)

MIB = 1024 * 1024
INPUT = json.dumps({"threadId": "thr-1", "runId": "run-1", "messages": []}).encode()
FRAME = b'data: {"type":"RUN_STARTED"}\n\n'
PAYLOAD = '{"type":"RUN_STARTED"}'


async def collect(transport: HttpTransport, into: list[str], headers: Mapping[str, str] | None = None) -> None:
    async with transport.open(INPUT, headers or {}) as payloads:
        async for payload in payloads:
            into.append(payload)  # noqa: PERF401 - what came before an error counts


async def answer_to(*script: Action, limit: int = 10 * MIB) -> tuple[list[str], TransportError | None]:
    """Return what a server with `script` brings: the payloads, and the error they end with."""
    payloads: list[str] = []
    async with serve(script) as server:
        transport = HttpTransport(server.url, max_frame_bytes=limit, timeout=httpx.Timeout(20))
        try:
            await collect(transport, payloads)
        except TransportError as error:
            return payloads, error
        finally:
            await transport.aclose()
    return payloads, None


# --- the request ---------------------------------------------------------------------------------


async def test_request_is_the_bindings_own() -> None:
    """TR-6: and the headers of client, transport and exchange merge, the nearer ones winning."""
    theirs = httpx.AsyncClient(headers={"accept": "*/*", "X-A": "client", "X-B": "client", "X-C": "client"})
    async with theirs, serve([event_stream(), FRAME]) as server:
        transport = HttpTransport(
            server.url, client=theirs, headers={"x-b": "own", "X-C": "own", "ACCEPT": "text/html"}
        )
        payloads: list[str] = []
        await collect(transport, payloads, {"x-c": "exchange", "content-type": "text/plain"})
        await transport.aclose()
        assert not theirs.is_closed
    assert payloads == [PAYLOAD]
    (request,) = server.requests
    assert (request.method, request.target, request.body) == ("POST", "/agent", INPUT)
    wanted = {"accept": "text/event-stream", "content-type": "application/json", "content-length": str(len(INPUT))}
    wanted |= {"x-a": "client", "x-b": "own", "x-c": "exchange"}
    assert {name: request.headers.get(name) for name in wanted} == wanted


async def test_own_client_is_closed_and_then_says_so() -> None:
    async with serve([event_stream(), FRAME]) as server:
        transport = HttpTransport(server.url)
        await transport.aclose()
        with pytest.raises(RequestUnusable, match="client is closed"):
            await collect(transport, [])
    assert server.requests == []


async def test_a_base_url_of_the_client_is_used() -> None:
    async with serve([event_stream(), FRAME]) as server, httpx.AsyncClient(base_url=server.url) as client:
        await collect(HttpTransport("v1/run", client=client), payloads := [])
    assert payloads == [PAYLOAD]
    assert server.requests[0].target == "/agent/v1/run"


@pytest.mark.parametrize(
    ("given", "clients", "chosen"),
    [
        (None, None, DEFAULT_TIMEOUT),
        (None, 5.0, DEFAULT_TIMEOUT),
        (None, 7.0, httpx.Timeout(7.0)),
        (2.5, 7.0, httpx.Timeout(2.5)),
        (httpx.Timeout(None), None, httpx.Timeout(None)),
    ],
)
async def test_timeouts(given: httpx.Timeout | float | None, clients: float | None, chosen: httpx.Timeout) -> None:
    seen: list[object] = []

    async def note(request: httpx.Request) -> None:
        seen.append(request.extensions["timeout"])

    client = httpx.AsyncClient() if clients is None else httpx.AsyncClient(timeout=clients)
    client.event_hooks["request"] = [note]
    async with client, serve([event_stream()]) as server:
        await collect(HttpTransport(server.url, client=client, timeout=given), [])
    assert seen == [chosen.as_dict()]


# --- no stream -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "status", ["400 Bad Request", "401 Unauthorized", "422 Unprocessable Entity", "500 Oops", "503 "]
)
async def test_error_status(status: str) -> None:
    """TR-3: the status and what the server said about it."""
    body = b'{"detail":\n  "messages: field required"}'
    payloads, error = await answer_to(head(status, "application/json", retry_after="3"), body)
    assert isinstance(error, HttpStatusError)
    assert (payloads, error.code, error.status) == ([], "http_status", int(status[:3]))
    assert error.body == body.decode()
    assert error.headers["retry-after"] == "3"
    assert f"answered {status}".strip() in error.message
    assert '{"detail": "messages: field required"}' in error.message


async def test_error_status_in_an_event_stream_is_still_an_error() -> None:
    """TR-3"""
    _, error = await answer_to(event_stream().replace(b"200 OK", b"500 Oops"), FRAME)
    assert isinstance(error, HttpStatusError)
    assert error.body == FRAME.decode()


@pytest.mark.parametrize(
    ("more", "body", "excerpt"),
    [
        ({}, b"", ""),
        ({"content_encoding": "gzip"}, gzip.compress(b"packed", mtime=0), "packed"),
        ({"content_encoding": "gzip"}, b"not packed", ""),
        ({"content_length": "100"}, b"cut off", "cut off"),
        ({"content_type": "text/plain; charset=latin-1"}, b"caf\xe9", "café"),
        ({}, b"\xff\xfe", "\ufffd\ufffd"),
        ({}, "é".encode() * 5000, "é" * 2000),
    ],
)
async def test_excerpt_of_the_body(more: dict[str, str], body: bytes, excerpt: str) -> None:
    """TR-3: whatever state the body is in, the status is what is told."""
    content_type = more.pop("content_type", "text/plain") if "content_type" in more else "text/plain"
    _, error = await answer_to(head("500 Oops", content_type, **more), body)
    assert isinstance(error, HttpStatusError)
    assert error.body == excerpt
    assert len(error.message) < 400


async def test_excerpt_of_a_body_without_end_is_bounded() -> None:
    """TR-3: 1 GiB of error page."""
    async with serve([head("500 Oops", "text/html"), Repeat(b"x" * 65536, 16384)]) as server:
        transport = HttpTransport(server.url)
        with pytest.raises(HttpStatusError) as caught:
            await collect(transport, [])
        await asyncio.wait_for(server.hung_up.wait(), 20)
        await transport.aclose()
    assert caught.value.body == "x" * 2000
    assert server.sent < 64 * MIB


async def test_excerpt_of_a_body_that_stalls_is_what_came(monkeypatch: pytest.MonkeyPatch) -> None:
    """TR-3: an error is not held back by a body that never ends."""
    monkeypatch.setattr(http, "_EXCERPT_SECONDS", 0.05)
    _, error = await answer_to(head("500 Oops", "text/plain"), b"because", Until())
    assert isinstance(error, HttpStatusError)
    assert error.body == "because"


@pytest.mark.parametrize("status", ["301 Moved Permanently", "302 Found", "303 See Other", "307 Temporary Redirect"])
async def test_redirect_is_not_followed(status: str) -> None:
    """TR-3: it names where it points."""
    _, error = await answer_to(head(status, None, location="/elsewhere?x=1"))
    assert isinstance(error, HttpStatusError)
    assert error.status == int(status[:3])
    assert "Location: /elsewhere?x=1" in error.message
    assert error.headers["location"] == "/elsewhere?x=1"


async def test_redirect_without_location() -> None:
    _, error = await answer_to(head("304 Not Modified", None))
    assert isinstance(error, HttpStatusError)
    assert error.message.endswith("answered 304 Not Modified")


async def test_redirect_is_followed_by_a_client_that_does() -> None:
    moved = [head("307 Temporary Redirect", None, location="/new")]
    async with httpx.AsyncClient(follow_redirects=True) as client:
        async with serve(moved, [event_stream(), FRAME]) as server:
            await collect(HttpTransport(server.url, client=client), payloads := [])
        assert payloads == [PAYLOAD]
        assert [(r.method, r.target, r.body) for r in server.requests] == [
            ("POST", "/agent", INPUT),
            ("POST", "/new", INPUT),
        ]
        async with serve(moved) as server:
            with pytest.raises(ConnectionFailed, match="redirects do not end"):
                await collect(HttpTransport(server.url, client=client), [])


@pytest.mark.parametrize(
    ("content_type", "named", "hint"),
    [
        ("application/json", "application/json", ""),
        ("Text/HTML; charset=utf-8", "text/html", "address of the agent"),
        ("application/vnd.ag-ui.event+proto", "application/vnd.ag-ui.event+proto", "protobuf binding"),
        ("text/event-streams", "text/event-streams", ""),
        (None, "", "no content type"),
    ],
)
async def test_wrong_content_type(content_type: str | None, named: str, hint: str) -> None:
    """TR-3: a 200 proves nothing."""
    payloads, error = await answer_to(head(content_type=content_type), FRAME)
    assert isinstance(error, ContentTypeError)
    assert (payloads, error.code, error.content_type, error.body) == ([], "content_type", named, FRAME.decode())
    assert hint in error.message
    assert named in error.message


async def test_no_content_is_no_stream() -> None:
    _, error = await answer_to(head("204 No Content", None))
    assert isinstance(error, ContentTypeError)
    assert "204" in error.message


@pytest.mark.parametrize(
    "content_type", ["text/event-stream", "TEXT/Event-Stream ;charset=utf-8", "text/event-stream;x=1"]
)
async def test_right_content_type(content_type: str) -> None:
    assert await answer_to(head("200 OK", content_type), FRAME) == ([PAYLOAD], None)


async def test_status_judged_by_a_hook_of_the_client() -> None:
    """TR-3: a common hook raises httpx's own error; it comes out as ours, body or no body."""

    async def judge(response: httpx.Response) -> None:
        response.raise_for_status()

    async def read_and_judge(response: httpx.Response) -> None:
        await response.aread()
        response.raise_for_status()

    for hook, body in ((judge, ""), (read_and_judge, "busy")):
        client = httpx.AsyncClient(event_hooks={"response": [hook]})
        async with client, serve([head("503 Busy", "text/plain"), b"busy"]) as server:
            with pytest.raises(HttpStatusError) as caught:
                await collect(HttpTransport(server.url, client=client), [])
        assert (caught.value.status, caught.value.body) == (503, body)


# --- no connection -------------------------------------------------------------------------------


async def test_connection_refused() -> None:
    transport = HttpTransport(f"http://user:geheim@127.0.0.1:{closed_port()}/agent?token=geheim#x")
    with pytest.raises(ConnectionFailed, match="no connection could be made") as caught:
        await collect(transport, [])
    await transport.aclose()
    assert caught.value.code == "connection_failed"
    assert "127.0.0.1" in caught.value.message
    assert "geheim" not in caught.value.message


@pytest.mark.parametrize(
    "url",
    [
        "",
        "agent",
        "ftp://127.0.0.1/",
        "http://",
        "http://127.0.0.1:99999999/",
        "http://[::1/",
    ],
)
async def test_url_that_cannot_be_used(url: str) -> None:
    transport = HttpTransport(url)
    with pytest.raises(RequestUnusable, match="URL cannot be used"):
        await collect(transport, [])
    await transport.aclose()


@pytest.mark.parametrize("value", ["geheim\n", "geheim\r\nx: y", "gehéim", "geheim\0"])
async def test_header_that_cannot_be_sent(value: str) -> None:
    """What is wrong is told, the value (a credential, mostly) is not."""
    async with serve([event_stream()]) as server:
        transport = HttpTransport(server.url, headers={"authorization": value})
        with pytest.raises(RequestUnusable, match="header has a name or value") as caught:
            await collect(transport, [])
        await transport.aclose()
    assert "geh" not in caught.value.message


async def test_tls_with_a_server_that_speaks_none() -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head("400 Bad Request"))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(plain, "127.0.0.1", 0) as listener:
        transport = HttpTransport(f"https://127.0.0.1:{listener.sockets[0].getsockname()[1]}/")
        with pytest.raises(ConnectionFailed, match="no connection could be made"):
            await collect(transport, [])
        await transport.aclose()


async def test_connecting_takes_too_long() -> None:
    """A server that never answers the TLS handshake."""
    async with serve([]) as server:
        transport = HttpTransport(server.url.replace("http:", "https:"), timeout=httpx.Timeout(20, connect=0.1))
        with pytest.raises(ConnectionFailed, match="within the connect timeout"):
            await collect(transport, [])
        await transport.aclose()


async def test_no_free_connection() -> None:
    limits = httpx.Limits(max_connections=1)
    client = httpx.AsyncClient(limits=limits, timeout=httpx.Timeout(20, pool=0.05))
    async with client, serve([event_stream(), FRAME, Until()]) as server:
        transport = HttpTransport(server.url, client=client)
        async with transport.open(INPUT, {}):
            with pytest.raises(ConnectionFailed, match="in use"):
                await collect(transport, [])


@pytest.mark.parametrize("script", [[], [Reset()], [b"HTTP/1.1 200"], [b"hello\r\n\r\n"]])
async def test_no_answer(script: list[Action]) -> None:
    """The input was on its way, so the run may have started: broken, not failed to connect."""
    payloads, error = await answer_to(*script)
    assert isinstance(error, ConnectionBroken)
    assert (payloads, error.code) == ([], "connection_broken")
    assert "/agent" in error.message


# --- the stream ----------------------------------------------------------------------------------


async def test_a_stream_is_read_as_it_comes() -> None:
    """TR-1, TR-4: each frame on its own, before the next is sent."""
    gates = [Until(), Until()]
    script = [event_stream(), FRAME, gates[0], b"data: 2\n\ndata: 3\n\n", gates[1], b": bye\n\n"]
    async with serve(script) as server:
        transport = HttpTransport(server.url)
        async with transport.open(INPUT, {}) as payloads:
            assert await anext(payloads) == PAYLOAD
            gates[0].event.set()
            assert [await anext(payloads), await anext(payloads)] == ["2", "3"]
            gates[1].event.set()
            assert [payload async for payload in payloads] == []
        await transport.aclose()


@pytest.mark.parametrize(
    ("body", "payloads"),
    [
        (b"", []),
        (FRAME, [PAYLOAD]),
        (b"\xef\xbb\xbf" + FRAME, [PAYLOAD]),
        (FRAME.replace(b"\n", b"\r\n"), [PAYLOAD]),
        (FRAME.replace(b"\n", b"\r"), [PAYLOAD]),
        (b": keepalive\r\n\r\n" + FRAME, [PAYLOAD]),
        (b'event: x\nid: 1\nretry: 3\ndata:{\ndata: "type":"X"}\n\n', ['{\n"type":"X"}']),
        (b'data: {"type":"\xff"}\n\n', ['{"type":"\ufffd"}']),
        (b"data: no JSON at all\n\n", ["no JSON at all"]),
    ],
)
async def test_what_the_grammar_admits(body: bytes, payloads: list[str]) -> None:
    """TR-4, PR-8: whatever has data goes on to be judged."""
    assert await answer_to(event_stream(), body) == (payloads, None)
    chunks = [chunked(body[i : i + 1]) for i in range(len(body))]
    assert await answer_to(event_stream(transfer_encoding="chunked"), *chunks, chunked(b"")) == (payloads, None)


@pytest.mark.parametrize("encode", [gzip.compress, zlib.compress])
async def test_compressed(encode: object) -> None:
    assert callable(encode)
    name = "gzip" if encode is gzip.compress else "deflate"
    body = encode(FRAME * 3)
    halves = [body[:20], body[20:]]
    assert await answer_to(event_stream(content_encoding=name), *halves) == ([PAYLOAD] * 3, None)


async def test_each_frame_of_a_compressed_stream_comes_at_once() -> None:
    packer = zlib.compressobj(wbits=31)
    first = packer.compress(FRAME) + packer.flush(zlib.Z_SYNC_FLUSH)
    gate = Until()
    async with serve([event_stream(content_encoding="gzip"), first, gate, packer.flush()]) as server:
        transport = HttpTransport(server.url)
        async with transport.open(INPUT, {}) as payloads:
            assert await anext(payloads) == PAYLOAD
            gate.event.set()
            assert [payload async for payload in payloads] == []
        await transport.aclose()


async def test_what_cannot_be_decompressed() -> None:
    payloads, error = await answer_to(event_stream(content_encoding="gzip"), FRAME)
    assert isinstance(error, ConnectionBroken)
    assert payloads == []
    assert "decompressed" in error.message


CHUNKED = event_stream(transfer_encoding="chunked")


@pytest.mark.parametrize(
    "script",
    [
        [event_stream(content_length="1000"), FRAME, b'data: {"ty'],
        [CHUNKED, chunked(FRAME), chunked(b'data: {"ty')],
        [CHUNKED, chunked(FRAME), b"5\r\nda"],
        [CHUNKED, chunked(FRAME), b"no chunk\r\n"],
        [CHUNKED, chunked(FRAME)],
    ],
)
async def test_a_stream_that_breaks(script: list[Action]) -> None:
    """TR-1, TR-7: after every complete frame."""
    payloads, error = await answer_to(*script)
    assert isinstance(error, ConnectionBroken)
    assert (payloads, error.code) == ([PAYLOAD], "connection_broken")


async def test_a_connection_that_is_reset() -> None:
    """TR-1, TR-7: mid-frame."""
    gate = Until()
    async with serve([CHUNKED, chunked(FRAME), b"40\r\ndata: ", gate, Reset()]) as server:
        transport = HttpTransport(server.url)
        async with transport.open(INPUT, {}) as payloads:
            assert await anext(payloads) == PAYLOAD
            gate.event.set()
            with pytest.raises(ConnectionBroken):
                await anext(payloads)
            assert [payload async for payload in payloads] == []
        await transport.aclose()


@pytest.mark.parametrize("rest", [b'data: {"type":"RUN_FI', b'data: {"type":\n'])
async def test_a_clean_end_inside_a_frame(rest: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """TR-1: nothing is made of the rest, and that is said."""
    with caplog.at_level(logging.WARNING, "client_sdk"):
        assert await answer_to(event_stream(), FRAME, rest) == ([PAYLOAD], None)
    assert [record.getMessage() for record in caplog.records] == [
        f"the stream ended inside a frame; its {len(rest.strip())} bytes are discarded"
    ]


@pytest.mark.parametrize("script", [[Until()], [event_stream(), FRAME, Until()]])
async def test_silence(script: list[Action]) -> None:
    """Before the answer begins and within it."""
    async with serve(script) as server:
        transport = HttpTransport(server.url, timeout=httpx.Timeout(20, read=0.1))
        payloads: list[str] = []
        with pytest.raises(ReadTimedOut, match="sent nothing") as caught:
            await collect(transport, payloads)
        await asyncio.wait_for(server.hung_up.wait(), 20)
        await transport.aclose()
    assert caught.value.code == "read_timeout"
    assert payloads == [PAYLOAD][: len(script) - 1]


async def test_an_agent_that_takes_no_input() -> None:
    """A server that accepts and never reads: the input does not fit into the network's buffers."""
    connected = asyncio.Event()

    async def ignore(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.pause_reading()
        connected.set()
        await done.wait()
        writer.transport.abort()

    done = asyncio.Event()
    listener = await asyncio.start_server(ignore, "127.0.0.1", 0, limit=1024)
    async with listener:
        url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/"
        transport = HttpTransport(url, timeout=httpx.Timeout(20, write=0.1))
        with pytest.raises(ConnectionBroken, match="did not take the input"):
            async with transport.open(b"x" * 64 * MIB, {}):
                pass
        assert connected.is_set()
        done.set()
        await transport.aclose()


async def test_frames_below_and_above_the_limit() -> None:
    """TR-5"""
    fits, large = b"x" * int(9.9 * MIB), b"x" * (11 * MIB)
    payloads, error = await answer_to(event_stream(), b"data: ", fits, b"\n\n" + FRAME)
    assert ([len(payload) for payload in payloads], error) == ([len(fits), len(PAYLOAD)], None)
    payloads, error = await answer_to(event_stream(), FRAME + b"data: ", large, b"\n\n" + FRAME)
    assert payloads == [PAYLOAD]
    assert isinstance(error, FrameTooLarge)
    assert (error.code, error.limit) == ("frame_too_large", 10 * MIB)


async def test_a_gibibyte_without_a_line_end() -> None:
    """TR-5: memory stays flat, and reading stops at the limit."""
    async with serve([event_stream(), FRAME, b"data: ", Repeat(b"x" * 65536, 16384)]) as server:
        transport = HttpTransport(server.url, max_frame_bytes=4 * MIB)
        payloads: list[str] = []
        tracemalloc.start()
        try:
            with pytest.raises(FrameTooLarge):
                await collect(transport, payloads)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        await asyncio.wait_for(server.hung_up.wait(), 20)
        await transport.aclose()
    assert payloads == [PAYLOAD]
    assert peak < 16 * MIB
    assert server.sent < 64 * MIB


# --- leaving early -------------------------------------------------------------------------------


@pytest.fixture
async def endless() -> AsyncIterator[Server]:
    async with serve([event_stream(), FRAME * 3, Until()]) as server:
        yield server


async def test_break_closes_the_connection(endless: Server) -> None:
    """TR-2: seen from the server, with the transport and the client still open, and usable."""
    transport = HttpTransport(endless.url)
    async with transport.open(INPUT, {}) as payloads:
        async for payload in payloads:
            assert payload == PAYLOAD
            break
    await asyncio.wait_for(endless.hung_up.wait(), 20)
    assert [payload async for payload in payloads] == []
    async with transport.open(INPUT, {}) as again:
        assert await anext(again) == PAYLOAD
    await transport.aclose()
    assert len(endless.requests) == 2


async def test_an_error_of_the_application_closes_the_connection_and_stays_its_own(endless: Server) -> None:
    """TR-2: even one that the translation table knows."""
    transport = HttpTransport(endless.url)

    async def fail() -> None:
        async with transport.open(INPUT, {}) as payloads:
            async for _ in payloads:
                raise ssl.SSLError("mine")

    with pytest.raises(ssl.SSLError, match="mine"):
        await fail()
    await asyncio.wait_for(endless.hung_up.wait(), 20)
    await transport.aclose()


@pytest.mark.parametrize("script", [[Until()], [event_stream(), Until()], [event_stream(), FRAME, Until()]])
async def test_cancelling_the_task_closes_the_connection(script: list[Action]) -> None:
    """TR-2: while the answer is waited for, and while it is read."""
    async with serve(script) as server:
        transport = HttpTransport(server.url)
        payloads: list[str] = []
        task = asyncio.create_task(collect(transport, payloads))
        await asyncio.wait_for(server.streaming.wait(), 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.hung_up.wait(), 20)
        await transport.aclose()


async def test_leaving_while_another_task_reads_ends_its_iterator(endless: Server) -> None:
    """TR-2: the application stopped it; nothing broke."""
    transport = HttpTransport(endless.url)
    exchange = transport.open(INPUT, {})
    payloads = await exchange.__aenter__()
    read = [await anext(payloads) for _ in range(3)]
    waiting = asyncio.create_task(anext(payloads, "the end"))
    await asyncio.sleep(0)
    assert not waiting.done()
    await exchange.__aexit__(None, None, None)
    assert await asyncio.wait_for(waiting, 20) == "the end"
    await asyncio.wait_for(endless.hung_up.wait(), 20)
    assert read == [PAYLOAD] * 3
    await transport.aclose()


# --- what only some stacks raise -----------------------------------------------------------------


async def test_tls_that_fails_within_the_stream() -> None:
    """httpx lets it through unwrapped."""

    class Failing(httpx.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield FRAME
            raise ssl.SSLError(1, "bad record mac")

    async def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=Failing())

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        payloads: list[str] = []
        with pytest.raises(ConnectionBroken, match="bad record mac"):
            await collect(HttpTransport("http://agent.test/", client=client), payloads)
    assert payloads == [PAYLOAD]


def test_every_error_of_httpx_has_a_row() -> None:
    """The table is complete for this httpx: all it may raise while sending and reading."""
    kinds = {value for value in vars(httpx).values() if isinstance(value, type) and issubclass(value, httpx.HTTPError)}
    for kind in kinds | {httpx.InvalidURL, OSError, TimeoutError, ssl.SSLError}:
        assert issubclass(kind, http._FOREIGN_TYPES)
