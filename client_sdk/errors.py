"""Every error this package raises, and the tree they hang in.

::

    ClientError
    ├── OptionError               a value passed to a constructor or method is of the wrong kind   bad_option
    ├── TransportError            the stream could not be opened or broke before its terminal event
    │   ├── RequestUnusable       the request cannot be sent, however often: URL, header  request_unusable
    │   ├── ConnectionFailed      no connection could be made                     connection_failed
    │   ├── ConnectionBroken      the connection broke while events were coming   connection_broken
    │   ├── ReadTimedOut          the peer fell silent for longer than allowed    read_timeout
    │   ├── HttpStatusError       an HTTP status other than success (TR-3)        http_status
    │   ├── ContentTypeError      the answer is not ``text/event-stream``         content_type
    │   └── FrameTooLarge         one frame exceeds the limit (TR-5)              frame_too_large
    ├── SourceError               what is to be replayed is no recorded stream    unreadable_source
    ├── ProtocolError             the producer broke a rule; the stream is rejected
    ├── InputError                the application's own run input is not sendable (RI-1)
    ├── RunError                  ``RunResult.raise_for_status()`` found a run that did not go well
    │   ├── RunFailed             the producer reported RUN_ERROR (LC-6)          run_failed
    │   └── RunTruncated          the stream ended without a terminal event (TR-1) run_truncated
    ├── InterruptError            answers do not fit the open interrupts (IR-2, IR-3)
    ├── ToolError                 a tool or registry is declared wrongly, or may not be used so
    ├── ToolFailure               a handler says that it cannot do what was asked       tool_failure
    └── JournalError              the call journal cannot be read or written

Each carries a stable ``code``: codes are part of the public interface and never
change once released.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from client_sdk.results import RunResult


class ClientError(Exception):
    """Base of every error raised by this package.

    Attributes:
        code: stable machine-readable name of what went wrong.
    """

    code: str

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code

    @property
    def message(self) -> str:
        """What went wrong, for a person to read (str)."""
        return str(self.args[0])


class OptionError(ClientError, ValueError):
    """A value passed in is of the wrong kind; nothing was done with it.

    Attributes:
        option: the name of the parameter.
    """

    def __init__(self, message: str, *, option: str) -> None:
        super().__init__(message, code="bad_option")
        self.option = option


class TransportError(ClientError):
    """The exchange failed below the protocol: see the subclasses."""


class RequestUnusable(TransportError):
    """The request cannot be sent as it is, and trying again changes nothing.

    The URL is none, a header is one that HTTP forbids, or the HTTP client is closed.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message, code="request_unusable")


class ConnectionFailed(TransportError):
    """No connection to the agent could be made; the run never started."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="connection_failed")


class ConnectionBroken(TransportError):
    """The connection broke before the run's terminal event (TR-1, TR-7)."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="connection_broken")


class ReadTimedOut(TransportError):
    """The peer sent nothing for longer than the read timeout."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="read_timeout")


class HttpStatusError(TransportError):
    """The agent answered with an HTTP status that opens no stream (TR-3).

    Attributes:
        status: the HTTP status code (int).
        body: an excerpt of the response body, at most 2,000 characters (str).
        headers: the response headers, names in lower case (dict).
    """

    def __init__(self, message: str, *, status: int, body: str, headers: dict[str, str]) -> None:
        super().__init__(message, code="http_status")
        self.status = status
        self.body = body
        self.headers = headers


class ContentTypeError(TransportError):
    """The agent answered 2xx with something that is not an event stream.

    Attributes:
        content_type: the media type it sent ("" when it sent none).
        body: an excerpt of the response body, at most 2,000 characters (str).
    """

    def __init__(self, message: str, *, content_type: str, body: str) -> None:
        super().__init__(message, code="content_type")
        self.content_type = content_type
        self.body = body


class FrameTooLarge(TransportError):
    """One frame is larger than the limit (TR-5); reading stopped there.

    Attributes:
        limit: the limit in bytes.
    """

    def __init__(self, message: str, *, limit: int) -> None:
        super().__init__(message, code="frame_too_large")
        self.limit = limit


class SourceError(ClientError):
    """What is to be replayed is no recorded stream in any form this package reads."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="unreadable_source")


class ProtocolError(ClientError):
    """The producer broke a rule of AG-UI 1.0 and the stream is rejected.

    What was delivered before stays delivered (PL-4).

    Attributes:
        code: the rule broken, one of the fatal codes.
        event_type: the ``type`` of the offending event, None when it has none.
        index: 0-based position of the offending event on the wire, None when
            no single event is to blame.
        path: JSON Pointer to the offending value inside the event ("" is the event).
        ids: the ids concerned (message, tool call, step, subagent, interrupt).
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        event_type: str | None = None,
        index: int | None = None,
        path: str = "",
        ids: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message, code=code)
        self.event_type = event_type
        self.index = index
        self.path = path
        self.ids = ids


class InputError(ClientError):
    """The run input the application assembled may not be sent (RI-1).

    Raised before a byte leaves. Attributes:
        path: JSON Pointer into the RunAgentInput.
    """

    def __init__(self, message: str, *, code: str = "malformed_input", path: str = "") -> None:
        super().__init__(message, code=code)
        self.path = path


class RunError(ClientError):
    """A run that did not go well, raised on request by ``raise_for_status()``.

    Attributes:
        result: the RunResult with everything that was delivered.
    """

    def __init__(self, message: str, *, code: str, result: RunResult) -> None:
        super().__init__(message, code=code)
        self.result = result


class RunFailed(RunError):
    """The producer ended the run with RUN_ERROR (LC-6)."""

    def __init__(self, message: str, *, result: RunResult) -> None:
        super().__init__(message, code="run_failed", result=result)


class RunTruncated(RunError):
    """The stream ended without a terminal event (TR-1)."""

    def __init__(self, message: str, *, result: RunResult) -> None:
        super().__init__(message, code="run_truncated", result=result)


class InterruptError(ClientError):
    """Answers that do not fit the open interrupts (IR-2, IR-3).

    Codes: ``interrupt_uncovered``, ``interrupt_unknown``, ``interrupt_expired``,
    ``interrupt_answer_invalid``, ``interrupt_answered_twice``.

    Attributes:
        ids: the interrupt ids concerned.
        path: JSON Pointer into the answer, where one value is to blame.
    """

    def __init__(self, message: str, *, code: str, ids: tuple[str, ...] = (), path: str = "") -> None:
        super().__init__(message, code=code)
        self.ids = ids
        self.path = path


class ToolError(ClientError):
    """A frontend tool is declared wrongly, or is used in a way it does not allow.

    For a handler that cannot do what was asked there is `ToolFailure`.
    """

    def __init__(self, message: str, *, code: str = "tool_error") -> None:
        super().__init__(message, code=code)


class ToolFailure(ClientError):
    """Raised by a tool's handler: what was asked cannot be done, and the handler knows why.

    The call is answered as failed with this message, as after any exception (FT-4),
    but nothing is wrong with the handler: the log gets a line and no traceback.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message, code="tool_failure")


class JournalError(ClientError):
    """The call journal could not be read or written."""
