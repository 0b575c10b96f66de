"""Middleware: read a house dialect as the protocol's own events.

It sees the raw events, so a property or an event type the protocol does not know is still there; what it
yields is enforced and verified like anything the agent says.
"""

from collections.abc import AsyncIterator

from client_sdk import CallNext, RawEvent, RunRequest


async def translate_house_events(request: RunRequest, call_next: CallNext) -> AsyncIterator[RawEvent]:
    """Read ``HOUSE_NOTE`` as a whole text message, and ``houseTrace`` on any event as metadata."""
    async for event in call_next(request):
        if event["type"] == "HOUSE_NOTE":
            opened = {"messageId": event["id"]}
            yield {"type": "TEXT_MESSAGE_START", **opened, "role": "assistant"}
            yield {"type": "TEXT_MESSAGE_CONTENT", **opened, "delta": event["text"]}
            yield {"type": "TEXT_MESSAGE_END", **opened}
            continue
        trace = event.pop("houseTrace", None)
        if trace is not None:
            event["metadata"] = {**event.get("metadata", {}), "trace": trace}
        yield event
