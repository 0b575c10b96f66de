"""Driving the pipeline by hand, and comparing what came of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from ag_ui.core import Event

from client_sdk.protocol.conversation import Conversation
from client_sdk.protocol.outgoing import wire
from client_sdk.protocol.pipeline import Pipeline, Update

FATAL = {
    "already_open", "attribution_mismatch", "chunk_ambiguous", "chunk_conflict", "chunk_identity",
    "duplicate_interrupt", "event_after_close", "first_event", "malformed_event", "nested_run", "not_an_event",
    "not_open", "still_open", "subagent_lifecycle",
}  # fmt: skip
"""The fatal codes of RULES.md."""

WARNINGS = {
    "unknown_event", "unknown_property", "unknown_member", "retired_shape", "parts_dropped", "pending_calls_mismatch",
    "run_identity", "patch_failed", "activity_target_missing", "encrypted_value_unclaimed", "outgoing_stripped",
    "newer_protocol", "uninterpretable_protocol", "subagent_event_dropped",
    "message_gone", "message_id_conflict", "lone_surrogate",
}  # fmt: skip
"""The warning codes of RULES.md, and the three this package adds."""

STATUSES = {"completed", "interrupted", "cancelled", "failed", "truncated", "rejected"}


class LongWay(Pipeline):
    """The pipeline without its shortcuts: every frame through both halves, as with middleware."""

    _count = -1

    def feed(self, payload: str | bytes) -> list[Update]:
        """Take one frame's payload through `decode` and `feed_raw`."""
        if self.error is not None:
            return []
        self._count += 1
        return [update for raw in self.decode(payload) for update in self.feed_raw(raw, index=self._count)]


def feed_all(pipeline: Pipeline, payloads: Iterable[str | bytes]) -> list[Update]:
    """Feed every payload, end the stream; the updates."""
    updates = [update for payload in payloads for update in pipeline.feed(payload)]
    pipeline.end()
    return updates


def told(pipeline: Pipeline, updates: list[Update]) -> dict[str, Any]:
    """Everything a stream came to, as comparable values."""
    error = pipeline.error
    conversation = pipeline.conversation
    return {
        "error": error and (error.code, str(error), error.event_type, error.index, error.path, error.ids),
        "diagnostics": pipeline.diagnostics,
        "updates": [
            (repr(u.event), u.message_id, u.tool_call and u.tool_call.id, u.delta, u.diagnostics) for u in updates
        ],
        "messages": [wire(message) for message in conversation.messages],
        "calls": [(call.id, call.name, call.arguments, call.phase, call.metadata) for call in conversation.tool_calls],
        "state": repr(conversation.state),
        "runs": [repr(asdict(run)) for run in pipeline.ledger.runs],
    }


def run_through(payloads: Iterable[str | bytes], *, long_way: bool = False, **options: Any) -> dict[str, Any]:
    """`told` of a fresh pipeline."""
    pipeline = (LongWay if long_way else Pipeline)(**options)
    return told(pipeline, feed_all(pipeline, payloads))


def conversation_of(events: Iterable[Event]) -> Conversation:
    """What these verified events build from nothing."""
    conversation = Conversation()
    for event in events:
        conversation.apply(event)
    return conversation


def drive(*events: Any, **options: Any) -> tuple[Pipeline, list[Update]]:
    """Feed raw events, JSON objects or texts, without ending the stream."""
    from tests.client_sdk.protocol.streams import encode

    pipeline = Pipeline(**options)
    updates = [
        update for event in events for update in pipeline.feed(event if isinstance(event, str) else encode(event))
    ]
    return pipeline, updates
