"""Enforcement: what is not described goes, what is described must be right (PR-2 to PR-7)."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest

from client_sdk.errors import ProtocolError
from client_sdk.protocol.compat import Compatibility, Peer
from client_sdk.protocol.enforce import Enforcer, Malformed, Stripper
from client_sdk.protocol.notes import Notes
from client_sdk.protocol.pipeline import Pipeline
from client_sdk.protocol.vocabulary import EVENT_SHAPES, EVENT_TYPES, Described, Items, Tagged
from tests.client_sdk.protocol.driving import LongWay, drive, run_through
from tests.client_sdk.protocol.events import EVENTS, INPUT, Path, at, is_open, places, pointer, with_value
from tests.client_sdk.protocol.streams import encode

FORGIVEN = {
    ("TOOL_CALL_START", "parentMessageId"),
    ("TOOL_CALL_CHUNK", "parentMessageId"),
    ("RUN_FINISHED", "outcome"),
    ("RUN_FINISHED", "result"),
    ("SUBAGENT_FINISHED", "result"),
}
NULL_IS_DATA = {("STATE_SNAPSHOT", "snapshot"), ("RAW", "event"), ("CUSTOM", "value")}
START = '{"type":"RUN_STARTED","threadId":"t","runId":"r"}'


def judge(raw: dict[str, Any]) -> tuple[Any, ProtocolError | None, Notes]:
    """Compatibility and enforcement alone: the event or None, the error or None, what was noted."""
    notes = Notes()
    notes.event_type = raw["type"]
    try:
        (translated,) = Compatibility(notes, Peer(None)).feed(raw)
        events = Enforcer(notes).feed(translated)
    except ProtocolError as error:
        return None, error, notes
    return (events[0] if events else None), None, notes


def _name(event: dict[str, Any]) -> str:
    return event["type"]


every_event = pytest.mark.parametrize("event", EVENTS, ids=_name)


# The table these tests go through is complete.


def _undescribed(shape: Any, value: Any, path: str = "") -> list[str]:
    match shape:
        case Described():
            missing = [f"{path}/{name}" for name in shape.members if name not in value]
            inner = [
                (shape.members[name].shape, value[name], f"{path}/{name}") for name in shape.members if name in value
            ]
            return missing + [line for part in inner for line in _undescribed(*part)]
        case Items() if isinstance(value, list):
            return [line for n, item in enumerate(value) for line in _undescribed(shape.element, item, f"{path}/{n}")]
        case Tagged():
            return _undescribed(shape.variants[value[shape.tag]], value, path)
    return []


def test_the_table_has_every_event_and_every_member_the_types_describe() -> None:
    assert {event["type"] for event in EVENTS} == EVENT_TYPES == set(EVENT_SHAPES)
    alternatives = {"/result"}  # of the second outcome of an event that is in the table twice
    for event in EVENTS:
        assert set(_undescribed(EVENT_SHAPES[event["type"]], event)) - alternatives <= {"/usage"}, event["type"]


@every_event
def test_a_full_event_passes_unchanged_and_quietly(event: dict[str, Any]) -> None:
    model, error, notes = judge(event)
    assert error is None
    assert notes.pending == []
    assert json.loads(model.model_dump_json(by_alias=True)) == event


# Nulls (PR-7).


def _null_is_data(event: dict[str, Any], path: Path) -> bool:
    operand = path[-1] == "value" and "op" in at(event, path[:-1])
    return is_open(path, event) or operand or (event["type"], path[0]) in NULL_IS_DATA


def _null_is_forgiven(event: dict[str, Any], path: Path) -> bool:
    of_a_media_part = path[-1] == "metadata" and isinstance(at(event, path[:-1]).get("source"), dict)
    by_type = len(path) == 1 and (event["type"], path[0]) in FORGIVEN
    return of_a_media_part or by_type or path in (("rawEvent",), ("input", "forwardedProps"))


@every_event
def test_null_is_no_spelling_of_absence_at_any_path(event: dict[str, Any]) -> None:
    for path in places(event):
        if path == ("type",):
            continue
        model, error, notes = judge(with_value(event, path, None))
        told = [(note.code, note.path) for note in notes.pending]
        if _null_is_data(event, path):
            assert (error, told) == (None, []), path
        elif _null_is_forgiven(event, path):
            assert told == [("retired_shape", pointer(path))]
            assert model is not None
        else:
            assert error is not None, path
            assert (error.code, error.event_type, error.path) == ("malformed_event", event["type"], pointer(path))


# Wrong types (PR-5): at every path of every event, every other kind of JSON value.

WRONG: list[Any] = [True, 7, 1.5, "5", [], [7], {}, {"type": 7}, {"type": "x", "role": "x", "op": "x"}, [None], 10**30]


@every_event
def test_a_wrong_value_at_any_path_has_one_verdict_on_both_paths(event: dict[str, Any]) -> None:
    """PL-1, PR-5: no coercion, no crash, and the shortcut judges as the long way does."""
    prologue = [] if event["type"] == "RUN_STARTED" else [START]
    for path in places(event):
        for value in WRONG:
            payloads = [*prologue, encode(with_value(event, path, value))]
            told = run_through(payloads)
            assert told == run_through(payloads, long_way=True)
            if told["error"] is not None and told["error"][0] == "malformed_event":
                assert pointer(path).startswith(told["error"][4]) or told["error"][4].startswith(pointer(path))


@pytest.mark.parametrize(
    ("event", "path"),
    [
        ({"type": "TEXT_MESSAGE_START", "messageId": 7}, "/messageId"),
        ({"type": "TEXT_MESSAGE_CONTENT", "messageId": "a"}, "/delta"),
        ({"type": "TEXT_MESSAGE_CONTENT", "messageId": "a", "delta": ["x"]}, "/delta"),
        ({"type": "TEXT_MESSAGE_END", "messageId": "a", "timestamp": "5"}, "/timestamp"),
        ({"type": "TEXT_MESSAGE_END", "messageId": "a", "timestamp": 1.5}, "/timestamp"),
        ({"type": "TEXT_MESSAGE_END", "messageId": "a", "timestamp": True}, "/timestamp"),
        ({"type": "REASONING_MESSAGE_START", "messageId": "a", "role": "assistant"}, "/role"),
        ({"type": "REASONING_MESSAGE_START", "messageId": "a"}, "/role"),
        (
            {
                "type": "MESSAGES_SNAPSHOT",
                "messages": [
                    {
                        "id": "m",
                        "role": "assistant",
                        "toolCalls": [{"id": "c", "function": {"name": "n", "arguments": ""}}],
                    }
                ],
            },
            "/messages/0/toolCalls/0/type",
        ),
        ({"type": "TOOL_CALL_RESULT", "messageId": "a", "toolCallId": "c", "content": {"type": "text"}}, "/content"),
        (
            {"type": "TOOL_CALL_RESULT", "messageId": "a", "toolCallId": "c", "content": [{"text": "t"}]},
            "/content/0/type",
        ),
        (
            {"type": "TOOL_CALL_RESULT", "messageId": "a", "toolCallId": "c", "content": [{"type": 7}]},
            "/content/0/type",
        ),
        ({"type": "TOOL_CALL_RESULT", "messageId": "a", "toolCallId": "c", "content": [[]]}, "/content/0"),
        ({"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": []}, "/outcome"),
        (
            {"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": {"type": "interrupt"}},
            "/outcome/interrupts",
        ),
        ({"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/a"}]}, "/delta/0/value"),
        ({"type": "MESSAGES_SNAPSHOT", "messages": [{"role": "user", "content": "x"}]}, "/messages/0/id"),
        ({"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "u", "content": "x"}]}, "/messages/0/role"),
        ({"type": "CUSTOM", "value": 1}, "/name"),
    ],
)
def test_the_error_points_at_the_value_and_says_what_was_expected(event: dict[str, Any], path: str) -> None:
    _, error, _ = judge(event)
    assert error is not None
    assert (error.code, error.event_type, error.path) == ("malformed_event", event["type"], path)
    assert str(error).startswith(f"{event['type']} at {path}: ")
    assert len(str(error)) > len(f"{event['type']} at {path}: ")


@pytest.mark.parametrize("spelling", ["1.0", "-0.0", "1e3", "9007199254740991", "9007199254740991.0"])
def test_a_whole_number_is_an_integer_however_it_is_spelt(spelling: str) -> None:
    """JSON has one kind of number."""
    pipeline, updates = drive(START, f'{{"type":"CUSTOM","name":"n","value":1,"timestamp":{spelling}}}')
    assert pipeline.error is None
    assert updates[-1].event.timestamp == int(float(spelling))
    assert type(updates[-1].event.timestamp) is int


@pytest.mark.parametrize("spelling", ["9007199254740992", "1e300", "1e400", "9" * 4000, "1.5", "-1.25"])
def test_a_number_that_is_no_integer_of_json_is_malformed(spelling: str) -> None:
    """PR-5: the schema's integers are those every JSON reader holds exactly."""
    pipeline, _ = drive(START, f'{{"type":"CUSTOM","name":"n","value":1,"timestamp":{spelling}}}')
    assert pipeline.error is not None
    assert pipeline.error.code == "malformed_event"


