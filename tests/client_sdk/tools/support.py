"""Small makers for tests of the round trip."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from typing import Any

from ag_ui.core import AssistantMessage, FunctionCall, Interrupt, ResumeEntry, ToolCall

from client_sdk.tools.board import ToolUpdate
from client_sdk.tools.calls import ClosedRun, PendingCall, RunStatus
from client_sdk.tools.registry import ToolRegistry
from client_sdk.tools.runner import ToolRunner

BOUND = 30.0
"""Seconds after which a test that waits has failed."""


def pending(
    identifier: str, name: str, arguments: str = "{}", *, run: str = "r1", complete: bool = True
) -> PendingCall:
    """A call as a closed run leaves it."""
    return PendingCall(
        id=identifier,
        name=name,
        arguments=arguments,
        complete=complete,
        message_id=f"m-{identifier}",
        subagent_run_id=None,
        thread_id="t1",
        run_id=run,
    )


def closed(
    *calls: PendingCall,
    status: RunStatus = RunStatus.COMPLETED,
    offered: Iterable[str] = ("look", "act", "slow", "first", "second"),
    interrupts: Iterable[Interrupt] = (),
    resumed: Iterable[ResumeEntry] = (),
    unanswered: Iterable[str] = (),
) -> ClosedRun:
    """A closed run with these calls pending."""
    return ClosedRun(
        status=status,
        pending=calls,
        offered=frozenset(offered),
        interrupts=tuple(interrupts),
        resumed=tuple(resumed),
        unanswered=frozenset(unanswered) | {call.id for call in calls},
    )


def holder(*calls: tuple[str, str, str]) -> AssistantMessage:
    """An assistant message that holds calls: id, name, arguments."""
    made = [ToolCall(id=i, function=FunctionCall(name=n, arguments=a)) for i, n, a in calls]
    return AssistantMessage(id="m-" + calls[0][0], tool_calls=made)


def runner(registry: ToolRegistry, **options: Any) -> ToolRunner:
    """A runner whose message ids count up."""
    numbers = count(1)
    return ToolRunner("t1", registry, new_id=lambda: f"answer-{next(numbers)}", **options)


async def settle(run: ToolRunner) -> list[ToolUpdate]:
    """Settle everything that settles by itself."""
    return [update async for update in run.settle()]


def happened(updates: Iterable[ToolUpdate]) -> list[tuple[str, str]]:
    """What happened to which call."""
    return [(update.happened.value, update.call.id) for update in updates]
