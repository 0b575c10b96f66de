"""From the run input's messages to what a model is given, and which calls of theirs nobody has answered."""

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

from ag_ui.core import (
    ActivityMessage,
    AssistantMessage,
    DeveloperMessage,
    Message,
    ReasoningMessage,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)

from demo_app.agent.blocks import Block, ModelMessage, Part, Reasoning, ToolResult, ToolUse

_log = logging.getLogger(__name__)

NO_ANSWER = (
    "Error: no answer to this call ever arrived. It may or may not have happened; do not assume either, and do not"
    " repeat it unless the user asks."
)


@dataclass(frozen=True)
class OpenCall:
    """A call of an earlier run without an answer, and the message that holds it."""

    call: ToolCall
    message_id: str


def open_calls(messages: Iterable[Message]) -> list[OpenCall]:
    """The parent agent's calls that no tool message answers, in call order (FT-2)."""
    messages = list(messages)
    answered = {message.tool_call_id for message in messages if isinstance(message, ToolMessage)}
    return [
        OpenCall(call, message.id)
        for message in messages
        if isinstance(message, AssistantMessage) and message.subagent_run_id is None
        for call in message.tool_calls or ()
        if call.id not in answered
    ]


def system_texts(messages: Iterable[Message]) -> list[str]:
    """What system and developer messages say, in order."""
    return [message.content for message in messages if isinstance(message, SystemMessage | DeveloperMessage)]


def model_messages(messages: Sequence[Message], accepts: Callable[[Part], bool]) -> list[ModelMessage]:
    """The conversation for a model: roles alternate, and every call is followed by exactly one answer.

    A call that was never answered gets `NO_ANSWER` here, for the model alone: providers reject a dangling call, and
    the protocol forbids making up the tool message (AL-5). Parts the model cannot take are dropped (AL-6).
    A subagent's messages are left out: its work reached this agent as the result of the call that started it.
    """
    results = _results(messages, accepts)
    turns: list[ModelMessage] = []
    thoughts: list[Reasoning] = []
    for message in messages:
        match message:
            case UserMessage():
                _append(turns, "user", kept_parts(message.content, accepts, message.id))
            case AssistantMessage():
                _append_assistant(turns, message, thoughts, results)
                thoughts = []
            case ReasoningMessage():
                if message.encrypted_value and message.subagent_run_id is None:
                    thoughts.append(Reasoning(message.content, message.encrypted_value))
            case ToolMessage() | SystemMessage() | DeveloperMessage() | ActivityMessage():
                pass
            case _:
                assert_never(message)
    return turns


def kept_parts(content: str | Sequence[Part], accepts: Callable[[Part], bool], where: str) -> tuple[Part, ...]:
    """The parts a model can take; each one dropped is logged with its kind and `where` it came from (AL-6)."""
    if isinstance(content, str):
        return (TextPart(text=content),) if content else ()
    for part in content:
        if not accepts(part):
            _log.warning("A part of type %r in %s is not for this model: dropped (AL-6)", part.type, where)
    return tuple(part for part in content if accepts(part))


def _results(messages: Iterable[Message], accepts: Callable[[Part], bool]) -> dict[str, ToolResult]:
    results: dict[str, ToolResult] = {}
    for message in messages:
        if not isinstance(message, ToolMessage) or message.subagent_run_id is not None:
            continue
        if message.tool_call_id in results:
            _log.warning("Call %s is answered twice: the first answer counts", message.tool_call_id)
            continue
        metadata = message.metadata or {}
        error = message.error if message.error is not None else str(metadata.get("code", ""))
        is_error = message.error is not None or bool(metadata.get("isError"))
        content = kept_parts(message.content, accepts, message.id)
        results[message.tool_call_id] = ToolResult(
            message.tool_call_id, _with_error(content, message.error or ""), is_error, error if is_error else ""
        )
    return results


def _with_error(content: tuple[Part, ...], error: str) -> tuple[Part, ...]:
    """The content, with the error before it unless one already says what the other does: models get only text."""
    text = "".join(part.text for part in content if isinstance(part, TextPart))
    if not error or error in text or (text and text in error):
        return content
    return (TextPart(text=f"Error ({error})" + (": " if content else ".")), *content)


def _append_assistant(
    turns: list[ModelMessage],
    message: AssistantMessage,
    thoughts: list[Reasoning],
    results: dict[str, ToolResult],
) -> None:
    if message.subagent_run_id is not None:
        return
    text: list[Block] = [TextPart(text=message.content)] if message.content else []
    calls = [ToolUse(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or ()]
    if not text and not calls:
        return
    _append(turns, "assistant", (*thoughts, *text, *calls))
    unanswered = [call for call in calls if call.id not in results]
    for call in unanswered:
        _log.warning("Call %s of %s was never answered: the model is told so", call.id, call.name)
    lost = {call.id: ToolResult(call.id, (TextPart(text=NO_ANSWER),), is_error=True) for call in unanswered}
    _append(turns, "user", tuple((results | lost)[call.id] for call in calls))


def _append(turns: list[ModelMessage], role: str, blocks: Sequence[Block]) -> None:
    if not blocks:
        return
    if turns and turns[-1].role == role:
        turns[-1] = ModelMessage(turns[-1].role, (*turns[-1].blocks, *blocks))
    else:
        turns.append(ModelMessage("user" if role == "user" else "assistant", tuple(blocks)))
