"""Argument text is untrusted: read strictly, judged, and explained so that a model can mend it (FT-5, TC-2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client_sdk.schema import Schema
from client_sdk.tools.arguments import ArgumentState, arguments_hash, judge_arguments, parse_arguments
from tests.client_sdk.test_jsontext import json_values

SCHEMA = Schema({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]})


@pytest.mark.parametrize(
    ("text", "state", "said"),
    [
        ('{"path": "a"}', ArgumentState.VALID, None),
        ('  {"path": "a"}\n', ArgumentState.VALID, None),
        ('{"path":', ArgumentState.NOT_JSON, "the text is not JSON: Expecting value"),
        ('{"path": "a"}{"path": "a"}', ArgumentState.NOT_JSON, "Extra data"),
        ('{"path": NaN}', ArgumentState.NOT_JSON, "NaN is not a JSON number"),
        ('{"path": "a", "path": "b"}', ArgumentState.NOT_JSON, 'property "path" occurs twice'),
        ('["path"]', ArgumentState.NOT_AN_OBJECT, 'expected an object with the arguments, found array ["path"]'),
        ("null", ArgumentState.NOT_AN_OBJECT, "found null"),
        ('"{}"', ArgumentState.NOT_AN_OBJECT, "found string"),
        ("{}", ArgumentState.AGAINST_SCHEMA, 'at /: required property "path" is missing'),
        ("", ArgumentState.AGAINST_SCHEMA, 'required property "path" is missing'),
        ('{"path": 5}', ArgumentState.AGAINST_SCHEMA, "at /path: expected string, found integer 5"),
    ],
)
def test_what_an_argument_text_turns_out_to_be(text: str, state: ArgumentState, said: str | None) -> None:
    parsed = parse_arguments(text, SCHEMA)
    assert parsed.state is state
    assert [said in str(problem) for problem in parsed.problems] == ([] if said is None else [True])


def test_no_text_at_all_is_no_arguments() -> None:
    """A producer with nothing to stream sends no TOOL_CALL_ARGS."""
    assert parse_arguments("", Schema({"type": "object"})).state is ArgumentState.VALID


def test_without_a_schema_the_json_alone_is_judged() -> None:
    assert parse_arguments('{"a": 1}', None).state is ArgumentState.VALID
    assert judge_arguments({"a": 1}, None).state is ArgumentState.VALID


def test_a_schema_that_cannot_judge_refuses() -> None:
    """What cannot be judged is not run."""
    parsed = parse_arguments("{}", Schema({"$ref": "#"}))
    assert parsed.state is ArgumentState.AGAINST_SCHEMA
    assert "cannot be judged" in parsed.problems[0].message


@given(st.text())
def test_no_text_whatever_raises(text: str) -> None:
    parsed = parse_arguments(text, SCHEMA)
    assert (parsed.state is ArgumentState.VALID) is not bool(parsed.problems)


@given(st.dictionaries(st.text(), json_values), st.dictionaries(st.text(), json_values))
def test_consent_is_bound_to_exactly_these_arguments(one: dict[str, object], other: dict[str, object]) -> None:
    """FT-6: equal arguments, equal hash, whatever their order."""
    assert arguments_hash(one) == arguments_hash(dict(reversed(one.items())))
    if arguments_hash(one) == arguments_hash(other):
        assert one == other


def test_what_is_said_stays_short_whatever_was_sent() -> None:
    """A model is told what to mend, not handed back a megabyte of what it sent."""
    strict = Schema({"properties": {"a": {"additionalProperties": {"type": "string"}}}, "additionalProperties": False})
    long = "x" * 1_000_000
    for text in (
        "{" + ",".join(f'"p{n}": 1' for n in range(20_000)) + "}",
        f'{{"{long}": 1}}',
        f'{{"a": {{"{long}": 1}}}}',
        f'{{"{long}": 1, "{long}": 1}}',
        f'"{long}"',
    ):
        (problem,) = parse_arguments(text, strict).problems
        assert len(str(problem)) < 500
