"""From a call's argument text to arguments a tool may be given (TC-2, FT-5).

The text is a model's, so it is read strictly: JSON as RFC 8259 has it, one
object, no property twice, no NaN or Infinity. What is wrong is said so that a
model can mend it: where, what was expected, what was found.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from client_sdk.jsontext import canonical_json, parse_json
from client_sdk.schema import Problem, Schema, SchemaUnusable, json_type, quote


class ArgumentState(StrEnum):
    """What an argument text turned out to be."""

    VALID = "valid"
    NOT_JSON = "not_json"
    NOT_AN_OBJECT = "not_an_object"
    AGAINST_SCHEMA = "against_schema"


@dataclass(frozen=True, slots=True)
class ParsedArguments:
    """An argument text, read and judged.

    Attributes:
        state: whether a tool may be given it.
        value: the arguments; None when the text is not a JSON object.
        problems: what is wrong, for the model to mend; empty when valid.
    """

    state: ArgumentState
    value: dict[str, Any] | None
    problems: tuple[Problem, ...] = ()


def parse_arguments(text: str, schema: Schema | None) -> ParsedArguments:
    """Read and judge a call's argument text (FT-5).

    A call without any argument text is a call without arguments: producers that
    have nothing to stream send no TOOL_CALL_ARGS at all.

    Args:
        text: the joined deltas.
        schema: the tool's declared schema; None judges the JSON alone.

    Returns:
        The arguments, or what is wrong with them; never an exception.
    """
    try:
        value = parse_json(text) if text.strip() else {}
    except ValueError as error:
        return ParsedArguments(ArgumentState.NOT_JSON, None, (Problem("", f"the text is not JSON: {error}"),))
    if not isinstance(value, dict):
        found = f"{json_type(value)} {quote(value)}"
        problem = Problem("", f"expected an object with the arguments, found {found}")
        return ParsedArguments(ArgumentState.NOT_AN_OBJECT, None, (problem,))
    return judge_arguments(value, schema)


def judge_arguments(value: dict[str, Any], schema: Schema | None) -> ParsedArguments:
    """Judge arguments that are already parsed, a user's edit for instance.

    Args:
        value: the arguments.
        schema: the tool's declared schema; None accepts them.
    """
    if schema is None:
        return ParsedArguments(ArgumentState.VALID, value)
    try:
        problems = tuple(schema.problems(value))
    except SchemaUnusable as error:
        problems = (Problem("", f"the arguments cannot be judged: {error}"),)
    state = ArgumentState.AGAINST_SCHEMA if problems else ArgumentState.VALID
    return ParsedArguments(state, value, problems)


def arguments_hash(arguments: Mapping[str, Any]) -> str:
    """What consent is bound to: the SHA-256 of the arguments' canonical JSON, in hexadecimal."""
    return hashlib.sha256(canonical_json(arguments).encode("ascii")).hexdigest()
