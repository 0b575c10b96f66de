"""Declaring tools: schemas from signatures, safe defaults, clear refusals (FT-1, FT-6, AL-2)."""

from __future__ import annotations

import enum
import functools
from collections.abc import AsyncIterator, Iterator
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from ag_ui.core import Tool
from pydantic import AfterValidator, BaseModel, Field

from client_sdk.errors import ToolError
from client_sdk.tools.arguments import ArgumentState
from client_sdk.tools.context import ToolContext
from client_sdk.tools.registry import ToolDefinition, ToolOptions, ToolRegistry

CONTEXT = ToolContext("call_1", "t", "thread", "run")


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Address(BaseModel):
    """Where it goes."""

    street: str = Field(description="street and number")
    country: str = "KR"


class Order(BaseModel):
    to: Address
    gift: Address | None = None


def registered(function: Any, **options: Any) -> ToolDefinition:
    registry = ToolRegistry()
    registry.tool(**options)(function)
    return next(iter(registry.values()))


def test_the_schema_is_drawn_from_annotations_and_docstring() -> None:
    """Nested models, enums, unions, defaults, constraints, field and docstring descriptions."""
    registry = ToolRegistry()

    @registry.tool
    def place(
        order: Order,
        amount: Annotated[int, Field(ge=1, le=9, description="how many")],
        colour: Colour = Colour.RED,
        note: str | None = None,
        size: Literal["s", "m"] = Field("m", description="its size"),
        *,
        express: bool = False,
    ) -> str:
        """Place an order.

        It is sent at once.

        Args:
            order: what to send where
            amount: overruled by the annotation
            colour: which colour
        """
        return ""

    (tool,) = registry.to_tools()
    assert tool.model_dump(by_alias=True) == {
        "name": "place",
        "description": "Place an order.\n\nIt is sent at once.",
        "parameters": {
            "$defs": {
                "Address": {
                    "description": "Where it goes.",
                    "properties": {
                        "street": {"description": "street and number", "type": "string"},
                        "country": {"default": "KR", "type": "string"},
                    },
                    "required": ["street"],
                    "title": "Address",
                    "type": "object",
                },
                "Colour": {"enum": ["red", "blue"], "title": "Colour", "type": "string"},
                "Order": {
                    "properties": {
                        "to": {"$ref": "#/$defs/Address"},
                        "gift": {"anyOf": [{"$ref": "#/$defs/Address"}, {"type": "null"}], "default": None},
                    },
                    "required": ["to"],
                    "title": "Order",
                    "type": "object",
                },
            },
            "additionalProperties": False,
            "properties": {
                "order": {"$ref": "#/$defs/Order", "description": "what to send where"},
                "amount": {"description": "how many", "maximum": 9, "minimum": 1, "type": "integer"},
                "colour": {"$ref": "#/$defs/Colour", "default": "red", "description": "which colour"},
                "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
                "size": {"default": "m", "description": "its size", "enum": ["s", "m"], "type": "string"},
                "express": {"default": False, "type": "boolean"},
            },
            "required": ["order", "amount"],
            "type": "object",
        },
    }


def test_a_handler_gets_validated_values_and_its_own_defaults() -> None:
    """FT-5."""
    got: dict[str, Any] = {}

    def place(order: Order, when: date, colour: Colour = Colour.RED, size: str = Field("m")) -> None:
        """Place."""
        got.update(locals())

    tool = registered(place)
    parsed = tool.read('{"order": {"to": {"street": "x"}}, "when": "2026-11-30"}')
    assert parsed.state is ArgumentState.VALID
    assert parsed.value is not None
    tool.call(parsed.value, CONTEXT)
    del got["got"]
    assert got == {
        "order": Order(to=Address(street="x")),
        "when": date(2026, 11, 30),
        "colour": Colour.RED,
        "size": "m",
    }


def test_parameters_may_bear_names_that_a_model_may_not() -> None:
    def odd(schema: int, _private: int, model_config: int, json: int, p0: int) -> int:
        """Odd names."""
        return schema * 10_000 + _private * 1000 + model_config * 100 + json * 10 + p0

    tool = registered(odd)
    parsed = tool.read('{"schema": 1, "_private": 2, "model_config": 3, "json": 4, "p0": 5}')
    assert parsed.value is not None
    assert tool.call(parsed.value, CONTEXT) == 12345


