"""A form for a JSON Schema, as a list of fields that a terminal or a page can ask one by one.

The schema is an agent's and may be anything: what a form cannot express is asked
for as JSON, and nothing here raises on a strange schema. The answer is judged by
the schema itself afterwards (IR-2); a form only helps to write one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from client_sdk.jsontext import parse_json
from client_sdk.schema import json_type

FieldKind = Literal["boolean", "choice", "integer", "number", "text", "json"]

_ALL_TYPES = ("boolean", "integer", "number", "null", "array", "object", "string")
"""JSON's types in the order a typed-in text is tried as each: what reads anything comes last."""

_MAX_REFERENCES = 20


class FieldError(ValueError):
    """A text that a form field cannot read; the message says what it expects."""


@dataclass(frozen=True, slots=True)
class FormField:
    """One question of a form.

    Attributes:
        name: the property it fills; "" when the field is the whole answer.
        title: what to call it.
        kind: which control suits it.
        types: the JSON types its value may have.
        choices: the values to choose from, for ``choice``.
        required: whether the answer must hold it.
        has_default: whether the schema suggests a value.
        default: that value.
        description: what the schema says about it ("" when nothing).
        schema: its own schema, references resolved, for whoever wants more of it.
    """

    name: str
    title: str
    kind: FieldKind
    types: tuple[str, ...]
    choices: tuple[Any, ...] = ()
    required: bool = True
    has_default: bool = False
    default: Any = None
    description: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def read(self, text: str) -> Any:
        """The value a typed-in text stands for.

        Args:
            text: what the user typed.

        Raises:
            FieldError: it stands for none that this field takes.
        """
        if self.choices:
            return self._read_choice(text)
        for name in _ALL_TYPES:
            if name in self.types:
                try:
                    return _READERS[name](text, self.types)
                except ValueError:
                    continue
        raise FieldError(f"{self.title or 'this'} takes {' or '.join(self.types)}, not {text!r}")

    def _read_choice(self, text: str) -> Any:
        for choice in self.choices:
            if text.strip() in (as_text(choice), json.dumps(choice, ensure_ascii=False)):
                return choice
        offered = ", ".join(map(as_text, self.choices))
        raise FieldError(f"{self.title or 'this'} is one of {offered}, not {text!r}")


