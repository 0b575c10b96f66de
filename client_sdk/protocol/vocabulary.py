"""What the installed types describe, read off them once.

The enforcement stage must know which members a described object has, which
unions are closed by a tag and which sets of strings are closed. All of that is
in the ``ag_ui.core`` models already, so it is derived here instead of being
declared a second time: a newer ``ag-ui-protocol`` extends the vocabulary by
being installed.
"""

from __future__ import annotations

import types
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from ag_ui.core import Event, EventType, Message, RunAgentInput, StateDeltaEvent
from pydantic import BaseModel, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

EVENT_ADAPTER: TypeAdapter[Event] = TypeAdapter(Event)
INPUT_ADAPTER: TypeAdapter[RunAgentInput] = TypeAdapter(RunAgentInput)
MESSAGE_ADAPTER: TypeAdapter[Message] = TypeAdapter(Message)

EVENT_TYPES: frozenset[str] = frozenset(member.value for member in EventType)
"""Every event type this version of the protocol describes."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A value with no described inside: a scalar, or open data (PR-6)."""

    integer: bool = False
    scalar: bool = False


@dataclass(frozen=True, slots=True)
class Closed:
    """A closed set of several strings, such as a text message's role (PR-4)."""

    values: frozenset[str]


@dataclass(frozen=True, slots=True)
class Items:
    """A list of described values."""

    element: Shape


@dataclass(frozen=True, slots=True)
class Member:
    """One described property of an object."""

    shape: Shape
    required: bool


@dataclass(frozen=True, slots=True)
class Described:
    """An object the schema describes.

    `fixed` are the members that have one value and must be there all the same: the
    models would fill them in. `open` where it keeps unknown members (PR-6).
    """

    members: dict[str, Member]
    fixed: tuple[str, ...] = ()
    open: bool = False


@dataclass(frozen=True, slots=True)
class Tagged:
    """A union of objects told apart by the string under `tag`."""

    tag: str
    variants: dict[str, Described] = field(default_factory=dict)


Shape = Leaf | Closed | Items | Described | Tagged

_LEAF = Leaf()
_SCALAR = Leaf(scalar=True)
_INTEGER = Leaf(integer=True, scalar=True)


def _union_args(annotation: Any) -> tuple[Any, ...] | None:
    if get_origin(annotation) in (Union, types.UnionType):
        return get_args(annotation)
    return None


def _tag_value(model: type[BaseModel], tag: str) -> str:
    (value,) = get_args(model.model_fields[tag].annotation)
    return str(getattr(value, "value", value))


def _unwrap(annotation: Any, discriminator: str | None = None) -> tuple[Any, str | None]:
    """Peel Annotated and Optional, keeping the discriminator met on the way."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *extras = get_args(annotation)
            for extra in extras:
                if isinstance(extra, FieldInfo) and isinstance(extra.discriminator, str):
                    discriminator = extra.discriminator
            continue
        options = _union_args(annotation)
        if options is not None and type(None) in options:
            rest = tuple(option for option in options if option is not type(None))
            annotation = rest[0] if len(rest) == 1 else Union[rest]  # noqa: UP007
            continue
        return annotation, discriminator


def _shape(annotation: Any, discriminator: str | None = None) -> Shape:
    annotation, discriminator = _unwrap(annotation, discriminator)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return describe(annotation)
    if annotation is int:
        return _INTEGER
    if annotation in (str, bool):
        return _SCALAR
    origin = get_origin(annotation)
    if origin is Literal:
        values = get_args(annotation)
        return Closed(frozenset(map(str, values))) if len(values) > 1 else _SCALAR
    if origin is list:
        (element,) = get_args(annotation)
        inner = _shape(element)
        return _LEAF if isinstance(inner, Leaf) else Items(inner)
    options = _union_args(annotation)
    if options is None:
        return _LEAF
    if discriminator is not None:
        return Tagged(discriminator, {_tag_value(option, discriminator): describe(option) for option in options})
    # A structural union, such as a string or a list of parts: only one arm has an inside.
    described = [shape for shape in map(_shape, options) if not isinstance(shape, Leaf)]
    return described[0] if described else _LEAF


_OPEN_MODELS: frozenset[type[BaseModel]] = frozenset(
    get_args(_unwrap(get_args(StateDeltaEvent.model_fields["delta"].annotation)[0])[0])
)
"""The JSON Patch operations: RFC 6902 tells consumers to ignore, and so keep, other members."""


@cache
def describe(model: type[BaseModel]) -> Described:
    """The described members of `model`, under their wire names."""
    members, fixed = {}, []
    for name, info in model.model_fields.items():
        shape = _shape(info.annotation, info.discriminator if isinstance(info.discriminator, str) else None)
        is_fixed = get_origin(info.annotation) is Literal and info.default not in (None, PydanticUndefined)
        members[info.alias or name] = Member(shape, info.is_required() or is_fixed)
        if is_fixed:
            fixed.append(info.alias or name)
    return Described(members, tuple(fixed), open=model in _OPEN_MODELS)


def _event_models() -> tuple[type[BaseModel], ...]:
    union, _ = _unwrap(Event)
    return get_args(union)


EVENT_MODELS: dict[str, type[BaseModel]] = {_tag_value(model, "type"): model for model in _event_models()}
EVENT_SHAPES: dict[str, Described] = {kind: describe(model) for kind, model in EVENT_MODELS.items()}
INPUT_SHAPE: Described = describe(RunAgentInput)
MESSAGE_SHAPE: Shape = _shape(Message)

_OPEN_EVERYWHERE = {"metadata", "rawEvent"}


def _is_flat(shape: Described) -> bool:
    return all(
        name in _OPEN_EVERYWHERE or isinstance(member.shape, Closed) or getattr(member.shape, "scalar", False)
        for name, member in shape.members.items()
    )


FIXED_FIELDS: dict[type[BaseModel], frozenset[str]] = {
    model: frozenset(fixed)
    for kind, model in EVENT_MODELS.items()
    if (fixed := [name for name in EVENT_SHAPES[kind].fixed if name != "type"])
}
"""What an event must carry although its model would fill it in; by wire names, which are the attributes' here."""

FLAT_EVENTS: frozenset[type[BaseModel]] = frozenset(
    model for kind, model in EVENT_MODELS.items() if _is_flat(EVENT_SHAPES[kind])
)
"""Events of scalars only, apart from the open data any event may carry."""


def _is_open(shape: Shape) -> bool:
    """Whether nothing in `shape` can have to go: scalars, open data, and JSON Patch operations, which keep all."""
    match shape:
        case Items(element=Tagged() as element):
            return all(one.open and all(map(_is_open, _shapes(one))) for one in element.variants.values())
        case Closed() | Leaf():
            return True
        case _:
            return False


def _shapes(shape: Described) -> list[Shape]:
    return [member.shape for member in shape.members.values()]


OPEN_EVENTS: frozenset[type[BaseModel]] = (
    frozenset(model for kind, model in EVENT_MODELS.items() if all(map(_is_open, _shapes(EVENT_SHAPES[kind]))))
    - FLAT_EVENTS
)
"""Events of scalars and open data only: state, activities, RAW and CUSTOM."""
