"""What a tool handler may know about the call it answers."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field


class Cancellation:
    """A one-way switch, thrown when nobody waits for a handler any longer.

    A handler that runs in a thread cannot be interrupted; it is asked to stop by
    this. Safe to read and to throw from any thread.
    """

    __slots__ = ("_lock", "_thrown", "_waiters")

    def __init__(self) -> None:
        self._thrown = threading.Event()
        self._lock = threading.Lock()
        self._waiters: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    def __bool__(self) -> bool:
        return self._thrown.is_set()

    def throw(self) -> None:
        """Say that nobody waits any longer; saying it again changes nothing."""
        with self._lock:
            self._thrown.set()
            waiters, self._waiters = self._waiters, []
        for loop, event in waiters:
            if not loop.is_closed():
                loop.call_soon_threadsafe(event.set)

    def wait_in_thread(self, timeout: float | None = None) -> bool:
        """Block the calling thread until the switch is thrown.

        Args:
            timeout: seconds to wait at most; None waits for ever.

        Returns:
            Whether it was thrown.
        """
        return self._thrown.wait(timeout)

    async def wait(self) -> None:
        """Wait, in a coroutine, until the switch is thrown."""
        event = asyncio.Event()
        with self._lock:
            if self._thrown.is_set():
                return
            waiter = (asyncio.get_running_loop(), event)
            self._waiters.append(waiter)
        try:
            await event.wait()
        finally:
            with self._lock:
                if waiter in self._waiters:
                    self._waiters.remove(waiter)


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The call a handler answers. Ask for it with a parameter annotated ``ToolContext``.

    Attributes:
        call_id: the ``toolCallId``.
        tool: the name of the tool.
        thread_id: the thread the answer goes to.
        run_id: the run that made the call.
        cancelled: true once nobody waits for the result (deadline, stop); whatever
            the handler returns after that is discarded.
    """

    call_id: str
    tool: str
    thread_id: str
    run_id: str
    cancelled: Cancellation = field(default_factory=Cancellation, compare=False)
