"""Agent, thread and run over real connections: how runs end, and what is left afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from ag_ui.core import Context, ImagePart, RunErrorEvent, TextPart, Tool, UrlSource, UserMessage

from client_sdk import (
    CallNext,
    ConnectionBroken,
    ConnectionFailed,
    ContentTypeError,
    FrameTooLarge,
    HttpAgent,
    HttpStatusError,
    InputError,
    InterruptError,
    ProtocolError,
    RawEvent,
    ReadTimedOut,
    Run,
    RunFailed,
    RunRequest,
    RunStatus,
    RunTruncated,
    Thread,
    ToolRegistry,
)
from tests.client_sdk.scripts import answer, called, failed, finished, frames, hello, said, started
from tests.client_sdk.servers import Reset, Server, Until, closed_port, event_stream, head, serve

SECONDS = 30


def sent(server: Server, index: int = -1) -> dict[str, Any]:
    """The run input the server got."""
    body: dict[str, Any] = json.loads(server.requests[index].body)
    return body


async def hung_up(server: Server) -> None:
    """Wait until the client has closed its connection."""
    async with asyncio.timeout(SECONDS):
        await server.hung_up.wait()


# How runs end.


async def test_a_completed_run_and_everything_its_result_holds() -> None:
    """LC-5, LC-9."""
    usage = [{"provider": "p", "model": "m", "inputTokens": 3}]
    script = answer(
        started(),
        {"type": "STATE_SNAPSHOT", "snapshot": {"n": 1}},
        *said("m1", "Hel", "lo"),
        *said("m2", "there"),
        {"type": "SUBAGENT_STARTED", "subagentRunId": "s", "name": "helper"},
        {"type": "SUBAGENT_FINISHED", "subagentRunId": "s"},
        finished(result={"ok": True}, usage=usage),
    )
    async with serve(script) as server, HttpAgent(server.url) as agent:
        thread = agent.thread("t1", messages=[{"id": "u0", "role": "user", "content": "before"}])
        async with thread.run("hi", run_id="r1") as run:
            updates = [update async for update in run if thread.running]
        assert not thread.running
        result = run.result
        assert [update.delta for update in updates if update.delta] == ["Hel", "lo", "there"]
        assert (run.id, result.run_id, result.thread_id) == ("r1", "r1", "t1")
        assert result.status is RunStatus.COMPLETED
        assert result.raise_for_status() is result
        assert result.text == "Hello\n\nthere"
        assert [m.role for m in result.messages] == ["user", "user", "assistant", "assistant"]
        assert [m.id for m in result.new_messages] == ["m1", "m2"]
        assert result.messages == thread.messages
        assert (result.state, thread.state) == ({"n": 1}, {"n": 1})
        assert result.result == {"ok": True}
        assert (result.usage[0].provider, result.usage[0].input_tokens) == ("p", 3)
        assert [view.name for view in result.subagents] == ["helper"]
        assert (result.error, result.run_errors, result.diagnostics, result.interrupts) == (None, [], [], [])
        assert result.pending_tool_calls == []
        assert result.request == sent(server)
        assert len(result.runs) == 1


async def test_a_run_can_be_awaited_or_read_as_plain_events() -> None:
    async with serve(hello(), hello("r2", "m2")) as server, HttpAgent(server.url) as agent:
        thread = agent.thread("t1")
        result = await thread.run("hi")
        assert result.text == "hello"
        run = thread.run("again")
        types = [event.type.value async for event in run.events()]
        assert types[0] == "RUN_STARTED"
        assert types[-1] == "RUN_FINISHED"
        assert run.result.status is RunStatus.COMPLETED


async def test_a_run_is_read_once_and_has_a_result_only_afterwards() -> None:
    async with serve(hello()) as server, HttpAgent(server.url) as agent:
        run = agent.thread("t1").run("hi")
        with pytest.raises(RuntimeError, match="no result yet"):
            _ = run.result
        await run.aclose()  # closing what was never started is nothing
        await run
        with pytest.raises(RuntimeError, match="read once"):
            await run


async def test_a_failed_run() -> None:
    """LC-6: surfaced as failed, never as rejected; what was delivered stays."""
    script = answer(started(), *said("m1", "so far"), failed("no credit", code="E7"))
    async with serve(script) as server, HttpAgent(server.url) as agent:
        thread = agent.thread("t1")
        result = await thread.run("hi")
        assert result.status is RunStatus.FAILED
        assert result.error is None
        assert [(type(e), e.message, e.code) for e in result.run_errors] == [(RunErrorEvent, "no credit", "E7")]
        with pytest.raises(RunFailed, match=r"no credit \(E7\)") as caught:
            result.raise_for_status()
        assert (caught.value.code, caught.value.result) == ("run_failed", result)
        assert result.text == "so far"


async def test_a_failure_before_the_run_started() -> None:
    """LC-1."""
    async with serve(answer(failed("not today"))) as server, HttpAgent(server.url) as agent:
        result = await agent.thread("t1").run("hi", run_id="r9")
        assert (result.status, result.run_id, result.thread_id) == (RunStatus.FAILED, "r9", "t1")
        with pytest.raises(RunFailed, match=r"not today$"):
            result.raise_for_status()


@pytest.mark.parametrize("events", [[], [started()], [started(), *said("m1", "so far")]])
async def test_a_stream_that_just_ends_is_a_truncated_run(events: list[dict[str, Any]]) -> None:
    """TR-1: no outcome, never success."""
    async with serve(answer(*events), hello("r2", "m2")) as server, HttpAgent(server.url) as agent:
        thread = agent.thread("t1")
        result = await thread.run("hi")
        assert result.status is RunStatus.TRUNCATED
        assert result.error is None
        with pytest.raises(RunTruncated) as caught:
            result.raise_for_status()
        assert (caught.value.code, caught.value.result) == ("run_truncated", result)
        assert result.text == ("so far" if len(events) > 1 else "")
        assert (await thread.run("again")).status is RunStatus.COMPLETED


async def test_a_connection_that_breaks_truncates_the_run() -> None:
    """TR-1: and the error says what happened."""
    script = [event_stream(), frames(started(), *said("m1", "so far")), Reset()]
    async with serve(script) as server, HttpAgent(server.url) as agent:
        result = await agent.thread("t1").run("hi")
        assert result.status is RunStatus.TRUNCATED
        assert isinstance(result.error, ConnectionBroken)
        with pytest.raises(RunTruncated, match=r"the connection broke") as caught:
            result.raise_for_status()
        assert caught.value.__cause__ is result.error


async def test_silence_beyond_the_read_timeout_truncates_the_run() -> None:
    script = [event_stream(), frames(started()), Until()]
    timeout = httpx.Timeout(SECONDS, read=0.05)
    async with serve(script) as server, HttpAgent(server.url, timeout=timeout) as agent:
        result = await agent.thread("t1").run("hi")
        assert (result.status, type(result.error)) == (RunStatus.TRUNCATED, ReadTimedOut)
        await hung_up(server)


@pytest.mark.parametrize(
    ("end", "status"), [(finished(), RunStatus.COMPLETED), (failed("no credit"), RunStatus.FAILED)]
)
async def test_a_connection_that_breaks_after_the_end_changes_nothing(end: dict[str, Any], status: RunStatus) -> None:
    """TR-7."""
    script = [event_stream(), frames(started(), *said("m1", "all"), end), Reset()]
    async with serve(script) as server, HttpAgent(server.url) as agent:
        result = await agent.thread("t1").run("hi")
        assert (result.status, result.error, result.text) == (status, None, "all")
        assert [e.message for e in result.run_errors] == (["no credit"] if status is RunStatus.FAILED else [])


async def test_a_frame_too_large_after_the_end_changes_nothing() -> None:
    script = [event_stream(), frames(started(), finished()), b"data: " + b"x" * 5_000]
    async with serve(script) as server, HttpAgent(server.url, max_frame_bytes=1_000) as agent:
        assert (await agent.thread("t1").run("hi")).status is RunStatus.COMPLETED


async def test_a_frame_too_large_before_the_end_is_an_error() -> None:
    """TR-5: the peer did not break off, it sent what cannot be read."""
    script = [event_stream(), frames(started(), *said("m1", "so far")), b"data: " + b"x" * 5_000]
    async with serve(script) as server, HttpAgent(server.url, max_frame_bytes=1_000) as agent:
        thread = agent.thread("t1")
        run = thread.run("hi")
        with pytest.raises(FrameTooLarge):
            await run
        assert run.result.status is RunStatus.TRUNCATED
        assert isinstance(run.result.error, FrameTooLarge)
        assert thread.messages[-1].content == "so far"


async def test_a_rejected_stream_raises_and_keeps_what_was_delivered() -> None:
    """PL-4: the error names the event; the connection is closed; the thread stays usable."""
    broken = {"type": "TEXT_MESSAGE_CONTENT", "messageId": "other", "delta": "x"}
    script = [event_stream(), frames(started(), *said("m1", "so far"), broken, *said("m2", "never")), Until()]
    async with serve(script, hello("r2", "m3")) as server, HttpAgent(server.url) as agent:
        thread = agent.thread("t1")
        run = thread.run("hi")
        seen: list[str] = []

        async def read() -> None:
            async for event in run.events():
                seen.append(event.type.value)  # noqa: PERF401 - what came before the error is kept

        with pytest.raises(ProtocolError) as caught:
            await read()
        assert (caught.value.code, caught.value.index, caught.value.ids) == ("not_open", 4, ("other",))
        assert len(seen) == 4
        assert run.result.status is RunStatus.REJECTED
        assert run.result.error is caught.value
        with pytest.raises(ProtocolError):
            run.result.raise_for_status()
        await hung_up(server)
        assert thread.messages[-1].content == "so far"
        assert (await thread.run("again")).status is RunStatus.COMPLETED


async def test_a_run_left_between_the_break_of_a_rule_and_its_report_is_rejected_all_the_same() -> None:
    """One chunk may bring updates and break a rule: whoever leaves after the updates still learns of it."""
    chunks = [
        {"type": "TEXT_MESSAGE_CHUNK", "messageId": "a", "delta": "x"},
        {"type": "TOOL_CALL_END", "toolCallId": "nobody"},
    ]
    async with serve(answer(started(), *chunks)) as server, HttpAgent(server.url) as agent:
        async with agent.thread("t1").run("hi") as run:
            async for update in run:
                if update.event.type.value == "TEXT_MESSAGE_END":
                    break
        assert run.result.status is RunStatus.REJECTED
        assert isinstance(run.result.error, ProtocolError)
        with pytest.raises(ProtocolError):
            run.result.raise_for_status()


async def test_a_cancelled_run_is_neither_success_nor_failure() -> None:
    """LC-5."""
    async with (
        serve(answer(started(), finished(outcome={"type": "cancelled"}))) as server,
        HttpAgent(server.url) as agent,
    ):
        result = await agent.thread("t1").run("hi")
        assert result.status is RunStatus.CANCELLED
        assert result.raise_for_status() is result


async def test_several_runs_on_one_stream() -> None:
    """LC-7: the last one's status, everybody's usage and messages."""
    usage = [{"provider": "p", "outputTokens": 2}]
    script = answer(
        started("r1"), *said("m1", "one"), finished("r1", usage=usage),
        started("r2"), *said("m2", "two"), failed("late", usage=usage),
    )  # fmt: skip
    async with serve(script) as server, HttpAgent(server.url) as agent:
        result = await agent.thread("t1").run("hi")
        assert (result.status, result.run_id) == (RunStatus.FAILED, "r2")
        assert [run.status for run in result.runs] == [RunStatus.COMPLETED, RunStatus.FAILED]
        assert result.text == "one\n\ntwo"
        assert result.usage[0].output_tokens == 4


# Runs that never start.


@pytest.mark.parametrize(
    ("script", "error"),
    [
        ([head("503 Service Unavailable", "text/plain"), b"busy"], HttpStatusError),
        ([head("200 OK", "text/html"), b"<html>"], ContentTypeError),
    ],
)
async def test_a_run_that_never_started_leaves_everything_as_it_was(script: list[Any], error: type[Exception]) -> None:
    """TR-3: pending calls and open interrupts are still there to be answered."""
    interrupt = {"type": "interrupt", "interrupts": [{"id": "i1", "reason": "input"}]}
    first = answer(started(), *called("c1"), finished(outcome=interrupt))
    resume = [{"interruptId": "i1", "status": "cancelled"}]
    async with serve(first, script, hello("r3", "m3")) as server, HttpAgent(server.url) as agent:
        thread = agent.thread("t1", state={"n": 1})
        await thread.run("hi")
        pending, interrupts = thread.pending_tool_calls, thread.interrupts
        assert ([call.id for call in pending], [i.id for i in interrupts]) == (["c1"], ["i1"])
        failing = thread.run(resume=resume)
        with pytest.raises(error):
            await failing
        assert failing.result.status is RunStatus.TRUNCATED
        assert isinstance(failing.result.error, error)
        assert (thread.pending_tool_calls, thread.interrupts) == (pending, interrupts)
        assert thread.state == {"n": 1}
        assert not thread.running
        result = await thread.run(resume=resume)
        assert result.status is RunStatus.COMPLETED
        assert (thread.pending_tool_calls, thread.interrupts) == ([], [])
        assert [entry["status"] for entry in sent(server)["resume"]] == ["cancelled"]


async def test_an_http_error_carries_status_and_body() -> None:
    """TR-3."""
    script = [head("422 Unprocessable Entity", "application/json"), b'{"detail":"bad"}']
    async with serve(script) as server, HttpAgent(server.url) as agent:
        with pytest.raises(HttpStatusError) as caught:
            await agent.thread("t1").run("hi")
        assert (caught.value.status, caught.value.body) == (422, '{"detail":"bad"}')


async def test_nobody_listening() -> None:
    async with HttpAgent(f"http://127.0.0.1:{closed_port()}/") as agent:
        with pytest.raises(ConnectionFailed):
            await agent.thread().run("hi")


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"forwarded_props": {"x": float("nan")}}, "/forwardedProps/x"),
        ({"parent_run_id": 7}, "/parentRunId"),
        ({"tools": [{"name": "n"}]}, "/tools/0/description"),
        ({"context": [{"description": "d", "value": 7}]}, "/context/0/value"),
    ],
)
async def test_a_malformed_input_is_refused_before_a_byte_leaves(options: dict[str, Any], path: str) -> None:
    """RI-1."""
    async with serve(hello()) as server, HttpAgent(server.url) as agent:
        thread = agent.thread("t1")
        run = thread.run("hi", **options)
        with pytest.raises(InputError) as caught:
            await run
        assert caught.value.path == path
        assert server.requests == []
        assert not thread.running
        assert (await thread.run()).status is RunStatus.COMPLETED


def test_a_malformed_history_is_refused_when_the_thread_is_made() -> None:
    agent = HttpAgent("http://127.0.0.1:1/")
    with pytest.raises(InputError) as caught:
        agent.thread(messages=[{"id": "u", "role": "user", "content": "x"}, {"id": "v", "role": "user"}])
    assert caught.value.path == "/messages/1/content"
    with pytest.raises(InputError) as caught:
        agent.thread().run([{"type": "text"}])
    assert caught.value.path == "/content/0/text"


# Stopping.


async def _stopped_while_open(agent: HttpAgent, server: Server, stop: Any) -> Thread:
    thread = agent.thread("t1")
    await stop(thread)
    await hung_up(server)
    assert not thread.running
    assert [m.content for m in thread.messages] == ["hi", "so far"]
    result = await thread.run("again")
    assert result.status is RunStatus.COMPLETED
    assert [m["content"] for m in sent(server)["messages"]] == ["hi", "so far", "again"]
    return thread


@asynccontextmanager
async def endless() -> AsyncIterator[tuple[Server, HttpAgent]]:
    """A server that says something and then keeps the stream open, and answers the next request well."""
    script = [event_stream(), frames(started(), *said("m1", "so far")), Until()]
    async with serve(script, hello("r2", "m2")) as server, HttpAgent(server.url) as agent:
        yield server, agent


async def test_leaving_the_block_early_closes_the_connection() -> None:
    """TR-2: a truncated run, not a cancelled one."""

    async def stop(thread: Thread) -> None:
        async with thread.run("hi") as run:
            async for update in run:
                if update.event.type.value == "TEXT_MESSAGE_END":
                    break
        assert run.result.status is RunStatus.TRUNCATED
        assert run.result.error is None

    async with endless() as (server, agent):
        await _stopped_while_open(agent, server, stop)


async def test_an_error_of_the_application_closes_the_connection() -> None:
    async def stop(thread: Thread) -> None:
        run = thread.run("hi")

        async def read() -> None:
            async with run:
                async for update in run:
                    if update.event.type.value == "TEXT_MESSAGE_END":
                        raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await read()
        assert run.result.status is RunStatus.TRUNCATED

    async with endless() as (server, agent):
        await _stopped_while_open(agent, server, stop)


async def test_cancelling_the_task_closes_the_connection() -> None:
    """TR-2."""

    async def stop(thread: Thread) -> None:
        run = thread.run("hi")
        seen = asyncio.Event()

        async def read() -> None:
            async for update in run:
                if update.event.type.value == "TEXT_MESSAGE_END":
                    seen.set()

        task = asyncio.create_task(read())
        await seen.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert run.result.status is RunStatus.TRUNCATED

    async with endless() as (server, agent):
        await _stopped_while_open(agent, server, stop)


async def test_another_task_may_stop_a_run_that_is_being_read() -> None:
    """TR-2: a stop button is pressed, twice, while the reader waits for the next event."""

    async def stop(thread: Thread) -> None:
        run = thread.run("hi")
        seen = asyncio.Event()

        async def read() -> int:
            count = 0
            async for update in run:
                count += 1
                if update.event.type.value == "TEXT_MESSAGE_END":
                    seen.set()
            return count

        task = asyncio.create_task(read())
        await seen.wait()
        await asyncio.gather(run.aclose(), run.aclose())
        assert await task == 4
        assert task.cancelling() == 0
        assert run.result.status is RunStatus.TRUNCATED
        assert run.result.error is None

    async with endless() as (server, agent):
        await _stopped_while_open(agent, server, stop)


async def test_a_run_may_be_stopped_before_the_agent_answers() -> None:
    async with serve([Until()], hello("r2", "m2")) as server, HttpAgent(server.url) as agent:
        thread = agent.thread("t1")
        run = thread.run("hi")
        task = asyncio.create_task(run.wait())
        await server.streaming.wait()
        await run.aclose()
        assert (await task).status is RunStatus.TRUNCATED
        await hung_up(server)
        assert (await thread.run("again")).status is RunStatus.COMPLETED


async def test_a_run_may_be_stopped_while_its_reader_is_busy_elsewhere() -> None:
    """TR-2: whenever the reader comes back, during the closing or after it, the iteration is over."""
    closing, close = asyncio.Event(), asyncio.Event()

    async def slow_to_close(request: RunRequest, call_next: CallNext) -> AsyncIterator[RawEvent]:
        try:
            async for event in call_next(request):
                yield event
        finally:
            closing.set()
            await close.wait()

    script = [event_stream(), frames(started(), *said("m1", "so far")), Until()]
    async with serve(script) as server, HttpAgent(server.url, middleware=[slow_to_close]) as agent:
        run = agent.thread("t1").run("hi")
        busy, free = asyncio.Event(), asyncio.Event()

        async def read() -> int:
            count = 0
            async for _ in run:
                count += 1
                busy.set()
                await free.wait()
            return count

        task = asyncio.create_task(read())
        await busy.wait()
        stopping = [asyncio.create_task(run.aclose()), asyncio.create_task(run.aclose())]
        await closing.wait()
        free.set()
        await asyncio.sleep(0)
        assert not task.done()
        close.set()
        await asyncio.gather(*stopping)
        assert await task == 1
        assert run.result.status is RunStatus.TRUNCATED
        await hung_up(server)


async def test_a_run_that_was_not_begun_has_no_next_update() -> None:
    async with HttpAgent("http://127.0.0.1:1/") as agent:
        run = agent.thread("t1").run("hi")
        reading = aiter(run)
        await run.aclose()
        with pytest.raises(StopAsyncIteration):
            await anext(reading)
        with pytest.raises(RuntimeError, match="no result"):
            _ = run.result


async def test_a_reader_that_is_stopped_and_cancelled_is_cancelled() -> None:
    async with endless() as (server, agent):
        run = agent.thread("t1").run("hi")
        task = asyncio.create_task(run.wait())
        await server.streaming.wait()
        stopping = asyncio.create_task(run.aclose())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await stopping
        assert run.result.status is RunStatus.TRUNCATED


async def test_a_thread_has_one_run_at_a_time() -> None:
    async with endless() as (server, agent):
        thread = agent.thread("t1")
        async with thread.run("hi") as run:
            updates = aiter(run)
            await anext(updates)
            for refused in (thread.run("too"), thread.run()):
                with pytest.raises(InputError) as caught:
                    await refused
                assert caught.value.code == "run_active"
            for refuse in (lambda: thread.add_message({}), lambda: thread.answer("c", "x")):
                with pytest.raises(InputError) as caught:
                    refuse()
                assert caught.value.code == "run_active"
            assert thread.running
            assert [m.content for m in thread.messages] == ["hi"]
        assert len(server.requests) == 1
        other = agent.thread("t2")
        assert (await other.run("hi")).status is RunStatus.COMPLETED


# What is carried from run to run (SN-5, IR-4, RI-3).


async def test_messages_and_state_go_back_with_the_next_run() -> None:
    """SN-5, AC-4, RE-2: all that was said, the state, encrypted values unread; activities stay here."""
    opaque = "\u0000opaque\n\U0001f600"
    script = answer(
        started(),
        {"type": "STATE_SNAPSHOT", "snapshot": [None, 0, ""]},
        {"type": "ACTIVITY_SNAPSHOT", "messageId": "v1", "activityType": "plan", "content": {"steps": []}},
        {"type": "REASONING_MESSAGE_START", "messageId": "q1", "role": "reasoning"},
        {"type": "REASONING_MESSAGE_CONTENT", "messageId": "q1", "delta": "hm"},
        {"type": "REASONING_MESSAGE_END", "messageId": "q1"},
        {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "q1", "encryptedValue": opaque},
        *called("c1"),
        {"type": "REASONING_ENCRYPTED_VALUE", "subtype": "tool-call", "entityId": "c1", "encryptedValue": opaque},
        {"type": "TOOL_CALL_RESULT", "messageId": "x1", "toolCallId": "c1", "content": "seen"},
        *said("m1", "done", metadata={"k": None}),
        finished(),
    )
    async with serve(script, hello("r2", "m2")) as server, HttpAgent(server.url) as agent:
        thread = agent.thread("t1")
        first = await thread.run("hi")
        assert [m.role for m in thread.messages] == ["user", "activity", "reasoning", "assistant", "tool", "assistant"]
        await thread.run("next")
        body = sent(server)
        user, *rest, last = body["messages"]
        assert (user["content"], last["content"]) == ("hi", "next")
        assert rest == [
            {"id": "q1", "role": "reasoning", "content": "hm", "encryptedValue": opaque},
            {
                "id": "c1",
                "role": "assistant",
                "toolCalls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "look", "arguments": "{}"},
                        "encryptedValue": opaque,
                    }
                ],
            },
            {"id": "x1", "role": "tool", "toolCallId": "c1", "content": "seen"},
            {"id": "m1", "role": "assistant", "content": "done", "metadata": {"k": None}},
        ]
        assert body["state"] == [None, 0, ""]
        assert body["threadId"] == sent(server, 0)["threadId"] == "t1"
        assert body["runId"] != sent(server, 0)["runId"] == first.request["runId"]


async def test_what_the_application_says_and_offers_goes_out() -> None:
    """FT-1, RI-2, RI-3, TR-6."""
    tool = Tool(name="look", description="Look.", parameters={"type": "object"})
    context = Context(description="place", value="here")
    async with serve(hello(), hello("r2", "m2"), hello("r3", "m3")) as server, HttpAgent(server.url) as agent:
        thread = agent.thread("t1", tools=[tool], context=[context], forwarded_props={"a": 1}, state={"n": 0})
        parts = [TextPart(text="see"), ImagePart(source=UrlSource(value="https://x.example/i.png"))]
        await thread.run(parts, run_id="chosen", parent_run_id="above")
        body = sent(server)
        assert body == {
            "threadId": "t1",
            "runId": "chosen",
            "parentRunId": "above",
            "protocolVersion": "1.0",
            "state": {"n": 0},
            "messages": [
                {
                    "id": body["messages"][0]["id"],
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "see"},
                        {"type": "image", "source": {"type": "url", "value": "https://x.example/i.png"}},
                    ],
                }
            ],
            "tools": [{"name": "look", "description": "Look.", "parameters": {"type": "object"}}],
            "context": [{"description": "place", "value": "here"}],
            "forwardedProps": {"a": 1},
        }
        request = server.requests[0]
        assert request.method == "POST"
        assert request.headers["content-type"] == "application/json"
        assert request.headers["accept"] == "text/event-stream"
        thread.state = {"n": 1}
        await thread.run(UserMessage(id="mine", content="x"), tools=[], context=[], forwarded_props={"b": 2})
        body = sent(server)
        assert (body["state"], body["messages"][-1]["id"]) == ({"n": 1}, "mine")
        assert (body.get("tools", []), body.get("context", []), body["forwardedProps"]) == ([], [], {"b": 2})
        thread.add_message({"id": "sys", "role": "system", "content": "be brief"})
        await thread.run()
        assert sent(server)["messages"][-1] == {"id": "sys", "role": "system", "content": "be brief"}


async def test_ids_come_from_the_factory_one_is_given() -> None:
    """RI-3."""
    numbers = iter(range(100))
    async with serve(hello(), hello("r2", "m2")) as server:
        async with HttpAgent(server.url, id_factory=lambda: f"id{next(numbers)}") as agent:
            thread = agent.thread()
            await thread.run("hi")
            await thread.run("hi")
        ids = [(sent(server, n)["threadId"], sent(server, n)["runId"]) for n in (0, 1)]
        assert ids[0][0] == ids[1][0] == thread.id == "id0"
        assert len({run for _, run in ids} | {m.id for m in thread.messages if m.role == "user"}) == 4


async def test_unknown_material_of_the_application_is_left_out_and_told(caplog: pytest.LogCaptureFixture) -> None:
    """RI-1."""
    held = {"id": "u", "role": "user", "content": "x", "future": 1}
    async with serve(hello()) as server, HttpAgent(server.url) as agent:
        thread = agent.thread("t1", messages=[held])
        result = await thread.run(tools=[{"name": "n", "description": "d", "future": 1}])
    told = [(d.code, d.path) for d in result.diagnostics]
    assert told == [("outgoing_stripped", "/messages/0/future"), ("outgoing_stripped", "/tools/0/future")]
    assert "future" not in json.dumps(sent(server))
    assert "/tools/0/future" in caplog.text


@pytest.mark.parametrize("version", ["0.0.57", "0.0.39", "1.0", None])
async def test_a_pinned_peer_gets_what_it_understands(version: str | None) -> None:
    """RI-2, VE-3."""
    image = {"type": "image", "source": {"type": "url", "value": "u"}}
    lifecycle = {"type": "SUBAGENT_STARTED", "subagentRunId": "s", "name": "n"}
    ended = {"type": "SUBAGENT_FINISHED", "subagentRunId": "s"}
    script = answer(started(), lifecycle, ended, finished())
    async with serve(script) as server, HttpAgent(server.url, peer_version=version) as agent:
        result = await agent.thread("t1").run([{"type": "text", "text": "see"}, image])
    codes = [d.code for d in result.diagnostics]
    old = version in ("0.0.57", "0.0.39")
    assert ("protocolVersion" in sent(server)) is not old
    assert codes.count("subagent_event_dropped") == (2 if old else 0)
    assert codes.count("parts_dropped") == (1 if version == "0.0.39" else 0)
    content = sent(server)["messages"][0]["content"]
    assert content == ("see" if version == "0.0.39" else [{"type": "text", "text": "see"}, image])
    assert HttpAgent("http://127.0.0.1:1/", peer_version=version).peer_version == version


def test_a_peer_version_that_is_none_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="dot-separated numbers"):
        HttpAgent("http://127.0.0.1:1/", peer_version="latest")


# What a run is, and what becomes of one.


async def test_a_run_is_an_async_iterator_of_its_own() -> None:
    async with serve(hello()) as server, HttpAgent(server.url) as agent:
        run = agent.thread().run("hi")
        first = await anext(run)
        assert first.event is not None
        assert first.event.type == "RUN_STARTED"
        rest = [update async for update in run_rest(run)]
        assert run.result.status is RunStatus.COMPLETED
        assert rest[-1].event.type == "RUN_FINISHED"
        with pytest.raises(StopAsyncIteration):
            await anext(run)


async def run_rest(run: Run) -> AsyncIterator[Any]:
    with contextlib.suppress(StopAsyncIteration):
        while True:
            yield await anext(run)


async def test_a_run_that_was_refused_may_be_tried_again() -> None:
    script = [event_stream(), frames(started()), Until()]
    async with serve(script, hello("r2", "m2")) as server, HttpAgent(server.url) as agent:
        thread = agent.thread()
        refused = thread.run("second")
        async with thread.run("first") as run:
            async for _ in run:
                with pytest.raises(InputError, match="in progress"):
                    await refused
                assert repr(refused).endswith("not started>")
                break
        assert (await refused).status is RunStatus.COMPLETED
        assert [m.content for m in thread.messages if m.role == "user"] == ["first", "second"]


@pytest.mark.parametrize("leave", [True, False])
async def test_ones_own_stop_is_told_from_a_stream_that_was_cut(leave: bool) -> None:
    """TR-1, TR-2."""
    script = [event_stream(), frames(started()), *([Until()] if leave else [])]
    async with serve(script) as server, HttpAgent(server.url) as agent:
        run = agent.thread().run("hi")
        async for _ in run:
            if leave:
                break
        await run.aclose()
        assert (run.result.status, run.result.left, run.result.error) == (RunStatus.TRUNCATED, leave, None)
        said = "the run was left before it ended" if leave else "the stream ended before the run did"
        with pytest.raises(RunTruncated, match=said):
            run.result.raise_for_status()


async def test_a_run_left_after_its_end_was_not_left() -> None:
    async with serve(hello()) as server, HttpAgent(server.url) as agent:
        async with agent.thread().run("hi") as run:
            async for update in run:
                if update.event is not None and update.event.type == "RUN_FINISHED":
                    break
        assert (run.result.status, run.result.left) == (RunStatus.COMPLETED, False)


async def test_closing_the_agent_ends_the_runs_that_are_read() -> None:
    async with serve([event_stream(), frames(started()), Until()]) as server, HttpAgent(server.url) as agent:
        thread = agent.thread()
        run = thread.run("hi")
        await anext(run)
        assert run.active
        await agent.aclose()
        assert not run.active
        assert run.result.left
        await thread.stop()  # nothing is left to stop


async def test_a_run_that_is_never_started_is_missed() -> None:
    thread = HttpAgent("http://127.0.0.1:1/").thread()
    with pytest.warns(RuntimeWarning, match="the run 'r1' was never started: iterate it, or await it"):
        thread.run("hi", run_id="r1")
    async with thread.run("hi"):
        pass  # entered and left without a word: as it was meant


def test_an_agent_shows_itself_without_secrets() -> None:
    assert repr(HttpAgent("http://user:pass@127.0.0.1:1/a?key=1")) == "<HttpAgent http://127.0.0.1:1/a>"


# Answers and interrupts by hand.


async def test_calls_are_answered_by_hand() -> None:
    """FT-2 to FT-4."""
    script = answer(started(), *called("c1"), *called("c2", "paint"), *called("c3"), finished())
    async with serve(script, hello("r2", "m2")) as server, HttpAgent(server.url) as agent:
        thread = agent.thread("t1")
        result = await thread.run("hi")
        assert [call.id for call in result.pending_tool_calls] == ["c1", "c2", "c3"]
        thread.answer("c2", [TextPart(text="red")], message_id="a2")
        thread.answer("c1", "", error="no such place")
        assert [call.id for call in thread.pending_tool_calls] == ["c3"]
        thread.answer("c3", "ok")
        assert thread.pending_tool_calls == []
        assert [call.phase.value for call in thread.tool_calls] == ["answered"] * 3
        for call, code in (("c1", "call_answered"), ("nobody", "unknown_call")):
            with pytest.raises(InputError) as caught:
                thread.answer(call, "again")
            assert caught.value.code == code
        await thread.run()
        answers = {m["toolCallId"]: m for m in sent(server)["messages"] if m["role"] == "tool"}
        assert answers["c2"] == {
            "id": "a2", "role": "tool", "toolCallId": "c2", "content": [{"type": "text", "text": "red"}],
        }  # fmt: skip
        assert (answers["c1"]["content"], answers["c1"]["error"]) == ("", "no such place")


@pytest.mark.parametrize("ending", ["failed", "truncated", "completed"])
async def test_interrupts_stay_open_until_a_run_settles_them(ending: str) -> None:
    """IR-2, IR-4: a resumed run that fails has not used the answers up."""
    interrupt = {"type": "interrupt", "interrupts": [{"id": "i1", "reason": "input", "message": "sure?"}]}
    endings = {"failed": [failed()], "truncated": [], "completed": [finished("r2")]}
    script = answer(started("r2"), *endings[ending])
    async with serve(answer(started(), finished(outcome=interrupt)), script) as server, HttpAgent(server.url) as agent:
        thread = agent.thread("t1")
        result = await thread.run("hi")
        assert result.status is RunStatus.INTERRUPTED
        assert result.raise_for_status() is result
        assert [i.message for i in result.interrupts] == ["sure?"]
        with pytest.raises(InterruptError) as caught:
            await thread.run("never mind")
        assert (caught.value.code, caught.value.ids) == ("interrupt_uncovered", ("i1",))
        assert len(server.requests) == 1
        await thread.run(resume=[{"interruptId": "i1", "status": "resolved", "payload": {"yes": None}}])
        assert sent(server)["resume"] == [{"interruptId": "i1", "status": "resolved", "payload": {"yes": None}}]
        assert [i.id for i in thread.interrupts] == ([] if ending == "completed" else ["i1"])


# Headers, clients, transports, logging.


async def test_headers_of_the_agent_go_with_every_run() -> None:
    async with serve(hello()) as server, HttpAgent(server.url, headers={"Authorization": "Bearer x"}) as agent:
        await agent.thread("t1").run("hi")
        assert server.requests[0].headers["authorization"] == "Bearer x"


async def test_a_client_of_the_application_is_used_and_stays_open() -> None:
    async with serve(hello()) as server, httpx.AsyncClient(headers={"x-mine": "1"}) as client:
        async with HttpAgent(server.url, client=client) as agent:
            await agent.thread("t1").run("hi")
        assert server.requests[0].headers["x-mine"] == "1"
        assert not client.is_closed


class _Canned:
    """A transport that needs no network."""

    def __init__(self, *payloads: str) -> None:
        self.payloads = payloads
        self.bodies: list[bytes] = []
        self.closed = False

    @asynccontextmanager
    async def open(self, body: bytes, headers: Mapping[str, str]) -> AsyncIterator[AsyncIterator[str]]:
        self.bodies.append(body)
        yield self._read()

    async def _read(self) -> AsyncIterator[str]:
        for payload in self.payloads:
            yield payload

    async def aclose(self) -> None:
        self.closed = True


async def test_another_transport_takes_the_place_of_http() -> None:
    """PR-8."""
    canned = _Canned(json.dumps(started()), json.dumps(finished()))
    async with HttpAgent("unused:", transport=canned) as agent:
        assert agent.transport is canned
        assert (await agent.thread("t1").run("hi")).status is RunStatus.COMPLETED
    assert json.loads(canned.bodies[0])["threadId"] == "t1"
    assert canned.closed


async def test_every_tolerated_deviation_is_logged_once_unless_silenced(caplog: pytest.LogCaptureFixture) -> None:
    """The warn verdict: recorded and logged, also when no event came of it, and also at the very end."""
    events = [
        started("other-run"),
        {"type": "FUTURE_EVENT"},
        {**said("m1")[0], "rawEvent": None, "future": 1},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": "m1", "delta": "\ud83d"},
    ]
    async with serve(answer(*events)) as server, HttpAgent(server.url, silence=["unknown_property"]) as agent:
        with caplog.at_level(logging.WARNING, logger="client_sdk"):
            result = await agent.thread("t1").run("hi")
    recorded = [d.code for d in result.diagnostics]
    assert recorded == ["unknown_event", "retired_shape", "unknown_property", "lone_surrogate"]
    logged = [record.diagnostic.code for record in caplog.records if record.name == "client_sdk"]
    assert logged == [code for code in recorded if code != "unknown_property"]


async def test_another_task_may_stop_a_run_whose_tool_is_at_work() -> None:
    """TR-2: the tool is stopped, too, and the thread rests."""
    at_work, stopped = asyncio.Event(), asyncio.Event()
    registry = ToolRegistry()

    @registry.tool(side_effects=False)
    async def look() -> str:
        """Look around. Example: {}"""
        at_work.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return "never"

    script = answer(started(), *called("c1"), finished())
    async with serve(script, hello("r2", "m2")) as server, HttpAgent(server.url) as agent:
        thread = agent.thread("t1", tools=registry)
        run = thread.run("hi")
        task = asyncio.create_task(run.wait())
        async with asyncio.timeout(SECONDS):
            await at_work.wait()
            await run.aclose()
        assert stopped.is_set()
        result = await task
        assert result.status is RunStatus.COMPLETED  # of the exchange that was over
        assert not thread.running
        assert len(server.requests) == 1


async def test_what_producers_from_before_1_0_require_is_always_sent() -> None:
    """RI-2, VE-1: they answer an input without one of these with HTTP 422."""
    async with serve(answer(started(), finished())) as server, HttpAgent(server.url) as agent:
        result = await agent.thread().run("hello")
    assert {key: result.request[key] for key in ("state", "tools", "context", "forwardedProps")} == {
        "state": {},
        "tools": [],
        "context": [],
        "forwardedProps": {},
    }
