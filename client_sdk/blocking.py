"""The blocking form, for scripts and notebooks: no event loop in the caller's hands.

::

    with SyncHttpAgent("http://127.0.0.1:8000/") as agent:
        thread = agent.thread()
        for update in thread.run("Where is order 42?"):
            print(update.text or "", end="")

The event loop lives in a thread of its own, made by anyio, which httpx brings along; what is
said of `HttpAgent`, `Thread` and `Run` holds here too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Final, Self, TypeVar, Unpack

import httpx
from ag_ui.core import Event, Interrupt, Message, ToolMessage
from anyio.from_thread import BlockingPortal, start_blocking_portal

from client_sdk.agent import AgentOptions, HttpAgent, Run, RunOptions, Thread, ThreadOptions, UserContent
from client_sdk.protocol.conversation import CallView
from client_sdk.protocol.pipeline import Update
from client_sdk.protocol.runs import PendingCall
from client_sdk.results import RunResult
from client_sdk.tools.board import OpenCall, ToolUpdate
from client_sdk.tools.journal import Journal

T = TypeVar("T")
_END: Final[Any] = object()


class SyncHttpAgent:
    """`HttpAgent` without an event loop; use it as a context manager.

    Args:
        url: where the agent listens.
        options: as for `HttpAgent`.
    """

    def __init__(self, url: str | httpx.URL, **options: Unpack[AgentOptions]) -> None:
        self._agent = HttpAgent(url, **options)
        self._starting: AbstractContextManager[BlockingPortal] | None = None
        self._portal: BlockingPortal | None = None

    def thread(self, id: str | None = None, **options: Unpack[ThreadOptions]) -> SyncThread:
        """Start a thread, or take one up again; as `HttpAgent.thread`.

        Raises:
            InputError: a message is malformed.
            RuntimeError: the agent was not entered.
        """
        return SyncThread(self._agent.thread(id, **options), self._require_portal())

    def __repr__(self) -> str:
        return f"<Sync{repr(self._agent).removeprefix('<')}"

    def close(self) -> None:
        """End the runs that are still active, close the connections and end the event loop's thread."""
        if self._starting is None or self._portal is None:
            return
        self._portal.call(self._agent.aclose)
        self._starting.__exit__(None, None, None)
        self._starting = self._portal = None

    def _require_portal(self) -> BlockingPortal:
        if self._portal is None:
            raise RuntimeError("enter the agent first: `with SyncHttpAgent(url) as agent:`")
        return self._portal

    def __enter__(self) -> Self:
        self._starting = start_blocking_portal()
        self._portal = self._starting.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class SyncThread:
    """`Thread` without an event loop; made by `SyncHttpAgent.thread`."""

    def __init__(self, thread: Thread, portal: BlockingPortal) -> None:
        self._thread = thread
        self._portal = portal

    def __repr__(self) -> str:
        return f"<Sync{repr(self._thread).removeprefix('<')}"

    @property
    def id(self) -> str:
        """The thread's id."""
        return self._thread.id

    @property
    def messages(self) -> list[Message]:
        """The conversation, as ``ag_ui.core`` models."""
        return self._thread.messages

    @property
    def state(self) -> Any:
        """The state agreed with the agent, any JSON value."""
        return self._thread.state

    @state.setter
    def state(self, value: Any) -> None:
        self._thread.state = value

    @property
    def interrupts(self) -> list[Interrupt]:
        """What the last interrupted run still asks for (IR-2)."""
        return self._thread.interrupts

    @property
    def pending_tool_calls(self) -> list[PendingCall]:
        """The calls the last run left unanswered (FT-2)."""
        return self._thread.pending_tool_calls

    @property
    def open_calls(self) -> list[OpenCall]:
        """As `Thread.open_calls`."""
        return self._thread.open_calls

    @property
    def journal(self) -> Journal | None:
        """As `Thread.journal`."""
        return self._thread.journal

    @property
    def running(self) -> bool:
        """True while a run is active; a thread has one at a time."""
        return self._thread.running

    @property
    def tool_calls(self) -> list[CallView]:
        """Every tool call of the conversation with its phase."""
        return self._thread.tool_calls

    def add_message(self, message: Message | Mapping[str, Any]) -> Message:
        """As `Thread.add_message`."""
        return self._thread.add_message(message)

    def answer(
        self,
        tool_call_id: str,
        content: str | Sequence[Any],
        *,
        error: str | None = None,
        message_id: str | None = None,
    ) -> ToolMessage:
        """As `Thread.answer`."""
        return self._thread.answer(tool_call_id, content, error=error, message_id=message_id)

    def run(
        self, message: UserContent | Message | Mapping[str, Any] | None = None, **options: Unpack[RunOptions]
    ) -> SyncRun:
        """Prepare a run; as `Thread.run`."""
        return SyncRun(self._thread.run(message, **options), self._portal)


class SyncRun:
    """`Run` without an event loop: an iterator of updates, used once. Leaving a loop over it closes the run."""

    def __init__(self, run: Run, portal: BlockingPortal) -> None:
        self._run = run
        self._portal = portal

    def __repr__(self) -> str:
        return f"<Sync{repr(self._run).removeprefix('<')}"

    @property
    def id(self) -> str:
        """The ``runId`` asked for."""
        return self._run.id

    @property
    def result(self) -> RunResult:
        """What the run came to; there once it was read to its end or closed."""
        return self._run.result

    def __iter__(self) -> Iterator[Update | ToolUpdate]:
        try:
            while (update := self._following()) is not _END:
                yield update
        finally:
            # Left by `break` or an error: closed at once, as with the asynchronous form (TR-2).
            if self._run.active:
                self.close()

    def __next__(self) -> Update | ToolUpdate:
        update = self._following()
        if update is _END:
            raise StopIteration
        return update  # type: ignore[no-any-return]

    def events(self) -> Iterator[Event]:
        """The run as its plain events, expanded and verified."""
        for update in self:
            if update.event is not None:
                yield update.event

    def wait(self) -> RunResult:
        """Read the run to its end; return what it came to. Raises as `Run.wait`."""
        for _ in self:
            pass
        return self.result

    def close(self) -> None:
        """Stop reading; the connection is closed at once."""
        self._portal.call(self._run.aclose)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _following(self) -> Any:
        # Where the agent was closed meanwhile, and the run with it, there is no loop left to ask.
        return _END if self._run.over else self._call(self._advance)

    async def _advance(self) -> Any:
        return await anext(self._run, _END)

    def _call(self, function: Callable[[], Awaitable[T]]) -> T:
        future = self._portal.start_task_soon(function)
        try:
            return future.result()
        except BaseException:
            # Ctrl-C reaches this thread, not the loop's: what is being awaited there has to be told.
            future.cancel()
            raise
