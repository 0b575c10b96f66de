"""Middleware: its place in the pipeline (PL-1 to PL-3), and the examples users start from."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from client_sdk import (
    CallNext,
    ConnectionFailed,
    HttpAgent,
    HttpStatusError,
    InputError,
    Middleware,
    OptionError,
    ProtocolError,
    RawEvent,
    RunRequest,
    RunStatus,
    Update,
)
from examples.middleware_headers import bearer
from examples.middleware_log import log_events
from examples.middleware_retry import retry
from examples.middleware_translate import translate_house_events
from tests.client_sdk.scripts import answer, failed, finished, frames, hello, said, started
from tests.client_sdk.servers import Reset, Until, closed_port, event_stream, head, serve

SECONDS = 30
BUSY = [head("503 Service Unavailable", "text/plain"), b"busy"]
DENIED = [head("401 Unauthorized", "text/plain"), b"who?"]


async def run(url: str, *middleware: Middleware, **options: Any) -> tuple[list[Update], Any]:
    """One run through `middleware`: the updates and the result."""
    async with HttpAgent(url, middleware=middleware, **options) as agent:
        async with agent.thread("t1").run("hi") as running:
            updates = [update async for update in running]
        return updates, running.result


def types(updates: list[Update]) -> list[str]:
    return [update.event.type.value for update in updates]


def recorder(seen: list[RawEvent]) -> Middleware:
    """Middleware that keeps a copy of everything that passes."""

    async def record(request: RunRequest, call_next: CallNext) -> AsyncIterator[RawEvent]:
        async for event in call_next(request):
            seen.append(dict(event))
            yield event

    return record


# The place in the pipeline.


async def test_middleware_sees_what_enforcement_removes_and_the_application_does_not() -> None:
    """PL-1 to PL-3: after compatibility, before enforcement and before chunks are expanded."""
    events = [
        started(),
        {"type": "FUTURE_EVENT", "x": 1},
        {"type": "TEXT_MESSAGE_CHUNK", "messageId": "m1", "delta": "x", "future": 1, "rawEvent": None},
        {"type": "THINKING_START"},
        {"type": "THINKING_END"},
        finished(),
    ]
    seen: list[RawEvent] = []
    async with serve(answer(*events)) as server:
        updates, result = await run(server.url, recorder(seen))
    assert [event["type"] for event in seen] == [
        "RUN_STARTED", "FUTURE_EVENT", "TEXT_MESSAGE_CHUNK", "REASONING_START", "REASONING_END", "RUN_FINISHED",
    ]  # fmt: skip
    assert (seen[1]["x"], seen[2]["future"]) == (1, 1)
    assert "rawEvent" not in seen[2]
    assert "FUTURE_EVENT" not in types(updates)
    assert "TEXT_MESSAGE_CHUNK" not in types(updates)
    assert all(not update.event.__pydantic_extra__ for update in updates)
    assert [d.code for d in result.diagnostics] == [
        "unknown_event", "retired_shape", "unknown_property", "retired_shape", "retired_shape",
    ]  # fmt: skip


async def test_the_same_stream_has_the_same_verdict_with_and_without_middleware() -> None:
    """PL-1."""
    events = [started(), *said("m1", "\ud83d", "\ude00"), {"type": "FUTURE_EVENT"}, finished()]
    async with serve(answer(*events)) as server:
        plain, expected = await run(server.url)
        passed, result = await run(server.url, recorder([]))
    assert [repr(update.event) for update in passed] == [repr(update.event) for update in plain]
    assert (result.status, result.diagnostics) == (expected.status, expected.diagnostics)
    assert result.text == expected.text == "\U0001f600"


async def test_the_first_middleware_is_the_outermost() -> None:
    def mark(name: str) -> Middleware:
        async def middleware(request: RunRequest, call_next: CallNext) -> AsyncIterator[RawEvent]:
            request.headers["x-order"] = request.headers.get("x-order", "") + name
            async for event in call_next(request):
                yield {**event, "metadata": {"order": event.get("metadata", {}).get("order", "") + name}}

        return middleware

    async with serve(hello()) as server:
        updates, _ = await run(server.url, mark("a"), mark("b"))
        assert server.requests[0].headers["x-order"] == "ab"
    assert {update.event.metadata["order"] for update in updates} == {"ba"}


async def test_what_middleware_makes_is_verified() -> None:
    """PL-3: an event it invents breaks the stream like one of the agent's, and says which it was."""

    async def invent(request: RunRequest, call_next: CallNext) -> AsyncIterator[RawEvent]:
        async for event in call_next(request):
            yield event
            yield {"type": "TEXT_MESSAGE_END", "messageId": "never-opened"}

    async with serve(hello()) as server, HttpAgent(server.url, middleware=[invent]) as agent:
        running = agent.thread("t1").run("hi")
        with pytest.raises(ProtocolError) as caught:
            await running
        assert (caught.value.code, caught.value.index) == ("not_open", 1)
        assert running.result.status is RunStatus.REJECTED


