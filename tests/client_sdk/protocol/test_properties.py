"""What holds for every stream, valid or not (PL, PR, ST, TR; the proof section asks for these by name)."""

from __future__ import annotations

import itertools
import json

from hypothesis import example, given, settings
from hypothesis import strategies as st

from client_sdk.protocol.outgoing import wire
from client_sdk.protocol.pipeline import Pipeline
from client_sdk.replay import replay
from client_sdk.transport.sse import SseDecoder
from tests.client_sdk.protocol.driving import (
    FATAL,
    STATUSES,
    WARNINGS,
    conversation_of,
    feed_all,
    run_through,
)
from tests.client_sdk.protocol.streams import (
    RAW_TEXTS,
    Stream,
    encode,
    mutated_payloads,
    two_spellings,
    valid_streams,
)

START = '{"type":"RUN_STARTED","threadId":"t","runId":"r"}'


@given(valid_streams())
def test_a_valid_stream_ends_as_it_says_and_builds_what_it_says(stream: Stream) -> None:
    """LC-5, LC-6, TR-1 for the end; ST-5, TC-2, TC-4 for what it built: nothing trimmed, nothing reordered."""
    pipeline = Pipeline()
    feed_all(pipeline, stream.payloads)
    conversation = pipeline.conversation
    assert pipeline.error is None
    assert pipeline.ledger.runs[-1].status == stream.status
    texts = {m.id: m.content or "" for m in conversation.messages if m.role not in ("tool", "activity")}
    texts |= {call.id: call.arguments for call in conversation.tool_calls}
    assert texts == stream.texts
    results = {m["id"]: m["content"] for m in map(wire, conversation.messages) if m["role"] == "tool"}
    assert results == stream.results


@given(valid_streams())
def test_every_producer_event_is_delivered(stream: Stream) -> None:
    """PL-3, PR-6: what the protocol describes arrives unchanged, open data included; chunks arrive expanded."""
    pipeline = Pipeline()
    delivered = [wire(update.event) for update in feed_all(pipeline, stream.payloads)]
    sent = [event for event in stream.events if not event["type"].endswith("_CHUNK")]
    plain = [event for event in delivered if event in sent]
    assert [event for event in sent if event["type"] != "STATE_DELTA"] == [
        event for event in plain if event["type"] != "STATE_DELTA"
    ]


@given(
    valid_streams(snapshots=True), st.lists(st.integers(0, 10**6), max_size=12), st.sampled_from(["\n", "\r\n", "\r"])
)
def test_any_split_of_the_bytes_gives_equal_updates(stream: Stream, cuts: list[int], line_end: str) -> None:
    """TR-4, PR-8."""
    data = "".join(f"data: {payload}\n\n" for payload in stream.payloads).replace("\n", line_end).encode()
    decoder, payloads, edges = SseDecoder(), [], sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    for start, end in itertools.pairwise(edges):
        payloads += decoder.feed(data[start:end])
    decoder.close()
    assert run_through(payloads) == run_through(stream.payloads)


@given(two_spellings())
def test_chunked_and_explicit_spellings_give_equal_conversations(spellings: tuple[list[dict], list[dict]]) -> None:
    """ST-7, ST-10 to ST-12, ST-14."""
    chunked, explicit = (run_through(map(encode, events)) for events in spellings)
    assert chunked["error"] is None
    assert explicit["error"] is None
    for aspect in ("messages", "calls", "state", "diagnostics"):
        assert chunked[aspect] == explicit[aspect], aspect


@given(mutated_payloads())
def test_the_shortcut_gives_the_verdict_of_the_long_way(payloads: list[str]) -> None:
    """PL-1, PR-8: the quick path of the pipeline is a shortcut and nothing else."""
    assert run_through(payloads) == run_through(payloads, long_way=True)


@given(mutated_payloads())
def test_text_and_bytes_give_the_same_verdict(payloads: list[str]) -> None:
    """PR-8, wherever the text can be encoded at all."""
    encoded = [payload.encode("utf-8", "replace") for payload in payloads]
    assert run_through(encoded) == run_through([payload.decode() for payload in encoded])


