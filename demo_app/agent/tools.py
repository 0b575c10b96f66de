"""Backend tools: what the agent itself can do, and how a call of the model's becomes a result, whatever it wrote.

Everything a model writes is checked here in code. A wrong argument, an unknown tool and an exception become error
text for the model, which can then do better; none of them ends the run (AL-3).
"""

import json
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ag_ui.core import TextPart
from pydantic import BaseModel, ConfigDict, ValidationError

from demo_app.agent.blocks import Part, ToolSchema
from demo_app.agent.language import plain_trouble
from demo_app.agent.writer import EventWriter
from demo_app.shop import Shop, ShopError

_log = logging.getLogger(__name__)

Content = str | list[Part]


class Arguments(BaseModel):
    """Base of all arguments: no unknown names, and no coercion (`"5 kg"` is not a number)."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


A = TypeVar("A", bound=Arguments)


class ToolFailure(Exception):
    """A tool cannot do what was asked; `code` is stable, the message is for the model and for people."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True)
class ToolContext:
    """What a tool gets beside its arguments.

    Attributes: `request_key` names this very call for everything that must not happen twice; `message_id` is the
    message that holds the call; `out` takes progress events; `pace` is the pause between pieces, in seconds; `korean`
    says whether the user speaks Korean, for what a tool shows to people.
    """

    shop: Shop
    call_id: str
    message_id: str
    request_key: str
    out: EventWriter
    pace: float = 0.0
    korean: bool = False


@dataclass(frozen=True)
class Outcome:
    """A call's result. `error_code` is empty when it worked; otherwise the content is the error text."""

    content: Content
    error_code: str = ""

    @property
    def parts(self) -> tuple[Part, ...]:
        """The content as parts."""
        if isinstance(self.content, str):
            return (TextPart(text=self.content),) if self.content else ()
        return tuple(self.content)


@dataclass(frozen=True)
class Approval(Generic[A]):
    """How a tool asks before it acts: the run ends with an interrupt, the next one brings the answer.

    Attributes: `answer` is the model of the answer's payload; `prompt` and `schema` make the interrupt's message and
    `responseSchema` from the arguments, their words in Korean if the second argument is true; `apply` gives the
    arguments to run, or None when the answer is no.
    """

    answer: type[BaseModel]
    prompt: Callable[[A, bool], str]
    schema: Callable[[A, bool], dict[str, Any]]
    apply: Callable[[A, Any], A | None]


@dataclass(frozen=True)
class BackendTool(Generic[A]):
    """One tool of the agent's own. `example` goes into the description and must be valid (AL-2)."""

    name: str
    arguments: type[A]
    description: str
    example: Mapping[str, Any]
    run: Callable[[A, ToolContext], Awaitable[Content]]
    approval: Approval[A] | None = None

    def schema(self) -> ToolSchema:
        """The tool as a model sees it."""
        example = json.dumps(dict(self.example), ensure_ascii=False)
        parameters = self.arguments.model_json_schema()
        return ToolSchema(self.name, f"{self.description} Example input: {example}", parameters)

    def parse(self, text: str) -> A | Outcome:
        """The checked arguments, or the error text that says which one is wrong and what would be right."""
        try:
            return self.arguments.model_validate_json(text or "{}")
        except ValidationError as error:
            example = json.dumps(dict(self.example), ensure_ascii=False)
            return error_outcome(
                "bad_arguments",
                f"the arguments of {self.name} are not valid: {describe(error)}. Example input: {example}",
            )

    async def execute(self, arguments: A, context: ToolContext) -> Outcome:
        """Run the tool; whatever goes wrong comes back as an outcome (AL-3)."""
        try:
            return Outcome(await self.run(arguments, context))
        except (ToolFailure, ShopError) as failure:
            return error_outcome(failure.code, failure.message, korean=context.korean)
        except Exception as error:  # noqa: BLE001  AL-3: any exception is an answer; the log keeps its traceback
            _log.exception("The tool %s failed in call %s", self.name, context.call_id)
            words = f"{self.name} failed ({type(error).__name__}); nothing is known of it."
            return error_outcome("tool_failed", words, korean=context.korean)


def error_outcome(code: str, message: str, *, korean: bool = False) -> Outcome:
    """An error as the model reads it, and as a person may see it: in Korean for a Korean conversation."""
    words = (plain_trouble(message, korean=True) if korean else None) or message
    return Outcome(f"Error ({code}): {words}", code)


def unknown_tool(name: str, known: Iterable[str]) -> Outcome:
    """The answer to a call that names no tool (AL-3)."""
    return error_outcome("unknown_tool", f"there is no tool named {name!r}. The tools are: {', '.join(sorted(known))}.")


def describe(error: ValidationError) -> str:
    """Every fault in one line: where, what was expected, what was there."""
    faults = []
    for fault in error.errors(include_url=False, include_context=False):
        where = ".".join(str(step) for step in fault["loc"])
        got = "" if fault["type"] in ("missing", "json_invalid") else f", not {_short(fault['input'])}"
        faults.append(f"{where + ': ' if where else ''}{fault['msg']}{got}")
    return "; ".join(faults)


def _short(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 80 else text[:77] + "..."


def as_json(value: object) -> str:
    """JSON text of plain data and of models, with Korean as it is."""
    return json.dumps(value, ensure_ascii=False, default=_plain)


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} has no JSON form")
