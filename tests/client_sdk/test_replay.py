"""Replay: the same pipeline without a network, and the report other tools read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from client_sdk.errors import FrameTooLarge, InputError
from client_sdk.protocol.runs import RunStatus
from client_sdk.replay import Replay, document, replay
from tests.client_sdk.scripts import called, failed, finished, said, started


def report(*events: Any, **options: Any) -> dict[str, Any]:
    return replay([event if isinstance(event, str) else json.dumps(event) for event in events], **options)


def test_the_report_of_a_completed_run() -> None:
    """The document is wire spelling throughout: camelCase, and absent where there is no value."""
    told = report(
        started(),
        {"type": "STATE_SNAPSHOT", "snapshot": None},
        *said("m1", "hi"),
        *called("c1", arguments='{"q":1}'),
        {"type": "FUTURE_EVENT"},
        finished(usage=[{"provider": "p", "inputTokens": 1}]),
    )
    assert set(told) == {
        "status", "error", "runErrors", "diagnostics", "events", "messages", "state", "pendingToolCalls", "interrupts",
        "usage", "request",
    }  # fmt: skip
    assert (told["status"], told["error"], told["runErrors"], told["state"]) == ("completed", None, [], None)
    assert told["diagnostics"] == [
        {"code": "unknown_event", "path": "/type", "message": told["diagnostics"][0]["message"]}
    ]
    assert [event["type"] for event in told["events"]][:3] == ["RUN_STARTED", "STATE_SNAPSHOT", "TEXT_MESSAGE_START"]
    assert told["messages"][0] == {"id": "m1", "role": "assistant", "content": "hi"}
    assert told["pendingToolCalls"] == [{"id": "c1", "name": "look", "arguments": '{"q":1}'}]
    assert told["usage"] == [{"provider": "p", "inputTokens": 1}]
    assert told["request"] == {"threadId": "t1", "runId": "r1", "protocolVersion": "1.0", "messages": []}
    assert json.loads(json.dumps(told)) == told


def test_the_report_of_a_rejected_stream_names_the_culprit() -> None:
    told = report(started(), said("m1")[0], said("m1")[0])
    assert told["status"] == "rejected"
    assert told["error"] == {
        "code": "already_open",
        "message": told["error"]["message"],
        "eventType": "TEXT_MESSAGE_START",
        "index": 2,
        "path": "/messageId",
        "ids": ["m1"],
    }
    assert [event["type"] for event in told["events"]] == ["RUN_STARTED", "TEXT_MESSAGE_START"]


def test_the_report_of_a_failed_run() -> None:
    told = report(started(), failed("no credit", code="E7"))
    assert (told["status"], told["runErrors"]) == ("failed", [{"message": "no credit", "code": "E7"}])


def test_the_report_of_an_interrupted_run() -> None:
    interrupt = {"id": "i1", "reason": "input", "responseSchema": {"type": "string"}}
    told = report(started(), finished(outcome={"type": "interrupt", "interrupts": [interrupt]}))
    assert (told["status"], told["interrupts"]) == ("interrupted", [interrupt])


def test_an_empty_stream_is_truncated() -> None:
    """TR-1."""
    told = report()
    assert (told["status"], told["events"], told["messages"]) == ("truncated", [], [])
    assert told["request"]["threadId"] == ""


def test_the_input_is_what_the_stream_goes_on_from() -> None:
    """SN-3, SN-5, AC-4: and `request` is what would have been sent."""
    given = {
        "threadId": "mine",
        "messages": [
            {"id": "u", "role": "user", "content": "x", "future": 1},
            {"id": "v", "role": "activity", "activityType": "t", "content": {}},
        ],
        "state": {"n": 1},
    }
    patch = {"type": "STATE_DELTA", "delta": [{"op": "add", "path": "/m", "value": 2}]}
    told = report(started(), patch, *said("m1", "y"), finished(), input=given)
    assert told["state"] == {"n": 1, "m": 2}
    assert [message["id"] for message in told["messages"]] == ["u", "v", "m1"]
    assert told["request"]["messages"] == [{"id": "u", "role": "user", "content": "x"}]
    assert (told["request"]["threadId"], told["request"]["runId"]) == ("mine", "r1")
    assert [entry["code"] for entry in told["diagnostics"]] == ["outgoing_stripped", "run_identity", "run_identity"]
    assert given["messages"][0]["future"] == 1  # what was given is not changed


def test_a_replay_can_be_driven_by_hand() -> None:
    run = Replay({"messages": [{"id": "u", "role": "user", "content": "x"}]}, peer_version="0.0.57")
    events = [update.event for event in [started(), *said("m1", "y")] for update in run.feed(json.dumps(event))]
    assert len(events) == 4
    assert run.error is None
    run.feed("nonsense")
    assert run.error is not None
    result = run.finish()
    assert result.status is RunStatus.REJECTED
    assert result.error is run.error
    assert [message.id for message in result.new_messages] == ["m1"]
    assert "protocolVersion" not in result.request
    assert document(result, events)["error"]["code"] == "not_an_event"


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"messages": 7}, "/messages"),
        ({"messages": {"id": "u"}}, "/messages"),
        ({"messages": None}, "/messages"),
        ({"messages": [None]}, "/messages/0"),
        ({"messages": [{"id": "u", "role": "user"}]}, "/messages/0/content"),
        ({"threadId": 7}, "/threadId"),
        ({"tools": {}}, "/tools"),
        ({"resume": [7]}, "/resume/0"),
        ({"context": [{"value": "v"}]}, "/context/0/description"),
    ],
)
def test_a_malformed_input_is_refused_before_anything_is_read(given: dict[str, Any], path: str) -> None:
    """RI-1: the report says that nothing was sent."""
    with pytest.raises(InputError) as caught:
        Replay(given)
    assert (caught.value.code, caught.value.path) == ("malformed_input", path)
    told = report(started(), finished(), input=given)
    assert (told["status"], told["events"], told["request"]) == ("rejected", [], {})
    assert (told["error"]["code"], told["error"]["path"]) == ("malformed_input", path)


def test_a_source_that_broke_off_is_truncated_for_that_reason() -> None:
    """TR-1, TR-5."""
    run = Replay()
    run.feed(json.dumps(started()))
    broken = FrameTooLarge("too large", limit=10)
    result = run.finish(broken)
    assert (result.status, result.error) == (RunStatus.TRUNCATED, broken)
    told = document(result, [])["error"]
    assert told == {
        "code": "frame_too_large", "message": "too large", "eventType": None, "index": None, "path": None, "ids": [],
    }  # fmt: skip


def test_a_peer_version_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="numbers joined by dots"):
        Replay(peer_version="new")
