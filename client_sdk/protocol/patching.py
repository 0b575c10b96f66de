"""RFC 6902 application, by the ``jsonpatch`` library, with its two gaps closed.

The library compares with Python's ``==``, in which ``True`` equals ``1``; and it
does not accept ``add`` at the root of a document that is no container. Both
are legal JSON Patch and both occur.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any

import jsonpatch
from jsonpointer import JsonPointerException, resolve_pointer


class PatchFailed(Exception):
    """The patch does not apply; the document is as it was (SN-2)."""


def same_json(left: Any, right: Any) -> bool:
    """Equality of JSON values as RFC 6902 section 4.6 has it: numbers numerically, booleans apart from numbers."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_json(value, right[key]) for key, value in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same_json, left, right))
    return bool(left == right)


class _StrictTest(jsonpatch.TestOperation):
    def apply(self, obj: Any) -> Any:
        operation: Any = self.operation
        found = resolve_pointer(obj, self.location)
        if not same_json(found, operation["value"]):
            raise jsonpatch.JsonPatchTestFailed(f"the value at {self.location!r} is not the expected one")
        return obj


class _Patch(jsonpatch.JsonPatch):
    operations = MappingProxyType({**jsonpatch.JsonPatch.operations, "test": _StrictTest})


def _plain(operation: Any) -> Any:
    """One operation as the library wants it, from its ``ag_ui.core`` model."""
    kind: str = operation.op
    plain: dict[str, Any] = {"op": kind, "path": operation.path}
    if kind in ("add", "replace", "test"):
        plain["value"] = operation.value
    if kind in ("move", "copy"):
        plain["from"] = operation.from_
    if kind == "add" and operation.path == "":
        plain["op"] = "replace"  # RFC 6902 4.1: at the root, add replaces the whole document
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
        for position, operation in enumerate(map(_plain, operations)):
            document = _Patch([operation]).apply(document, in_place=position > 0)
        return document
    except (jsonpatch.JsonPatchException, JsonPointerException, TypeError, RecursionError) as error:
        failed = operations[position]
        raise PatchFailed(f"operation {position} ({failed.op} {failed.path!r}) does not apply: {error}") from None
