"""The agent served for real on loopback, asked over HTTP, and every answer judged by the protocol's rules."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
import uvicorn
from ag_ui.core import Event, Message
from pydantic import TypeAdapter
from starlette.applications import Starlette

from client_sdk.protocol.conversation import Conversation
from client_sdk.protocol.pipeline import Pipeline
from demo_app.agent.blocks import ModelRequest, Stop, StreamItem
from demo_app.agent.models.script.scene import Act, Call
from demo_app.agent.models.scripted import ScriptedModel

EVENT: TypeAdapter[Any] = TypeAdapter(Event)
MESSAGES: TypeAdapter[list[Message]] = TypeAdapter(list[Message])
HEADERS = {"Content-Type": "application/json", "Accept": "text/event-stream"}

FRONTEND = (
    "navigate",
    "highlight",
    "set_filter",
    "fill_form",
    "show_chart",
    "capture_chart",
    "place_order",
)


class ActsModel(ScriptedModel):
    """The scripted model with its lines given: one list of acts a turn. It keeps what it was asked."""

    def __init__(self, *turns: Sequence[Act]) -> None:
        super().__init__(delay_seconds=0, slow_seconds=0)
        self._turns = list(turns)
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamItem, None]:
        self.requests.append(request)
        async for item in self.perform(request, self._turns.pop(0)):
            yield item


class ItemsModel(ScriptedModel):
    """A model whose stream is given item by item: for stop reasons that no script has."""

    def __init__(self, *turns: Sequence[StreamItem]) -> None:
        super().__init__(delay_seconds=0, slow_seconds=0)
        self._turns = list(turns)
        self.requests: list[ModelRequest] = []

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamItem, None]:
        self.requests.append(request)
        for item in self._turns.pop(0):
            yield item


class WaitingModel(ScriptedModel):
    """Plays its items, then waits for ever; says when it got there and when it was ended."""

    def __init__(self, *items: StreamItem) -> None:
        super().__init__(delay_seconds=0, slow_seconds=0)
        self._items = items
        self.waiting = asyncio.Event()
        self.ended = asyncio.Event()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[StreamItem, None]:
        try:
            for item in self._items:
                yield item
            self.waiting.set()
            await asyncio.Event().wait()
        finally:
            self.ended.set()
        yield Stop("end_turn")


@dataclass
class Answer:
    """A run's events as they came; `messages` is the conversation after them, as a client sends it back."""

    frames: list[str]
    events: list[dict[str, Any]] = field(default_factory=list)
    messages: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.events = [json.loads(frame) for frame in self.frames]

    def of(self, *types: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["type"] in types]

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    @property
    def text(self) -> str:
        return "".join(event["delta"] for event in self.of("TEXT_MESSAGE_CONTENT") if "subagentRunId" not in event)

    @property
    def outcome(self) -> dict[str, Any]:
        outcome: dict[str, Any] = self.events[-1]["outcome"]
        return outcome

    @property
    def calls(self) -> list[tuple[str, str]]:
        """The parent agent's calls: name and argument text, in order."""
        return [
            (
                start["toolCallName"],
                "".join(e["delta"] for e in self.of("TOOL_CALL_ARGS") if e["toolCallId"] == start["toolCallId"]),
            )
            for start in self.of("TOOL_CALL_START")
            if "subagentRunId" not in start
        ]

    @property
    def results(self) -> list[dict[str, Any]]:
        return [event for event in self.of("TOOL_CALL_RESULT") if "subagentRunId" not in event]

    def judge(self, run_input: dict[str, Any]) -> "Answer":
        """Every event fits its type strictly, no null is on the wire, and the order is right to the SDK's own judge."""
        conversation = Conversation(MESSAGES.validate_python(run_input["messages"]))
        pipeline = Pipeline(thread_id=run_input["threadId"], conversation=conversation)
        for frame, event in zip(self.frames, self.events, strict=True):
            EVENT.validate_json(frame, strict=True, by_alias=True, by_name=False)
            assert None not in list(_values(event)), f"null on the wire: {frame}"
            updates = pipeline.feed(frame)
            assert pipeline.error is None, pipeline.error
            assert [note for update in updates for note in update.diagnostics] == []
        assert self.events[0]["type"] == "RUN_STARTED"
        assert self.events[0]["protocolVersion"] == "1.0"
        assert self.events[-1]["type"] in ("RUN_FINISHED", "RUN_ERROR")
        self.messages = [
            message.model_dump(mode="json", by_alias=True)
            for message in conversation.messages
            if message.role != "activity"
        ]
        return self


