"""One event of every type with every member the protocol describes: a test holds that nothing is missing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Raw = dict[str, Any]

COMMON: Raw = {"timestamp": 1, "rawEvent": {"o": None}, "metadata": {"o": None}}
TAG: Raw = {"subagentRunId": "s"}
SOURCES: list[Raw] = [
    {"type": "data", "value": "AA==", "mimeType": "image/png"},
    {"type": "url", "value": "https://x.example/", "mimeType": "image/png"},
    {"type": "file", "value": "handle", "provider": "p", "mimeType": "image/png"},
]
PARTS: list[Raw] = [
    {"type": "text", "id": "p", "text": "t", "metadata": {"o": None}},
    *(
        {"type": kind, "id": "p", "source": source, "metadata": {"o": None}}
        for kind in ("image", "audio", "video", "document")
        for source in SOURCES
    ),
]
_NAMED: Raw = {"subagentRunId": "s", "name": "n", "encryptedValue": "e", "metadata": {"o": None}, "content": "c"}
MESSAGES: list[Raw] = [
    {"id": "m1", "role": "developer", **_NAMED},
    {"id": "m2", "role": "system", **_NAMED},
    {
        "id": "m3",
        "role": "assistant",
        **_NAMED,
        "toolCalls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "f", "arguments": "{}"},
                "encryptedValue": "e",
                "metadata": {"o": None},
            }
        ],
    },
    {"id": "m4", "role": "user", **_NAMED, "content": PARTS[:3]},
    {
        "id": "m5",
        "role": "tool",
        "subagentRunId": "s",
        "content": PARTS[3:4],
        "toolCallId": "c1",
        "error": "e",
        "encryptedValue": "e",
        "metadata": {"o": None},
    },
    {
        "id": "m6",
        "role": "activity",
        "subagentRunId": "s",
        "activityType": "a",
        "content": {"o": None},
        "metadata": {"o": None},
    },
    {
        "id": "m7",
        "role": "reasoning",
        "subagentRunId": "s",
        "content": "c",
        "encryptedValue": "e",
        "metadata": {"o": None},
    },
]
PATCH: list[Raw] = [
    {"op": "add", "path": "/a", "value": 1},
    {"op": "remove", "path": "/a"},
    {"op": "replace", "path": "", "value": {"b": 1}},
    {"op": "move", "path": "/c", "from": "/b"},
    {"op": "copy", "path": "/d", "from": "/c"},
    {"op": "test", "path": "/d", "value": 1},
]
USAGE: list[Raw] = [
    {
        "provider": "p",
        "model": "m",
        "inputTokens": 5,
        "outputTokens": 4,
        "totalTokens": 9,
        "reasoningTokens": 1,
        "cachedInputTokens": 1,
        "cacheWriteInputTokens": 1,
    }
]
INPUT: Raw = {
    "threadId": "t",
    "runId": "r",
    "protocolVersion": "1.0",
    "parentRunId": "p",
    "state": {"o": None},
    "messages": MESSAGES[2:4],
    "tools": [{"name": "n", "description": "d", "parameters": {"type": "object"}, "metadata": {"o": None}}],
    "context": [{"description": "d", "value": "v"}],
    "forwardedProps": {"o": None},
    "resume": [{"interruptId": "i", "status": "resolved", "payload": {"o": None}, "metadata": {"o": None}}],
}
INTERRUPT: Raw = {
    "subagentRunId": "s",
    "id": "i",
    "reason": "tool_call",
    "message": "m",
    "toolCallId": "c1",
    "responseSchema": {"type": "object"},
    "expiresAt": "2030-01-01T00:00:00Z",
    "metadata": {"o": None},
}

EVENTS: list[Raw] = [
    {"type": "TEXT_MESSAGE_START", "messageId": "a", "role": "user", "name": "n", **TAG},
    {"type": "TEXT_MESSAGE_CONTENT", "messageId": "a", "delta": "d", **TAG},
    {"type": "TEXT_MESSAGE_END", "messageId": "a", **TAG},
    {"type": "TEXT_MESSAGE_CHUNK", "messageId": "b", "role": "user", "name": "n", "delta": "d", **TAG},
    {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "n", "parentMessageId": "p", **TAG},
    {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "d", **TAG},
    {"type": "TOOL_CALL_END", "toolCallId": "c", **TAG},
    {"type": "TOOL_CALL_CHUNK", "toolCallId": "k", "toolCallName": "n", "parentMessageId": "p", "delta": "d", **TAG},
    {"type": "TOOL_CALL_RESULT", "messageId": "r", "toolCallId": "c", "content": PARTS, "role": "tool", **TAG},
    {"type": "STATE_SNAPSHOT", "snapshot": {"o": None}, **TAG},
    {"type": "STATE_DELTA", "delta": PATCH, **TAG},
    {"type": "MESSAGES_SNAPSHOT", "messages": MESSAGES},
    {
        "type": "ACTIVITY_SNAPSHOT",
        "messageId": "v",
        "activityType": "t",
        "content": {"o": None},
        "replace": True,
        **TAG,
    },
    {"type": "ACTIVITY_DELTA", "messageId": "v", "activityType": "t", "patch": PATCH, **TAG},
    {"type": "RAW", "event": {"o": None}, "source": "s", **TAG},
    {"type": "CUSTOM", "name": "n", "value": {"o": None}, **TAG},
    {
        "type": "RUN_STARTED",
        "threadId": "t",
        "runId": "r",
        "protocolVersion": "1.0",
        "parentRunId": "p",
        "input": INPUT,
    },
    {
        "type": "RUN_FINISHED",
        "threadId": "t",
        "runId": "r",
        "result": {"o": None},
        "outcome": {"type": "success", "pendingToolCallIds": ["c"]},
        "usage": USAGE,
    },
    {
        "type": "RUN_FINISHED",
        "threadId": "t",
        "runId": "r",
        "outcome": {"type": "interrupt", "interrupts": [INTERRUPT]},
    },
    {"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": {"type": "cancelled"}},
    {"type": "RUN_ERROR", "message": "m", "code": "c", "usage": USAGE},
    {"type": "STEP_STARTED", "stepName": "n", **TAG},
    {"type": "STEP_FINISHED", "stepName": "n", **TAG},
    {"type": "REASONING_START", "messageId": "q", **TAG},
    {"type": "REASONING_MESSAGE_START", "messageId": "q", "role": "reasoning", **TAG},
    {"type": "REASONING_MESSAGE_CONTENT", "messageId": "q", "delta": "d", **TAG},
    {"type": "REASONING_MESSAGE_END", "messageId": "q", **TAG},
    {"type": "REASONING_MESSAGE_CHUNK", "messageId": "w", "delta": "d", **TAG},
    {"type": "REASONING_END", "messageId": "q", **TAG},
    {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "q", "encryptedValue": "e", **TAG},
    {
        "type": "SUBAGENT_STARTED",
        "subagentRunId": "s",
        "name": "n",
        "description": "d",
        "parentSubagentRunId": "p",
        "parentToolCallId": "c",
        "parentMessageId": "m",
    },
    {"type": "SUBAGENT_FINISHED", "subagentRunId": "s", "result": {"o": None}, "outcome": {"type": "success"}},
    {"type": "SUBAGENT_FINISHED", "subagentRunId": "s", "outcome": {"type": "suspended", "interruptIds": ["i"]}},
    {"type": "SUBAGENT_ERROR", "subagentRunId": "s", "message": "m", "code": "c"},
]
EVENTS = [{**event, **COMMON} for event in EVENTS]

OPEN = ("metadata", "rawEvent", "state", "snapshot", "event", "value", "result", "forwardedProps", "payload")
"""Members that hold any JSON value (PR-6); activity content, tool parameters and response schemas beside them."""

Path = tuple[str | int, ...]


def places(value: Any, path: Path = ()) -> Iterator[Path]:
    """The path of every value inside `value`."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield (*path, key)
        yield from places(inner, (*path, key))


def at(value: Any, path: Path) -> Any:
    """The value at `path`."""
    for key in path:
        value = value[key]
    return value


def with_value(event: Raw, path: Path, value: Any) -> Raw:
    """A copy of `event` with `value` at `path`."""
    event = json.loads(json.dumps(event))  # parts of the table are shared, and a deep copy would keep that
    at(event, path[:-1])[path[-1]] = value
    return event


def without_value(event: Raw, path: Path) -> Raw:
    """A copy of `event` without the member at `path`."""
    event = json.loads(json.dumps(event))
    del at(event, path[:-1])[path[-1]]
    return event


def pointer(path: Path) -> str:
    """`path` as a JSON Pointer."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in path)


def is_open(path: Path, event: Raw) -> bool:
    """True where any JSON value may stand: inside open data."""
    for depth, key in enumerate(path[:-1]):
        if key in (*OPEN, "parameters", "responseSchema"):
            return True
        holder = at(event, path[:depth])
        if key == "content" and isinstance(holder[key], dict):
            return True
    return False
