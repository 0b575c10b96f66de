"""From pending calls to answers: the round trip of one thread (FT-2 to FT-8).

Two surfaces over one machinery. An application that wants the decisions in its
own hands takes the open calls as objects (:class:`~client_sdk.tools.board.OpenCall`)
and decides them one by one; the automatic loop does nothing else: it asks the
consent handler and calls the same methods. Either way the gate speaks before
anything runs, the journal is written before anything happens, and answers go out
together, in call order, with the next input.
"""

from __future__ import annotations

import asyncio
import inspect
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Final, TypedDict

from ag_ui.core import Interrupt, Message, ResumeEntry, ToolMessage

from client_sdk.diagnostics import Diagnostic
from client_sdk.errors import ToolError
from client_sdk.interrupts import InterruptAnswer, OpenInterrupt, Resume, build_resume
from client_sdk.options import COUNT, FUNCTION, JOURNAL, SECONDS, Wanted, check_options, optional
from client_sdk.tools import answers
from client_sdk.tools.board import CallBoard, CallStanding, OpenCall, ToolUpdate
from client_sdk.tools.calls import CallOutcome, ClosedRun, Continuation, RunStatus
from client_sdk.tools.consent import Approve, ConsentHandler, ConsentRequest, Decline, ask
from client_sdk.tools.context import ToolContext
from client_sdk.tools.execution import run_handler, stopped
from client_sdk.tools.gate import RefusalReason, Verdict
from client_sdk.tools.journal import Clock, Journal, MemoryJournal, utc_now
from client_sdk.tools.registry import ToolRegistry

DEFAULT_MAX_FOLLOW_UPS = 25
"""How many runs may follow one another without a word from the user."""

UnansweredHandler = Callable[[OpenCall], Awaitable[None] | None]
"""Decides an open call before a new user message goes out; what it leaves open is declined."""

InterruptAnswers = Mapping[str, InterruptAnswer] | None
InterruptHandler = Callable[[Sequence[OpenInterrupt]], InterruptAnswers | Awaitable[InterruptAnswers]]
"""Answers open interrupts, all of them at once, by id; None leaves them open and the thread rests."""

_CONTINUES = frozenset({RunStatus.COMPLETED, RunStatus.INTERRUPTED})
"""How a run must have ended for another to follow by itself."""

_ALWAYS_FOLLOWED_UP = frozenset(
    {CallOutcome.REFUSED, CallOutcome.FAILED, CallOutcome.TIMED_OUT, CallOutcome.EFFECT_UNKNOWN}
)
"""Bad news an agent gets to hear whatever the tool says, so that it can mend it."""

_NEVER_FOLLOWED_UP = frozenset({CallOutcome.CANCELLED, CallOutcome.ABANDONED})
"""Ends that the user brought about by stopping."""


class CallHandling(TypedDict, total=False):
    """How the calls and interrupts of a thread are handled; see `ToolRunner`."""

    journal: Journal | None
    consent: ConsentHandler | None
    consent_deadline: float | None
    answer_interrupts: InterruptHandler | None
    unanswered: UnansweredHandler | None
    max_follow_ups: int


HANDLING: Final[dict[str, Wanted]] = {
    "journal": optional(JOURNAL),
    "consent": optional(FUNCTION),
    "consent_deadline": optional(SECONDS),
    "answer_interrupts": optional(FUNCTION),
    "unanswered": optional(FUNCTION),
    "max_follow_ups": COUNT,
}


