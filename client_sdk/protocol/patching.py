"""RFC 6902 application, by the ``jsonpatch`` library."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from textwrap import shorten
from typing import Any, Final

from jsonpatch import JsonPatch, JsonPatchException
from jsonpointer import JsonPointer, JsonPointerException

_QUOTED: Final = 200
MAX_DEPTH: Final = 199
"""Levels of nesting a value can have on the wire inside an event or an input, where readers of JSON stop at 200."""


MAX_VALUES: Final = 1_000_000
"""Values a document may hold after a ``copy``, which alone lets a small patch make a large document."""


class PatchFailed(Exception):
    """The patch does not apply; the document is as it was (SN-2)."""


class _TooLarge(Exception):
    """The operation would make the document deeper or larger than it may be."""


def _plain(operation: Any) -> Any:
    """One operation as the library wants it, from its ``ag_ui.core`` model."""
    kind: str = operation.op
    plain: dict[str, Any] = {"op": kind, "path": operation.path}
    if kind in ("add", "replace", "test"):
        plain["value"] = operation.value
    if kind in ("move", "copy"):
        plain["from"] = operation.from_
    return plain


def _with_own_path(document: Any, parts: Sequence[str]) -> Any:
    """`document` with copies of the containers that an operation at `parts` changes or passes through.

    The rest is shared with the original: what an operation costs must not depend on how large the whole is.
    Where the path leads nowhere, copying ends; the library says what is wrong with it.
    """
    if not isinstance(document, dict | list):
        return document
    copied = document.copy()
    if len(parts) > 1:
        key: Any = parts[0]
        if isinstance(copied, list) and key.isdecimal():
            key = int(key)
        if key in copied if isinstance(copied, dict) else isinstance(key, int) and key < len(copied):
            copied[key] = _with_own_path(copied[key], parts[1:])
    return copied


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
        # One by one, so that the failing operation can be named.
        for position, operation in enumerate(map(_plain, operations)):  # noqa: B007
            document = _apply_one(document, operation)
    except (JsonPatchException, JsonPointerException, RecursionError, _TooLarge) as error:
        failed = operations[position]
        # The library's text may quote the whole document.
        why = shorten(str(error), _QUOTED, placeholder=" …")
        raise PatchFailed(f"operation {position} ({failed.op} {failed.path!r}) does not apply: {why}") from None
    return document


def _apply_one(document: Any, operation: dict[str, Any]) -> Any:
    change = JsonPatch.operations[operation["op"]](operation)
    target = change.pointer.parts
    document = _with_own_path(document, target)
    brought = operation.get("value")
    if "from" in operation:
        source = JsonPointer(operation["from"])
        document = _with_own_path(document, source.parts)
        brought = source.resolve(document, None)
        if operation["op"] == "copy" and _count(document) + _count(brought) > MAX_VALUES:
            raise _TooLarge(f"the result would hold more than {MAX_VALUES:,} values")
    if _is_deeper(brought, MAX_DEPTH - len(target)):
        raise _TooLarge(f"the result is nested more than {MAX_DEPTH} levels deep, which no frame could carry")
    return change.apply(document)


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether containers are nested in `value` more than `levels` deep."""
    level = [value] if isinstance(value, dict | list) else []
    while level and levels > 0:
        level = [inner for outer in level for inner in _children(outer) if isinstance(inner, dict | list)]
        levels -= 1
    return bool(level)


def _children(value: Any) -> Collection[Any]:
    return value.values() if isinstance(value, dict) else value


def _count(value: Any) -> int:
    counted, level = 1, [value]
    while level:
        level = [inner for outer in level if isinstance(outer, dict | list) for inner in _children(outer)]
        counted += len(level)
    return counted