def as_text(value: Any) -> str:
    """A value as a field shows it: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def form_fields(schema: Mapping[str, Any] | None) -> list[FormField]:
    """The questions that together answer a schema.

    Args:
        schema: a JSON Schema; None stands for one that takes anything.

    Returns:
        One field per property of an object schema, else one field named "" for the whole answer.
    """
    root: Mapping[str, Any] = schema if isinstance(schema, Mapping) else {}
    resolved = _resolve(root, root)
    properties = resolved.get("properties")
    if not isinstance(properties, Mapping) or not properties or "object" not in _types(resolved, root):
        return [_field("", resolved, root, required=True)]
    required = resolved.get("required")
    needed = required if isinstance(required, list) else []
    return [_field(str(name), _resolve(one, root), root, required=name in needed) for name, one in properties.items()]


def form_answer(fields: list[FormField], values: Mapping[str, Any]) -> Any:
    """The answer that a filled-in form gives.

    Args:
        fields: the form, from :func:`form_fields`.
        values: a value per field name; a name left out stays out of the answer.
    """
    if len(fields) == 1 and fields[0].name == "":
        return values.get("")
    return {one.name: values[one.name] for one in fields if one.name in values}


def _field(name: str, schema: Mapping[str, Any], root: Mapping[str, Any], *, required: bool) -> FormField:
    choices = _choices(schema, root)
    types = tuple(dict.fromkeys(map(json_type, choices))) if choices else _types(schema, root)
    return FormField(
        name=name,
        title=_text(schema.get("title")) or name,
        kind="choice" if choices else _kind(types),
        types=types,
        choices=choices,
        required=required,
        has_default="default" in schema,
        default=schema.get("default"),
        description=_text(schema.get("description")),
        schema=schema,
    )


def _kind(types: tuple[str, ...]) -> FieldKind:
    wanted = frozenset(types) - {"null"}
    kinds: tuple[tuple[frozenset[str], FieldKind], ...] = (
        (frozenset({"boolean"}), "boolean"),
        (frozenset({"integer"}), "integer"),
        (frozenset({"integer", "number"}), "number"),
        (frozenset({"boolean", "integer", "number", "string"}), "text"),
    )
    return next((kind for members, kind in kinds if wanted and wanted <= members), "json")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _resolve(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """`schema` with its local reference followed and its ``allOf`` laid over it."""
    for _ in range(_MAX_REFERENCES):
        reference = schema.get("$ref") if isinstance(schema, Mapping) else None
        if not isinstance(reference, str):
            break
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        schema = {**_referenced(reference, root), **beside}
    if not isinstance(schema, Mapping):
        return {}
    parts = schema.get("allOf")
    merged: dict[str, Any] = {}
    for part in parts if isinstance(parts, list) else []:
        merged.update(part if isinstance(part, Mapping) and "$ref" not in part else _follow(part, root))
    return {**merged, **schema}


def _follow(part: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = part.get("$ref") if isinstance(part, Mapping) else None
    return _referenced(reference, root) if isinstance(reference, str) else {}


def _referenced(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    value: Any = root if reference.startswith("#") else {}
    for step in reference.lstrip("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        value = value.get(name, {}) if isinstance(value, Mapping) else {}
    return value if isinstance(value, Mapping) else {}


def _alternatives(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    for keyword in ("anyOf", "oneOf"):
        found = schema.get(keyword)
        if isinstance(found, list) and found:
            return [_resolve(one, root) for one in found]
    return []


def _choices(schema: Mapping[str, Any], root: Mapping[str, Any]) -> tuple[Any, ...]:
    if "const" in schema:
        return (schema["const"],)
    listed = schema.get("enum")
    if isinstance(listed, list):
        return tuple(listed)
    alternatives = _alternatives(schema, root)
    if alternatives and all("const" in one or isinstance(one.get("enum"), list) for one in alternatives):
        return tuple(choice for one in alternatives for choice in _choices(one, {}))
    return ()


def _types(schema: Mapping[str, Any], root: Mapping[str, Any]) -> tuple[str, ...]:
    declared = schema.get("type")
    named = declared if isinstance(declared, list) else [declared]
    known = tuple(name for name in _ALL_TYPES if name in named)
    if known:
        return known
    for keyword, implied in (("properties", "object"), ("items", "array")):
        if keyword in schema:
            return (implied,)
    from_alternatives = [
        json_type(one["const"]) if "const" in one else one.get("type") for one in _alternatives(schema, root)
    ]
    found = tuple(name for name in _ALL_TYPES if name in from_alternatives)
    return found if found and len(from_alternatives) == len(found) else _ALL_TYPES


_TRUE_WORDS = frozenset({"true", "yes", "y", "on", "1"})
_FALSE_WORDS = frozenset({"false", "no", "n", "off", "0"})


def _read_boolean(text: str, types: tuple[str, ...]) -> bool:
    word = text.strip().lower()
    # Beside other types only the JSON words count: "1" is a number there, "yes" a string.
    if word in (_TRUE_WORDS if set(types) <= {"boolean", "null"} else {"true"}):
        return True
    if word in (_FALSE_WORDS if set(types) <= {"boolean", "null"} else {"false"}):
        return False
    raise FieldError(text)


def _read_integer(text: str, _: tuple[str, ...]) -> int:
    if not re.fullmatch(r"\s*[+-]?\d{1,1000}\s*", text, re.ASCII):
        raise FieldError(text)
    return int(text)


def _read_json(*wanted: str) -> Callable[[str, tuple[str, ...]], Any]:
    def read(text: str, _: tuple[str, ...]) -> Any:
        value = parse_json(text)
        if json_type(value) not in wanted:
            raise FieldError(text)
        return value

    return read


_READERS: Mapping[str, Callable[[str, tuple[str, ...]], Any]] = {
    "boolean": _read_boolean,
    "integer": _read_integer,
    "number": _read_json("integer", "number"),
    "null": _read_json("null"),
    "array": _read_json("array"),
    "object": _read_json("object"),
    "string": lambda text, _: text,
}
