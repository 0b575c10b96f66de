"""Forms drawn from a JSON Schema, and what a filled-in form says. Pure; the reading itself is the SDK's."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from client_sdk import FieldError, FormField, form_answer, form_fields
from demo_app.state.cards_model import FormInput, Option

PREFIX: Final = "field:"
"""Goes before a property's name in the page, so that a schema cannot name a control of the page's own."""

APPROVED: Final = "approved"

_BOUNDS: Final = {"low": "minimum", "high": "maximum", "shortest": "minLength", "length": "maxLength"}

_UNREADABLE: Final = {"integer": "whole", "number": "number", "choice": "choice", "json": "json"}
"""What to say of a text that a control cannot read."""

_OUTSIDE: Final[dict[str, tuple[str, Callable[[Any, Any], bool]]]] = {
    "minimum": ("least", lambda value, bound: value < bound),
    "maximum": ("most", lambda value, bound: value > bound),
    "minLength": ("shorter", lambda value, bound: len(value) < bound),
    "maxLength": ("longer", lambda value, bound: len(value) > bound),
}
"""What to say of a value outside a bound; other rules of a schema are judged, and put in words, by the SDK."""


def draw_form(
    schema: Mapping[str, Any] | None,
    values: Mapping[str, Any] | None = None,
    errors: Mapping[str, str] | None = None,
    *,
    typed: Mapping[str, str] | None = None,
    hints: bool = True,
) -> list[FormInput]:
    """The inputs of a form for `schema`.

    Parameters: `values`, what stands in them, by property; else the schema's defaults. `errors`, what is wrong, by
    property. `typed`, the texts of a form that was sent and not taken, word for word, in the place of `values`.
    `hints`, whether descriptions are shown: those of this app's own tools are written for agents.
    """
    fields = form_fields(schema)
    held = values if values is not None else {field.name: field.default for field in fields if field.has_default}
    inputs = [_input(field, held, (errors or {}).get(field.name, "")) for field in fields]
    if typed is not None:
        inputs = [_with_text(one, typed.get(one.name)) for one in inputs]
    return inputs if hints else [replace(one, hint="") for one in inputs]


def _input(field: FormField, values: Mapping[str, Any], error: str) -> FormInput:
    value = values.get(field.name)
    given = field.name in values and value is not None
    text = "" if not given else value if isinstance(value, str) and field.kind != "json" else _json(value)
    if field.kind == "choice":
        text = _json(value) if given else ""
    bounds = {name: _bound(field.schema.get(keyword)) for name, keyword in _BOUNDS.items()}
    return FormInput(
        name=PREFIX + field.name,
        label=field.title or field.name,
        control=field.kind,
        value=text,
        checked=value is True,
        required=field.required and field.kind != "boolean",
        hint=field.description,
        error=error,
        options=[
            Option(_json(choice), choice if isinstance(choice, str) else _json(choice)) for choice in field.choices
        ],
        **bounds,
    )


def _with_text(one: FormInput, text: str | None) -> FormInput:
    return replace(one, value=text or "", checked=_is_ticked(text))


def _is_ticked(text: Any) -> bool:
    return text is not None and text is not False and text != "false"


def verdict_of(schema: Mapping[str, Any] | None) -> str:
    """The boolean property that is the answer's yes or no: `approved`, else the only one if it is required; else "".

    It is asked with two buttons: an unticked box beside a button to send would be a no that nobody said.
    """
    booleans = [field for field in form_fields(schema) if field.kind == "boolean" and field.name]
    if any(field.name == APPROVED for field in booleans):
        return APPROVED
    return booleans[0].name if len(booleans) == 1 and booleans[0].required else ""


def _bound(value: Any) -> str:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else ""


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def read_form(schema: Mapping[str, Any] | None, data: Mapping[str, Any]) -> tuple[Any, dict[str, str]]:
    """What a submitted form says, and what is wrong with it, by property.

    Parameters: `data`, the page's form data: a text per control; an unticked box is absent. An empty optional field
    stays out of the answer; an empty one that is required is a mistake.
    """
    fields = form_fields(schema)
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for field in fields:
        text = data.get(PREFIX + field.name)
        if field.kind == "boolean":
            values[field.name] = _is_ticked(text)
        elif text is None or str(text) == "":
            if field.required:
                errors[field.name] = "required"
        else:
            try:
                values[field.name] = field.read(str(text))
            except FieldError as error:
                errors[field.name] = _UNREADABLE.get(field.kind, str(error))
            else:
                errors |= _outside(field, values[field.name])
    return form_answer(fields, values), errors


def _outside(field: FormField, value: Any) -> dict[str, str]:
    """The bound of its schema that a value misses, if it does; two bounds of a number are told as one range."""
    keywords = {str: ("minLength", "maxLength"), int: ("minimum", "maximum"), float: ("minimum", "maximum")}
    for keyword in keywords.get(type(value), ()):
        code, is_outside = _OUTSIDE[keyword]
        bound = field.schema.get(keyword)
        if _bound(bound) and is_outside(value, bound):
            both = all(_bound(field.schema.get(one)) for one in ("minimum", "maximum"))
            return {field.name: "range" if both and code in ("least", "most") else code}
    return {}


def typed_texts(data: Mapping[str, Any]) -> dict[str, str]:
    """The texts of a page's form data, by the names that its controls bear."""
    return {name: str(text) for name, text in data.items() if name.startswith(PREFIX) and text is not False}


def errors_by_field(problems: Sequence[Any]) -> dict[str, str]:
    """Problems of a value (the SDK's, with JSON Pointers), by the property they belong to; "" for the whole."""
    found: dict[str, str] = {}
    for problem in problems:
        name = problem.path.split("/")[1].replace("~1", "/").replace("~0", "~") if problem.path else ""
        found.setdefault(name, problem.message)
    return found
