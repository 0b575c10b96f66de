"""Streams written by hand, and agents that send them one after the other over a real connection."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from client_sdk.agent import HttpAgent
from tests.client_sdk.servers import Action, Server, event_stream, serve

Event = dict[str, Any]


def frame(event: Event) -> bytes:
    """One SSE frame."""
    return b"data: " + json.dumps(event).encode() + b"\n\n"


def started(run: str = "r", thread: str = "t1") -> Event:
    """RUN_STARTED; identities that differ from the input's are tolerated (LC-4)."""
    return {"type": "RUN_STARTED", "threadId": thread, "runId": run, "protocolVersion": "1.0"}


def finished(outcome: Any = None, run: str = "r", thread: str = "t1") -> Event:
    """RUN_FINISHED."""
    event: Event = {"type": "RUN_FINISHED", "threadId": thread, "runId": run}
    return event if outcome is None else {**event, "outcome": outcome}


def failed(message: str = "the model is out") -> Event:
    """RUN_ERROR."""
    return {"type": "RUN_ERROR", "message": message}


def says(identifier: str, text: str) -> list[Event]:
    """A whole text message."""
    return [
        {"type": "TEXT_MESSAGE_START", "messageId": identifier, "role": "assistant"},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": identifier, "delta": text},
        {"type": "TEXT_MESSAGE_END", "messageId": identifier},
    ]


def calls(
    identifier: str, name: str, arguments: str = "{}", *, message: str | None = None, end: bool = True
) -> list[Event]:
    """A tool call, whole unless `end` is False."""
    start: Event = {"type": "TOOL_CALL_START", "toolCallId": identifier, "toolCallName": name}
    if message is not None:
        start["parentMessageId"] = message
    half = len(arguments) // 2
    made = [
        start,
        {"type": "TOOL_CALL_ARGS", "toolCallId": identifier, "delta": arguments[:half]},
        {"type": "TOOL_CALL_ARGS", "toolCallId": identifier, "delta": arguments[half:]},
    ]
    return [*made, {"type": "TOOL_CALL_END", "toolCallId": identifier}] if end else made


def result(call: str, content: Any, message: str | None = None) -> Event:
    """A result the agent itself sends."""
    return {"type": "TOOL_CALL_RESULT", "messageId": message or f"m-{call}", "toolCallId": call, "content": content}


def interrupts(*asked: Event) -> Event:
    """The interrupt outcome."""
    return {"type": "interrupt", "interrupts": [{"reason": "tool_call", **one} for one in asked]}


def snapshot(*messages: Event) -> Event:
    """MESSAGES_SNAPSHOT."""
    return {"type": "MESSAGES_SNAPSHOT", "messages": list(messages)}


def script(*events: Event | Sequence[Event] | Action) -> list[Action]:
    """The server's script for one exchange."""
    actions: list[Action] = [event_stream()]
    for item in events:
        if isinstance(item, dict):
            actions.append(frame(item))
        elif isinstance(item, list):
            actions.extend(frame(event) for event in item)
        else:
            actions.append(item)  # type: ignore[arg-type]
    return actions


def run_of(*events: Event | Sequence[Event] | Action, outcome: Any = None) -> list[Action]:
    """The script of a run that finishes."""
    return script(started(), *events, finished(outcome))


DONE = run_of(says("m-done", "done"))
"""A run that calls nothing."""


class Wire:
    """What an agent was sent."""

    def __init__(self, server: Server) -> None:
        self._server = server

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """The run inputs, in order."""
        return [json.loads(request.body) for request in self._server.requests]

    def answers(self, index: int = -1) -> dict[str, Any]:
        """The tool messages of one input, by call."""
        messages = self.inputs[index]["messages"]
        return {m["toolCallId"]: m for m in messages if m["role"] == "tool"}

    def check_pairing(self) -> None:
        """No input leaves a gap: each call has its one answer, behind it, unless a resume entry speaks for it."""
        for sent in self.inputs:
            held: list[str] = []
            found: list[str] = []
            for message in sent["messages"]:
                held += [call["id"] for call in message.get("toolCalls") or ()]
                if message["role"] == "tool":
                    assert message["toolCallId"] in held
                    found.append(message["toolCallId"])
            assert len(found) == len(set(found))
            if not sent.get("resume"):
                assert set(found) == set(held)


@asynccontextmanager
async def agent_of(*scripts: Sequence[Action]) -> AsyncIterator[tuple[HttpAgent, Wire]]:
    """An agent on loopback that answers with one script after the other."""
    async with serve(*scripts) as server, HttpAgent(server.url) as agent:
        yield agent, Wire(server)
