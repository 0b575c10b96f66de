"""Frontend tools: what the application offers an agent, and on what terms (FT-1, FT-6, AL-2).

::

    registry = ToolRegistry()

    @registry.tool(side_effects=False, example={"page": "orders"})
    async def navigate(page: Literal["orders", "products"]) -> str:
        \"\"\"Show a page of this application.

        Args:
            page: which page to show.
        \"\"\"

The defaults are the safe ones: a tool has side effects unless it says otherwise,
and what has side effects is never run without consent.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypedDict, TypeVar, Unpack, overload

from ag_ui.core import Tool

from client_sdk.errors import OptionError, ToolError
from client_sdk.options import SECONDS, SWITCH, Wanted, check_options, optional
from client_sdk.schema import Schema, SchemaUnusable
from client_sdk.tools.arguments import ArgumentState, ParsedArguments, judge_arguments, parse_arguments
from client_sdk.tools.context import ToolContext
from client_sdk.tools.signature import FunctionSignature, context_parameter, read_signature

Handler = Callable[..., Any]
HandlerT = TypeVar("HandlerT", bound=Handler)

ConsentPolicy = Literal["never", "once_per_thread", "always"] | Callable[[dict[str, Any]], bool]
"""When a call needs the user's consent; a function of the arguments returns True when it does."""

DEFAULT_DEADLINE = 60.0
"""Seconds a handler may take unless its tool says otherwise."""

_POLICIES = ("never", "once_per_thread", "always")


def _is_policy(value: Any) -> bool:
    return value is None or callable(value) or (isinstance(value, str) and value in _POLICIES)


@dataclass(frozen=True, slots=True)
class ToolOptions:
    """The terms on which a tool is offered.

    Attributes:
        side_effects: whether running it changes anything outside; True unless said otherwise.
        consent: when a call needs the user's consent; None means "always" for a tool
            with side effects and "never" for one without.
        deadline: seconds its handler may take; None lets it take for ever.
        follow_up: whether its answer starts another run (FT-7); False for a terminal
            effect such as a chart. The answer is recorded and sent either way.
        exclusive: whether it must run alone: after every earlier call of its run has
            ended and before any later one starts.
    """

    side_effects: bool = True
    consent: ConsentPolicy | None = None
    deadline: float | None = DEFAULT_DEADLINE
    follow_up: bool = True
    exclusive: bool = False


class ToolTerms(TypedDict, total=False):
    """The same as keyword arguments."""

    side_effects: bool
    consent: ConsentPolicy | None
    deadline: float | None
    follow_up: bool
    exclusive: bool


