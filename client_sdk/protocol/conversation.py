"""The conversation: what verified events build, messages, tool calls and state.

Reducers here trust their input: enforcement judged every value and order
verification every sequence, so an id that is continued is known. Deltas are
buffered and joined when somebody reads, and each message is rebuilt only when
it changed, so an event costs the same however long the history is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Any, Final

from ag_ui.core import (
    ActivityDeltaEvent,
    ActivityMessage,
    ActivitySnapshotEvent,
    AssistantMessage,
    DeveloperMessage,
    Event,
    FunctionCall,
    Message,
    MessagesSnapshotEvent,
    ReasoningEncryptedValueEvent,
    ReasoningMessage,
    ReasoningMessageContentEvent,
    ReasoningMessageEndEvent,
    ReasoningMessageStartEvent,
    RunStartedEvent,
    StateDeltaEvent,
    StateSnapshotEvent,
    SystemMessage,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    TextPart,
    ToolCall,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallResultEvent,
    ToolCallStartEvent,
    ToolMessage,
    UserMessage,
)

from client_sdk.protocol.notes import Notes
from client_sdk.protocol.patching import PatchFailed, apply_patch

_TEXT_ROLES: Final[dict[str, type]] = {
    "developer": DeveloperMessage,
    "system": SystemMessage,
    "assistant": AssistantMessage,
    "user": UserMessage,
}


class CallPhase(StrEnum):
    """How far a tool call has come."""

    STREAMING = "streaming"
    """Arguments are still arriving: they may be shown, never acted upon (TC-2)."""
    COMPLETE = "complete"
    """The argument text is complete, which does not make it valid (TC-3)."""
    ANSWERED = "answered"
    """A tool message answers it."""


class MessageView:
    """One message of the conversation, growing while it streams.

    Attributes:
        id: the message's id.
        role: its role.
        streaming: True between its START and its END.
        calls: the tool calls it holds, in the order they were made.
    """

    __slots__ = ("_buffer", "_changes", "_kind", "_message", "calls", "id", "role", "streaming")

    def __init__(self, message: Message) -> None:
        self.streaming = False
        self.load(message)

    @classmethod
    def made(cls, kind: type[Any], role: str, identity: str, **fields: Any) -> MessageView:
        """A message that events make up: its model is built when somebody first reads it.

        Args:
            kind: the model's class.
            role: its role.
            identity: its id.
            fields: its other fields, judged already.
        """
        view = cls.__new__(cls)
        view.streaming = False
        view._kind = kind
        view._message = None
        view._buffer = None
        view._changes = fields
        view.id = identity
        view.role = role
        view.calls = ()
        return view

    def load(self, message: Message) -> None:
        """Hold `message` instead of what was held."""
        self._kind: type[Any] | None = None
        self._message: Message | None = message
        # Made when first needed: most messages of a long history never change.
        self._buffer: list[str] | None = None
        self._changes: dict[str, Any] | None = None
        self.id: str = message.id
        self.role: str = message.role
        self.calls: list[CallView] | tuple[()] = ()

    @property
    def message(self) -> Message:
        """The message as it is now, an ``ag_ui.core`` model that later events do not change."""
        if self._buffer is not None:
            self.change(content=self._joined())
            self._buffer = None
        if any(call.changed for call in self.calls):
            self.change(tool_calls=[call.settled() for call in self.calls])
        if self._message is None:
            assert self._kind is not None  # one of the two there is
            self._message = self._kind(id=self.id, **(self._changes or {}))
        elif self._changes is not None:
            self._message = self._message.model_copy(update=self._changes)
        self._changes = None
        return self._message

    @property
    def content(self) -> Any:
        """The content as it is now, without building the message."""
        return self.message.content if self._buffer is not None else self._held("content")

    @property
    def subagent_run_id(self) -> str | None:
        """The subagent the message belongs to, None for the parent agent; without building the message."""
        held: str | None = self._held("subagent_run_id")
        return held

    def _held(self, name: str) -> Any:
        if self._changes is not None and name in self._changes:
            return self._changes[name]
        return None if self._message is None else getattr(self._message, name)

    def _joined(self) -> Any:
        held = self._held("content")
        text = "".join(self._buffer or ())
        if isinstance(held, list):
            return [*held, TextPart(text=text)] if text else held
        return (held or "") + text

    def append(self, delta: str) -> None:
        """Add a piece of text (ST-5: joined in order, exactly)."""
        if self._buffer is None:
            self._buffer = [delta]
        else:
            self._buffer.append(delta)

    def change(self, **fields: Any) -> None:
        """Set fields of the message."""
        self._changes = fields if self._changes is None else {**self._changes, **fields}

    def merge_metadata(self, metadata: dict[str, Any] | None) -> None:
        """MD-1: key by key, the last write wins, nothing is merged inside a value."""
        if metadata is not None:
            self.change(metadata={**(self._held("metadata") or {}), **metadata})

    def adopt(self, call: CallView) -> None:
        """Take a view of a call into the message."""
        if isinstance(self.calls, list):
            self.calls.append(call)
        else:
            self.calls = [call]


class CallView:
    """One tool call of the conversation: name, arguments, phase, answer.

    Attributes:
        id: the ``toolCallId``.
        name: the tool it names; untrusted text.
        phase: see `CallPhase`.
        holder: the assistant message that holds it.
        result: the tool message that answers it, or None.
        changed: whether the message that holds it has to be built anew.
    """

    __slots__ = ("_arguments", "changed", "encrypted_value", "holder", "id", "metadata", "name", "phase", "result")

    def __init__(self, identity: str, name: str, holder: MessageView) -> None:
        self.id = identity
        self.name = name
        self.holder = holder
        self.phase = CallPhase.STREAMING
        self.metadata: dict[str, Any] | None = None
        self.encrypted_value: str | None = None
        self.result: MessageView | None = None
        self.changed = True
        self._arguments: list[str] | None = None

    @classmethod
    def adopt(cls, call: ToolCall, holder: MessageView) -> CallView:
        """The view of a call that a message brought along."""
        view = cls(call.id, call.function.name, holder)
        view.phase = CallPhase.COMPLETE
        view.metadata = call.metadata
        view.encrypted_value = call.encrypted_value
        view.changed = False
        view._arguments = [call.function.arguments]
        return view

    @property
    def arguments(self) -> str:
        """The argument text so far, exactly as it came: untrusted, and a prefix until END (TC-2)."""
        if self._arguments is None:
            return ""
        if len(self._arguments) > 1:
            self._arguments = ["".join(self._arguments)]
        return self._arguments[0]

    @property
    def subagent_run_id(self) -> str | None:
        """Who owns the call: a call belongs to the owner of the message that holds it (SA-5)."""
        return self.holder.subagent_run_id

    @property
    def tool_call(self) -> ToolCall:
        """The call as an ``ag_ui.core`` model."""
        return ToolCall(
            id=self.id,
            function=FunctionCall(name=self.name, arguments=self.arguments),
            encrypted_value=self.encrypted_value,
            metadata=self.metadata,
        )

    def settled(self) -> ToolCall:
        """The call as a model, for the message that holds it: up to date from now on."""
        self.changed = False
        return self.tool_call

    def append(self, delta: str) -> None:
        """Add a piece of the argument text."""
        self.changed = True
        if self._arguments is None:
            self._arguments = [delta]
        else:
            self._arguments.append(delta)

    def merge_metadata(self, metadata: dict[str, Any] | None) -> None:
        if metadata is not None:
            self.metadata = {**(self.metadata or {}), **metadata}
            self.changed = True


_NO_STATE: Final[Any] = object()


class Conversation:
    """Messages, tool calls and state, built one verified event at a time.

    Args:
        messages: the messages held so far, in order.
        state: the state held so far, any JSON value; ``{}`` when nothing was agreed (SN-3).
    """

    def __init__(self, messages: Iterable[Message] = (), state: Any = _NO_STATE) -> None:
        self._notes = Notes()
        self._views: list[MessageView] = []
        self._by_id: dict[str, MessageView] = {}
        self._calls: dict[str, CallView] = {}
        self._answers: dict[str, MessageView] = {}
        self.state = {} if state is _NO_STATE else state
        for message in messages:
            self._append(message)

    def attach(self, notes: Notes) -> None:
        """Record deviations in `notes` from now on: each run's pipeline has its own."""
        self._notes = notes

    # Reading.

    @property
    def messages(self) -> list[Message]:
        """The messages in order, as ``ag_ui.core`` models."""
        return [view.message for view in self._views]

    @property
    def views(self) -> Sequence[MessageView]:
        """The messages in order, as live views."""
        return tuple(self._views)

    @property
    def tool_calls(self) -> list[CallView]:
        """Every tool call of the conversation, in the order the calls were made."""
        return [call for view in self._views for call in view.calls]

    def view(self, message_id: str) -> MessageView | None:
        """The message called `message_id`, or None."""
        return self._by_id.get(message_id)

    def call(self, tool_call_id: str) -> CallView | None:
        """The tool call called `tool_call_id`, or None."""
        return self._calls.get(tool_call_id)

    # Writing, for the application's own messages.

    def add(self, message: Message) -> MessageView:
        """Append `message`; one whose id is known replaces what is held."""
        known = self._by_id.get(message.id)
        if known is None:
            return self._append(message)
        self._replace(known, message)
        return known

    def retract(self, view: MessageView) -> None:
        """Take a message out again, one of the application's own that went nowhere."""
        self._unlink(view)
        self._views.remove(view)
        if self._by_id.get(view.id) is view:
            del self._by_id[view.id]

    def add_answer(self, message: ToolMessage) -> MessageView:
        """Place a tool message behind the call it answers, after answers already there (TC-4).

        Restated under its own id it replaces itself; it never takes the place of another message.
        """
        held = self._answers.get(message.tool_call_id)
        if held is not None and held.id == message.id:
            self._replace(held, message)
            return held
        call = self._calls.get(message.tool_call_id)
        return self._append(message, None if call is None else self._after(call.holder))

    def _append(self, message: Message, position: int | None = None) -> MessageView:
        view = self._place(MessageView(message), position)
        self._link(view)
        return view

    def _place(self, view: MessageView, position: int | None = None) -> MessageView:
        # Ids should be unique. Where a producer uses one twice, both messages stay, and the id means the first.
        self._by_id.setdefault(view.id, view)
        if position is None or position == len(self._views):
            self._views.append(view)
        else:
            self._views.insert(position, view)
        return view

    def _after(self, holder: MessageView) -> int:
        # From the end: the message a result belongs to is almost always among the last.
        position = len(self._views)
        while position and self._views[position - 1] is not holder:
            position -= 1
        while position < len(self._views) and self._views[position].role == "tool":
            position += 1
        return position

    def _replace(self, view: MessageView, message: Message) -> None:
        self._unlink(view)
        view.load(message)
        self._link(view)

    def _link(self, view: MessageView) -> None:
        """Enter the calls a message brings, or the answer it is."""
        # By the class itself: asking pydantic's metaclass costs more than the rest of this.
        message: Any = view.message
        if message.__class__ is AssistantMessage:
            for call in message.tool_calls or ():
                adopted = self._calls[call.id] = CallView.adopt(call, view)
                view.adopt(adopted)
                self._settle(adopted)
        elif message.__class__ is ToolMessage:
            self._answer(message.tool_call_id, view)

    def _answer(self, tool_call_id: str, view: MessageView) -> None:
        self._answers[tool_call_id] = view
        answered = self._calls.get(tool_call_id)
        if answered is not None:
            self._settle(answered)

    def _unlink(self, view: MessageView) -> None:
        for call in view.calls:
            if self._calls.get(call.id) is call:
                del self._calls[call.id]
        message = view.message
        if isinstance(message, ToolMessage) and self._answers.get(message.tool_call_id) is view:
            del self._answers[message.tool_call_id]

    def _settle(self, call: CallView) -> None:
        """Give a call its answer, wherever in the conversation that stands (FT-2)."""
        call.result = self._answers.get(call.id)
        if call.phase is not CallPhase.STREAMING:
            call.phase = CallPhase.COMPLETE if call.result is None else CallPhase.ANSWERED

    # Reducing.

    def apply(self, event: Event) -> tuple[MessageView | None, CallView | None]:
        """Reduce one verified event; returns the message and the call it concerns."""
        reducer = _REDUCERS.get(event.__class__)
        return _NOTHING if reducer is None else reducer(self, event)

    def _text_start(self, event: Any) -> _Touched:
        role = event.role or "assistant"
        view = self._by_id.get(event.message_id)
        if view is None:
            view = self._place(
                MessageView.made(
                    _TEXT_ROLES[role],
                    role,
                    event.message_id,
                    content="",
                    name=event.name,
                    subagent_run_id=event.subagent_run_id,
                )
            )
        elif view.role not in _TEXT_ROLES:
            self._conflict(event.message_id, "a text message", view)
        if view.role == "activity":
            return None, None
        view.streaming = True
        view.merge_metadata(event.metadata)
        return view, None

    def _conflict(self, identity: str, what: str, held: MessageView) -> None:
        self._notes.warn(
            "message_id_conflict", "/messageId", f"{what} names the id {identity!r}, which a {held.role} message has"
        )

    def _is_answer_to(self, view: MessageView, tool_call_id: str) -> bool:
        message = view.message
        return isinstance(message, ToolMessage) and message.tool_call_id == tool_call_id

    def _text_content(self, event: Any) -> _Touched:
        view = self._by_id.get(event.message_id)
        if view is None or view.role == "activity":
            return self._lost(event)
        view.append(event.delta)
        if event.metadata is not None:
            view.merge_metadata(event.metadata)
        return view, None

    def _text_end(self, event: Any) -> _Touched:
        view = self._by_id.get(event.message_id)
        if view is None or view.role == "activity":
            return self._lost(event)
        view.streaming = False
        view.merge_metadata(event.metadata)
        return view, None

    def _lost(self, event: Any) -> _Touched:
        """A continuation of an item that a snapshot took away while it was open."""
        self._notes.warn(
            "message_gone",
            "/messageId" if hasattr(event, "message_id") else "/toolCallId",
            f"{event.type.value} continues an item that the conversation no longer holds; it has no effect",
        )
        return None, None

    def _reasoning_start(self, event: Any) -> _Touched:
        view = self._by_id.get(event.message_id)
        if view is None:
            view = self._place(
                MessageView.made(
                    ReasoningMessage,
                    "reasoning",
                    event.message_id,
                    content="",
                    subagent_run_id=event.subagent_run_id,
                )
            )
        elif view.role != "reasoning":
            self._conflict(event.message_id, "a reasoning message", view)
        if view.role == "activity":
            return None, None
        view.streaming = True
        view.merge_metadata(event.metadata)
        return view, None

    def _call_start(self, event: Any) -> _Touched:
        call = self._calls.get(event.tool_call_id)
        if call is None:
            holder = self._holder(event)
            call = self._calls[event.tool_call_id] = CallView(event.tool_call_id, event.tool_call_name, holder)
            holder.adopt(call)
            self._settle(call)
        else:
            # ST-6: a reopened call goes on; its name and place stand.
            call.phase = CallPhase.STREAMING
        call.merge_metadata(event.metadata)
        return call.holder, call

    def _holder(self, event: Any) -> MessageView:
        """TC-1: the assistant message a call lands in, made up where there is none."""
        parent = None if event.parent_message_id is None else self._by_id.get(event.parent_message_id)
        if parent is not None and parent.role == "assistant":
            return parent
        identity = event.parent_message_id
        if parent is not None:
            self._notes.warn(
                "message_id_conflict",
                "/parentMessageId",
                f"the call {event.tool_call_id!r} names the {parent.role} message {parent.id!r} as its parent; "
                "only an assistant message holds calls, so it gets one of its own",
            )
            identity = None
        if not identity:
            identity = event.tool_call_id
            if identity in self._by_id:
                self._conflict(identity, "the message made up to hold it", self._by_id[identity])
        return self._place(
            MessageView.made(AssistantMessage, "assistant", identity, subagent_run_id=event.subagent_run_id)
        )

    def _call_args(self, event: Any) -> _Touched:
        call = self._calls.get(event.tool_call_id)
        if call is None:
            return self._lost(event)
        call.append(event.delta)
        if event.metadata is not None:
            call.merge_metadata(event.metadata)
        return call.holder, call

    def _call_end(self, event: Any) -> _Touched:
        call = self._calls.get(event.tool_call_id)
        if call is None:
            return self._lost(event)
        call.phase = CallPhase.COMPLETE
        self._settle(call)
        call.merge_metadata(event.metadata)
        return call.holder, call

    def _call_result(self, event: Any) -> _Touched:
        """TC-4: a message in its own right; it does not reopen the call it answers."""
        taken = self._by_id.get(event.message_id)
        if taken is not None and not self._is_answer_to(taken, event.tool_call_id):
            self._conflict(event.message_id, f"the result of the call {event.tool_call_id!r}", taken)
        call = self._calls.get(event.tool_call_id)
        said = {
            "tool_call_id": event.tool_call_id,
            "content": event.content,
            "subagent_run_id": event.subagent_run_id,
        }
        held = self._answers.get(event.tool_call_id)
        if held is not None and held.id == event.message_id:
            view = held
            self._replace(view, ToolMessage(id=event.message_id, **said))
        else:
            made = MessageView.made(ToolMessage, "tool", event.message_id, **said)
            view = self._place(made, None if call is None else self._after(call.holder))
            self._answer(event.tool_call_id, view)
        view.merge_metadata(event.metadata)
        return view, call

    def _state_snapshot(self, event: Any) -> _Touched:
        self.state = event.snapshot
        return None, None

    def _state_delta(self, event: Any) -> _Touched:
        try:
            self.state = apply_patch(self.state, event.delta)
        except PatchFailed as problem:
            self._notes.warn("patch_failed", "/delta", f"the state stays as it was: {problem}")
        return None, None

    def _messages_snapshot(self, event: Any) -> _Touched:
        """SN-4: known ids in place, new ones appended, the absent dropped unless the producer cannot know them."""
        streaming = [call.id for call in self._calls.values() if call.phase is CallPhase.STREAMING]
        spared = {"activity", "reasoning"} - {message.role for message in event.messages}
        brought: dict[str, deque[Message]] = {}
        for message in event.messages:
            brought.setdefault(message.id, deque()).append(message)
        held, self._views, self._by_id = self._views, [], {}
        for view in held:
            restated = brought.get(view.id)
            if restated:
                self._keep(view)
                self._replace(view, restated.popleft())
            elif view.role in spared:
                self._keep(view)
            else:
                self._unlink(view)
        for message in event.messages:
            if brought[message.id]:
                self._append(brought[message.id].popleft())
        for identity in streaming:
            if identity in self._calls:
                self._calls[identity].phase = CallPhase.STREAMING
        for call in self._calls.values():
            self._settle(call)
        return None, None

    def _keep(self, view: MessageView) -> None:
        self._views.append(view)
        self._by_id.setdefault(view.id, view)

    def _activity_snapshot(self, event: Any) -> _Touched:
        view = self._by_id.get(event.message_id)
        if view is None or (view.role != "activity" and event.replace is not False):
            fresh = ActivityMessage(
                id=event.message_id,
                activity_type=event.activity_type,
                content=event.content,
                subagent_run_id=event.subagent_run_id,
            )
            view = self.add(fresh)
        elif event.replace is not False:
            view.change(activity_type=event.activity_type, content=event.content, subagent_run_id=event.subagent_run_id)
        if view.role == "activity":
            view.merge_metadata(event.metadata)
        return view, None

    def _activity_delta(self, event: Any) -> _Touched:
        view = self._by_id.get(event.message_id)
        if view is None or view.role != "activity":
            held = "there is no such message" if view is None else f"that is a {view.role} message"
            self._notes.warn(
                "activity_target_missing", "/messageId", f"no activity {event.message_id!r} to patch: {held}; skipped"
            )
            return None, None
        # Metadata does not depend on the patch: a stale path must not cost the activity its trace keys.
        view.merge_metadata(event.metadata)
        try:
            content = apply_patch(view.content, event.patch)
            if not isinstance(content, dict):
                raise PatchFailed("the result is no object, and an activity's content is one")
        except PatchFailed as problem:
            self._notes.warn("patch_failed", "/patch", f"activity {event.message_id!r} stays as it was: {problem}")
        else:
            view.change(content=content, activity_type=event.activity_type)
        return view, None

    def _encrypted_value(self, event: Any) -> _Touched:
        """RE-2: stored unread on what it names, to go back unchanged."""
        if event.subtype == "tool-call":
            call = self._calls.get(event.entity_id)
            if call is not None:
                call.encrypted_value = event.encrypted_value
                call.changed = True
                return call.holder, call
        else:
            view = self._by_id.get(event.entity_id)
            if view is not None and view.role != "activity":
                view.change(encrypted_value=event.encrypted_value)
                return view, None
        self._notes.warn(
            "encrypted_value_unclaimed",
            "/entityId",
            f"no {event.subtype} {event.entity_id!r} to hold the encrypted value; it is not kept",
        )
        return None, None

    def _run_started(self, event: Any) -> _Touched:
        """History echoed by the producer: what is not held yet is added, what is held stands."""
        for message in event.input.messages if event.input is not None else ():
            if message.id not in self._by_id:
                self._append(message)
        return None, None


