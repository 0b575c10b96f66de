"""Order verification: what may follow what, as tables.

The theory. Five kinds of item open and close inside a run: text messages, tool
calls, reasoning messages, reasoning spans and steps (a step's name counts
within its owner). Each kind has an *open set*, and each event type has one row
that says what it does to which set:

    opens   the id must not be in the set        otherwise ``already_open``  (ST-2, LC-8)
    needs   the id must be in the set            otherwise ``not_open``      (ST-3)
    closes  the id must be in the set and leaves otherwise ``not_open``      (ST-3, LC-8)

Whoever opens an item owns it until the run ends, and whatever continues it must
not claim another owner (SA-2). Above the items stands the run, with its own
table of legal transitions: an absent row *is* the error (LC-1 to LC-3).

    ==========  ============  =============  ===========  =================
    state       RUN_STARTED   RUN_FINISHED   RUN_ERROR    any other event
    ==========  ============  =============  ===========  =================
    idle        active        first_event    failed       first_event
    active      nested_run    finished       failed       active
    finished    active        after_close    failed       after_close
    failed      active        after_close    after_close  after_close
    ==========  ============  =============  ===========  =================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Literal

from ag_ui.core import (
    ActivityDeltaEvent,
    ActivitySnapshotEvent,
    Event,
    MessagesSnapshotEvent,
    ReasoningEncryptedValueEvent,
    ReasoningEndEvent,
    ReasoningMessageContentEvent,
    ReasoningMessageEndEvent,
    ReasoningMessageStartEvent,
    ReasoningStartEvent,
    RunErrorEvent,
    RunFinishedEvent,
    RunStartedEvent,
    StepFinishedEvent,
    StepStartedEvent,
    SubagentErrorEvent,
    SubagentFinishedEvent,
    SubagentStartedEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
)

from client_sdk.errors import ProtocolError
from client_sdk.protocol.notes import Notes

Owner = str | None
Kind = Literal["message", "call", "reasoning", "span", "step"]
RunState = Literal["idle", "active", "finished", "failed"]

_NOUNS: Final[dict[Kind, str]] = {
    "message": "text message",
    "call": "tool call",
    "reasoning": "reasoning message",
    "span": "reasoning span",
    "step": "step",
}

_OTHER: Final = "any other"
_RUN_ROWS: Final[dict[RunState, dict[str, RunState]]] = {
    "idle": {"RUN_STARTED": "active", "RUN_ERROR": "failed"},
    "active": {"RUN_FINISHED": "finished", "RUN_ERROR": "failed", _OTHER: "active"},
    "finished": {"RUN_STARTED": "active", "RUN_ERROR": "failed"},
    "failed": {"RUN_STARTED": "active"},
}
_RUN_EVENTS: Final = frozenset({RunStartedEvent, RunFinishedEvent, RunErrorEvent})
_ILLEGAL: Final[dict[RunState, tuple[str, str]]] = {
    "idle": ("first_event", "a stream begins with RUN_STARTED or RUN_ERROR, not with {0}"),
    "active": ("nested_run", "{0} while the run {1!r} is still active: it must end first"),
    "finished": ("event_after_close", "{0} after the run {1!r} has finished: only RUN_STARTED or RUN_ERROR may follow"),
    "failed": ("event_after_close", "{0} after the run {1!r} has failed: only RUN_STARTED may follow"),
}

_WIRE: Final = {"message_id": "/messageId", "tool_call_id": "/toolCallId", "step_name": "/stepName"}


def _name(owner: Owner) -> str:
    return "the parent agent" if owner is None else f"subagent {owner!r}"


_ABSENT: Final[Any] = object()


class _Items:
    """Open sets and owners of one run (LC-7: none of it outlives the run)."""

    __slots__ = ("active_subagents", "ended_subagents", "open", "owners")

    def __init__(self) -> None:
        self.open: dict[Kind, dict[Any, Owner]] = {"message": {}, "call": {}, "reasoning": {}, "span": {}, "step": {}}
        # An id is unique within a kind only; a span and the message inside it may share one (RE-1).
        self.owners: dict[str, dict[str, Owner]] = {
            kind: {} for kind in ("message", "call", "reasoning", "span", "activity")
        }
        self.active_subagents: dict[str, None] = {}
        self.ended_subagents: set[str] = set()

    def left_open(self) -> Iterable[tuple[str, str]]:
        for kind, ids in self.open.items():
            for key in ids:
                yield _NOUNS[kind], key[1] if kind == "step" else key
        for subagent in self.active_subagents:
            yield "subagent", subagent


class Verifier:
    """The order stage: passes an event on or rejects the stream."""

    __slots__ = ("_items", "_notes", "_run_id", "state")

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._items = _Items()
        self._run_id = ""
        self.state: RunState = "idle"

    def verify(self, event: Event) -> None:
        """Pass one expanded event, or reject the stream.

        Raises:
            ProtocolError: one of the codes in the tables above, ``still_open``
                (ST-4), ``attribution_mismatch`` (SA-2, SA-5),
                ``subagent_lifecycle`` (SA-1) or ``duplicate_interrupt`` (IR-1).
        """
        kind = event.__class__
        if self.state != "active" or kind in _RUN_EVENTS:
            self._run_transition(event)
        row = _ROWS.get(kind)
        if row is not None:
            check, act, item, attribute = row
            if check is not None:
                check(self, event)
            if act is not None:
                act(self, event, item, attribute)

    # The run.

    def _run_transition(self, event: Event) -> None:
        key = event.type.value if event.__class__ in _RUN_EVENTS else _OTHER
        following = _RUN_ROWS[self.state].get(key)
        if following is None:
            code, text = _ILLEGAL[self.state]
            raise self._notes.fatal(code, text.format(event.type.value, self._run_id))
        if key == "RUN_FINISHED":
            self._finish(event)
        if key == "RUN_STARTED":
            self._start(event)
        self.state = following

    def _start(self, event: Any) -> None:
        self._items = _Items()
        self._run_id = event.run_id
        if event.input is not None:
            self._adopt(event.input.messages, authoritative=False)

    def _finish(self, event: Any) -> None:
        left = list(self._items.left_open())
        if left:
            listed = ", ".join(f"{noun} {identity!r}" for noun, identity in left)
            raise self._notes.fatal(
                "still_open",
                f"RUN_FINISHED of run {self._run_id!r} while still open: {listed}; the producer must close them first",
                ids=tuple(identity for _, identity in left),
            )
        if event.outcome is not None and event.outcome.type == "interrupt":
            self._unique_interrupts(event.outcome.interrupts)

    def _unique_interrupts(self, interrupts: list[Any]) -> None:
        seen: set[str] = set()
        for index, interrupt in enumerate(interrupts):
            if interrupt.id in seen:
                raise self._notes.fatal(
                    "duplicate_interrupt",
                    f"two interrupts of {self._run_id!r} share the id {interrupt.id!r}: one answer would serve both",
                    path=f"/outcome/interrupts/{index}/id",
                    ids=(interrupt.id,),
                )
            seen.add(interrupt.id)

    # Items.

    def _opens(self, event: Any, kind: Kind, attribute: str) -> None:
        identity: str = getattr(event, attribute)
        opened = self._items.open[kind]
        if identity in opened:
            raise self._already_open(event, kind, attribute, identity)
        opened[identity] = self._own(event, kind, identity, event.subagent_run_id)

    def needs(self, event: Any, kind: Kind, attribute: str) -> None:
        """Pass an event that continues an open item; :meth:`verify` does so too, by way of the tables.

        Raises:
            ProtocolError: as :meth:`verify`.
        """
        if self.state != "active":
            self._run_transition(event)
        identity: str = getattr(event, attribute)
        owner = self._items.open[kind].get(identity, _ABSENT)
        if owner is _ABSENT:
            raise self._not_open(event, kind, attribute, identity)
        tag = event.subagent_run_id
        if tag is not None and tag != owner:
            raise self._mismatch(event, f"the {_NOUNS[kind]} {identity!r}", identity, owner)

    def _closes(self, event: Any, kind: Kind, attribute: str) -> None:
        self.needs(event, kind, attribute)
        del self._items.open[kind][getattr(event, attribute)]

    def _step_opens(self, event: Any, kind: Kind, attribute: str) -> None:
        # LC-8: a step belongs to its owner, and two owners may each have one of the same name open.
        key = (event.subagent_run_id, event.step_name)
        if key in self._items.open[kind]:
            raise self._already_open(event, kind, attribute, event.step_name)
        self._items.open[kind][key] = event.subagent_run_id

    def _step_closes(self, event: Any, kind: Kind, attribute: str) -> None:
        key = (event.subagent_run_id, event.step_name)
        if key not in self._items.open[kind]:
            raise self._not_open(event, kind, attribute, event.step_name)
        del self._items.open[kind][key]

    def _own(self, event: Any, kind: Kind, identity: str, tag: Owner) -> Owner:
        """The owner of an item being opened: the first opener's claim stands for the whole run."""
        owners = self._items.owners[kind]
        if identity not in owners:
            owners[identity] = tag
            return tag
        owner = owners[identity]
        if tag is not None and tag != owner:
            raise self._mismatch(event, f"the {_NOUNS[kind]} {identity!r}", identity, owner)
        return owner

    def _already_open(self, event: Any, kind: Kind, attribute: str, identity: str) -> ProtocolError:
        return self._notes.fatal(
            "already_open",
            f"the producer sent {event.type.value} for the {_NOUNS[kind]} {identity!r}, which is already open: "
            "it must be closed first",
            path=_WIRE[attribute],
            ids=(identity,),
        )

    def _not_open(self, event: Any, kind: Kind, attribute: str, identity: str) -> ProtocolError:
        hint = "nothing opened it"
        if kind == "step":
            elsewhere = [owner for owner, name in self._items.open["step"] if name == identity]
            if elsewhere:
                hint = f"{_name(elsewhere[0])} has it open, and only its owner may finish it"
        return self._notes.fatal(
            "not_open",
            f"the producer sent {event.type.value} for the {_NOUNS[kind]} {identity!r}, which is not open: {hint}",
            path=_WIRE[attribute],
            ids=(identity,),
        )

    def _mismatch(self, event: Any, what: str, identity: str, owner: Owner) -> ProtocolError:
        return self._notes.fatal(
            "attribution_mismatch",
            f"{event.type.value} claims {_name(event.subagent_run_id)} for {what}, which belongs to {_name(owner)}",
            path="/subagentRunId",
            ids=(identity,),
        )

    # Events that do more than open, continue or close.

    def _adopt(self, messages: Iterable[Any], *, authoritative: bool) -> None:
        """Take owners from restated history: a snapshot rewrites them, an echoed input only adds."""
        for message in messages:
            bucket = message.role if message.role in ("reasoning", "activity") else "message"
            owners = self._items.owners[bucket]
            if authoritative or message.id not in owners:
                owners[message.id] = message.subagent_run_id
            for call in (message.tool_calls or ()) if message.role == "assistant" else ():
                if authoritative or call.id not in self._items.owners["call"]:
                    self._items.owners["call"][call.id] = message.subagent_run_id

    def _messages_snapshot(self, event: Any) -> None:
        self._adopt(event.messages, authoritative=True)

    def _call_start(self, event: Any) -> None:
        """A call belongs to the owner of the message that holds it (SA-5)."""
        if event.tool_call_id in self._items.open["call"]:
            return
        holder = event.parent_message_id if event.parent_message_id is not None else event.tool_call_id
        messages, calls = self._items.owners["message"], self._items.owners["call"]
        if event.parent_message_id is not None and holder in messages:
            owner = messages[holder]
            if event.subagent_run_id not in (None, owner) or calls.get(event.tool_call_id, owner) != owner:
                raise self._mismatch(event, f"a tool call in the message {holder!r}", event.tool_call_id, owner)
        else:
            owner = calls.get(event.tool_call_id, event.subagent_run_id)
            messages.setdefault(holder, owner)
        calls.setdefault(event.tool_call_id, owner)

    def _call_result(self, event: Any) -> None:
        self._items.owners["message"][event.message_id] = event.subagent_run_id

    def _activity_snapshot(self, event: Any) -> None:
        owners = self._items.owners["activity"]
        if event.replace is not False or event.message_id not in owners:
            owners[event.message_id] = event.subagent_run_id

    def _activity_delta(self, event: Any) -> None:
        self._continue(event, event.message_id, "the activity", "activity")

    def _encrypted_value(self, event: Any) -> None:
        if event.subtype == "tool-call":
            self._continue(event, event.entity_id, "the tool call", "call")
        elif event.entity_id in self._items.owners["message"]:
            self._continue(event, event.entity_id, "the message", "message")
        else:
            self._continue(event, event.entity_id, "the reasoning message", "reasoning")

    def _continue(self, event: Any, identity: str, noun: str, bucket: str) -> None:
        owners = self._items.owners[bucket]
        if event.subagent_run_id is not None and owners.get(identity, event.subagent_run_id) != event.subagent_run_id:
            raise self._mismatch(event, f"{noun} {identity!r}", identity, owners[identity])

    # Subagents (SA-1).

    def _lifecycle(self, event: Any, problem: str, path: str = "/subagentRunId") -> ProtocolError:
        return self._notes.fatal(
            "subagent_lifecycle",
            f"{event.type.value} for subagent {event.subagent_run_id!r}: {problem}",
            path=path,
            ids=(event.subagent_run_id,),
        )

    def _subagent_started(self, event: Any) -> None:
        active, ended = self._items.active_subagents, self._items.ended_subagents
        if event.subagent_run_id in active:
            raise self._lifecycle(event, "it is already active")
        if event.subagent_run_id in ended:
            raise self._lifecycle(event, "it has already ended in this run, and an id names one invocation")
        parent = event.parent_subagent_run_id
        if parent is not None and parent not in active and parent not in ended:
            raise self._lifecycle(event, f"its parent {parent!r} was never started", "/parentSubagentRunId")
        active[event.subagent_run_id] = None

    def _subagent_ended(self, event: Any) -> None:
        if event.subagent_run_id not in self._items.active_subagents:
            raise self._lifecycle(event, "it is not active")
        del self._items.active_subagents[event.subagent_run_id]
        self._items.ended_subagents.add(event.subagent_run_id)


