"""Enforcement: what the protocol does not describe goes, what it describes must be right.

Two things are kept apart (PR-2 to PR-7). Material this version does not know is
removed and reported; a described field with a value the schema rejects ends
the stream. `strip` does the first, the installed pydantic models the second,
in strict mode and by wire names, so that nothing is coerced and snake_case is
not a spelling.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, assert_never

from ag_ui.core import Event
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from client_sdk.protocol.notes import Notes, pointer
from client_sdk.protocol.vocabulary import (
    EVENT_ADAPTER,
    EVENT_SHAPES,
    Closed,
    Described,
    Items,
    Leaf,
    Member,
    Shape,
    Tagged,
)

_DROP: Final = object()
"""Marks a value as unrecognisable as a whole while the walk unwinds."""


class Malformed(Exception):
    """A described value is wrong: where, and what was expected."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message


class CutText(Malformed):
    """A string holds half of a UTF-16 surrogate pair, which no encoding of text can carry."""


Removed = tuple[str, str, str]
"""Code, path and message of one removal."""


class Stripper:
    """One walk over one value, collecting what it removes.

    The walk returns the very object it was given where nothing had to go, so
    that the caller can tell by identity whether anything changed.
    """

    __slots__ = ("removed",)

    def __init__(self) -> None:
        self.removed: list[Removed] = []

    def strip(self, value: Any, shape: Shape, path: str = "") -> Any:
        """Return `value` without what `shape` does not describe.

        Raises:
            Malformed: for a null where the schema allows only absence (PR-7),
                or a tag or a fixed field that is missing, or a tag that is no string (PR-5).
        """
        match shape:
            case Described():
                return self._object(value, shape, path)
            case Items():
                return self._list(value, shape, path)
            case Tagged():
                return self._tagged(value, shape, path)
            case Closed():
                return self._closed(value, shape, path)
            case Leaf():
                return _whole_number(value) if shape.integer else value
            case _:
                assert_never(shape)

    def _object(self, value: Any, shape: Described, path: str) -> Any:
        if not isinstance(value, dict):
            return value
        result: dict[str, Any] = {}
        changed = False
        for key, item in value.items():
            member = shape.members.get(key)
            if member is None:
                if shape.open:
                    result[key] = item
                    continue
                changed = True
                where = pointer(path, key)
                self.removed.append(
                    ("unknown_property", where, f"the property {key!r} is not described and was removed")
                )
                continue
            kept = self._member(item, member, pointer(path, key))
            if kept is _DROP:
                if member.required:
                    return _DROP
                changed = True
                continue
            changed = changed or kept is not item
            result[key] = kept
        for name in shape.fixed:
            if name not in value:
                raise Malformed(pointer(path, name), f"the required field {name!r} is missing")
        return result if changed else value

    def _member(self, item: Any, member: Member, path: str) -> Any:
        if item is None:
            if member.required:
                return item  # a value of its own in open data, and for the models to reject elsewhere
            raise Malformed(path, "null is not a value of this field; an optional field without a value is left out")
        mark = len(self.removed)
        kept = self.strip(item, member.shape, path)
        if kept is not _DROP:
            return kept
        if not member.required:
            self._forget(mark)
            self.removed.append(("unknown_member", path, f"{_tell(item)} is not a member known here and was removed"))
        return kept

    def _list(self, value: Any, shape: Items, path: str) -> Any:
        if not isinstance(value, list):
            return value
        result = []
        changed = False
        for index, item in enumerate(value):
            where = pointer(path, index)
            mark = len(self.removed)
            kept = self.strip(item, shape.element, where)
            if kept is _DROP:
                # The element goes whole, so what the descent removed inside it is no removal of its own.
                self._forget(mark)
                self.removed.append(
                    ("unknown_member", where, f"{_tell(item)} is not a member known here and was removed")
                )
                changed = True
                continue
            changed = changed or kept is not item
            result.append(kept)
        return result if changed else value

    def _tagged(self, value: Any, shape: Tagged, path: str) -> Any:
        if not isinstance(value, dict):
            return value
        if shape.tag not in value:
            raise Malformed(pointer(path, shape.tag), f"the required field {shape.tag!r} is missing")
        tag = value[shape.tag]
        if not isinstance(tag, str):
            raise Malformed(pointer(path, shape.tag), f"expected a string, got {_kind(tag)}")
        variant = shape.variants.get(tag)
        if variant is None:
            return _DROP
        return self._object(value, variant, path)

    def _closed(self, value: Any, shape: Closed, path: str) -> Any:
        if not isinstance(value, str) or value in shape.values:
            return value
        return _DROP

    def _forget(self, mark: int) -> None:
        del self.removed[mark:]


def _whole_number(value: Any) -> Any:
    # JSON has one kind of number: 1.0 is the integer 1, which JSON Schema says too. A string is not.
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


_KINDS: Final[dict[type, str]] = {
    dict: "an object",
    list: "an array",
    str: "a string",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    type(None): "null",
}


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), type(value).__name__)