_TERMS: Final[dict[str, Wanted]] = {
    "side_effects": SWITCH,
    "consent": Wanted(f"one of {', '.join(_POLICIES)} or a function of the arguments", _is_policy),
    "deadline": optional(SECONDS),
    "follow_up": SWITCH,
    "exclusive": SWITCH,
}


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """One tool: its declaration, its terms and its handler.

    Attributes:
        name: the name the agent calls it by.
        description: what it does, for the agent; ends with the example input.
        parameters: JSON Schema of its arguments.
        handler: the function that answers a call; None when the application answers by hand.
        options: its terms.
        advertised: whether it is offered to agents; False for a handler that only
            waits for calls of its name (FT-6).
        declaration: the tool as it was handed over, when it was.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    handler: Handler | None
    options: ToolOptions = field(default_factory=ToolOptions)
    advertised: bool = True
    declaration: Tool | None = field(default=None, repr=False)
    _schema: Schema = field(default_factory=lambda: Schema({}), repr=False, compare=False)
    _signature: FunctionSignature | None = field(default=None, repr=False, compare=False)
    _context_parameter: str | None = field(default=None, repr=False, compare=False)

    @property
    def consent(self) -> ConsentPolicy:
        """The consent policy in force: what was declared, or the safe default."""
        if self.options.consent is not None:
            return self.options.consent
        return "always" if self.options.side_effects else "never"

    @property
    def is_async(self) -> bool:
        """Whether the handler is a coroutine function; others run in a thread of their own."""
        call = self.handler if inspect.isroutine(self.handler) else type(self.handler).__call__
        return inspect.iscoroutinefunction(call)

    def to_tool(self) -> Tool:
        """The declaration as it goes into a run input."""
        if self.declaration is not None:
            return self.declaration
        return Tool(name=self.name, description=self.description, parameters=self.parameters)

    def read(self, text: str) -> ParsedArguments:
        """Read and judge a call's argument text; never an exception (FT-5)."""
        return self._judged_by_signature(parse_arguments(text, self._schema))

    def judge(self, arguments: dict[str, Any]) -> ParsedArguments:
        """Judge arguments that are already parsed, such as a user's edit."""
        return self._judged_by_signature(judge_arguments(arguments, self._schema))

    def call(self, arguments: dict[str, Any], context: ToolContext) -> Any:
        """Call the handler; a coroutine when it is async.

        Args:
            arguments: arguments that :meth:`read` or :meth:`judge` found valid.
            context: the call it answers.

        Raises:
            ToolError: ``no_handler`` — the tool was advertised without one.
        """
        if self.handler is None:
            raise ToolError(f"the tool {self.name!r} has no handler", code="no_handler")
        if self._signature is not None:
            return self.handler(**self._signature.keywords(arguments, context))
        extra = {self._context_parameter: context} if self._context_parameter else {}
        return self.handler(arguments, **extra)

    def _judged_by_signature(self, parsed: ParsedArguments) -> ParsedArguments:
        if parsed.state is not ArgumentState.VALID or self._signature is None or parsed.value is None:
            return parsed
        problems = tuple(self._signature.problems(parsed.value))
        if not problems:
            return parsed
        return ParsedArguments(ArgumentState.AGAINST_SCHEMA, parsed.value, problems)


