"""Running one handler: to its end, to its deadline, or to a stop.

Sync handlers get a daemon thread each, not a place in a shared pool: a handler
that hangs must neither keep others waiting nor keep the process from ending.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from client_sdk.diagnostics import logger
from client_sdk.errors import ToolFailure
from client_sdk.tools import answers
from client_sdk.tools.answers import Said
from client_sdk.tools.context import ToolContext
from client_sdk.tools.registry import ToolDefinition

_late: set[asyncio.Future[Any]] = set()
"""Handlers nobody waits for any longer; held so that the event loop does not lose them."""


async def run_handler(tool: ToolDefinition, arguments: dict[str, Any], context: ToolContext) -> Said:
    """Run a tool's handler and put its end into words.

    Args:
        tool: the tool.
        arguments: arguments that were judged valid.
        context: the call; its ``cancelled`` is thrown when nobody waits any longer.

    Raises:
        asyncio.CancelledError: the caller was stopped; the handler is told so and left behind.
    """
    work = asyncio.ensure_future(_invoke(tool, arguments, context))
    try:
        done, _ = await asyncio.wait({work}, timeout=tool.options.deadline)
    except asyncio.CancelledError:
        _leave_behind(work, context)
        raise
    if not done:
        _leave_behind(work, context)
        return _overdue(tool)
    return _outcome(work, tool, context)


def stopped(tool: ToolDefinition) -> Said:
    """The words for a call that was stopped while its handler ran."""
    if tool.options.side_effects:
        return answers.effect_unknown("and then stopped before it answered")
    return answers.cancelled()


def _overdue(tool: ToolDefinition) -> Said:
    seconds = tool.options.deadline or 0.0
    if tool.options.side_effects:
        return answers.effect_unknown(f"and it timed out: no word within {seconds:g} seconds")
    return answers.timed_out(seconds)


def _outcome(work: asyncio.Future[Any], tool: ToolDefinition, context: ToolContext) -> Said:
    if work.cancelled():
        # Nobody stopped it, or this would not be asked: something the handler waited for was cancelled.
        if tool.options.side_effects:
            return answers.effect_unknown("and then was cancelled from inside before it answered")
        return answers.failed("it was cancelled from inside")
    error = work.exception()
    if error is None:
        return answers.succeeded(work.result())
    if isinstance(error, ToolFailure):
        logger.info("tool %s could not do what call %s asked: %s", context.tool, context.call_id, error)
        return answers.failed(error.message)
    logger.error(
        "tool %s failed on call %s", context.tool, context.call_id, exc_info=(type(error), error, error.__traceback__)
    )
    return answers.failed(str(error) or type(error).__name__)


async def _invoke(tool: ToolDefinition, arguments: dict[str, Any], context: ToolContext) -> Any:
    call = functools.partial(tool.call, arguments, context)
    result = call() if tool.is_async else await _in_thread(call, name=f"tool {context.tool} {context.call_id}")
    return await result if inspect.isawaitable(result) else result


@dataclass(slots=True)
class _Ended:
    """How a handler in a thread ended: a future cannot carry every exception itself."""

    result: Any = None
    error: Exception | None = None


async def _in_thread(call: Callable[[], Any], *, name: str) -> Any:
    loop = asyncio.get_running_loop()
    waiting: asyncio.Future[_Ended] = loop.create_future()
    run = contextvars.copy_context().run

    def work() -> None:
        ended = _Ended()
        try:
            ended.result = run(call)
        except Exception as error:  # noqa: BLE001 - carried over to the waiting coroutine, which raises it
            ended.error = error
        except BaseException as error:  # noqa: BLE001 - a handler's SystemExit ends the call, not the thread's host
            ended.error = RuntimeError(f"the handler ended with {type(error).__name__}")
        try:
            loop.call_soon_threadsafe(settle, ended)
        except RuntimeError:  # the loop is closed: nobody is left to tell
            logger.info("%s settled after its event loop was closed; its result is discarded", name)

    def settle(ended: _Ended) -> None:
        if waiting.done():
            logger.info("%s settled late; its result is discarded", name)
        else:
            waiting.set_result(ended)

    threading.Thread(target=work, name=name, daemon=True).start()
    ended = await waiting
    if ended.error is not None:
        raise ended.error
    return ended.result


def _leave_behind(work: asyncio.Future[Any], context: ToolContext) -> None:
    """Stop waiting: tell the handler, and see to it that its end is heard by nobody."""
    context.cancelled.throw()
    _late.add(work)
    work.add_done_callback(_settled_late)
    work.cancel()


def _settled_late(work: asyncio.Future[Any]) -> None:
    _late.discard(work)
    if not work.cancelled():
        logger.info("a tool settled late; its result is discarded", exc_info=work.exception())
