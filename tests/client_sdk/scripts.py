"""What a scripted server says: event streams as bytes for `servers.serve`."""

from __future__ import annotations

import json
from typing import Any

from tests.client_sdk.servers import Action, event_stream

Raw = dict[str, Any]


def started(run: str = "r1", **members: Any) -> Raw:
    """RUN_STARTED."""
    return {"type": "RUN_STARTED", "threadId": "t1", "runId": run, **members}


def finished(run: str = "r1", **members: Any) -> Raw:
    """RUN_FINISHED."""
    return {"type": "RUN_FINISHED", "threadId": "t1", "runId": run, **members}


def failed(message: str = "out of luck", **members: Any) -> Raw:
    """RUN_ERROR."""
    return {"type": "RUN_ERROR", "message": message, **members}


def said(identity: str, *deltas: str, **members: Any) -> list[Raw]:
    """A whole text message."""
    return [
        {"type": "TEXT_MESSAGE_START", "messageId": identity, "role": "assistant", **members},
        *({"type": "TEXT_MESSAGE_CONTENT", "messageId": identity, "delta": delta} for delta in deltas),
        {"type": "TEXT_MESSAGE_END", "messageId": identity},
    ]


def called(identity: str, name: str = "look", arguments: str = "{}") -> list[Raw]:
    """A whole tool call."""
    return [
        {"type": "TOOL_CALL_START", "toolCallId": identity, "toolCallName": name},
        {"type": "TOOL_CALL_ARGS", "toolCallId": identity, "delta": arguments},
        {"type": "TOOL_CALL_END", "toolCallId": identity},
    ]


def frames(*events: Raw) -> bytes:
    """Events as SSE frames."""
    return "".join(f"data: {json.dumps(event)}\n\n" for event in events).encode()


def answer(*events: Raw) -> list[Action]:
    """The script of one answer: the head, the events, the end."""
    return [event_stream(), frames(*events)]


def hello(run: str = "r1", message: str = "m1", text: str = "hello") -> list[Action]:
    """The script of a run that says one thing and is done."""
    return answer(started(run), *said(message, text), finished(run))
