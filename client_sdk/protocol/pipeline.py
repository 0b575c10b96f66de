"""The pipeline: the stages in the one order every path uses (PL-1).

Feed and drain: ``feed`` takes one frame's payload and returns the updates it
caused; when a rule is broken it returns what came before the break, and
``error`` holds the `ProtocolError` from then on. Nothing here awaits. With
middleware installed, the pipeline is driven in two halves, ``decode`` before
and ``feed_raw`` after it.
"""

from __future__ import annotations

import re
from typing import Any

from ag_ui.core import Event, Message, SubagentFinishedEvent, TextMessageContentEvent, ToolCallResultEvent
from pydantic import ValidationError
from pydantic_core import from_json

from client_sdk.diagnostics import Diagnostic
from client_sdk.errors import ProtocolError
from client_sdk.protocol.chunks import CHUNK_EVENTS, Expander
from client_sdk.protocol.compat import Compatibility, Peer
from client_sdk.protocol.conversation import CONTINUATIONS, CallView, Conversation, MessageView
from client_sdk.protocol.enforce import CutText, Enforcer
from client_sdk.protocol.notes import Notes
from client_sdk.protocol.order import CONTINUED, Verifier
from client_sdk.protocol.runs import Ledger, RunStatus
from client_sdk.protocol.surrogates import Seams, mend_all, read_json
from client_sdk.protocol.vocabulary import EVENT_ADAPTER, FIXED_FIELDS, FLAT_EVENTS, OPEN_EVENTS

_validate = EVENT_ADAPTER.validator.validate_json
_HUGE = re.compile(r"[:,\[\s]-?[0-9][0-9.]*(?:[eE]\+?[0-9]{3}|(?<=[0-9]{200}))")
"""What may be a number too large for a float. It stands where a JSON number does, as ids are full of digits and
letters e; strings that look like one all the same are no matter."""
_CONTINUED = {kind: (*CONTINUED[kind], reduce) for kind, reduce in CONTINUATIONS.items()}
"""How each event that continues an open item is verified and reduced."""
_REQUIRED_OF_A_CONTINUATION = 3
"""Its type, the id of what it continues, and its delta."""


def _is_settled(event: Any, payload: str | bytes) -> bool:
    """Whether nothing is left to translate or strip in a validated event.

    The same verdict as the long way, reached without building a dictionary: for an
    event whose only described members are its own, unknown keys and nulls are all
    that could be left to judge. In open data a number may be none, which pydantic does not mind: what
    could be one is left to the long way.
    """
    if event.__pydantic_extra__ or event.metadata is not None or event.raw_event is not None:
        return False
    text = payload if isinstance(payload, str) else payload.decode("utf-8", "replace")
    if "null" in text:
        return False
    kind = event.__class__
    if kind in FIXED_FIELDS and not FIXED_FIELDS[kind] <= event.__pydantic_fields_set__:
        return False
    if kind in FLAT_EVENTS or (kind is ToolCallResultEvent and event.content.__class__ is str):
        return True
    if kind in OPEN_EVENTS or (kind is SubagentFinishedEvent and event.outcome is None):
        return not ("NaN" in text or "Infinity" in text or _HUGE.search(text))
    return False


class Update:
    """One delivered event and what it concerns.

    Attributes:
        event: the event, an ``ag_ui.core`` model; chunks arrive expanded.
        diagnostics: what was tolerated on the way to it.
    """

    __slots__ = ("_call", "_view", "diagnostics", "event")

    def __init__(
        self,
        event: Event,
        view: MessageView | None = None,
        call: CallView | None = None,
        diagnostics: tuple[Diagnostic, ...] = (),
    ) -> None:
        self.event = event
        self._view = view
        self._call = call
        self.diagnostics = diagnostics

    @property
    def message(self) -> Message | None:
        """The message the event concerns, as it is now; None for events that concern none."""
        return None if self._view is None else self._view.message

    @property
    def message_id(self) -> str | None:
        """The id of that message, without building it."""
        return None if self._view is None else self._view.id

    @property
    def tool_call(self) -> CallView | None:
        """The tool call the event concerns, a live view with its phase; None for other events."""
        return self._call

    @property
    def delta(self) -> str | None:
        """The piece of text, of reasoning or of a call's arguments the event adds, None for other events."""
        return getattr(self.event, "delta", None) if self._view is not None else None

    @property
    def text(self) -> str | None:
        """The piece of a text message the event adds, None for other events, arguments and reasoning among them."""
        return self.event.delta if isinstance(self.event, TextMessageContentEvent) else None

    def __repr__(self) -> str:
        return f"Update({self.event!r})"