# Unknown material (PR-2 to PR-4, PR-6).


@every_event
def test_an_unknown_property_at_any_depth_goes_and_is_named(event: dict[str, Any]) -> None:
    """PR-3, PR-6; snake_case is not a spelling, so it is unknown too."""
    full, _, _ = judge(event)
    for path in [(), *(path for path in places(event) if isinstance(at(event, path), dict))]:
        for key in ("futureField", "message_id", "a/b~c"):
            model, error, notes = judge(with_value(event, (*path, key), {"x": 1}))
            assert error is None, (path, key)
            holder = at(event, path)
            if is_open((*path, key), event) or "op" in holder or (path and path[-1] == "content"):
                assert notes.pending == [], (path, key)
                assert at(json.loads(model.model_dump_json(by_alias=True)), (*path, key)) == {"x": 1}
            else:
                assert [(n.code, n.path) for n in notes.pending] == [("unknown_property", pointer((*path, key)))]
                assert model == full


def test_a_snake_case_name_is_unknown_and_does_not_stand_in_for_a_required_one() -> None:
    _, error, _ = judge({"type": "TEXT_MESSAGE_END", "message_id": "a"})
    assert error is not None
    assert (error.code, error.path) == ("malformed_event", "/messageId")


def test_an_unknown_event_is_dropped_and_named() -> None:
    model, error, notes = judge({"type": "FUTURE_EVENT", "messageId": 7})
    assert (model, error) == (None, None)
    assert [(note.code, note.path) for note in notes.pending] == [("unknown_event", "/type")]
    assert "'FUTURE_EVENT'" in notes.pending[0].message


