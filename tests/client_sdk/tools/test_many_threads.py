"""Five hundred threads with tools on one event loop: all at once, nobody starves, nothing is left behind."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx

from client_sdk.agent import HttpAgent
from client_sdk.protocol.runs import RunStatus
from client_sdk.tools import ToolContext, ToolRegistry, execution
from tests.client_sdk.servers import _read_request
from tests.client_sdk.tools.streams import DONE, calls, run_of

MANY = 500
BOUND = 120.0
FIRST = b"".join(
    action for action in run_of(calls("c1", "meet"), calls("c2", "meet_in_thread")) if isinstance(action, bytes)
)
SECOND = b"".join(action for action in DONE if isinstance(action, bytes))


@asynccontextmanager
async def agent_for_everybody() -> AsyncIterator[str]:
    """Calls two tools, and is done once they are answered, whoever asks."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await _read_request(reader)
        answered = any(message["role"] == "tool" for message in json.loads(request.body)["messages"])
        writer.write(SECOND if answered else FIRST)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=MANY)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


async def test_five_hundred_threads_at_once() -> None:
    """Each tool waits until all five hundred run: one that had no place to run would keep them all waiting."""
    meeting, meeting_in_threads = asyncio.Barrier(MANY), threading.Barrier(MANY)
    registry = ToolRegistry()

    @registry.tool(side_effects=False, deadline=BOUND)
    async def meet(ctx: ToolContext) -> str:
        """Meet."""
        await meeting.wait()
        return f"met {ctx.thread_id}"

    @registry.tool(side_effects=False, deadline=BOUND)
    def meet_in_thread(ctx: ToolContext) -> str:
        """Meet in a thread."""
        meeting_in_threads.wait(BOUND)
        return f"met {ctx.thread_id}"

    before = threading.active_count()
    client = httpx.AsyncClient(limits=httpx.Limits(max_connections=None), timeout=None)
    async with agent_for_everybody() as url, client, HttpAgent(url, client=client) as agent:
        threads = [agent.thread(f"t{number}", tools=registry) for number in range(MANY)]
        outcomes = await asyncio.gather(*(thread.run("go") for thread in threads))
        for thread, outcome in zip(threads, outcomes, strict=True):
            assert outcome.status is RunStatus.COMPLETED
            assert [m.content for m in thread.messages if m.role == "tool"] == [f"met {thread.id}"] * 2
        held = [weakref.ref(thread) for thread in threads]
        del threads, thread, outcomes, outcome
    await asyncio.sleep(0)
    gc.collect()
    assert not any(reference() is not None for reference in held), "a thread is still held by somebody"
    assert execution._late == set()
    for worker in [one for one in threading.enumerate() if one.name.startswith("tool ")]:
        await asyncio.to_thread(worker.join, BOUND)
    assert not any(one.name.startswith("tool ") for one in threading.enumerate())
    assert threading.active_count() <= before + 1  # the pool's own thread that just joined the others
    assert asyncio.all_tasks() == {asyncio.current_task()}
