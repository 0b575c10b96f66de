"""A producer nobody here wrote: pydantic-ai's AG-UI adapter, served by uvicorn on loopback, offline.

Import the `pydantic_ai` fixture into a conftest, then run against ``server.url("text")``.
Each scenario is a path; its model is scripted (`TestModel` or `FunctionModel`):

===================  ====================================================================================
``test-model``       pydantic-ai's own `TestModel`: calls the backend tool, then answers
``text``             streams a short text in several pieces
``long-text``        streams pieces without end, until the client goes away
``reasoning``        a reasoning span, then text
``backend-tool``     calls its own tool ``get_weather``, then answers with its result
``two-backend``      calls its own tool twice in one turn
``frontend-tool``    calls the client's ``navigate``, and answers with what came back
``two-frontend``     calls the client's ``navigate`` and ``paint`` in one turn
``parallel``         calls ``get_weather`` (backend) and ``navigate`` (frontend) in one turn
``bad-arguments``    calls ``navigate`` with a number for a place, and again rightly once it was told
``broken-json``      calls ``navigate`` with half a JSON text; the adapter gives up (RUN_ERROR)
``approval``         its own tool ``delete_record`` needs approval: an interrupt
``two-approvals``    two such calls in one turn: two interrupts
``approval-again``   the resumed run ends in a new interrupt
``screenshot``       calls the client's ``screenshot`` and says which kinds of parts it got back
``state``            its tool changes the shared state
``error``            the model raises at once
``error-mid``        the model raises after a few words
``hostile``          text, reasoning, call names and arguments full of terminal escapes
===================  ====================================================================================
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvicorn
from ag_ui.core import EventType, StateSnapshotEvent
from pydantic import BaseModel
from pydantic_ai import Agent, ToolReturn
from pydantic_ai.messages import (
    BinaryContent,
    ImageUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryPromptPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, DeltaThinkingPart, DeltaToolCall, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.tools import DeferredToolRequests
from pydantic_ai.ui import StateDeps
from pydantic_ai.ui.ag_ui import AGUIAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

HOSTILE = "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J \x00 \x08\x7f\r done"
"""What a model may say to take over a terminal."""


@dataclass(frozen=True)
class Call:
    """A tool call the model makes, its arguments in pieces."""

    id: str
    name: str
    pieces: tuple[str, ...]


@dataclass(frozen=True)
class Thought:
    """Reasoning the model shows."""

    text: str


Item = str | Call | Thought | Exception | Callable[[list[ModelMessage]], str]


def _turn(messages: list[ModelMessage]) -> int:
    """How often the model has spoken since the user last did."""
    turns = 0
    for message in reversed(messages):
        kinds = {type(part) for part in message.parts}
        # Media of a tool answer travel in a user prompt part of the same request as the answer.
        if UserPromptPart in kinds and ToolReturnPart not in kinds:
            break
        turns += isinstance(message, ModelResponse)
    return turns


def answers(messages: list[ModelMessage]) -> str:
    """What the tools answered last, as text: names, contents and complaints in order."""
    last = messages[-1]
    assert isinstance(last, ModelRequest)
    said = []
    for part in last.parts:
        if isinstance(part, ToolReturnPart):
            content = part.content if isinstance(part.content, str) else json.dumps(part.model_response_object())
            said.append(f"{part.tool_name} said {content}")
        elif isinstance(part, RetryPromptPart):
            said.append(f"{part.tool_name} complained")
    return "; ".join(said)


def kinds(messages: list[ModelMessage]) -> str:
    """The kinds of content in the last request, media by their media type."""
    found: list[str] = []

    def look(content: Any) -> None:
        if isinstance(content, list | tuple):
            for item in content:
                look(item)
        elif isinstance(content, BinaryContent | ImageUrl):
            found.append(content.media_type)
        else:
            found.append(type(content).__name__)

    last = messages[-1]
    assert isinstance(last, ModelRequest)
    for part in last.parts:
        look(part.content)
    return "got " + ", ".join(found)


def scripted(*turns: list[Item]) -> FunctionModel:
    """A model that says `turns[n]` when it has spoken n times since the user did; the last one repeats."""

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[Any]:
        for index, item in enumerate(turns[min(_turn(messages), len(turns) - 1)]):
            if isinstance(item, Exception):
                raise item
            if isinstance(item, Call):
                yield {index: DeltaToolCall(name=item.name, json_args="", tool_call_id=item.id)}
                for piece in item.pieces:
                    yield {index: DeltaToolCall(json_args=piece)}
            elif isinstance(item, Thought):
                yield {index: DeltaThinkingPart(content=item.text)}
            else:
                yield item if isinstance(item, str) else item(messages)

    return FunctionModel(stream_function=stream)


async def _endless(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str]:
    while True:
        yield "more "
        await asyncio.sleep(0.001)


class Shared(BaseModel):
    """The shared state of the ``state`` scenario."""

    n: int = 0


def _agent(model: Any) -> Agent[Any, Any]:
    """An agent with backend tools of its own, one of which needs approval."""
    agent: Agent[Any, Any] = Agent(model, deps_type=StateDeps[Shared], output_type=[str, DeferredToolRequests])

    @agent.tool_plain
    def get_weather(city: str) -> str:
        """The weather in a city."""
        return f"4 degrees in {city}"

    @agent.tool_plain(requires_approval=True)
    def delete_record(record: int) -> str:
        """Delete a record."""
        return f"deleted {record}"

    @agent.tool_plain
    def count() -> ToolReturn[str]:
        """Count up."""
        snapshot = StateSnapshotEvent(type=EventType.STATE_SNAPSHOT, snapshot={"n": 7})
        return ToolReturn("counted", metadata=[snapshot])

    return agent


def _navigate(id_: str, *pieces: str) -> Call:
    return Call(id_, "navigate", pieces or ('{"pla', 'ce":"orders"}'))


def _delete(id_: str, record: int) -> Call:
    return Call(id_, "delete_record", ('{"reco', f'rd":{record}}}'))


def _weather(id_: str, city: str) -> Call:
    return Call(id_, "get_weather", ('{"city":', f'"{city}"}}'))


SCENARIOS: dict[str, Callable[[], Any]] = {
    "test-model": lambda: TestModel(call_tools=["get_weather"]),
    "text": lambda: scripted(["Hello", ", ", "wörld 👋"]),
    "long-text": lambda: FunctionModel(stream_function=_endless),
    "reasoning": lambda: scripted([Thought("let me "), "It is 4."]),
    "backend-tool": lambda: scripted([_weather("call_1", "Oslo")], [answers]),
    "two-backend": lambda: scripted([_weather("call_1", "Oslo"), _weather("call_2", "Bergen")], [answers]),
    "frontend-tool": lambda: scripted(["One moment. ", _navigate("call_1")], [answers]),
    "two-frontend": lambda: scripted([_navigate("call_1"), Call("call_2", "paint", ('{"colour":"red"}',))], [answers]),
    "parallel": lambda: scripted([_weather("call_1", "Oslo"), _navigate("call_2")], [answers]),
    "bad-arguments": lambda: scripted([_navigate("call_1", '{"place":', "5}")], [_navigate("call_2")], [answers]),
    "broken-json": lambda: scripted([_navigate("call_1", '{"place":')]),
    "approval": lambda: scripted([_delete("call_1", 7)], [answers]),
    "two-approvals": lambda: scripted([_delete("call_1", 7), _delete("call_2", 8)], [answers]),
    "approval-again": lambda: scripted([_delete("call_1", 7)], [_delete("call_2", 8)], [answers]),
    "screenshot": lambda: scripted([Call("call_1", "screenshot", ("{}",))], [kinds]),
    "state": lambda: scripted([Call("call_1", "count", ("{}",))], [answers]),
    "error": lambda: scripted([RuntimeError("the model is out")]),
    "error-mid": lambda: scripted(["a few words", RuntimeError("the model is out")]),
    "hostile": lambda: scripted(
        [Thought(HOSTILE), HOSTILE, Call("call_1", "navigate", (json.dumps({"place": HOSTILE}),))]
    ),
}


@dataclass
class Server:
    """A running producer.

    Attributes:
        port: where it listens, on 127.0.0.1.
        requests: the bodies posted to it, by scenario, in order.
        headers: the headers of those requests, likewise.
        gone: set for a scenario once a client of it has gone away or been served.
    """

    port: int = 0
    requests: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    headers: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    gone: dict[str, threading.Event] = field(default_factory=lambda: {name: threading.Event() for name in SCENARIOS})

    def url(self, scenario: str) -> str:
        """The URL of a scenario."""
        return f"http://127.0.0.1:{self.port}/{scenario}"

    def app(self) -> Starlette:
        """The ASGI application: one route a scenario."""
        return Starlette(routes=[Route(f"/{name}", self._endpoint(name), methods=["POST"]) for name in SCENARIOS])

    def _endpoint(self, name: str) -> Callable[[Request], Any]:
        agent = _agent(SCENARIOS[name]())

        async def endpoint(request: Request) -> Response:
            self.requests.setdefault(name, []).append(await request.json())
            self.headers.setdefault(name, []).append(dict(request.headers))
            response: Any = await AGUIAdapter.dispatch_request(request, agent=agent, deps=StateDeps(Shared()))
            if hasattr(response, "body_iterator"):
                response.body_iterator = self._watched(response.body_iterator, self.gone[name])
            return response  # type: ignore[no-any-return]

        return endpoint

    async def _watched(self, body: AsyncIterator[Any], gone: threading.Event) -> AsyncIterator[Any]:
        try:
            async for chunk in body:
                yield chunk
        finally:
            gone.set()


class _Uvicorn(uvicorn.Server):
    """Tells when it listens, and where."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = threading.Event()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.listening.set()


@contextmanager
def serve(app: Any) -> Iterator[int]:
    """Serve an ASGI application on a free loopback port, in a thread; yields the port, then stops it."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", ws="none", timeout_graceful_shutdown=1)
    server = _Uvicorn(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        assert server.listening.wait(30), "the server did not start"
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive(), "the server did not stop"


@pytest.fixture(scope="session")
def pydantic_ai() -> Iterator[Server]:
    """The producer, running for the whole test session."""
    server = Server()
    with serve(server.app()) as server.port:
        yield server
