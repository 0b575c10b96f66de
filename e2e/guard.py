"""What no journey may cause: a console error, a script error, a failed request, a word to a foreign origin."""

import re
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Page, Request, Response, WebError, WebSocket

LOCAL_SCHEMES: Final = frozenset({"data", "blob", "about"})
"""Addresses whose content is already here."""
LEFT: Final = "net::ERR_ABORTED"
"""How the browser calls a request that it dropped because its page was left or reloaded: nothing failed."""


class Guard:
    """Watches everything that one visitor's pages do.

    Parameters: `context`, the visitor's browser context; `origin`, the only place they may talk to.
    """

    def __init__(self, context: BrowserContext, origin: str) -> None:
        self._origin = urlsplit(origin).netloc
        self._allowed: list[re.Pattern[str]] = []
        self._troubles: list[str] = []
        self._context = context
        self._watching: dict[str, Callable[..., None]] = {
            "console": self._console,
            "weberror": self._script_error,
            "request": self._request,
            "requestfailed": self._failed,
            "response": self._response,
            "page": self._page,
        }
        on: Any = context.on
        for event, note in self._watching.items():
            on(event, note)

    def leave(self) -> None:
        """Watch no more."""
        for event, note in self._watching.items():
            self._context.remove_listener(event, note)

    def allow(self, *patterns: str) -> None:
        """Expect troubles, and words of the server, that match one of these: what the test itself brings about."""
        self._allowed += [re.compile(pattern, re.DOTALL) for pattern in patterns]

    def without_expected(self, words: str) -> str:
        """What is left of the server's words when those that are expected are taken out."""
        for pattern in self._allowed:
            words = pattern.sub("", words)
        return words.strip()

    @property
    def troubles(self) -> list[str]:
        """What happened and was not expected."""
        return [each for each in self._troubles if not any(pattern.search(each) for pattern in self._allowed)]

    def _page(self, page: Page) -> None:
        page.on("websocket", self._socket)

    def _socket(self, socket: WebSocket) -> None:
        self._place("websocket", socket.url)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "assert"):
            self._troubles.append(f"console {message.type}: {message.text} ({message.location.get('url', '')})")

    def _script_error(self, error: WebError) -> None:
        self._troubles.append(f"script error: {error.error}")

    def _request(self, request: Request) -> None:
        self._place("request", request.url)

    def _place(self, what: str, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in LOCAL_SCHEMES and parts.netloc != self._origin:
            self._troubles.append(f"{what} leaves the origin: {url}")

    def _failed(self, request: Request) -> None:
        if request.failure != LEFT:
            self._troubles.append(f"request failed: {request.method} {request.url} ({request.failure})")

    def _response(self, response: Response) -> None:
        if response.status >= 400:
            self._troubles.append(f"status {response.status}: {response.request.method} {response.url}")
