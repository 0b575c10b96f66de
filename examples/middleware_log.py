"""Middleware: log what travels, before anything is removed from it."""

import logging
from collections.abc import AsyncIterator

from client_sdk import CallNext, RawEvent, RunRequest

logger = logging.getLogger("wire")


async def log_events(request: RunRequest, call_next: CallNext) -> AsyncIterator[RawEvent]:
    """Log the request's run id and the type of every event, unknown ones included."""
    logger.info("run %s: %d messages", request.input["runId"], len(request.input["messages"]))
    async for event in call_next(request):
        logger.info("run %s: %s", request.input["runId"], event["type"])
        yield event