_Touched = tuple[MessageView | None, CallView | None]
_NOTHING: Final[_Touched] = (None, None)

_REDUCERS: Final[dict[type, Callable[[Conversation, Any], _Touched]]] = {
    TextMessageStartEvent: Conversation._text_start,
    TextMessageContentEvent: Conversation._text_content,
    TextMessageEndEvent: Conversation._text_end,
    ReasoningMessageStartEvent: Conversation._reasoning_start,
    ReasoningMessageContentEvent: Conversation._text_content,
    ReasoningMessageEndEvent: Conversation._text_end,
    ToolCallStartEvent: Conversation._call_start,
    ToolCallArgsEvent: Conversation._call_args,
    ToolCallEndEvent: Conversation._call_end,
    ToolCallResultEvent: Conversation._call_result,
    StateSnapshotEvent: Conversation._state_snapshot,
    StateDeltaEvent: Conversation._state_delta,
    MessagesSnapshotEvent: Conversation._messages_snapshot,
    ActivitySnapshotEvent: Conversation._activity_snapshot,
    ActivityDeltaEvent: Conversation._activity_delta,
    ReasoningEncryptedValueEvent: Conversation._encrypted_value,
    RunStartedEvent: Conversation._run_started,
}

CONTINUATIONS: Final[dict[type, Callable[[Conversation, Any], _Touched]]] = {
    kind: _REDUCERS[kind] for kind in (TextMessageContentEvent, ReasoningMessageContentEvent, ToolCallArgsEvent)
}
"""The reducers of what makes up most of a stream: events that continue an open item."""
