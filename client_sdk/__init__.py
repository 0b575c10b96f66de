"""A Python consumer for AG-UI 1.0: everything here is public, and nothing else is."""

from client_sdk.agent import HttpAgent, Run, Thread
from client_sdk.blocking import SyncHttpAgent, SyncRun, SyncThread
from client_sdk.diagnostics import Diagnostic
from client_sdk.errors import (
    ClientError,
    ConnectionBroken,
    ConnectionFailed,
    ContentTypeError,
    FrameTooLarge,
    HttpStatusError,
    InputError,
    InterruptError,
    JournalError,
    ProtocolError,
    ReadTimedOut,
    RunError,
    RunFailed,
    RunTruncated,
    SourceError,
    ToolError,
    TransportError,
)
from client_sdk.middleware import CallNext, Middleware, RawEvent, RunRequest
from client_sdk.protocol.conversation import CallPhase, CallView
from client_sdk.protocol.pipeline import Pipeline, Update
from client_sdk.protocol.runs import PendingCall, RunRecord, RunStatus, StepView, SubagentStatus, SubagentView
from client_sdk.results import RunResult

__all__ = [
    "CallNext",
    "CallPhase",
    "CallView",
    "ClientError",
    "ConnectionBroken",
    "ConnectionFailed",
    "ContentTypeError",
    "Diagnostic",
    "FrameTooLarge",
    "HttpAgent",
    "HttpStatusError",
    "InputError",
    "InterruptError",
    "JournalError",
    "Middleware",
    "PendingCall",
    "Pipeline",
    "ProtocolError",
    "RawEvent",
    "ReadTimedOut",
    "Run",
    "RunError",
    "RunFailed",
    "RunRecord",
    "RunRequest",
    "RunResult",
    "RunStatus",
    "RunTruncated",
    "SourceError",
    "StepView",
    "SubagentStatus",
    "SubagentView",
    "SyncHttpAgent",
    "SyncRun",
    "SyncThread",
    "Thread",
    "ToolError",
    "TransportError",
    "Update",
]
