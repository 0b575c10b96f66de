"""Forms from a schema, and what they say."""

from typing import Any

import pytest

from demo_app.i18n import TEXTS
from demo_app.state.forms import PREFIX, draw_form, errors_by_field, read_form, typed_texts, verdict_of

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "approved": {"type": "boolean", "title": "Approve"},
        "amount": {"type": "integer", "minimum": 1, "maximum": 9, "default": 5},
        "memo": {"type": "string", "maxLength": 20},
        "speed": {"enum": ["slow", "fast"]},
        "more": {"type": "object"},
    },
    "required": ["approved", "amount"],
}


def filled(**values: str) -> dict[str, str]:
    return {PREFIX + name: value for name, value in values.items()}


def test_each_property_gets_the_control_that_suits_it() -> None:
    inputs = {one.name.removeprefix(PREFIX): one for one in draw_form(SCHEMA)}
    controls = {name: one.control for name, one in inputs.items()}
    assert controls == {"approved": "boolean", "amount": "integer", "memo": "text", "speed": "choice", "more": "json"}
    assert (inputs["amount"].value, inputs["amount"].low, inputs["amount"].high) == ("5", "1", "9")
    assert inputs["approved"].label == "Approve"
    assert [one.label for one in inputs["speed"].options] == ["slow", "fast"]


def test_a_filled_in_form_is_an_answer_and_empty_optional_fields_stay_out() -> None:
    answer, errors = read_form(SCHEMA, filled(approved="on", amount="7", memo="", speed='"fast"', more=""))
    assert (answer, errors) == ({"approved": True, "amount": 7, "speed": "fast"}, {})


def test_an_unticked_box_is_a_no() -> None:
    assert read_form(SCHEMA, filled(amount="1"))[0]["approved"] is False


@pytest.mark.parametrize(
    ("properties", "required", "verdict"),
    [
        ({"approved": {"type": "boolean"}, "urgent": {"type": "boolean"}}, ["urgent"], "approved"),
        ({"sure": {"type": "boolean"}, "memo": {"type": "string"}}, ["sure"], "sure"),
        ({"sure": {"type": "boolean"}}, [], ""),
        ({"one": {"type": "boolean"}, "two": {"type": "boolean"}}, ["one", "two"], ""),
        ({"approved": {"type": "string"}}, ["approved"], ""),
    ],
)
def test_a_yes_or_no_is_told_from_a_box_to_tick(properties: dict[str, Any], required: list[str], verdict: str) -> None:
    assert verdict_of({"type": "object", "properties": properties, "required": required}) == verdict


@pytest.mark.parametrize("amount", ["", "seven", "1.5"])
def test_what_cannot_be_read_is_said_at_its_field(amount: str) -> None:
    _, errors = read_form(SCHEMA, filled(approved="on", amount=amount))
    assert list(errors) == ["amount"]


@pytest.mark.parametrize("schema", [None, {}, {"type": "string"}, {"properties": 7}, {"$ref": "#/nowhere"}])
def test_any_schema_gives_a_form(schema: Any) -> None:
    (one,) = draw_form(schema)
    assert one.name == PREFIX
    answer, errors = read_form(schema, {PREFIX: "{}"})
    assert (answer in ({}, "{}"), errors) == (True, {})


def test_a_form_shows_what_was_typed_and_what_is_wrong_with_it() -> None:
    (one, *_) = [field for field in draw_form(SCHEMA, {"amount": 99}, {"amount": "too much"}) if field.error]
    assert (one.name, one.value, one.error) == (PREFIX + "amount", "99", "too much")


BOUNDED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "quantity": {"type": "integer", "minimum": 1, "maximum": 500},
        "amount": {"type": "number", "minimum": 1},
        "share": {"type": "number", "maximum": 100},
        "name": {"type": "string", "minLength": 2, "maxLength": 5},
        "speed": {"enum": ["slow", "fast"]},
        "more": {"type": "object"},
    },
    "required": ["name"],
}


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("quantity", "0", "range"),
        ("quantity", "501", "range"),
        ("quantity", "2.5", "whole"),
        ("quantity", "three", "whole"),
        ("amount", "0.5", "least"),
        ("amount", "much", "number"),
        ("share", "101", "most"),
        ("name", "", "required"),
        ("name", "A", "shorter"),
        ("name", "Halla Supply", "longer"),
        ("speed", '"slower"', "choice"),
        ("more", "{", "json"),
    ],
)
def test_a_mistake_has_a_code_that_is_put_in_words_in_both_languages(name: str, text: str, code: str) -> None:
    _, errors = read_form(BOUNDED, filled(**{"name": "Halla", name: text}))
    assert errors == {name: code}
    assert f"form.{code}" in TEXTS
    (shown,) = [one for one in draw_form(BOUNDED, errors=errors) if one.error]
    assert (shown.name, shown.error) == (PREFIX + name, code)


def test_what_was_typed_is_kept_word_for_word() -> None:
    data = {**filled(amount="2.5", memo="x" * 30, speed='"fast"', approved="on"), "else": "left aside"}
    shown = {one.name: one for one in draw_form(SCHEMA, {"memo": "before"}, typed=typed_texts(data))}
    texts = {name: shown[PREFIX + name].value for name in ("amount", "memo", "speed", "more")}
    assert texts == {"amount": "2.5", "memo": "x" * 30, "speed": '"fast"', "more": ""}
    assert shown[PREFIX + "approved"].checked
    assert "else" not in typed_texts(data)


def test_a_property_cannot_take_the_name_of_a_control_of_the_page() -> None:
    schema = {"type": "object", "properties": {"chat-input": {"type": "string"}}}
    assert draw_form(schema)[0].name == PREFIX + "chat-input"


def test_problems_find_their_field() -> None:
    class Problem:
        def __init__(self, path: str, message: str) -> None:
            self.path, self.message = path, message

    found = errors_by_field([Problem("/a~1b/0", "bad"), Problem("/a~1b", "worse"), Problem("", "whole")])
    assert found == {"a/b": "bad", "": "whole"}
