"""Forms drawn from an agent's JSON Schema: every question askable, nothing raises (IR-2)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from client_sdk.forms import FieldError, FormField, form_answer, form_fields
from client_sdk.schema import Schema, SchemaUnusable
from tests.client_sdk.test_jsontext import json_values

APPROVAL = {
    "type": "object",
    "title": "Transfer",
    "properties": {
        "approved": {"type": "boolean", "title": "Approve", "description": "Let it go ahead"},
        "amount": {"type": "number", "default": 12.5},
        "count": {"type": ["integer", "null"]},
        "currency": {"enum": ["EUR", "KRW", 1, True, None]},
        "kind": {"anyOf": [{"const": "a"}, {"enum": ["b", "c"]}]},
        "note": {"$ref": "#/$defs/note"},
        "edited": {"type": "object", "properties": {"x": {}}},
        "tags": {"items": {"type": "string"}},
        "either": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        "whatever": {},
        "only": {"const": 7},
    },
    "required": ["approved", "note"],
    "$defs": {
        "note": {"allOf": [{"type": "string", "title": "Note"}, {"$ref": "#/$defs/long"}]},
        "long": {"maxLength": 9},
    },
}

JUDGE = Schema(APPROVAL)


def field(name: str) -> FormField:
    return next(one for one in form_fields(APPROVAL) if one.name == name)


@pytest.mark.parametrize(
    ("name", "kind", "types", "required"),
    [
        ("approved", "boolean", ("boolean",), True),
        ("amount", "number", ("number",), False),
        ("count", "integer", ("integer", "null"), False),
        ("currency", "choice", ("string", "integer", "boolean", "null"), False),
        ("kind", "choice", ("string",), False),
        ("note", "text", ("string",), True),
        ("edited", "json", ("object",), False),
        ("tags", "json", ("array",), False),
        ("either", "text", ("integer", "string"), False),
        ("whatever", "json", ("boolean", "integer", "number", "null", "array", "object", "string"), False),
        ("only", "choice", ("integer",), False),
    ],
)
def test_each_property_becomes_one_question(name: str, kind: str, types: tuple[str, ...], required: bool) -> None:
    asked = field(name)
    assert (asked.kind, asked.types, asked.required) == (kind, types, required)


def test_titles_descriptions_defaults_and_references() -> None:
    assert (field("approved").title, field("approved").description) == ("Approve", "Let it go ahead")
    assert (field("amount").has_default, field("amount").default) == (True, 12.5)
    assert (field("note").title, field("note").schema["maxLength"]) == ("Note", 9)
    assert (field("count").title, field("count").has_default) == ("count", False)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("approved", "yes", True),
        ("approved", " N ", False),
        ("approved", "true", True),
        ("amount", "1.5", 1.5),
        ("amount", "2", 2),
        ("count", "7", 7),
        ("count", "null", None),
        ("currency", "EUR", "EUR"),
        ("currency", "1", 1),
        ("currency", "true", True),
        ("currency", "null", None),
        ("kind", "c", "c"),
        ("note", "5", "5"),
        ("edited", '{"x": [1]}', {"x": [1]}),
        ("tags", '["a"]', ["a"]),
        ("either", "12", 12),
        ("either", "yes", "yes"),
        ("whatever", '{"a": 1}', {"a": 1}),
        ("whatever", "plain words", "plain words"),
        ("whatever", "yes", "yes"),
        ("whatever", "false", False),
        ("whatever", "1.5", 1.5),
    ],
)
def test_a_typed_text_becomes_the_value_it_stands_for(name: str, text: str, value: Any) -> None:
    read = field(name).read(text)
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("approved", "maybe", "Approve takes boolean, not 'maybe'"),
        ("count", "1.5", "count takes integer or null"),
        ("amount", "NaN", "amount takes number"),
        ("currency", "USD", "currency is one of EUR, KRW, 1, true, null"),
        ("edited", "[]", "edited takes object"),
        ("tags", "{", "tags takes array"),
    ],
)
def test_a_text_that_fits_nothing_is_refused_with_what_would_fit(name: str, text: str, said: str) -> None:
    with pytest.raises(FieldError, match=said):
        field(name).read(text)


@pytest.mark.parametrize(
    ("schema", "kind", "types"),
    [
        ({"type": ["string", "boolean"], "title": "Approval"}, "text", ("boolean", "string")),
        ({"type": "boolean"}, "boolean", ("boolean",)),
        ({"type": "object"}, "json", ("object",)),
        ({"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "string"}]}, "json", ("object", "string")),
    ],
    ids=str,
)
def test_an_answer_that_is_no_object_of_properties_is_one_question(
    schema: dict[str, Any], kind: str, types: tuple[str, ...]
) -> None:
    (asked,) = form_fields(schema)
    assert (asked.name, asked.kind, asked.types, asked.required) == ("", kind, types, True)


def test_no_schema_takes_anything() -> None:
    (asked,) = form_fields(None)
    assert asked.kind == "json"
    assert asked.read("yes, do it") == "yes, do it"
    with pytest.raises(FieldError, match="this takes boolean"):
        form_fields({"type": "boolean"})[0].read("?")
    with pytest.raises(FieldError, match="this is one of a"):
        form_fields({"const": "a"})[0].read("?")


STRANGE: list[Any] = [
    {"properties": []},
    {"properties": {"a": 5, "b": True}, "required": "a"},
    {"type": 7},
    {"type": ["nonsense"]},
    {"enum": "abc"},
    {"$ref": "#"},
    {"$ref": "#/properties/a", "properties": {"a": {"$ref": "#/properties/a"}}},
    {"$ref": "http://127.0.0.1:1/x"},
    {"$ref": "#/$defs/none/of/this"},
    {"allOf": "x"},
    {"allOf": [5, {"$ref": 3}, {"title": "T", "type": "string"}]},
    {"anyOf": []},
    {"oneOf": [5]},
    {"title": 5, "description": []},
    {"properties": {"a": {"anyOf": [{"$ref": "#/properties/a"}]}}},
]


@pytest.mark.parametrize("schema", STRANGE, ids=str)
def test_a_strange_schema_still_makes_a_form(schema: Any) -> None:
    assert form_fields(schema)


@given(st.dictionaries(st.sampled_from(["type", "properties", "enum", "anyOf", "allOf", "$ref", "title"]), json_values))
def test_no_schema_whatever_breaks_the_form(schema: dict[str, Any]) -> None:
    for asked in form_fields(schema):
        with suppress(FieldError):
            asked.read("1")


def test_the_answer_is_built_from_the_values_given() -> None:
    fields = form_fields(APPROVAL)
    assert form_answer(fields, {"approved": True, "note": "x", "unknown": 1}) == {"approved": True, "note": "x"}
    assert form_answer(form_fields({"type": "boolean"}), {"": False}) is False
    assert form_answer(form_fields(None), {}) is None


@given(st.booleans(), st.text(max_size=9))
def test_a_filled_in_form_fits_the_schema_it_was_drawn_from(approved: bool, note: str) -> None:
    fields = form_fields(APPROVAL)
    answer = form_answer(fields, {"approved": approved, "note": note, "currency": "EUR", "count": None})
    assert JUDGE.problems(answer) == []


def test_strange_schemas_are_mostly_unusable_for_judging_too() -> None:
    """The two halves agree: a schema that cannot judge still yields a form to answer by."""
    with pytest.raises(SchemaUnusable):
        Schema(STRANGE[0])
    assert form_fields(STRANGE[0])
