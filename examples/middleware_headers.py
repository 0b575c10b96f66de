"""Middleware: a fresh credential for every request, and one more attempt when it was refused."""

from collections.abc import AsyncIterator, Awaitable, Callable

from client_sdk import CallNext, HttpStatusError, Middleware, RawEvent, RunRequest

UNAUTHORIZED = 401


def bearer(token: Callable[[bool], Awaitable[str]]) -> Middleware:
    """Make a middleware that sends ``Authorization: Bearer …``.

    Args:
        token: returns the token; called with True when the one it gave was refused and a new one is needed.
    """

    async def middleware(request: RunRequest, call_next: CallNext) -> AsyncIterator[RawEvent]:
        for renewed in (False, True):
            request.headers["Authorization"] = f"Bearer {await token(renewed)}"
            try:
                async for event in call_next(request):
                    yield event
                return
            except HttpStatusError as error:
                if error.status != UNAUTHORIZED or renewed:
                    raise

    return middleware
