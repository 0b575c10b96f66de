"""What users hold: an agent's address, a thread of conversation, a run.

::

    async with HttpAgent("http://127.0.0.1:8000/") as agent:
        thread = agent.thread()
        async with thread.run("Where is order 42?") as run:
            async for update in run:
                print(update.text or "", end="")
        run.result.raise_for_status()
"""

from __future__ import annotations

import asyncio
import uuid
import warnings
import weakref
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Generator,
    Iterable,
    Mapping,
    Sequence,
)
from contextlib import aclosing
from datetime import UTC, datetime
from types import AsyncGeneratorType, TracebackType
from typing import Any, Final, Self, TypedDict, Unpack, cast

import httpx
from ag_ui.core import Context, Event, Interrupt, Message, ResumeEntry, Tool, ToolMessage, UserMessage
from pydantic import BaseModel

from client_sdk.diagnostics import Diagnostic, log
from client_sdk.errors import InputError, ToolError
from client_sdk.exchange import Exchange
from client_sdk.interrupts import OpenInterrupt, Resume, check_resume
from client_sdk.middleware import Middleware, RunRequest
from client_sdk.options import (
    CLIENT,
    CODES,
    FRAME_BYTES,
    FUNCTION,
    HEADERS,
    MIDDLEWARE,
    SERIES,
    TEXT,
    TIMEOUT,
    TRANSPORT,
    URL,
    Wanted,
    check_options,
    either,
    is_series,
    optional,
)
from client_sdk.protocol.compat import Peer, is_version
from client_sdk.protocol.conversation import CallView, Conversation
from client_sdk.protocol.outgoing import adopt_interrupts, adopt_message, adopt_messages, adopt_resume, wire
from client_sdk.protocol.pipeline import Update
from client_sdk.protocol.runs import PendingCall, RunStatus
from client_sdk.results import RunResult, build_result
from client_sdk.tools.answers import Said, abandoned, declined
from client_sdk.tools.board import OpenCall, ToolUpdate
from client_sdk.tools.calls import ClosedRun, Continuation
from client_sdk.tools.history import repair_history
from client_sdk.tools.journal import Journal
from client_sdk.tools.registry import ToolRegistry
from client_sdk.tools.runner import HANDLING, CallHandling, ToolRunner
from client_sdk.transport.base import Transport
from client_sdk.transport.http import HttpTransport, shown_url
from client_sdk.transport.sse import MAX_FRAME_BYTES

UserContent = str | Sequence[Any]
"""What a user may say: text, or a list of content parts (``ag_ui.core`` models)."""

_UNSET: Final[Any] = object()


def new_id() -> str:
    """A fresh opaque id (RI-3)."""
    return str(uuid.uuid4())


class AgentOptions(TypedDict, total=False):
    """What `HttpAgent` takes beside the URL."""

    headers: Mapping[str, str] | None
    client: httpx.AsyncClient | None
    timeout: httpx.Timeout | float | None
    peer_version: str | None
    middleware: Sequence[Middleware]
    max_frame_bytes: int
    transport: Transport | None
    silence: Collection[str]
    id_factory: Callable[[], str]


class ThreadOptions(CallHandling, total=False):
    """What `HttpAgent.thread` takes beside the id."""

    messages: Iterable[Message | Mapping[str, Any]]
    state: Any
    interrupts: Iterable[Interrupt | Mapping[str, Any]]
    tools: ToolRegistry | Iterable[Tool]
    context: Iterable[Context]
    forwarded_props: Any


class RunOptions(TypedDict, total=False):
    """What `Thread.run` takes beside the message."""

    tools: ToolRegistry | Iterable[Tool] | None
    context: Iterable[Context] | None
    forwarded_props: Any
    resume: Resume | Iterable[ResumeEntry | Mapping[str, Any]] | None
    run_id: str | None
    parent_run_id: str | None


_VERSION: Final = Wanted("dot-separated numbers such as '0.0.57'", is_version)
_TOOLS: Final = either("a ToolRegistry or a list of ag_ui.core.Tool", ToolRegistry, otherwise=is_series)
_RESUME: Final = either("what build_resume returns or a list of ResumeEntry", Resume, otherwise=is_series)

