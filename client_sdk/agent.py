"""What users hold: an agent's address, a thread of conversation, a run.

::

    async with HttpAgent("http://127.0.0.1:8000/") as agent:
        thread = agent.thread()
        async with thread.run("Where is order 42?") as run:
            async for update in run:
                print(update.delta or "", end="")
        run.result.raise_for_status()
"""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Generator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing
from types import TracebackType
from typing import Any, Final, Self

import httpx
from ag_ui.core import Context, Event, Interrupt, Message, ResumeEntry, Tool, ToolMessage, UserMessage

from client_sdk.diagnostics import Diagnostic, log
from client_sdk.errors import ClientError, ConnectionBroken, InputError, ProtocolError, ReadTimedOut, TransportError
from client_sdk.middleware import Middleware, RawEvent, RunRequest, chain
from client_sdk.protocol.compat import Peer
from client_sdk.protocol.conversation import CallView, Conversation
from client_sdk.protocol.outgoing import adopt_message, adopt_messages, encode, prepare_input, wire
from client_sdk.protocol.pipeline import Pipeline, Update
from client_sdk.protocol.runs import PendingCall, RunStatus
from client_sdk.results import RunResult, build_result
from client_sdk.transport.base import Transport
from client_sdk.transport.http import HttpTransport
from client_sdk.transport.sse import MAX_FRAME_BYTES

UserContent = str | Sequence[Any]
"""What a user may say: text, or a list of content parts (``ag_ui.core`` models)."""

_UNSET: Final[Any] = object()


def new_id() -> str:
    """A fresh opaque id (RI-3)."""
    return str(uuid.uuid4())