def _values(value: Any) -> Iterable[Any]:
    yield value
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for member in members:
        yield from _values(member)


class Client:
    """A plain HTTP client of the agent, with a conversation that it keeps."""

    def __init__(self, http: httpx.AsyncClient, url: str) -> None:
        self.http = http
        self.url = url
        self.messages: list[dict[str, Any]] = []
        self.tools: Sequence[str] = FRONTEND
        self._runs = 0

    def run_input(self, **more: Any) -> dict[str, Any]:
        self._runs += 1
        tools = [{"name": name, "description": f"{name}.", "parameters": {"type": "object"}} for name in self.tools]
        return {
            "threadId": "thread-1",
            "runId": f"run-{self._runs}",
            "protocolVersion": "1.0",
            "messages": list(self.messages),
            "tools": tools,
            **more,
        }

    async def say(self, text: str | list[dict[str, Any]], **more: Any) -> Answer:
        """Ask, judge, and keep both sides in the conversation."""
        self.messages.append({"id": f"user-{len(self.messages)}", "role": "user", "content": text})
        return await self.go(**more)

    async def answer(self, call_id: str, content: Any, *, error: str = "", go: bool = True) -> Answer | None:
        """Answer a frontend call as a browser does; `go` starts the follow-up run."""
        text = content if isinstance(content, str | list) else json.dumps(content)
        message = {"id": f"tool-{len(self.messages)}", "role": "tool", "toolCallId": call_id, "content": text}
        self.messages.append(message | ({"error": error} if error else {}))
        return await self.go() if go else None

    async def reply(self, answer: Answer, *contents: Any, error: str = "") -> Answer:
        """Answer all pending calls of a run, in call order, and run on."""
        pending = answer.outcome["pendingToolCallIds"]
        for call_id, content in zip(pending, contents, strict=True):
            await self.answer(call_id, content, error=error, go=False)
        return await self.go()

    async def go(self, **more: Any) -> Answer:
        run_input = {key: value for key, value in self.run_input(**more).items() if value is not None}
        answer = (await self.raw(run_input)).judge(run_input)
        self.messages = answer.messages
        return answer

    async def raw(self, run_input: dict[str, Any]) -> Answer:
        """The frames, not judged."""
        response = await self.http.post(self.url, content=json.dumps(run_input).encode(), headers=HEADERS)
        assert response.status_code == 200, response.text
        assert response.headers["content-type"].startswith("text/event-stream")
        body = response.content.decode()
        assert "\r" not in body, "SSE is framed with LF alone"
        return Answer([frame.removeprefix("data: ") for frame in body.split("\n\n") if frame])


@asynccontextmanager
async def serve(app: Starlette) -> AsyncIterator[str]:
    """The app on a free port of this machine; the address of the agent."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()  # from here on a connection waits for the server instead of failing
    config = uvicorn.Config(app, lifespan="off", log_level="warning", timeout_graceful_shutdown=5)
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/agent"
    finally:
        server.should_exit = True
        await task
        listener.close()


Connect = Callable[..., Awaitable[Client]]
"""`await connect(model, **agent_options)` serves an agent and gives a client for it."""

__all__ = [
    "FRONTEND",
    "HEADERS",
    "ActsModel",
    "Answer",
    "Call",
    "Client",
    "Connect",
    "ItemsModel",
    "WaitingModel",
    "serve",
]
