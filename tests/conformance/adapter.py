"""The one place where the conformance tests touch the package: a fixture in, a replay document out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from client_sdk.replay import replay
from client_sdk.transport.replay import read_source

Json = dict[str, Any]


def replay_fixture(fixture: Mapping[str, Any]) -> Json:
    """Replay a fixture's stream as the peer it names would have sent it."""
    peer = fixture.get("client", {}).get("maxProtocolVersion")
    return _replay([json.dumps(event, ensure_ascii=False) for event in fixture["stream"]], fixture.get("input"), peer)


def replay_recording(body: bytes, request: Mapping[str, Any]) -> Json:
    """Replay a recorded response body against the input it answered."""
    return _replay(list(read_source(body).frames), request)


def replay_sse(stream: list[Any]) -> Json:
    """Replay a stream written as SSE with everything a server may legally put around its data."""
    frames = ["\ufeff: hello\r\n", "retry: 5\r\n\r\n"]
    for index, event in enumerate(stream):
        lines = json.dumps(event, ensure_ascii=False, indent=1).split("\n")
        frames += [f"event: noise\rid: {index}\n", *(f"data: {line}\r\n" for line in lines), "\n"]
    return _replay(list(read_source("".join(frames).encode()).frames))


def replay_jsonl(stream: list[Any]) -> Json:
    """Replay a stream written as JSON Lines."""
    text = "\n".join(json.dumps(event, ensure_ascii=True) for event in stream)
    return _replay(list(read_source(text.encode()).frames))


def _replay(payloads: list[str], input: Mapping[str, Any] | None = None, peer: str | None = None) -> Json:
    return replay(payloads, input, peer_version=peer)
