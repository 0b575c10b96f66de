"""What the schema requires, by hand from its reference page: the models' own defaults must not soften it (PR-5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from client_sdk.protocol.vocabulary import EVENT_SHAPES, EVENT_TYPES, Described, Items, Shape, Tagged
from tests.client_sdk.protocol.driving import run_through
from tests.client_sdk.protocol.events import EVENTS, Path, at, is_open, places, pointer, without_value
from tests.client_sdk.protocol.streams import encode

REQUIRED: dict[str, set[str]] = {
    "TEXT_MESSAGE_START": {"messageId"},
    "TEXT_MESSAGE_CONTENT": {"messageId", "delta"},
    "TEXT_MESSAGE_END": {"messageId"},
    "TEXT_MESSAGE_CHUNK": set(),
    "TOOL_CALL_START": {"toolCallId", "toolCallName"},
    "TOOL_CALL_ARGS": {"toolCallId", "delta"},
    "TOOL_CALL_END": {"toolCallId"},
    "TOOL_CALL_CHUNK": set(),
    "TOOL_CALL_RESULT": {"messageId", "toolCallId", "content"},
    "STATE_SNAPSHOT": {"snapshot"},
    "STATE_DELTA": {"delta"},
    "MESSAGES_SNAPSHOT": {"messages"},
    "ACTIVITY_SNAPSHOT": {"messageId", "activityType", "content"},
    "ACTIVITY_DELTA": {"messageId", "activityType", "patch"},
    "RAW": {"event"},
    "CUSTOM": {"name", "value"},
    "RUN_STARTED": {"threadId", "runId"},
    "RUN_FINISHED": {"threadId", "runId"},
    "RUN_ERROR": {"message"},
    "STEP_STARTED": {"stepName"},
    "STEP_FINISHED": {"stepName"},
    "REASONING_START": {"messageId"},
    "REASONING_MESSAGE_START": {"messageId", "role"},
    "REASONING_MESSAGE_CONTENT": {"messageId", "delta"},
    "REASONING_MESSAGE_END": {"messageId"},
    "REASONING_MESSAGE_CHUNK": set(),
    "REASONING_END": {"messageId"},
    "REASONING_ENCRYPTED_VALUE": {"subtype", "entityId", "encryptedValue"},
    "SUBAGENT_STARTED": {"subagentRunId", "name"},
    "SUBAGENT_FINISHED": {"subagentRunId"},
    "SUBAGENT_ERROR": {"subagentRunId", "message"},
}
"""Beside `type`, which every event carries."""

INSIDE: dict[str, set[str]] = {
    "messages<developer>": {"id", "role", "content"},
    "messages<system>": {"id", "role", "content"},
    "messages<assistant>": {"id", "role"},
    "messages<user>": {"id", "role", "content"},
    "messages<tool>": {"id", "role", "content", "toolCallId"},
    "messages<activity>": {"id", "role", "activityType", "content"},
    "messages<reasoning>": {"id", "role", "content"},
    "toolCalls": {"id", "type", "function"},
    "function": {"name", "arguments"},
    "content<text>": {"type", "text"},
    "content<image>": {"type", "source"},
    "content<audio>": {"type", "source"},
    "content<video>": {"type", "source"},
    "content<document>": {"type", "source"},
    "source<data>": {"type", "value", "mimeType"},
    "source<url>": {"type", "value"},
    "source<file>": {"type", "value"},
    "input": {"threadId", "runId", "messages"},
    "tools": {"name", "description"},
    "context": {"description", "value"},
    "resume": {"interruptId", "status"},
    "outcome<success>": {"type"},
    "outcome<interrupt>": {"type", "interrupts"},
    "outcome<cancelled>": {"type"},
    "outcome<suspended>": {"type"},
    "interrupts": {"id", "reason"},
    "usage": set(),
    **{f"{name}<add>": {"op", "path", "value"} for name in ("delta", "patch")},
    **{f"{name}<remove>": {"op", "path"} for name in ("delta", "patch")},
    **{f"{name}<replace>": {"op", "path", "value"} for name in ("delta", "patch")},
    **{f"{name}<move>": {"op", "path", "from"} for name in ("delta", "patch")},
    **{f"{name}<copy>": {"op", "path", "from"} for name in ("delta", "patch")},
    **{f"{name}<test>": {"op", "path", "value"} for name in ("delta", "patch")},
}
"""The objects inside events: the member that holds them, and the tag that tells them apart."""


def _objects(name: str, shape: Shape) -> Iterator[tuple[str, Described]]:
    match shape:
        case Items():
            yield from _objects(name, shape.element)
        case Tagged():
            for tag, variant in shape.variants.items():
                yield from _objects(f"{name}<{tag}>", variant)
        case Described():
            yield name, shape
            for member, held in shape.members.items():
                yield from _objects(member, held.shape)


def _required(shape: Described) -> set[str]:
    return {name for name, member in shape.members.items() if member.required}


def test_every_event_requires_what_the_schema_requires() -> None:
    assert set(REQUIRED) == EVENT_TYPES
    assert {kind: _required(shape) - {"type"} for kind, shape in EVENT_SHAPES.items()} == REQUIRED
    assert all("type" in _required(shape) for shape in EVENT_SHAPES.values())


def test_every_object_inside_requires_what_the_schema_requires() -> None:
    found: dict[str, set[str]] = {}
    for kind, shape in EVENT_SHAPES.items():
        for name, inner in _objects(kind, shape):
            if name not in EVENT_SHAPES:
                assert found.setdefault(name, _required(inner)) == _required(inner)
    assert found == INSIDE


START = encode({"type": "RUN_STARTED", "threadId": "t", "runId": "r"})


def _members(event: dict[str, Any]) -> Iterator[tuple[Path, bool]]:
    """The path of every member of a described object in `event`, and whether it is required there."""
    for path in places(event):
        holder = at(event, path[:-1])
        if isinstance(holder, dict) and path != ("type",) and (len(path) == 1 or not is_open(path, event)):
            required = REQUIRED[event["type"]] if len(path) == 1 else _inside(path[:-1], holder)
            yield path, path[-1] in required


def _inside(path: Path, holder: dict[str, Any]) -> set[str]:
    name = next(step for step in reversed(path) if isinstance(step, str))
    tags = [f"{name}<{holder.get(tag)}>" for tag in ("role", "type", "op")]
    return INSIDE[next((tag for tag in tags if tag in INSIDE), name)]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event["type"])
def test_what_is_required_and_missing_is_fatal_wherever_it_stands(event: dict[str, Any]) -> None:
    """PR-5, PR-8: on the short way and on the long."""
    for path, required in _members(event):
        payload = encode(without_value(event, path))
        payloads = [payload] if event["type"] == "RUN_STARTED" else [START, payload]
        told = run_through(payloads)
        assert told == run_through(payloads, long_way=True), path
        malformed = told["error"] is not None and told["error"][0] == "malformed_event"
        assert malformed is required, path
        assert not required or told["error"][4] == pointer(path)