def test_the_context_is_handed_over_and_no_part_of_the_schema() -> None:
    def one(ctx: ToolContext, n: int) -> tuple[str, int]:
        """One."""
        return ctx.call_id, n

    def two(n: int, *, where: Annotated[ToolContext, "injected"]) -> tuple[str, int]:
        """Two."""
        return where.call_id, n

    for function in (one, two):
        tool = registered(function)
        assert list(tool.parameters["properties"]) == ["n"]
        assert tool.call({"n": 3}, CONTEXT) == ("call_1", 3)


def test_an_example_input_is_shown_to_the_agent_and_checked() -> None:
    """AL-2."""

    def navigate(page: Literal["orders"]) -> None:
        """Show a page."""

    tool = registered(navigate, example={"page": "orders"})
    assert tool.description == 'Show a page.\n\nExample input: {"page": "orders"}'
    with pytest.raises(ToolError, match="example does not fit its schema at /page") as caught:
        registered(navigate, example={"page": "nowhere"})
    assert caught.value.code == "tool_example"


@pytest.mark.parametrize(
    ("options", "consent"),
    [
        ({}, "always"),
        ({"side_effects": False}, "never"),
        ({"consent": "once_per_thread"}, "once_per_thread"),
        ({"side_effects": False, "consent": "always"}, "always"),
    ],
)
def test_the_defaults_are_the_safe_ones(options: dict[str, Any], consent: str) -> None:
    """FT-6: what has side effects is not run without consent."""

    def act() -> None:
        """Act."""

    tool = registered(act, **options)
    assert tool.consent == consent
    assert (tool.options.deadline, tool.options.follow_up, tool.options.exclusive) == (60.0, True, False)


def _no_docstring() -> None: ...


def _unannotated(x) -> None:  # type: ignore[no-untyped-def]
    """Unannotated."""


def _variadic(*x: int) -> None:
    """Variadic."""


def _keywords(**x: int) -> None:
    """Keywords."""


def _positional(x: int, /) -> None:
    """Positional only."""


def _unknown(x: Nowhere) -> None:  # type: ignore[name-defined]  # noqa: F821
    """Names a type that does not exist."""


class Opaque:
    pass


def _opaque(x: Opaque) -> None:
    """A type without schema."""


def _generator() -> Iterator[int]:
    """A generator."""
    yield 1


async def _async_generator() -> AsyncIterator[int]:
    """A generator."""
    yield 1


@pytest.mark.parametrize(
    ("function", "code", "said"),
    [
        (_no_docstring, "tool_description", "write a docstring"),
        (_unannotated, "tool_signature", "'x' has no annotation"),
        (_variadic, "tool_signature", "variadic positional"),
        (_keywords, "tool_signature", "variadic keyword"),
        (_positional, "tool_signature", "positional-only"),
        (_unknown, "tool_signature", "Nowhere"),
        (_opaque, "tool_signature", "no JSON Schema"),
        (_generator, "tool_signature", "generator"),
        (_async_generator, "tool_signature", "generator"),
        ("no function", "tool_signature", "is no function"),
    ],
)
def test_a_function_that_is_no_tool_is_refused_with_what_to_change(function: Any, code: str, said: str) -> None:
    with pytest.raises(ToolError, match=said) as caught:
        registered(function)
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"consent": "sometimes"}, "consent is one of never, once_per_thread, always"),
        ({"consent": "never"}, "needs consent"),
        ({"deadline": 0}, "above 0"),
        ({"deadline": float("nan")}, "above 0"),
        ({"name": " "}, "needs a name"),
    ],
)
def test_terms_that_make_no_sense_are_refused(options: dict[str, Any], said: str) -> None:
    def act() -> None:
        """Act."""

    with pytest.raises(ToolError, match=said) as caught:
        registered(act, **options)
    assert caught.value.code == "tool_options"


def test_a_declared_schema_with_a_handler() -> None:
    """For tools that have no Python function: the handler takes the arguments as one dict."""
    registry = ToolRegistry()
    seen: list[Any] = []
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

    def handler(arguments: dict[str, Any], ctx: ToolContext) -> str:
        seen.append((arguments, ctx.call_id))
        return "ok"

    tool = registry.declare("set", "Set n.", schema, handler, example={"n": 1}, side_effects=False)
    assert tool.call({"n": 2}, CONTEXT) == "ok"
    assert registry.declare("plain", "Plain.", {}, seen.append).call({"a": 1}, CONTEXT) is None
    assert seen == [({"n": 2}, "call_1"), {"a": 1}]
    assert tool.read('{"n": "2"}').state is ArgumentState.AGAINST_SCHEMA
    assert tool.judge({"n": 2}).state is ArgumentState.VALID
    with pytest.raises(ToolError, match="not a valid JSON Schema at /type") as caught:
        registry.declare("bad", "Bad.", {"type": "nonsense"}, handler)
    assert caught.value.code == "tool_schema"