_AGENT_OPTIONS: Final[dict[str, Wanted]] = {
    "url": URL,
    "headers": optional(HEADERS),
    "client": optional(CLIENT),
    "timeout": optional(TIMEOUT),
    "peer_version": optional(_VERSION),
    "middleware": MIDDLEWARE,
    "max_frame_bytes": FRAME_BYTES,
    "transport": optional(TRANSPORT),
    "silence": CODES,
    "id_factory": FUNCTION,
}
_THREAD_OPTIONS: Final[dict[str, Wanted]] = {
    "id": TEXT,
    "messages": SERIES,
    "interrupts": SERIES,
    "tools": _TOOLS,
    "context": SERIES,
}
_RUN_OPTIONS: Final[dict[str, Wanted]] = {
    "tools": optional(_TOOLS),
    "context": optional(SERIES),
    "resume": optional(_RESUME),
}


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
        OptionError: ``bad_option`` — a value of the wrong kind, such as a `peer_version` that is not
            dot-separated numbers.
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
        check_options("HttpAgent", _AGENT_OPTIONS, locals())
        self.url = str(url)
        self.peer_version = peer_version
        self.middleware = tuple(middleware)
        self.silence = frozenset(silence)
        self.id_factory = id_factory
        self._peer = Peer(peer_version)
        self._threads: weakref.WeakSet[Thread] = weakref.WeakSet()
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
        interrupts: Iterable[Interrupt | Mapping[str, Any]] = (),
        tools: ToolRegistry | Iterable[Tool] = (),
        context: Iterable[Context] = (),
        forwarded_props: Any = None,
        **handling: Unpack[CallHandling],
    ) -> Thread:
        """Start a thread of conversation, or take one up again.

        With a `ToolRegistry` its tools are run: `Thread.run` goes on through tool calls and
        interrupts until the thread rests. With plain declarations, or none, each run is one
        exchange, and what it leaves pending is the application's to answer.

        Args:
            id: the thread's id; a fresh one by default.
            messages: what was said so far, models or wire objects.
            state: the state agreed so far, any JSON value; ``{}`` by default.
            interrupts: what was still open on the thread, models or wire objects.
            tools: the application's tools offered to every run (FT-1).
            context: what the agent should know, sent with every run.
            forwarded_props: an application-specific value passed to the agent with every run; ``{}`` by default.
            handling: how calls and interrupts are handled, as for `ToolRunner`: ``journal``, ``consent``,
                ``consent_deadline``, ``answer_interrupts``, ``unanswered``, ``max_follow_ups``.

        Raises:
            OptionError: ``bad_option`` — a value of the wrong kind.
            InputError: a message is malformed.
            ToolError: ``tool_options`` — `handling` is given without a registry.
            JournalError: the journal cannot be read.
        """
        thread = Thread(
            self,
            id if id is not None else self.id_factory(),
            messages=messages,
            state=state,
            interrupts=interrupts,
            tools=tools,
            context=context,
            forwarded_props=forwarded_props,
            **handling,
        )
        self._threads.add(thread)
        return thread

    async def aclose(self) -> None:
        """End the runs that are still active and close the connections; a client of yours stays open."""
        for thread in list(self._threads):
            await thread.stop()
        await self._transport.aclose()

    def __repr__(self) -> str:
        return f"<HttpAgent {shown_url(self.url)}>"

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
    """

    def __init__(
        self,
        agent: HttpAgent,
        id: str,
        *,
        messages: Iterable[Message | Mapping[str, Any]] = (),
        state: Any = _UNSET,
        interrupts: Iterable[Interrupt | Mapping[str, Any]] = (),
        tools: ToolRegistry | Iterable[Tool] = (),
        context: Iterable[Context] = (),
        forwarded_props: Any = None,
        **handling: Unpack[CallHandling],
    ) -> None:
        check_options("HttpAgent.thread", _THREAD_OPTIONS, locals())
        self.id = id
        self.agent = agent
        self.interrupts: list[Interrupt] = adopt_interrupts(interrupts)
        self._pending: list[PendingCall] = []
        self._asked = False
        self._tools: ToolRegistry | list[Tool] = tools if isinstance(tools, ToolRegistry) else list(tools)
        self._context = list(context)
        self._forwarded_props = forwarded_props
        self._notices: list[Diagnostic] = []
        self._active: Run | None = None
        self._conversation = Conversation(
            adopt_messages(messages, self._notices.append), {} if state is _UNSET else state
        )
        self._runner = self._make_runner(handling)

    def _make_runner(self, handling: CallHandling) -> ToolRunner | None:
        for name in handling.keys() - HANDLING.keys():
            raise TypeError(f"HttpAgent.thread() got an unexpected keyword argument {name!r}")
        check_options("HttpAgent.thread", HANDLING, handling)
        if not isinstance(self._tools, ToolRegistry):
            if handling:
                raise ToolError(
                    f"{', '.join(sorted(handling))}: give tools as a ToolRegistry, or nothing would use it",
                    code="tool_options",
                )
            return None
        runner = ToolRunner(self.id, self._tools, new_id=self.agent.id_factory, **handling)
        runner.restore(self._conversation.messages, self.interrupts)
        return runner

    async def stop(self) -> None:
        """End the active run, if there is one, as `Run.aclose` does."""
        if self._active is not None:
            await self._active.aclose()

    def __repr__(self) -> str:
        active = ", running" if self.running else ""
        return f"<Thread {self.id!r} of {len(self._conversation.views)} messages{active}>"

    @property
    def pending_tool_calls(self) -> list[PendingCall]:
        """The calls that still want an answer (FT-2), in call order."""
        return list(self._pending) if self._runner is None else [held.call for held in self._runner.open_calls]

    @property
    def open_calls(self) -> list[OpenCall]:
        """The calls somebody has to decide, as objects to decide them by; empty without a `ToolRegistry`.

        What is approved runs, and what is answered goes out, with the next run.
        """
        return [] if self._runner is None else self._runner.open_calls

    @property
    def journal(self) -> Journal | None:
        """Where the calls of this thread are written down; None without a `ToolRegistry`."""
        return None if self._runner is None else self._runner.journal

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
            ToolError: ``call_not_open`` — the call is decided already, or the agent asks about it.
        """
        self._require_rest()
        call = self._conversation.call(tool_call_id)
        if call is None:
            raise InputError(f"no call {tool_call_id!r} in this thread", code="unknown_call")
        if call.result is not None:
            raise InputError(f"the call {tool_call_id!r} is answered already", code="call_answered")
        if not isinstance(content, str) and not is_series(content):
            raise InputError(f"an answer is text or a list of content parts, not {type(content).__name__}")
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
        if self._runner is not None:
            self._runner.answer(message)
            self._hold_answers()
            return message
        self._conversation.add_answer(message)
        self._pending = [pending for pending in self._pending if pending.id != tool_call_id]
        return message

    def run(
        self,
        message: UserContent | Message | Mapping[str, Any] | None = None,
        *,
        tools: ToolRegistry | Iterable[Tool] | None = None,
        context: Iterable[Context] | None = None,
        forwarded_props: Any = None,
        resume: Resume | Iterable[ResumeEntry | Mapping[str, Any]] | None = None,
        run_id: str | None = None,
        parent_run_id: str | None = None,
    ) -> Run:
        """Prepare a run: nothing is sent before it is iterated or awaited.

        Args:
            message: what the user says, text, parts or a message; None continues without a new one.
                Before a new one goes out, calls nobody decided are declined (FT-3).
            tools: the tools offered to this run instead of the thread's.
            context: the context sent with this run instead of the thread's.
            forwarded_props: the value passed to the agent instead of the thread's.
            resume: answers to the open interrupts (IR-2), as `build_resume` makes them or as entries.
            run_id: the run's id; a fresh one by default (RI-3).
            parent_run_id: the run that spawned this one, if any.

        Raises:
            OptionError: ``bad_option`` — a value of the wrong kind.
            InputError: the message or an answer is malformed.
            ToolError: ``tool_options`` — a registry is given to a thread that runs no tools.
        """
        check_options("Thread.run", _RUN_OPTIONS, locals())
        offered = self._tools if tools is None else tools
        request: dict[str, Any] = {
            "threadId": self.id,
            "runId": run_id if run_id is not None else self.agent.id_factory(),
            "parentRunId": parent_run_id,
            "tools": [wire(tool) for tool in (offered.to_tools() if isinstance(offered, ToolRegistry) else offered)],
            "context": [wire(entry) for entry in (self._context if context is None else context)],
            "forwardedProps": self._forwarded_props if forwarded_props is None else forwarded_props,
        }
        if request["forwardedProps"] is None:
            # Producers from before 1.0 refuse an input that lacks it, as one that lacks tools, context or state.
            request["forwardedProps"] = {}
        answers = None if resume is None else adopt_resume(resume.entries if isinstance(resume, Resume) else resume)
        if isinstance(tools, ToolRegistry) and self._runner is None:
            raise ToolError(
                "give the registry to agent.thread(tools=...): the thread runs tools or it does not; "
                "a run may offer some of them",
                code="tool_options",
            )
        registry = None if tools is None or self._runner is None else _registry_of(tools)
        return Run(self, request, self._user_message(message), answers, registry)

    def _user_message(self, message: UserContent | Message | Mapping[str, Any] | None) -> Message | None:
        if message is None or isinstance(message, BaseModel | Mapping):
            return None if message is None else adopt_message(message, self._notices.append)
        if not isinstance(message, str) and not is_series(message):
            raise InputError(f"a message is text, content parts or a message, not {type(message).__name__}")
        content = message if isinstance(message, str) else [wire(part) for part in message]
        return adopt_message({"id": self.agent.id_factory(), "role": "user", "content": content}, self._notices.append)

    def _require_rest(self) -> None:
        if self._active is not None:
            raise InputError(f"thread {self.id!r} has a run in progress; let it end first", code="run_active")

    async def _wait_for_one_that_was_left(self) -> None:
        if self._active is not None and self._active.left:
            await self._active.aclose()

    def _begin(self, run: Run) -> list[Diagnostic]:
        self._require_rest()
        self._active = run
        notices, self._notices = self._notices, []
        return notices

    def _release(self) -> None:
        self._active = None
        self._hold_answers()

    def _check_resume(self, entries: Sequence[ResumeEntry]) -> list[Diagnostic]:
        """IR-2 and IR-3, before anything is decided or sent."""
        waiting = [OpenInterrupt(interrupt) for interrupt in self.interrupts]
        return list(check_resume(waiting, entries, now=datetime.now(UTC)).diagnostics)

    def _checked_history(self, resumed: Sequence[ResumeEntry]) -> tuple[list[Message], list[Diagnostic]]:
        """The messages to send: each call with its one answer (FT-3); answers put in stay in the conversation."""
        messages = self._conversation.messages
        if self._runner is not None:
            messages, added = self._runner.check_history(messages)
            notes = self._runner.take_diagnostics()
        else:
            repair = repair_history(messages, {}, self._give_up, left_open=self._left_to_the_agent(resumed))
            messages, added, notes = repair.messages, repair.added, list(repair.notes)
        for message in added:
            self._conversation.add_answer(message)
        return messages, notes

    def _left_to_the_agent(self, resumed: Sequence[ResumeEntry]) -> frozenset[str]:
        """The calls that interrupts are answered for; when one names no call, it may be any (IR-2)."""
        if not resumed:
            return frozenset()
        named = {interrupt.tool_call_id for interrupt in self.interrupts}
        unanswered = [call.id for call in self._conversation.tool_calls if call.result is None]
        return frozenset(identity for identity in unanswered if None in named or identity in named)

    def _give_up(self, tool_call_id: str) -> ToolMessage:
        return self._tool_message(tool_call_id, abandoned())

    def _decline_pending(self, resumed: Sequence[ResumeEntry]) -> None:
        """A new user message goes out before anybody answered: that is a no to what the last run asked for (FT-3)."""
        left = self._left_to_the_agent(resumed)
        for call in self._pending if self._asked else ():
            held = self._conversation.call(call.id)
            if held is not None and held.result is None and call.id not in left:
                said = declined("the user went on without deciding")
                self._conversation.add_answer(self._tool_message(call.id, said))

    def _tool_message(self, tool_call_id: str, said: Said) -> ToolMessage:
        return ToolMessage(
            id=self.agent.id_factory(), content=said.content, tool_call_id=tool_call_id, error=said.error
        )

    def _close(self, exchange: Exchange, resumed: Sequence[ResumeEntry]) -> None:
        """Take up what the runs of one exchange left behind."""
        runs, requested = exchange.runs, exchange.sent.get("runId")
        offered = frozenset(tool["name"] for tool in exchange.sent.get("tools") or ())
        last = runs[-1]
        settled = last.status in (RunStatus.COMPLETED, RunStatus.INTERRUPTED, RunStatus.CANCELLED)
        if settled or not resumed:
            self.interrupts = list(last.interrupts)
        self._pending = list(last.pending)
        self._asked = last.status in (RunStatus.COMPLETED, RunStatus.INTERRUPTED)
        if self._runner is None:
            return
        unanswered = frozenset(call.id for call in self._conversation.tool_calls if call.result is None)
        for run in runs:
            self._runner.offer(
                ClosedRun(
                    status=run.status,
                    pending=tuple(call for call in run.pending if call.id in unanswered),
                    offered=offered,
                    interrupts=tuple(self.interrupts if run is last else run.interrupts),
                    resumed=tuple(resumed),
                    unanswered=unanswered,
                    # The run asked for is the stream's last; what stands before it is the thread's past (LC-7).
                    replayed=run is not last and run.run_id != requested,
                )
            )

    def _hold_answers(self) -> None:
        """Take answers into the conversation once nobody has to decide anything any more."""
        if self._runner is not None and not self._runner.undecided:
            self._add_answers(self._runner.take_answers())

    def _add_answers(self, messages: Iterable[ToolMessage]) -> None:
        for message in messages:
            self._conversation.add_answer(message)


