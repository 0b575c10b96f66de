"""Text cut inside a character: halves of UTF-16 surrogate pairs.

JSON can write one half of a pair (``"\\ud83d"``), and a producer that cuts text by
UTF-16 units does, when a delta ends inside a character such as an emoji. The two
halves are one character again once the deltas are joined (ST-5), so a half at
the end of a delta waits for the next delta of its item. A half that stays alone
stands for no character: U+FFFD takes its place, and a diagnostic says so.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from ag_ui.core import (
    Event,
    ReasoningMessageContentEvent,
    ReasoningMessageEndEvent,
    RunErrorEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    ToolCallArgsEvent,
    ToolCallEndEvent,
)
from pydantic_core import from_json

from client_sdk.protocol.notes import Notes, pointer

_HALF: Final = re.compile("[\ud800-\udfff]")
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_LEADING_HALF_LAST: Final = re.compile("[\ud800-\udbff]\\Z")
_SPELT: Final = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_REPLACEMENT: Final = "\ufffd"
_STANDS_IN: Final = "U+FFFD stands in its place"

_ID_FIELDS: Final[dict[type, str]] = {
    TextMessageContentEvent: "message_id",
    ReasoningMessageContentEvent: "message_id",
    ToolCallArgsEvent: "tool_call_id",
}
_CONTENT_OF: Final[dict[type, type]] = {
    TextMessageEndEvent: TextMessageContentEvent,
    ReasoningMessageEndEvent: ReasoningMessageContentEvent,
    ToolCallEndEvent: ToolCallArgsEvent,
}


def read_json(payload: str | bytes) -> Any:
    """Read a JSON text that the strict reader refused because of halves of pairs; they stay in the strings.

    Raises:
        ValueError: it is not JSON for another reason.
    """
    text = payload.decode() if isinstance(payload, bytes) else payload
    # The strict reader judges everything else first; Python's own takes more than JSON.
    from_json(_SPELT.sub(r"\\ufffd", _replaced(text)), allow_inf_nan=False)
    return json.loads(text)


def _paired(match: re.Match[str]) -> str:
    return match[0].encode("utf-16", "surrogatepass").decode("utf-16")


def _replaced(text: str) -> str:
    return _HALF.sub(_REPLACEMENT, text)


def mend_all(value: Any, path: str, notes: Notes) -> Any:
    """A copy of a JSON value in which U+FFFD stands for each half that is alone; each such string is reported."""
    if isinstance(value, str):
        joined = _PAIR.sub(_paired, value)
        if _HALF.search(joined) is not None:
            notes.warn("lone_surrogate", path, f"half of a UTF-16 surrogate pair is no character; {_STANDS_IN}")
        return _replaced(joined)
    if isinstance(value, list):
        return [mend_all(item, f"{path}/{index}", notes) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return {
            mend_all(key, path, notes): mend_all(item, pointer(path, _replaced(str(key))), notes)
            for key, item in value.items()
        }
    return value


class Seams:
    """Joins what was cut between the deltas of one item.

    Attributes:
        held: the halves that wait for the next delta of their item.
    """

    __slots__ = ("_notes", "held")

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self.held: dict[tuple[type, str], str] = {}

    def feed(self, event: Event) -> list[Event]:
        """Pass one expanded event on, its delta made whole.

        A half that is alone when its item ends, or its run fails, is delivered
        as U+FFFD in an event of its own before that.
        """
        kind = event.__class__
        if kind in _ID_FIELDS:
            return [self._join(event, kind)]
        if kind in _CONTENT_OF:
            content = _CONTENT_OF[kind]
            return [*self._give_up((content, getattr(event, _ID_FIELDS[content]))), event]
        if kind is RunErrorEvent:
            return [*self._give_up(*self.held), event]
        return [event]

    def end(self) -> None:
        """The stream is over: report the halves that nothing can complete any more."""
        for _, identity in self.held:
            self._warn(f"the stream ended inside a character of {identity!r}; the half that came is lost")
        self.held.clear()

    def _join(self, event: Any, kind: type) -> Event:
        key = (kind, getattr(event, _ID_FIELDS[kind]))
        whole = _PAIR.sub(_paired, self.held.pop(key, "") + event.delta)
        half = _LEADING_HALF_LAST.search(whole)
        if half is not None:
            self.held[key] = half[0]
            whole = whole[:-1]
        mended = _replaced(whole)
        if mended != whole:
            self._warn(f"a delta of {key[1]!r} holds half of a UTF-16 surrogate pair; {_STANDS_IN}")
        event.delta = mended
        return event  # type: ignore[no-any-return]

    def _give_up(self, *keys: tuple[type, str]) -> list[Event]:
        given = []
        for kind, identity in keys:
            if self.held.pop((kind, identity), None) is not None:
                self._warn(f"{identity!r} ends inside a character; U+FFFD stands in the place of the half that came")
                given.append(kind(**{_ID_FIELDS[kind]: identity, "delta": _REPLACEMENT}))
        return given

    def _warn(self, message: str) -> None:
        self._notes.warn("lone_surrogate", "/delta", message)
