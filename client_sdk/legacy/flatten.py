"""Content as text, with the list of what text cannot hold (TC-5).

The rule: the text parts joined in order, with nothing between them and nothing
in the place of what is left out; a string passes through untouched. What is
malformed is refused, never repaired on the way past (VE-4): whoever flattens a
text part without text would hide a defect that the unflattened message shows.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from ag_ui.core import ContentPart, Message, PartSource, Role
from pydantic import BaseModel
from pydantic.alias_generators import to_snake

from client_sdk.diagnostics import Diagnostic
from client_sdk.errors import InputError

Content = str | Sequence[BaseModel | Mapping[str, Any]] | None
"""What a message may say: a string, a list of parts (models or wire objects), or nothing."""


def _tags(union: object) -> frozenset[str]:
    """The ``type`` values of an annotated union's members, read off the installed models."""
    members = get_args(get_args(union)[0])
    return frozenset(str(member.model_fields["type"].default) for member in members)


_ROLES = frozenset(get_args(Role))
_MEDIA_KINDS = _tags(ContentPart) - {"text"}
_SOURCE_KINDS = _tags(PartSource)


@dataclass(frozen=True, slots=True)
class DroppedPart:
    """One piece of content that a string cannot hold.

    Attributes:
        kind: the part's ``type`` (``image``, …); ``activity`` for an activity message's object.
        mime_type: the media type its source declares, None when it declares none.
        source_kind: the source's ``type`` (``data``, ``url``, ``file``), None without a source.
        where: JSON Pointer to the part (``/content/1``).
    """

    kind: str
    mime_type: str | None
    source_kind: str | None
    where: str

    def __str__(self) -> str:
        source = self.source_kind and f"{_plain(self.source_kind)} source"
        details = ", ".join(text for text in (_plain(self.mime_type or ""), source) if text)
        return f"{_plain(self.kind)} ({details})" if details else _plain(self.kind)


@dataclass(frozen=True, slots=True)
class FlatText:
    """Content after flattening.

    Attributes:
        text: the text parts joined, the string itself, or "" where there is no content.
        dropped: what `text` lacks, in order; empty when nothing was lost.
    """

    text: str
    dropped: tuple[DroppedPart, ...] = ()


@dataclass(frozen=True, slots=True)
class FlatMessage:
    """A message whose content is text: what a string-only sink stores of it.

    Attributes:
        id: the message's id.
        role: its role.
        body: its text; None when it has no content, or content that is no text at all.
        fields: everything else it carries, in wire spelling (``name``, ``toolCalls``, …).
        dropped: what `body` lacks, in order.
    """

    id: str
    role: str
    body: str | None
    fields: Mapping[str, Any]
    dropped: tuple[DroppedPart, ...] = ()


def flatten(content: Content, *, where: str = "/content") -> FlatText:
    """Reduce `content` to text and the list of what was dropped (TC-5).

    Parameters:
        content: a string (returned untouched), a sequence of content parts as `ag_ui.core`
            models or wire objects, or None (gives "").
        where: JSON Pointer to `content`, the prefix of every `DroppedPart.where` and error path.

    Raises:
        InputError: `content` is none of these, or a part in it is malformed; ``path`` says which.
            Parts of a kind this version does not know are well formed, and dropped.
    """
    if content is None or isinstance(content, str):
        return FlatText(content or "")
    if not isinstance(content, Sequence) or isinstance(content, bytes | bytearray):
        raise _malformed(where, "a string, a list of content parts or nothing", content)
    texts: list[str] = []
    dropped: list[DroppedPart] = []
    for index, part in enumerate(content):
        piece = _flatten_part(part, f"{where}/{index}")
        texts.append(piece) if isinstance(piece, str) else dropped.append(piece)
    return FlatText("".join(texts), tuple(dropped))


