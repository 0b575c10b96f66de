"""What a run says: a bounded queue of events that remembers what is open, so that it can always be closed."""

import asyncio
from collections.abc import Callable
from typing import Any

from ag_ui.core import (
    BaseEvent,
    EventType,
    ReasoningEndEvent,
    ReasoningMessageEndEvent,
    StepFinishedEvent,
    SubagentErrorEvent,
    TextMessageEndEvent,
    ToolCallEndEvent,
)

# What is read slowly holds the loop back instead of filling memory.
_QUEUE_SIZE = 256


def _owner(event: Any) -> str | None:
    owner: str | None = event.subagent_run_id
    return owner


# Opening event ▸ the key of what it opens, and the event that closes it (ST-1, LC-8, RE-1, SA-1).
_OPENERS: dict[EventType, tuple[Callable[[Any], object], Callable[[Any], BaseEvent]]] = {
    EventType.TEXT_MESSAGE_START: (
        lambda event: ("text", event.message_id),
        lambda event: TextMessageEndEvent(message_id=event.message_id, subagent_run_id=_owner(event)),
    ),
    EventType.TOOL_CALL_START: (
        lambda event: ("call", event.tool_call_id),
        lambda event: ToolCallEndEvent(tool_call_id=event.tool_call_id, subagent_run_id=_owner(event)),
    ),
    EventType.REASONING_START: (
        lambda event: ("span", event.message_id),
        lambda event: ReasoningEndEvent(message_id=event.message_id, subagent_run_id=_owner(event)),
    ),
    EventType.REASONING_MESSAGE_START: (
        lambda event: ("reasoning", event.message_id),
        lambda event: ReasoningMessageEndEvent(message_id=event.message_id, subagent_run_id=_owner(event)),
    ),
    EventType.STEP_STARTED: (
        lambda event: ("step", event.step_name, _owner(event)),
        lambda event: StepFinishedEvent(step_name=event.step_name, subagent_run_id=_owner(event)),
    ),
    EventType.SUBAGENT_STARTED: (
        lambda event: ("subagent", event.subagent_run_id),
        lambda event: SubagentErrorEvent(
            subagent_run_id=event.subagent_run_id, message="Stopped before it was finished.", code="stopped"
        ),
    ),
}

_CLOSERS: dict[EventType, Callable[[Any], object]] = {
    EventType.TEXT_MESSAGE_END: lambda event: ("text", event.message_id),
    EventType.TOOL_CALL_END: lambda event: ("call", event.tool_call_id),
    EventType.REASONING_END: lambda event: ("span", event.message_id),
    EventType.REASONING_MESSAGE_END: lambda event: ("reasoning", event.message_id),
    EventType.STEP_FINISHED: lambda event: ("step", event.step_name, _owner(event)),
    EventType.SUBAGENT_FINISHED: lambda event: ("subagent", event.subagent_run_id),
    EventType.SUBAGENT_ERROR: lambda event: ("subagent", event.subagent_run_id),
}


class EventWriter:
    """Takes a run's events from any of its tasks and hands them to its one reader, in order."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[BaseEvent | None] = asyncio.Queue(_QUEUE_SIZE)
        self._open: dict[object, BaseEvent] = {}
        self.ended = False

    async def send(self, event: BaseEvent) -> None:
        """Queue an event; waits while the reader is behind. Cancelled while waiting, the event was not sent."""
        await self._queue.put(event)
        if opener := _OPENERS.get(event.type):
            key, close = opener
            self._open[key(event)] = close(event)
        elif closer := _CLOSERS.get(event.type):
            self._open.pop(closer(event), None)
        elif event.type in (EventType.RUN_FINISHED, EventType.RUN_ERROR):
            self.ended = True

    async def close_all(self) -> None:
        """Close everything open, the youngest first: a subagent after its own items (AL-7)."""
        for event in reversed(list(self._open.values())):
            await self.send(event)

    async def close_owned(self, subagent_run_id: str) -> None:
        """Close what a subagent opened, the youngest first, and leave the subagent itself open (SA-3)."""
        for event in reversed(list(self._open.values())):
            if event.type is not EventType.SUBAGENT_ERROR and _owner(event) == subagent_run_id:
                await self.send(event)

    async def finish(self) -> None:
        """Nothing follows."""
        await self._queue.put(None)

    async def receive(self) -> BaseEvent | None:
        """The next event; None after the last."""
        return await self._queue.get()
