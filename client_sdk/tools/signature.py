"""A Python function seen as a tool: its schema, its description, and how to call it (AL-2).

Types are pydantic's to interpret: each parameter becomes a field of a model made
for the function, so nested models, enums, unions, defaults, ``Annotated``
constraints and field descriptions mean what they mean everywhere else.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import docstring_parser
from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema

from client_sdk.errors import ToolError
from client_sdk.schema import Problem, pointer
from client_sdk.tools.context import ToolContext

_CALLABLE_KINDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class _PlainSchema(GenerateJsonSchema):
    """JSON Schema without generated titles: schemas are prompt, and a title repeats the name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def generate(self, schema: CoreSchema, mode: Any = "validation") -> JsonSchemaValue:
        document = super().generate(schema, mode)
        document.pop("title", None)
        return document


@dataclass(frozen=True, slots=True)
class FunctionSignature:
    """What a function's signature and docstring say about it as a tool.

    Attributes:
        description: the docstring without its parameter section ("" when there is none).
        parameters: JSON Schema (Draft 2020-12) of its arguments.
    """

    description: str
    parameters: dict[str, Any]
    _model: type[BaseModel]
    _names: Mapping[str, str]
    _context_parameter: str | None

    def keywords(self, arguments: Mapping[str, Any], context: ToolContext) -> dict[str, Any]:
        """The keyword arguments to call the function with.

        Args:
            arguments: parsed arguments that satisfy ``parameters``.
            context: handed over when the function asks for it.

        Raises:
            pydantic.ValidationError: the annotations demand more than JSON Schema can say.
        """
        validated = self._model.model_validate(arguments)
        values = {name: getattr(validated, field) for field, name in self._names.items()}
        if self._context_parameter is not None:
            values[self._context_parameter] = context
        return values

    def problems(self, arguments: Mapping[str, Any]) -> list[Problem]:
        """What the annotations demand beyond the schema, and `arguments` do not hold."""
        try:
            self._model.model_validate(arguments)
        except ValidationError as error:
            return [
                Problem(pointer(item["loc"]), item["msg"])
                for item in error.errors(include_url=False, include_context=False, include_input=False)
            ]
        return []


def read_signature(function: Callable[..., Any], *, tool: str) -> FunctionSignature:
    """Read a function as a tool.

    Args:
        function: a sync or async function with annotated parameters.
        tool: the tool's name, for error messages.

    Raises:
        ToolError: ``tool_signature`` — a parameter without annotation, or of a kind or
            type that JSON arguments cannot fill.
    """
    hints = _type_hints(function, tool)
    described = _parameter_descriptions(function)
    fields: dict[str, Any] = {}
    names: dict[str, str] = {}
    context_parameter: str | None = None
    for index, (name, parameter) in enumerate(_parameters(function, tool).items()):
        annotation = hints.get(name)
        if is_context(annotation):
            context_parameter = name
            continue
        _check_parameter(parameter, annotation, tool)
        # Numbered fields behind aliases: a parameter may bear a name that a model may not (`schema`, `_x`).
        names[f"p{index}"] = name
        fields[f"p{index}"] = _field(parameter, annotation, described.get(name))
    try:
        model: type[BaseModel] = create_model("Arguments", __config__=ConfigDict(extra="forbid"), **fields)
        parameters = model.model_json_schema(by_alias=True, schema_generator=_PlainSchema)
    except PydanticUserError as error:
        raise ToolError(
            f"tool {tool!r}: its parameters have no JSON Schema: {error.message}", code="tool_signature"
        ) from error
    return FunctionSignature(_description(function), parameters, model, names, context_parameter)


def context_parameter(handler: Callable[..., Any], *, tool: str) -> str | None:
    """The name of the parameter through which `handler` asks for a ToolContext, if it does."""
    hints = _type_hints(handler, tool)
    return next((name for name, annotation in hints.items() if is_context(annotation)), None)


def is_context(annotation: Any) -> bool:
    """Whether an annotation asks for the ToolContext rather than for an argument."""
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    return annotation is ToolContext


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function inside a partial: it has the annotations and the docstring."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _parameters(function: Callable[..., Any], tool: str) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (ValueError, TypeError) as error:
        raise ToolError(f"tool {tool!r}: its parameters cannot be read: {error}", code="tool_signature") from error


def _type_hints(function: Callable[..., Any], tool: str) -> dict[str, Any]:
    plain = _plain(function)
    target = plain if inspect.isroutine(plain) else type(plain).__call__
    try:
        hints = get_type_hints(target, localns=_declaring_names(), include_extras=True)
    except NameError as error:
        raise ToolError(
            f"tool {tool!r}: an annotation names something unknown where it was declared: {error}",
            code="tool_signature",
        ) from error
    hints.pop("return", None)
    return hints


def _declaring_names() -> dict[str, Any]:
    """The local names where the tool is declared: annotations inside a function may name them."""
    frame = inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__")).startswith(__package__):
        frame = frame.f_back
    return {} if frame is None else dict(frame.f_locals)


def _check_parameter(parameter: inspect.Parameter, annotation: Any, tool: str) -> None:
    if parameter.kind not in _CALLABLE_KINDS:
        raise ToolError(
            f"tool {tool!r}: parameter {parameter.name!r} is {parameter.kind.description};"
            " arguments come by name, so declare it as an ordinary parameter",
            code="tool_signature",
        )
    if annotation is None and parameter.annotation is inspect.Parameter.empty:
        raise ToolError(
            f"tool {tool!r}: parameter {parameter.name!r} has no annotation, so it has no schema",
            code="tool_signature",
        )


def _field(parameter: inspect.Parameter, annotation: Any, description: str | None) -> tuple[Any, Any]:
    """Type and default of the model field for one parameter.

    What the docstring says stands first, so that an own ``Field(...)`` overrules it.
    """
    base, *own = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    default = ... if parameter.default is inspect.Parameter.empty else parameter.default
    return Annotated[base, Field(alias=parameter.name, description=description), *own], default


def _docstring(function: Callable[..., Any]) -> docstring_parser.Docstring:
    return docstring_parser.parse(inspect.getdoc(_plain(function)) or "")


def _parameter_descriptions(function: Callable[..., Any]) -> dict[str, str]:
    return {item.arg_name: item.description for item in _docstring(function).params if item.description}


def _description(function: Callable[..., Any]) -> str:
    return (_docstring(function).description or "").strip()
