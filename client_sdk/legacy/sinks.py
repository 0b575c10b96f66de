"""What every string-only sink shares: it is fed, it flattens, it announces each loss once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from ag_ui.core import EventType, Message

from client_sdk.diagnostics import Diagnostic, log
from client_sdk.legacy.flatten import FlatMessage, flatten_message, losses, parts_dropped

_SETTLES_A_MESSAGE = frozenset(
    {
        EventType.TEXT_MESSAGE_END,
        EventType.TOOL_CALL_END,
        EventType.TOOL_CALL_RESULT,
        EventType.REASONING_MESSAGE_END,
        EventType.ACTIVITY_SNAPSHOT,
        EventType.ACTIVITY_DELTA,
        EventType.MESSAGES_SNAPSHOT,
    }
)
"""Events after which a message is worth storing: whole for now, although it may still grow (ST-6)."""


class Conversational(Protocol):
    """What a sink needs of a thread: a `client_sdk.Thread` has it."""

    @property
    def id(self) -> str:
        """The thread's id."""

    @property
    def messages(self) -> Sequence[Message]:
        """The thread's messages, in order."""


class RunUpdate(Protocol):
    """What a sink needs of an update: those a run yields have it."""

    @property
    def event(self) -> Any:
        """The event that was delivered, or whatever else caused the update."""

    @property
    def message(self) -> Message | None:
        """The message it concerns, as it stands now."""


U = TypeVar("U", bound=RunUpdate)


class TextSink(ABC):
    """A store that can only hold text.

    Every part that does not fit is announced once, as a `parts_dropped` diagnostic
    in `diagnostics` and as a warning of the logger ``client_sdk``, and never inside
    the text (TC-5). Once means: once for each sink, message and part; writing the same
    message again says nothing new, while a part that replaced another is a new loss.

    Attributes:
        diagnostics: the losses announced so far.
    """

    def __init__(self) -> None:
        self.diagnostics: list[Diagnostic] = []
        self._announced: set[tuple[object, ...]] = set()

    def write_thread(self, thread: Conversational) -> None:
        """Make the sink hold exactly `thread`'s messages, in their order.

        Writing an unchanged thread again changes nothing. Messages that a snapshot
        replaced, reordered or removed (SN-4) are replaced, reordered and removed here.

        Raises:
            InputError: a message is malformed or cannot be stored; nothing was written.
            ClientError: ``sink_failed``, the file or database refused.
        """
        self._write(thread.id, thread.messages, whole=True)

    def write_messages(self, messages: Sequence[Message | Mapping[str, Any]], *, thread_id: str) -> None:
        """Store `messages`: known ids are replaced in place, new ones follow; nothing is removed.

        An id that occurs twice among them means two messages, as it does in a thread.

        Parameters:
            messages: `ag_ui.core` messages or their wire objects, in order.
            thread_id: the thread they belong to.

        Raises:
            InputError: as `write_thread`.
            ClientError: as `write_thread`.
        """
        self._write(thread_id, messages, whole=False)

    async def follow(self, thread: Conversational, updates: AsyncIterable[U]) -> AsyncIterator[U]:
        """Pass a run's `updates` on unchanged while storing what it says.

        ::

            async with thread.run("hello") as run:
                async for update in sink.follow(thread, run): ...

        However the run ends, `thread` is written whole at the end: what was
        delivered stays (PL-4).

        Parameters:
            thread: the thread that runs.
            updates: the run.
        """
        self._begin(thread)
        try:
            async for update in updates:
                # Updates of tools that run on this side come in between; what they bring is written at the end.
                if getattr(update.event, "type", None) in _SETTLES_A_MESSAGE:
                    self._settle(thread, update)
                yield update
        finally:
            self.write_thread(thread)

    def _begin(self, thread: Conversational) -> None:  # noqa: B027 -- a hook, empty by default
        """A run is about to be followed."""

    def _settle(self, thread: Conversational, update: RunUpdate) -> None:  # noqa: B027 -- likewise
        """A message became whole in the middle of a run; sinks that can rewrite store it now."""

    @abstractmethod
    def _store(self, thread_id: str, messages: Sequence[tuple[Key, FlatMessage]], *, whole: bool) -> None:
        """Store flattened messages; with `whole`, they are all the thread has."""

    def _write(
        self, thread_id: str, messages: Sequence[Message | Mapping[str, Any]], *, whole: bool, first: int = 0
    ) -> None:
        """Flatten all, store all, then announce: nothing is announced that was not written."""
        flattened = [flatten_message(m, where=f"/messages/{i}") for i, m in enumerate(messages, first)]
        found = keyed(flattened)
        self._store(thread_id, found, whole=whole)
        for message, (key, flat) in zip(messages, found, strict=True):
            for part, identity in losses(message, flat):
                self._announce((thread_id, *key, *identity), parts_dropped(part, message_id=flat.id))

    def _announce(self, key: tuple[object, ...], diagnostic: Diagnostic) -> None:
        if key not in self._announced:
            self._announced.add(key)
            self.diagnostics.append(diagnostic)
            log(diagnostic)


Key = tuple[str, int]
"""What a sink stores a message by: its id, and which use of that id in the thread it is (0 is the first)."""


def keyed(messages: Sequence[FlatMessage]) -> list[tuple[Key, FlatMessage]]:
    """`messages` with their keys. Ids should be unique (RI-3); where a producer uses one twice, both are kept."""
    uses: Counter[str] = Counter()
    found = []
    for message in messages:
        found.append(((message.id, uses[message.id]), message))
        uses[message.id] += 1
    return found
