"""What the scripted model knows in one turn, and the acts it can answer with."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ag_ui.core import TextPart

from demo_app.agent.blocks import Block, MediaPart, ModelRequest, Part, ToolResult, ToolUse
from demo_app.agent.language import is_korean

# For senders without codes: what their words say of a failure. The first match counts.
_FAILURE_WORDS = (
    ("declined", r"declin|reject|거절"),
    ("effect_unknown", r"effect.{0,20}unknown|may (?:already )?have happened|may or may not"),
    ("timed_out", r"timed? ?out|deadline|시간 초과"),
    ("cancelled", r"abandon|cancel|called off|stopped"),
)


@dataclass(frozen=True)
class Say:
    """Answer text; `slow` streams it at the pace of the answers that are slow on purpose."""

    text: str
    slow: bool = False


@dataclass(frozen=True)
class Think:
    """Reasoning before the answer."""

    text: str


@dataclass(frozen=True)
class Call:
    """A tool call. A string as arguments is sent as it is, valid JSON or not."""

    name: str
    arguments: Mapping[str, Any] | str

    @property
    def json(self) -> str:
        """The arguments' text."""
        if isinstance(self.arguments, str):
            return self.arguments
        return json.dumps(dict(self.arguments), ensure_ascii=False)


@dataclass(frozen=True)
class Fail:
    """The model breaks down here."""

    code: str
    message: str


Act = Say | Think | Call | Fail


@dataclass(frozen=True)
class Done:
    """A call made since the user's last words, with its answer."""

    call: ToolUse
    result: ToolResult

    @property
    def failed(self) -> bool:
        """Whether the answer is an error."""
        return self.result.is_error or self.result.text.startswith("Error")

    @property
    def failure(self) -> str:
        """The kind of failure: the sender's code, or one read from the words of a sender without codes."""
        if not self.failed:
            return ""
        return self.result.code or next(
            (code for code, words in _FAILURE_WORDS if re.search(words, self.result.text, re.IGNORECASE)), "failed"
        )

    @property
    def data(self) -> Any:
        """The answer's JSON, found in its text; None when it holds none."""
        return json_in(self.result.text)


@dataclass(frozen=True)
class Scene:
    """The user's last words and everything that has happened since.

    Attributes: `text` and `media`, what the user said and attached; `done`, the answered calls since, and `last` those
    of the latest turn; `tools`, the names that may be called.
    """

    text: str
    media: tuple[MediaPart, ...]
    done: tuple[Done, ...]
    last: tuple[Done, ...]
    tools: frozenset[str]

    @property
    def korean(self) -> bool:
        """Whether the user writes Korean."""
        return is_korean(self.text)

    def say(self, english: str, korean: str) -> Say:
        """Text in the user's language."""
        return Say(korean if self.korean else english)

    def found(self, name: str) -> Done | None:
        """The latest answered call of this tool."""
        return next((done for done in reversed(self.done) if done.call.name == name), None)

    @property
    def started(self) -> bool:
        """Whether calls have been made since the user's last words."""
        return bool(self.done)


def read_scene(request: ModelRequest) -> Scene:
    """The scene of a request."""
    blocks = [(message.role, block) for message in request.messages for block in message.blocks]
    own = [index for index, (role, block) in enumerate(blocks) if role == "user" and isinstance(block, Part)]
    last = own[-1] if own else -1
    first = last
    while first > 0 and first - 1 in own:
        first -= 1
    said = [block for _, block in blocks[first : last + 1]] if own else []
    texts = [block.text for block in said if isinstance(block, TextPart)]
    done = _answered([block for _, block in blocks[last + 1 :]])
    newest = {block.id for block in request.messages[-2].blocks if isinstance(block, ToolUse)} if done else set()
    return Scene(
        text=texts[-1].strip() if texts else "",
        media=tuple(block for block in said if isinstance(block, MediaPart)),
        done=done,
        last=tuple(item for item in done if item.call.id in newest),
        tools=frozenset(tool.name for tool in request.tools),
    )


def _answered(blocks: Sequence[Block]) -> tuple[Done, ...]:
    calls = {block.id: block for block in blocks if isinstance(block, ToolUse)}
    results = [block for block in blocks if isinstance(block, ToolResult)]
    return tuple(Done(calls[result.tool_use_id], result) for result in results if result.tool_use_id in calls)


def json_in(text: str) -> Any:
    """The last JSON object in a text, else None: words may stand before it, and arguments that the user edited."""
    decoder = json.JSONDecoder()
    found, start = None, text.find("{")
    while start >= 0:
        try:
            found, end = decoder.raw_decode(text, start)
        except ValueError:
            end = start + 1
        start = text.find("{", end)
    return found
