"""JSON Schema validators that give up instead of working for ever.

A schema may ask for exponential work in a few lines: a pattern that backtracks, or references that
double at every level. One that an agent sent would stop the whole event loop. So every keyword
counts as a step, and patterns are matched by the ``regex`` library, which takes a time limit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Final

import regex
from jsonschema import validators
from jsonschema.exceptions import ValidationError

STEPS: Final = 20_000
"""Keywords that may be judged for a value, however small."""
STEPS_PER_VALUE: Final = 100
"""Keywords that may be judged beside those for every value inside it."""
PATTERN_SECONDS: Final = 0.5
"""What all pattern matching of one judgement may take."""

_Keyword = Callable[[Any, Any, Any, Any], Iterator[ValidationError] | None]


class TooMuchWork(ValueError):
    """Judging takes more work than a schema is worth."""


class _Allowance:
    """What is left of the work allowed for one judgement."""

    __slots__ = ("seconds", "steps")

    def __init__(self, values: int) -> None:
        self.steps = STEPS + STEPS_PER_VALUE * values
        self.seconds = PATTERN_SECONDS

    def spend(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise TooMuchWork("judging by it takes too many steps")


_left: ContextVar[_Allowance] = ContextVar("_left")


@contextmanager
def allowance(value: Any) -> Iterator[None]:
    """Allow the work that judging `value` may take; inside, validators of :func:`bounded` spend it."""
    token = _left.set(_Allowance(_count(value)))
    try:
        yield
    finally:
        _left.reset(token)


def _count(value: Any) -> int:
    counted, level = 0, [value]
    while level:
        counted += len(level)
        level = [inner for outer in level for inner in _children(outer)]
    return counted


def _children(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return list(value.values())
    return value if isinstance(value, list) else []


def matches(pattern: str, text: str) -> bool:
    """Whether `pattern` is found in `text`.

    Raises:
        TooMuchWork: the time allowed for patterns is over.
        regex.error: it is no regular expression.
    """
    left = _left.get()
    started = time.monotonic()
    try:
        return regex.search(pattern, text, timeout=max(left.seconds, 0.001)) is not None
    except TimeoutError:
        raise TooMuchWork(f"its pattern {pattern[:40]!r} takes too long to match") from None
    finally:
        left.seconds -= time.monotonic() - started


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(instance, "string") and not matches(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, subschema in patterns.items():
        for name, value in instance.items():
            if matches(pattern, name):
                yield from validator.descend(value, subschema, path=name, schema_path=pattern)


def _additional_properties(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if not validator.is_type(instance, "object"):
        return
    extras = additional_names(instance, schema)
    if validator.is_type(allowed, "object"):
        for name in extras:
            yield from validator.descend(instance[name], allowed, path=name)
    elif not allowed and extras:
        yield ValidationError(f"additional properties: {extras!r}")


def additional_names(instance: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """The properties of `instance` that `schema` describes neither by name nor by pattern."""
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    return [name for name in instance if name not in known and not any(matches(pattern, name) for pattern in patterns)]


_WITH_PATTERNS: Final[dict[str, _Keyword]] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
}


def _counted(keyword: _Keyword) -> _Keyword:
    def judge(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
        _left.get().spend()
        yield from keyword(validator, value, instance, schema) or ()

    return judge


@cache
def bounded(kind: Any) -> Any:
    """The validator class `kind` of jsonschema, with every keyword counted and patterns under a time limit."""
    keywords = {**kind.VALIDATORS, **{name: _WITH_PATTERNS[name] for name in _WITH_PATTERNS if name in kind.VALIDATORS}}
    return validators.extend(kind, {n: _counted(keyword) for n, keyword in keywords.items()})  # type: ignore[no-untyped-call]


def is_unboundable(document: Any) -> bool:
    """Whether a schema has patterns matched where no limit reaches: ``unevaluatedProperties`` looks names up itself."""
    found: set[str] = set()
    level = [document]
    while level:
        found.update(key for item in level if isinstance(item, Mapping) for key in item)
        level = [inner for outer in level for inner in _children(outer)]
    return {"unevaluatedProperties", "patternProperties"} <= found