def test_registries_combine_and_shrink() -> None:
    one, two = ToolRegistry(), ToolRegistry()
    one.declare("a", "A.", {}, print)
    one.declare("b", "B.", {}, print)
    two.declare("c", "C.", {}, print)
    two.handle_unadvertised("confirm", parameters={})(print)
    both = one | two
    assert list(both) == ["a", "b", "c", "confirm"]
    assert len(both) == 4
    assert repr(one) == "ToolRegistry(a, b)"
    assert [tool.name for tool in both.to_tools()] == ["a", "b", "c"]
    assert both.offered() == {"a", "b", "c"}
    assert list(both.only("c", "a")) == ["a", "c", "confirm"]
    assert list(one | one) == ["a", "b"]
    with pytest.raises(ToolError, match="'z'") as caught:
        both.only("a", "z")
    assert caught.value.code == "unknown_tool"
    two.declare("a", "Another A.", {}, print)
    with pytest.raises(ToolError, match="'a' is already registered") as caught:
        _ = one | two
    assert caught.value.code == "duplicate_tool"


def test_a_handler_for_calls_nobody_advertised() -> None:
    """FT-6: some producers ask for approval through a call they made up."""
    registry = ToolRegistry()

    @registry.handle_unadvertised("confirm_changes")
    def confirm(accepted: bool = True) -> str:
        return "yes"

    assert registry.to_tools() == []
    assert registry["confirm_changes"].consent == "always"
    assert registry["confirm_changes"].parameters["properties"] == {"accepted": {"default": True, "type": "boolean"}}


def test_a_tool_that_the_application_answers_by_hand_is_offered_as_it_is() -> None:
    registry = ToolRegistry()
    offered = Tool(name="pick", description="", metadata={"icon": "x"})
    tool = registry.advertise(offered)
    assert registry.to_tools() == [offered]
    with pytest.raises(ToolError) as caught:
        tool.call({}, CONTEXT)
    assert caught.value.code == "no_handler"


def test_annotations_may_demand_more_than_json_schema_can_say() -> None:
    """FT-5: both judges are heard, and both name the path."""

    def even(n: int) -> int:
        if n % 2:
            raise ValueError("expected an even number")
        return n

    registry = ToolRegistry()

    @registry.tool
    def take(n: Annotated[int, AfterValidator(even)], when: date) -> None:
        """Take."""

    tool = registry["take"]
    parsed = tool.read('{"n": 3, "when": "yesterday"}')
    assert parsed.state is ArgumentState.AGAINST_SCHEMA
    assert [problem.path for problem in parsed.problems] == ["/n", "/when"]
    assert "expected an even number" in parsed.problems[0].message
    assert tool.read('{"n": "3", "when": "2026-11-30"}').problems[0].message == 'expected integer, found string "3"'


def test_which_handlers_are_async() -> None:
    async def plain() -> None:
        """Plain."""

    class Callable_:
        """A callable object."""

        async def __call__(self, n: int) -> int:
            return n

    assert registered(plain).is_async
    callable_ = registered(Callable_(), description="Call.")
    assert callable_.is_async
    assert callable_.name == "Callable_"


def test_a_partial_is_the_function_it_wraps() -> None:
    def scale(factor: int, n: int) -> int:
        """Scale n."""
        return factor * n

    tool = registered(functools.partial(scale, factor=3), name="triple")
    assert tool.description == "Scale n."
    assert tool.call({"n": 2}, CONTEXT) == 6
    assert not tool.is_async


def test_what_has_no_readable_signature_is_no_tool() -> None:
    with pytest.raises(ToolError, match="parameters cannot be read") as caught:
        registered(int, name="int", description="An integer.")
    assert caught.value.code == "tool_signature"


def test_a_definition_is_plain_data() -> None:
    assert ToolOptions() == ToolOptions(True, None, 60.0, True, False)