@given(mutated_payloads(), st.sampled_from([None, "0.0.39", "0.0.57", "1.0"]))
@example([START, '{"type":"RUN_ERROR","message":"m","code":"\\ud83d"}'], None)
def test_every_mutation_ends_in_a_typed_verdict(payloads: list[str], peer: str | None) -> None:
    """PR-1 to PR-7, PL-4: a code of the rules or a status, and what came before the failure stays."""
    pipeline = Pipeline(peer_version=peer)
    updates = feed_all(pipeline, payloads)
    status = pipeline.ledger.runs[-1].status
    assert status in STATUSES
    assert (status == "rejected") == (pipeline.error is not None)
    assert {diagnostic.code for diagnostic in pipeline.diagnostics} <= WARNINGS
    if pipeline.error is not None:
        assert pipeline.error.code in FATAL
        assert pipeline.error.index is not None
        assert str(pipeline.error)
        assert pipeline.feed(START) == []
    delivered = conversation_of(update.event for update in updates)
    assert delivered.messages == pipeline.conversation.messages
    assert repr(delivered.state) == repr(pipeline.conversation.state)


@given(mutated_payloads())
def test_a_failure_takes_nothing_back(payloads: list[str]) -> None:
    """PL-4: the conversation is the one the stream had before the event that broke the rule."""
    broken = Pipeline()
    feed_all(broken, payloads)
    if broken.error is None or "lone_surrogate" in {diagnostic.code for diagnostic in broken.diagnostics}:
        return
    before = Pipeline()
    feed_all(before, payloads[: broken.error.index])
    assert before.error is None
    assert before.conversation.messages == broken.conversation.messages
    assert repr(before.conversation.state) == repr(broken.conversation.state)


@given(mutated_payloads())
def test_a_report_can_always_be_written(payloads: list[str]) -> None:
    """The replay document is JSON in UTF-8, whatever the stream held."""
    document = replay(payloads)
    assert json.loads(json.dumps(document, ensure_ascii=False).encode()) == document


@given(st.lists(st.sampled_from(RAW_TEXTS), min_size=1, max_size=2), st.booleans())
@settings(max_examples=80)
def test_frames_that_are_no_events_end_in_a_typed_verdict(texts: list[str], started: bool) -> None:
    """PR-1."""
    payloads = [START, *texts] if started else texts
    told = run_through(payloads)
    assert told == run_through(payloads, long_way=True)
    assert told["error"] is None or told["error"][0] in FATAL


@given(st.text(st.characters(codec=None), max_size=20), st.lists(st.integers(0, 40), max_size=4))
@example("a\U0001f600b", [2])
@example("\ud83d\U0001f600\ude00", [1, 2])
def test_text_cut_between_utf16_units_joins_exactly(text: str, cuts: list[int]) -> None:
    """ST-5: a producer may cut text inside a surrogate pair; only a half that was alone is replaced."""
    units = text.encode("utf-16-le", "surrogatepass")
    edges = sorted({0, len(units), *(2 * cut for cut in cuts if 2 * cut < len(units))})
    deltas = [units[a:b].decode("utf-16-le", "surrogatepass") for a, b in itertools.pairwise(edges)]
    whole = units.decode("utf-16-le", "replace")
    for family, id_field, content in (
        ("TEXT_MESSAGE", "messageId", "CONTENT"),
        ("REASONING_MESSAGE", "messageId", "CONTENT"),
        ("TOOL_CALL", "toolCallId", "ARGS"),
    ):
        identity = {id_field: "i"}
        own = {"TOOL_CALL": {"toolCallName": "n"}, "REASONING_MESSAGE": {"role": "reasoning"}}.get(family, {})
        explicit = [{"type": f"{family}_START", **identity, **own}]
        explicit += [{"type": f"{family}_{content}", **identity, "delta": delta} for delta in deltas]
        explicit += [{"type": f"{family}_END", **identity}]
        named = {"toolCallName": "n"} if family == "TOOL_CALL" else {}
        chunked = [{"type": f"{family}_CHUNK", **identity, **named, "delta": delta} for delta in deltas]
        for events in (explicit, chunked):
            pipeline = Pipeline()
            end = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}
            updates = feed_all(pipeline, [START, *(json.dumps(event) for event in [*events, end])])
            assert pipeline.error is None
            assert "".join(update.delta or "" for update in updates) == (whole if events else "")
            alone = "\ufffd" in whole and "\ufffd" not in text
            assert bool(pipeline.diagnostics) == alone
