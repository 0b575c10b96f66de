"""The calls of one thread that somebody still has to decide, and the means to decide them.

Nothing here awaits. Each decision passes the gate, and is in the journal before
it counts; the asynchronous side (:mod:`client_sdk.tools.runner`) only asks,
waits and runs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from ag_ui.core import AssistantMessage, Interrupt, Message, ResumeEntry, ToolMessage

from client_sdk.diagnostics import Diagnostic, logger
from client_sdk.errors import ToolError
from client_sdk.interrupts import OpenInterrupt
from client_sdk.jsontext import canonical_json, parse_json
from client_sdk.options import TEXT, check_options
from client_sdk.schema import whole_characters
from client_sdk.tools import answers
from client_sdk.tools.answers import Said
from client_sdk.tools.arguments import ArgumentState, ParsedArguments, arguments_hash, parse_arguments
from client_sdk.tools.calls import CallOutcome, ClosedRun, PendingCall, RunStatus
from client_sdk.tools.consent import Approve, Decline
from client_sdk.tools.gate import (
    CallFacts,
    CallText,
    ConsentNeed,
    Decision,
    InterruptState,
    JournalState,
    RefusalReason,
    RunPlace,
    ToolState,
    Verdict,
    decide,
)
from client_sdk.tools.history import Repair, repair_history
from client_sdk.tools.journal import CallRecord, Clock, Journal, JournalEntry, JournalEvent
from client_sdk.tools.registry import ToolDefinition, ToolRegistry


class CallStanding(StrEnum):
    """Where a call stands in the application's hands."""

    OPEN = "open"
    """Undecided: the user is to be asked, or somebody has to say what became of it."""
    APPROVED = "approved"
    """It runs when the thread goes on."""
    RUNNING = "running"
    ANSWERED = "answered"


class OpenCall:
    """A call in the application's hands: what it wants, what the gate says, and the means to decide it.

    Made by a thread's call board. Attributes:
        call: what the agent sent.
        tool: the tool it would run, None when there is none.
        parsed: its arguments, read and judged.
        decision: the gate's word on it.
        standing: where it stands.
        said: the words of its answer, once it is answered here.
        message: the tool message that answers it, once it is answered.
    """

    __slots__ = ("_board", "call", "consented", "decision", "facts", "message", "parsed", "said", "standing", "tool")

    def __init__(
        self,
        board: CallBoard,
        call: PendingCall,
        tool: ToolDefinition | None,
        parsed: ParsedArguments,
        facts: CallFacts,
    ) -> None:
        self.call = call
        self.tool = tool
        self.parsed = parsed
        self.facts = facts
        self.decision = decide(facts)
        self.standing = CallStanding.OPEN
        self.said: Said | None = None
        self.message: ToolMessage | None = None
        self.consented: dict[str, Any] | None = None
        """The arguments that consent was given to; what the tool runs with."""
        self._board = board

    def __repr__(self) -> str:
        return f"OpenCall(id={self.id!r}, name={self.name!r}, standing={self.standing.value!r}, {self.decision})"

    @property
    def id(self) -> str:
        """The ``toolCallId`` (str)."""
        return self.call.id

    @property
    def name(self) -> str:
        """The name of the tool it calls; untrusted (str)."""
        return self.call.name

    @property
    def arguments(self) -> dict[str, Any] | None:
        """A copy of its parsed arguments; None when the text is no JSON object."""
        return deepcopy(self.parsed.value)

    @property
    def reason(self) -> RefusalReason | None:
        """Why it does not run, when the gate holds or refuses it."""
        return self.decision.reason

    @property
    def edited(self) -> bool:
        """Whether the user approved other arguments than the agent's."""
        return self.consented is not None and self.consented != self.parsed.value

    def approve(self, arguments: Mapping[str, Any] | None = None) -> None:
        """Consent to the call; it runs when the thread goes on (FT-6).

        Args:
            arguments: run with these instead of the agent's; the answer then says so.

        Raises:
            ToolError: ``call_not_open`` — it is decided already, or nothing may run it (the
                message says why); ``arguments_invalid`` — the edited arguments miss the tool's schema.
            OptionError: ``bad_option`` — `arguments` is no mapping.
        """
        given = Approve(arguments).arguments  # judged there
        self._board.approve(self, None if given is None else dict(given))

    def decline(self, reason: str = "") -> None:
        """Say no; the agent is told (FT-4).

        Args:
            reason: told to the agent.

        Raises:
            ToolError: ``call_not_open``.
        """
        self._board.decline(self, Decline(reason).reason)

    def answer(self, content: Any) -> None:
        """Answer the call with a result of the application's own; its handler does not run.

        Args:
            content: as a handler may return it: text, a JSON value, a part or a list of parts.

        Raises:
            ToolError: ``call_not_open``.
        """
        self._board.answer(self, answers.succeeded(content))

    def fail(self, error: str) -> None:
        """Answer the call with a failure (FT-4).

        Args:
            error: what went wrong, told to the agent.

        Raises:
            ToolError: ``call_not_open``.
        """
        check_options("OpenCall.fail", {"error": TEXT}, {"error": error})
        self._board.answer(self, answers.failed(error))

    def abandon(self) -> None:
        """Give the call up: the agent is told that it did not run, or that nobody knows.

        Raises:
            ToolError: ``call_not_open``.
        """
        self._board.abandon(self)


