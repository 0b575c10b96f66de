"""One turn of the model, written out as events while it streams, and kept as blocks for the next request."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import assert_never

from ag_ui.core import (
    ReasoningEncryptedValueEvent,
    ReasoningEndEvent,
    ReasoningMessageContentEvent,
    ReasoningMessageEndEvent,
    ReasoningMessageStartEvent,
    ReasoningStartEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextMessageStartEvent,
    TextPart,
    ToolCallArgsEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)

from demo_app.agent.blocks import (
    Block,
    Piece,
    Reasoning,
    ReasoningDelta,
    ReasoningDone,
    Stop,
    StreamItem,
    TextDelta,
    ToolInputDelta,
    ToolUse,
    ToolUseStart,
)
from demo_app.agent.models.base import ModelError
from demo_app.agent.pacing import new_id
from demo_app.agent.writer import EventWriter


@dataclass
class Turn:
    """What the model said and asked for. `message_id` is the message that holds text and calls."""

    message_id: str
    stop: Stop
    blocks: list[Block] = field(default_factory=list)

    @property
    def calls(self) -> list[ToolUse]:
        """The calls, in order."""
        return [block for block in self.blocks if isinstance(block, ToolUse)]


async def read_turn(items: AsyncGenerator[StreamItem, None], out: EventWriter) -> Turn:
    """Write the model's stream as events until its `Stop`. Raises `ModelError` if it ends without one."""
    turn = _TurnWriter(out)
    async with aclosing(items):
        async for item in items:
            if isinstance(item, Stop):
                await turn.close()
                return Turn(turn.message_id, item, turn.blocks)
            await turn.take(item)
    raise ModelError("model_stream_cut", "The model's answer broke off before it was complete.")


class _TurnWriter:
    """At most one thing is open at a time: a text, a stretch of reasoning, or a call."""

    def __init__(self, out: EventWriter) -> None:
        self._out = out
        self._pieces: list[str] = []
        self._text_open = False
        self._span = ""
        self._call: ToolUseStart | None = None
        self.message_id = new_id("msg")
        self.blocks: list[Block] = []

    async def take(self, item: Piece) -> None:
        match item:
            case TextDelta():
                await self._text(item.text)
            case ReasoningDelta():
                await self._reason(item.text)
            case ReasoningDone():
                await self._reasoned(item.reasoning)
            case ToolUseStart():
                await self._start_call(item)
            case ToolInputDelta():
                await self._input(item.json)
            case _:
                assert_never(item)

    async def close(self) -> None:
        """Close what is open."""
        if self._text_open:
            self._text_open = False
            self.blocks.append(TextPart(text="".join(self._pieces)))
            await self._out.send(TextMessageEndEvent(message_id=self.message_id))
        if self._call:
            call, self._call = self._call, None
            self.blocks.append(ToolUse(call.id, call.name, "".join(self._pieces)))
            await self._out.send(ToolCallEndEvent(tool_call_id=call.id))
        if self._span:
            span, self._span = self._span, ""
            await self._out.send(ReasoningMessageEndEvent(message_id=span))
            await self._out.send(ReasoningEndEvent(message_id=span))
        self._pieces = []

    async def _text(self, delta: str) -> None:
        if not self._text_open:
            if not delta:
                return
            await self.close()
            await self._out.send(TextMessageStartEvent(message_id=self.message_id, role="assistant"))
            self._text_open = True
        self._pieces.append(delta)
        await self._out.send(TextMessageContentEvent(message_id=self.message_id, delta=delta))

    async def _reason(self, delta: str) -> None:
        if not self._span:
            await self.close()
            span = new_id("reasoning")
            await self._out.send(ReasoningStartEvent(message_id=span))
            await self._out.send(ReasoningMessageStartEvent(message_id=span, role="reasoning"))
            self._span = span
        await self._out.send(ReasoningMessageContentEvent(message_id=self._span, delta=delta))

    async def _reasoned(self, reasoning: Reasoning) -> None:
        self.blocks.append(reasoning)
        if reasoning.signature:
            await self._reason("")  # a provider may sign thoughts that it shows nothing of
            span = self._span
            await self._out.send(
                ReasoningEncryptedValueEvent(subtype="message", entity_id=span, encrypted_value=reasoning.signature)
            )
        await self.close()

    async def _start_call(self, start: ToolUseStart) -> None:
        await self.close()
        await self._out.send(
            ToolCallStartEvent(tool_call_id=start.id, tool_call_name=start.name, parent_message_id=self.message_id)
        )
        self._call = start

    async def _input(self, delta: str) -> None:
        if self._call is None:
            raise ModelError("model_stream_broken", "The model sent arguments outside of a call.")
        self._pieces.append(delta)
        await self._out.send(ToolCallArgsEvent(tool_call_id=self._call.id, delta=delta))
