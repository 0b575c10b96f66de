"""One exchange with an agent: an input goes out, a stream comes back, the conversation follows it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from client_sdk.diagnostics import Diagnostic, log
from client_sdk.errors import ClientError, ConnectionBroken, OptionError, ProtocolError, ReadTimedOut, TransportError
from client_sdk.middleware import RawEvent, RunRequest, chain
from client_sdk.protocol.conversation import Conversation
from client_sdk.protocol.outgoing import encode, prepare_input
from client_sdk.protocol.pipeline import Pipeline, Update
from client_sdk.protocol.runs import RunRecord

if TYPE_CHECKING:
    from client_sdk.agent import HttpAgent


class Exchange:
    """Sends one run input and reads its stream, once.

    Args:
        agent: the agent to send it to.
        conversation: what the stream goes on from, and changes.
        request: the input, as middleware may still change it.

    Raises:
        InputError: the input may not be sent; judged before middleware runs or anything is opened.
    """

    def __init__(self, agent: HttpAgent, conversation: Conversation, request: RunRequest) -> None:
        prepare_input(request.input, agent.peer, lambda _: None)
        self._agent = agent
        self._request = request
        self._pipeline = Pipeline(
            thread_id=request.input["threadId"], conversation=conversation, peer_version=agent.peer_version
        )
        self._outgoing: list[Diagnostic] = []
        self._logged = 0
        self._broken: ClientError | None = None
        self.sent: dict[str, Any] = {}
        """The RunAgentInput that went out, in wire spelling; empty when none did."""

    @property
    def started(self) -> bool:
        """Whether a run began on the stream."""
        return self._pipeline.ledger.current is not None

    @property
    def runs(self) -> list[RunRecord]:
        """The runs on the stream; after :meth:`end` there is always one."""
        return self._pipeline.ledger.runs

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What was tolerated, on the way out and in."""
        return [*self._outgoing, *self._pipeline.diagnostics]

    @property
    def rejection(self) -> ProtocolError | None:
        """Why the stream was rejected, None when it was not."""
        return self._pipeline.error

    @property
    def error(self) -> ClientError | None:
        """Why the stream was rejected or broke off, None when it ended as it should."""
        return self._broken or self._pipeline.error

    def end(self) -> None:
        """The stream is over, by itself or because nobody reads on."""
        self._pipeline.end()
        self._log_tolerated()

    async def updates(self) -> AsyncGenerator[Update, None]:
        """Send, and read to the end.

        Raises:
            TransportError: the run never started, or a frame was too large.
        """
        source = self._with_middleware() if self._agent.middleware else self._direct()
        try:
            async for update in source:
                yield update
        finally:
            await source.aclose()

    async def _direct(self) -> AsyncGenerator[Update, None]:
        try:
            async with self._open(self._request) as payloads:
                async for payload in payloads:
                    updates = self._pipeline.feed(payload)
                    self._log_tolerated()
                    for update in updates:
                        yield update
                    if self._pipeline.error is not None:
                        return
        except TransportError as error:
            self._broke_off(error)

    async def _with_middleware(self) -> AsyncGenerator[Update, None]:
        opened: list[AsyncIterator[RawEvent]] = []
        try:
            async for raw in chain(self._agent.middleware, self._raw_events, opened.append)(self._request):
                if not isinstance(raw, dict):
                    raise OptionError(
                        f"middleware yields raw events (dict), not {type(raw).__name__}", option="middleware"
                    )
                updates = self._pipeline.feed_raw(raw)
                self._log_tolerated()
                for update in updates:
                    yield update
                if self._pipeline.error is not None:
                    break
        except TransportError as error:
            self._broke_off(error)
        except ProtocolError as error:
            self._pipeline.reject(error)
        finally:
            # A generator left early does not close the one it reads from: every layer is closed by hand.
            async with AsyncExitStack() as closing:
                for events in reversed(opened):
                    if isinstance(events, AsyncGenerator):
                        closing.push_async_callback(events.aclose)

    async def _raw_events(self, request: RunRequest) -> AsyncGenerator[RawEvent, None]:
        """Innermost: the wire, and the compatibility translation that comes before middleware (PL-1)."""
        async with self._open(request) as payloads:
            async for payload in payloads:
                for raw in self._pipeline.decode(payload):
                    yield raw
                if self._pipeline.error is not None:
                    raise self._pipeline.error

    def _open(self, request: RunRequest) -> Any:
        self.sent = prepare_input(request.input, self._agent.peer, self._note_outgoing)
        return self._agent.transport.open(encode(self.sent), request.headers)

    def _note_outgoing(self, diagnostic: Diagnostic) -> None:
        self._outgoing.append(diagnostic)
        self._log(diagnostic)

    def _log(self, diagnostic: Diagnostic) -> None:
        if diagnostic.code not in self._agent.silence:
            log(diagnostic)

    def _log_tolerated(self) -> None:
        """Log what the pipeline tolerated since the last call, whether or not an event came of it."""
        diagnostics = self._pipeline.diagnostics
        while self._logged < len(diagnostics):
            self._log(diagnostics[self._logged])
            self._logged += 1

    def _broke_off(self, error: TransportError) -> None:
        """A break truncates the run (TR-1), unless the run had ended before (TR-7).

        Raises:
            TransportError: what is no break: the run never started, or the peer sent what cannot be read.
        """
        if self._pipeline.ledger.closed:
            return
        self._broken = error
        if not isinstance(error, ConnectionBroken | ReadTimedOut):
            raise error