@dataclass(frozen=True, slots=True)
class ToolUpdate:
    """Something that happened to a call, between one exchange with the agent and the next.

    It stands in one row with the updates of the stream, so it answers the same
    questions: it carries no event and no delta, and its message is the call's answer.

    Attributes:
        happened: what happened, in the journal's words.
        call: the call, as it stands now.
        message: its answer, for ``answered``.
    """

    happened: JournalEvent
    call: OpenCall
    message: ToolMessage | None = None

    @property
    def event(self) -> None:
        """None: no event of the agent's caused it."""

    @property
    def delta(self) -> None:
        """None: it adds no text."""

    @property
    def text(self) -> None:
        """None: it adds no text."""

    @property
    def tool_call(self) -> None:
        """None: ``call`` is the call as the application holds it, not a view of the stream."""

    @property
    def message_id(self) -> str | None:
        """The id of the answer (str), None when it is none."""
        return None if self.message is None else self.message.id

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Empty: nothing of the stream was tolerated here."""
        return ()


class CallBoard:
    """The calls of one thread, from offer to answer.

    Args:
        thread_id: the thread; answers go nowhere else.
        registry: the tools calls are looked up in; may be replaced between runs.
        journal: where everything is written down.
        clock: the time, with its zone.
        new_id: makes message ids.
    """

    def __init__(
        self,
        thread_id: str,
        registry: ToolRegistry,
        journal: Journal,
        *,
        clock: Clock,
        new_id: Callable[[], str],
    ) -> None:
        self.thread_id = thread_id
        self.registry = registry
        self.journal = journal
        self.interrupts: list[OpenInterrupt] = []
        self.updates: deque[ToolUpdate] = deque()
        """What happened and was not yet told; the runner drains it."""
        self.on_update: Callable[[], None] = lambda: None
        self._clock = clock
        self._new_id = new_id
        self._calls: dict[str, OpenCall] = {}
        self._abandoned_interrupts: set[str] = set()
        known = journal.entries(thread_id)
        self._given = {e.call_id: m for e in known if (m := e.tool_message()) is not None}
        self._granted_tools = {e.tool for e in known if e.event is JournalEvent.GRANTED and not e.policy}

    @property
    def calls(self) -> list[OpenCall]:
        """Every call that is not yet disposed of, answered ones that wait for the next input included."""
        return list(self._calls.values())

    @property
    def open(self) -> list[OpenCall]:
        """The calls that somebody has to decide, in call order."""
        return [call for call in self._calls.values() if call.standing is CallStanding.OPEN]

    @property
    def left_to_the_agent(self) -> frozenset[str]:
        """Calls whose interrupt is answered in their stead: they stay unanswered in the next input (IR-2)."""
        return frozenset(c.id for c in self.open if c.reason is RefusalReason.OPEN_INTERRUPT)

    # Offering.

    def offer(self, closed: ClosedRun) -> None:
        """Put what a closed run left before the gate (FT-2).

        A call that an interrupt had blocked is put before it again, unless the
        agent answered it meanwhile.

        Args:
            closed: the run.
        """
        self._note_abandoned(closed.resumed)
        self.interrupts = [OpenInterrupt(interrupt) for interrupt in closed.interrupts]
        earlier = {c.id: c for c in self._calls.values() if c.id in closed.unanswered and c.message is None}
        pending = {call_id: call.call for call_id, call in earlier.items()}
        pending.update((call.id, call) for call in closed.pending)
        self._calls.clear()
        for call in pending.values():
            before = earlier.get(call.id)
            advertised = call.name in closed.offered or (before is not None and before.facts.tool is ToolState.OFFERED)
            # Whoever saw a call live knows that nobody else was asked, however often it is restated.
            replayed = closed.replayed if before is None else before.facts.place is RunPlace.REPLAYED
            self._put(call, closed.status, advertised, self._asked_about(call.id), replayed=replayed)

    def restore(self, messages: Sequence[Message], interrupts: Iterable[Interrupt] = ()) -> None:
        """Take up the unanswered calls of a history, with what the journal knows of them.

        A call the journal does not know comes from a run that was never seen to close:
        it counts as truncated.

        Args:
            messages: the conversation, from wherever it was kept.
            interrupts: what was open on the thread.
        """
        self.interrupts = [OpenInterrupt(interrupt) for interrupt in interrupts]
        answered = {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}
        for message in messages:
            if not isinstance(message, AssistantMessage):
                continue
            for call in message.tool_calls or ():
                if call.id not in answered and call.id not in self._calls:
                    self._take_up(call.id, call.function.name, call.function.arguments, message)

    def _take_up(self, call_id: str, name: str, arguments: str, holder: AssistantMessage) -> None:
        offered = self.journal.record(self.thread_id, call_id).offered
        call = PendingCall(
            id=call_id,
            name=name,
            arguments=arguments,
            complete=offered is None or offered.complete is not False,
            message_id=holder.id,
            subagent_run_id=holder.subagent_run_id,
            thread_id=self.thread_id,
            run_id="" if offered is None else offered.run_id,
        )
        if offered is None:
            self._put(call, RunStatus.TRUNCATED, True, self._asked_about(call_id))
            return
        asked = offered.interrupt or self._asked_about(call_id)
        status, replayed = offered.run_status or RunStatus.TRUNCATED, bool(offered.replayed)
        self._put(call, status, bool(offered.advertised), asked, replayed=replayed, new=False)

    def _put(
        self,
        call: PendingCall,
        status: RunStatus,
        advertised: bool,
        asked: str | None,
        *,
        replayed: bool = False,
        new: bool = True,
    ) -> None:
        record = self.journal.record(self.thread_id, call.id)
        tool = self.registry.get(call.name)
        text, stated = _stated(call, record)
        parsed = parse_arguments(text, None) if tool is None else tool.read(text)
        facts = CallFacts(
            run=status,
            place=RunPlace.REPLAYED if replayed else RunPlace.REQUESTED,
            text=stated,
            interrupt=self._interrupt_state(call.id, asked),
            tool=self._tool_state(tool, advertised),
            arguments=parsed.state,
            journal=record.state(_hash(parsed)),
            consent=self._consent_need(call.id, tool, parsed),
        )
        held = OpenCall(self, call, tool, parsed, facts)
        self._calls[call.id] = held
        if new:
            self._write(
                held,
                JournalEvent.OFFERED,
                run_status=status,
                arguments=text,
                complete=None if call.complete else False,
                advertised=advertised,
                replayed=replayed or None,
                interrupt=asked,
            )
        self._tell(JournalEvent.OFFERED, held)
        if held.decision.verdict is Verdict.REFUSE:
            self._refuse(held, record)

    def _refuse(self, call: OpenCall, record: CallRecord) -> None:
        reason = call.decision.reason
        assert reason is not None  # a refusal has one, as the gate's table is checked to
        recorded = None if record.answered is None else record.answered.tool_message()
        if recorded is not None:
            self._settled(call, recorded)
            return
        if reason is RefusalReason.DECLINED and record.declined is not None:
            said = answers.declined(record.declined.reason or "")
        elif reason is RefusalReason.ABANDONED:
            said = answers.abandoned()
        else:
            said = answers.refused(
                reason, tool=call.name, offered=self.registry.offered(), problems=call.parsed.problems
            )
        self.record_answer(call, said)

    def _tool_state(self, tool: ToolDefinition | None, advertised: bool) -> ToolState:
        if tool is None:
            unnamed = any(interrupt.tool_call_id is None for interrupt in self.interrupts)
            return ToolState.HELD_BY_AGENT if unnamed else ToolState.UNKNOWN
        if not tool.advertised:
            return ToolState.HANDLED
        if not advertised:
            return ToolState.NOT_OFFERED
        return ToolState.OFFERED if tool.handler is not None else ToolState.BY_HAND

    def _interrupt_state(self, call_id: str, asked: str | None) -> InterruptState:
        if asked is not None:
            return InterruptState.OPEN
        return InterruptState.CANCELLED if call_id in self._abandoned_interrupts else InterruptState.NONE

    def _asked_about(self, call_id: str) -> str | None:
        return next((i.id for i in self.interrupts if i.tool_call_id == call_id), None)

    def _note_abandoned(self, resumed: Sequence[ResumeEntry]) -> None:
        about = {i.id: i.tool_call_id for i in self.interrupts}
        for entry in resumed:
            call_id = about.get(entry.interrupt_id)
            if entry.status == "cancelled" and call_id is not None:
                self._abandoned_interrupts.add(call_id)

    def _consent_need(self, call_id: str, tool: ToolDefinition | None, parsed: ParsedArguments) -> ConsentNeed:
        if tool is None or parsed.value is None or parsed.state is not ArgumentState.VALID:
            return ConsentNeed.NEEDED
        granted = self.journal.record(self.thread_id, call_id).granted
        if granted is not None and not granted.policy and granted.arguments_hash != arguments_hash(parsed.value):
            # Somebody had other arguments run, and the process ended before they did: no policy speaks over that.
            return ConsentNeed.NEEDED
        policy = tool.consent
        if callable(policy):
            needed = _ask_policy(policy, tool.name, deepcopy(parsed.value))
        else:
            needed = policy == "always" or (policy == "once_per_thread" and tool.name not in self._granted_tools)
        return ConsentNeed.NEEDED if needed else ConsentNeed.NOT_NEEDED

    # Deciding.

    def refresh(self, call: OpenCall) -> Decision:
        """Put an undecided call before the gate again: a policy may have been satisfied meanwhile."""
        call.facts = replace(
            call.facts,
            journal=self._journal_state(call, _hash(call.parsed)),
            consent=self._consent_need(call.id, call.tool, call.parsed),
        )
        call.decision = decide(call.facts)
        return call.decision

    def asked(self, call: OpenCall) -> None:
        """Note that the user is being asked."""
        self._write(call, JournalEvent.CONSENT_ASKED, arguments_hash=_hash(call.parsed))
        self._tell(JournalEvent.CONSENT_ASKED, call)

    def approve(self, call: OpenCall, arguments: dict[str, Any] | None) -> None:
        """Record the user's consent to a call; see `OpenCall.approve`."""
        self._require_open(call)
        tool = call.tool
        granted = replace(call.facts, journal=JournalState.GRANTED, arguments=ArgumentState.VALID)
        undecided = call.facts.journal in (JournalState.NEW, JournalState.GRANTED)
        if tool is None or not undecided or decide(granted).verdict is not Verdict.EXECUTE:
            raise ToolError(
                f"the call {call.id!r} may not run: {call.reason or 'it has no tool'}", code="call_not_open"
            )
        parsed = call.parsed if arguments is None else tool.judge(arguments)
        if parsed.state is not ArgumentState.VALID or parsed.value is None:
            said = "; ".join(map(str, parsed.problems))
            raise ToolError(f"the edited arguments of {call.id!r} are not valid: {said}", code="arguments_invalid")
        self._grant(call, parsed.value, granted, policy=False)
        self._granted_tools.add(call.name)

    def approve_by_policy(self, call: OpenCall) -> None:
        """Record that the gate lets a call run without asking, or with the consent it has."""
        assert call.parsed.value is not None  # the gate lets only valid arguments through
        granted = replace(call.facts, journal=JournalState.GRANTED)
        self._grant(call, call.parsed.value, granted, policy=call.facts.journal is JournalState.NEW)

    def _grant(self, call: OpenCall, arguments: dict[str, Any], facts: CallFacts, *, policy: bool) -> None:
        if call.facts.journal is JournalState.NEW or arguments != call.parsed.value:
            self._write(
                call,
                JournalEvent.GRANTED,
                arguments=canonical_json(arguments),
                arguments_hash=arguments_hash(arguments),
                policy=policy,
            )
        call.facts, call.decision = facts, decide(facts)
        call.consented = deepcopy(arguments)
        call.standing = CallStanding.APPROVED
        self._tell(JournalEvent.GRANTED, call)

    def decline(self, call: OpenCall, reason: str = "") -> None:
        """Record the user's no; see `OpenCall.decline`."""
        self._require_open(call)
        if call.facts.journal is JournalState.STARTED:
            self.record_answer(call, _dismissed(call))
            return
        self._write(call, JournalEvent.DECLINED, reason=reason)
        self._tell(JournalEvent.DECLINED, call)
        self.record_answer(call, answers.declined(reason))

    def answer(self, call: OpenCall, said: Said) -> None:
        """Record an answer of the application's own; see `OpenCall.answer` and `OpenCall.fail`."""
        self._require_open(call)
        self.record_answer(call, said)

    def answer_with(self, message: ToolMessage) -> None:
        """Answer an open call with a finished message of the application's own.

        Raises:
            ToolError: ``call_not_open``.
        """
        call = self._calls.get(message.tool_call_id)
        if call is None:
            raise ToolError(f"the call {message.tool_call_id!r} takes no decision", code="call_not_open")
        self._require_open(call)
        outcome = CallOutcome.SUCCEEDED if message.error is None else CallOutcome.FAILED
        self.record_answer(call, Said(outcome, message.content, message.error), message_id=message.id)

    def abandon(self, call: OpenCall) -> None:
        """Give a call up; see `OpenCall.abandon`."""
        self._require_open(call)
        said = _dismissed(call) if call.reason in _DISMISSALS else answers.abandoned("it was given up")
        self._write(call, JournalEvent.ABANDONED)
        self._tell(JournalEvent.ABANDONED, call)
        self.record_answer(call, said)

    def dismiss(self, call: OpenCall) -> None:
        """The user went on without deciding: say what is true of the call (FT-3)."""
        if call.reason in _DISMISSALS:
            self.abandon(call)
        elif call.reason is not RefusalReason.OPEN_INTERRUPT:
            self.decline(call, "the user went on without deciding")

    def _require_open(self, call: OpenCall) -> None:
        if self._calls.get(call.id) is not call or call.standing is not CallStanding.OPEN:
            raise ToolError(
                f"the call {call.id!r} is {call.standing.value} and takes no decision", code="call_not_open"
            )
        if call.reason is RefusalReason.OPEN_INTERRUPT:
            raise ToolError(f"the agent asks about the call {call.id!r}: answer its interrupt", code="call_not_open")

    # Running and answering.

    def start(self, call: OpenCall) -> bool:
        """Claim a call for running: the one moment after which it may have happened (FT-8).

        Returns:
            False when it may not start after all: it was started by somebody else meanwhile.
        """
        assert call.consented is not None  # only an approved call gets here
        consented = arguments_hash(call.consented)
        call.facts = replace(call.facts, journal=self._journal_state(call, consented))
        call.decision = decide(call.facts)
        claimed = call.decision.verdict is Verdict.EXECUTE and self._write(
            call, JournalEvent.STARTED, arguments=canonical_json(call.consented), arguments_hash=consented
        )
        if not claimed:
            self._lost(call)
            return False
        call.standing = CallStanding.RUNNING
        self._tell(JournalEvent.STARTED, call)
        return True

    def _lost(self, call: OpenCall) -> None:
        record = self.journal.record(self.thread_id, call.id)
        call.facts = replace(call.facts, journal=record.state(None))
        call.decision = decide(call.facts)
        call.standing = CallStanding.OPEN
        if record.answered is not None:
            self._refuse(call, record)

    def record_answer(self, call: OpenCall, said: Said, *, message_id: str | None = None) -> None:
        """Answer a call; the first answer stands, whoever gave it (FT-8).

        Raises:
            JournalError: it could not be written down; it goes out all the same.
        """
        if call.edited and call.standing is CallStanding.RUNNING and call.consented is not None:
            said = answers.edited(said, call.consented)
        call.said = said = _sendable(said)
        message = ToolMessage(
            id=message_id or self._new_id(), content=said.content, tool_call_id=call.id, error=said.error
        )
        try:
            first = self._write(
                call,
                JournalEvent.ANSWERED,
                outcome=said.outcome,
                reason=None if said.reason is None else said.reason.value,
                message=message.model_dump(mode="json", by_alias=True),
            )
        finally:
            self._settled(call, message)
        if not first:
            recorded = self.journal.record(self.thread_id, call.id).answered
            earlier = None if recorded is None else recorded.tool_message()
            self._settled(call, earlier or message)
        self._tell(JournalEvent.ANSWERED, call)

    def _settled(self, call: OpenCall, message: ToolMessage) -> None:
        call.standing = CallStanding.ANSWERED
        call.message = message
        self._given[call.id] = message

    def take_answers(self) -> tuple[ToolMessage, ...]:
        """The answers that wait for the next input, in call order; they are the conversation's from here on."""
        answered = [call for call in self._calls.values() if call.standing is CallStanding.ANSWERED]
        for call in answered:
            del self._calls[call.id]
        return tuple(call.message for call in answered if call.message is not None)

    def check_history(self, messages: Sequence[Message]) -> Repair:
        """Pair every call of an outgoing history with its one answer (FT-3)."""
        names = {
            call.id: call.function.name
            for message in messages
            if isinstance(message, AssistantMessage)
            for call in message.tool_calls or ()
        }
        return repair_history(
            messages,
            self._given,
            lambda call_id: self._give_up(call_id, names[call_id]),
            left_open=self.left_to_the_agent,
        )

    def _give_up(self, call_id: str, name: str) -> ToolMessage:
        record = self.journal.record(self.thread_id, call_id)
        said = answers.abandoned() if record.started is None else answers.effect_unknown("and nothing was heard since")
        message = ToolMessage(id=self._new_id(), content=said.content, tool_call_id=call_id, error=said.error)
        self.journal.add(
            JournalEntry(
                self.thread_id,
                call_id,
                JournalEvent.ANSWERED,
                self._clock(),
                tool=name,
                outcome=said.outcome,
                reason=None if said.reason is None else said.reason.value,
                message=message.model_dump(mode="json", by_alias=True),
            )
        )
        self._given[call_id] = message
        return message

    # The journal and the listener.

    def _journal_state(self, call: OpenCall, hash_of_arguments: str | None) -> JournalState:
        return self.journal.record(self.thread_id, call.id).state(hash_of_arguments)

    def _write(self, call: OpenCall, event: JournalEvent, **details: Any) -> bool:
        entry = JournalEntry(
            self.thread_id, call.id, event, self._clock(), tool=call.name, run_id=call.call.run_id, **details
        )
        return self.journal.add(entry)

    def _tell(self, event: JournalEvent, call: OpenCall) -> None:
        self.updates.append(ToolUpdate(event, call, call.message))
        self.on_update()


