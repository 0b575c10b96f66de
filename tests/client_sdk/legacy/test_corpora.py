"""Every stream at hand, through both sinks: the corpus of our own, and recordings of real producers where they are."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ag_ui.core import Message

from client_sdk.errors import InputError
from client_sdk.legacy import SqliteTextSink, TranscriptSink, flatten_message, read_transcript
from client_sdk.replay import Replay
from client_sdk.transport.replay import read_source
from tests.conformance import corpora


def conversations() -> Iterator[tuple[str, list[Message]]]:
    """The messages each stream leaves behind, by the stream's name."""
    sources = [(path, None) for folder in corpora.folders() for path in sorted(folder.glob("*.json"))]
    recorded = sorted((corpora.SHARED / "recordings").glob("*.sse"))
    for path, request in [*sources, *((path, path.with_suffix(".request.json")) for path in recorded)]:
        if path.name == "codes.json":
            continue
        source = read_source(path.read_bytes())
        given: dict[str, Any] | None = json.loads(request.read_bytes()) if request else source.input
        try:
            replay = Replay(given, peer_version=source.max_protocol_version)
        except InputError:
            continue  # refused before anything is sent: there is no conversation
        for payload in source.frames:
            replay.feed(payload)
        yield path.stem, replay.finish().messages


def test_every_conversation_survives_both_sinks_but_for_what_is_announced() -> None:
    seen = 0
    for name, messages in conversations():
        flattened = [flatten_message(message) for message in messages]
        expected = [replace(flat, dropped=()) for flat in flattened]
        file = io.StringIO()
        transcript = TranscriptSink(file)
        with SqliteTextSink(":memory:") as table:
            for sink in (transcript, table):
                sink.write_messages(messages, thread_id=name)
                assert len(sink.diagnostics) == sum(len(flat.dropped) for flat in flattened), name
            assert table.read(name) == expected, name
        assert read_transcript(io.StringIO(file.getvalue())).get(name, []) == expected, name
        seen += 1
    assert seen > 100