class HttpAgent:
    """An AG-UI agent behind a URL.

    Args:
        url: where the agent listens.
        headers: request headers of every exchange.
        client: an `httpx.AsyncClient` of yours, for authentication, proxies or certificates; it stays yours to close.
        timeout: seconds or an `httpx.Timeout`; see `HttpTransport`.
        peer_version: what the agent is known to speak at most, such as ``"0.0.57"`` (VE-3); None for a current one.
        middleware: applied to every run, the first outermost; see `client_sdk.middleware`.
        max_frame_bytes: size limit of one frame (TR-5).
        transport: another way to the agent than HTTP; `url`, `headers`, `client`, `timeout` and
            `max_frame_bytes` are then unused.
        silence: diagnostic codes that are not logged; they are recorded all the same.
        id_factory: makes thread, run and message ids.

    Raises:
        ValueError: `peer_version` is not dot-separated numbers.
    """

    def __init__(
        self,
        url: str | httpx.URL,
        *,
        headers: Mapping[str, str] | None = None,
        client: httpx.AsyncClient | None = None,
        timeout: httpx.Timeout | float | None = None,
        peer_version: str | None = None,
        middleware: Sequence[Middleware] = (),
        max_frame_bytes: int = MAX_FRAME_BYTES,
        transport: Transport | None = None,
        silence: Collection[str] = (),
        id_factory: Callable[[], str] = new_id,
    ) -> None:
        self.url = str(url)
        self.peer_version = peer_version
        self.middleware = tuple(middleware)
        self.silence = frozenset(silence)
        self.id_factory = id_factory
        self._peer = Peer(peer_version)
        self._transport = transport or HttpTransport(
            self.url, headers=headers, client=client, timeout=timeout, max_frame_bytes=max_frame_bytes
        )

    @property
    def peer(self) -> Peer:
        """What is known of the agent's age."""
        return self._peer

    @property
    def transport(self) -> Transport:
        """The way to the agent."""
        return self._transport

    def thread(
        self,
        id: str | None = None,
        *,
        messages: Iterable[Message | Mapping[str, Any]] = (),
        state: Any = _UNSET,
        tools: Iterable[Tool] = (),
        context: Iterable[Context] = (),
        forwarded_props: Any = None,
    ) -> Thread:
        """Start a thread of conversation, or take one up again.

        Args:
            id: the thread's id; a fresh one by default.
            messages: what was said so far, models or wire objects.
            state: the state agreed so far, any JSON value; ``{}`` by default.
            tools: the application's tools offered to every run (FT-1).
            context: what the agent should know, sent with every run.
            forwarded_props: an application-specific value passed to the agent with every run.

        Raises:
            InputError: a message is malformed.
        """
        return Thread(
            self,
            id if id is not None else self.id_factory(),
            messages=messages,
            state=state,
            tools=tools,
            context=context,
            forwarded_props=forwarded_props,
        )

    async def aclose(self) -> None:
        """Close the connections this agent opened; a client of yours stays open."""
        await self._transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Thread:
    """A conversation with an agent, carried from run to run (SN-5).

    Made by `HttpAgent.thread`. Attributes:
        id: the thread's id.
        agent: the agent it talks to.
        interrupts: what the last interrupted run still asks for (IR-2).
        pending_tool_calls: the calls the last run left unanswered (FT-2).
    """

    def __init__(
        self,
        agent: HttpAgent,
        id: str,
        *,
        messages: Iterable[Message | Mapping[str, Any]] = (),
        state: Any = _UNSET,
        tools: Iterable[Tool] = (),
        context: Iterable[Context] = (),
        forwarded_props: Any = None,
    ) -> None:
        self.id = id
        self.agent = agent
        self.interrupts: list[Interrupt] = []
        self.pending_tool_calls: list[PendingCall] = []
        self._tools = list(tools)
        self._context = list(context)
        self._forwarded_props = forwarded_props
        self._notices: list[Diagnostic] = []
        self._active: Run | None = None
        self._conversation = Conversation(
            adopt_messages(messages, self._notices.append), {} if state is _UNSET else state
        )

    @property
    def messages(self) -> list[Message]:
        """The conversation, as ``ag_ui.core`` models; while a run is active, as far as it has come."""
        return self._conversation.messages

    @property
    def state(self) -> Any:
        """The state agreed with the agent, any JSON value."""
        return self._conversation.state

    @state.setter
    def state(self, value: Any) -> None:
        self._conversation.state = value

    @property
    def tool_calls(self) -> list[CallView]:
        """Every tool call of the conversation with its phase, in the order the calls were made."""
        return self._conversation.tool_calls

    @property
    def conversation(self) -> Conversation:
        """The live conversation, for views that follow it without copying."""
        return self._conversation

    @property
    def running(self) -> bool:
        """True while a run is active; a thread has one at a time."""
        return self._active is not None

    def add_message(self, message: Message | Mapping[str, Any]) -> Message:
        """Append a message of the application's own; it goes out with the next run.

        Raises:
            InputError: the message is malformed.
        """
        self._require_rest()
        adopted = adopt_message(message, self._notices.append)
        if adopted is None:
            raise InputError("the message has a role that is not known here", path="/role")
        return self._conversation.add(adopted).message

    def answer(
        self,
        tool_call_id: str,
        content: str | Sequence[Any],
        *,
        error: str | None = None,
        message_id: str | None = None,
    ) -> ToolMessage:
        """Answer a tool call by hand; the answer goes out with the next run (FT-3).

        Args:
            tool_call_id: the call.
            content: text, or a list of content parts.
            error: what went wrong, when the call failed or was declined (FT-4).
            message_id: the tool message's id; a fresh one by default.

        Raises:
            InputError: no such call, one that has an answer already (``call_answered``), or malformed content.
        """
        self._require_rest()
        call = self._conversation.call(tool_call_id)
        if call is None:
            raise InputError(f"no call {tool_call_id!r} in this thread", code="unknown_call")
        if call.result is not None:
            raise InputError(f"the call {tool_call_id!r} is answered already", code="call_answered")
        message = adopt_message(
            {
                "id": message_id or self.agent.id_factory(),
                "role": "tool",
                "toolCallId": tool_call_id,
                "content": content if isinstance(content, str) else [wire(part) for part in content],
                **({} if error is None else {"error": error}),
            },
            self._notices.append,
        )
        assert isinstance(message, ToolMessage)  # the role above decides it
        self._conversation.add_answer(message)
        self.pending_tool_calls = [pending for pending in self.pending_tool_calls if pending.id != tool_call_id]
        return message

    def run(
        self,
        message: UserContent | Message | None = None,
        *,
        tools: Iterable[Tool] | None = None,
        context: Iterable[Context] | None = None,
        forwarded_props: Any = None,
        resume: Iterable[ResumeEntry] | None = None,
        run_id: str | None = None,
        parent_run_id: str | None = None,
    ) -> Run:
        """Prepare a run: nothing is sent before it is entered, iterated or awaited.

        Args:
            message: what the user says, text, parts or a message; None continues without a new one.
            tools: the tools offered to this run instead of the thread's.
            context: the context sent with this run instead of the thread's.
            forwarded_props: the value passed to the agent instead of the thread's.
            resume: answers to the open interrupts (IR-2).
            run_id: the run's id; a fresh one by default (RI-3).
            parent_run_id: the run that spawned this one, if any.
        """
        request: dict[str, Any] = {
            "threadId": self.id,
            "runId": run_id if run_id is not None else self.agent.id_factory(),
            "parentRunId": parent_run_id,
            "tools": [wire(tool) for tool in (self._tools if tools is None else tools)],
            "context": [wire(entry) for entry in (self._context if context is None else context)],
            "forwardedProps": self._forwarded_props if forwarded_props is None else forwarded_props,
            "resume": None if resume is None else [wire(entry) for entry in resume],
        }
        return Run(self, request, self._user_message(message))

    def _user_message(self, message: UserContent | Message | None) -> Message | None:
        if message is None or not isinstance(message, str | Sequence):
            return message
        content = message if isinstance(message, str) else [wire(part) for part in message]
        return adopt_message({"id": self.agent.id_factory(), "role": "user", "content": content}, self._notices.append)

    def _require_rest(self) -> None:
        if self._active is not None:
            raise InputError(f"thread {self.id!r} has a run in progress; let it end first", code="run_active")

    def _begin(self, run: Run, message: Message | None) -> list[Diagnostic]:
        self._require_rest()
        if message is not None:
            self._conversation.add(message)
        self._active = run
        notices, self._notices = self._notices, []
        return notices

    def _finish(self, result: RunResult, resumed: bool) -> None:
        self._active = None
        self.pending_tool_calls = list(result.pending_tool_calls)
        settled = result.status in (RunStatus.COMPLETED, RunStatus.INTERRUPTED, RunStatus.CANCELLED)
        if settled or not resumed:
            self.interrupts = list(result.interrupts)

    def _release(self) -> None:
        self._active = None


