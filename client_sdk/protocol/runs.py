"""What became of each run on the stream: status, pending calls, interrupts, usage, steps, subagents."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from ag_ui.core import (
    PROTOCOL_VERSION,
    Event,
    Interrupt,
    RunErrorEvent,
    RunFinishedEvent,
    RunStartedEvent,
    StepFinishedEvent,
    StepStartedEvent,
    SubagentErrorEvent,
    SubagentFinishedEvent,
    SubagentStartedEvent,
    TokenUsage,
    ToolCallResultEvent,
    ToolCallStartEvent,
    aggregate_token_usage,
)

from client_sdk.protocol.conversation import CallPhase, CallView, Conversation
from client_sdk.protocol.notes import Notes

_VERSION: Final = re.compile(r"([0-9]{1,4000})\.([0-9]{1,4000})")


class RunStatus(StrEnum):
    """How a run ended."""

    COMPLETED = "completed"
    """RUN_FINISHED with the success outcome or none (LC-5)."""
    INTERRUPTED = "interrupted"
    """RUN_FINISHED that asks for something from outside."""
    CANCELLED = "cancelled"
    """RUN_FINISHED of a run stopped on purpose: neither success nor failure (LC-5)."""
    FAILED = "failed"
    """RUN_ERROR: the producer reports its own failure (LC-6)."""
    TRUNCATED = "truncated"
    """The stream ended without a terminal event, or we stopped reading (TR-1, TR-2)."""
    REJECTED = "rejected"
    """The producer broke a rule; a `ProtocolError` says which."""


@dataclass(slots=True)
class StepView:
    """One step of a run: a labelled span of its stream."""

    name: str
    subagent_run_id: str | None
    finished: bool = False


class SubagentStatus(StrEnum):
    """How far a subagent's invocation has come."""

    RUNNING = "running"
    FINISHED = "finished"
    SUSPENDED = "suspended"
    """Paused until outside input; a later run may continue it."""
    FAILED = "failed"
    ABANDONED = "abandoned"
    """Still active when its run failed or was cut off (SA-4)."""


@dataclass(slots=True)
class SubagentView:
    """One announced invocation of a subagent; `children` makes the tree."""

    id: str
    name: str
    description: str | None
    parent_id: str | None
    parent_tool_call_id: str | None
    parent_message_id: str | None
    status: SubagentStatus = SubagentStatus.RUNNING
    result: Any = None
    error: str | None = None
    error_code: str | None = None
    interrupt_ids: tuple[str, ...] = ()
    children: list[SubagentView] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A tool call its run left without an answer (FT-2).

    Attributes:
        id: the ``toolCallId``.
        name: the tool it names; untrusted text.
        arguments: the argument text, untrusted and unparsed.
        complete: False when the run ended before TOOL_CALL_END: the text is a prefix (TC-2).
        message_id: the assistant message that holds the call.
        subagent_run_id: the subagent that made it, None for the parent agent.
        thread_id: the thread it belongs to.
        run_id: the run that made it.
    """

    id: str
    name: str
    arguments: str
    complete: bool
    message_id: str
    subagent_run_id: str | None
    thread_id: str
    run_id: str


@dataclass(slots=True)
class RunRecord:
    """Everything the stream said about one run."""

    thread_id: str
    run_id: str
    status: RunStatus = RunStatus.TRUNCATED
    parent_run_id: str | None = None
    protocol_version: str | None = None
    finished: RunFinishedEvent | None = None
    error: RunErrorEvent | None = None
    usage: list[TokenUsage] = field(default_factory=list)
    interrupts: list[Interrupt] = field(default_factory=list)
    pending: list[PendingCall] = field(default_factory=list)
    steps: list[StepView] = field(default_factory=list)
    subagents: dict[str, SubagentView] = field(default_factory=dict)
    calls: dict[str, bool] = field(default_factory=dict)
    """Calls this run started, in order; True once a TOOL_CALL_RESULT answered one."""

    @property
    def result(self) -> Any:
        """The run's return value, None when it has none."""
        return None if self.finished is None else self.finished.result

    @property
    def subagent_tree(self) -> list[SubagentView]:
        """The invocations the parent agent spawned; theirs are in `children`."""
        return [view for view in self.subagents.values() if view.parent_id is None]