def flatten_message(message: Message | Mapping[str, Any], *, where: str = "") -> FlatMessage:
    """Reduce `message` to one whose body is text; all its other fields stay as they are.

    An activity message has an object for content, which is no text: its body is None
    and the object is reported as dropped.

    Parameters:
        message: an `ag_ui.core` message, or its wire object.
        where: JSON Pointer to `message`.

    Raises:
        InputError: the message has no string ``id`` or no known ``role``, or its content is malformed.
    """
    fields = _wire_fields(message, where)
    content = _field(message, "content")
    identity = {name: _text_at(fields.pop(name, None), f"{where}/{name}") for name in ("id", "role")}
    if identity["role"] not in _ROLES:
        raise _malformed(f"{where}/role", f"one of {', '.join(sorted(_ROLES))}", identity["role"])
    if identity["role"] == "activity":
        lost = DroppedPart("activity", None, None, f"{where}/content")
        return FlatMessage(**identity, body=None, fields=fields, dropped=(lost,))
    flat = flatten(content, where=f"{where}/content")
    body = None if content is None else flat.text
    return FlatMessage(**identity, body=body, fields=fields, dropped=flat.dropped)


def parts_dropped(part: DroppedPart, *, message_id: str) -> Diagnostic:
    """The diagnostic that announces one loss (TC-5, VE-3).

    Parameters:
        part: what was dropped; its `where` becomes the diagnostic's path.
        message_id: the message it was dropped from.
    """
    text = f"message {message_id!r} lost its {part}: the receiver can only hold text"
    return Diagnostic("parts_dropped", part.where, text)


def losses(message: Message | Mapping[str, Any], flat: FlatMessage) -> Iterator[tuple[DroppedPart, tuple[object, ...]]]:
    """Each dropped part with what identifies it within its message, wherever the message moves.

    A snapshot may put a second image where a first one was: losing it is another loss.
    """
    content = _field(message, "content")
    for part in flat.dropped:
        index = part.where.rpartition("/")[2]
        source = _field(content[int(index)], "source") if isinstance(content, Sequence) else None
        value = _text_or_none(_field(source, "value"))
        yield part, (index, part.kind, part.mime_type, part.source_kind, hash(value))


def _flatten_part(part: object, where: str) -> str | DroppedPart:
    """The text of a text part, or the account of any other part."""
    if not isinstance(part, BaseModel | Mapping):
        raise _malformed(where, "a content part (an object)", part)
    kind = _text_at(_field(part, "type"), f"{where}/type")
    if kind == "text":
        return _text_at(_field(part, "text"), f"{where}/text")
    source = _field(part, "source")
    if kind in _MEDIA_KINDS:
        return DroppedPart(kind, *_media_source(source, f"{where}/source"), where)
    # A kind from a later version, or the retired `binary`, whose media type sits on the part itself.
    mime_type = _text_or_none(_field(part, "mimeType")) or _text_or_none(_field(source, "mimeType"))
    return DroppedPart(kind, mime_type, _text_or_none(_field(source, "type")), where)


def _media_source(source: object, where: str) -> tuple[str | None, str]:
    """Media type and kind of a media part's source; its value is not looked into (TC-6)."""
    if not isinstance(source, BaseModel | Mapping):
        raise _malformed(where, "a source (an object)", source)
    kind = _text_at(_field(source, "type"), f"{where}/type")
    mime_type = _field(source, "mimeType")
    if kind in _SOURCE_KINDS:
        _text_at(_field(source, "value"), f"{where}/value")
        if mime_type is not None or kind == "data":
            _text_at(mime_type, f"{where}/mimeType")
    return _text_or_none(mime_type), kind


def _wire_fields(message: Message | Mapping[str, Any], where: str) -> dict[str, Any]:
    """Everything but the content, in wire spelling; absent stays absent."""
    if isinstance(message, BaseModel):
        return message.model_dump(mode="json", by_alias=True, exclude={"content"})
    if isinstance(message, Mapping):
        return {name: value for name, value in message.items() if name != "content"}
    raise _malformed(where, "a message (an object)", message)


def _field(holder: object, name: str) -> Any:
    """The field of wire name `name` of a model or wire object; None when absent."""
    if isinstance(holder, Mapping):
        return holder.get(name)
    return getattr(holder, to_snake(name), None)


def _plain(text: str) -> str:
    """`text` for a log line: what an agent put there must not look like another one."""
    return text if text.isprintable() else repr(text)


def _text_at(value: object, where: str) -> str:
    if not isinstance(value, str):
        raise _malformed(where, "a string", value)
    return value


def _text_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _malformed(where: str, expected: str, value: object) -> InputError:
    found = "nothing" if value is None else f"{type(value).__name__} {reprlib.repr(value)}"
    return InputError(f"expected {expected} at {where or '/'}, found {found}; not flattened", path=where)
