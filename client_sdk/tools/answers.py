"""What the agent is told: a handler's result as content, and every other end in words (FT-4).

An answer is data for a model, so each says three things: what became of the
call, whether anything happened, and what to do about it. ``error`` opens with
the stable name of the outcome or refusal.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, get_args, get_origin

from ag_ui.core import ContentPart, TextPart
from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError, to_json

from client_sdk.schema import Problem, shortened, whole_characters
from client_sdk.tools.calls import CallOutcome
from client_sdk.tools.gate import RefusalReason

Content = str | list[ContentPart]
"""What a tool message may hold (TC-4)."""


def _part_types(union: Any) -> tuple[type, ...]:
    """The content part models that the installed types know."""
    if get_origin(union) is Annotated:
        return _part_types(get_args(union)[0])
    return tuple(one for member in get_args(union) for one in _part_types(member)) or (union,)


PART_TYPES = _part_types(ContentPart)
_PART: TypeAdapter[ContentPart] = TypeAdapter(ContentPart)


class NotAnswerable(ValueError):
    """A handler's result that no tool message can hold."""


@dataclass(frozen=True, slots=True)
class Said:
    """The words of an answer.

    Attributes:
        outcome: what became of the call.
        content: text or content parts.
        error: None when it succeeded.
        reason: the typed refusal, when it was one.
    """

    outcome: CallOutcome
    content: Content
    error: str | None = None
    reason: RefusalReason | None = None


def to_content(result: Any) -> Content:
    """A handler's result as the content of a tool message.

    A string stays as it is, None is "", a part or a list of parts stay parts, and
    anything else becomes its JSON text, pydantic models by their wire names.

    Args:
        result: what the handler returned.

    Raises:
        NotAnswerable: it is neither parts nor JSON, mixes parts with other values, or a part is malformed.
    """
    if result is None or isinstance(result, str):
        return result or ""
    if _is_part(result):
        return [_sound(result)]
    if isinstance(result, bytes | bytearray | memoryview):
        raise NotAnswerable("bytes are no JSON value; return a content part that says what they are, such as ImagePart")
    if isinstance(result, list | tuple) and any(map(_is_part, result)):
        if all(map(_is_part, result)):
            return [_sound(part) for part in result]
        raise NotAnswerable("a list of content parts holds something that is no content part")
    try:
        return to_json(result, by_alias=True, inf_nan_mode="strings", bytes_mode="base64").decode()
    except (PydanticSerializationError, UnicodeDecodeError, ValueError) as error:
        raise NotAnswerable(f"it cannot be written as JSON: {error}") from error


def _is_part(value: Any) -> bool:
    return isinstance(value, PART_TYPES)


def _sound(part: Any) -> ContentPart:
    """`part` as it can be sent: a model can be made, or changed, without anybody judging what it holds."""
    try:
        text = json.dumps(part.model_dump(by_alias=True, warnings=False), ensure_ascii=False, allow_nan=False)
        return _PART.validate_json(whole_characters(text), strict=True, by_alias=True, by_name=False)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = "/".join(map(str, first["loc"]))
        raise NotAnswerable(f"a content part is malformed at {where}: {first['msg']}") from error
    except (PydanticSerializationError, TypeError, ValueError, RecursionError) as error:
        raise NotAnswerable(f"a content part cannot be written as JSON: {error}") from error


def succeeded(result: Any) -> Said:
    """A handler returned `result`."""
    try:
        return Said(CallOutcome.SUCCEEDED, to_content(result))
    except NotAnswerable as error:
        text = f"The tool ran, but its result cannot be sent: {error}."
        return Said(CallOutcome.FAILED, text, f"failed: {text}")


def failed(error: str) -> Said:
    """A handler raised, or the application says that the call failed."""
    text = f"The tool failed: {error}"
    return Said(CallOutcome.FAILED, text, f"failed: {error}")


def declined(reason: str = "") -> Said:
    """The user, or a rule of the application, said no."""
    because = f" Reason given: {reason}" if reason else ""
    text = f"The call was declined; it was not run.{because}"
    return Said(CallOutcome.DECLINED, text, f"declined: {text}", RefusalReason.DECLINED)


