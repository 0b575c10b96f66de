"""What the runner is told about closed runs, and what it says back: plain data, no behaviour.

The words in :class:`CallOutcome` are stored in journals, so they never change
once released.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ag_ui.core import Interrupt, ResumeEntry, ToolMessage

from client_sdk.protocol.runs import PendingCall, RunStatus


class CallOutcome(StrEnum):
    """What became of a call, as its answer tells it.

    ``timed_out`` and ``cancelled`` promise that nothing happened: the call never
    started, or its tool has no side effects. ``effect_unknown`` promises nothing.
    """

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    DECLINED = "declined"
    REFUSED = "refused"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    EFFECT_UNKNOWN = "effect_unknown"
    ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True)
class ClosedRun:
    """What one run left behind for the application to dispose of.

    Attributes:
        status: how it ended.
        pending: its unanswered calls, in call order (FT-2).
        offered: the names of the tools that its input advertised (FT-1).
        interrupts: what is open on the thread now, whichever run asked.
        resumed: the resume list that its input carried.
        unanswered: ids of all calls in the conversation that no tool message answers.
        replayed: whether it is an earlier run of the thread, restated on the stream before the one asked for.
    """

    status: RunStatus
    pending: tuple[PendingCall, ...] = ()
    offered: frozenset[str] = frozenset()
    interrupts: tuple[Interrupt, ...] = ()
    resumed: tuple[ResumeEntry, ...] = ()
    unanswered: frozenset[str] = frozenset()
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Continuation:
    """What the next input carries: answers in call order, and the resume list when one is due.

    Attributes:
        messages: one tool message per answered call (FT-3).
        resume: answers to the open interrupts; None when there were none.
    """

    messages: tuple[ToolMessage, ...] = ()
    resume: list[ResumeEntry] | None = None


__all__ = ["CallOutcome", "ClosedRun", "Continuation", "PendingCall", "RunStatus"]
