"""What a transport is: the binding contract of AG-UI 1.0 as two methods."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol


class Transport(Protocol):
    """Carries one run input to an agent and brings the frames of its answer back.

    Write your own for a WebSocket, a message bus or a pipe. It must keep the order in which the
    producer sent, hand over every non-empty frame untouched (what a payload is worth is for the
    pipeline to judge, so that every transport gives the same verdict, PR-8), and let a caller tell
    a stream that ended from one that broke: the iterator ends, or raises a
    :class:`~client_sdk.errors.TransportError` once everything complete has been yielded.

    Rules: TR-1 to TR-7; the page is basic/transports of the specification.
    """

    def open(self, body: bytes, headers: Mapping[str, str]) -> AbstractAsyncContextManager[AsyncIterator[str]]:
        """Send one input and enter its answer.

        Args:
            body: the RunAgentInput as one JSON object in UTF-8.
            headers: further request headers of this exchange, for channels that have headers.

        Returns:
            A context manager; entered, it is an iterator of payloads, each the JSON text of one
            event. Leaving it ends the exchange at once, however much is still to come.

        Raises:
            TransportError: on entering, when the input was refused or nobody could be reached.
        """
        ...

    async def aclose(self) -> None:
        """Release what the transport itself holds; what the application lent it stays open."""
        ...
