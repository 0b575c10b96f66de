"""Recorded streams: reading them in every form they are kept in, and writing them.

How the form of a source is told, by its first bytes and without regard to its name:

1. A UTF-8 byte order mark is dropped. A source that starts like UTF-16, gzip or the protobuf binding is
   none. One that is empty or blank is a stream that ended before its first frame.
2. The first character that is not white space is `{` or `[`: JSON.

   - One list is a **JSON document**, each element a frame.
   - One object that has `stream` and no `type` is a **conformance fixture**: `stream` is the list of
     frames; `name`, `input` and `client.maxProtocolVersion` are kept.
   - One object that has a `type` is a single frame, however many lines it takes; one that has neither
     is a single faulty frame on one line, and no recording on several.
   - What is not one JSON value is **JSON Lines**, one frame a line, blank lines apart. If it starts with `[`,
     some line has to be a JSON object: else it is a list that is cut off or faulty, and no recording.

3. A line starts with `data`, or the first line that is not blank starts with `event`, `id`, `retry` or a
   colon: **SSE text**, in LF, CR or CRLF lines. It may hold no frame at all, and may be cut off anywhere,
   inside its first word too.
4. Some line is a JSON object: JSON Lines that start with a faulty line.
5. Everything else is no recording.

A faulty frame is not judged here: its text is handed over as it stands, so that the pipeline gives the
verdict it gives on a live stream (PR-8). Frames of JSON documents are cut out of the text, not written anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO, Final, Literal, TypeVar

from client_sdk.diagnostics import logger
from client_sdk.errors import FrameTooLarge, SourceError
from client_sdk.transport.base import Transport
from client_sdk.transport.sse import MAX_FRAME_BYTES, SseDecoder

_BOM: Final = b"\xef\xbb\xbf"
_BLANK: Final = " \t\r\n"  # white space as JSON has it
_SLICE: Final = 64 * 1024
_SSE: Final = re.compile(rb"(?:\A|[\r\n])data(?:[:\r\n]|\Z)|\A[\r\n]*(?::|(?:event|id|retry)(?:[:\r\n]|\Z))")
_FIELDS: Final = (b"data:", b"event:", b"id:", b"retry:")
_LINE_END: Final = re.compile(r"\r\n|\r|\n")
# Only the extent of values is asked of it: numbers too long for Python's int must not stop it.
_SCANNER: Final = json.JSONDecoder(parse_int=float)
_NOT_TEXT: Final = (
    (b"\x1f\x8b", "it is compressed with gzip: unpack it first"),
    (b"\xff\xfe", "it is UTF-16: save it as UTF-8"),
    (b"\xfe\xff", "it is UTF-16: save it as UTF-8"),
    (b"\x00", "it is binary; the protobuf binding is not read"),
)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class RecordedStream:
    """One recorded stream, and what the source says about it.

    Attributes:
        form: how it was kept.
        name: the fixture's name, None elsewhere.
        input: the fixture's `input` (messages, tools, state the run starts from), None without one.
        max_protocol_version: the highest version the fixture's peer is known to speak, None without one.
    """

    form: Literal["sse", "json-lines", "json"]
    name: str | None
    input: dict[str, Any] | None
    max_protocol_version: str | None
    _read: Callable[[], Iterator[str]]

    @property
    def frames(self) -> Iterator[str]:
        """A new iterator over the payloads (str), from the first one.

        Raises:
            FrameTooLarge: from the iterator, in the place of a frame that exceeds the limit (TR-5).
        """
        return self._read()


def read_source(data: bytes, *, max_frame_bytes: int = MAX_FRAME_BYTES) -> RecordedStream:
    """Read a recorded stream, in the forms and by the rules this module lists.

    Args:
        data: the whole source.
        max_frame_bytes: size limit of one frame (TR-5), as on a live stream.

    Raises:
        SourceError: the source is no recording.
    """
    content = data.removeprefix(_BOM)
    for magic, why in _NOT_TEXT:
        if content.startswith(magic):
            raise SourceError(f"the source is no recorded stream: {why}")
    stripped = content.strip(_BLANK.encode())
    if stripped[:1] in (b"{", b"["):
        return _json(stripped.decode("utf-8", "replace"), max_frame_bytes)
    if any(field.startswith(stripped) for field in _FIELDS) or _SSE.search(content):
        return RecordedStream("sse", None, None, None, lambda: _sse_frames(data, max_frame_bytes))
    lines = _lines(stripped.decode("utf-8", "replace"))
    if any(map(_is_object, lines)):
        return _text_frames("json-lines", lines, max_frame_bytes)
    raise SourceError(
        "the source is neither SSE text, nor JSON Lines of events, nor a JSON list of events, nor a JSON "
        f"object with `stream`; it starts with {lines[0][:40]!r}"
    )


class Recorder:
    """Writes the frames of a run to a file, as SSE text that :func:`read_source` reads back.

    ::

        with open("run.sse", "wb") as file:
            async with HttpTransport(url) as live: ...
            transport = Recorder(file).tee(live)

    Several exchanges may follow each other in one file: a stream may carry several runs.

    Args:
        file: a binary file open for writing. It stays the caller's to close.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        # A run that brought no frame must leave a stream without frames, not an empty file.
        file.write(b": AG-UI event stream\n\n")

    def write(self, payload: str) -> None:
        """Write one payload as one frame, each of its lines as a `data` line (TR-4).

        Raises:
            OSError: as the file does.
        """
        lines = "".join(f"data: {line}\n" for line in _LINE_END.split(payload))
        self._file.write(f"{lines}\n".encode())

    def tee(self, transport: Transport) -> Transport:
        """Return a transport that does what `transport` does, and writes each payload before yielding it."""
        return _Tee(transport, self)

    def flush(self) -> None:
        """Hand what is written to the operating system."""
        self._file.flush()


