"""Middleware: try again when the agent could not be reached or was busy.

Only while nothing was delivered: once events have come, a second attempt would be a second run.
"""

from collections.abc import AsyncIterator

import anyio

from client_sdk import CallNext, ConnectionFailed, HttpStatusError, Middleware, RawEvent, RunRequest

BUSY = {429, 502, 503, 504}


def retry(attempts: int = 3, pause: float = 0.5) -> Middleware:
    """Make a middleware that asks up to `attempts` times, waiting `pause` seconds, then twice as long, and so on."""

    async def middleware(request: RunRequest, call_next: CallNext) -> AsyncIterator[RawEvent]:
        for attempt in range(1, attempts + 1):
            delivered = False
            try:
                async for event in call_next(request):
                    delivered = True
                    yield event
                return
            except (ConnectionFailed, HttpStatusError) as error:
                passing = isinstance(error, ConnectionFailed) or error.status in BUSY
                if delivered or not passing or attempt == attempts:
                    raise
            await anyio.sleep(pause * 2 ** (attempt - 1))

    return middleware
