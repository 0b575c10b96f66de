"""The latest events as they came, for a reader: what streams one message, or one call, is one line that grows. Pure.

The recording is another matter (`Store.record`): it holds every payload as it was.
"""

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

LINES_KEPT: Final = 400
SUMMARY: Final = 400
"""Characters of a payload that are kept."""

_FOLDED: Final = {
    "TEXT_MESSAGE_CONTENT": "messageId",
    "TEXT_MESSAGE_CHUNK": "messageId",
    "REASONING_MESSAGE_CONTENT": "messageId",
    "REASONING_MESSAGE_CHUNK": "messageId",
    "TOOL_CALL_ARGS": "toolCallId",
    "TOOL_CALL_CHUNK": "toolCallId",
}
"""Events that carry a piece of something, with the field that says of what."""


@dataclass(frozen=True)
class Line:
    """One event, or several in a row that belong together.

    Attributes: `number`, the first one's; `type`, its type ("?" for what is no event); `last`, the latest payload, cut
    short; `count`, how many there are; `length`, the characters of their pieces together.
    """

    number: int
    type: str
    last: str
    count: int = 1
    length: int = 0


class EventLog:
    """The latest lines. Attributes: `count`, how many events were noted, those no longer held included."""

    def __init__(self) -> None:
        self.count = 0
        self._lines: deque[Line] = deque(maxlen=LINES_KEPT)
        self._open: tuple[str, Any] | None = None

    def note(self, payload: str) -> None:
        """Take note of one payload as it came over the wire."""
        self.count += 1
        event = _event(payload)
        kind = str(event.get("type", "?"))
        about = (kind, event.get(_FOLDED[kind])) if kind in _FOLDED else None
        delta = event.get("delta")
        piece = len(delta) if about is not None and isinstance(delta, str) else 0
        if about is not None and about == self._open:
            held = self._lines.pop()
            line = Line(held.number, kind, payload[:SUMMARY], held.count + 1, held.length + piece)
        else:
            line = Line(self.count, kind, payload[:SUMMARY], 1, piece)
        self._open = about
        self._lines.append(line)

    def latest(self, most: int) -> Iterator[Line]:
        """At most so many lines, the latest first."""
        for _, line in zip(range(most), reversed(self._lines), strict=False):
            yield line


def _event(payload: str) -> dict[str, Any]:
    try:
        found = json.loads(payload)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
