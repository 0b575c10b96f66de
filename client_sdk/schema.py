"""JSON Schema as this package uses it: judge a value, and say what was expected so that it can be mended.

Two kinds of schema pass through here: those the application declares for its
tools (FT-5), and those an agent sends with an interrupt (IR-2). The second kind
is hostile until proven otherwise, so nothing here ever fetches a reference, and
every way in which a schema can be unusable ends in one typed error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import regex
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, UndefinedTypeCheck, UnknownType
from jsonschema.validators import validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from client_sdk.bounded import additional_names, allowance, bounded, is_unboundable

MAX_PROBLEMS = 10
"""How many problems of one value are reported; a reader mends the first few and asks again."""

_MAX_QUOTED = 120

_Error = Any
"""jsonschema's validation and schema errors: one shape, two classes without a public base."""

_NO_REMOTE_REFERENCES: Registry[Any] = Registry()
"""A registry that resolves nothing but the schema itself: an agent's schema must not make us fetch a URL."""


class SchemaUnusable(ValueError):
    """A JSON Schema that cannot judge anything; the message says why."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One way in which a value misses its schema.

    Attributes:
        path: JSON Pointer into the value ("" is the value itself).
        message: what was expected there, and what was found.
    """

    path: str
    message: str

    def __str__(self) -> str:
        return f"at {shortened(self.path) or '/'}: {self.message}"


_TYPE_NAMES: tuple[tuple[type, str], ...] = (
    (bool, "boolean"),  # before int: a bool is an int to Python, not to JSON
    (str, "string"),
    (int, "integer"),
    (float, "number"),
    (list, "array"),
    (Mapping, "object"),
)


