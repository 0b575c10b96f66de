"""The stream decoder: grammar, cuts, limits (TR-4, TR-5)."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable
from itertools import pairwise

import httpx
import pytest
from httpx_sse import EventSource
from hypothesis import example, given
from hypothesis import strategies as st

from client_sdk.errors import FrameTooLarge
from client_sdk.transport.sse import MAX_FRAME_BYTES, SseDecoder

MIB = 1024 * 1024


def decode(chunks: Iterable[bytes], limit: int = MAX_FRAME_BYTES) -> tuple[list[str], bool, int]:
    """Return the payloads, whether the limit was hit, and what the end discarded."""
    decoder = SseDecoder(limit)
    payloads: list[str] = []
    for chunk in chunks:
        payloads += decoder.feed(chunk)
        if decoder.error is not None:
            return payloads, True, 0
    payloads += decoder.close()
    return payloads, False, decoder.discarded


def cut(data: bytes, places: Iterable[int]) -> list[bytes]:
    at = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(at)]


def through_httpx_sse(data: bytes) -> list[str]:
    """What the public reader of httpx-sse makes of the same bytes; it reports frames without data, too."""
    response = httpx.Response(200, headers={"content-type": "text/event-stream"}, content=data)
    return [event.data for event in EventSource(response).iter_sse() if event.data]


CASES = {
    "one line": (b'data: {"a":1}\n\n', ['{"a":1}']),
    "no space after the colon": (b'data:{"a":1}\n\n', ['{"a":1}']),
    "only one space is taken": (b"data:   x \n\n", ["  x "]),
    "several lines": (b'data: {\ndata:  "a": 1\ndata: }\n\n', ['{\n "a": 1\n}']),
    "many frames at once": (b"data: 1\n\ndata: 2\n\ndata: 3\n\n", ["1", "2", "3"]),
    "frames of both shapes": (b"data: 1\n\ndata: 2\ndata: 3\n\ndata: 4\n\n", ["1", "2\n3", "4"]),
    "blank lines between": (b"\n\ndata: 1\n\n\n\n\ndata: 2\n\n\n", ["1", "2"]),
    "CRLF": (b"data: 1\r\n\r\ndata: 2\r\ndata: 3\r\n\r\n", ["1", "2\n3"]),
    "CR": (b"data: 1\r\rdata: 2\rdata: 3\r\r", ["1", "2\n3"]),
    "mixed line ends": (b"data: 1\r\n\ndata: 2\n\rdata: 3\r\r\n", ["1", "2", "3"]),
    "CRLF comments in an LF stream": (b"data: 1\n\n: keepalive\r\n\r\ndata: 2\n\n", ["1", "2"]),
    "comment inside a frame": (b"data: 1\n: hello\n:\ndata: 2\n\n", ["1\n2"]),
    "event, id, retry": (b"event: x\nid: 7\nretry: 10\ndata: 1\n\nid\n\ndata: 2\nevent: y\n\n", ["1", "2"]),
    "unknown and near-miss fields": (b"dat: 0\ndata2: 0\n data: 0\nDATA: 0\nfoo\ndata: 1\n\n", ["1"]),
    "no data is no frame": (b"event: x\n\ndata:\n\ndata\n\ndata: \n\ndata: 1\n\n", ["1"]),
    "empty data among others": (b"data: 1\n\ndata: \n\ndata: 2\n\n", ["1", "2"]),
    "empty lines of data count as lines": (b"data\ndata\n\ndata: 1\ndata\n\n", ["\n", "1\n"]),
    "a colon in the value": (b"data: a: b\n\n", ["a: b"]),
    "byte order mark": (b"\xef\xbb\xbfdata: 1\n\n", ["1"]),
    "only the first byte order mark": (
        b"\xef\xbb\xbf\xef\xbb\xbfdata: 1\n\ndata: \xef\xbb\xbf2\n\n",
        ["\ufeff2"],
    ),
    "half a byte order mark": (b"\xef\xbbdata: 1\n\ndata: 2\n\n", ["2"]),
    "invalid UTF-8": (b"data: a\xffb\xc3\n\ndata: \xe2\x82\n\n", ["a\ufffdb\ufffd", "\ufffd"]),
    "other line separators are text": (
        "data: a\u2028b\u0085c\x0bd\x0ce\n\n".encode(),
        ["a\u2028b\u0085c\x0bd\x0ce"],
    ),
    "NUL": (b"data: a\0b\n\n", ["a\0b"]),
    "nothing": (b"", []),
    "only comments": (b": 1\n\n: 2\n\n", []),
}


@pytest.mark.parametrize(("data", "payloads"), CASES.values(), ids=CASES.keys())
def test_grammar(data: bytes, payloads: list[str]) -> None:
    """TR-4, whole and byte by byte."""
    assert decode([data]) == (payloads, False, 0)
    assert decode(data[i : i + 1] for i in range(len(data))) == (payloads, False, 0)


@pytest.mark.parametrize(
    ("data", "payloads", "lost"),
    [
        (b"data: 1\n\ndata: 2", ["1"], 7),
        (b"data: 1\n\ndata: 2\n", ["1"], 7),
        (b"data: 1\n\ndata: 2\ndata: 3", ["1"], 14),
        (b"data: 1\r\rdata: 2\r", ["1"], 7),
        (b"data: 1\n\n: comm", ["1"], 6),
        (b"data: 1\n\nevent: x\n", ["1"], 8),
        (b"\xef\xbb", [], 2),
        (b'data: {"a":', [], 11),
        (b"data: [1]", [], 9),
        (b'data: {"a":1}', ['{"a":1}'], 0),
        (b'data: {"a":1}\n', ['{"a":1}'], 0),
        (b'data: {\ndata: "a":1}', ['{\n"a":1}'], 0),
        (b'data: {"a":1}\n: comment', ['{"a":1}'], 0),
    ],
)
def test_an_unfinished_frame_is_discarded_and_counted(data: bytes, payloads: list[str], lost: int) -> None:
    """TR-1: a stream cut inside a frame must not pass for one that ended; a whole object was not cut inside."""
    assert decode([data]) == (payloads, False, lost)


def test_a_frame_of_a_cr_stream_does_not_wait_for_the_next() -> None:
    """TR-4"""
    decoder = SseDecoder()
    assert decoder.feed(b"data: 1\r\r") == ["1"]
    assert decoder.feed(b"\ndata: 2\r\n\r") == ["2"]
    assert decoder.feed(b"") == []
    assert decoder.feed(b"\ndata: 3\n\n") == ["3"]


PIECES = st.sampled_from(
    [
        b"data: ",
        b"data:",
        b"data",
        b"event: x",
        b"id: 1",
        b"retry: 5",
        b": c",
        b"\n",
        b"\n\n",
        b"\r",
        b"\r\n",
        b"\r\n\r\n",
        b'{"type":"X"}',
        b"a",
        b" ",
        b":",
        b"\xff",
        b"\xc3",
        "é\u2028😀".encode(),
        b"\xef\xbb\xbf",
        b"data: {}\n\n",
    ]
)
STREAMS = st.lists(PIECES, max_size=40).map(b"".join)


@given(STREAMS, st.lists(st.integers(min_value=0), max_size=12), st.sampled_from([6, 9, 20, MAX_FRAME_BYTES]))
@example(b"\xef\xbb\xbfdata: 1\r\n\r\n", [1, 2, 11, 13], MAX_FRAME_BYTES)
def test_any_cut_gives_equal_payloads(data: bytes, places: list[int], limit: int) -> None:
    """TR-4, TR-5: even where the limit is hit, the same frames came before."""
    assert decode(cut(data, places), limit) == decode([data], limit)


@given(STREAMS)
def test_agrees_with_httpx_sse(data: bytes) -> None:
    """TR-4: two readers of one grammar. Left aside is what httpx-sse is known to get wrong.

    That is the byte order mark, and the last frame where a CR is the last byte.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    if data.startswith((b"\xef\xbb\xbf", b"\xef")):
        data = b"\n" + data
    if data.endswith(b"\r"):
        data += b"x"
    # Its frames without data are left out there, and two empty lines of data are a payload in both. What a
    # stream that ends inside a frame leaves behind is for `close`.
    assert SseDecoder().feed(data) == through_httpx_sse(data)


