"""Which page follows which thread: one `Follower` per browser tab, at module level, outside every state."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any, Final

from reflex.utils import prerequisites

from demo_app.state.browser import BRIDGE, Tab
from demo_app.state.engine import Chat
from demo_app.state.feed import Feed, Pace, weight
from demo_app.state.suggestions import next_suggestions

CHECK_EVERY: Final = 3.0
"""Seconds after which a page that was told nothing is looked at: is it still there?"""

LOOK_EVERY: Final = 0.1
"""Seconds between two looks for a page that lost its connection."""


@dataclass(eq=False)
class Follower:
    """One page that follows one thread.

    Attributes: `session`, the connection it came on: another one of the same page means that the page was reloaded.
    """

    chat: Chat
    session: str
    feed: Feed = field(default_factory=Feed)
    pace: Pace = field(default_factory=Pace)
    stopped: bool = False

    def __post_init__(self) -> None:
        self._wake = asyncio.Event()
        self._wake.set()
        self.tab: Tab = BRIDGE.open(self.chat.id, self._wake.set)
        self.chat.follow(self._wake.set)

    def wake(self) -> None:
        """Look again."""
        self._wake.set()

    def stop(self) -> None:
        """The page is gone, or follows something else now."""
        if not self.stopped:
            self.stopped = True
            BRIDGE.close(self.tab)
            self.chat.leave(self._wake.set)
            self._wake.set()

    async def steps(self, token: str) -> AsyncIterator[tuple[list[str], dict[str, Any]]]:
        """What to do next, again and again until the page is gone: scripts to run, variables to set.

        Parameters: `token`, the page's client token.
        """
        while not self.stopped:
            woken = await self._is_woken()
            if self.chat.over or not await self._is_there(token):
                return
            if not woken:
                continue
            self._wake.clear()
            changes = await self._paced(token)
            scripts = [] if self.stopped else self.tab.take()
            if scripts or changes:
                yield scripts, changes

    async def _is_woken(self) -> bool:
        """Whether there is something to look at; False after a while of quiet."""
        try:
            async with asyncio.timeout(CHECK_EVERY):
                await self._wake.wait()
        except TimeoutError:
            return False
        return True

    async def _is_there(self, token: str) -> bool:
        """Whether the page is connected. One that is not gets a while to come back, and is sent nothing until then."""
        for _ in range(round(CHECK_EVERY / LOOK_EVERY)):
            if self.stopped or is_connected(token):
                return not self.stopped
            await asyncio.sleep(LOOK_EVERY)
        return False

    async def _paced(self, token: str) -> dict[str, Any]:
        """The variables to set, once their time has come; nothing when the page went away meanwhile."""
        while await self._is_there(token):
            changes = self._changes()
            if not changes:
                return {}
            cost, now = weight(changes), time.monotonic()
            events, urgent = self.chat.book.event_count, self.feed.begins
            delay = self.pace.wait(now, cost, events, urgent=urgent) if self.chat.active else 0.0
            if delay <= 0:
                self.pace.flushed(now, cost)
                self.feed.flushed(changes)
                return changes
            await asyncio.sleep(delay)
        self.stop()
        return {}

    def _changes(self) -> dict[str, Any]:
        chat = self.chat
        beside = {"title": chat.title, "notice": chat.notice, "suggestions": next_suggestions(chat)}
        return self.feed.changes(chat.look(), beside, active=chat.active)


FOLLOWERS: Final[dict[str, Follower]] = {}
"""The followers by the client token of their page."""


def is_connected(token: str) -> bool:
    """Whether the page with this client token has an open connection."""
    namespace = prerequisites.get_app().app.event_namespace
    return namespace is not None and token in namespace.token_to_sid
