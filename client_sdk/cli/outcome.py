"""How a run came out: the last lines for a person, the document for a program, the exit status for a shell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import IntEnum
from typing import Any, Final

from ag_ui.core import Event

from client_sdk.cli.render import Renderer, data
from client_sdk.cli.terminal import Terminal, one_line
from client_sdk.errors import ClientError, ProtocolError, RunFailed, RunTruncated, TransportError
from client_sdk.legacy import flatten_message, parts_dropped
from client_sdk.protocol.runs import RunStatus
from client_sdk.replay import document
from client_sdk.results import RunResult


class Exit(IntEnum):
    """Exit statuses, a contract. Of several sources the highest counts."""

    FINE = 0
    """Completed, interrupted or cancelled: as agreed."""
    FAILED = 1
    USAGE = 2
    """The command line, or a file it names."""
    REJECTED = 3
    TRUNCATED = 4
    """The stream ended before its run did, or was stopped from this side (TR-1, TR-2)."""
    TRANSPORT = 5


_EXITS: Final = {
    RunStatus.COMPLETED: Exit.FINE,
    RunStatus.INTERRUPTED: Exit.FINE,
    RunStatus.CANCELLED: Exit.FINE,
    RunStatus.FAILED: Exit.FAILED,
    RunStatus.REJECTED: Exit.REJECTED,
    RunStatus.TRUNCATED: Exit.TRUNCATED,
}


def exit_of(result: RunResult) -> Exit:
    """The exit status of `result`: a connection that broke is told from a stream that just ended."""
    if result.status is RunStatus.TRUNCATED and isinstance(result.error, TransportError):
        return Exit.TRANSPORT
    return _EXITS[result.status]


def report_error(err: Terminal, error: Exception | str, where: str = "") -> None:
    """One readable line on standard error, whatever is in `error`."""
    prefix = f"{where}: " if where else ""
    err.line(one_line(f"error: {prefix}{error}"), "red")


def report_failure(err: Terminal, result: RunResult, where: str = "") -> None:
    """Say on one line why `result` did not go well; nothing when it did."""
    try:
        result.raise_for_status()
    except ProtocolError as error:
        report_error(err, f"the stream is rejected: {_described(error)}", where)
    except (RunFailed, RunTruncated) as error:
        report_error(err, error.message, where)


def _described(error: ProtocolError) -> str:
    details = [
        f"event {error.index}" if error.index is not None else "",
        error.event_type or "",
        f"at {error.path}" if error.path else "",
        f"ids {', '.join(error.ids)}" if error.ids else "",
    ]
    found = ", ".join(detail for detail in details if detail)
    return f"{error.code}: {error.message}" + (f" ({found})" if found else "")


def show_outcome(out: Terminal, renderer: Renderer, result: RunResult) -> None:
    """What is left to see when the stream is over: warnings not shown yet, open ends, usage, the status."""
    left = Counter(result.diagnostics) - Counter(renderer.warned)
    for diagnostic in result.diagnostics:
        if left[diagnostic]:
            left[diagnostic] -= 1
            renderer.warn(diagnostic)
    for call in result.pending_tool_calls:
        unfinished = "" if call.complete else " (its arguments never ended)"
        out.line(f"pending call {one_line(call.name)} [{one_line(call.id)}]: {call.arguments}{unfinished}")
    for interrupt in result.interrupts:
        question = f": {interrupt.message}" if interrupt.message else ""
        out.line(f"waiting for an answer to {one_line(interrupt.id)} ({one_line(interrupt.reason)}){question}")
    for usage in result.usage:
        out.line(f"usage: {data(usage.model_dump(mode='json', by_alias=True))}", "dim")
    stopped = " the agent was stopped" if result.status is RunStatus.CANCELLED else ""
    out.line(f"[{result.status}]{stopped}", "bold")


def report(result: RunResult, events: Iterable[Event], *, legacy: bool) -> dict[str, Any]:
    """The document of ``--json``; with `legacy`, its messages hold text and its diagnostics what was lost."""
    found = document(result, events)
    if legacy:
        flattened = [flatten_message(m, where=f"/messages/{i}") for i, m in enumerate(result.messages)]
        found["messages"] = [
            {"id": flat.id, "role": flat.role}
            | ({} if flat.body is None else {"content": flat.body})
            | dict(flat.fields)
            for flat in flattened
        ]
        found["diagnostics"] += [
            {"code": told.code, "path": told.path, "message": told.message}
            for flat in flattened
            for told in (parts_dropped(part, message_id=flat.id) for part in flat.dropped)
        ]
    return found


class UsageError(ClientError):
    """The command line asks for what cannot be done; nothing was sent."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="usage")
