"""Judges one replay against one conformance fixture.

Pure: expectations and a replay document in, a list of readable disagreements out.
The format is described in ``tests/corpus/README.md``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Document = Mapping[str, Any]
Check = Callable[[Any, Document], Iterator[str]]

_MISSING = object()
_IGNORED = frozenset({"errorContains", "warnings"})
"""Wording of other clients: replaced by ``codes.json``."""


def disagreements(fixture: Mapping[str, Any], codes: Mapping[str, Any], document: Document) -> list[str]:
    """Return what is wrong with `document`, one line each; empty when the fixture holds."""
    expect = {**fixture["expect"], **fixture.get("expectOverrides", {}).get("typescript", {})}
    expect.pop("intentional", None)
    if "outcome" in codes:
        expect["outcome"] = codes["outcome"]
    found: list[str] = []
    for key, value in expect.items():
        if key in _IGNORED:
            continue
        if key not in CHECKS:
            found.append(f"expect.{key}: the runner does not know this key")
            continue
        found += [f"expect.{key}: {line}" for line in CHECKS[key](value, document)]
    found += [f"codes: {line}" for line in _codes(codes, document)]
    if "rules" in fixture:
        found += [f"codes: {line}" for line in _no_other_warnings(codes, document)]
    return found


def report(fixture: Mapping[str, Any], lines: list[str], document: Document) -> str:
    """Return the failure text for a fixture: what differs, then what the replay said."""
    told = {k: document[k] for k in ("status", "error", "runErrors", "diagnostics")}
    events = " ".join(str(event.get("type")) for event in document["events"])
    return "\n".join(
        [
            f"{fixture['name']}: {fixture.get('description', '')}",
            *(f"  - {line}" for line in lines),
            f"  replay: {json.dumps(told, ensure_ascii=False)}",
            f"  events: {events}",
            f"  messages: {json.dumps(document['messages'], ensure_ascii=False)}",
        ]
    )


# ------------------------------------------------------------------ JSON


def same(left: object, right: object) -> bool:
    """Tell whether two JSON values are equal; a boolean never equals a number."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return (type(left) is type(right) and left == right) or (_numbers(left, right) and left == right)


def _numbers(*values: object) -> bool:
    return all(isinstance(value, int | float) for value in values)


def lookup(value: object, dotted: str) -> object:
    """Return what is at a dotted path, or a marker when there is nothing."""
    for step in dotted.split("."):
        if isinstance(value, list):
            if not step.isdigit() or int(step) >= len(value):
                return _MISSING
            value = value[int(step)]
        elif isinstance(value, dict) and step in value:
            value = value[step]
        else:
            return _MISSING
    return value


def subset(expected: object, actual: object, path: str = "") -> Iterator[str]:
    """Yield where `actual` does not hold what `expected` names."""
    where = path or "value"
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key, value in expected.items():
            if key in actual:
                yield from subset(value, actual[key], f"{path}.{key}".lstrip("."))
            else:
                yield f"{path}.{key} is absent".lstrip(".")
    elif isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            yield f"{where} has {len(actual)} elements, expected {len(expected)}: {_show(actual)}"
            return
        for index, (one, other) in enumerate(zip(expected, actual, strict=True)):
            yield from subset(one, other, f"{path}.{index}".lstrip("."))
    elif not same(expected, actual):
        yield f"{where} is {_show(actual)}, expected {_show(expected)}"


def _show(value: object) -> str:
    return "absent" if value is _MISSING else json.dumps(value, ensure_ascii=False)


# ---------------------------------------------------------------- checks


def _outcome(expected: str, document: Document) -> Iterator[str]:
    status = document["status"]
    holds = {
        "completed": status != "rejected",
        "failed": status == "rejected",
        "truncated": status == "truncated",
    }
    if expected not in holds:
        yield f"no such outcome {expected!r}"
    elif not holds[expected]:
        yield f"expected {expected}, the status is {status}"


def _run_error(expected: object, document: Document) -> Iterator[str]:
    told = [error["message"] for error in document["runErrors"]]
    if expected is True and not told:
        yield "no run reported a failure"
    elif isinstance(expected, str) and not any(expected in message for message in told):
        yield f"expected {expected!r} in {told}"


def _run_error_absent(expected: object, document: Document) -> Iterator[str]:
    if document["runErrors"]:
        yield f"expected none, got {document['runErrors']}"


def _no_warnings(expected: bool, document: Document) -> Iterator[str]:
    if expected and document["diagnostics"]:
        yield f"got {document['diagnostics']}"


