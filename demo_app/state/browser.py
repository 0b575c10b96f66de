"""The bridge to the browser: a tool's call goes to exactly one page, and its word comes back, or an honest failure.

Pages (tabs) that follow a thread sign on here. A call is handed to the tab the user acted in last. As long as no tab
has taken it, it may go to another; once taken it stays with that tab: if the tab goes away, nobody knows what it
still did, and the call says so. Futures live here, at module level, never in a state.
"""

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

_log = logging.getLogger(__name__)

WAIT_FOR_TAB: Final = 10.0
"""Seconds a call waits for a page to open, during a reload for instance."""


class BrowserError(Exception):
    """The browser did not do it; `code` is stable, the message is told to the agent."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code


@dataclass
class _Call:
    """One call under way. `tab` is the one that took it, None while nobody did."""

    id: str
    name: str
    arguments: str
    answer: "asyncio.Future[Any]"
    tab: "Tab | None" = None


@dataclass(eq=False)
class Tab:
    """One page that follows a thread. `wake` is called when there is something to take."""

    thread_id: str
    wake: Callable[[], None]
    closed: bool = False
    _waiting: deque[_Call] = field(default_factory=deque)

    def take(self) -> list[str]:
        """The scripts to run now; from here on their calls belong to this tab."""
        scripts = []
        while self._waiting:
            call = self._waiting.popleft()
            if not call.answer.done():
                call.tab = self
                scripts.append(script(call.id, call.name, call.arguments))
        return scripts


def script(call_id: str, name: str, arguments: str) -> str:
    """The JavaScript that runs a call. Every value goes in as a JSON string literal, so nothing in it is code."""
    values = ", ".join(_literal(value) for value in (name, arguments))
    return (
        f"Promise.resolve().then(() => window.agentTools.run({values}))"
        ".catch((error) => JSON.stringify({ok: false, error: {code: 'page_failed', message: String(error)}}))"
        f".then((said) => [{_literal(call_id)}, said])"
    )


def _literal(text: str) -> str:
    # `<` cannot end a script element, and no line separator can end a line, when they are escapes.
    return json.dumps(text).replace("<", "\\u003c")


class BrowserBridge:
    """The tabs of all threads, and the calls under way in them."""

    def __init__(self) -> None:
        self._tabs: dict[str, list[Tab]] = {}
        self._calls: dict[str, _Call] = {}
        self._arrivals: dict[str, asyncio.Event] = {}

    def open(self, thread_id: str, wake: Callable[[], None]) -> Tab:
        """Sign a page on; it is now the one that was used last."""
        tab = Tab(thread_id, wake)
        self._tabs.setdefault(thread_id, []).append(tab)
        self._arrivals.setdefault(thread_id, asyncio.Event()).set()
        return tab

    def used(self, tab: Tab) -> None:
        """The user acted in this page: calls go there from now on."""
        tabs = self._tabs.get(tab.thread_id, [])
        if tab in tabs:
            tabs.remove(tab)
            tabs.append(tab)

    def close(self, tab: Tab) -> None:
        """The page is gone: what it had not taken goes to another, what it had taken fails."""
        if tab.closed:
            return
        tab.closed = True
        tabs = self._tabs.get(tab.thread_id, [])
        if tab in tabs:
            tabs.remove(tab)
        if not tabs:
            self._tabs.pop(tab.thread_id, None)
            self._arrivals.pop(tab.thread_id, None)
        for call in list(self._calls.values()):
            if call.tab is tab and not call.answer.done():
                message = "the page was closed or reloaded before it answered; what it still did is not known"
                call.answer.set_exception(BrowserError("page_closed", message))
        for call in tab._waiting:
            if tabs:
                self._hand(call, tabs[-1])
            elif not call.answer.done():
                call.answer.set_exception(BrowserError("page_closed", "the page was closed before the call reached it"))

    async def run(self, thread_id: str, call_id: str, name: str, arguments: dict[str, Any]) -> Any:
        """Have one page of the thread run a tool; its result.

        Parameters: `arguments`, validated ones; None values are left out. The deadline is the tool's own.

        Raises BrowserError: no page is open, it went away, or it says that it could not.
        """
        tab = await self._tab(thread_id)
        given = {key: value for key, value in arguments.items() if value is not None}
        call = _Call(call_id, name, json.dumps(given, ensure_ascii=False), asyncio.get_running_loop().create_future())
        self._calls[call_id] = call
        try:
            self._hand(call, tab)
            return _result(await call.answer)
        finally:
            self._calls.pop(call_id, None)

    def answered(self, call_id: str, said: str, tab: Tab | None) -> bool:
        """A page's word on a call. Only the tab that took it may give it, and only once; else nothing changes."""
        call = self._calls.get(call_id)
        if call is None or call.answer.done() or call.tab is None or call.tab is not tab:
            _log.info("A page answered call %r, which nobody waits for from it", call_id)
            return False
        call.answer.set_result(said)
        return True

    def _hand(self, call: _Call, tab: Tab) -> None:
        tab._waiting.append(call)
        tab.wake()

    async def _tab(self, thread_id: str) -> Tab:
        try:
            async with asyncio.timeout(WAIT_FOR_TAB):
                while not self._tabs.get(thread_id):
                    arrival = self._arrivals.setdefault(thread_id, asyncio.Event())
                    arrival.clear()
                    await arrival.wait()
        except TimeoutError:
            raise BrowserError("no_page", "no page of this conversation is open in a browser") from None
        return self._tabs[thread_id][-1]


def _result(said: str) -> Any:
    """The result in a page's word. Raises BrowserError when it could not, or said something else."""
    try:
        word = json.loads(said)
        if word["ok"] is True:
            return word["result"]
        error = word["error"]
        code, message = str(error["code"]), str(error["message"])
    except (ValueError, TypeError, KeyError) as wrong:
        raise BrowserError("page_failed", "the page answered with something that is no result") from wrong
    raise BrowserError(code, message)


BRIDGE: Final = BrowserBridge()
"""The one bridge of this process."""
