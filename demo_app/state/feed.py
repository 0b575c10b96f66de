"""What one page has been sent, and what it needs next: as little as possible. Pure.

Finished cards lie in two lists, because a list that changes is sent whole: `archive`, which changes rarely, and the
short `recent` behind it, which each finished card joins. What still moves is apart from both, and the streaming text
apart from that. So a token costs a few hundred bytes, whatever the conversation has grown to. Of a long conversation
the latest part is shown first, and more of it when it is asked for.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from demo_app.state.cards_model import Card
from demo_app.state.live_text import LiveText
from demo_app.state.view import Transcript

WINDOW: Final = 80
"""Finished cards that a page shows of a long conversation."""
MORE: Final = 200
"""How many earlier ones each request adds."""
KEEP: Final = 2
"""Finished cards that stay in `recent` when the others move to the archive."""
RECENT: Final = 12
RECENT_BYTES: Final = 16_000
"""At rest, `recent` is emptied above this; while a run is on, above three times as much."""


@dataclass
class Feed:
    """The page's copy.

    Attributes: `start`, the first finished card shown; `split`, where `recent` begins; `expanded`, whether the reader
    asked for earlier cards, which then stay.
    """

    start: int = 0
    split: int = 0
    expanded: bool = False
    _sent: dict[str, Any] = field(default_factory=dict)
    _lists: dict[str, Any] = field(default_factory=dict)
    _version: int = -1
    _count: int = 0
    _live: LiveText = field(default_factory=LiveText)
    _live_key: str = ""
    _live_sent: str = ""

    def changes(self, transcript: Transcript, beside: dict[str, Any], *, active: bool) -> dict[str, Any]:
        """The variables to set, by name, so that the page shows `transcript`; say `flushed` when they are set.

        Parameters: `beside`, further variables as they are wanted.
        """
        self._follow(transcript, active)
        wanted = {**self._lists, "live": transcript.moving, **self._text(transcript), "active": active, **beside}
        return {name: value for name, value in wanted.items() if self._differs(name, value)}

    def flushed(self, changes: dict[str, Any]) -> None:
        """These were sent."""
        self._sent.update(changes)
        self._live_sent = self._live_key if self._live.text else self._live_sent

    @property
    def begins(self) -> bool:
        """Whether a text has begun of which the page shows nothing yet: that is not to wait."""
        return self._live_key != self._live_sent and self._live.text != ""

    def _differs(self, name: str, value: Any) -> bool:
        sent = self._sent.get(name, _UNSENT)
        return sent is not value and sent != value

    def show_earlier(self) -> None:
        """Show more of the past."""
        self.start = max(0, self.start - MORE)
        self.expanded = True
        self._version = -1

    def to_the_end(self) -> None:
        """The reader is at the end again (they spoke): the past may be left out once more."""
        self.expanded = False

    def _follow(self, transcript: Transcript, active: bool) -> None:
        cards = transcript.settled
        if self._version != transcript.version:
            if not self._lists or len(cards) < self.split:
                self.split = max(0, len(cards) - KEEP)
            self._version, self._count = transcript.version, len(cards)
            self._lay_out(cards)
        elif self._is_full(cards, active):
            self._count, self.split = len(cards), max(0, len(cards) - KEEP)
            self._lay_out(cards)
        elif len(cards) != self._count:
            self._count = len(cards)
            self._lists = {**self._lists, "recent": list(cards[self.split :])}

    def _lay_out(self, cards: list[Card]) -> None:
        self.start = min(self.start, self.split) if self.expanded else max(0, self.split - WINDOW)
        self._lists = {
            "archive": list(cards[self.start : self.split]),
            "recent": list(cards[self.split :]),
            "earlier": self.start,
        }

    def _is_full(self, cards: list[Card], active: bool) -> bool:
        recent = cards[self.split :]
        patience = 3 if active else 1
        size = sum(card.size for card in recent)
        return len(recent) > KEEP and (len(recent) > RECENT * patience or size > RECENT_BYTES * patience)

    def _text(self, transcript: Transcript) -> dict[str, Any]:
        if transcript.live != self._live_key:
            self._live, self._live_key = LiveText(), transcript.live
        self._live.show(transcript.live_text)
        live = self._live
        return {"blocks": live.blocks, "head": live.head, "middle": live.middle, "tail": live.tail}


_UNSENT: Final = object()


def weight(changes: dict[str, Any]) -> int:
    """About how many bytes `changes` weigh on the wire, the frame around them included."""
    return 150 + sum(len(name) + 12 + _weight(value) for name, value in changes.items())


def _weight(value: Any) -> int:
    if isinstance(value, str):
        return len(value.encode()) + value.count("\n") + value.count('"')
    if isinstance(value, list):
        return sum(card.size if isinstance(card, Card) else _weight(card) for card in value)
    return 8


class Pace:
    """When to flush: at once after a pause, at most 20 times a second, and no more bytes than the tokens are worth.

    Each event earns `PER_EVENT` bytes. A flush that is dearer than what was earned waits, but never long: at most
    `PATIENCE` seconds. Times are seconds of any monotonic clock.
    """

    INTERVAL: Final = 0.05
    PATIENCE: Final = 0.4
    PER_EVENT: Final = 260

    def __init__(self) -> None:
        self._earned = 0.0
        self._events = 0
        self._last = float("-inf")

    def wait(self, now: float, cost: int, events: int, *, urgent: bool = False) -> float:
        """Seconds to wait before a flush of `cost` bytes; `events` is how many the run has delivered so far.

        Parameters: `urgent`, whether it waits for nothing but its turn.
        """
        self._earned = min(self._earned + (events - self._events) * self.PER_EVENT, 64_000)
        self._events = events
        since = now - self._last
        if since < self.INTERVAL:
            return self.INTERVAL - since
        if urgent or cost <= self._earned or since >= self.PATIENCE:
            return 0.0
        return min(self.INTERVAL, self.PATIENCE - since)

    def flushed(self, now: float, cost: int) -> None:
        """A flush was made."""
        self._last = now
        self._earned = max(self._earned - cost, 0.0)