@given(st.lists(st.text(min_size=1), max_size=20), st.booleans())
def test_the_short_way_equals_the_long_one(texts: list[str], by_line: bool) -> None:
    """A comment ahead sends a chunk the long way."""
    payloads = ["".join(text.split("\n")).replace("\r", "") or "x" for text in texts]
    stream = b"".join(f"data: {payload}\n\n".encode("utf-8", "replace") for payload in payloads)
    chunks = stream.splitlines(keepends=True) if by_line else [stream]
    assert decode(chunks) == decode([b": long\n" + stream])


@pytest.mark.parametrize("step", [1000, 64 * 1024, 20 * MIB])
def test_frames_up_to_the_limit_pass_and_larger_ones_do_not(step: int) -> None:
    """TR-5"""
    fits = b"data: " + b"x" * int(9.9 * MIB) + b"\n\n"
    large = b"data: " + b"x" * (11 * MIB) + b"\n\n"
    payloads, failed, _ = decode(cut(fits, range(0, len(fits), step)))
    assert [len(payload) for payload in payloads] == [len(fits) - 8]
    assert not failed
    stream = b"data: 1\n\n" + large + b"data: 2\n\n"
    assert decode(cut(stream, range(0, len(stream), step))) == (["1"], True, 0)


def test_the_limit_is_of_one_frame_and_to_the_byte() -> None:
    """TR-5: field lines count, line ends and comments do not, and every frame starts anew."""
    exact = b"data: 1234\r\n: abc\n\r\n"
    assert decode([exact * 100], 15) == (["1234"] * 100, False, 0)
    assert decode([b"data: 12\ndata: 34\n\n"], 16) == (["12\n34"], False, 0)
    assert decode([b"data: 12\ndata: 34\n\n"], 15) == ([], True, 0)
    assert decode([b"data: 12\nid: 1\n" * 2], 25) == ([], True, 0)
    assert decode([b"data: 12345\n\n"], 10) == ([], True, 0)
    assert decode([b": a comment that is too long\n"], 10) == ([], True, 0)
    assert decode([b": ping\n" * 1000 + b"data: 1\n\n"], 10) == (["1"], False, 0)


def test_nothing_is_read_after_the_limit() -> None:
    """TR-5"""
    decoder = SseDecoder(8)
    assert decoder.feed(b"data: 1\n\ndata: 23456\n\ndata: 2\n\n") == ["1"]
    assert isinstance(decoder.error, FrameTooLarge)
    assert decoder.error.limit == 8
    assert "8 bytes" in decoder.error.message
    with pytest.raises(FrameTooLarge):
        decoder.feed(b"data: 3\n\n")


def test_a_limit_below_one_byte_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        SseDecoder(0)


def test_memory_stays_flat_however_much_is_fed() -> None:
    """TR-5: many small frames, then one that never ends."""
    frames = b"data: " + b"x" * 100 + b"\n\n"
    decoder = SseDecoder(MIB)
    tracemalloc.start()
    try:
        for _ in range(2000):
            decoder.feed(frames * 100)
        for _ in range(100):
            if decoder.error is None:
                decoder.feed(b"y" * 64 * 1024)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert decoder.error is not None
    assert peak < 4 * MIB
