"""Frontend tools: declared, gated, run, journaled, answered."""

from client_sdk.tools.board import CallStanding, OpenCall, ToolUpdate
from client_sdk.tools.calls import CallOutcome
from client_sdk.tools.consent import Approve, ConsentHandler, ConsentRequest, Decline, Defer
from client_sdk.tools.context import Cancellation, ToolContext
from client_sdk.tools.gate import Decision, RefusalReason, Verdict
from client_sdk.tools.journal import (
    CallRecord,
    Journal,
    JournalEntry,
    JournalEvent,
    MemoryJournal,
    SqliteJournal,
)
from client_sdk.tools.registry import ConsentPolicy, ToolDefinition, ToolOptions, ToolRegistry
from client_sdk.tools.runner import DEFAULT_MAX_FOLLOW_UPS, InterruptHandler, ToolRunner, UnansweredHandler

__all__ = [
    "DEFAULT_MAX_FOLLOW_UPS",
    "Approve",
    "CallOutcome",
    "CallRecord",
    "CallStanding",
    "Cancellation",
    "ConsentHandler",
    "ConsentPolicy",
    "ConsentRequest",
    "Decision",
    "Decline",
    "Defer",
    "InterruptHandler",
    "Journal",
    "JournalEntry",
    "JournalEvent",
    "MemoryJournal",
    "OpenCall",
    "RefusalReason",
    "SqliteJournal",
    "ToolContext",
    "ToolDefinition",
    "ToolOptions",
    "ToolRegistry",
    "ToolRunner",
    "ToolUpdate",
    "UnansweredHandler",
    "Verdict",
]
