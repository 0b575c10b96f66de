"""What a run came to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

from ag_ui.core import Interrupt, Message, RunErrorEvent, TokenUsage

from client_sdk.diagnostics import Diagnostic
from client_sdk.errors import ClientError, RunFailed, RunTruncated
from client_sdk.protocol.runs import PendingCall, RunRecord, RunStatus, SubagentView, total_usage


@dataclass(frozen=True, slots=True)
class RunResult:
    """How a run ended, and what it left behind; of several exchanges the last one counts.

    Attributes:
        status: how the last run on the stream ended (LC-5, LC-6, TR-1).
        thread_id: the thread.
        run_id: the last run, as its RUN_STARTED named it; the requested id when none came.
        messages: the whole conversation afterwards.
        new_messages: the messages this run added or replaced, in order.
        state: the state afterwards, any JSON value.
        pending_tool_calls: calls that still want an answer, in call order (FT-2).
        interrupts: what the last run asks for, when it was interrupted.
        usage: token usage per provider and model, summed over all runs (LC-9).
        diagnostics: what was tolerated, in order, on the way out and in.
        error: why the stream was rejected or broke off, None when it ended as it should.
        run_errors: the RUN_ERROR events received; the last one tells why a run failed.
        result: the run's return value, None when it has none.
        runs: a record of every run, with steps and subagents.
        request: the RunAgentInput that was sent last, in wire spelling.
        left: whether this side stopped reading before the run ended (TR-2).
    """

    status: RunStatus
    thread_id: str
    run_id: str
    messages: list[Message] = field(repr=False)
    new_messages: list[Message]
    state: Any
    pending_tool_calls: list[PendingCall]
    interrupts: list[Interrupt]
    usage: list[TokenUsage]
    diagnostics: list[Diagnostic]
    error: ClientError | None
    run_errors: list[RunErrorEvent]
    result: Any
    runs: list[RunRecord] = field(repr=False)
    request: dict[str, Any] = field(repr=False)
    left: bool = False

    @property
    def subagents(self) -> list[SubagentView]:
        """The last run's subagents, as a tree."""
        return self.runs[-1].subagent_tree if self.runs else []

    @property
    def text(self) -> str:
        """The text of the assistant's new messages, joined by blank lines."""
        texts = [m.content for m in self.new_messages if m.role == "assistant" and isinstance(m.content, str)]
        return "\n\n".join(text for text in texts if text)

    def raise_for_status(self) -> Self:
        """Return the result itself when the run went well, raise when it did not.

        Completed, interrupted and cancelled runs went as agreed.

        Raises:
            RunFailed: the producer reported RUN_ERROR (LC-6).
            RunTruncated: the stream ended without a terminal event (TR-1).
            ProtocolError: the stream was rejected.
        """
        if self.status is RunStatus.FAILED:
            said = self.run_errors[-1]
            code = f" ({said.code})" if said.code else ""
            raise RunFailed(f"the run failed: {said.message}{code}", result=self)
        if self.status is RunStatus.TRUNCATED:
            why = f": {self.error}" if self.error is not None else ""
            what = "the run was left before it ended" if self.left else "the stream ended before the run did"
            raise RunTruncated(f"{what}{why}", result=self) from self.error
        if self.status is RunStatus.REJECTED and self.error is not None:
            raise self.error
        return self


def build_result(
    runs: list[RunRecord],
    *,
    messages: list[Message],
    new_messages: list[Message],
    state: Any,
    diagnostics: list[Diagnostic],
    error: ClientError | None,
    request: dict[str, Any],
    pending: list[PendingCall] | None = None,
    left: bool = False,
) -> RunResult:
    """Sum up exchanges whose streams are over; `pending` when more is known than what the last run left."""
    last = runs[-1]
    return RunResult(
        status=last.status,
        thread_id=last.thread_id or request.get("threadId", ""),
        run_id=last.run_id or request.get("runId", ""),
        messages=messages,
        new_messages=new_messages,
        state=state,
        pending_tool_calls=list(last.pending) if pending is None else pending,
        interrupts=list(last.interrupts),
        usage=total_usage(runs),
        diagnostics=diagnostics,
        error=error,
        run_errors=[run.error for run in runs if run.error is not None],
        result=last.result,
        runs=list(runs),
        request=request,
        left=left,
    )