_CALL = {"type": "TOOL_CALL_RESULT", "messageId": "a", "toolCallId": "c"}
_TEXT = [{"type": "text", "text": "x"}]


@pytest.mark.parametrize(
    ("event", "path", "left"),
    [
        # In an optional field, the field goes.
        ({"type": "TEXT_MESSAGE_START", "messageId": "a", "role": "oracle"}, "/role", {"messageId": "a"}),
        ({"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": {"type": "x"}}, "/outcome", {"runId": "r"}),
        # In a list, the element goes.
        ({**_CALL, "content": [{"type": "hologram"}, *_TEXT]}, "/content/0", {"content": _TEXT}),
        ({"type": "STATE_DELTA", "delta": [{"op": "merge", "path": "/a"}]}, "/delta/0", {"delta": []}),
        ({"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "m", "role": "oracle"}]}, "/messages/0", {"messages": []}),
        # In a required field, the value that contains it goes: here a part, there the event.
        (
            {**_CALL, "content": [{"type": "image", "source": {"type": "x"}, "future": 1}]},
            "/content/0",
            {"content": []},
        ),
        (
            {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "x", "entityId": "e", "encryptedValue": ""},
            "/subtype",
            None,
        ),
    ],
)
def test_an_unknown_member_goes_as_far_as_it_must(
    event: dict[str, Any], path: str, left: dict[str, Any] | None
) -> None:
    """PR-4."""
    model, error, notes = judge(event)
    assert error is None
    assert [(note.code, note.path) for note in notes.pending] == [("unknown_member", path)]
    if left is None:
        assert model is None
    else:
        dumped = json.loads(model.model_dump_json(by_alias=True))
        assert {key: dumped[key] for key in left} == left
        assert path.count("/") > 1 or path[1:] not in dumped


def test_what_is_removed_inside_a_removed_part_is_no_removal_of_its_own() -> None:
    event = {**_CALL, "content": [{"type": "image", "future": 1, "source": {"type": "x", "future": 2}}]}
    _, _, notes = judge(event)
    assert [(note.code, note.path) for note in notes.pending] == [("unknown_member", "/content/0")]


# Values only middleware can hold.


class _Odd:
    pass


@pytest.mark.parametrize("value", [_Odd(), {1, 2}, b"x", datetime.date(2026, 1, 1), float("nan"), float("inf"), (1, 2)])
@pytest.mark.parametrize("place", [("value",), ("value", "inner"), ("metadata", "k")])
def test_what_is_no_json_is_malformed_or_read_as_json(value: Any, place: tuple[str, ...]) -> None:
    """PL-1: middleware may hand on anything; it ends in a verdict all the same."""
    pipeline, _ = drive(START)
    pipeline.feed_raw(
        with_value({"type": "CUSTOM", "name": "n", "value": {"inner": 1}, "metadata": {"k": 1}}, place, value)
    )
    if isinstance(value, tuple):
        assert pipeline.error is None
    else:
        assert pipeline.error is not None
        assert pipeline.error.code == "malformed_event"
        assert "not representable as JSON" in str(pipeline.error)


@pytest.mark.parametrize("tag", [_Odd(), b"text", ("text",), 7])
def test_a_tag_of_an_odd_kind_is_malformed(tag: Any) -> None:
    _, error, _ = judge({**_CALL, "content": [{"type": tag}]})
    assert error is not None
    assert (error.code, error.path) == ("malformed_event", "/content/0/type")
    assert "expected a string" in str(error)


@pytest.mark.parametrize("raw", [None, 7, "RAW", [], ("type", "RAW"), {}, {"type": None}, {"type": 7}])
def test_middleware_that_hands_on_no_event_gets_the_verdict_of_a_frame(raw: Any) -> None:
    """PR-1."""
    pipeline = Pipeline()
    assert pipeline.feed_raw(raw) == []
    assert pipeline.error is not None
    assert pipeline.error.code == "not_an_event"
    assert pipeline.error.index == 0


def test_a_cycle_is_malformed() -> None:
    cycle: dict[str, Any] = {}
    cycle["value"] = cycle
    pipeline, _ = drive(START)
    pipeline.feed_raw({"type": "CUSTOM", "name": "n", "value": cycle})
    assert pipeline.error is not None
    assert pipeline.error.code == "malformed_event"


# Limits.


@pytest.mark.parametrize("levels", [100, 190])
def test_deep_open_data_is_kept(levels: int) -> None:
    """PR-6, up to the depth the JSON reader takes."""
    payload = '{"type":"RAW","event":' + "[" * levels + "]" * levels + "}"
    pipeline, updates = drive(START, payload)
    assert pipeline.error is None
    assert json.dumps(updates[-1].event.event) == "[" * levels + "]" * levels


@pytest.mark.parametrize("way", [Pipeline, LongWay])
@pytest.mark.parametrize("levels", [250, 10_000, 200_000])
def test_deeper_data_is_no_event(way: type[Pipeline], levels: int) -> None:
    """PR-1: refused with the place, by both paths, without exhausting the stack."""
    pipeline = way()
    pipeline.feed(START)
    pipeline.feed('{"type":"RAW","event":' + "[" * levels + "]" * levels + "}")
    assert pipeline.error is not None
    assert pipeline.error.code == "not_an_event"
    assert "recursion limit" in str(pipeline.error)


def test_a_huge_string_passes_whole() -> None:
    text = "x" * 5_000_000
    pipeline, _updates = drive(START, encode({"type": "TEXT_MESSAGE_START", "messageId": "a"}))
    (update,) = pipeline.feed(encode({"type": "TEXT_MESSAGE_CONTENT", "messageId": "a", "delta": text}))
    assert update.delta == text


def test_a_number_too_long_for_any_reader_is_no_event() -> None:
    pipeline, _ = drive(START, '{"type":"RAW","event":' + "9" * 5000 + "}")
    assert pipeline.error is not None
    assert (pipeline.error.code, pipeline.error.index) == ("not_an_event", 1)


def test_of_a_name_given_twice_the_last_counts_on_both_paths() -> None:
    payloads = [
        START,
        '{"type":"RAW","type":"TEXT_MESSAGE_START","messageId":7,"messageId":"b","event":1,"role":"user"}',
    ]
    told = run_through(payloads)
    assert told == run_through(payloads, long_way=True)
    assert [message["id"] for message in told["messages"]] == ["b"]


def test_the_stripper_returns_the_object_it_was_given_when_nothing_had_to_go() -> None:
    for event in EVENTS:
        assert Stripper().strip(event, EVENT_SHAPES[event["type"]]) is event


def test_a_malformed_value_says_where_even_without_a_notebook() -> None:
    with pytest.raises(Malformed) as caught:
        Stripper().strip({"type": "RUN_STARTED", "input": {**INPUT, "parentRunId": None}}, EVENT_SHAPES["RUN_STARTED"])
    assert caught.value.path == "/input/parentRunId"


# The shortcuts of the pipeline are for events with nothing to judge: each of these has one thing.

TWISTS: list[dict[str, Any]] = [
    {},
    {"future": 1},
    {"message_id": "a"},
    {"rawEvent": None},
    {"rawEvent": {"o": None}},
    {"metadata": None},
    {"metadata": {"o": None}},
    {"subagentRunId": None},
    {"subagentRunId": "s"},
    {"subagentRunId": 7},
    {"timestamp": 1.0},
    {"timestamp": None},
    {"role": "oracle"},
    {"role": None},
    {"delta": "null"},
    {"delta": "\ud83d"},
    {"delta": None},
    {"type": "RAW"},
    {"parentMessageId": None},
]


@every_event
def test_one_thing_to_judge_is_judged_on_the_short_way_too(event: dict[str, Any]) -> None:
    """PL-1, PR-8."""
    shape = EVENT_SHAPES[event["type"]]
    least = {name: event[name] for name in event if name == "type" or shape.members[name].required}
    opening = {"TEXT_MESSAGE": "messageId", "TOOL_CALL": "toolCallId", "REASONING_MESSAGE": "messageId"}
    prologue = [] if event["type"] == "RUN_STARTED" else [START]
    for family, name in opening.items():
        if event["type"] in (f"{family}_CONTENT", f"{family}_ARGS", f"{family}_END"):
            start = {"type": f"{family}_START", name: event[name], "toolCallName": "n"}
            prologue.append(encode(start))
    for peer in (None, "0.0.57"):
        for twist in TWISTS:
            payloads = [*prologue, json.dumps({**least, **twist})]
            short = run_through(payloads, peer_version=peer)
            assert short == run_through(payloads, long_way=True, peer_version=peer), twist
            encoded = [payload.encode() for payload in payloads]
            assert short == run_through(encoded, peer_version=peer), twist
