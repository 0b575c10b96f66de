"""The run input: the one message that travels from the application to the agent.

Immediately before it is sent, the same boundary applies to it as to what comes
in (RI-1): unknown material is removed and reported, a malformed known field is
refused, activity messages stay here (AC-4), and a peer pinned at an older
version gets what it understands (VE-3).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from ag_ui.core import PROTOCOL_VERSION, Interrupt, Message, ResumeEntry
from pydantic import BaseModel, ValidationError

from client_sdk.diagnostics import Diagnostic
from client_sdk.errors import InputError
from client_sdk.legacy.flatten import flatten, parts_dropped
from client_sdk.protocol.compat import Peer, strip_tag, upgrade_message, without
from client_sdk.protocol.enforce import Malformed, Removed, conform, explain
from client_sdk.protocol.vocabulary import (
    INPUT_ADAPTER,
    INPUT_SHAPE,
    MESSAGE_ADAPTER,
    MESSAGE_SHAPE,
    Described,
    Items,
    Shape,
    Tagged,
    describe,
)

ModelT = TypeVar("ModelT", bound=BaseModel)
Raw = dict[str, Any]
Warn = Callable[[Diagnostic], None]


def wire(value: Any) -> Any:
    """`value` in wire spelling: models as camelCase objects, everything else as it is."""
    return value.model_dump(mode="json", by_alias=True) if isinstance(value, BaseModel) else value


def adopt_messages(messages: Iterable[Message | Mapping[str, Any]], warn: Warn) -> list[Message]:
    """Read a conversation the application or a store hands over; see `adopt_message`.

    Messages of a role that is not known here are left out, and `warn` is told (RI-1).
    """
    adopted = [adopt_message(message, warn, path=f"/messages/{index}") for index, message in enumerate(messages)]
    return [message for message in adopted if message is not None]


def adopt_message(message: Message | Mapping[str, Any], warn: Warn, *, path: str = "") -> Message | None:
    """Read a message the application or a store hands over, as a model.

    Args:
        message: an ``ag_ui.core`` message, or its wire object; retired parts are upgraded.
        warn: told about unknown material that was removed.
        path: JSON Pointer to the message, for errors.

    Returns:
        The message, or None when its role is not known here.

    Raises:
        InputError: the message is malformed; ``path`` says where.
    """
    if isinstance(message, BaseModel):
        return message
    if not isinstance(message, Mapping):
        raise InputError(f"the message at {path or '/'} is malformed: it is no object", path=path)
    raw = _omit_nulls(upgrade_message(dict(message)), MESSAGE_SHAPE)
    try:
        model = conform(raw, MESSAGE_SHAPE, MESSAGE_ADAPTER, lambda removed: warn(_stripped(removed, path)))
    except Malformed as problem:
        raise InputError(
            f"the message is malformed at {path + problem.path or '/'}: {problem.message}", path=path + problem.path
        ) from None
    if model is None:
        warn(Diagnostic("outgoing_stripped", path, f"not sent: the role {raw['role']!r} is not known here"))
    return model  # type: ignore[no-any-return]


def adopt_resume(entries: Iterable[ResumeEntry | Mapping[str, Any]]) -> list[ResumeEntry]:
    """Read answers to interrupts, models or wire objects.

    Raises:
        InputError: one is malformed; ``path`` says where.
    """
    return [_adopt(entry, ResumeEntry, f"/resume/{index}") for index, entry in enumerate(entries)]


def adopt_interrupts(interrupts: Iterable[Interrupt | Mapping[str, Any]]) -> list[Interrupt]:
    """Read interrupts that a store kept, models or wire objects.

    Raises:
        InputError: one is malformed; ``path`` says where.
    """
    return [_adopt(interrupt, Interrupt, f"/interrupts/{index}") for index, interrupt in enumerate(interrupts)]


def _adopt(value: ModelT | Mapping[str, Any], model: type[ModelT], path: str) -> ModelT:
    raw = wire(value)
    try:
        return model.model_validate(raw, strict=True, by_alias=True, by_name=False)
    except ValidationError as error:
        problem = explain(raw, describe(model), error)
        path += problem.path
        raise InputError(f"{path} is malformed: {problem.message}", path=path) from None


def _stripped(removed: Removed, prefix: str = "") -> Diagnostic:
    _, path, message = removed
    return Diagnostic("outgoing_stripped", prefix + path, f"not sent: {message}")


def prepare_input(raw: Raw, peer: Peer, warn: Warn) -> Raw:
    """Make `raw` fit to be sent.

    Args:
        raw: a RunAgentInput in wire spelling, whatever the application put in it.
        peer: what is known of the peer's age.
        warn: told about everything removed or lost.

    Returns:
        The RunAgentInput to send, in wire spelling.

    Raises:
        InputError: a described field is malformed; nothing may be sent.
    """
    renewed = dict(raw)
    renewed.setdefault("protocolVersion", PROTOCOL_VERSION)
    if not peer.declares_version:
        renewed = without(renewed, "protocolVersion")
    if isinstance(renewed.get("messages"), list):
        renewed["messages"] = [upgrade_message(message) for message in renewed["messages"] if not _is_activity(message)]
        renewed = _downgrade(renewed, peer, warn)
    renewed = _omit_nulls(renewed, INPUT_SHAPE)
    try:
        model = conform(renewed, INPUT_SHAPE, INPUT_ADAPTER, lambda removed: warn(_stripped(removed)))
    except Malformed as problem:
        raise InputError(
            f"the run input may not be sent: {problem.path or '/'}: {problem.message}", path=problem.path
        ) from None
    return model.model_dump(mode="json", by_alias=True)  # type: ignore[no-any-return]


def encode(prepared: Raw) -> bytes:
    """The bytes of a prepared input: one JSON object in UTF-8 (TR-6)."""
    return json.dumps(prepared, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()


def _is_activity(message: Any) -> bool:
    return isinstance(message, dict) and message.get("role") == "activity"


def _omit_nulls(value: Any, shape: Shape) -> Any:
    """Leave out optional fields that are null; nulls in open data are data (PR-6, PR-7)."""
    if isinstance(shape, Tagged) and isinstance(value, dict):
        tag = value.get(shape.tag)
        variant = shape.variants.get(tag) if isinstance(tag, str) else None
        return value if variant is None else _omit_nulls(value, variant)
    if isinstance(shape, Items) and isinstance(value, list):
        return [_omit_nulls(item, shape.element) for item in value]
    if not isinstance(shape, Described) or not isinstance(value, dict):
        return value
    kept = {}
    for key, item in value.items():
        member = shape.members.get(key)
        if item is None and member is not None and not member.required:
            continue
        kept[key] = item if member is None else _omit_nulls(item, member.shape)
    return kept


def _downgrade(raw: Raw, peer: Peer, warn: Warn) -> Raw:
    messages: Iterable[Any] = raw["messages"]
    if peer.predates_subagents:
        messages = [strip_tag(message) if isinstance(message, dict) else message for message in messages]
    if peer.needs_strings:
        raw = without(raw, "parentRunId")
        messages = [_as_string(message, f"/messages/{index}", warn) for index, message in enumerate(messages)]
    return {**raw, "messages": list(messages)}


def _as_string(message: Any, path: str, warn: Warn) -> Any:
    """VE-3: a peer at or below 0.0.39 holds strings only; a malformed message is left to be refused (VE-4)."""
    if not isinstance(message, dict):
        return message
    if "content" not in message and message.get("role") == "assistant":
        return {**message, "content": ""}  # its schema requires what is optional now
    content = message.get("content")
    if not isinstance(content, list):
        return message
    flat = flatten(content, where=f"{path}/content")
    for part in flat.dropped:
        warn(parts_dropped(part, message_id=str(message.get("id"))))
    return {**message, "content": flat.text}