def timed_out(seconds: float) -> Said:
    """A deadline passed, and nothing can have happened."""
    text = f"Timed out: no result within {seconds:g} seconds. Nothing was changed."
    return Said(CallOutcome.TIMED_OUT, text, f"timed_out: {text}")


def no_decision(seconds: float) -> Said:
    """The user did not decide in time."""
    text = f"Timed out: the user did not decide within {seconds:g} seconds. The tool was not run."
    return Said(CallOutcome.TIMED_OUT, text, f"timed_out: {text}")


def cancelled() -> Said:
    """The call was stopped, and nothing can have happened."""
    text = "Cancelled: the call was stopped before it changed anything."
    return Said(CallOutcome.CANCELLED, text, f"cancelled: {text}")


def effect_unknown(why: str) -> Said:
    """The call was started and nothing was heard since.

    Args:
        why: how the wait for its result ended, a clause.
    """
    text = (
        f"Effect unknown: the tool was started, {why}. It may already have happened."
        " It is not run again by itself; check before asking for it once more."
    )
    return Said(CallOutcome.EFFECT_UNKNOWN, text, f"effect_unknown: {text}", RefusalReason.MAY_HAVE_HAPPENED)


def abandoned(why: str = "the conversation went on without it") -> Said:
    """The call was given up without having run.

    Args:
        why: how that came about, a clause.
    """
    text = f"Abandoned: the call was not run, {why}."
    return Said(CallOutcome.ABANDONED, text, f"abandoned: {text}", RefusalReason.ABANDONED)


def refused(reason: RefusalReason, *, tool: str, offered: Iterable[str] = (), problems: Iterable[Problem] = ()) -> Said:
    """The gate refused the call.

    Args:
        reason: its reason, one of the refusals.
        tool: the name the call bears.
        offered: the names it could have borne.
        problems: what is wrong with its arguments.
    """
    names = ", ".join(sorted(offered)) or "none"
    wrong = "; ".join(map(str, problems))
    text = _REFUSALS[reason].format(tool=shortened(tool), offered=names, wrong=wrong)
    return Said(CallOutcome.REFUSED, text, f"{reason.value}: {text}", reason)


_MEND = "Call the tool again with mended arguments."

_REFUSALS: Mapping[RefusalReason, str] = {
    RefusalReason.DECLINED: "The call was declined; it was not run.",
    RefusalReason.ABANDONED: "The call was abandoned; it was not run.",
    RefusalReason.INTERRUPT_CANCELLED: "The request for approval was cancelled, so the call was not run.",
    RefusalReason.RUN_FAILED: "The run that made this call failed, so the call was not run.",
    RefusalReason.RUN_CANCELLED: "The run that made this call was stopped, so the call was not run.",
    RefusalReason.RUN_REJECTED: "The stream that carried this call broke the protocol, so the call was not run.",
    RefusalReason.INCOMPLETE_CALL: "The call's arguments never ended, so it was not run.",
    RefusalReason.RESTATED_CALL: "The call was stated twice with different arguments, so it was not run.",
    RefusalReason.UNKNOWN_TOOL: (
        "This application has no tool of the name {tool!r}, so nothing was run. Tools offered: {offered}."
    ),
    RefusalReason.TOOL_NOT_OFFERED: (
        "The tool {tool!r} was not offered in this run, so it was not run. Tools offered: {offered}."
    ),
    RefusalReason.ARGUMENTS_NOT_JSON: "The tool was not run: its arguments are not valid, {wrong}. " + _MEND,
    RefusalReason.ARGUMENTS_NOT_AN_OBJECT: "The tool was not run: its arguments are not valid, {wrong}. " + _MEND,
    RefusalReason.ARGUMENTS_INVALID: "The tool was not run: its arguments are not valid, {wrong}. " + _MEND,
}


def edited(said: Said, arguments: Mapping[str, Any]) -> Said:
    """`said`, preceded by what the user made of the arguments before approving."""
    note = (
        f"The user edited the arguments before approving. Run with: {json.dumps(dict(arguments), ensure_ascii=False)}"
    )
    if isinstance(said.content, str):
        return replace(said, content=f"{note}\n{said.content}" if said.content else note)
    return replace(said, content=[TextPart(text=whole_characters(note)), *said.content])
