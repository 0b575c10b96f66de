"""What a model is given and what it gives back, in no provider's spelling.

Content parts are the protocol's own (`ag_ui.core`); around them stand the blocks that AG-UI spreads over messages:
a call, its answer, and the reasoning that a provider wants back.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from ag_ui.core import AudioPart, DocumentPart, ImagePart, TextPart, TokenUsage, VideoPart

MediaPart = ImagePart | AudioPart | VideoPart | DocumentPart
Part = TextPart | MediaPart

StopReason = Literal[
    "end_turn",
    "tool_use",
    "max_tokens",
    "stop_sequence",
    "pause_turn",
    "refusal",
    "model_context_window_exceeded",
]


@dataclass(frozen=True)
class ToolUse:
    """The model's request to run a tool. `input_json` is its text as written: complete, not necessarily valid."""

    id: str
    name: str
    input_json: str


@dataclass(frozen=True)
class ToolResult:
    """The answer to one `ToolUse`; no content stands for the empty answer (AL-6).

    `error` is what its sender says of a failure, opening with a code: `declined: ...`, `bad_arguments`.
    """

    tool_use_id: str
    content: tuple[Part, ...]
    is_error: bool = False
    error: str = ""

    @property
    def code(self) -> str:
        """The code that `error` opens with; empty when there is none."""
        head = self.error.partition(":")[0].strip()
        return head if re.fullmatch(r"[a-z_]+", head) else ""

    @property
    def text(self) -> str:
        """The text parts, joined as they are."""
        return "".join(part.text for part in self.content if isinstance(part, TextPart))


@dataclass(frozen=True)
class Reasoning:
    """Thinking that the provider signed, to be returned to it unread (RE-2); `redacted` holds what it hides."""

    text: str
    signature: str = ""
    redacted: str = ""


Block = Part | ToolUse | ToolResult | Reasoning


@dataclass(frozen=True)
class ModelMessage:
    """One side's turn: the user's (tool results included) or the assistant's."""

    role: Literal["user", "assistant"]
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class ToolSchema:
    """A tool as a model sees it. The schema and the description are prompt (AL-2)."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True)
class ModelRequest:
    """All a model knows: the system text, the conversation and the tools it may call."""

    system: str
    messages: tuple[ModelMessage, ...]
    tools: tuple[ToolSchema, ...] = ()


@dataclass(frozen=True)
class TextDelta:
    """The next piece of the answer."""

    text: str


@dataclass(frozen=True)
class ReasoningDelta:
    """The next piece of the thinking before the answer."""

    text: str


@dataclass(frozen=True)
class ReasoningDone:
    """One stretch of thinking has ended, with what the provider wants back about it."""

    reasoning: Reasoning


@dataclass(frozen=True)
class ToolUseStart:
    """A call begins; its arguments follow as `ToolInputDelta`, up to the next item of another kind."""

    id: str
    name: str


@dataclass(frozen=True)
class ToolInputDelta:
    """The next piece of the arguments' JSON text."""

    json: str


@dataclass(frozen=True)
class Stop:
    """The turn is over: why, and what it cost. Always the last item."""

    reason: StopReason
    usage: TokenUsage = field(default_factory=TokenUsage)


Piece = TextDelta | ReasoningDelta | ReasoningDone | ToolUseStart | ToolInputDelta
StreamItem = Piece | Stop
