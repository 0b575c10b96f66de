"""RFC 6902 application, by the ``jsonpatch`` library."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from textwrap import shorten
from typing import Any, Final

from jsonpatch import JsonPatch, JsonPatchException
from jsonpointer import JsonPointerException

_QUOTED: Final = 200
MAX_DEPTH: Final = 199
"""Levels of nesting a value can have on the wire inside an event or an input, where readers of JSON stop at 200."""


class PatchFailed(Exception):
    """The patch does not apply; the document is as it was (SN-2)."""


def _plain(operation: Any) -> Any:
    """One operation as the library wants it, from its ``ag_ui.core`` model."""
    kind: str = operation.op
    plain: dict[str, Any] = {"op": kind, "path": operation.path}
    if kind in ("add", "replace", "test"):
        plain["value"] = operation.value
    if kind in ("move", "copy"):
        plain["from"] = operation.from_
    return plain


def apply_patch(document: Any, operations: Sequence[Any]) -> Any:
    """Apply `operations` to a copy of `document`, all or nothing.

    Args:
        document: any JSON value; never changed.
        operations: ``ag_ui.core`` JSON Patch operations.

    Raises:
        PatchFailed: when any operation does not apply, a failing ``test`` included.
    """
    position = 0
    try:
        # One by one, on one copy, so that the failing operation can be named.
        for position, operation in enumerate(map(_plain, operations)):
            document = JsonPatch([operation]).apply(document, in_place=position > 0)
    except (JsonPatchException, JsonPointerException, RecursionError) as error:
        failed = operations[position]
        # The library's text may quote the whole document.
        why = shorten(str(error), _QUOTED, placeholder=" …")
        raise PatchFailed(f"operation {position} ({failed.op} {failed.path!r}) does not apply: {why}") from None
    if _is_deeper(document, MAX_DEPTH):
        raise PatchFailed(f"the result is nested more than {MAX_DEPTH} levels deep, which no frame could carry")
    return document


def _is_deeper(value: Any, levels: int) -> bool:
    level = [value]
    for _ in range(levels):
        level = [inner for outer in level for inner in _children(outer)]
        if not level:
            return False
    return any(map(_children, level))


def _children(value: Any) -> Collection[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
