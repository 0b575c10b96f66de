"""The pipeline as users drive it by hand: whole, and in the two halves middleware sits between (PL-1)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from client_sdk.protocol.compat import Peer, parse_version
from client_sdk.protocol.pipeline import Pipeline, dump_event
from tests.client_sdk.protocol.driving import LongWay, drive, feed_all, run_through
from tests.client_sdk.protocol.test_conversation import FINISH, START, codes, text, text_end, text_start

ENCODED = json.dumps(START)


def test_the_two_halves_do_what_the_whole_does() -> None:
    events = [START, text_start("a"), {**text("a", "x"), "rawEvent": None}, text_end("a"), FINISH]
    halves = Pipeline()
    updates = [update for e in events for raw in halves.decode(json.dumps(e)) for update in halves.feed_raw(raw)]
    halves.end()
    whole, expected = drive(*events)
    assert [dump_event(update.event) for update in updates] == [dump_event(update.event) for update in expected]
    assert halves.conversation.messages == whole.conversation.messages
    assert halves.diagnostics == whole.diagnostics


@pytest.mark.parametrize("way", [Pipeline, LongWay])
def test_what_was_tolerated_is_told_with_the_update_that_came_of_it(way: type[Pipeline]) -> None:
    """Compatibility and enforcement alike: the whole way to the event."""
    pipeline = way()
    pipeline.feed(ENCODED)
    (update,) = pipeline.feed(json.dumps({**text_start("a"), "rawEvent": None, "future": 1}))
    assert [(d.code, d.path, d.event_type, d.index) for d in update.diagnostics] == [
        ("retired_shape", "/rawEvent", "TEXT_MESSAGE_START", 1),
        ("unknown_property", "/future", "TEXT_MESSAGE_START", 1),
    ]
    assert list(update.diagnostics) == pipeline.diagnostics


def test_what_was_tolerated_is_recorded_when_no_update_came_of_it() -> None:
    pipeline, updates = drive(START, {"type": "FUTURE"}, text_start("a"))
    assert codes(pipeline) == [("unknown_event", "/type")]
    assert [update.diagnostics for update in updates] == [(), ()]
    old = Pipeline(peer_version="0.0.57")
    old.feed(ENCODED)
    assert old.decode('{"type":"SUBAGENT_STARTED","subagentRunId":"s","name":"n"}') == []
    assert codes(old) == [("subagent_event_dropped", "/type")]


def test_what_was_tolerated_before_a_failure_is_recorded() -> None:
    pipeline, _ = drive(START, {"type": "TEXT_MESSAGE_END", "messageId": "a", "rawEvent": None, "future": 1})
    assert codes(pipeline) == [("retired_shape", "/rawEvent"), ("unknown_property", "/future")]
    assert pipeline.error is not None


def test_a_frame_that_is_no_event_says_where_and_why() -> None:
    """PR-1."""
    for frame, words in (
        ("{", "cannot be read as JSON"),
        ("[]", "expected a JSON object, got list"),
        ("{}", "has no type"),
        ('{"type":7}', "type that is not a string"),
        (b"\xff{}", "cannot be read as JSON"),
    ):
        pipeline = Pipeline()
        pipeline.feed(ENCODED)
        assert pipeline.feed(frame) == []
        assert pipeline.error is not None
        assert (pipeline.error.code, pipeline.error.index, pipeline.error.event_type) == ("not_an_event", 1, None)
        assert words in str(pipeline.error)


def test_middleware_positions_count_what_it_hands_on() -> None:
    pipeline = Pipeline()
    pipeline.feed_raw(dict(START))
    pipeline.feed_raw({"type": "FUTURE"})
    pipeline.feed_raw(text("a", "x"))
    assert [diagnostic.index for diagnostic in pipeline.diagnostics] == [1]
    assert pipeline.error is not None
    assert pipeline.error.index == 2


def test_the_long_way_does_not_change_what_it_is_given() -> None:
    raw = {**text_start("a"), "rawEvent": {"k": [1]}, "future": {"x": 1}, "metadata": {"m": 1}}
    before = json.dumps(raw)
    pipeline, _ = drive(START)
    pipeline.feed_raw(raw)
    assert json.dumps(raw) == before


def test_decoding_after_a_rejection_still_only_decodes() -> None:
    pipeline, _ = drive("nonsense")
    first = pipeline.error
    assert pipeline.decode(ENCODED) == [START]
    assert pipeline.feed_raw(dict(START)) == []
    assert pipeline.error is first


# Characters cut in two (ST-5).


def cut(*deltas: str, end: bool = True) -> tuple[Pipeline, list[Any]]:
    events = [
        START,
        text_start("a"),
        *(text("a", delta) for delta in deltas),
        *([text_end("a"), FINISH] if end else []),
    ]
    pipeline = Pipeline()
    return pipeline, feed_all(pipeline, [json.dumps(event) for event in events])


def test_two_halves_in_two_deltas_are_one_character() -> None:
    pipeline, updates = cut("a\ud83d", "\ude00b")
    assert [update.delta for update in updates if update.delta is not None] == ["a", "\U0001f600b"]
    assert pipeline.diagnostics == []


def test_a_half_waits_through_empty_deltas_and_other_items() -> None:
    pipeline, _ = drive(
        START, text_start("a"), text_start("b"), json.dumps(text("a", "\ud83d")), text("a", ""), text("b", "x"),
        json.dumps(text("a", "\ude00")),
    )  # fmt: skip
    assert [m.content for m in pipeline.conversation.messages] == ["\U0001f600", "x"]
    assert pipeline.diagnostics == []


@pytest.mark.parametrize(
    ("deltas", "whole"),
    [(["\ud83d", "x"], "\ufffdx"), (["\ude00"], "\ufffd"), (["\ud83d", "\ud83d", "\ude00"], "\ufffd\U0001f600")],
)
def test_a_half_that_is_alone_is_replaced_and_told(deltas: list[str], whole: str) -> None:
    pipeline, updates = cut(*deltas)
    assert "".join(update.delta or "" for update in updates) == whole
    assert codes(pipeline) == [("lone_surrogate", "/delta")]
    assert "'a'" in pipeline.diagnostics[0].message


def test_a_half_at_the_end_of_an_item_is_delivered_before_the_end() -> None:
    pipeline, updates = cut("x\ud83d")
    types = [update.event.type.value for update in updates]
    assert types[-4:] == ["TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"]
    assert pipeline.conversation.messages[0].content == "x\ufffd"
    assert codes(pipeline) == [("lone_surrogate", "/delta")]


def test_a_half_at_a_failure_is_delivered_and_one_at_a_break_is_told() -> None:
    """TR-1: no event is invented for a stream that just ends."""
    pipeline, _ = drive(START, text_start("a"), json.dumps(text("a", "x\ud83d")), {"type": "RUN_ERROR", "message": "m"})
    assert pipeline.conversation.messages[0].content == "x\ufffd"
    broken, _ = cut("x\ud83d", end=False)
    assert broken.conversation.messages[0].content == "x"
    assert codes(broken) == [("lone_surrogate", "/delta")]


def test_halves_elsewhere_are_replaced_where_they_stand() -> None:
    value = {"k\ud83d": ["\ude00", "ok", {"~/": "\ud83d"}]}
    pipeline, updates = drive(START, json.dumps({"type": "CUSTOM", "name": "n", "value": value}))
    assert updates[-1].event.value == {"k\ufffd": ["\ufffd", "ok", {"~/": "\ufffd"}]}
    assert codes(pipeline) == [
        ("lone_surrogate", "/value"),
        ("lone_surrogate", "/value/k\ufffd/0"),
        ("lone_surrogate", "/value/k\ufffd/2/~0~1"),
    ]


@pytest.mark.parametrize("payload", ['{"type":"RAW","event":"\ud83d\ude00"}', '{"type":"RAW","event":"\\ud83d\ude00"}'])
def test_a_payload_may_hold_pairs_as_two_code_points(payload: str) -> None:
    pipeline, updates = drive(START, payload)
    assert updates[-1].event.event == "\U0001f600"
    assert pipeline.diagnostics == []


def test_middleware_sees_the_halves_and_may_hand_them_on() -> None:
    """PL-2."""
    pipeline = Pipeline()
    pipeline.feed_raw(dict(START))
    pipeline.feed_raw(text_start("a"))
    seen = pipeline.decode(json.dumps(text("a", "\ud83d")))
    assert seen[0]["delta"] == "\ud83d"
    for raw in (*seen, *pipeline.decode(json.dumps(text("a", "\ude00")))):
        pipeline.feed_raw(raw)
    assert pipeline.conversation.messages[0].content == "\U0001f600"


def test_a_half_does_not_hide_what_else_is_wrong() -> None:
    for event, code, path in (
        ({"type": "TEXT_MESSAGE_CONTENT", "messageId": 7, "delta": "\ud83d"}, "malformed_event", "/messageId"),
        ({"type": "STATE_DELTA", "delta": "\ud83d"}, "malformed_event", "/delta"),
        (text("a", "\ud83d"), "not_open", "/messageId"),
    ):
        pipeline, _ = drive(START, json.dumps(event))
        assert pipeline.error is not None
        assert (pipeline.error.code, pipeline.error.path) == (code, path)
    pipeline, updates = drive(START, json.dumps({"type": "RAW", "event": 1, "delta": "\ud83d"}))
    assert "delta" not in dump_event(updates[-1].event)
    assert codes(pipeline)[-1] == ("unknown_property", "/delta")


# Peers.


@pytest.mark.parametrize("version", ["", "1.", ".1", "v1", "1.0-beta", "1.0.0.0x", "१.०", "9" * 10])
def test_a_peer_version_that_is_no_version_is_refused(version: str) -> None:
    with pytest.raises(ValueError, match="numbers joined by dots"):
        Pipeline(peer_version=version)


@pytest.mark.parametrize(
    ("version", "strings", "before_subagents", "declares"),
    [
        (None, False, False, True),
        ("0.0.9", True, True, False),
        ("0.0.39", True, True, False),
        ("0.0.39.1", False, True, False),
        ("0.0.40", False, True, False),
        ("0.0.57", False, True, False),
        ("0.0.58", False, False, False),
        ("0.1", False, False, False),
        ("1", False, False, True),
        ("1.0", False, False, True),
        ("1.10", False, False, True),
    ],
)
def test_what_a_peer_version_means(version: str | None, strings: bool, before_subagents: bool, declares: bool) -> None:
    """VE-3, RI-2."""
    peer = Peer(version)
    assert (peer.needs_strings, peer.predates_subagents, peer.declares_version) == (strings, before_subagents, declares)


def test_versions_compare_number_by_number() -> None:
    """VE-1."""
    assert parse_version("1.10") > parse_version("1.9")
    assert parse_version("1") == parse_version("1.0.0")


def test_a_peer_from_before_subagents_loses_tags_quietly_and_lifecycle_aloud() -> None:
    """VE-3; a malformed tag is not repaired by removing it (VE-4)."""
    tagged = {
        **START,
        "input": {
            "threadId": "t",
            "runId": "r",
            "messages": [{"id": "u", "role": "user", "content": "x", "subagentRunId": "s"}],
        },
    }
    told = run_through([json.dumps(tagged), json.dumps(text_start("a", subagentRunId="s"))], peer_version="0.0.57")
    assert told["diagnostics"] == []
    assert all("subagentRunId" not in message for message in told["messages"])
    pipeline, _ = drive(START, text_start("a", subagentRunId=7), peer_version="0.0.57")
    assert pipeline.error is not None
    assert (pipeline.error.code, pipeline.error.path) == ("malformed_event", "/subagentRunId")


# Retired parts (VE-2): what the corpus of streams does not show.

MODERN = {"type": "image", "source": {"type": "url", "value": "u", "mimeType": "image/png"}}


@pytest.mark.parametrize(
    ("parts", "upgraded"),
    [
        ([{"type": "binary", "mimeType": "image/png", "url": "u"}], [MODERN]),
        # A retired part that mirrors a modern one beside it is that part.
        ([MODERN, {"type": "binary", "mimeType": "image/png", "url": "u"}], [MODERN]),
        (
            [
                {**MODERN, "metadata": {"filename": "f"}},
                {"type": "binary", "mimeType": "image/png", "url": "u", "filename": "f"},
            ],
            [{**MODERN, "metadata": {"filename": "f"}}],
        ),
        # One that says more, or something else, is not.
        (
            [MODERN, {"type": "binary", "mimeType": "image/png", "url": "u", "filename": "f"}],
            [MODERN, {**MODERN, "metadata": {"filename": "f"}}],
        ),
        (
            [{**MODERN, "type": "video"}, {"type": "binary", "mimeType": "image/png", "url": "u"}],
            [{**MODERN, "type": "video"}, MODERN],
        ),
        # Data counts before a URL, and an empty string is none.
        (
            [{"type": "binary", "mimeType": "audio/ogg", "data": "", "url": "u"}],
            [{"type": "audio", "source": {"type": "url", "value": "u", "mimeType": "audio/ogg"}}],
        ),
    ],
)
def test_a_retired_part_becomes_what_replaced_it(parts: list[Any], upgraded: list[Any]) -> None:
    pipeline, _ = drive(START, {"type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": "c", "content": parts})
    assert dump_event(pipeline.conversation.messages[0])["content"] == upgraded  # type: ignore[arg-type]
    assert {code for code, _ in codes(pipeline)} == {"retired_shape"}


@pytest.mark.parametrize(
    "part", [{"mimeType": 7, "url": "u"}, {"url": "u"}, {"mimeType": "image/png"}, {"mimeType": "a/b", "id": "x"}]
)
def test_a_retired_part_without_a_modern_form_is_an_unknown_one(part: dict[str, Any]) -> None:
    """VE-4: nothing is repaired on the way past."""
    result = {"type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": "c", "content": [{"type": "binary", **part}]}
    pipeline, _ = drive(START, result)
    assert codes(pipeline) == [("unknown_member", "/content/0")]
    assert dump_event(pipeline.conversation.messages[0])["content"] == []  # type: ignore[arg-type]


HUGE = [
    "1e400",
    "-1E+400",
    "1.5e0400",
    "9" * 400,
    "-" + "9" * 400 + ".5",
    "0." + "0" * 300 + "1e700",
    "1e308",
    "1e-400",
]
OPEN_PLACES = [
    '{{"type":"CUSTOM","name":"n","value":{}}}',
    '{{"type":"CUSTOM","name":"n","value":\t{}}}',
    '{{"type":"STATE_SNAPSHOT","snapshot":[{}]}}',
    '{{"type":"STATE_SNAPSHOT","snapshot":[1,{}]}}',
    '{{"type":"STATE_SNAPSHOT","snapshot":[1,\r\n{}]}}',
    '{{"type":"STATE_DELTA","delta":[{{"op":"add","path":"/x","value":{}}}]}}',
    '{{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"t","content":{{"x":{}}}}}',
]


@pytest.mark.parametrize("place", OPEN_PLACES)
@pytest.mark.parametrize("number", HUGE)
def test_a_number_no_float_holds_is_judged_on_the_short_way_too(number: str, place: str) -> None:
    """PR-1, PR-8."""
    payloads = [ENCODED, place.format(number)]
    assert run_through(payloads) == run_through(payloads, long_way=True)


def test_ids_full_of_digits_and_letters_keep_to_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = Pipeline()
    pipeline.feed(ENCODED)
    monkeypatch.setattr(Pipeline, "_the_long_way", None)
    activity = "89e6156b-5967-4bd6-95be-4da08a92250d"
    events = [
        {"type": "ACTIVITY_SNAPSHOT", "messageId": activity, "activityType": "PLAN", "content": {"n": [1, 2.5, -3e10]}},
        {"type": "ACTIVITY_DELTA", "messageId": activity, "activityType": "PLAN", "patch": []},
        {"type": "STATE_SNAPSHOT", "snapshot": {"1e400": "1e400"}},
        {"type": "CUSTOM", "name": "1e999", "value": "9" * 400},
    ]
    updates = [update for event in events for update in pipeline.feed(json.dumps(event))]
    assert (pipeline.error, len(updates)) == (None, len(events))
