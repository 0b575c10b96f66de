"""What goes over a page's websocket while an answer streams, counted from outside: frames as the browser gets them."""

import re
from dataclasses import dataclass, field
from typing import Final

from playwright.sync_api import Page, WebSocket

TEXT_OF_THE_ANSWER: Final = re.compile(r'"(?:blocks|head|middle|tail)_rx_state_"')
"""The state variables that carry streaming text: a frame with one of them is a flush."""


@dataclass
class Traffic:
    """The frames that a page received since `clear`. Sizes are those of the text, before any compression."""

    frames: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, page: Page) -> "Traffic":
        """Count what `page` receives from its next load on."""
        traffic = cls()

        def watch(socket: WebSocket) -> None:
            socket.on("framereceived", lambda frame: traffic.frames.append(frame if isinstance(frame, str) else ""))

        page.on("websocket", watch)
        return traffic

    def clear(self) -> None:
        """Forget what came so far."""
        self.frames.clear()

    @property
    def size(self) -> int:
        """Bytes of all frames."""
        return sum(len(frame.encode()) for frame in self.frames)

    @property
    def flushes(self) -> list[str]:
        """The frames that carry streaming text."""
        return [frame for frame in self.frames if TEXT_OF_THE_ANSWER.search(frame)]