_Act = Callable[[Verifier, Any, Kind, str], None]

_ITEMS_ROWS: Final[dict[type, tuple[_Act, Kind, str]]] = {
    TextMessageStartEvent: (Verifier._opens, "message", "message_id"),
    TextMessageContentEvent: (Verifier.needs, "message", "message_id"),
    TextMessageEndEvent: (Verifier._closes, "message", "message_id"),
    ToolCallStartEvent: (Verifier._opens, "call", "tool_call_id"),
    ToolCallArgsEvent: (Verifier.needs, "call", "tool_call_id"),
    ToolCallEndEvent: (Verifier._closes, "call", "tool_call_id"),
    ReasoningMessageStartEvent: (Verifier._opens, "reasoning", "message_id"),
    ReasoningMessageContentEvent: (Verifier.needs, "reasoning", "message_id"),
    ReasoningMessageEndEvent: (Verifier._closes, "reasoning", "message_id"),
    ReasoningStartEvent: (Verifier._opens, "span", "message_id"),
    ReasoningEndEvent: (Verifier._closes, "span", "message_id"),
    StepStartedEvent: (Verifier._step_opens, "step", "step_name"),
    StepFinishedEvent: (Verifier._step_closes, "step", "step_name"),
}

CONTINUED: Final[dict[type, tuple[Kind, str]]] = {
    kind: (item, attribute) for kind, (act, item, attribute) in _ITEMS_ROWS.items() if act is Verifier.needs
}
"""What an event that continues something continues: the kind of item, and the attribute with its id."""

_CHECKS: Final[dict[type, Callable[[Verifier, Any], None]]] = {
    MessagesSnapshotEvent: Verifier._messages_snapshot,
    ToolCallStartEvent: Verifier._call_start,
    ToolCallResultEvent: Verifier._call_result,
    ActivitySnapshotEvent: Verifier._activity_snapshot,
    ActivityDeltaEvent: Verifier._activity_delta,
    ReasoningEncryptedValueEvent: Verifier._encrypted_value,
    SubagentStartedEvent: Verifier._subagent_started,
    SubagentFinishedEvent: Verifier._subagent_ended,
    SubagentErrorEvent: Verifier._subagent_ended,
}

_ROWS: Final = {
    kind: (_CHECKS.get(kind), *_ITEMS_ROWS.get(kind, (None, "message", ""))) for kind in {**_ITEMS_ROWS, **_CHECKS}
}
