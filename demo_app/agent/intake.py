"""Is this run input usable? Judged before any stream exists (AL-8): what is malformed is refused with the place and
what was expected; what is merely unknown is left aside with a warning, so that a newer client's input still runs.
"""

import json
import logging
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ag_ui.core import PROTOCOL_VERSION, RunAgentInput
from pydantic import BaseModel, TypeAdapter, ValidationError

_log = logging.getLogger(__name__)
_INPUT = TypeAdapter(RunAgentInput)

# Fields in which null is a value and not a wrong spelling of absence (PR-7).
_NULL_IS_DATA = frozenset({"state", "payload", "parameters"})
_VERSION = re.compile(r"(\d+)\.(\d+)")


@dataclass(frozen=True)
class Fault:
    """One thing wrong with the input: a JSON pointer and what was expected there."""

    path: str
    message: str


class InputRejectedError(Exception):
    """The input cannot start a run. Attributes: HTTP `status`, stable `code`, and the `faults`."""

    def __init__(self, status: int, code: str, message: str, faults: Sequence[Fault] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.faults = tuple(faults)


def read_input(body: bytes) -> RunAgentInput:
    """The run input in a request's body. Raises `InputRejectedError`: 400 `not_json`, 422 `invalid_input`."""
    run_input = _validated(_parsed(body))
    faults = [*_nulls(run_input, ""), *_repeated_answers(run_input)]
    if faults:
        raise _invalid(faults)
    _check_version(run_input.protocol_version)
    return run_input


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        data = json.loads(body.decode("utf-8"), parse_constant=_refuse_constant, parse_float=_finite)
    except UnicodeDecodeError as error:
        raise InputRejectedError(400, "not_json", f"The body is not UTF-8: {error.reason}.") from error
    except (ValueError, RecursionError) as error:
        raise InputRejectedError(400, "not_json", f"The body is not JSON: {error}.") from error
    if not isinstance(data, dict):
        raise InputRejectedError(422, "invalid_input", "The body must be one JSON object, a RunAgentInput.")
    return data


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"{text} is out of range")
    return number


def _validated(data: dict[str, Any]) -> RunAgentInput:
    """Validate by the wire's names, strictly; unknown members of tagged lists are taken out first (PR-4)."""
    while True:
        try:
            return _INPUT.validate_json(json.dumps(data), strict=True, by_alias=True, by_name=False)
        except ValidationError as error:
            unknown = [fault["loc"] for fault in error.errors() if fault["type"] == "union_tag_invalid"]
            elements = {element for place in unknown if (element := _list_element(data, place))}
            if not elements:
                raise _invalid(_faults(data, error)) from error
            for element in sorted(elements, key=lambda path: path[-1], reverse=True):
                _remove(data, element)


def _list_element(data: dict[str, Any], place: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The path of the innermost list element at or around a place; empty when it lies in no list."""
    path = _real_path(data, place)
    while path and isinstance(path[-1], str):
        path.pop()
    return tuple(path)


def _remove(data: dict[str, Any], element: tuple[int | str, ...]) -> None:
    parent: Any = data
    for step in element[:-1]:
        parent = parent[step]
    del parent[element[-1]]
    _log.warning("Unknown member at %s of the run input: left aside", _pointer(element))


def _real_path(data: Any, place: tuple[int | str, ...]) -> list[int | str]:
    """The JSON path in a validation error's location, without the names of union members that pydantic adds."""
    path: list[int | str] = []
    for step in place:
        in_list = isinstance(step, int) and isinstance(data, list) and step < len(data)
        if not in_list and not (isinstance(step, str) and isinstance(data, dict) and step in data):
            continue
        data = data[step]
        path.append(step)
    return path


def _faults(data: dict[str, Any], error: ValidationError) -> list[Fault]:
    faults = []
    for fault in error.errors(include_url=False, include_context=False, include_input=False):
        path = _real_path(data, fault["loc"])
        if fault["type"] == "missing":
            path.append(fault["loc"][-1])
        faults.append(Fault(_pointer(path), fault["msg"]))
    return faults


def _pointer(path: Sequence[int | str]) -> str:
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in path)


def _nulls(value: Any, path: str) -> Iterator[Fault]:
    """Nulls that stand for absence, which the wire does not allow (PR-7)."""
    if isinstance(value, list):
        for index, element in enumerate(value):
            yield from _nulls(element, f"{path}/{index}")
    elif isinstance(value, BaseModel):
        for name in value.model_fields_set & type(value).model_fields.keys():
            place = f"{path}/{type(value).model_fields[name].alias or name}"
            member = getattr(value, name)
            if member is None and name not in _NULL_IS_DATA:
                yield Fault(place, "An optional field without a value is left out, not null")
            yield from _nulls(member, place)


def _repeated_answers(run_input: RunAgentInput) -> Iterator[Fault]:
    counts = Counter(entry.interrupt_id for entry in run_input.resume or ())
    for index, entry in enumerate(run_input.resume or ()):
        if counts[entry.interrupt_id] > 1:
            yield Fault(f"/resume/{index}/interruptId", f"{entry.interrupt_id!r} is answered more than once")


def _invalid(faults: Sequence[Fault]) -> InputRejectedError:
    first = faults[0]
    return InputRejectedError(
        422,
        "invalid_input",
        f"The run input is not valid: {first.path or 'the body'}: {first.message}.",
        faults,
    )


def _check_version(declared: str | None) -> None:
    """A newer or unreadable version is served all the same, with a warning (VE-1)."""
    if declared is None or declared == PROTOCOL_VERSION:
        return
    match, own = _VERSION.fullmatch(declared), PROTOCOL_VERSION.split(".")
    if match is None:
        _log.warning("The client declares protocolVersion %r, which is not MAJOR.MINOR", declared)
    elif [int(number) for number in match.groups()] > [int(number) for number in own]:
        _log.warning("The client declares protocolVersion %s; this agent speaks %s", declared, PROTOCOL_VERSION)