def total_usage(runs: Iterable[RunRecord]) -> list[TokenUsage]:
    """Usage summed per provider and model over `runs` (LC-9); absent counts stay absent."""
    return aggregate_token_usage([entry for run in runs for entry in run.usage])


class Ledger:
    """Keeps the records of the runs on one stream.

    Args:
        notes: where tolerated deviations are recorded.
        conversation: where a run's calls are looked up when it closes.
        thread_id: the input's thread id, or None to go by the stream's first (replay).
    """

    def __init__(self, notes: Notes, conversation: Conversation, thread_id: str | None) -> None:
        self._notes = notes
        self._conversation = conversation
        self._thread_id = thread_id
        self.runs: list[RunRecord] = []

    @property
    def current(self) -> RunRecord | None:
        """The run being read, or the last one read."""
        return self.runs[-1] if self.runs else None

    @property
    def closed(self) -> bool:
        """Whether the last run has had its terminal event, so that a broken connection changes nothing (TR-7)."""
        run = self.current
        return run is not None and (run.finished is not None or run.error is not None)

    def feed(self, event: Event) -> None:
        """Take note of one verified event, after the conversation has taken it in."""
        handler = _HANDLERS.get(event.__class__)
        if handler is not None:
            handler(self, event)

    def end(self, status: RunStatus) -> None:
        """The stream is over: an unfinished run keeps what it delivered, under `status`."""
        if not self.runs:
            self.runs.append(RunRecord(self._thread_id or "", ""))
        run = self.runs[-1]
        if run.finished is None and run.error is None:
            run.status = status
            self._close(run)
        elif status is RunStatus.REJECTED:
            run.status = status

    # Boundary events.

    def _run_started(self, event: Any) -> None:
        self._thread_id = self._thread_id if self._thread_id is not None else event.thread_id
        self._same("threadId", event.thread_id, self._thread_id, "the input's")
        self.runs.append(
            RunRecord(
                event.thread_id,
                event.run_id,
                parent_run_id=event.parent_run_id,
                protocol_version=event.protocol_version,
            )
        )
        if event.protocol_version is not None:
            self._version(event.protocol_version)

    def _same(self, wire: str, found: str, expected: str, whose: str) -> None:
        if found != expected:
            self._notes.warn(
                "run_identity", f"/{wire}", f"the producer says {wire} {found!r} where {whose} is {expected!r}"
            )

    def _version(self, declared: str) -> None:
        ours = _VERSION.fullmatch(PROTOCOL_VERSION)
        theirs = _VERSION.fullmatch(declared)
        if theirs is None or ours is None:
            self._notes.warn(
                "uninterpretable_protocol",
                "/protocolVersion",
                f"the producer declares the protocol version {declared!r}, which is not MAJOR.MINOR",
            )
        elif tuple(map(int, theirs.groups())) > tuple(map(int, ours.groups())):
            self._notes.warn(
                "newer_protocol",
                "/protocolVersion",
                f"the producer speaks {declared}, this consumer {PROTOCOL_VERSION}: what is new there is not seen here",
            )

    def _run_finished(self, event: Any) -> None:
        run = self.runs[-1]
        self._same("runId", event.run_id, run.run_id, "RUN_STARTED's")
        self._same("threadId", event.thread_id, self._thread_id or run.thread_id, "the input's")
        run.finished = event
        run.usage = list(event.usage or ())
        outcome = event.outcome
        run.status = _OUTCOMES["success" if outcome is None else outcome.type]
        if run.status is RunStatus.INTERRUPTED:
            run.interrupts = list(outcome.interrupts)
        self._close(run)
        self._compare(run, getattr(outcome, "pending_tool_call_ids", None))

    def _run_error(self, event: Any) -> None:
        run = self.current
        if run is None or run.error is not None:
            run = RunRecord(self._thread_id or "", "")
            self.runs.append(run)
        run.error = event
        run.status = RunStatus.FAILED
        run.usage = list(event.usage) if event.usage is not None else run.usage
        run.interrupts = []
        self._close(run)

    def _close(self, run: RunRecord) -> None:
        run.pending = list(self._pending(run))
        for view in run.subagents.values():
            if view.status is SubagentStatus.RUNNING:
                view.status = SubagentStatus.ABANDONED

    def _pending(self, run: RunRecord) -> Iterable[PendingCall]:
        """FT-2: what the run started and nothing answered, neither a result nor a message in the conversation."""
        for identity, answered in run.calls.items():
            call = self._conversation.call(identity)
            if answered or call is None or call.result is not None:
                continue
            yield _pending_call(call, run)

    def _compare(self, run: RunRecord, named: Sequence[str] | None) -> None:
        if not named:
            return
        unanswered = [identity for identity, answered in run.calls.items() if not answered]
        # A call that a snapshot took out of the conversation is no more, whoever names it.
        by_stream = [identity for identity in unanswered if self._conversation.call(identity) is not None]
        by_history = [call.id for call in run.pending]
        if set(named) not in (set(by_stream), set(by_history)):
            self._notes.warn(
                "pending_calls_mismatch",
                "/outcome/pendingToolCallIds",
                f"the producer names {', '.join(named)} as pending; by the stream it is "
                f"{', '.join(by_history) or 'no call'}, and that is what counts",
            )

    # What happens inside a run.

    def _call_started(self, event: Any) -> None:
        self.runs[-1].calls.setdefault(event.tool_call_id, False)

    def _call_result(self, event: Any) -> None:
        calls = self.runs[-1].calls
        if event.tool_call_id in calls:
            calls[event.tool_call_id] = True

    def _step_started(self, event: Any) -> None:
        self.runs[-1].steps.append(StepView(event.step_name, event.subagent_run_id))

    def _step_finished(self, event: Any) -> None:
        steps = self.runs[-1].steps
        next(
            step
            for step in reversed(steps)
            if not step.finished and (step.name, step.subagent_run_id) == (event.step_name, event.subagent_run_id)
        ).finished = True

    def _subagent_started(self, event: Any) -> None:
        subagents = self.runs[-1].subagents
        view = SubagentView(
            event.subagent_run_id,
            event.name,
            event.description,
            event.parent_subagent_run_id,
            event.parent_tool_call_id,
            event.parent_message_id,
        )
        subagents[view.id] = view
        if view.parent_id is not None:
            subagents[view.parent_id].children.append(view)

    def _subagent_finished(self, event: Any) -> None:
        view = self.runs[-1].subagents[event.subagent_run_id]
        view.result = event.result
        suspended = event.outcome is not None and event.outcome.type == "suspended"
        view.status = SubagentStatus.SUSPENDED if suspended else SubagentStatus.FINISHED
        if suspended:
            view.interrupt_ids = tuple(event.outcome.interrupt_ids or ())

    def _subagent_error(self, event: Any) -> None:
        view = self.runs[-1].subagents[event.subagent_run_id]
        view.status, view.error, view.error_code = SubagentStatus.FAILED, event.message, event.code


def _pending_call(call: CallView, run: RunRecord) -> PendingCall:
    return PendingCall(
        id=call.id,
        name=call.name,
        arguments=call.arguments,
        complete=call.phase is not CallPhase.STREAMING,
        message_id=call.holder.id,
        subagent_run_id=call.subagent_run_id,
        thread_id=run.thread_id,
        run_id=run.run_id,
    )


_OUTCOMES: Final = {
    "success": RunStatus.COMPLETED,
    "interrupt": RunStatus.INTERRUPTED,
    "cancelled": RunStatus.CANCELLED,
}

_HANDLERS: Final[dict[type, Callable[[Ledger, Any], None]]] = {
    RunStartedEvent: Ledger._run_started,
    RunFinishedEvent: Ledger._run_finished,
    RunErrorEvent: Ledger._run_error,
    ToolCallStartEvent: Ledger._call_started,
    ToolCallResultEvent: Ledger._call_result,
    StepStartedEvent: Ledger._step_started,
    StepFinishedEvent: Ledger._step_finished,
    SubagentStartedEvent: Ledger._subagent_started,
    SubagentFinishedEvent: Ledger._subagent_finished,
    SubagentErrorEvent: Ledger._subagent_error,
}