class ToolRegistry(Mapping[str, ToolDefinition]):
    """The frontend tools of an application, by name.

    A mapping of definitions. Registries combine with ``|``; ``only`` makes a
    smaller offer for one run. Looking a tool up finds unadvertised handlers too.
    """

    def __init__(self, definitions: Mapping[str, ToolDefinition] | None = None) -> None:
        self._definitions: dict[str, ToolDefinition] = dict(definitions or {})

    def __getitem__(self, name: str) -> ToolDefinition:
        return self._definitions[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._definitions)

    def __len__(self) -> int:
        return len(self._definitions)

    def __repr__(self) -> str:
        return f"ToolRegistry({', '.join(self._definitions)})"

    def __or__(self, other: ToolRegistry) -> ToolRegistry:
        """Both registries' tools, in order.

        Raises:
            ToolError: ``duplicate_tool`` — a name is in both with different definitions.
        """
        combined = ToolRegistry(self._definitions)
        for name, definition in other.items():
            if self._definitions.get(name) is not definition:
                combined.add(definition)
        return combined

    def only(self, *names: str) -> ToolRegistry:
        """A registry that offers just these tools; unadvertised handlers stay.

        Raises:
            ToolError: ``unknown_tool`` — a name is not registered.
        """
        missing = [name for name in names if name not in self._definitions]
        if missing:
            raise ToolError(f"no tool is registered as {', '.join(map(repr, missing))}", code="unknown_tool")
        return ToolRegistry({name: d for name, d in self._definitions.items() if name in names or not d.advertised})

    def overlaid(self, other: ToolRegistry) -> ToolRegistry:
        """This registry with another's tools laid over it: where both have a name, the other's counts."""
        return ToolRegistry({**self._definitions, **other._definitions})

    def offered(self) -> frozenset[str]:
        """The names this registry advertises to an agent."""
        return frozenset(name for name, definition in self._definitions.items() if definition.advertised)

    def to_tools(self) -> list[Tool]:
        """The advertised tools as they go into a run input (FT-1), in order of registration."""
        return [definition.to_tool() for definition in self._definitions.values() if definition.advertised]

    def add(self, definition: ToolDefinition) -> None:
        """Register a finished definition.

        Raises:
            ToolError: ``duplicate_tool`` — the name is taken.
        """
        if definition.name in self._definitions:
            raise ToolError(f"a tool named {definition.name!r} is already registered", code="duplicate_tool")
        self._definitions[definition.name] = definition

    @overload
    def tool(self, function: HandlerT, /) -> HandlerT: ...

    @overload
    def tool(
        self,
        function: None = None,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
        example: Mapping[str, Any] | None = None,
        **terms: Unpack[ToolTerms],
    ) -> Callable[[HandlerT], HandlerT]: ...

    def tool(
        self,
        function: Any = None,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
        example: Mapping[str, Any] | None = None,
        **terms: Unpack[ToolTerms],
    ) -> Any:
        """Register a function as a tool; the function itself is left as it is.

        Args:
            function: when used as ``@registry.tool`` without parentheses.
            name: the tool's name; the function's by default.
            description: for the agent; the docstring by default.
            example: an input that shows how to call it, appended to the description (AL-2).
            terms: ``side_effects``, ``consent``, ``deadline``, ``follow_up``, ``exclusive``; see :class:`ToolOptions`.

        Raises:
            ToolError: ``tool_signature``, ``tool_description``, ``tool_example``,
                ``tool_options`` or ``duplicate_tool``; the message says what to change.
        """
        options = _options("tool", terms)

        def register(handler: HandlerT) -> HandlerT:
            self.add(_from_function(handler, name, description, example, options))
            return handler

        return register if function is None else register(function)

    def declare(
        self,
        name: str,
        description: str,
        parameters: Mapping[str, Any],
        handler: Handler,
        *,
        example: Mapping[str, Any] | None = None,
        **terms: Unpack[ToolTerms],
    ) -> ToolDefinition:
        """Register a tool by a declared schema, for what has no Python function of its own.

        Args:
            name: the tool's name.
            description: for the agent.
            parameters: JSON Schema of the arguments (Draft 2020-12 unless ``$schema`` says otherwise).
            handler: called with the arguments as one dict, and with a ToolContext if it asks for it.
            example: an input that shows how to call it, appended to the description (AL-2).
            terms: ``side_effects``, ``consent``, ``deadline``, ``follow_up``, ``exclusive``; see :class:`ToolOptions`.

        Raises:
            ToolError: ``tool_schema``, ``tool_description``, ``tool_example``, ``tool_options``
                or ``duplicate_tool``.
        """
        options = _options("declare", terms)
        definition = _declared(name, description, parameters, handler, example, options)
        self.add(definition)
        return definition

    def advertise(self, tool: Tool) -> ToolDefinition:
        """Offer a tool without a handler: its calls stay open until the application answers them.

        Raises:
            ToolError: ``tool_schema`` or ``duplicate_tool``.
        """
        parameters = {} if tool.parameters is None else tool.parameters
        definition = ToolDefinition(
            tool.name, tool.description, parameters, None, declaration=tool, _schema=_schema(tool.name, parameters)
        )
        self.add(definition)
        return definition

    def handle_unadvertised(
        self,
        name: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        **terms: Unpack[ToolTerms],
    ) -> Callable[[HandlerT], HandlerT]:
        """Answer calls of a name that is never offered (FT-6); a decorator.

        Some producers ask for approval through a call they made up. Its handler
        stands under the same gate as any other.

        Args:
            name: the name such calls bear.
            parameters: JSON Schema their arguments must satisfy; the handler then takes
                them as one dict. None draws the schema from the handler's signature.
            terms: ``side_effects``, ``consent``, ``deadline``, ``follow_up``, ``exclusive``; see :class:`ToolOptions`.

        Raises:
            ToolError: as :meth:`tool` and :meth:`declare`.
        """
        options = _options("handle_unadvertised", terms)

        def register(handler: HandlerT) -> HandlerT:
            text = f"Answers calls of the unadvertised name {name}."
            if parameters is None:
                definition = _from_function(handler, name, text, None, options, advertised=False)
            else:
                definition = _declared(name, text, parameters, handler, None, options, advertised=False)
            self.add(definition)
            return handler

        return register


