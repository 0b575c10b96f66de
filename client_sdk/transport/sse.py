"""Server-Sent Events to payloads, without any input or output of its own (TR-4, TR-5).

The grammar is the WHATWG one: UTF-8 with faulty bytes replaced by U+FFFD, one byte order mark at the
very start dropped, lines that end in LF, CR or CRLF, a blank line ends a frame, `data` lines join with
LF, everything else is passed over, and a frame without data is no frame.

The grammar of a frame is httpx-sse's. Around it stands what it does not do: it has no size limit, it
loses the first frame after a byte order mark and holds the last frame of a CR stream back. And before it
stands a short way for the one spelling nearly every producer uses, a frame of one `data: ` line.
"""

from __future__ import annotations

from collections.abc import Iterator

import httpx
from httpx_sse import EventSource
from pydantic_core import from_json

from client_sdk.errors import FrameTooLarge

MAX_FRAME_BYTES = 10 * 1024 * 1024
"""Default size limit of one frame, in bytes (TR-5)."""

_BOM = b"\xef\xbb\xbf"
_USUAL = b"data: "


class SseDecoder:
    """Splits the bytes of an event stream into the `data` payloads of its frames.

    Feed it chunks as they come; how the bytes are cut makes no difference to what comes out. ::

        decoder = SseDecoder()
        for chunk in chunks:
            for payload in decoder.feed(chunk):
                ...
            if decoder.error is not None:
                raise decoder.error
        last = decoder.close()

    The size of a frame is the bytes of its field lines, line ends apart. Comments are not part of
    it, as they may come at any cadence, but each has to fit beside it while it is read.

    Attributes:
        error: why the stream cannot be read further, None while it can. Payloads that were complete
            before are returned first, so it is an attribute beside the result.
        discarded: how many bytes of an unfinished last frame the end of the stream discarded.
    """

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        if max_frame_bytes < 1:
            raise ValueError(f"max_frame_bytes must be at least 1, not {max_frame_bytes}")
        self.error: FrameTooLarge | None = None
        self.discarded = 0
        self._limit = max_frame_bytes
        self._start: bytes | None = b""  # the first bytes, until it is clear whether they are a BOM
        self._after_cr = False
        self._line = bytearray()  # the current line, as far as it has come
        self._fields: list[bytes] = []  # the field lines of the current frame
        self._frame_bytes = 0  # the size of all its finished field lines

    def feed(self, chunk: bytes) -> list[str]:
        """Take the next bytes and return the payloads they complete (list of str).

        Raises:
            FrameTooLarge: when it is fed although :attr:`error` is set.
        """
        if self.error is not None:
            raise self.error
        payloads: list[str] = []
        try:
            self._split(self._unify(chunk), payloads)
        except FrameTooLarge as error:
            self.error = error
        return payloads

    def close(self) -> list[str]:
        """Say that the stream has ended in good order, and return what that completes (list of str).

        The grammar discards a frame that no blank line ended, so that a stream cut inside a frame never
        passes for one that ended (TR-1). A last frame whose data is a whole JSON object was not cut inside:
        its blank line alone is missing, as in files that an editor has trimmed, and it is handed over as the
        reference client does. Whatever else is left counts into :attr:`discarded`.
        """
        rest = bytes(self._line) + (self._start or b"")
        fields = [*self._fields, *([rest] if rest and not rest.startswith(b":") else [])]
        last = [payload for payload in _read([*fields, b""]) if _is_object(payload)] if fields else []
        self.discarded = 0 if last else self._frame_bytes + len(rest)
        return last

    def _unify(self, chunk: bytes) -> bytes:
        """Drop the byte order mark and make every line end an LF."""
        if self._start is not None:
            chunk = self._start + chunk
            if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
                self._start = chunk
                return b""
            self._start = None
            chunk = chunk.removeprefix(_BOM)
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if b"\r" in chunk:
            # A CR ends its line at once; were it held back, the last frame would wait for the next one.
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return chunk

    def _split(self, chunk: bytes, payloads: list[str]) -> None:
        cut = chunk.rfind(b"\n") + 1
        if cut:
            lines = bytes(self._line) + chunk[:cut]
            self._line.clear()
            usual = self._usual(lines)
            payloads += self._frames(lines) if usual is None else usual
        self._line += chunk[cut:]
        self._check(len(self._line))

    def _usual(self, lines: bytes) -> list[str] | None:
        """Return the payloads of `lines` when all of it is frames of one `data: ` line, else None.

        Nearly every producer sends nothing else, so this is the way that has to be fast: it costs a
        few calls a chunk, not a frame. The parts hold no line end of their own exactly when the
        separators between them, and the last one, account for all there are.
        """
        whole = lines.startswith(_USUAL) and lines.endswith(b"\n\n") and not self._frame_bytes
        if not whole or len(lines) > self._limit:
            return None
        parts = str(lines[len(_USUAL) : -2], "utf-8", "replace").split("\n\ndata: ")
        if lines.count(b"\n") != 2 * len(parts):
            return None
        return parts if all(parts) else [part for part in parts if part]

    def _frames(self, lines: bytes) -> Iterator[str]:
        """Yield the payloads of the frames that `lines` complete, whatever their spelling."""
        whole: list[bytes] = []
        try:
            for line in lines[:-1].split(b"\n"):
                self._take_line(line, whole)
        finally:
            # Also when a later frame is too large: what was complete before it is handed over.
            yield from _read(whole)

    def _take_line(self, line: bytes, whole: list[bytes]) -> None:
        self._check(len(line))
        if not line:
            whole += self._fields
            whole.append(b"")
            self._fields.clear()
            self._frame_bytes = 0
        elif not line.startswith(b":"):
            self._frame_bytes += len(line)
            self._fields.append(line)

    def _check(self, line_bytes: int) -> None:
        if self._frame_bytes + line_bytes > self._limit:
            self._line.clear()
            raise FrameTooLarge(
                f"a frame of the stream is larger than {self._limit:,} bytes; reading stopped there",
                limit=self._limit,
            )


def _is_object(payload: str) -> bool:
    try:
        return isinstance(from_json(payload), dict)
    except ValueError:
        return False


def _read(lines: list[bytes]) -> Iterator[str]:
    """Yield the payloads of whole frames, by httpx-sse's reading of their lines."""
    if lines:
        response = httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=b"\n".join(lines) + b"\n")
        for sse in EventSource(response).iter_sse():
            if sse.data:
                yield sse.data
