"""The HTTP + Server-Sent Events binding, over httpx (TR-3 to TR-7; page basic/transports/http-sse).

One POST carries the run input, the response body is the stream. Whatever goes wrong below the
protocol leaves this module as a :class:`~client_sdk.errors.TransportError`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from types import AsyncGeneratorType
from typing import Final, cast

import httpx

from client_sdk.diagnostics import logger
from client_sdk.errors import (
    ConnectionBroken,
    ConnectionFailed,
    ContentTypeError,
    HttpStatusError,
    ReadTimedOut,
    RequestUnusable,
    TransportError,
)
from client_sdk.options import CLIENT, FRAME_BYTES, HEADERS, TIMEOUT, URL, Wanted, check_options, optional
from client_sdk.transport.sse import MAX_FRAME_BYTES, SseDecoder

DEFAULT_TIMEOUT: Final = httpx.Timeout(connect=10.0, read=300.0, write=30.0, pool=10.0)
"""Seconds. Reading waits long, because a model may think or call tools in silence between two events."""

_OURS: Final = {"Accept": "text/event-stream", "Content-Type": "application/json"}
_HTTPX_DEFAULT: Final = httpx.Timeout(5.0)
_LAST_PORT: Final = 65535
_EXCERPT_CHARACTERS: Final = 2_000
_EXCERPT_BYTES: Final = 4 * _EXCERPT_CHARACTERS
_EXCERPT_SECONDS: Final = 5.0

# The one place where foreign exceptions become ours: the first row that fits counts, so the special
# stand above the general. ConnectionFailed is kept for what happens before the input is on its way:
# after that the agent may have begun to act, even when it has not answered a byte.
_FOREIGN: Final[tuple[tuple[type[Exception], Callable[[str], TransportError], str], ...]] = (
    (httpx.ConnectTimeout, ConnectionFailed, "no connection within the connect timeout: {}"),
    (httpx.PoolTimeout, ConnectionFailed, "every connection the HTTP client may open is in use: {}"),
    (httpx.ReadTimeout, ReadTimedOut, "the agent sent nothing for longer than the read timeout allows: {}"),
    (httpx.WriteTimeout, ConnectionBroken, "the agent did not take the input within the write timeout: {}"),
    (httpx.ConnectError, ConnectionFailed, "no connection could be made: {}"),
    (httpx.ProxyError, ConnectionFailed, "the proxy made no connection: {}"),
    (httpx.UnsupportedProtocol, RequestUnusable, "the URL cannot be used: {}"),
    (httpx.InvalidURL, RequestUnusable, "the URL cannot be used: {}"),
    # What these say of themselves would show the header, and so perhaps a credential.
    (
        httpx.LocalProtocolError,
        RequestUnusable,
        "a header has a name or value HTTP forbids (a line end, perhaps)",
    ),
    (UnicodeError, RequestUnusable, "a header has a name or value that is not ASCII"),
    (httpx.TooManyRedirects, ConnectionFailed, "the redirects do not end: {}"),
    (httpx.DecodingError, ConnectionBroken, "the answer cannot be decompressed: {}"),
    (httpx.HTTPError, ConnectionBroken, "the connection broke: {}"),
    # Not wrapped by httpx: a TLS record that cannot be read in mid-stream, for one.
    (OSError, ConnectionBroken, "the connection broke: {}"),
)
_FOREIGN_TYPES: Final = tuple(row[0] for row in _FOREIGN)

_HINTS: Final = {
    "application/vnd.ag-ui.event+proto": "this is the protobuf binding, which this client does not read",
    "text/html": "is this the address of the agent, or of a page about it?",
    "": "the answer names no content type",
}


_OPTIONS: Final[dict[str, Wanted]] = {
    "url": URL,
    "headers": optional(HEADERS),
    "client": optional(CLIENT),
    "timeout": optional(TIMEOUT),
    "max_frame_bytes": FRAME_BYTES,
}


class HttpTransport:
    """Carries runs to one agent endpoint over HTTP.

    Args:
        url: where the agent listens. With a `client` that has a base URL it may be relative to it.
        headers: request headers of every exchange; they go over those of `client`.
        client: an httpx client of yours, for its authentication, proxies, certificates, base URL or
            event hooks. It is used as it is and never closed here. Redirects are followed only
            when it follows them.
        timeout: seconds, or an `httpx.Timeout`. None stands for the timeouts of `client` when they
            were chosen (differ from httpx's own 5 s, in which no agent could think), and for
            :data:`DEFAULT_TIMEOUT` otherwise; `httpx.Timeout(None)` waits for ever.
        max_frame_bytes: size limit of one frame (TR-5).

    `Accept` and `Content-Type` are always those of the binding (TR-6): a producer that is offered a
    wildcard may answer in another binding.

    Raises:
        OptionError: ``bad_option`` — a value of the wrong kind.
    """

    def __init__(
        self,
        url: str | httpx.URL,
        *,
        headers: Mapping[str, str] | None = None,
        client: httpx.AsyncClient | None = None,
        timeout: httpx.Timeout | float | None = None,
        max_frame_bytes: int = MAX_FRAME_BYTES,
    ) -> None:
        check_options("HttpTransport", _OPTIONS, locals())
        self._url = url
        self._headers = dict(headers or {})
        self._max_frame_bytes = max_frame_bytes
        self._owns_client = client is None
        # A run holds its connection for as long as it streams, so the number of runs is not limited here.
        self._client = client or httpx.AsyncClient(
            timeout=DEFAULT_TIMEOUT, limits=httpx.Limits(max_keepalive_connections=20)
        )
        self._timeout = _choose_timeout(timeout, self._client)

    @asynccontextmanager
    async def open(self, body: bytes, headers: Mapping[str, str]) -> AsyncGenerator[AsyncIterator[str], None]:
        """POST `body` and enter the stream of payloads that answers it.

        Args:
            body: the RunAgentInput as one JSON object in UTF-8.
            headers: request headers of this exchange; they go over those of the transport.

        Returns:
            A context manager that yields the iterator of payloads. Leaving it closes the connection at
            once unless the answer was read to its end. An iterator that another task is reading then
            just ends: the application stopped it, nothing broke (TR-2).

        Raises:
            RequestUnusable: the request cannot be sent at all.
            ConnectionFailed: no connection was made.
            ConnectionBroken: the connection broke; from the iterator, after every complete payload.
            ReadTimedOut: nothing came for longer than the read timeout; likewise.
            HttpStatusError: the status is not 2xx, redirects included (TR-3).
            ContentTypeError: the answer is 2xx but not `text/event-stream`.
            FrameTooLarge: from the iterator (TR-5).
        """
        response = await self._send(body, headers)
        stream = _Stream(response, SseDecoder(self._max_frame_bytes))
        try:
            await _check(response)
            yield stream.payloads
        finally:
            await stream.aclose()

    async def aclose(self) -> None:
        """Close the HTTP client, if it was made here."""
        if self._owns_client:
            await self._client.aclose()

    async def _send(self, body: bytes, headers: Mapping[str, str]) -> httpx.Response:
        if self._client.is_closed:
            raise RequestUnusable(f"the HTTP client is closed (POST {shown_url(self._url)})")
        try:
            merged = httpx.Headers(self._headers)
            merged.update(headers)
            merged.update(_OURS)
            request = self._client.build_request("POST", self._url, content=body, headers=merged, timeout=self._timeout)
            if (request.url.port or 0) > _LAST_PORT:  # httpx passes it on, and asyncio overflows
                raise httpx.InvalidURL(f"port {request.url.port} is above {_LAST_PORT}")
            return await self._client.send(request, stream=True)
        except httpx.HTTPStatusError as error:
            # A response hook of the client's own has judged the status already.
            raise await _status_error(error.response) from error
        except _FOREIGN_TYPES as error:
            raise _translated(error, self._url) from error


class _Stream:
    """One answer being read: the iterator, and its end from either side."""

    def __init__(self, response: httpx.Response, decoder: SseDecoder) -> None:
        self._response = response
        self._decoder = decoder
        self._stopped = False
        self.payloads = cast(AsyncGeneratorType[str, None], self._read())

    async def _read(self) -> AsyncGenerator[str, None]:
        decoder = self._decoder
        try:
            async for chunk in self._response.aiter_bytes():
                for payload in decoder.feed(chunk):
                    yield payload
                if decoder.error is not None:
                    raise decoder.error
        except _FOREIGN_TYPES as error:
            if self._stopped:
                return
            raise _translated(error, self._response.url) from error
        for payload in decoder.close():
            yield payload
        if decoder.discarded:
            logger.warning("the stream ended inside a frame; its %d bytes are discarded", decoder.discarded)

    async def aclose(self) -> None:
        self._stopped = True
        await self._response.aclose()
        # A generator that another task waits in cannot be closed from here; it ends by itself,
        # as its socket is gone.
        if not self.payloads.ag_running:
            await self.payloads.aclose()


def _choose_timeout(timeout: httpx.Timeout | float | None, client: httpx.AsyncClient) -> httpx.Timeout:
    if timeout is not None:
        return httpx.Timeout(timeout)
    return DEFAULT_TIMEOUT if client.timeout == _HTTPX_DEFAULT else client.timeout


def _translated(error: Exception, url: str | httpx.URL) -> TransportError:
    kind, said = next((kind, said) for foreign, kind, said in _FOREIGN if isinstance(error, foreign))
    return kind(f"{said.format(str(error) or type(error).__name__)} (POST {shown_url(url)})")


def shown_url(url: str | httpx.URL) -> str:
    """Return `url` for a message: without the parts that may hold a secret, user name, password and query."""
    try:
        return str(httpx.URL(url).copy_with(userinfo=b"", query=None, fragment=None))
    except httpx.InvalidURL:
        return "to an invalid URL"


async def _check(response: httpx.Response) -> None:
    """Raise unless `response` opens an event stream."""
    if not response.is_success:
        raise await _status_error(response)
    content_type = response.headers.get("content-type", "")
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type == "text/event-stream":
        return
    hint = f": {_HINTS[media_type]}" if media_type in _HINTS else ""
    raise ContentTypeError(
        f"POST {shown_url(response.url)} answered {response.status_code} "
        f"with {media_type or 'no content type'!r} instead of 'text/event-stream'{hint}",
        content_type=media_type,
        body=await _excerpt(response),
    )


async def _status_error(response: httpx.Response) -> HttpStatusError:
    body = await _excerpt(response)
    return HttpStatusError(
        _status_message(response, body),
        status=response.status_code,
        body=body,
        headers=dict(response.headers),
    )


def _status_message(response: httpx.Response, body: str) -> str:
    said = f"POST {shown_url(response.url)} answered {response.status_code} {response.reason_phrase}".rstrip()
    location = response.headers.get("location")
    if location is not None and response.status_code // 100 == 3:
        return f"{said}, Location: {location}; only an HTTP client of yours can follow redirects"
    return f"{said}: {' '.join(body.split())[:200]}" if body.strip() else said


async def _excerpt(response: httpx.Response) -> str:
    """Read the beginning of a body that is no stream; what breaks or stalls on the way ends it."""
    raw = b""
    with suppress(httpx.StreamError, *_FOREIGN_TYPES):
        async with asyncio.timeout(_EXCERPT_SECONDS):
            async for chunk in response.aiter_bytes():
                raw += chunk
                if len(raw) >= _EXCERPT_BYTES:
                    break
    return raw.decode(response.encoding or "utf-8", "replace")[:_EXCERPT_CHARACTERS]
