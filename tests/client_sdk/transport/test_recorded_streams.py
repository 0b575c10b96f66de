"""Recorded streams in every form, and the recorder (TR-4, TR-5, PR-8)."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client_sdk.errors import ClientError, ConnectionBroken, FrameTooLarge, SourceError
from client_sdk.transport.http import HttpTransport
from client_sdk.transport.replay import RecordedStream, Recorder, read_source
from tests.client_sdk.servers import Until, event_stream, serve

A = '{"type":"RUN_STARTED","threadId":"t","runId":"r"}'
B = '{"type":"RUN_FINISHED","threadId":"t","runId":"r"}'
DEEP = '{"type":"CUSTOM","name":"deep","value":' + "[" * 5000 + "]" * 5000 + "}"
SHARED = Path(os.environ.get("AG_UI_SHARED", Path(__file__).parents[4] / "shared"))


def frames(source: str | bytes) -> list[str]:
    return list(read_source(source.encode() if isinstance(source, str) else source).frames)


SOURCES = {
    "SSE": (f"data: {A}\n\ndata: {B}\n\n", "sse", [A, B]),
    "SSE in CRLF": (f"data: {A}\r\n\r\ndata: {B}\r\n\r\n", "sse", [A, B]),
    "SSE in CR": (f"data: {A}\r\rdata: {B}\r\r", "sse", [A, B]),
    "SSE with a byte order mark": (f"\ufeffdata: {A}\n\n", "sse", [A]),
    "SSE after blank lines": (f"\n\r\n\ndata: {A}\n\n", "sse", [A]),
    "SSE that starts with a comment": (f": hello\n\ndata: {A}\n\n", "sse", [A]),
    "SSE that starts with other fields": (f"event: x\nid: 3\nretry: 5\ndata:{A}\n\n", "sse", [A]),
    "SSE that starts with unknown fields": (f"foo: x\ndata: {A}\n\n", "sse", [A]),
    "SSE of no frame": (": nothing came\n\n", "sse", []),
    "SSE of a frame without data": ("event: x\n\n", "sse", []),
    "SSE of a bare field": ("id", "sse", []),
    "SSE with a faulty frame": (f"data: {{oops\n\ndata: {A}\n\n", "sse", ["{oops", A]),
    "SSE of several lines": ("data: {\ndata: }\n\n", "sse", ["{\n}"]),
    "lines": (f"{A}\n{B}\n", "json-lines", [A, B]),
    "lines without the last end": (f"{A}\n{B}", "json-lines", [A, B]),
    "lines in CRLF, with blank ones": (f"\r\n{A}\r\n\r\n  \r\n{B}\r\n", "json-lines", [A, B]),
    "lines that only look blank": (f"{A}\n\u00a0\n\x1c", "json-lines", [A, "\u00a0", "\x1c"]),
    "lines with a byte order mark": (f"\ufeff{A}\n{B}\n", "json-lines", [A, B]),
    "one line": (A, "json-lines", [A]),
    "one line that is no event": ('{"foo":1}', "json-lines", ['{"foo":1}']),
    "one faulty line": ('{"type":"RUN_STA', "json-lines", ['{"type":"RUN_STA']),
    "first line faulty": (f'{{"type":\n{A}', "json-lines", ['{"type":', A]),
    "first line a list": (f"[1, 2]\n{A}", "json-lines", ["[1, 2]", A]),
    "first line a word": (f"hello\n{A}", "json-lines", ["hello", A]),
    "first line a scalar": (f"42\n{A}", "json-lines", ["42", A]),
    "last line cut off": (f'{A}\n{{"type":"RUN_FIN', "json-lines", [A, '{"type":"RUN_FIN']),
    "faulty lines between": (f'{A}\nnull\n"x"\n}}{{\n{B}', "json-lines", [A, "null", '"x"', "}{", B]),
    "line separators in strings": (
        '{"type":"a\u2028b\u0085c"}\n{}',
        "json-lines",
        ['{"type":"a\u2028b\u0085c"}', "{}"],
    ),
    "one deep line": (DEEP, "json-lines", [DEEP]),
    "a deep line first": (f"{DEEP}\n{A}", "json-lines", [DEEP, A]),
    "one event over several lines": ('{\n "type": "X"\n}\n', "json-lines", ['{\n "type": "X"\n}']),
    "an event with a member stream": ('{"type":"X","stream":[1]}', "json-lines", ['{"type":"X","stream":[1]}']),
    "list": (f"[{A},{B}]", "json", [A, B]),
    "list over several lines": (f" [\n  {A} ,\r\n\t{B}\n]\n\n", "json", [A, B]),
    "empty list": ("[]", "json", []),
    "blank list": (" [ \n ] ", "json", []),
    "list of anything": ('[1, null, "a,]", [], {"a": [1]}]', "json", ["1", "null", '"a,]"', "[]", '{"a": [1]}']),
    "text is kept": ('[{"a":1.50,"a":1e400,"b":"\\ud800"}]', "json", ['{"a":1.50,"a":1e400,"b":"\\ud800"}']),
    "numbers too long for Python": (f"[{'9' * 5000}]", "json", ["9" * 5000]),
    "fixture": (f'{{"name":"n","stream":[{A}, {B}]}}', "json", [A, B]),
    "empty": ("", "sse", []),
    "blank": (" \r\n\t\n", "sse", []),
    "only a byte order mark": ("\ufeff", "sse", []),
    **{
        f"cut off inside its first word, {word!r}": (word, "sse", [])
        for word in ("d", "dat", "\ufeffda", "ev", "i", "retr")
    },
}


@pytest.mark.parametrize(("source", "form", "expected"), SOURCES.values(), ids=SOURCES.keys())
def test_forms(source: str, form: str, expected: list[str]) -> None:
    recorded = read_source(source.encode("utf-8", "surrogatepass"))
    assert (recorded.form, list(recorded.frames)) == (form, expected)
    assert list(recorded.frames) == expected  # each time from the first one


NO_SOURCES = {
    "gzip": (b"\x1f\x8b\x08\x00data: x\n\n", "gzip"),
    "UTF-16": ("data: x\n\n".encode("utf-16"), "UTF-16"),
    "UTF-16, big": (b"\xfe\xff\x00d", "UTF-16"),
    "protobuf": (b"\x00\x00\x00\x05\x0a\x03abc", "protobuf"),
    "image": (b"\x89PNG\r\n\x1a\n\x00\x00", "neither SSE text"),
    "prose": (b"Dear reader,\nthere are no data here.\n", "starts with 'Dear reader,'"),
    "a control character": (b"\x1c", "neither SSE"),
    "a number": (b"42", "neither SSE"),
    "a string": (b'"data: x"', "neither SSE"),
    "null": (b"null\n", "neither SSE"),
    "a list that is cut off": (f"[{A},{B[:20]}".encode(), "JSON list"),
    "a list that is cut off, over lines": (f"[\n{A},\n{B[:20]}".encode(), "JSON list"),
    "a list too deep": (b"[" * 200_000 + b"]" * 200_000, "JSON list"),
    "an object that is something else": (b'{\n"threadId": "t",\n"messages": []\n}', "holds no `stream`"),
    "a fixture without a list": (b'{"stream": {"type":"X"}}', "`stream` must be a list"),
    "a fixture with a wrong name": (b'{"stream": [], "name": 1}', "`name` must be a string, not 1"),
    "a fixture with a wrong input": (b'{"stream": [], "input": [1]}', "`input` must be an object"),
    "a fixture with a number too long": (b'{"stream": [], "input": {"a": %b}}' % (b"9" * 5000), "`input` cannot be"),
    "a fixture with a wrong client": (b'{"stream": [], "client": "x"}', "`client` must be an object"),
    "a fixture with a wrong version": (
        b'{"stream": [], "client": {"maxProtocolVersion": 1}}',
        "must be a string, not 1",
    ),
}


@pytest.mark.parametrize(("source", "said"), NO_SOURCES.values(), ids=NO_SOURCES.keys())
def test_what_is_no_recording_says_why(source: bytes, said: str) -> None:
    with pytest.raises(SourceError) as caught:
        read_source(source)
    assert caught.value.code == "unreadable_source"
    assert said in caught.value.message
    assert len(caught.value.message) < 400


def test_a_fixture_keeps_what_it_says() -> None:
    source = {
        "name": "a-fixture",
        "client": {"maxProtocolVersion": "0.0.45"},
        "input": {"messages": [], "state": {"n": 9007199254740993}},
        "expect": {"stream": ["no"]},
        "stream": [{"type": "X"}],
    }
    recorded = read_source(json.dumps(source, indent=1).encode())
    assert recorded.name == "a-fixture"
    assert recorded.input == source["input"]
    assert recorded.max_protocol_version == "0.0.45"
    assert [json.loads(frame) for frame in recorded.frames] == source["stream"]
    bare = read_source(b'{"stream": [], "client": {}}')
    assert (bare.name, bare.input, bare.max_protocol_version) == (None, None, None)


@pytest.mark.parametrize("template", ["data: {}\n\ndata: {}\n\n", "{}\n{}\n", "[{},{}]", '{{"stream":[{},{}]}}'])
def test_the_limit_holds_in_every_form(template: str) -> None:
    """TR-5, PR-8: what came before the large frame is delivered."""
    small, large = '{"type":"é"}', json.dumps({"type": "é" * 100}, ensure_ascii=False)
    recorded = read_source(template.format(small, large).encode(), max_frame_bytes=200)
    read: list[str] = []
    with pytest.raises(FrameTooLarge) as caught:
        read.extend(recorded.frames)
    assert (read, caught.value.limit) == ([small], 200)
    assert list(read_source(template.format(small, large).encode(), max_frame_bytes=300).frames) == [small, large]


def test_a_recording_cut_inside_a_frame(caplog: pytest.LogCaptureFixture) -> None:
    """TR-1"""
    with caplog.at_level(logging.WARNING, "client_sdk"):
        assert frames(f"data: {A}\n\ndata: {B[:-1]}") == [A]
    assert f"its {len(B) + 5} bytes are discarded" in caplog.text
    assert frames(f"data: {A}\n\ndata: {B}") == [A, B]


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_whatever_it_is_the_answer_is_typed(source: bytes) -> None:
    with suppress(SourceError):
        assert all(isinstance(frame, str) for frame in read_source(source).frames)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
EVENTS = st.lists(st.dictionaries(st.text(), JSON, max_size=3).map(lambda event: {"type": "X", **event}), max_size=6)


@given(EVENTS, st.sampled_from([None, 1]), st.booleans())
def test_every_form_of_one_stream_gives_equal_events(events: list[object], indent: int | None, escaped: bool) -> None:
    """PR-8"""

    def text(value: object, indent: int | None = None) -> str:
        return json.dumps(value, indent=indent, ensure_ascii=escaped)

    file = io.BytesIO()
    recorder = Recorder(file)
    for event in events:
        recorder.write(text(event, indent))
    sources = [file.getvalue().decode(), text(events, indent), text({"stream": events, "name": "n"}, indent)]
    if events:
        sources.append("\n".join(text(event) for event in events))
    for source in sources:
        assert [json.loads(frame) for frame in frames(source)] == events


# --- the recorder --------------------------------------------------------------------------------

PAYLOADS = st.text(st.characters(codec="utf-8", exclude_characters="\r"), min_size=1)


@given(st.lists(PAYLOADS))
def test_what_is_recorded_reads_back_the_same(payloads: list[str]) -> None:
    """TR-4: several lines, leading spaces, field-like lines, a byte order mark; no payload at all."""
    file = io.BytesIO()
    recorder = Recorder(file)
    for payload in payloads:
        recorder.write(payload)
    recorded = read_source(file.getvalue())
    assert (recorded.form, list(recorded.frames)) == ("sse", payloads)


def test_recording_looks_like_a_stream() -> None:
    file = io.BytesIO()
    Recorder(file).write(' {\n"a":1}')
    assert file.getvalue() == b': AG-UI event stream\n\ndata:  {\ndata: "a":1}\n\n'


def test_a_carriage_return_becomes_the_line_end_it_is() -> None:
    """From a transport without SSE: in JSON it can only stand between tokens."""
    file = io.BytesIO()
    Recorder(file).write("{\r\n}\r")
    assert list(read_source(file.getvalue()).frames) == ["{\n}\n"]


async def test_tee_around_a_transport(tmp_path: Path) -> None:
    """Each payload is passed on as it comes, and each exchange is in the file once it is over."""
    path = tmp_path / "run.sse"
    gate = Until()
    first = [event_stream(), f"event: x\ndata: {A}\n\n".encode(), gate, f": hm\r\n\r\ndata:{B}\r\r".encode()]
    second = [event_stream(content_length="1000"), f"data: {A}\n\ndata: {{".encode()]
    with path.open("wb") as file:
        async with serve(first, second) as server:
            live = HttpTransport(server.url)
            transport = Recorder(file).tee(live)
            async with transport.open(b"{}", {"x-a": "1"}) as payloads:
                assert await anext(payloads) == A
                gate.event.set()
                assert [payload async for payload in payloads] == [B]
            assert list(read_source(path.read_bytes()).frames) == [A, B]
            with pytest.raises(ConnectionBroken):
                async with transport.open(b"{}", {}) as payloads:
                    assert [payload async for payload in payloads] == []
            await transport.aclose()
            assert [(request.body, request.headers.get("x-a")) for request in server.requests] == [
                (b"{}", "1"),
                (b"{}", None),
            ]
            with pytest.raises(ClientError, match="closed"):
                async with live.open(b"{}", {}):
                    pass
    assert list(read_source(path.read_bytes()).frames) == [A, B, A]


async def test_leaving_a_tee_early_closes_the_connection() -> None:
    """TR-2"""
    async with serve([event_stream(), f"data: {A}\n\n".encode(), Until()]) as server:
        live = HttpTransport(server.url)
        file = io.BytesIO()
        async with Recorder(file).tee(live).open(b"{}", {}) as payloads:
            async for _ in payloads:
                break
        await asyncio.wait_for(server.hung_up.wait(), 20)
        await live.aclose()
    assert list(read_source(file.getvalue()).frames) == [A]


# --- real recordings, where they are at hand -------------------------------------------------------


def recordings() -> list[Path]:
    return sorted((SHARED / "recordings").glob("*.sse")) + sorted((SHARED / "conformance" / "streams").glob("*.json"))


def test_real_recordings_are_read_whole() -> None:
    """Every frame of theirs is a JSON object, and none is lost."""
    for path in recordings():
        recorded: RecordedStream = read_source(path.read_bytes())
        events = [json.loads(frame) for frame in recorded.frames]
        assert all(isinstance(event["type"], str) for event in events), path.name
        if path.suffix == ".sse":
            assert len(events) == path.read_bytes().count(b"data: {"), path.name
        else:
            fixture = json.loads(path.read_text())
            assert (events, recorded.name) == (fixture["stream"], path.stem)
            assert recorded.input == fixture.get("input")
            assert recorded.max_protocol_version == fixture.get("client", {}).get("maxProtocolVersion")


def test_binary_recordings_are_refused() -> None:
    for path in sorted((SHARED / "recordings").glob("*.bin")):
        with pytest.raises(SourceError, match="protobuf"):
            read_source(path.read_bytes())