async def test_a_frame_that_is_no_event_ends_the_run_with_middleware_too() -> None:
    """PR-1; middleware may look at it, and what it yielded before stays."""
    caught_inside: list[ProtocolError] = []

    async def look(request: RunRequest, call_next: CallNext) -> AsyncIterator[RawEvent]:
        try:
            async for event in call_next(request):
                yield event
        except ProtocolError as error:
            caught_inside.append(error)
            raise

    script = [event_stream(), frames(started(), *said("m1", "kept")), b"data: nonsense\n\n", Until()]
    async with serve(script) as server, HttpAgent(server.url, middleware=[look]) as agent:
        thread = agent.thread("t1")
        running = thread.run("hi")
        with pytest.raises(ProtocolError) as caught:
            await running
        assert caught_inside == [caught.value]
        assert (caught.value.code, caught.value.index) == ("not_an_event", 4)
        assert running.result.error is caught.value
        assert thread.messages[-1].content == "kept"


async def test_an_error_of_middleware_reaches_the_application() -> None:
    async def stumble(request: RunRequest, call_next: CallNext) -> AsyncIterator[RawEvent]:
        async for event in call_next(request):
            yield event
            raise LookupError("mine")

    script = [event_stream(), frames(started()), Until()]
    async with serve(script) as server, HttpAgent(server.url, middleware=[stumble]) as agent:
        thread = agent.thread("t1")
        running = thread.run("hi")
        with pytest.raises(LookupError, match="mine"):
            await running
        async with asyncio.timeout(SECONDS):
            await server.hung_up.wait()
        assert running.result.status is RunStatus.TRUNCATED
        assert not thread.running


async def test_what_middleware_puts_in_the_input_is_enforced_before_it_is_sent() -> None:
    """RI-1."""

    async def add(request: RunRequest, call_next: CallNext) -> AsyncIterator[RawEvent]:
        request.input["forwardedProps"] = {"k": 1}
        request.input["future"] = 1
        async for event in call_next(request):
            yield event

    async def spoil(request: RunRequest, call_next: CallNext) -> AsyncIterator[RawEvent]:
        request.input["messages"] = [7]
        async for event in call_next(request):
            yield event

    async with serve(hello()) as server:
        _, result = await run(server.url, add)
        assert result.request["forwardedProps"] == {"k": 1}
        assert [(d.code, d.path) for d in result.diagnostics] == [("outgoing_stripped", "/future")]
        with pytest.raises(InputError, match="/messages/0"):
            await run(server.url, spoil)
        assert len(server.requests) == 1


async def test_a_malformed_input_is_refused_before_middleware_runs() -> None:
    async def never(request: RunRequest, call_next: CallNext) -> AsyncIterator[RawEvent]:
        pytest.fail("middleware ran")
        yield {}

    async with HttpAgent("http://127.0.0.1:1/", middleware=[never]) as agent:
        with pytest.raises(InputError):
            await agent.thread("t1").run("hi", forwarded_props=float("nan"))


class _Plain:
    """An asynchronous iterator that is no generator: it has nothing to close."""

    def __init__(self, events: list[RawEvent]) -> None:
        self._events = iter(events)

    def __aiter__(self) -> _Plain:
        return self

    async def __anext__(self) -> RawEvent:
        for event in self._events:
            return event
        raise StopAsyncIteration


async def test_middleware_may_answer_by_itself() -> None:
    def canned(request: RunRequest, call_next: CallNext) -> AsyncIterator[RawEvent]:
        return _Plain([started(), *said("m1", "from the cache"), finished()])

    async with serve(hello()) as server:
        _, result = await run(server.url, canned)
        assert server.requests == []
    assert (result.status, result.text, result.request) == (RunStatus.COMPLETED, "from the cache", {})


async def test_leaving_early_closes_every_layer_and_the_connection_at_once() -> None:
    """TR-2: outermost first, before the block is left."""
    closed: list[str] = []

    def layer(name: str) -> Middleware:
        async def middleware(request: RunRequest, call_next: CallNext) -> AsyncIterator[RawEvent]:
            try:
                async for event in call_next(request):
                    yield event
            finally:
                await asyncio.sleep(0)
                closed.append(name)

        return middleware

    script = [event_stream(), frames(started(), *said("m1", "so far")), Until()]
    async with serve(script, hello("r2", "m2")) as server, AsyncExitStack() as stack:
        agent = await stack.enter_async_context(HttpAgent(server.url, middleware=[layer("outer"), layer("inner")]))
        thread = agent.thread("t1")
        async with thread.run("hi") as running:
            async for update in running:
                if update.event.type.value == "TEXT_MESSAGE_END":
                    break
        assert closed == ["outer", "inner"]
        assert running.result.status is RunStatus.TRUNCATED
        async with asyncio.timeout(SECONDS):
            await server.hung_up.wait()
        assert (await thread.run("again")).status is RunStatus.COMPLETED


