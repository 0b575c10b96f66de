"""Replay: a recorded stream through the same pipeline a live one takes (PL-1). It executes nothing, ever."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ag_ui.core import Event

from client_sdk.diagnostics import Diagnostic
from client_sdk.errors import ClientError, InputError, ProtocolError, SourceError
from client_sdk.protocol.compat import Peer
from client_sdk.protocol.conversation import Conversation
from client_sdk.protocol.outgoing import adopt_messages, prepare_input, wire
from client_sdk.protocol.pipeline import Pipeline, Update
from client_sdk.protocol.runs import RunStatus
from client_sdk.results import RunResult, build_result


class Replay:
    """One recorded stream being judged.

    Feed it payloads, then `finish`; `document` is the report other tools read.

    Args:
        input: the run input the stream answers, in wire spelling and as partial as a
            fixture's (``messages``, ``tools``, ``state``, …); ids that it lacks are
            the stream's first.
        peer_version: what the peer is known to speak at most (VE-3).

    Raises:
        InputError: the input is malformed.
        ValueError: `peer_version` is not dot-separated numbers.
    """

    def __init__(self, input: Mapping[str, Any] | None = None, *, peer_version: str | None = None) -> None:
        self._input = dict(input or {})
        self._peer = Peer(peer_version)
        self._sent: list[Diagnostic] = []
        held = adopt_messages(_messages_of(self._input), self._sent.append)
        state = self._input.get("state")
        conversation = Conversation(held, {} if state is None else state)
        self._held = [wire(message) for message in held]
        self._pipeline = Pipeline(
            thread_id=self._input.get("threadId"), conversation=conversation, peer_version=peer_version
        )
        # Refused at once, as a live run is before a byte leaves; what was lost is told when it is finished.
        self._request(lambda _: None)

    def feed(self, payload: str) -> list[Update]:
        """Take one frame's payload; the updates it caused."""
        return self._pipeline.feed(payload)

    @property
    def error(self) -> ProtocolError | None:
        """Why the stream was rejected, None while it was not."""
        return self._pipeline.error

    def finish(self, broken: ClientError | None = None) -> RunResult:
        """The stream is over: what it came to.

        Args:
            broken: why it could not be read to its end, if so; after the run's terminal event it changes
                nothing (TR-7).
        """
        pipeline = self._pipeline
        error = pipeline.error or (None if pipeline.ledger.closed else broken)
        pipeline.end()
        request = self._request(self._sent.append)
        messages = pipeline.conversation.messages
        before = {message["id"] for message in self._held}
        return build_result(
            pipeline.ledger.runs,
            messages=messages,
            new_messages=[message for message in messages if message.id not in before],
            state=pipeline.conversation.state,
            diagnostics=[*self._sent, *pipeline.diagnostics],
            error=error,
            request=request,
        )

    def _request(self, warn: Callable[[Diagnostic], None]) -> dict[str, Any]:
        """The RunAgentInput that would have been sent."""
        first = next(iter(self._pipeline.ledger.runs), None)
        ids = {"threadId": first.thread_id if first else "", "runId": first.run_id if first else ""}
        return prepare_input({**ids, **self._input, "messages": self._held}, self._peer, warn)


def _messages_of(input: Mapping[str, Any]) -> list[Any]:
    messages = input.get("messages", [])
    if not isinstance(messages, list):
        raise InputError("the run input is malformed: its messages are no list", path="/messages")
    return messages


def replay(
    payloads: Iterable[str], input: Mapping[str, Any] | None = None, *, peer_version: str | None = None
) -> dict[str, Any]:
    """Judge a recorded stream and report on it.

    Args:
        payloads: the frames' payloads, JSON texts.
        input: see `Replay`.
        peer_version: see `Replay`.

    Returns:
        The report, as `document` or `refused` describes it.

    Raises:
        ValueError: `peer_version` is not dot-separated numbers.
    """
    try:
        run = Replay(input, peer_version=peer_version)
    except InputError as error:
        return refused(error)
    events = [update.event for payload in payloads for update in run.feed(payload)]
    return document(run.finish(), events)


def document(result: RunResult, events: Iterable[Event]) -> dict[str, Any]:
    """The report on one stream that ``replay --json`` prints: a contract other tools read.

    Events, messages and request are in wire spelling: camelCase, absent where there is no value.
    """
    return {
        "status": result.status.value,
        "error": None if result.error is None else _error(result.error),
        "runErrors": [{"message": error.message, "code": error.code} for error in result.run_errors],
        "diagnostics": [
            {"code": entry.code, "path": entry.path, "message": entry.message} for entry in result.diagnostics
        ],
        "events": [wire(event) for event in events],
        "messages": [wire(message) for message in result.messages],
        "state": result.state,
        "pendingToolCalls": [
            {"id": call.id, "name": call.name, "arguments": call.arguments} for call in result.pending_tool_calls
        ],
        "interrupts": [wire(interrupt) for interrupt in result.interrupts],
        "usage": [wire(entry) for entry in result.usage],
        "request": result.request,
    }


def refused(error: InputError | SourceError) -> dict[str, Any]:
    """The report where there is no stream to judge: the run input was refused (RI-1), or the source is none."""
    nothing: dict[str, Any] = {
        key: [] for key in ("runErrors", "diagnostics", "events", "messages", "pendingToolCalls", "interrupts", "usage")
    }
    return {"status": RunStatus.REJECTED.value, "error": _error(error), **nothing, "state": None, "request": {}}


def _error(error: ClientError) -> dict[str, Any]:
    """Why a stream was rejected or broke; what only events have is null where no event is to blame."""
    blamed = error if isinstance(error, ProtocolError) else None
    return {
        "code": error.code,
        "message": error.message,
        "eventType": None if blamed is None else blamed.event_type,
        "index": None if blamed is None else blamed.index,
        "path": error.path if isinstance(error, ProtocolError | InputError) else None,
        "ids": [] if blamed is None else list(blamed.ids),
    }
