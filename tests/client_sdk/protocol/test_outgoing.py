"""The run input: what is removed, what is refused, what an older peer gets (RI-1, RI-2, AC-4, VE-3)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ag_ui.core import Tool, UserMessage

from client_sdk.diagnostics import Diagnostic
from client_sdk.errors import InputError
from client_sdk.protocol.compat import Peer
from client_sdk.protocol.outgoing import adopt_message, adopt_messages, adopt_resume, encode, prepare_input, wire
from tests.client_sdk.protocol.events import INPUT

BASE: dict[str, Any] = {"threadId": "t", "runId": "r", "messages": []}
IMAGE = {"type": "image", "source": {"type": "url", "value": "https://x.example/i.png"}}


def prepare(version: str | None = None, **members: Any) -> tuple[dict[str, Any], list[Diagnostic]]:
    told: list[Diagnostic] = []
    return prepare_input({**BASE, **members}, Peer(version), told.append), told


def places(told: list[Diagnostic]) -> list[tuple[str, str]]:
    return [(diagnostic.code, diagnostic.path) for diagnostic in told]


def test_a_full_input_goes_out_as_it_is() -> None:
    sent = prepare_input(INPUT, Peer(None), lambda diagnostic: pytest.fail(str(diagnostic)))
    assert sent == INPUT
    assert json.loads(encode(sent)) == INPUT


def test_the_version_is_declared_except_to_a_peer_from_before_the_field() -> None:
    """RI-2."""
    assert prepare()[0]["protocolVersion"] == "1.0"
    assert prepare("1.0")[0]["protocolVersion"] == "1.0"
    assert "protocolVersion" not in prepare("0.0.57")[0]
    assert "protocolVersion" not in prepare("0.0.57", protocolVersion="1.0")[0]


def test_unknown_material_is_removed_and_named() -> None:
    """RI-1."""
    message = {"id": "u", "role": "user", "content": [{"type": "text", "text": "x", "future": 1}, {"type": "hologram"}]}
    sent, told = prepare(future=1, messages=[message, {"id": "o", "role": "oracle"}])
    assert sent["messages"] == [{"id": "u", "role": "user", "content": [{"type": "text", "text": "x"}]}]
    assert "future" not in sent
    assert sorted(places(told)) == [
        ("outgoing_stripped", "/future"),
        ("outgoing_stripped", "/messages/0/content/0/future"),
        ("outgoing_stripped", "/messages/0/content/1"),
        ("outgoing_stripped", "/messages/1"),
    ]
    assert all(diagnostic.message.startswith("not sent: ") for diagnostic in told)


def test_activity_messages_stay_here_and_nulls_are_left_out() -> None:
    """AC-4, RI-1; null inside open data is data."""
    activity = {"id": "v", "role": "activity", "activityType": "t", "content": {}}
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": ""}, "metadata": None}
    assistant = {"id": "a", "role": "assistant", "content": None, "toolCalls": [call], "metadata": {"k": None}}
    sent, told = prepare(messages=[activity, assistant], parentRunId=None, forwardedProps=None, state={"k": None})
    assert told == []
    del call["metadata"], assistant["content"]
    assert sent == {**BASE, "protocolVersion": "1.0", "messages": [assistant], "state": {"k": None}}


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"threadId": 7}, "/threadId"),
        ({"messages": {}}, "/messages"),
        ({"messages": [7]}, "/messages/0"),
        ({"messages": [{"id": "u", "role": "user"}]}, "/messages/0/content"),
        ({"messages": [{"id": 7, "role": "user", "content": "x"}]}, "/messages/0/id"),
        ({"tools": [{"name": "n"}]}, "/tools/0/description"),
        ({"resume": [{"interruptId": "i"}]}, "/resume/0/status"),
        ({"state": {"a": [{1, 2}]}}, "/state/a/0"),
        ({"state": {"a": float("nan")}}, "/state/a"),
        ({"forwardedProps": {"~/": "\ud83d"}}, "/forwardedProps/~0~1"),
    ],
)
@pytest.mark.parametrize("version", [None, "0.0.39"])
def test_a_malformed_field_is_refused_with_its_place(members: dict[str, Any], path: str, version: str | None) -> None:
    """RI-1; a downgrade repairs nothing (VE-4)."""
    with pytest.raises(InputError) as caught:
        prepare(version, **members)
    assert (caught.value.code, caught.value.path) == ("malformed_input", path)
    assert path in str(caught.value)


def test_a_cycle_is_refused() -> None:
    cycle: dict[str, Any] = {}
    cycle["x"] = cycle
    with pytest.raises(InputError, match="Circular") as caught:
        prepare(state=cycle)
    assert caught.value.path.startswith("/state/x")


def test_a_peer_that_holds_strings_gets_strings() -> None:
    """VE-3, TC-5."""
    parts = [{"type": "text", "text": "look: "}, IMAGE, {"type": "text", "text": "!"}]
    tool = {"id": "t", "role": "tool", "toolCallId": "c", "content": [IMAGE]}
    messages = [{"id": "u", "role": "user", "content": parts, "subagentRunId": "s"}, tool]
    sent, told = prepare("0.0.39", messages=messages, parentRunId="p")
    assert [message["content"] for message in sent["messages"]] == ["look: !", ""]
    assert "subagentRunId" not in sent["messages"][0]
    assert "parentRunId" not in sent
    assert places(told) == [("parts_dropped", "/messages/0/content/1"), ("parts_dropped", "/messages/1/content/0")]
    newer, told = prepare("0.0.40", messages=messages)
    assert newer["messages"][0]["content"] == parts
    assert told == []


def test_a_peer_whose_schema_requires_content_gets_an_empty_one() -> None:
    """VE-3: where content is optional now; where it is required, its absence is not repaired (VE-4, above)."""
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    assistant = {"id": "a", "role": "assistant", "toolCalls": [call]}
    assert prepare("0.0.39", messages=[assistant])[0]["messages"] == [{**assistant, "content": ""}]
    assert prepare("0.0.40", messages=[assistant])[0]["messages"] == [assistant]


def test_a_retired_part_of_an_old_store_goes_out_as_what_replaced_it() -> None:
    """VE-2."""
    old = [
        {"type": "binary", "mimeType": "image/png", "url": "https://x.example/i.png", "filename": "i.png"},
        {"type": "binary", "mimeType": "text/csv", "data": "AA=="},
    ]
    sent, _ = prepare(messages=[{"id": "u", "role": "user", "content": old}])
    assert sent["messages"][0]["content"] == [
        {
            "type": "image",
            "source": {"type": "url", "value": "https://x.example/i.png", "mimeType": "image/png"},
            "metadata": {"filename": "i.png"},
        },
        {"type": "document", "source": {"type": "data", "value": "AA==", "mimeType": "text/csv"}},
    ]


# Messages handed over by the application or its store.


def test_a_model_is_taken_as_it_is() -> None:
    message = UserMessage(id="u", content="x")
    assert adopt_message(message, lambda diagnostic: pytest.fail(str(diagnostic))) is message


def test_a_wire_object_is_read_and_unknown_material_named() -> None:
    told: list[Diagnostic] = []
    (message,) = adopt_messages(
        [
            {"id": "u", "role": "user", "content": "x", "name": None, "future": 1},
            {"id": "o", "role": "oracle", "content": "x"},
        ],
        told.append,
    )
    assert wire(message) == {"id": "u", "role": "user", "content": "x"}
    assert places(told) == [("outgoing_stripped", "/messages/0/future"), ("outgoing_stripped", "/messages/1")]


@pytest.mark.parametrize(
    ("message", "path"),
    [
        (7, ""),
        ("user", ""),
        (None, ""),
        ({}, "/role"),
        ({"id": "u", "role": 7}, "/role"),
        ({"id": "u", "role": "user"}, "/content"),
        ({"id": "u", "role": "user", "content": "\ud83d"}, "/content"),
        ({"id": "u", "role": "user", "content": [{"type": "text"}]}, "/content/0/text"),
    ],
)
def test_a_malformed_message_is_refused_with_its_place(message: Any, path: str) -> None:
    with pytest.raises(InputError) as caught:
        adopt_messages([message], lambda _: None)
    assert caught.value.path == f"/messages/0{path}"
    with pytest.raises(InputError) as caught:
        adopt_message(message, lambda _: None)
    assert caught.value.path == path


def test_wire_spells_models_and_leaves_the_rest() -> None:
    tool = Tool(name="n", description="d", parameters={"type": "object"})
    assert wire(tool) == {"name": "n", "description": "d", "parameters": {"type": "object"}}
    assert wire({"a": None}) == {"a": None}


@pytest.mark.parametrize(
    ("entry", "path"),
    [
        ({"interruptId": 7, "status": "resolved"}, "/resume/1/interruptId"),
        ({"interruptId": "i"}, "/resume/1/status"),
        ({"interruptId": "i", "status": "later"}, "/resume/1/status"),
        ({"interrupt_id": "i", "status": "resolved"}, "/resume/1/interruptId"),
    ],
)
def test_a_malformed_answer_to_an_interrupt_is_refused_with_its_place(entry: dict[str, Any], path: str) -> None:
    """RI-1, IR-2"""
    with pytest.raises(InputError) as caught:
        adopt_resume([{"interruptId": "a", "status": "cancelled"}, entry])
    assert caught.value.path == path