_DISMISSALS: Mapping[RefusalReason | None, Callable[[], Said]] = {
    RefusalReason.MAY_HAVE_HAPPENED: lambda: answers.effect_unknown("and nothing was heard since"),
    RefusalReason.NO_HANDLER: answers.abandoned,
    RefusalReason.RUN_REPLAYED: lambda: answers.abandoned("as it came with a run replayed from the thread's past"),
    RefusalReason.RUN_TRUNCATED: lambda: answers.abandoned("the stream broke off before its run ended"),
}
"""What is said of a held call when nobody decided it."""


def _dismissed(call: OpenCall) -> Said:
    return _DISMISSALS[call.reason]()


def _ask_policy(policy: Callable[[dict[str, Any]], bool], tool: str, arguments: dict[str, Any]) -> bool:
    try:
        return bool(policy(arguments))
    except Exception:  # noqa: BLE001 - logged, and the safe way taken: whatever a policy does, consent is asked
        logger.exception("the consent policy of tool %s failed; the user is asked", tool)
        return True


def _sendable(said: Said) -> Said:
    """An answer without halves of characters: a model's quoted text, or a handler's, may hold some."""
    content = whole_characters(said.content) if isinstance(said.content, str) else said.content
    return replace(said, content=content, error=None if said.error is None else whole_characters(said.error))


def _hash(parsed: ParsedArguments) -> str | None:
    if parsed.state is not ArgumentState.VALID or parsed.value is None:
        return None
    return arguments_hash(parsed.value)


def _stated(call: PendingCall, record: CallRecord) -> tuple[str, CallText]:
    """The arguments a call states, when an earlier run may have stated it before.

    Some producers restate a held call on resume, and the text doubles: then the one
    statement counts, if both say the same.
    """
    if not call.complete:
        return call.arguments, CallText.INCOMPLETE
    earlier = None if record.offered is None else record.offered.arguments
    if earlier is None or earlier == call.arguments or _same_json(call.arguments, earlier):
        return call.arguments, CallText.COMPLETE
    if call.arguments.startswith(earlier) and _same_json(call.arguments[len(earlier) :], earlier):
        return earlier, CallText.COMPLETE
    return call.arguments, CallText.RESTATED


def _same_json(one: str, other: str) -> bool:
    try:
        return canonical_json(parse_json(one)) == canonical_json(parse_json(other))
    except ValueError:
        return False
