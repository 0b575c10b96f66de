"""JSON text, read strictly and written canonically.

Strictly: as RFC 8259 has it, no property twice, no NaN or Infinity, whole characters. Python's own
reader takes more than that, and what two readers understand differently is no
basis for consent.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from client_sdk.schema import quote

MAX_DEPTH = 100
"""Levels of nesting beyond which a JSON text is not read: everything behind it recurses."""

_TOO_DEEP = f"it is nested more than {MAX_DEPTH} levels deep"

_HALF = re.compile("[\ud800-\udfff]")


class _NotStrict(ValueError):
    """JSON that Python would read and RFC 8259 does not allow."""


def _refuse_constant(name: str) -> Any:
    raise _NotStrict(f"{name} is not a JSON number")


def _refuse_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        ((twice, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise _NotStrict(f"property {quote(twice)} occurs twice in one object")
    return value


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise _NotStrict(f"the number {text[:40]} is too large")
    return number


def parse_json(text: str) -> Any:
    """Read one JSON value strictly.

    Args:
        text: JSON text.

    Raises:
        ValueError: not JSON by RFC 8259, or nested too deeply, or a property occurs twice.
    """
    try:
        value = json.loads(
            text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_doubles, parse_float=_finite
        )
    except RecursionError as error:
        raise _NotStrict(_TOO_DEEP) from error
    _check(value)
    return value


def _check(value: Any) -> None:
    """Refuse what is nested too deeply, and strings that hold half a character: nobody can send those on."""
    level = [value]
    for _ in range(MAX_DEPTH):
        if any(isinstance(item, str) and _HALF.search(item) for item in level):
            raise _NotStrict("a string in it holds half of a UTF-16 surrogate pair")
        level = [inner for outer in level for inner in _children(outer)]
        if not level:
            return
    raise _NotStrict(_TOO_DEEP)


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else []


def canonical_json(value: Any) -> str:
    """`value` as JSON that is equal for equal values: keys sorted, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