class Run:
    """One exchange with the agent: an asynchronous iterator of updates, used once.

    Enter it (``async with``) to have the connection closed however the block is
    left; iterate it for updates, or `events` for the plain events; await it for
    the result alone. Closing early ends the connection at once and leaves the
    thread usable (TR-2).
    """

    def __init__(self, thread: Thread, request: dict[str, Any], message: Message | None) -> None:
        self.thread = thread
        self._request = request
        self._message = message
        self._stream: AsyncGenerator[Update, None] | None = None
        self._result: RunResult | None = None
        self._pipeline: Pipeline | None = None
        self._sent: list[Diagnostic] = []
        self._logged = 0
        self._sent_input: dict[str, Any] = {}
        self._failure: ClientError | None = None

    @property
    def id(self) -> str:
        """The ``runId`` asked for."""
        return str(self._request["runId"])

    @property
    def result(self) -> RunResult:
        """What the run came to; there once it was read to its end or closed.

        Raises:
            RuntimeError: the run was not started, or is still being read.
        """
        if self._result is None:
            raise RuntimeError("the run has no result yet: read it to its end, or leave its `async with` block")
        return self._result

    def __aiter__(self) -> AsyncIterator[Update]:
        if self._stream is not None:
            raise RuntimeError("a run is read once; ask the thread for another run")
        self._stream = self._exchange()
        return self._stream

    async def events(self) -> AsyncIterator[Event]:
        """The run as its plain events, expanded and verified."""
        async for update in self:
            yield update.event

    async def wait(self) -> RunResult:
        """Read the run to its end; return what it came to.

        Raises:
            ProtocolError: the stream broke a rule.
            TransportError: the run never started, or a frame was too large.
            InputError: the input may not be sent.
        """
        async for _ in self:
            pass
        return self.result

    def __await__(self) -> Generator[Any, None, RunResult]:
        return self.wait().__await__()

    async def aclose(self) -> None:
        """Stop reading; the connection is closed at once."""
        if self._stream is not None:
            await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    # The exchange.

    async def _exchange(self) -> AsyncGenerator[Update, None]:
        thread = self.thread
        self._sent.extend(thread._begin(self, self._message))
        before = {message.id: message for message in thread.messages}
        try:
            request = RunRequest(
                {
                    **{key: value for key, value in self._request.items() if value is not None},
                    "messages": [wire(message) for message in thread.messages],
                    "state": thread.state,
                }
            )
            # Judged before anything is opened, so that a malformed input is refused without middleware having run.
            prepare_input(request.input, thread.agent.peer, lambda _: None)
            self._pipeline = Pipeline(
                thread_id=thread.id, conversation=thread.conversation, peer_version=thread.agent.peer_version
            )
            source = self._with_middleware(request) if thread.agent.middleware else self._direct(request)
            async with aclosing(source):
                async for update in source:
                    yield update
        finally:
            self._conclude(before)
        if self._pipeline.error is not None:
            raise self._pipeline.error

    async def _direct(self, request: RunRequest) -> AsyncGenerator[Update, None]:
        pipeline = self._require_pipeline()
        try:
            async with self._open(request) as payloads:
                async for payload in payloads:
                    updates = pipeline.feed(payload)
                    self._log_tolerated()
                    for update in updates:
                        yield update
                    if pipeline.error is not None:
                        return
        except TransportError as error:
            self._broke_off(error)

    async def _with_middleware(self, request: RunRequest) -> AsyncGenerator[Update, None]:
        pipeline = self._require_pipeline()
        opened: list[AsyncIterator[RawEvent]] = []
        try:
            async for raw in chain(self.thread.agent.middleware, self._raw_events, opened.append)(request):
                updates = pipeline.feed_raw(raw)
                self._log_tolerated()
                for update in updates:
                    yield update
                if pipeline.error is not None:
                    break
        except TransportError as error:
            self._broke_off(error)
        except ProtocolError as error:
            pipeline.reject(error)
        finally:
            # A generator left early does not close the one it reads from: every layer is closed by hand.
            async with AsyncExitStack() as closing:
                for events in reversed(opened):
                    if isinstance(events, AsyncGenerator):
                        closing.push_async_callback(events.aclose)

    async def _raw_events(self, request: RunRequest) -> AsyncGenerator[RawEvent, None]:
        """Innermost: the wire, and the compatibility translation that comes before middleware (PL-1)."""
        pipeline = self._require_pipeline()
        async with self._open(request) as payloads:
            async for payload in payloads:
                for raw in pipeline.decode(payload):
                    yield raw
                if pipeline.error is not None:
                    raise pipeline.error

    def _open(self, request: RunRequest) -> Any:
        self._sent_input = prepare_input(request.input, self.thread.agent.peer, self._note_sent)
        return self.thread.agent.transport.open(encode(self._sent_input), request.headers)

    def _note_sent(self, diagnostic: Diagnostic) -> None:
        self._sent.append(diagnostic)
        self._log(diagnostic)

    def _log(self, diagnostic: Diagnostic) -> None:
        if diagnostic.code not in self.thread.agent.silence:
            log(diagnostic)

    def _log_tolerated(self) -> None:
        """Log what the pipeline tolerated since the last call, whether or not an event came of it."""
        diagnostics = self._require_pipeline().diagnostics
        while self._logged < len(diagnostics):
            self._log(diagnostics[self._logged])
            self._logged += 1

    def _require_pipeline(self) -> Pipeline:
        assert self._pipeline is not None  # made before any source is
        return self._pipeline

    def _broke_off(self, error: TransportError) -> None:
        """A break truncates the run (TR-1), unless the run had ended before (TR-7).

        Raises:
            TransportError: what is no break: the run never started, or the peer sent what cannot be read.
        """
        run = self._require_pipeline().ledger.current
        if run is not None and (run.finished is not None or run.error is not None):
            return
        self._failure = error
        if not isinstance(error, ConnectionBroken | ReadTimedOut):
            raise error

    def _conclude(self, before: Mapping[str, Message]) -> None:
        pipeline = self._pipeline
        if pipeline is None:
            self.thread._release()
            return
        started = pipeline.ledger.current is not None
        pipeline.end()
        self._log_tolerated()
        messages = self.thread.messages
        self._result = build_result(
            pipeline.ledger.runs,
            messages=messages,
            new_messages=[message for message in messages if before.get(message.id) is not message],
            state=self.thread.state,
            diagnostics=[*self._sent, *pipeline.diagnostics],
            error=self._failure or pipeline.error,
            request=self._sent_input,
        )
        if started:
            self.thread._finish(self._result, resumed=self._request["resume"] is not None)
        else:
            self.thread._release()


__all__ = ["HttpAgent", "Run", "Thread", "UserMessage", "new_id"]