@pytest.mark.parametrize("end", [finished(), failed()])
async def test_a_connection_that_breaks_after_the_end_changes_nothing_behind_middleware(end: RawEvent) -> None:
    """TR-7."""
    async with serve([event_stream(), frames(started(), end), Reset()]) as server:
        _, result = await run(server.url, recorder([]))
    assert result.error is None
    assert result.status is (RunStatus.COMPLETED if end["type"] == "RUN_FINISHED" else RunStatus.FAILED)


# The examples.


async def test_retry_asks_again_while_nothing_was_delivered() -> None:
    async with serve(BUSY, BUSY, hello()) as server:
        updates, result = await run(server.url, retry(pause=0))
        assert len(server.requests) == 3
        assert len({request.body for request in server.requests}) == 1
    assert result.status is RunStatus.COMPLETED
    assert types(updates)[0] == "RUN_STARTED"


async def test_retry_gives_up_in_the_end_and_does_not_repeat_what_cannot_help() -> None:
    async with serve(BUSY) as server:
        with pytest.raises(HttpStatusError):
            await run(server.url, retry(attempts=2, pause=0))
        assert len(server.requests) == 2
    async with serve(DENIED) as server:
        with pytest.raises(HttpStatusError):
            await run(server.url, retry(pause=0))
        assert len(server.requests) == 1
    with pytest.raises(ConnectionFailed):
        await run(f"http://127.0.0.1:{closed_port()}/", retry(attempts=2, pause=0))


async def test_retry_leaves_a_run_that_has_begun_alone() -> None:
    """TR-1: a break in the middle is a truncated run."""
    async with serve([event_stream(), frames(started()), Reset()]) as server:
        _, result = await run(server.url, retry(pause=0))
        assert len(server.requests) == 1
    assert result.status is RunStatus.TRUNCATED


async def test_logging_tells_what_travels(caplog: pytest.LogCaptureFixture) -> None:
    """PL-2."""
    with caplog.at_level(logging.INFO, logger="wire"):
        async with serve(answer(started(), {"type": "FUTURE_EVENT"}, finished())) as server:
            await run(server.url, log_events)
    told = [record.getMessage().rpartition(": ")[2] for record in caplog.records if record.name == "wire"]
    assert told == ["1 messages", "RUN_STARTED", "FUTURE_EVENT", "RUN_FINISHED"]


async def test_a_refused_credential_is_renewed_once() -> None:
    asked: list[bool] = []

    async def token(renewed: bool) -> str:
        asked.append(renewed)
        return "new" if renewed else "old"

    async with serve(DENIED, hello()) as server:
        _, result = await run(server.url, bearer(token), headers={"Authorization": "of the agent"})
        assert [request.headers["authorization"] for request in server.requests] == ["Bearer old", "Bearer new"]
    assert result.status is RunStatus.COMPLETED
    assert asked == [False, True]
    for script in (DENIED, BUSY):
        async with serve(script) as server:
            with pytest.raises(HttpStatusError):
                await run(server.url, bearer(token))


async def test_a_house_dialect_is_read_as_the_protocol() -> None:
    """PL-2, PL-3."""
    events = [started(houseTrace="t-1"), {"type": "HOUSE_NOTE", "id": "n1", "text": "noted"}, finished()]
    async with serve(answer(*events)) as server:
        updates, result = await run(server.url, translate_house_events)
    assert result.text == "noted"
    assert updates[0].event.metadata == {"trace": "t-1"}
    assert result.diagnostics == []


async def _no_generator(request: RunRequest, call_next: CallNext) -> Any:
    return call_next(request)


async def _nothing(request: RunRequest, call_next: CallNext) -> AsyncIterator[Any]:
    async for _ in call_next(request):
        yield None


def _a_list(request: RunRequest, call_next: CallNext) -> Any:
    return []


@pytest.mark.parametrize(
    ("middleware", "said"),
    [
        (_no_generator, "the middleware _no_generator returned a coroutine; it is an async generator"),
        (_a_list, "the middleware _a_list returned a list; it is an async generator"),
        (_nothing, r"middleware yields raw events \(dict\), not NoneType"),
    ],
)
async def test_what_is_no_middleware_is_named(middleware: Any, said: str) -> None:
    async with serve(hello(), hello("r2", "m2")) as server, HttpAgent(server.url, middleware=[middleware]) as agent:
        thread = agent.thread()
        with pytest.raises(OptionError, match=said):
            await thread.run("hi")
        assert not thread.running