def _event_types(expected: list[str], document: Document) -> Iterator[str]:
    got = [event.get("type") for event in document["events"]]
    if got != expected:
        yield f"\n      expected {' '.join(expected)}\n      got      {' '.join(map(str, got))}"


def _event_types_absent(expected: list[str], document: Document) -> Iterator[str]:
    for event in document["events"]:
        if event.get("type") in expected:
            yield f"{event['type']} was delivered"


def _equal_at(key: str) -> Check:
    def check(expected: dict[str, Any], document: Document) -> Iterator[str]:
        for path, value in expected.items():
            got = lookup(document[key], path)
            if not same(value, got):
                yield f"{path} is {_show(got)}, expected {_show(value)}"

    return check


def _absent_at(key: str) -> Check:
    def check(expected: list[str], document: Document) -> Iterator[str]:
        for path in expected:
            got = lookup(document[key], path)
            if got is not _MISSING:
                yield f"{path} is {_show(got)}, expected nothing there"

    return check


def _subset_of(key: str) -> Check:
    def check(expected: object, document: Document) -> Iterator[str]:
        yield from subset(expected, document[key])

    return check


def _exactly(key: str) -> Check:
    def check(expected: object, document: Document) -> Iterator[str]:
        if not same(expected, document[key]):
            yield f"expected {_show(expected)}, got {_show(document[key])}"

    return check


def _message_count(expected: int, document: Document) -> Iterator[str]:
    if len(document["messages"]) != expected:
        yield f"expected {expected}, got {len(document['messages'])}"


def _usage(expected: list[Any], document: Document) -> Iterator[str]:
    got = document["usage"]
    if len(got) != len(expected) or not all(any(same(one, entry) for entry in got) for one in expected):
        yield f"expected {_show(expected)}, got {_show(got)}"


def _error(field: str) -> Check:
    def check(expected: object, document: Document) -> Iterator[str]:
        error = document["error"]
        got = error[field] if error else _MISSING
        if not same(expected, got):
            yield f"error.{field} is {_show(got)}, expected {_show(expected)}"

    return check


def _error_ids(expected: list[str], document: Document) -> Iterator[str]:
    got = document["error"]["ids"] if document["error"] else []
    missing = [name for name in expected if name not in got]
    if missing:
        yield f"the error names {got}, not {missing}"


def _warning_contains(expected: list[str], document: Document) -> Iterator[str]:
    told = [diagnostic["message"] for diagnostic in document["diagnostics"]]
    for piece in expected:
        if not any(piece in message for message in told):
            yield f"{piece!r} is in no diagnostic of {told}"


CHECKS: dict[str, Check] = {
    "outcome": _outcome,
    "status": _exactly("status"),
    "runError": _run_error,
    "runErrorAbsent": _run_error_absent,
    "noWarnings": _no_warnings,
    "warningContains": _warning_contains,
    "eventTypes": _event_types,
    "eventTypesAbsent": _event_types_absent,
    "eventPaths": _equal_at("events"),
    "eventAbsentPaths": _absent_at("events"),
    "messageCount": _message_count,
    "messages": _subset_of("messages"),
    "messagesExact": _equal_at("messages"),
    "messageAbsentPaths": _absent_at("messages"),
    "state": _subset_of("state"),
    "request": _subset_of("request"),
    "requestAbsentPaths": _absent_at("request"),
    "pendingToolCalls": _exactly("pendingToolCalls"),
    "usage": _usage,
    "interrupts": _subset_of("interrupts"),
    "interruptAbsentPaths": _absent_at("interrupts"),
    "errorIndex": _error("index"),
    "errorEventType": _error("eventType"),
    "errorPath": _error("path"),
    "errorIds": _error_ids,
}
"""What each key of ``expect`` asserts."""


def _codes(codes: Mapping[str, Any], document: Document) -> Iterator[str]:
    if "errorCode" in codes:
        error = document["error"]
        if not error or error["code"] != codes["errorCode"]:
            yield f"expected the error {codes['errorCode']}, got {error}"
    told = document["diagnostics"]
    for code in codes.get("warningCodes", ()):
        if not any(one["code"] == code for one in told):
            yield f"expected the warning {code}, got {told}"
    for path in codes.get("warningPaths", ()):
        if not any(one["path"] == path for one in told):
            yield f"expected a warning at {path}, got {told}"


def _no_other_warnings(codes: Mapping[str, Any], document: Document) -> Iterator[str]:
    if codes.get("otherWarnings"):
        return
    expected = {*codes.get("warningCodes", ()), *codes.get("allowedWarnings", ())}
    for one in document["diagnostics"]:
        if one["code"] not in expected:
            yield f"unexpected warning {one}"
