"""Forms drawn from a JSON Schema, and what a filled-in form says. Pure; the reading itself is the SDK's."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from client_sdk import FieldError, FormField, form_answer, form_fields
from demo_app.state.cards_model import FormInput, Option

PREFIX: Final = "field:"
"""Goes before a property's name in the page, so that a schema cannot name a control of the page's own."""

APPROVED: Final = "approved"

_BOUNDS: Final = {"low": "minimum", "high": "maximum", "length": "maxLength"}


def draw_form(
    schema: Mapping[str, Any] | None,
    values: Mapping[str, Any] | None = None,
    errors: Mapping[str, str] | None = None,
    *,
    hints: bool = True,
) -> list[FormInput]:
    """The inputs of a form for `schema`.

    Parameters: `values`, what stands in them, by property; else the schema's defaults. `errors`, what is wrong, by
    property. `hints`, whether descriptions are shown: those of this app's own tools are written for agents.
    """
    fields = form_fields(schema)
    held = values if values is not None else {field.name: field.default for field in fields if field.has_default}
    inputs = [_input(field, held, (errors or {}).get(field.name, "")) for field in fields]
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
    stays out of the answer.
    """
    fields = form_fields(schema)
    values: dict[str, Any] = {}
    errors: dict[str, str] = {}
    for field in fields:
        text = data.get(PREFIX + field.name)
        if field.kind == "boolean":
            values[field.name] = text is not None and text is not False and text != "false"
        elif text is None or (str(text) == "" and (not field.required or "string" not in field.types)):
            if field.required:
                errors[field.name] = "required"
        else:
            try:
                values[field.name] = field.read(str(text))
            except FieldError as error:
                errors[field.name] = str(error)
    return form_answer(fields, values), errors


def errors_by_field(problems: Sequence[Any]) -> dict[str, str]:
    """Problems of a value (the SDK's, with JSON Pointers), by the property they belong to; "" for the whole."""
    found: dict[str, str] = {}
    for problem in problems:
        name = problem.path.split("/")[1].replace("~1", "/").replace("~0", "~") if problem.path else ""
        found.setdefault(name, problem.message)
    return found