class _Tee:
    def __init__(self, transport: Transport, recorder: Recorder) -> None:
        self._transport = transport
        self._recorder = recorder

    def open(self, body: bytes, headers: Mapping[str, str]) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        return self._open(body, headers)

    @asynccontextmanager
    async def _open(self, body: bytes, headers: Mapping[str, str]) -> AsyncGenerator[AsyncIterator[str], None]:
        async with self._transport.open(body, headers) as payloads:
            try:
                yield self._copied(payloads)
            finally:
                self._recorder.flush()

    async def _copied(self, payloads: AsyncIterator[str]) -> AsyncGenerator[str, None]:
        async for payload in payloads:
            self._recorder.write(payload)
            yield payload

    async def aclose(self) -> None:
        await self._transport.aclose()


def _sse_frames(data: bytes, limit: int) -> Iterator[str]:
    decoder = SseDecoder(limit)
    for at in range(0, len(data), _SLICE):
        yield from decoder.feed(data[at : at + _SLICE])
        if decoder.error is not None:
            raise decoder.error
    yield from decoder.close()
    if decoder.discarded:
        logger.warning("the recorded stream ends inside a frame; its %d bytes are discarded", decoder.discarded)


def _text_frames(form: Literal["json-lines", "json"], frames: list[str], limit: int) -> RecordedStream:
    return RecordedStream(form, None, None, None, lambda: _limited(frames, limit))


def _limited(frames: list[str], limit: int) -> Iterator[str]:
    for frame in frames:
        # A character takes at most four bytes, so only long frames have to be measured.
        if 4 * len(frame) > limit and len(frame.encode()) > limit:
            raise FrameTooLarge(f"a frame of the recording is larger than {limit:,} bytes", limit=limit)
        yield frame


def _json(text: str, limit: int) -> RecordedStream:
    """Read a source whose first character is `{` or `[`."""
    try:
        document = _SCANNER.decode(text)
    except (ValueError, RecursionError) as error:
        lines = _lines(text)
        if text.startswith("{") or any(map(_is_object, lines)):
            return _text_frames("json-lines", lines, limit)
        raise SourceError(f"the source starts like a JSON list but cannot be read as one: {error}") from error
    if isinstance(document, list):
        return _text_frames("json", _values(text), limit)
    if "stream" in document and "type" not in document:
        return _fixture(text, limit)
    if "type" in document or not _LINE_END.search(text):
        return _text_frames("json-lines", [text], limit)
    raise SourceError("the source is a JSON object that is no event (no `type`) and holds no `stream`")


def _fixture(text: str, limit: int) -> RecordedStream:
    keys_and_values = _values(text)
    members = {json.loads(key): value for key, value in zip(keys_and_values[::2], keys_and_values[1::2], strict=True)}
    stream = members["stream"]
    if not stream.startswith("["):
        raise SourceError(f"the fixture's `stream` must be a list of events, not {stream[:40]}")
    frames = _values(stream)
    client = _member(members, "client", dict, "an object") or {}
    version = client.get("maxProtocolVersion")
    if version is not None and not isinstance(version, str):
        raise SourceError(f"the fixture's `client.maxProtocolVersion` must be a string, not {version!r:.40}")
    return RecordedStream(
        "json",
        _member(members, "name", str, "a string"),
        _member(members, "input", dict, "an object"),
        version,
        lambda: _limited(frames, limit),
    )


def _member(members: dict[str, str], name: str, kind: type[_T], expected: str) -> _T | None:
    """Return the fixture's member `name`, None without one; raise SourceError when it is not of `kind`."""
    if name not in members:
        return None
    try:
        value = json.loads(members[name])
    except ValueError as error:
        raise SourceError(f"the fixture's `{name}` cannot be read: {error}") from error
    if not isinstance(value, kind):
        raise SourceError(f"the fixture's `{name}` must be {expected}, not {members[name][:40]}")
    return value


def _values(text: str) -> list[str]:
    """Return the texts of the values in the JSON list or object `text`.

    In an object they are keys and values in turn. `text` is known to be valid, so what stands
    between two values need not be looked at.
    """
    values: list[str] = []
    at = _gap_end(text, 1)
    while text[at] not in "]}":
        end = _SCANNER.raw_decode(text, at)[1]
        values.append(text[at:end])
        at = _gap_end(text, end)
    return values


def _gap_end(text: str, at: int) -> int:
    while text[at] in " \t\r\n,:":
        at += 1
    return at


def _lines(text: str) -> list[str]:
    return [line for line in _LINE_END.split(text) if line.strip(_BLANK)]


def _is_object(line: str) -> bool:
    try:
        return isinstance(_SCANNER.decode(line), dict)
    except (ValueError, RecursionError):
        return False