def _tell(item: Any) -> str:
    if isinstance(item, str):
        return repr(item)
    for tag in ("type", "op", "role"):
        if isinstance(item, dict) and isinstance(item.get(tag), str):
            return f"{tag} {item[tag]!r}"
    return _kind(item)


def locate(value: Any, shape: Shape, error: ErrorDetails) -> str:
    """The JSON Pointer of a pydantic error: its location without the union arms it passed through."""
    path = ""
    for token in error["loc"]:
        following = _below(value, shape, token)
        if following is not None:
            value, shape = following
            path = pointer(path, token)
        elif isinstance(shape, Tagged) and isinstance(token, str) and token in shape.variants:
            shape = shape.variants[token]
    return path


def _below(value: Any, shape: Shape, token: str | int) -> tuple[Any, Shape] | None:
    """What stands under `token`, or None when `token` is no step into `value` but the name of a union's arm."""
    if isinstance(shape, Described) and isinstance(token, str) and token in shape.members:
        return (value.get(token) if isinstance(value, dict) else None), shape.members[token].shape
    if isinstance(shape, Items) and isinstance(token, int):
        return (value[token] if isinstance(value, list) else None), shape.element
    if isinstance(shape, Leaf) and isinstance(value, list) and isinstance(token, int):
        return value[token], shape
    return None


def explain(value: Any, shape: Shape, error: ValidationError) -> Malformed:
    """The most telling of a validation's errors: the one deepest inside the value."""
    details = error.errors(include_url=False, include_context=False)
    located = [(locate(value, shape, detail), detail["msg"]) for detail in details]
    deepest = max(path.count("/") for path, _ in located)
    best = [(path, msg) for path, msg in located if path.count("/") == deepest]
    path = best[0][0]
    messages = dict.fromkeys(msg[0].lower() + msg[1:] for where, msg in best if where == path)
    return Malformed(path, " or ".join(messages))


def _dump(value: Any) -> bytes:
    try:
        return _encode(value)
    except UnicodeEncodeError:
        raise CutText(_culprit(value), "a string in it holds half of a UTF-16 surrogate pair") from None
    except _NO_JSON as error:
        # Only middleware or an application can hold such a value: a frame was JSON when it came in.
        raise Malformed(_culprit(value), f"not representable as JSON: {error}") from None


_NO_JSON: Final = (TypeError, ValueError, RecursionError)
_DEEP_ENOUGH: Final = 20


def _encode(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _culprit(value: Any) -> str:
    """The JSON Pointer to the innermost value that cannot be encoded; a cycle is followed for a while only."""
    path = ""
    for _ in range(_DEEP_ENOUGH):
        entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        found = next(((key, inner) for key, inner in entries if not _encodable(inner)), None)
        if found is None:
            break
        key, value = found
        path = pointer(path, key)
    return path


def _encodable(value: Any) -> bool:
    try:
        _encode(value)
    except _NO_JSON:
        return False
    return True


def conform(value: Any, shape: Shape, adapter: TypeAdapter[Any], removed: Callable[[Removed], None]) -> Any:
    """Strip `value` against `shape` and validate what is left.

    Returns:
        The validated model, or None when the value as a whole is unrecognisable.

    Raises:
        Malformed: when a described value is wrong.
        CutText: when a string holds half of a surrogate pair.
    """
    stripper = Stripper()
    kept = stripper.strip(value, shape)
    if kept is _DROP:
        return None
    try:
        model = adapter.validate_json(_dump(kept), strict=True, by_alias=True, by_name=False)
    except ValidationError as error:
        raise explain(kept, shape, error) from None
    for removal in stripper.removed:
        removed(removal)
    return model


class Enforcer:
    """The enforcement stage: one raw event in, at most one validated event out."""

    __slots__ = ("_notes",)

    def __init__(self, notes: Notes) -> None:
        self._notes = notes

    def feed(self, raw: dict[str, Any]) -> list[Event]:
        """Judge one raw event.

        Raises:
            ProtocolError: ``malformed_event`` (PR-5, PR-7).
            CutText: a string has to be mended before it can be judged.
        """
        kind = raw["type"]
        shape = EVENT_SHAPES.get(kind)
        if shape is None:
            self._notes.warn("unknown_event", "/type", f"events of type {kind!r} are not known here; dropped")
            return []
        try:
            event = conform(raw, shape, EVENT_ADAPTER, lambda removal: self._notes.warn(*removal))
        except CutText:
            raise
        except Malformed as problem:
            raise self._notes.fatal(
                "malformed_event",
                f"{kind}{problem.path and ' at ' + problem.path}: {problem.message}",
                path=problem.path,
            ) from None
        if event is None:
            self._drop_whole(raw, shape)
            return []
        return [event]

    def _drop_whole(self, raw: dict[str, Any], shape: Described) -> None:
        path, value = next(
            (pointer("", key), raw[key])
            for key, member in shape.members.items()
            if member.required and key in raw and Stripper().strip(raw[key], member.shape) is _DROP
        )
        self._notes.warn(
            "unknown_member", path, f"{_tell(value)} is not a member known here, and {raw['type']} needs it; dropped"
        )