def _from_function(
    handler: Handler,
    name: str | None,
    description: str | None,
    example: Mapping[str, Any] | None,
    options: ToolOptions,
    *,
    advertised: bool = True,
) -> ToolDefinition:
    tool = name if name is not None else getattr(handler, "__name__", type(handler).__name__)
    _check_handler(handler, tool)
    signature = read_signature(handler, tool=tool)
    schema = Schema(signature.parameters)
    return ToolDefinition(
        name=_checked_name(tool),
        description=_full_description(tool, description or signature.description, example, schema),
        parameters=signature.parameters,
        handler=handler,
        options=_checked_options(tool, options),
        advertised=advertised,
        _schema=schema,
        _signature=signature,
    )


def _declared(
    name: str,
    description: str,
    parameters: Mapping[str, Any],
    handler: Handler,
    example: Mapping[str, Any] | None,
    options: ToolOptions,
    *,
    advertised: bool = True,
) -> ToolDefinition:
    _check_handler(handler, name)
    schema = _schema(name, parameters)
    return ToolDefinition(
        name=_checked_name(name),
        description=_full_description(name, description, example, schema),
        parameters=dict(parameters),
        handler=handler,
        options=_checked_options(name, options),
        advertised=advertised,
        _schema=schema,
        _context_parameter=context_parameter(handler, tool=name),
    )


def _schema(tool: str, parameters: Any) -> Schema:
    try:
        return Schema(parameters)
    except SchemaUnusable as error:
        raise ToolError(f"tool {tool!r}: its parameters are {error}", code="tool_schema") from error


def _check_handler(handler: Handler, tool: str) -> None:
    if not callable(handler):
        raise ToolError(f"tool {tool!r}: its handler is no function", code="tool_signature")
    if inspect.isgeneratorfunction(handler) or inspect.isasyncgenfunction(handler):
        raise ToolError(
            f"tool {tool!r}: its handler is a generator; a call has one answer, so return it",
            code="tool_signature",
        )


def _checked_name(name: str) -> str:
    if not isinstance(name, str) or not name.strip():
        raise ToolError(f"a tool needs a name, a str; {name!r} is none", code="tool_options")
    return name


def _options(method: str, terms: ToolTerms) -> ToolOptions:
    for name in terms.keys() - _TERMS.keys():
        raise TypeError(f"ToolRegistry.{method}() got an unexpected keyword argument {name!r}")
    return ToolOptions(**terms)


def _checked_options(tool: str, options: ToolOptions) -> ToolOptions:
    try:
        check_options(f"tool {tool!r}", _TERMS, {name: getattr(options, name) for name in _TERMS})
    except OptionError as error:
        raise ToolError(str(error), code="tool_options") from None
    if options.side_effects and options.consent == "never":
        raise ToolError(
            f"tool {tool!r}: a tool with side effects needs consent (FT-6); declare side_effects=False,"
            " or decide by a function of the arguments",
            code="tool_options",
        )
    return options


def _full_description(tool: str, description: str, example: Mapping[str, Any] | None, schema: Schema) -> str:
    """The description with its example input: both are prompt (AL-2)."""
    text = description.strip() if isinstance(description, str) else ""
    if not text:
        raise ToolError(
            f"tool {tool!r} has no description: an agent decides by it; write a docstring",
            code="tool_description",
        )
    if example is None:
        return text
    if not isinstance(example, Mapping):
        raise ToolError(f"tool {tool!r}: its example is an input, a mapping", code="tool_example")
    problems = schema.problems(dict(example))
    if problems:
        raise ToolError(f"tool {tool!r}: its example does not fit its schema {problems[0]}", code="tool_example")
    return f"{text}\n\nExample input: {json.dumps(dict(example), ensure_ascii=False)}"