def _registry_of(tools: ToolRegistry | Iterable[Tool]) -> ToolRegistry:
    if isinstance(tools, ToolRegistry):
        return tools
    registry = ToolRegistry()
    for tool in tools:
        registry.advertise(tool)
    return registry


_closing_left: set[asyncio.Task[None]] = set()
"""Runs being closed because their loop was left: the event loop keeps only weak references to tasks."""


class _Reading:
    """The iteration of a run. When a loop that is left early drops it, the run is closed (TR-2)."""

    __slots__ = ("_loop", "_run")

    def __init__(self, run: Run) -> None:
        self._run = run
        self._loop = asyncio.get_running_loop()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Update | ToolUpdate:
        # A coroutine, so that who waits for an update holds on to the iteration.
        return await self._run._advance()

    def __del__(self) -> None:
        self._run._let_go(self._loop)


class Run:
    """What a thread does on one word: an asynchronous iterator of updates, used once.

    One exchange with the agent, or, for a thread with a `ToolRegistry`, as many as it
    takes until the thread rests. Enter it (``async with``) to have everything ended
    however the block is left; iterate it for updates, or `events` for the plain events;
    await it for the result alone. Closing early ends the connection and the tools at
    once and leaves the thread usable (TR-2).

    Attributes:
        thread: the thread it belongs to.
        left: whether its loop was left early, so that it is being closed.
    """

    def __init__(
        self,
        thread: Thread,
        request: dict[str, Any],
        message: Message | None,
        resume: list[ResumeEntry] | None,
        registry: ToolRegistry | None,
    ) -> None:
        self.thread = thread
        self._request = request
        self._message = message
        self._resume = resume
        self._registry = registry
        self._stream: AsyncGeneratorType[Update | ToolUpdate, None] | None = None
        self._reader: asyncio.Task[Any] | None = None
        self.left = False
        self._closing = False
        self._tried = False
        self._unread = False
        self._stopped = False
        self._ended = asyncio.Event()
        self._result: RunResult | None = None
        self._exchanges: list[Exchange] = []
        self._notes: list[Diagnostic] = []

    def __del__(self) -> None:
        if not getattr(self, "_tried", True):
            warnings.warn(
                f"the run {self.id!r} was never started: iterate it, or await it",
                RuntimeWarning,
                source=self,
                stacklevel=2,
            )

    def __repr__(self) -> str:
        if self._result is not None:
            return f"<Run {self.id!r} {self._result.status.value}>"
        return f"<Run {self.id!r} {'not started' if self._stream is None else 'running'}>"

    @property
    def id(self) -> str:
        """The ``runId`` asked for, of the first exchange when there are several."""
        return str(self._request["runId"])

    @property
    def active(self) -> bool:
        """Whether it is being read, or waits to be."""
        return self.thread._active is self

    @property
    def over(self) -> bool:
        """Whether it was read to its end or closed: nothing more comes."""
        return self._ended.is_set()

    @property
    def result(self) -> RunResult:
        """What the run came to; there once it was read to its end or closed.

        Raises:
            RuntimeError: the run was not started, or is still being read.
        """
        if self._result is None:
            raise RuntimeError("the run has no result yet: read it to its end, or close it")
        return self._result

    def __aiter__(self) -> AsyncIterator[Update | ToolUpdate]:
        if self._stream is not None:
            raise RuntimeError("a run is read once; ask the thread for another run")
        self._stream = self._started()
        return _Reading(self)

    def __anext__(self) -> Awaitable[Update | ToolUpdate]:
        if self._stream is None:
            self._stream = self._started()
        return self._advance()

    def _started(self) -> AsyncGeneratorType[Update | ToolUpdate, None]:
        self._tried = True
        return cast("AsyncGeneratorType[Update | ToolUpdate, None]", self._drive())

    def _advance(self) -> Awaitable[Update | ToolUpdate]:
        assert self._stream is not None  # made before anybody can ask
        return self._no_more() if self._closing else self._stream.__anext__()

    def _let_go(self, loop: asyncio.AbstractEventLoop) -> None:
        """Nobody reads any more: a loop was left by ``break`` or an error, without ``async with`` around it."""
        if self._ended.is_set() or self._closing or loop.is_closed():
            return
        self.left = True
        loop.call_soon_threadsafe(self._close_left, loop)

    def _close_left(self, loop: asyncio.AbstractEventLoop) -> None:
        closing = loop.create_task(self.aclose())
        _closing_left.add(closing)
        closing.add_done_callback(_closing_left.discard)

    async def _no_more(self) -> Update | ToolUpdate:
        await self._ended.wait()
        raise StopAsyncIteration

    async def events(self) -> AsyncIterator[Event]:
        """The run as its plain events, expanded and verified."""
        async for update in self:
            if update.event is not None:
                yield update.event

    async def wait(self) -> RunResult:
        """Read the run to its end; return what it came to.

        Raises:
            ProtocolError: the stream broke a rule.
            TransportError: the run never started, or a frame was too large.
            InputError: the input may not be sent; ``calls_open`` when calls wait for a decision.
            InterruptError: the answers do not fit what is open (IR-2, IR-3).
            JournalError: a call could not be written down.
        """
        async for _ in self:
            pass
        return self.result

    def __await__(self) -> Generator[Any, None, RunResult]:
        return self.wait().__await__()

    async def aclose(self) -> None:
        """Stop reading; the connection is closed and tools are stopped at once.

        Any task may do so: for one that reads, the iteration just ends.
        """
        stream = self._stream
        self._tried = True
        if stream is None:
            return
        if self._closing:
            await self._ended.wait()
            return
        self._closing = True
        if stream.ag_running and self._reader is not None:
            self._stopped = True
            self._reader.cancel()
            await self._ended.wait()
            return
        try:
            await stream.aclose()
        finally:
            self._ended.set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    # The round trip.

    async def _drive(self) -> AsyncGenerator[Update | ToolUpdate, None]:
        thread = self.thread
        await thread._wait_for_one_that_was_left()
        try:
            self._notes.extend(thread._begin(self))
        except InputError:
            self._stream = None  # nothing was sent: it may be tried again
            raise
        self._reader = asyncio.current_task()
        before: dict[str, Message] | None = None
        try:
            async with aclosing(self._prepare()) as preparing:
                async for prepared in preparing:
                    yield prepared
                    self._reader = asyncio.current_task()
            resume: Sequence[ResumeEntry] | None = self._resume
            exchange, before = self._first_exchange(resume)
            while exchange is not None:
                self._unread = True  # until its stream was read to the end
                try:
                    async with aclosing(exchange.updates()) as updates:
                        async for update in updates:
                            yield update
                            self._reader = asyncio.current_task()
                    self._unread = False
                finally:
                    self._close(exchange, resume)
                if exchange.rejection is not None:
                    raise exchange.rejection
                async with aclosing(self._settle()) as settling:
                    async for settled in settling:
                        yield settled
                        self._reader = asyncio.current_task()
                exchange, resume = self._next()
        except asyncio.CancelledError:
            if not self._was_stopped():
                raise
        finally:
            thread._release()
            if before is not None:
                self._conclude(before)
            self._ended.set()

    def _was_stopped(self) -> bool:
        """Whether a cancellation is :meth:`aclose` of another task and nothing else, as `asyncio.timeout` tells it."""
        return self._stopped and self._reader is not None and self._reader.uncancel() == 0

    async def _prepare(self) -> AsyncGenerator[ToolUpdate, None]:
        """Before the first exchange: everything open is decided, or nothing is sent (FT-3, IR-2)."""
        thread, runner = self.thread, self.thread._runner
        asks = runner is not None and runner.answers_interrupts and self._resume is None
        if not asks:
            self._note(thread._check_resume(self._resume or ()))
        if runner is None:
            if self._message is not None:
                thread._decline_pending(self._resume or ())
            return
        runner.user_speaks(self._registry)
        if self._message is not None:
            await runner.ask_unanswered()
            runner.dismiss_open()
        async with aclosing(runner.settle(ask_interrupts=asks)) as settling:
            async for update in settling:
                yield update
        self._note(runner.take_diagnostics())
        if asks:
            self._resume = runner.take_resume()
            thread._check_resume(self._resume or ())
        undecided = runner.undecided
        if undecided:
            raise InputError(
                f"calls wait for a decision: {', '.join(held.id for held in undecided)}; see Thread.open_calls",
                code="calls_open",
            )
        thread._add_answers(runner.take_answers())

    def _first_exchange(self, resume: Sequence[ResumeEntry] | None) -> tuple[Exchange | None, dict[str, Message]]:
        """Say what the user says, in an input that may be sent; else it was not said (RI-1).

        Returns:
            The exchange, and the messages as they stood before it, by id.
        """
        conversation, said = self.thread.conversation, self._message
        known = said is None or conversation.view(said.id) is not None
        view = None if said is None else conversation.add(said)
        before = {message.id: message for message in conversation.messages}
        try:
            return self._exchange(self._request, resume), before
        except InputError:
            if view is not None and not known:
                conversation.retract(view)
            raise

    def _exchange(self, request: dict[str, Any], resume: Sequence[ResumeEntry] | None) -> Exchange:
        thread = self.thread
        messages, notes = thread._checked_history(resume or ())
        self._note(notes)
        raw = {key: value for key, value in request.items() if value is not None}
        if resume is not None:
            raw["resume"] = [wire(entry) for entry in resume]
        raw |= {"messages": [wire(message) for message in messages], "state": thread.state}
        exchange = Exchange(thread.agent, thread.conversation, RunRequest(raw))
        self._exchanges.append(exchange)
        return exchange

    def _close(self, exchange: Exchange, resume: Sequence[ResumeEntry] | None) -> None:
        started = exchange.started
        exchange.end()
        if started:
            self.thread._close(exchange, resume or ())
            self._note(self._made_again(exchange))

    def _made_again(self, exchange: Exchange) -> Iterable[Diagnostic]:
        """FT-8: calls whose ids had their answers before this exchange began."""
        held = {message["id"] for message in exchange.sent.get("messages") or ()}
        made = dict.fromkeys(i for run in exchange.runs for i, answered in run.calls.items() if not answered)
        for identity in made:
            call = self.thread.conversation.call(identity)
            if call is not None and call.result is not None and call.result.id in held:
                yield Diagnostic(
                    "call_answered_before",
                    identity,
                    f"the agent made the call {identity!r} again, which was answered before: it is not run again, "
                    "and its first answer stands",
                )

    async def _settle(self) -> AsyncGenerator[ToolUpdate, None]:
        runner = self.thread._runner
        if runner is None:
            return
        async with aclosing(runner.settle()) as settling:
            async for update in settling:
                yield update
        self._note(runner.take_diagnostics())

    def _next(self) -> tuple[Exchange | None, Sequence[ResumeEntry] | None]:
        """The next exchange and the answers to interrupts it carries, when the thread does not rest."""
        runner = self.thread._runner
        follows: Continuation | None = None if runner is None else runner.next_input()
        if runner is not None:
            self._note(runner.take_diagnostics())
        if follows is None:
            return None, None
        self.thread._add_answers(follows.messages)
        request = {**self._request, "runId": self.thread.agent.id_factory(), "parentRunId": None}
        return self._exchange(request, follows.resume), follows.resume

    def _note(self, notes: Iterable[Diagnostic]) -> None:
        for note in notes:
            self._notes.append(note)
            if note.code not in self.thread.agent.silence:
                log(note)

    def _conclude(self, before: Mapping[str, Message]) -> None:
        if not self._exchanges:
            return
        thread, last = self.thread, self._exchanges[-1]
        messages = thread.messages
        self._result = build_result(
            [run for exchange in self._exchanges for run in exchange.runs],
            messages=messages,
            new_messages=[message for message in messages if before.get(message.id) is not message],
            state=thread.state,
            diagnostics=[*self._notes, *(note for exchange in self._exchanges for note in exchange.diagnostics)],
            error=last.error,
            request=last.sent,
            pending=None if thread._runner is None else thread.pending_tool_calls,
            left=self._unread and last.error is None and last.runs[-1].status is RunStatus.TRUNCATED,
        )


__all__ = ["HttpAgent", "Run", "Thread", "UserMessage", "new_id"]
