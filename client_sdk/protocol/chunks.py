"""Chunk expansion: the compact spelling becomes start, content and end (ST-7 to ST-14).

Each producer in a run, the parent agent or one subagent, has a *lane*, and a
lane assembles at most one item from chunks at a time, because a continuation
says no more than "the same as before". What closes a lane's item is a table:

=====================  =========================================================
what arrives           what it closes (ST-10, ST-11)
=====================  =========================================================
``_CLOSES_OWN_LANE``   the item of the lane the event is attributed to
``_CLOSES_ALL_LANES``  every lane's item
a subagent's terminal  that subagent's item
anything else          nothing
=====================  =========================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from ag_ui.core import (
    Event,
    EventType,
    ReasoningMessageChunkEvent,
    ReasoningMessageContentEvent,
    ReasoningMessageEndEvent,
    ReasoningMessageStartEvent,
    TextMessageChunkEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    ToolCallArgsEvent,
    ToolCallChunkEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)

from client_sdk.protocol.notes import Notes

Chunk = TextMessageChunkEvent | ToolCallChunkEvent | ReasoningMessageChunkEvent
Kind = Literal["text", "tool", "reasoning"]
Lane = str | None

_CLOSES_OWN_LANE: Final = frozenset(
    {
        EventType.TEXT_MESSAGE_START,
        EventType.TEXT_MESSAGE_CONTENT,
        EventType.TEXT_MESSAGE_END,
        EventType.TOOL_CALL_START,
        EventType.TOOL_CALL_ARGS,
        EventType.TOOL_CALL_END,
        EventType.TOOL_CALL_RESULT,
        EventType.STATE_SNAPSHOT,
        EventType.STATE_DELTA,
        EventType.CUSTOM,
        EventType.STEP_STARTED,
        EventType.STEP_FINISHED,
        EventType.REASONING_START,
        EventType.REASONING_MESSAGE_START,
        EventType.REASONING_MESSAGE_CONTENT,
        EventType.REASONING_MESSAGE_END,
        EventType.REASONING_END,
        EventType.SUBAGENT_FINISHED,
        EventType.SUBAGENT_ERROR,
    }
)
_CLOSES_ALL_LANES: Final = frozenset(
    {EventType.RUN_STARTED, EventType.RUN_FINISHED, EventType.RUN_ERROR, EventType.MESSAGES_SNAPSHOT}
)


def _text_start(chunk: Any) -> Event:
    return TextMessageStartEvent(message_id=chunk.message_id, role=chunk.role or "assistant", name=chunk.name)


def _tool_start(chunk: Any) -> Event:
    return ToolCallStartEvent(
        tool_call_id=chunk.tool_call_id,
        tool_call_name=chunk.tool_call_name,
        parent_message_id=chunk.parent_message_id,
    )


def _reasoning_start(chunk: Any) -> Event:
    return ReasoningMessageStartEvent(message_id=chunk.message_id)


@dataclass(frozen=True, slots=True)
class _Spelling:
    """How one kind of item is spelt."""

    kind: Kind
    noun: str
    id_field: str
    needs: tuple[str, ...]
    """Wire names the first chunk must carry (ST-8)."""
    repeats: tuple[tuple[str, str, str | None], ...]
    """Attribute, wire name and meaning of absence for what a continuation may only repeat (ST-9)."""
    start: Callable[[Any], Event]
    content: Callable[..., Event]
    end: Callable[..., Event]


_SPELLINGS: Final[dict[type, _Spelling]] = {
    TextMessageChunkEvent: _Spelling(
        kind="text",
        noun="text message",
        id_field="message_id",
        needs=("messageId",),
        repeats=(("role", "role", "assistant"), ("name", "name", None)),
        start=_text_start,
        content=TextMessageContentEvent,
        end=TextMessageEndEvent,
    ),
    ToolCallChunkEvent: _Spelling(
        kind="tool",
        noun="tool call",
        id_field="tool_call_id",
        needs=("toolCallId", "toolCallName"),
        repeats=(
            ("tool_call_name", "toolCallName", None),
            ("parent_message_id", "parentMessageId", None),
        ),
        start=_tool_start,
        content=ToolCallArgsEvent,
        end=ToolCallEndEvent,
    ),
    ReasoningMessageChunkEvent: _Spelling(
        kind="reasoning",
        noun="reasoning message",
        id_field="message_id",
        needs=("messageId",),
        repeats=(),
        start=_reasoning_start,
        content=ReasoningMessageContentEvent,
        end=ReasoningMessageEndEvent,
    ),
}


CHUNK_EVENTS: Final = frozenset(_SPELLINGS)
"""The events this stage expands."""


class _Open:
    """The item one lane is assembling."""

    __slots__ = ("established", "id", "owner", "spelling")

    def __init__(self, spelling: _Spelling, chunk: Any) -> None:
        self.spelling = spelling
        self.id: str = getattr(chunk, spelling.id_field)
        self.owner: Lane = chunk.subagent_run_id
        self.established = {
            attribute: absent if getattr(chunk, attribute) is None else getattr(chunk, attribute)
            for attribute, _, absent in spelling.repeats
        }

    def end(self) -> Event:
        return self.spelling.end(**{self.spelling.id_field: self.id}, subagent_run_id=self.owner)


class Expander:
    """The chunk stage: one event in, the events it stands for out.

    Attributes:
        lanes: what each lane is assembling; while that is nothing, every event but a chunk passes unchanged.
    """

    __slots__ = ("_notes", "lanes")

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self.lanes: dict[Lane, _Open] = {}

    def feed(self, event: Event) -> list[Event]:
        """Expand `event`, closing what it closes.

        Raises:
            ProtocolError: ``chunk_identity`` (ST-8), ``chunk_conflict`` (ST-9),
                ``chunk_ambiguous`` (ST-12).
        """
        spelling = _SPELLINGS.get(type(event))
        if spelling is not None:
            return self._chunk(event, spelling)
        if not self.lanes:
            return [event]
        if event.type in _CLOSES_ALL_LANES:
            return [*self._close(*self.lanes), event]
        if event.type in _CLOSES_OWN_LANE:
            return [*self._close(getattr(event, "subagent_run_id", None)), event]
        return [event]

    def _close(self, *lanes: Lane) -> list[Event]:
        return [self.lanes.pop(lane).end() for lane in lanes if lane in self.lanes]

    def _chunk(self, chunk: Any, spelling: _Spelling) -> list[Event]:
        identity: str | None = getattr(chunk, spelling.id_field)
        lane = self._lane(chunk, spelling, identity)
        current = self.lanes.get(lane)
        if current is not None and current.spelling is spelling and identity in (None, current.id):
            self._require_agreement(chunk, current)
            return self._content(chunk, current, opened=False)
        self._require_identity(chunk, spelling)
        closed = self._close(lane)
        opened = self.lanes[lane] = _Open(spelling, chunk)
        start = spelling.start(chunk)
        start.subagent_run_id = chunk.subagent_run_id  # type: ignore[union-attr]
        start.metadata = chunk.metadata
        return [*closed, start, *self._content(chunk, opened, opened=True)]

    def _content(self, chunk: Any, item: _Open, *, opened: bool) -> list[Event]:
        # The provider's payload belongs to what the producer sent, not to the opener made up here (ST-14).
        tag: Lane = chunk.subagent_run_id
        claims = tag is not None and tag != item.owner
        carries = chunk.delta is not None or chunk.raw_event is not None or claims
        if not carries and (opened or chunk.metadata is None):
            return []
        content = item.spelling.content(
            **{item.spelling.id_field: item.id},
            delta="",
            subagent_run_id=tag if tag is not None else item.owner,
        )
        # Set afterwards, because it was judged before: it may end in half a character (see surrogates).
        content.delta = chunk.delta or ""  # type: ignore[union-attr]
        content.metadata = chunk.metadata
        content.raw_event = chunk.raw_event
        return [content]

    def _lane(self, chunk: Any, spelling: _Spelling, identity: str | None) -> Lane:
        tag: Lane = chunk.subagent_run_id
        if identity is not None:
            return self._lane_of_item(chunk, spelling, identity)
        if tag is not None:
            return tag
        parent = self.lanes.get(None)
        if parent is not None and parent.spelling is spelling:
            return None
        candidates = [lane for lane, item in self.lanes.items() if item.spelling is spelling]
        if len(candidates) > 1:
            ids = tuple(self.lanes[lane].id for lane in candidates)
            raise self._notes.fatal(
                "chunk_ambiguous",
                f"{chunk.type.value} names neither an item nor a subagent while {len(ids)} subagents each stream a "
                f"{spelling.noun} ({', '.join(ids)}): the producer must say which one it continues",
                ids=ids,
            )
        return candidates[0] if candidates else None

    def _lane_of_item(self, chunk: Any, spelling: _Spelling, identity: str) -> Lane:
        tag: Lane = chunk.subagent_run_id
        for lane, item in self.lanes.items():
            if item.spelling is spelling and item.id == identity:
                # Whether the tag is right is for order verification, which knows what a call inherits (SA-5).
                return lane
        return tag

    def _require_agreement(self, chunk: Any, item: _Open) -> None:
        for attribute, wire, _ in item.spelling.repeats:
            repeated = getattr(chunk, attribute)
            if repeated is not None and repeated != item.established[attribute]:
                raise self._notes.fatal(
                    "chunk_conflict",
                    f"{chunk.type.value} continues the {item.spelling.noun} {item.id!r} with {wire} {repeated!r}, "
                    f"but it was opened with {item.established[attribute]!r}",
                    path=f"/{wire}",
                    ids=(item.id,),
                )

    def _require_identity(self, chunk: Any, spelling: _Spelling) -> None:
        for wire in spelling.needs:
            attribute = spelling.id_field if wire.endswith("Id") else "tool_call_name"
            if getattr(chunk, attribute) is None:
                raise self._notes.fatal(
                    "chunk_identity",
                    f"{chunk.type.value} continues nothing, and the first chunk of a {spelling.noun} must carry {wire}",
                    path=f"/{wire}",
                )
