"""Running handlers: to the end, to the deadline, to a stop (FT-4); honest about what may have happened."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from client_sdk import ToolFailure
from client_sdk.tools.calls import CallOutcome
from client_sdk.tools.context import Cancellation, ToolContext
from client_sdk.tools.execution import run_handler, stopped
from client_sdk.tools.registry import ToolDefinition, ToolRegistry

BOUND = 30.0


def tool(handler: Callable[..., Any], **options: Any) -> ToolDefinition:
    return ToolRegistry().declare("act", "Act.", {}, handler, **options)


def context() -> ToolContext:
    return ToolContext("c1", "act", "t1", "r1")


async def test_async_and_sync_handlers_answer() -> None:
    async def wait(arguments: dict[str, Any]) -> str:
        await asyncio.sleep(0)
        return f"async {arguments}"

    def block(arguments: dict[str, Any]) -> str:
        return f"sync {arguments} in {threading.current_thread().name}"

    assert (await run_handler(tool(wait), {"a": 1}, context())).content == "async {'a': 1}"
    assert (await run_handler(tool(block), {"a": 1}, context())).content == "sync {'a': 1} in tool act c1"


async def test_a_sync_handler_may_hand_back_an_awaitable() -> None:
    async def later() -> str:
        return "later"

    assert (await run_handler(tool(lambda _: later()), {}, context())).content == "later"


async def test_a_handler_in_a_thread_sees_the_callers_context() -> None:
    who: contextvars.ContextVar[str] = contextvars.ContextVar("who")
    who.set("caller")
    assert (await run_handler(tool(lambda _: who.get()), {}, context())).content == "caller"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no such page"), "The tool failed: no such page"),
        (KeyError(), "The tool failed: KeyError"),
        (StopIteration("x"), "The tool failed: coroutine raised StopIteration"),
        (SystemExit(3), "The tool failed: the handler ended with SystemExit"),
    ],
)
async def test_what_a_sync_handler_raises_is_an_answer(
    error: BaseException, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    """FT-4: the message goes to the agent, the traceback to the log."""

    def fail(_: dict[str, Any]) -> None:
        raise error

    with caplog.at_level(logging.ERROR, "client_sdk"):
        result = await run_handler(tool(fail), {}, context())
    assert (result.outcome, result.content) == (CallOutcome.FAILED, said)
    assert "Traceback" not in str(result.content)
    assert caplog.records[0].exc_info is not None


async def test_a_failure_that_the_handler_reports_is_an_answer_without_a_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """FT-4: the handler knows why it cannot do it; nothing in it is broken."""

    def fail(_: dict[str, Any]) -> None:
        raise ToolFailure("only 3 are left")

    with caplog.at_level(logging.INFO, "client_sdk"):
        result = await run_handler(tool(fail), {}, context())
    assert (result.outcome, result.content) == (CallOutcome.FAILED, "The tool failed: only 3 are left")
    assert result.error == "failed: only 3 are left"
    (record,) = caplog.records
    assert (record.levelno, record.exc_info) == (logging.INFO, None)
    assert "only 3 are left" in record.message


async def test_what_an_async_handler_raises_is_an_answer() -> None:
    async def fail(_: dict[str, Any]) -> None:
        raise RuntimeError("boom")

    result = await run_handler(tool(fail), {}, context())
    assert (result.outcome, result.error) == (CallOutcome.FAILED, "failed: boom")


@pytest.mark.parametrize(
    ("side_effects", "outcome", "words"),
    [
        (
            True,
            CallOutcome.EFFECT_UNKNOWN,
            "and it timed out: no word within 0.01 seconds. It may already have happened",
        ),
        (False, CallOutcome.TIMED_OUT, "Timed out: no result within 0.01 seconds"),
    ],
)
async def test_a_deadline_ends_with_an_honest_answer(side_effects: bool, outcome: CallOutcome, words: str) -> None:
    """Started and unheard of: with side effects nobody knows, without them nothing can have happened."""
    noticed = asyncio.Event()

    async def hang(_: dict[str, Any], ctx: ToolContext) -> None:
        await ctx.cancelled.wait()
        noticed.set()

    held = context()
    result = await run_handler(tool(hang, side_effects=side_effects, deadline=0.01), {}, held)
    assert result.outcome is outcome
    assert words in str(result.content)
    assert held.cancelled


class Log(logging.Handler):
    """Tells when the package has said something in particular."""

    def __init__(self, words: str) -> None:
        super().__init__(logging.INFO)
        self._words = words
        self.said = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        if self._words in record.getMessage():
            self.said.set()


@pytest.fixture
def late() -> Iterator[Log]:
    """Notices that a result came too late."""
    log, logger = Log("settled late"), logging.getLogger("client_sdk")
    level = logger.level
    logger.addHandler(log)
    logger.setLevel(logging.INFO)
    yield log
    logger.removeHandler(log)
    logger.setLevel(level)


async def test_a_handler_that_settles_late_is_heard_by_nobody(late: Log) -> None:
    release, settled = threading.Event(), threading.Event()

    def hang(_: dict[str, Any]) -> str:
        release.wait(BOUND)
        settled.set()
        return "too late"

    result = await run_handler(tool(hang, deadline=0.01), {}, context())
    assert result.outcome is CallOutcome.EFFECT_UNKNOWN
    release.set()
    assert await asyncio.to_thread(settled.wait, BOUND)
    assert await asyncio.to_thread(late.said.wait, BOUND)


@pytest.mark.parametrize("raises", [False, True])
async def test_an_async_handler_that_ignores_its_cancellation_is_left_behind(raises: bool, late: Log) -> None:
    release = asyncio.Event()

    async def stubborn(_: dict[str, Any]) -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await release.wait()
        if raises:
            raise RuntimeError("late trouble")
        return "too late"

    result = await run_handler(tool(stubborn, deadline=0.01), {}, context())
    assert result.outcome is CallOutcome.EFFECT_UNKNOWN
    release.set()
    assert await asyncio.to_thread(late.said.wait, BOUND)


async def test_a_stop_stops_the_handler() -> None:
    held, begun, ended = context(), asyncio.Event(), asyncio.Event()

    async def hang(_: dict[str, Any]) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    running = asyncio.create_task(run_handler(tool(hang), {}, held))
    await begun.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await asyncio.wait_for(ended.wait(), BOUND)
    assert held.cancelled


async def test_a_handler_that_cancels_itself_has_failed_where_nothing_can_have_happened() -> None:
    async def give_up(_: dict[str, Any]) -> None:
        raise asyncio.CancelledError

    assert (await run_handler(tool(give_up), {}, context())).outcome is CallOutcome.EFFECT_UNKNOWN
    harmless = tool(give_up, side_effects=False)
    assert (await run_handler(harmless, {}, context())).outcome is CallOutcome.FAILED
    assert stopped(harmless).outcome is CallOutcome.CANCELLED


def test_a_handler_in_a_thread_does_not_keep_the_loop_from_ending(caplog: pytest.LogCaptureFixture) -> None:
    """A hung handler must not hang the program; what it says after its loop is closed is discarded."""
    caplog.set_level(logging.INFO, "client_sdk")
    release = threading.Event()
    workers: list[threading.Thread] = []

    def hang(_: dict[str, Any]) -> None:
        workers.append(threading.current_thread())
        release.wait(BOUND)

    result = asyncio.run(run_handler(tool(hang, deadline=0.01), {}, context()))
    assert result.outcome is CallOutcome.EFFECT_UNKNOWN
    assert workers[0].daemon
    release.set()
    workers[0].join(BOUND)
    assert any("after its event loop was closed" in record.message for record in caplog.records)


async def test_hung_handlers_keep_no_other_waiting() -> None:
    """More of them than any shared pool has places."""
    release = threading.Event()
    hanging = tool(lambda _: release.wait(BOUND), deadline=0.01)
    await asyncio.gather(*(run_handler(hanging, {}, context()) for _ in range(64)))
    assert (await run_handler(tool(lambda _: "still here"), {}, context())).content == "still here"
    release.set()


def test_a_cancellation_is_seen_from_a_thread() -> None:
    switch = Cancellation()
    assert not switch
    assert not switch.wait_in_thread(0)
    switch.throw()
    switch.throw()
    assert switch
    assert switch.wait_in_thread(BOUND)


async def test_a_cancellation_wakes_coroutines_from_another_thread() -> None:
    switch = Cancellation()
    waiting = [asyncio.create_task(switch.wait()) for _ in range(2)]
    given_up = asyncio.create_task(switch.wait())
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.wait({given_up})
    await asyncio.to_thread(switch.throw)
    await asyncio.wait_for(asyncio.gather(*waiting), BOUND)
    await switch.wait()


def test_a_cancellation_outlives_the_loop_that_waited_for_it() -> None:
    switch = Cancellation()

    async def leave_waiting() -> None:
        waiter = asyncio.ensure_future(switch.wait())
        await asyncio.sleep(0)
        switch._waiters.append((asyncio.get_running_loop(), asyncio.Event()))
        waiter.cancel()

    asyncio.run(leave_waiting())
    switch.throw()
    assert switch