class Pipeline:
    """Everything between a frame's payload and the conversation.

    Args:
        thread_id: the input's thread id; None takes the stream's first (replay).
        conversation: what the thread holds; the run goes on from it and changes it. None starts an empty one.
        peer_version: what the peer is known to speak at most, such as ``"0.0.57"`` (VE-3).

    Raises:
        ValueError: when `peer_version` is not dot-separated numbers.
    """

    def __init__(
        self,
        *,
        thread_id: str | None = None,
        conversation: Conversation | None = None,
        peer_version: str | None = None,
    ) -> None:
        self._notes = Notes()
        peer = Peer(peer_version)
        self._compat = Compatibility(self._notes, peer)
        self._enforcer = Enforcer(self._notes)
        self._expander = Expander(self._notes)
        self._seams = Seams(self._notes)
        # While both are empty there is nothing to assemble, and most events pass as they are.
        self._lanes, self._halves = self._expander.lanes, self._seams.held
        self._verifier = Verifier(self._notes)
        self._plain = not peer.predates_subagents
        self._decoded = -1
        self._fed = -1
        self.conversation = Conversation() if conversation is None else conversation
        self.conversation.attach(self._notes)
        self.ledger = Ledger(self._notes, self.conversation, thread_id)
        self.diagnostics: list[Diagnostic] = []
        self.error: ProtocolError | None = None

    # The whole way, for streams without middleware.

    def feed(self, payload: str | bytes) -> list[Update]:
        """Take one frame's payload, JSON text, through every stage.

        Returns:
            The updates it caused, in order. When a rule is broken, `error` is
            set and the updates are those from before the break (PL-4).
        """
        if self.error is not None:
            return []
        try:
            event: Any = _validate(payload, strict=True, by_alias=True, by_name=False)
        except ValidationError:
            return self._the_long_way(payload)
        continued = _CONTINUED.get(event.__class__)
        # An unknown property may bear a field's Python name, and is no further member of the set then.
        shortest = (
            continued is not None
            and len(event.__pydantic_fields_set__) == _REQUIRED_OF_A_CONTINUATION
            and not event.__pydantic_extra__
        )
        if not self._plain or not (shortest or _is_settled(event, payload)):
            return self._the_long_way(payload)
        notes = self._notes
        self._decoded = notes.index = self._decoded + 1
        notes.event_type = event.type
        updates: list[Update] = []
        try:
            if continued is None or self._lanes or self._halves:
                self._deliver(event, updates)
            else:
                # Most of a stream: what continues an item is nothing to the ledger.
                item, attribute, reduce = continued
                self._verifier.needs(event, item, attribute)
                view, call = reduce(self.conversation, event)
                updates.append(Update(event, view, call, self._collect() if notes.pending else ()))
        except ProtocolError as error:
            self._reject(error)
        return updates

    def _the_long_way(self, payload: str | bytes) -> list[Update]:
        return [update for raw in self.decode(payload) for update in self.feed_raw(raw, index=self._decoded)]

    # The two halves, with middleware in between.

    def decode(self, payload: str | bytes) -> list[dict[str, Any]]:
        """Frame to raw events: JSON, then compatibility translation (PR-1, VE-2).

        Returns:
            The raw events middleware sees; none, with `error` set, when the
            frame is no event.
        """
        self._decoded += 1
        self._notes.index = self._decoded
        self._notes.event_type = None
        try:
            raw = self._object(payload)
            self._notes.event_type = raw["type"]
            translated = self._compat.feed(raw)
        except ProtocolError as error:
            self._reject(error)
            return []
        if not translated:
            self._collect()
        # Otherwise what was tolerated here is told with the update that comes of it.
        return translated

    def feed_raw(self, raw: dict[str, Any], *, index: int | None = None) -> list[Update]:
        """Raw event to updates: enforcement, expansion, order, conversation.

        Args:
            raw: one raw event, as `decode` gave it or as middleware made it.
            index: its position on the wire; None counts the events fed.
        """
        if self.error is not None:
            return []
        updates: list[Update] = []
        try:
            self._fed += 1
            self._notes.index = self._fed if index is None else index
            self._notes.event_type = None
            self._notes.event_type = _type_of(raw, self._notes)
            self._judge(raw, updates)
        except ProtocolError as error:
            self._reject(error)
        self._collect()
        return updates

    def end(self) -> None:
        """The stream is over. A run without a terminal event is truncated (TR-1); nothing is invented."""
        if self.error is None:
            self._seams.end()
        self.ledger.end(RunStatus.REJECTED if self.error is not None else RunStatus.TRUNCATED)
        self._collect()

    def reject(self, error: ProtocolError) -> None:
        """Reject the stream for a reason found outside, by middleware say."""
        self._reject(error)

    def _judge(self, raw: dict[str, Any], updates: list[Update]) -> None:
        try:
            events = self._enforcer.feed(raw)
        except CutText:
            self._judge_cut(raw, updates)
            return
        for event in events:
            self._deliver(event, updates)

    def _judge_cut(self, raw: dict[str, Any], updates: list[Update]) -> None:
        """Judge an event with halves of surrogate pairs: the halves in a delta may be joined yet (ST-5)."""
        delta = raw.get("delta")
        streams = isinstance(delta, str)
        mended = mend_all({**raw, "delta": ""} if streams else raw, "", self._notes)
        for event in self._enforcer.feed(mended):
            if streams and "delta" in event.__class__.model_fields:
                event.delta = delta  # type: ignore[union-attr]
            self._assemble(event, updates)

    def _deliver(self, event: Event, updates: list[Update]) -> None:
        if self._lanes or self._halves or event.__class__ in CHUNK_EVENTS:
            self._assemble(event, updates)
        else:
            updates.append(self._take_in(event))

    def _assemble(self, event: Event, updates: list[Update]) -> None:
        for expanded in self._expander.feed(event):
            for whole in self._seams.feed(expanded):
                # One by one: what came before a rejected event stays delivered (PL-4).
                updates.append(self._take_in(whole))  # noqa: PERF401

    def _take_in(self, event: Event) -> Update:
        self._verifier.verify(event)
        view, call = self.conversation.apply(event)
        self.ledger.feed(event)
        return Update(event, view, call, self._collect() if self._notes.pending else ())

    def _collect(self) -> tuple[Diagnostic, ...]:
        taken = self._notes.take()
        if taken:
            self.diagnostics.extend(taken)
        return taken

    def _reject(self, error: ProtocolError) -> None:
        self._collect()
        self.error = error

    def _object(self, payload: str | bytes) -> dict[str, Any]:
        try:
            raw = self._read(payload)
        except ValueError as error:
            raise self._notes.fatal("not_an_event", f"the frame cannot be read as JSON: {error}") from None
        _type_of(raw, self._notes)
        return raw  # type: ignore[no-any-return]

    def _read(self, payload: str | bytes) -> Any:
        try:
            return from_json(payload, allow_inf_nan=False, cache_strings="keys")
        except (ValueError, TypeError):
            return read_json(payload)


def _type_of(raw: Any, notes: Notes) -> str:
    """PR-1: a frame is a JSON object with a string ``type``.

    Raises:
        ProtocolError: ``not_an_event``.
    """
    if not isinstance(raw, dict):
        raise notes.fatal("not_an_event", f"expected a JSON object, got {type(raw).__name__}")
    kind = raw.get("type")
    if not isinstance(kind, str):
        missing = "has no type" if "type" not in raw else "has a type that is not a string"
        raise notes.fatal("not_an_event", f"the frame {missing}", path="/type")
    return kind


def dump_event(event: Event) -> dict[str, Any]:
    """`event` in wire spelling: camelCase, absent where it has no value."""
    return event.model_dump(mode="json", by_alias=True)


__all__ = ["Pipeline", "Update", "dump_event"]