def pointer(path: Iterable[str | int]) -> str:
    """The JSON Pointer (RFC 6901) of a sequence of keys and indices."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in path)


def whole_characters(text: str) -> str:
    """`text` with U+FFFD for every half of a UTF-16 surrogate pair that stands alone: such text cannot be sent."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def quote(value: Any) -> str:
    """`value` as JSON, cut to a readable length."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return f"a deeply nested {json_type(value)}"
    return shortened(whole_characters(text))


def shortened(text: str) -> str:
    """`text`, cut to a readable length: what a model sent is quoted, not repeated."""
    return text if len(text) <= _MAX_QUOTED else text[: _MAX_QUOTED - 1] + "…"


def json_type(value: Any) -> str:
    """The JSON type name of a parsed value."""
    return next((name for kind, name in _TYPE_NAMES if isinstance(value, kind)), "null")


def _expected_type(error: _Error) -> str:
    wanted = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
    found = "null" if error.instance is None else f"{json_type(error.instance)} {quote(error.instance)}"
    return f"expected {' or '.join(map(str, wanted))}, found {found}"


def _expected_property(error: _Error) -> str:
    missing = [name for name in error.validator_value if name not in error.instance]
    return f"required property {', '.join(map(quote, missing))} is missing"


def _unexpected_property(error: _Error) -> str:
    extra = additional_names(error.instance, error.schema)
    names = ", ".join(map(quote, error.schema.get("properties", {}))) or "none"
    return f"unknown property {shortened(', '.join(map(quote, extra)))}; known are {names}"


def _not_listed(error: _Error) -> str:
    return f"expected one of {', '.join(map(quote, error.validator_value))}, found {quote(error.instance)}"


def _not_one_alternative(error: _Error) -> str:
    return (
        _no_alternative(error)
        if error.context
        else f"found {quote(error.instance)}, which fits more than one alternative"
    )


def _no_alternative(error: _Error) -> str:
    reasons = dict.fromkeys(
        f"{_message(inner)}" + (f" (at {pointer(inner.relative_path)})" if inner.relative_path else "")
        for inner in error.context or ()
    )
    return f"found {quote(error.instance)}, which fits none of the alternatives: {'; or '.join(reasons)}"


_WORDING: Mapping[str, Callable[[_Error], str]] = {
    "type": _expected_type,
    "required": _expected_property,
    "additionalProperties": _unexpected_property,
    "enum": _not_listed,
    "const": lambda e: f"expected {quote(e.validator_value)}, found {quote(e.instance)}",
    "minimum": lambda e: f"expected at least {e.validator_value}, found {quote(e.instance)}",
    "maximum": lambda e: f"expected at most {e.validator_value}, found {quote(e.instance)}",
    "exclusiveMinimum": lambda e: f"expected more than {e.validator_value}, found {quote(e.instance)}",
    "exclusiveMaximum": lambda e: f"expected less than {e.validator_value}, found {quote(e.instance)}",
    "multipleOf": lambda e: f"expected a multiple of {e.validator_value}, found {quote(e.instance)}",
    "minLength": lambda e: f"expected at least {e.validator_value} characters, found {quote(e.instance)}",
    "maxLength": lambda e: f"expected at most {e.validator_value} characters, found {quote(e.instance)}",
    "pattern": lambda e: f"expected text matching {e.validator_value}, found {quote(e.instance)}",
    "minItems": lambda e: f"expected at least {e.validator_value} items, found {len(e.instance)}",
    "maxItems": lambda e: f"expected at most {e.validator_value} items, found {len(e.instance)}",
    "anyOf": _no_alternative,
    "oneOf": _not_one_alternative,
}


def _message(error: _Error) -> str:
    wording = _WORDING.get(str(error.validator))
    if wording is not None:
        return wording(error)
    return f"{quote(error.instance)} does not satisfy {error.validator}: {quote(error.validator_value)}"


class Schema:
    """A JSON Schema ready to judge values.

    Judged by the draft its ``$schema`` names, else by Draft 2020-12.

    Args:
        document: the schema, an object (a boolean is legal too).

    Raises:
        SchemaUnusable: the document is not a valid JSON Schema.
    """

    __slots__ = ("_validator",)

    def __init__(self, document: Any) -> None:
        if not isinstance(document, Mapping | bool):
            raise SchemaUnusable(f"a JSON Schema is an object, not {json_type(document)}")
        try:
            kind: Any = validator_for(document, default=Draft202012Validator)
            kind.check_schema(document)
        except SchemaError as error:
            where = pointer(error.path) or "/"
            raise SchemaUnusable(f"not a valid JSON Schema at {where}: {_message(error)}") from error
        except _UNUSABLE as error:
            raise SchemaUnusable(f"not a usable JSON Schema: {error}") from error
        if is_unboundable(document):
            raise SchemaUnusable("not a usable JSON Schema: unevaluatedProperties beside patternProperties")
        self._validator = bounded(kind)(document, registry=_NO_REMOTE_REFERENCES)

    def problems(self, value: Any) -> list[Problem]:
        """What is wrong with `value`, first things first; empty when nothing is.

        Args:
            value: any parsed JSON value.

        Returns:
            At most ``MAX_PROBLEMS`` problems, sorted by path.

        Raises:
            SchemaUnusable: judging needs what the schema does not hold (an
                unresolvable or endless reference, a pattern that is no regular expression),
                or more work than a schema may ask for.
        """
        try:
            with allowance(value):
                errors = sorted(self._validator.iter_errors(value), key=lambda e: pointer(e.absolute_path))
                # Some keywords report each miss, and one sentence tells of all.
                found = dict.fromkeys(Problem(pointer(e.absolute_path), _message(e)) for e in errors)
                return list(found)[:MAX_PROBLEMS]
        except _UNUSABLE as error:
            raise SchemaUnusable(f"not a usable JSON Schema: {str(error) or type(error).__name__}") from error


_UNUSABLE: tuple[type[Exception], ...] = (
    Unresolvable,
    RecursionError,
    regex.error,
    UnknownType,
    UndefinedTypeCheck,
    TypeError,
    ValueError,
    AttributeError,
    KeyError,
    ArithmeticError,
)
"""What jsonschema and referencing raise on schemas that no metaschema check catches."""