class ToolRunner:
    """Disposes of the calls of one thread.

    After each run: :meth:`offer` its calls, :meth:`settle` them, then
    :meth:`next_input` says what goes out next, or that the thread rests. Before
    each input: :meth:`check_history`.

    Args:
        thread_id: the thread; answers go nowhere else.
        registry: the tools; None for none.
        journal: where calls are written down; in memory by default.
        consent: asks the user; None leaves such calls open for the application to decide.
        consent_deadline: seconds the user may take over one call; None lets them take for ever.
        answer_interrupts: answers interrupts; None leaves them open.
        unanswered: decides open calls before a new user message goes out.
        max_follow_ups: how many runs may follow without a word from the user.
        clock: the time, with its zone.
        new_id: makes message ids.

    Raises:
        OptionError: ``bad_option`` — a value of the wrong kind.
    """

    def __init__(
        self,
        thread_id: str,
        registry: ToolRegistry | None = None,
        *,
        journal: Journal | None = None,
        consent: ConsentHandler | None = None,
        consent_deadline: float | None = None,
        answer_interrupts: InterruptHandler | None = None,
        unanswered: UnansweredHandler | None = None,
        max_follow_ups: int = DEFAULT_MAX_FOLLOW_UPS,
        clock: Clock = utc_now,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        check_options("ToolRunner", HANDLING, locals())
        self._registry = registry if registry is not None else ToolRegistry()
        self.board = CallBoard(
            thread_id,
            self._registry,
            journal if journal is not None else MemoryJournal(),
            clock=clock,
            new_id=new_id,
        )
        self._consent = consent
        self._consent_deadline = consent_deadline
        self._answer_interrupts = answer_interrupts
        self._unanswered = unanswered
        self._max_follow_ups = max_follow_ups
        self._clock = clock
        self._status = RunStatus.COMPLETED
        self._follow_ups = 0
        self._stopped = False
        self._resume: Resume | None = None
        self._diagnostics: list[Diagnostic] = []
        self._told: set[tuple[str, str]] = set()
        self._worker: asyncio.Task[None] | None = None

    @property
    def open_calls(self) -> list[OpenCall]:
        """The calls somebody has to decide, in call order."""
        return self.board.open

    @property
    def undecided(self) -> list[OpenCall]:
        """The open calls that hold up the thread: all but those whose interrupt is answered instead."""
        return [call for call in self.board.open if call.reason is not RefusalReason.OPEN_INTERRUPT]

    @property
    def answers_interrupts(self) -> bool:
        """Whether somebody is there to answer interrupts."""
        return self._answer_interrupts is not None

    @property
    def journal(self) -> Journal:
        """Where this thread's calls are written down."""
        return self.board.journal

    # After a run.

    def offer(self, closed: ClosedRun) -> None:
        """Put the calls of a closed run before the gate; see `CallBoard.offer`."""
        self._status = closed.status
        self._resume = None
        self.board.offer(closed)

    def restore(self, messages: Sequence[Message], interrupts: Iterable[Interrupt] = ()) -> None:
        """Take up a history's unanswered calls; see `CallBoard.restore`."""
        self.board.restore(messages, interrupts)

    async def settle(self, *, ask_interrupts: bool | None = None) -> AsyncGenerator[ToolUpdate, None]:
        """Ask about the calls that need consent, run those that may run, answer interrupts.

        Leaves undecided what nobody decided. Closing the iterator, or cancelling the
        task that reads it, stops the tools.

        Args:
            ask_interrupts: whether the interrupt handler is asked; by default when the last run ended well.

        Raises:
            ToolError: ``runner_busy`` — the thread's calls are being settled already.
            InterruptError: the application's answers do not fit the open interrupts.
            JournalError: the journal cannot be written; nothing runs unrecorded.
        """
        if self._worker is not None:
            raise ToolError("the calls of this thread are being settled already", code="runner_busy")
        self._stopped = False
        changed = asyncio.Event()
        self.board.on_update = changed.set
        worker = self._worker = asyncio.ensure_future(self._work(ask_interrupts))
        worker.add_done_callback(lambda _: changed.set())
        try:
            while not worker.done() or self.board.updates:
                await changed.wait()
                changed.clear()
                while self.board.updates:
                    yield self.board.updates.popleft()
                if worker.done():
                    changed.set()
            if not worker.cancelled():
                worker.result()
        finally:
            self.board.on_update = lambda: None
            self._worker = None
            if not worker.done():
                self._stopped = True
                worker.cancel()
                await asyncio.wait({worker})

    def stop(self) -> None:
        """Stop the tools that run; what was not started is answered as cancelled. Undecided calls stay open."""
        if self._worker is not None:
            self._stopped = True
            self._worker.cancel()

    def next_input(self) -> Continuation | None:
        """What goes out next by itself; None when the thread rests.

        It rests when the run did not end well or the tools were stopped, when a call or an interrupt is
        undecided, when no answer asks for another run (FT-7), and when too many
        runs followed one another: the diagnostic ``follow_up_limit`` then says so.
        The answers stay for :meth:`take_answers`.
        """
        unresolved = bool(self.board.interrupts) and self._resume is None
        due = self._resume is not None or any(map(_follows_up, self.board.calls))
        if self._stopped or self._status not in _CONTINUES or self.undecided or unresolved or not due:
            return None
        if self._follow_ups >= self._max_follow_ups:
            self._note(
                Diagnostic(
                    "follow_up_limit",
                    self.board.thread_id,
                    f"{self._follow_ups} runs followed one another without a word from the user; the thread rests",
                )
            )
            return None
        self._follow_ups += 1
        return Continuation(self.board.take_answers(), self.take_resume())

    def take_resume(self) -> list[ResumeEntry] | None:
        """The resume list that the interrupt handler's answers make; None when there is none."""
        resume, self._resume = self._resume, None
        return None if resume is None else list(resume.entries)

    # Before an input.

    def user_speaks(self, registry: ToolRegistry | None = None) -> None:
        """The user starts a run: follow-ups count anew.

        Args:
            registry: the tools offered to this run instead of all; None offers all.
        """
        self._follow_ups = 0
        self.board.registry = self._registry if registry is None else self._registry.overlaid(registry)

    async def ask_unanswered(self) -> None:
        """Let the application's ``unanswered`` handler decide the open calls, before a new user message goes out."""
        handler = self._unanswered
        if handler is None:
            return
        for call in self.board.open:
            if call.standing is CallStanding.OPEN and call.reason is not RefusalReason.OPEN_INTERRUPT:
                said = handler(call)
                if inspect.isawaitable(said):
                    await said

    def dismiss_open(self) -> None:
        """Decide every call that is still open before a new user message goes out (FT-3).

        It is declined, or said to be of unknown effect, or abandoned, as is true of it.
        """
        for call in self.board.open:
            if call.standing is CallStanding.OPEN:
                self.board.dismiss(call)

    def take_answers(self) -> tuple[ToolMessage, ...]:
        """The answers that wait for the next input, in call order."""
        return self.board.take_answers()

    def answer(self, message: ToolMessage) -> None:
        """Answer an open call with a finished message; see `OpenCall.answer`.

        Raises:
            ToolError: ``call_not_open``.
        """
        self.board.answer_with(message)

    def check_history(self, messages: Sequence[Message]) -> tuple[list[Message], tuple[ToolMessage, ...]]:
        """Put an outgoing history in order (FT-3).

        Returns:
            The messages to send, and the answers among them that the conversation did not hold.
        """
        repair = self.board.check_history(messages)
        for note in repair.notes:
            if (note.code, note.path) not in self._told:
                self._told.add((note.code, note.path))
                self._note(note)
        return repair.messages, repair.added

    def take_diagnostics(self) -> list[Diagnostic]:
        """What has to be told since this was last called."""
        taken, self._diagnostics = self._diagnostics, []
        return taken

    def _note(self, diagnostic: Diagnostic) -> None:
        self._diagnostics.append(diagnostic)

    # The work.

    async def _work(self, ask_interrupts: bool | None) -> None:
        seen: set[str] = set()
        while ready := [call for call in self.board.calls if _may_go_on(call, seen)]:
            await self._dispose(ready, seen)
        asks = self._status in _CONTINUES if ask_interrupts is None else ask_interrupts
        if asks and self.board.interrupts and self._answer_interrupts is not None:
            await self._collect_interrupt_answers(self._answer_interrupts)

    async def _dispose(self, calls: Sequence[OpenCall], seen: set[str]) -> None:
        """Dispose of calls together: ask in call order, run beside one another what may (FT-3)."""
        running: list[tuple[OpenCall, asyncio.Task[None]]] = []
        try:
            for call in calls:
                seen.add(call.id)
                await self._decide(call)
                if call.standing is CallStanding.APPROVED:
                    before = [task for other, task in running if _exclusive(call) or _exclusive(other)]
                    running.append((call, asyncio.ensure_future(self._execute(call, before))))
                    await asyncio.sleep(0)  # an approved tool is under way before the next question is asked
            for _, task in running:
                await task
        finally:
            tasks = [task for _, task in running]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for call, _ in running:
                if call.standing is CallStanding.APPROVED:
                    self.board.record_answer(call, answers.cancelled())

    async def _decide(self, call: OpenCall) -> None:
        if call.standing is not CallStanding.OPEN:
            return
        verdict = self.board.refresh(call).verdict
        if verdict is Verdict.EXECUTE:
            self.board.approve_by_policy(call)
        elif verdict is Verdict.ASK and self._consent is not None:
            await self._ask(call, self._consent)

    async def _ask(self, call: OpenCall, handler: ConsentHandler) -> None:
        assert call.tool is not None  # the gate asks only for
        assert call.parsed.value is not None  # what could run
        self.board.asked(call)
        # A copy, as everywhere: what the application does to it must not become what the tool runs with.
        request = ConsentRequest(call, call.tool, deepcopy(call.parsed.value))
        limit = asyncio.timeout(self._consent_deadline)
        try:
            async with limit:
                answer = await ask(handler, request)
        except TimeoutError:
            if not limit.expired() or self._consent_deadline is None:
                raise
            if call.standing is CallStanding.OPEN:
                self.board.answer(call, answers.no_decision(self._consent_deadline))
            return
        if call.standing is not CallStanding.OPEN:
            return  # decided through the object while the handler asked
        if isinstance(answer, Approve):
            self.board.approve(call, None if answer.arguments is None else dict(answer.arguments))
        elif isinstance(answer, Decline):
            self.board.decline(call, answer.reason)

    async def _execute(self, call: OpenCall, before: Sequence[asyncio.Task[None]]) -> None:
        if before:
            await asyncio.wait(before)
        if not self.board.start(call):
            return
        assert call.tool is not None  # nothing starts
        assert call.consented is not None  # without these
        context = ToolContext(call.id, call.name, self.board.thread_id, call.call.run_id)
        try:
            said = await run_handler(call.tool, deepcopy(call.consented), context)
        except asyncio.CancelledError:
            self.board.record_answer(call, stopped(call.tool))
            raise
        self.board.record_answer(call, said)

    async def _collect_interrupt_answers(self, handler: InterruptHandler) -> None:
        given = handler(tuple(self.board.interrupts))
        if inspect.isawaitable(given):
            given = await given
        if given is None:
            return
        if not isinstance(given, Mapping):
            raise ToolError(
                f"answer_interrupts returned {type(given).__name__}; it returns answers by interrupt id, or None",
                code="interrupt_answers",
            )
        self._resume = build_resume(self.board.interrupts, given, now=self._clock())
        for note in self._resume.diagnostics:
            self._note(note)


def _may_go_on(call: OpenCall, asked: set[str]) -> bool:
    """Whether settling can do something for a call: run it, or ask about it for the first time."""
    if call.standing is CallStanding.APPROVED:
        return True
    return (
        call.standing is CallStanding.OPEN
        and call.id not in asked
        and call.decision.verdict in (Verdict.EXECUTE, Verdict.ASK)
    )


def _exclusive(call: OpenCall) -> bool:
    return call.tool is not None and call.tool.options.exclusive


def _follows_up(call: OpenCall) -> bool:
    """Whether the answer to a call starts another run (FT-7)."""
    if call.standing is not CallStanding.ANSWERED:
        return False
    outcome = CallOutcome.SUCCEEDED if call.said is None else call.said.outcome
    if outcome in _ALWAYS_FOLLOWED_UP:
        return True
    return outcome not in _NEVER_FOLLOWED_UP and (call.tool is None or call.tool.options.follow_up)


__all__ = ["DEFAULT_MAX_FOLLOW_UPS", "InterruptHandler", "ToolRunner", "UnansweredHandler"]
