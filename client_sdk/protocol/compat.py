"""The compatibility boundary: retired shapes become what replaced them.

It runs first (PL-1), on raw events, because enforcement judges against the
current protocol, in which a retired shape is simply unknown. It never repairs a
malformed value and never changes an outcome, an id or an order (VE-4).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from client_sdk.protocol.notes import Notes

Raw = dict[str, Any]

SUBAGENT_LIFECYCLE: Final = frozenset({"SUBAGENT_STARTED", "SUBAGENT_FINISHED", "SUBAGENT_ERROR"})
_MEDIA: Final = frozenset({"image", "audio", "video", "document"})
_VERSION: Final = re.compile(r"\d{1,9}(\.\d{1,9})*", re.ASCII)

NULLS_EVERYWHERE: Final = ("rawEvent",)
NULLS_BY_TYPE: Final[dict[str, tuple[str, ...]]] = {
    "TOOL_CALL_START": ("parentMessageId",),
    "TOOL_CALL_CHUNK": ("parentMessageId",),
    "RUN_FINISHED": ("outcome", "result"),
    "SUBAGENT_FINISHED": ("result",),
}
"""The nulls older producers send for an absent field (PR-7); no other null is forgiven."""


def parse_version(text: str) -> tuple[int, ...]:
    """Read a peer version such as ``0.0.57`` as numbers, to be compared component by component.

    Raises:
        ValueError: when it is not dot-separated numbers.
    """
    if not is_version(text):
        raise ValueError(f"a peer version is numbers joined by dots, such as 0.0.57 or 1.0; got {text!r}")
    parts = [int(part) for part in text.split(".")]
    return tuple(parts + [0] * (3 - len(parts)))


def is_version(value: Any) -> bool:
    """Whether `value` is a peer version as `parse_version` reads it."""
    return isinstance(value, str) and _VERSION.fullmatch(value) is not None


class Peer:
    """What a pinned peer version means for both directions (VE-3, RI-2).

    Args:
        version: the version the peer is known to speak at most, or None for a current peer.
    """

    __slots__ = ("declares_version", "needs_strings", "predates_subagents", "version")

    def __init__(self, version: str | None) -> None:
        self.version = version
        known = parse_version(version) if version is not None else None
        self.needs_strings = known is not None and known <= (0, 0, 39)
        self.predates_subagents = known is not None and known <= (0, 0, 57)
        self.declares_version = known is None or known >= (1, 0, 0)


def without(raw: Raw, key: str) -> Raw:
    """A copy of `raw` without `key`."""
    return {name: value for name, value in raw.items() if name != key}


def strip_tag(raw: Raw) -> Raw:
    """Remove a well-formed subagent tag; a malformed one is left for enforcement to reject (VE-4)."""
    return without(raw, "subagentRunId") if isinstance(raw.get("subagentRunId"), str) else raw


def _media_kind(mime_type: str) -> str:
    family = mime_type.partition("/")[0].lower()
    return family if family in _MEDIA else "document"


def _is_binary(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "binary"


def _is_media(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(part.get("type"), str) and part["type"] in _MEDIA


def _mirrors(part: Any, modern: Raw) -> bool:
    if not _is_media(part) or (part["type"], part.get("source")) != (modern["type"], modern["source"]):
        return False
    filename = modern.get("metadata", {}).get("filename")
    metadata = part.get("metadata")
    return filename is None or (isinstance(metadata, dict) and metadata.get("filename") == filename)


def _modern_part(part: Raw) -> Raw | None:
    """The media part that says what a retired ``binary`` part says; None when nothing can."""
    mime_type = part.get("mimeType")
    if not isinstance(mime_type, str):
        return None
    for key, source_kind in (("data", "data"), ("url", "url")):
        value = part.get(key)
        if isinstance(value, str) and value:
            modern: Raw = {
                "type": _media_kind(mime_type),
                "source": {"type": source_kind, "value": value, "mimeType": mime_type},
            }
            if isinstance(part.get("filename"), str) and part["filename"]:
                modern["metadata"] = {"filename": part["filename"]}
            return modern
    return None


def upgrade_parts(parts: list[Any]) -> list[Any]:
    """Turn retired ``binary`` parts into media parts by MIME type (VE-2).

    A part that carries neither data nor a URL has no modern form and stays as it
    is; one that only mirrors a modern part beside it is that part and goes.
    """
    upgraded: list[Any] = []
    for part in parts:
        modern = _modern_part(part) if _is_binary(part) else None
        if modern is None:
            upgraded.append(part)
        elif not any(_mirrors(other, modern) for other in parts):
            upgraded.append(modern)
    return upgraded


def upgrade_message(message: Any) -> Any:
    """`message` with its retired parts upgraded; the same object where nothing could be."""
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, list) or not any(_is_binary(part) for part in content):
        return message
    upgraded = upgrade_parts(content)
    if len(upgraded) == len(content) and all(new is old for new, old in zip(upgraded, content, strict=True)):
        return message
    return {**message, "content": upgraded}


class Compatibility:
    """The compatibility stage: one raw event in, at most one raw event out.

    Args:
        notes: where translations are reported.
        peer: what is known of the peer's age.
    """

    __slots__ = ("_message", "_message_count", "_notes", "_peer", "_run", "_span", "_span_count")

    def __init__(self, notes: Notes, peer: Peer) -> None:
        self._notes = notes
        self._peer = peer
        self._run = ""
        self._span_count = self._message_count = 0
        self._span = self._message = ""

    def feed(self, raw: Raw) -> list[Raw]:
        """Translate one raw event."""
        kind = raw["type"]
        raw = self._absent(raw, NULLS_EVERYWHERE, kind)
        raw = self._absent(raw, NULLS_BY_TYPE.get(kind, ()), kind)
        translate = _TRANSLATIONS.get(kind)
        if translate is not None:
            raw = translate(self, raw)
        return self._for_peer(raw) if self._peer.predates_subagents else [raw]

    def _absent(self, raw: Raw, keys: Iterable[str], where: str) -> Raw:
        for key in keys:
            if key in raw and raw[key] is None:
                self._notes.warn(
                    "retired_shape", f"/{key}", f"{where}.{key}: null is an older spelling of absence; left out"
                )
                raw = without(raw, key)
        return raw

    # Retired THINKING_* events (VE-2). They carry no id, so one is derived from the run and a counter.

    def _retired(self, old: str, new: str, extra: str = "") -> None:
        self._notes.warn("retired_shape", "/type", f"{old} is retired and was read as {new}{extra}")

    def _thinking_start(self, raw: Raw) -> Raw:
        self._span_count += 1
        self._span = f"{self._run}:thinking-span-{self._span_count}"
        title = raw.get("title")
        lost = "" if title is None else f"; its title {title!r} has no place there and is lost"
        self._retired("THINKING_START", "REASONING_START", lost)
        return {**without(raw, "title"), "type": "REASONING_START", "messageId": self._span}

    def _thinking_end(self, raw: Raw) -> Raw:
        self._retired("THINKING_END", "REASONING_END")
        return {**raw, "type": "REASONING_END", "messageId": self._span or f"{self._run}:thinking-span-unopened"}

    def _thinking_text_start(self, raw: Raw) -> Raw:
        self._message_count += 1
        self._message = f"{self._run}:thinking-{self._message_count}"
        self._retired("THINKING_TEXT_MESSAGE_START", "REASONING_MESSAGE_START")
        return {**raw, "type": "REASONING_MESSAGE_START", "messageId": self._message, "role": "reasoning"}

    def _thinking_text(self, raw: Raw) -> Raw:
        new = raw["type"].replace("THINKING_TEXT_MESSAGE", "REASONING_MESSAGE")
        self._retired(raw["type"], new)
        return {**raw, "type": new, "messageId": self._message or f"{self._run}:thinking-unopened"}

    # Retired shapes inside messages and echoed inputs.

    def _run_started(self, raw: Raw) -> Raw:
        if isinstance(raw.get("runId"), str):
            self._run = raw["runId"]
        self._span = self._message = ""
        echoed = raw.get("input")
        if not isinstance(echoed, dict):
            return raw
        renewed = echoed
        if "forwardedProps" in echoed and echoed["forwardedProps"] is None:
            self._notes.warn("retired_shape", "/input/forwardedProps", "null is an older spelling of absence; left out")
            renewed = without(echoed, "forwardedProps")
        renewed = self._messages(renewed, "/input")
        return raw if renewed is echoed else {**raw, "input": renewed}

    def _messages_snapshot(self, raw: Raw) -> Raw:
        return self._messages(raw, "")

    def _messages(self, holder: Raw, path: str) -> Raw:
        messages = holder.get("messages")
        if not isinstance(messages, list):
            return holder
        renewed = [self._message_shapes(message, f"{path}/messages/{i}") for i, message in enumerate(messages)]
        if all(new is old for new, old in zip(renewed, messages, strict=True)):
            return holder
        return {**holder, "messages": renewed}

    def _message_shapes(self, message: Any, path: str) -> Any:
        message = self._content(message, path)
        renewed = upgrade_message(message)
        if renewed is not message:
            self._notes.warn(
                "retired_shape", f"{path}/content", "a binary part is retired and was read as a media part"
            )
        return renewed

    def _tool_call_result(self, raw: Raw) -> Raw:
        renewed: Raw = self._message_shapes(raw, "")
        return renewed

    def _content(self, holder: Any, path: str) -> Any:
        """Media parts whose ``metadata`` is null are read as having none (PR-7)."""
        content = holder.get("content") if isinstance(holder, dict) else None
        if not isinstance(content, list):
            return holder
        renewed = [self._part(part, f"{path}/content/{index}") for index, part in enumerate(content)]
        if all(new is old for new, old in zip(renewed, content, strict=True)):
            return holder
        return {**holder, "content": renewed}

    def _part(self, part: Any, path: str) -> Any:
        if not _is_media(part) or part.get("metadata", 0) is not None:
            return part
        self._notes.warn("retired_shape", f"{path}/metadata", "null is an older spelling of absence; left out")
        return without(part, "metadata")

    # A peer from before subagents (VE-3).

    def _for_peer(self, raw: Raw) -> list[Raw]:
        if raw["type"] in SUBAGENT_LIFECYCLE:
            self._notes.warn(
                "subagent_event_dropped",
                "/type",
                f"{raw['type']} was dropped: the peer is pinned at {self._peer.version}, before subagents",
            )
            return []
        raw = strip_tag(raw)
        raw = _strip_tags_in(raw, "messages")
        for key, inner in (("input", "messages"), ("outcome", "interrupts")):
            if isinstance(raw.get(key), dict):
                raw = {**raw, key: _strip_tags_in(raw[key], inner)}
        return [raw]


def _strip_tags_in(holder: Raw, key: str) -> Raw:
    entries = holder.get(key)
    if not isinstance(entries, list):
        return holder
    return {**holder, key: [strip_tag(entry) if isinstance(entry, dict) else entry for entry in entries]}


_TRANSLATIONS: Final[dict[str, Callable[[Compatibility, Raw], Raw]]] = {
    "THINKING_START": Compatibility._thinking_start,
    "THINKING_END": Compatibility._thinking_end,
    "THINKING_TEXT_MESSAGE_START": Compatibility._thinking_text_start,
    "THINKING_TEXT_MESSAGE_CONTENT": Compatibility._thinking_text,
    "THINKING_TEXT_MESSAGE_END": Compatibility._thinking_text,
    "RUN_STARTED": Compatibility._run_started,
    "MESSAGES_SNAPSHOT": Compatibility._messages_snapshot,
    "TOOL_CALL_RESULT": Compatibility._tool_call_result,
}
