"""The public names: adding one is a decision, losing one breaks somebody."""

from __future__ import annotations

import inspect
import typing
from pathlib import Path

import pytest

import client_sdk
from client_sdk import errors

PUBLIC = [
    "Approve",
    "CallNext",
    "CallOutcome",
    "CallPhase",
    "CallStanding",
    "CallView",
    "Cancel",
    "ClientError",
    "ClosedRun",
    "ConnectionBroken",
    "ConnectionFailed",
    "ConsentHandler",
    "ConsentPolicy",
    "ConsentRequest",
    "ContentTypeError",
    "Continuation",
    "Decline",
    "Defer",
    "Diagnostic",
    "DroppedPart",
    "FieldError",
    "FlatMessage",
    "FlatText",
    "FormField",
    "FrameTooLarge",
    "HttpAgent",
    "HttpStatusError",
    "HttpTransport",
    "InputError",
    "InterruptError",
    "InterruptHandler",
    "Journal",
    "JournalEntry",
    "JournalError",
    "JournalEvent",
    "MemoryJournal",
    "Middleware",
    "OpenCall",
    "OpenInterrupt",
    "OptionError",
    "PendingCall",
    "Pipeline",
    "ProtocolError",
    "RawEvent",
    "ReadTimedOut",
    "RecordedStream",
    "Recorder",
    "RefusalReason",
    "Replay",
    "RequestUnusable",
    "Resolve",
    "Run",
    "RunError",
    "RunFailed",
    "RunRecord",
    "RunRequest",
    "RunResult",
    "RunStatus",
    "RunTruncated",
    "SourceError",
    "SqliteJournal",
    "SqliteTextSink",
    "StepView",
    "SubagentStatus",
    "SubagentView",
    "SyncHttpAgent",
    "SyncRun",
    "SyncThread",
    "Thread",
    "ToolContext",
    "ToolDefinition",
    "ToolError",
    "ToolFailure",
    "ToolRegistry",
    "ToolRunner",
    "ToolUpdate",
    "TranscriptSink",
    "Transport",
    "TransportError",
    "UnansweredHandler",
    "Update",
    "build_resume",
    "flatten",
    "flatten_message",
    "form_answer",
    "form_fields",
    "read_source",
    "read_transcript",
]

CODES = {
    "OptionError": "bad_option",
    "RequestUnusable": "request_unusable",
    "ConnectionFailed": "connection_failed",
    "ConnectionBroken": "connection_broken",
    "ReadTimedOut": "read_timeout",
    "HttpStatusError": "http_status",
    "ContentTypeError": "content_type",
    "FrameTooLarge": "frame_too_large",
    "SourceError": "unreadable_source",
    "ToolFailure": "tool_failure",
    "RunFailed": "run_failed",
    "RunTruncated": "run_truncated",
}
"""The codes of errors that have one each."""


def test_the_public_names_are_these() -> None:
    assert client_sdk.__all__ == PUBLIC
    assert sorted(PUBLIC) == PUBLIC


def test_nothing_else_is_public() -> None:
    visible = {
        name for name, value in vars(client_sdk).items() if not name.startswith("_") and not inspect.ismodule(value)
    }
    assert visible == set(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_says_what_it_is(name: str) -> None:
    value = getattr(client_sdk, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        assert (inspect.getdoc(value) or "").strip()


def test_every_error_is_public_and_in_the_tree() -> None:
    declared = {name for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, Exception)}
    assert declared <= set(PUBLIC)
    tree = errors.__doc__ or ""
    assert [name for name in declared if name not in tree] == []
    for name in declared - {"ClientError"}:
        assert issubclass(getattr(errors, name), errors.ClientError)


def test_codes_of_errors_are_stable() -> None:
    tree = errors.__doc__ or ""
    made = {
        "OptionError": lambda kind: kind("m", option="timeout"),
        "HttpStatusError": lambda kind: kind("m", status=500, body="", headers={}),
        "ContentTypeError": lambda kind: kind("m", content_type="", body=""),
        "FrameTooLarge": lambda kind: kind("m", limit=1),
        "RunFailed": lambda kind: kind("m", result=typing.cast("client_sdk.RunResult", None)),
        "RunTruncated": lambda kind: kind("m", result=typing.cast("client_sdk.RunResult", None)),
    }
    for name, code in CODES.items():
        error = made.get(name, lambda kind: kind("m"))(getattr(errors, name))
        assert (error.code, error.message, str(error)) == (code, "m", "m")
        assert code in tree


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(client_sdk.__file__).parent / "py.typed").is_file()
