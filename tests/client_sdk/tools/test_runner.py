"""The round trip of one thread: decided by hand or by the loop, answered together, never twice (FT-2 to FT-8)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

import pytest
from ag_ui.core import Interrupt, ResumeEntry, Tool, ToolMessage

from client_sdk.errors import InterruptError, JournalError, ToolError
from client_sdk.interrupts import Cancel, InterruptAnswer, OpenInterrupt, Resolve
from client_sdk.tools import (
    Approve,
    CallOutcome,
    CallStanding,
    ConsentRequest,
    Decline,
    Defer,
    JournalEntry,
    JournalEvent,
    MemoryJournal,
    OpenCall,
    RefusalReason,
    ToolContext,
    ToolRegistry,
    Verdict,
)
from client_sdk.tools.calls import RunStatus
from tests.client_sdk.tools.support import BOUND, closed, happened, holder, pending, runner, settle

INTEGER = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}


class Tools:
    """A registry that writes down what it ran."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, dict[str, Any]]] = []
        self.registry = ToolRegistry()
        self.add("look", side_effects=False)
        self.add("act")

    def add(self, name: str, **options: Any) -> None:
        async def handler(arguments: dict[str, Any], ctx: ToolContext) -> str:
            self.ran.append((name, arguments))
            return f"{name} of {ctx.thread_id}/{ctx.run_id}/{ctx.call_id}"

        self.registry.declare(name, f"{name}.", INTEGER, handler, **options)


@pytest.fixture
def tools() -> Tools:
    return Tools()


def yes(_: ConsentRequest) -> bool:
    return True


def contents(messages: Sequence[ToolMessage]) -> list[tuple[str, Any]]:
    return [(message.tool_call_id, message.content) for message in messages]


async def test_calls_of_a_run_are_answered_together_in_call_order(tools: Tools) -> None:
    """FT-3."""
    run = runner(tools.registry, consent=yes)
    run.offer(closed(pending("c1", "act", '{"n": 1}'), pending("c2", "look"), pending("c3", "nope")))
    await settle(run)
    follow = run.next_input()
    assert follow is not None
    assert follow.resume is None
    assert [m.tool_call_id for m in follow.messages] == ["c1", "c2", "c3"]
    assert follow.messages[0].content == "act of t1/r1/c1"
    assert [m.error is None for m in follow.messages] == [True, True, False]
    assert sorted(tools.ran) == [("act", {"n": 1}), ("look", {})]
    assert run.next_input() is None


async def test_the_journal_tells_the_whole_story(tools: Tools) -> None:
    """FT-8: offered, asked, granted, started, answered, with times and hashes."""
    journal = MemoryJournal()
    now = datetime(2026, 11, 30, tzinfo=UTC)
    run = runner(tools.registry, consent=yes, journal=journal, clock=lambda: now)
    run.offer(closed(pending("c1", "act", '{ "n":1 }')))
    updates = await settle(run)
    story = journal.entries("t1")
    assert [entry.event.value for entry in story] == ["offered", "consent_asked", "granted", "started", "answered"]
    assert happened(updates) == [(entry.event.value, "c1") for entry in story]
    assert {(e.at, e.tool, e.run_id) for e in story} == {(now, "act", "r1")}
    assert (story[0].arguments, story[0].run_status, story[0].advertised) == ('{ "n":1 }', RunStatus.COMPLETED, True)
    assert (story[2].arguments, story[2].policy) == ('{"n":1}', False)
    assert len({entry.arguments_hash for entry in story[1:4]}) == 1
    assert (story[4].outcome, story[4].tool_message()) == (CallOutcome.SUCCEEDED, updates[-1].message)


async def test_a_policy_that_asks_nobody_is_on_record_too(tools: Tools) -> None:
    run = runner(tools.registry)
    run.offer(closed(pending("c1", "look")))
    await settle(run)
    granted = run.journal.record("t1", "c1").granted
    assert granted is not None
    assert granted.policy is True


@pytest.mark.parametrize(
    ("call", "reason", "said"),
    [
        (pending("c1", "nope"), "unknown_tool", "no tool of the name 'nope'"),
        (pending("c1", "act", '{"n":'), "arguments_not_json", "the text is not JSON"),
        (pending("c1", "act", "[1]"), "arguments_not_an_object", "found array [1]"),
        (pending("c1", "act", '{"n": "1"}'), "arguments_invalid", "at /n: expected integer"),
        (pending("c1", "act", '{"n": 1', complete=False), "incomplete_call", "never ended"),
        (pending("c1", "act", "{}", complete=False), "incomplete_call", "never ended"),
    ],
)
async def test_a_refusal_is_an_answer_to_the_agent(tools: Tools, call: Any, reason: str, said: str) -> None:
    """FT-4, FT-5, FT-6: typed, visible to the application, and never an exception."""
    run = runner(tools.registry, consent=yes)
    run.offer(closed(call))
    (held,) = run.board.calls
    updates = await settle(run)
    assert happened(updates) == [("offered", "c1"), ("answered", "c1")]
    assert (held.decision.verdict, held.reason, held.standing) == (
        Verdict.REFUSE,
        RefusalReason(reason),
        CallStanding.ANSWERED,
    )
    follow = run.next_input()
    assert follow is not None
    assert said in str(follow.messages[0].content)
    assert str(follow.messages[0].error).startswith(f"{reason}: ")
    assert tools.ran == []
    recorded = run.journal.record("t1", "c1").answered
    assert recorded is not None
    assert (recorded.outcome, recorded.reason) == (CallOutcome.REFUSED, reason)


async def test_a_tool_that_was_not_offered_in_this_run_is_refused(tools: Tools) -> None:
    """FT-6."""
    run = runner(tools.registry, consent=yes)
    run.offer(closed(pending("c1", "act"), offered=["look"]))
    assert run.board.calls[0].reason is RefusalReason.TOOL_NOT_OFFERED


async def test_a_handler_for_an_unadvertised_name_stands_under_the_same_gate(tools: Tools) -> None:
    """FT-6: made-up calls (confirm_changes) run when the application said so for that very name."""
    seen: list[Any] = []
    tools.registry.handle_unadvertised("confirm_changes", parameters={"required": ["steps"]})(seen.append)
    run = runner(tools.registry, consent=yes)
    run.offer(closed(pending("c1", "confirm_changes", '{"steps": []}'), pending("c2", "confirm_changes")))
    await settle(run)
    assert seen == [{"steps": []}]
    assert run.board.calls[1].reason is RefusalReason.ARGUMENTS_INVALID


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (RunStatus.FAILED, "run_failed"),
        (RunStatus.CANCELLED, "run_cancelled"),
        (RunStatus.REJECTED, "run_rejected"),
    ],
)
async def test_runs_that_did_not_end_well_execute_nothing(tools: Tools, status: RunStatus, reason: str) -> None:
    """The answers wait for the next input; no run follows by itself."""
    run = runner(tools.registry, consent=yes)
    run.offer(closed(pending("c1", "look"), pending("c2", "act"), status=status))
    await settle(run)
    assert tools.ran == []
    assert run.next_input() is None
    answers = run.take_answers()
    assert [str(m.error).split(":")[0] for m in answers] == [reason, reason]


async def test_a_call_of_a_truncated_run_waits_for_a_word_on_itself(tools: Tools) -> None:
    """TR-1: nothing runs by itself, whatever consent says; the user is offered run or decline."""
    run = runner(tools.registry, consent=yes)
    run.offer(closed(pending("c1", "look"), pending("c2", "act"), status=RunStatus.TRUNCATED))
    await settle(run)
    assert tools.ran == []
    first, second = run.open_calls
    assert first.reason is RefusalReason.RUN_TRUNCATED
    first.approve()
    second.decline()
    await settle(run)
    assert tools.ran == [("look", {})]
    assert contents(run.take_answers()) == [
        ("c1", "look of t1/r1/c1"),
        ("c2", "The call was declined; it was not run."),
    ]


# Consent.


async def test_without_anybody_to_ask_the_call_stays_open(tools: Tools) -> None:
    """FT-6: a UI takes the open calls as objects, decides one by one, and goes on."""
    run = runner(tools.registry)
    run.offer(closed(pending("c1", "act", '{"n": 1}'), pending("c2", "act"), pending("c3", "look")))
    await settle(run)
    assert [call.id for call in run.open_calls] == ["c1", "c2"]
    assert run.next_input() is None
    first, second = run.open_calls
    assert (first.name, first.arguments, first.decision.verdict) == ("act", {"n": 1}, Verdict.ASK)
    assert repr(first).startswith("OpenCall(id='c1', name='act', standing='open'")
    first.approve()
    second.decline("too dear")
    await settle(run)
    follow = run.next_input()
    assert follow is not None
    assert contents(follow.messages) == [
        ("c1", "act of t1/r1/c1"),
        ("c2", "The call was declined; it was not run. Reason given: too dear"),
        ("c3", "look of t1/r1/c3"),
    ]


async def test_the_users_edit_is_run_and_said(tools: Tools) -> None:
    """The answer says that the user edited, and carries what was run."""
    run = runner(tools.registry, consent=lambda _: Approve({"n": 7}))
    run.offer(closed(pending("c1", "act", '{"n": 1}')))
    await settle(run)
    follow = run.next_input()
    assert follow is not None
    assert tools.ran == [("act", {"n": 7})]
    assert follow.messages[0].content == (
        'The user edited the arguments before approving. Run with: {"n": 7}\nact of t1/r1/c1'
    )
    granted = run.journal.record("t1", "c1").granted
    assert granted is not None
    assert granted.arguments == '{"n":7}'


async def test_what_the_application_does_to_its_copy_is_not_run(tools: Tools) -> None:
    """FT-6: consent is for exactly the agent's arguments, or for an edit that is said."""

    def meddle(request: ConsentRequest) -> bool:
        request.arguments["n"] = 99
        copy = request.call.arguments
        assert copy is not None
        copy["n"] = 98
        return True

    def policy(arguments: dict[str, Any]) -> bool:
        arguments["n"] = 97
        return True

    tools.add("first", consent=policy)
    run = runner(tools.registry, consent=meddle)
    run.offer(closed(pending("c1", "act", '{"n": 1}'), pending("c2", "first", '{"n": 1}')))
    await settle(run)
    assert tools.ran == [("act", {"n": 1}), ("first", {"n": 1})]
    assert [str(m.content) for m in run.take_answers()] == ["act of t1/r1/c1", "first of t1/r1/c2"]


async def test_approving_the_same_arguments_is_no_edit(tools: Tools) -> None:
    run = runner(tools.registry, consent=lambda _: Approve({"n": 1}))
    run.offer(closed(pending("c1", "act", '{"n": 1}')))
    await settle(run)
    assert contents(run.take_answers()) == [("c1", "act of t1/r1/c1")]


async def test_an_edit_that_misses_the_schema_is_refused_to_the_application(tools: Tools) -> None:
    run = runner(tools.registry)
    run.offer(closed(pending("c1", "act", '{"n": 1}')))
    with pytest.raises(ToolError, match="at /n: expected integer") as caught:
        run.open_calls[0].approve({"n": "x"})
    assert caught.value.code == "arguments_invalid"
    run.open_calls[0].approve()
    await settle(run)
    assert tools.ran == [("act", {"n": 1})]


async def test_consent_once_per_thread(tools: Tools) -> None:
    """Asked the first time, remembered for the thread, also by a journal that is opened again."""
    asked: list[str] = []

    def ask(request: ConsentRequest) -> bool:
        asked.append(request.call.id)
        return True

    tools.add("first", consent="once_per_thread")
    journal = MemoryJournal()
    run = runner(tools.registry, consent=ask, journal=journal)
    run.offer(closed(pending("c1", "first"), pending("c2", "first")))
    await settle(run)
    run.take_answers()
    again = runner(tools.registry, consent=ask, journal=journal)
    again.offer(closed(pending("c3", "first", run="r2"), pending("c4", "act", run="r2")))
    await settle(again)
    assert asked == ["c1", "c4"]
    assert len(tools.ran) == 4


@pytest.mark.parametrize(("n", "asked"), [(1, False), (100, True)])
async def test_consent_by_the_arguments(tools: Tools, n: int, asked: bool) -> None:
    tools.add("first", consent=lambda arguments: arguments["n"] > 10)
    run = runner(tools.registry)
    run.offer(closed(pending("c1", "first", f'{{"n": {n}}}')))
    await settle(run)
    assert bool(run.open_calls) is asked


async def test_a_policy_that_fails_asks(tools: Tools, caplog: pytest.LogCaptureFixture) -> None:
    tools.add("first", consent=lambda arguments: arguments["missing"] > 10)
    run = runner(tools.registry)
    run.offer(closed(pending("c1", "first")))
    await settle(run)
    assert run.open_calls[0].decision.verdict is Verdict.ASK
    assert "the user is asked" in caplog.text


async def test_calls_are_asked_about_one_at_a_time_in_call_order(tools: Tools) -> None:
    asking: list[str] = []
    overlapping: list[str] = []

    async def ask(request: ConsentRequest) -> bool:
        overlapping.extend(asking)
        asking.append(request.call.id)
        await asyncio.sleep(0)
        asking.remove(request.call.id)
        return True

    run = runner(tools.registry, consent=ask)
    run.offer(closed(pending("c1", "act"), pending("c2", "act"), pending("c3", "act")))
    updates = await settle(run)
    assert [call for event, call in happened(updates) if event == "consent_asked"] == ["c1", "c2", "c3"]
    assert overlapping == []


@pytest.mark.parametrize(
    ("answer", "standing"),
    [(Defer(), CallStanding.OPEN), (Decline("no"), CallStanding.ANSWERED), (False, CallStanding.ANSWERED)],
)
async def test_what_the_user_may_say(tools: Tools, answer: Any, standing: CallStanding) -> None:
    run = runner(tools.registry, consent=lambda _: answer)
    run.offer(closed(pending("c1", "act")))
    await settle(run)
    assert run.board.calls[0].standing is standing
    assert tools.ran == []


async def test_a_consent_handler_that_says_nothing_sensible_is_the_applications_fault(tools: Tools) -> None:
    run = runner(tools.registry, consent=lambda _: "yes")
    run.offer(closed(pending("c1", "act")))
    with pytest.raises(ToolError) as caught:
        await settle(run)
    assert caught.value.code == "consent_answer"
    assert tools.ran == []
    assert run.open_calls[0].standing is CallStanding.OPEN


async def test_a_user_who_does_not_decide_in_time(tools: Tools) -> None:
    """Timed out before it started: nothing happened, and the answer says so."""

    async def never(_: ConsentRequest) -> bool:
        await asyncio.Event().wait()
        return True

    run = runner(tools.registry, consent=never, consent_deadline=0.01)
    run.offer(closed(pending("c1", "act")))
    await settle(run)
    (message,) = run.take_answers()
    assert message.content == "Timed out: the user did not decide within 0.01 seconds. The tool was not run."
    assert tools.ran == []


async def test_a_timeout_of_the_handlers_own_is_its_own(tools: Tools) -> None:
    async def fails(_: ConsentRequest) -> bool:
        raise TimeoutError("the dialogue broke")

    for deadline in (None, BOUND):
        run = runner(tools.registry, consent=fails, consent_deadline=deadline)
        run.offer(closed(pending("c1", "act")))
        with pytest.raises(TimeoutError, match="dialogue"):
            await settle(run)


async def test_a_call_decided_on_its_object_while_the_user_is_asked(tools: Tools) -> None:
    """Two ways to decide, one decision: the first counts."""
    run = runner(tools.registry)

    async def elsewhere(request: ConsentRequest) -> bool:
        request.call.decline("decided elsewhere")
        return True

    async def elsewhere_and_late(request: ConsentRequest) -> bool:
        request.call.decline("decided elsewhere")
        await asyncio.Event().wait()
        return True

    for handler, deadline in ((elsewhere, None), (elsewhere_and_late, 0.01)):
        run = runner(tools.registry, consent=handler, consent_deadline=deadline)
        run.offer(closed(pending("c1", "act")))
        await settle(run)
        (message,) = run.take_answers()
        assert "decided elsewhere" in str(message.content)
    assert tools.ran == []


async def test_a_call_approved_on_its_object_while_others_run_joins_them(tools: Tools) -> None:
    run = runner(tools.registry)

    async def handler(arguments: dict[str, Any]) -> str:
        run.open_calls[0].approve()
        return "approved the other"

    tools.registry.declare("slow", "Slow.", {}, handler, side_effects=False)
    run.offer(closed(pending("c1", "act"), pending("c2", "slow")))
    await settle(run)
    assert tools.ran == [("act", {})]
    assert contents(run.take_answers()) == [("c1", "act of t1/r1/c1"), ("c2", "approved the other")]


# By hand.


async def test_an_application_may_answer_a_call_itself(tools: Tools) -> None:
    run = runner(tools.registry)
    run.offer(closed(*(pending(f"c{n}", "act") for n in range(1, 6))))
    one, two, three, four, five = run.open_calls
    one.answer({"done": True})
    two.fail("no network")
    three.abandon()
    run.answer(ToolMessage(id="own-1", content="mine", tool_call_id=four.id))
    run.answer(ToolMessage(id="own-2", content="bad", tool_call_id=five.id, error="bad"))
    answers = run.take_answers()
    assert contents(answers) == [
        ("c1", '{"done":true}'),
        ("c2", "The tool failed: no network"),
        ("c3", "Abandoned: the call was not run, it was given up."),
        ("c4", "mine"),
        ("c5", "bad"),
    ]
    assert [answer.id for answer in answers[3:]] == ["own-1", "own-2"]
    assert tools.ran == []
    assert [e.outcome for e in run.journal.entries("t1") if e.outcome] == [
        CallOutcome.SUCCEEDED,
        CallOutcome.FAILED,
        CallOutcome.ABANDONED,
        CallOutcome.SUCCEEDED,
        CallOutcome.FAILED,
    ]


async def test_a_tool_offered_without_a_handler_waits_for_the_application(tools: Tools) -> None:
    tools.registry.advertise(Tool(name="pick", description="Pick."))
    run = runner(tools.registry, consent=yes)
    run.offer(closed(pending("c1", "pick"), offered=["pick"]))
    await settle(run)
    (held,) = run.open_calls
    assert held.reason is RefusalReason.NO_HANDLER
    with pytest.raises(ToolError, match="no_handler"):
        held.approve()
    held.answer("picked")
    follow = run.next_input()
    assert follow is not None
    assert contents(follow.messages) == [("c1", "picked")]


async def test_a_decided_call_takes_no_other_decision(tools: Tools) -> None:
    run = runner(tools.registry)
    run.offer(closed(pending("c1", "act")))
    (held,) = run.open_calls
    held.decline()
    for decide in (held.approve, held.decline, held.abandon, lambda: held.fail("x"), lambda: held.answer("x")):
        with pytest.raises(ToolError, match="'c1' is answered") as caught:
            decide()
        assert caught.value.code == "call_not_open"
    with pytest.raises(ToolError, match="takes no decision"):
        run.answer(ToolMessage(id="x", content="x", tool_call_id="c9"))
    run.take_answers()
    with pytest.raises(ToolError):
        held.approve()


# Interrupts.


def asks(identifier: str, call: str | None = None, **fields: Any) -> Interrupt:
    return Interrupt(id=identifier, reason="tool_call", tool_call_id=call, **fields)


async def test_an_open_interrupt_blocks_its_call_and_no_other(tools: Tools) -> None:
    """assistant-ui 6281: complete arguments plus an open interrupt on that call is no approval."""
    run = runner(tools.registry, consent=yes)
    run.offer(
        closed(
            pending("c1", "look"), pending("c2", "look"), status=RunStatus.INTERRUPTED, interrupts=[asks("i1", "c1")]
        )
    )
    await settle(run)
    assert tools.ran == [("look", {})]
    (held,) = run.open_calls
    assert (held.id, held.reason) == ("c1", RefusalReason.OPEN_INTERRUPT)
    assert run.next_input() is None
    for decide in (held.approve, held.decline, held.abandon):
        with pytest.raises(ToolError, match="answer its interrupt"):
            decide()
    await run.ask_unanswered()
    run.dismiss_open()
    assert held.standing is CallStanding.OPEN


async def test_an_agents_own_call_is_left_to_it_when_it_asks_without_naming_one(tools: Tools) -> None:
    """LangGraph's interrupts name no call: refusing its held call would answer the question for the user."""
    run = runner(tools.registry, consent=yes)
    run.offer(closed(pending("c1", "delete_record"), status=RunStatus.INTERRUPTED, interrupts=[asks("i1")]))
    assert run.open_calls[0].reason is RefusalReason.OPEN_INTERRUPT
    named = runner(tools.registry, consent=yes)
    interrupts = [asks("i1", "c1")]
    named.offer(
        closed(
            pending("c1", "x"), pending("c2", "confirm_changes"), status=RunStatus.INTERRUPTED, interrupts=interrupts
        )
    )
    assert [call.reason for call in named.board.calls] == [RefusalReason.OPEN_INTERRUPT, RefusalReason.UNKNOWN_TOOL]


async def test_answers_and_resume_go_out_in_one_input(tools: Tools) -> None:
    """IR-2: several interrupts at once, beside the answers of the calls that were free to run."""
    seen: list[Sequence[OpenInterrupt]] = []

    async def answer(waiting: Sequence[OpenInterrupt]) -> Mapping[str, InterruptAnswer]:
        seen.append(waiting)
        return {"i2": Cancel(), "i1": Resolve({"approved": True})}

    run = runner(tools.registry, consent=yes, answer_interrupts=answer)
    run.offer(
        closed(
            pending("c1", "delete"),
            pending("c2", "look"),
            status=RunStatus.INTERRUPTED,
            interrupts=[asks("i1", "c1"), asks("i2", "c3")],
        )
    )
    await settle(run)
    follow = run.next_input()
    assert follow is not None
    assert contents(follow.messages) == [("c2", "look of t1/r1/c2")]
    assert follow.resume is not None
    assert [(e.interrupt_id, e.status, e.payload) for e in follow.resume] == [
        ("i1", "resolved", {"approved": True}),
        ("i2", "cancelled", None),
    ]
    assert [interrupt.id for interrupt in seen[0]] == ["i1", "i2"]
    assert run.board.left_to_the_agent == {"c1"}


@pytest.mark.parametrize("answers", [None, {"i1": Resolve(1)}], ids=["nobody answers", "one is missing"])
async def test_interrupts_left_open_let_the_thread_rest(tools: Tools, answers: Any) -> None:
    run = runner(tools.registry, answer_interrupts=lambda _: answers)
    run.offer(closed(status=RunStatus.INTERRUPTED, interrupts=[asks("i1"), asks("i2")]))
    if answers is None:
        await settle(run)
    else:
        with pytest.raises(InterruptError, match="'i2' has no answer"):
            await settle(run)
    assert run.next_input() is None


async def test_a_schema_that_cannot_judge_is_told(tools: Tools) -> None:
    run = runner(tools.registry, answer_interrupts=lambda _: {"i1": Resolve(1)})
    run.offer(closed(status=RunStatus.INTERRUPTED, interrupts=[asks("i1", response_schema={"type": "x"})]))
    await settle(run)
    assert [note.code for note in run.take_diagnostics()] == ["response_schema_unusable"]
    assert run.next_input() is not None


def resumed(status: str) -> ResumeEntry:
    return ResumeEntry(interrupt_id="i1", status=status)


async def test_a_blocked_call_that_the_agent_answered_is_done(tools: Tools) -> None:
    run = runner(tools.registry, consent=yes)
    run.offer(closed(pending("c1", "delete"), status=RunStatus.INTERRUPTED, interrupts=[asks("i1", "c1")]))
    run.offer(closed(resumed=[resumed("resolved")]))
    assert run.board.calls == []


@pytest.mark.parametrize(
    ("status", "ran"),
    [("resolved", [("look", {})]), ("cancelled", [])],
)
async def test_a_blocked_call_that_the_agent_left_to_us(tools: Tools, status: str, ran: list[Any]) -> None:
    """Its run closed as interrupted and no interrupt is open on it any more; an abandoned one is not run."""
    run = runner(tools.registry, consent=yes)
    run.offer(closed(pending("c1", "look"), status=RunStatus.INTERRUPTED, interrupts=[asks("i1", "c1")]))
    run.offer(closed(unanswered=["c1"], offered=["look"], resumed=[resumed(status)]))
    await settle(run)
    assert tools.ran == ran
    (message,) = run.take_answers()
    assert (message.error is None) is bool(ran)


async def test_a_resume_that_failed_leaves_the_interrupt_open(tools: Tools) -> None:
    run = runner(tools.registry, consent=yes)
    interrupts = [asks("i1", "c1")]
    run.offer(closed(pending("c1", "look"), status=RunStatus.INTERRUPTED, interrupts=interrupts))
    run.offer(closed(status=RunStatus.FAILED, unanswered=["c1"], interrupts=interrupts, resumed=[resumed("resolved")]))
    await settle(run)
    assert run.open_calls[0].reason is RefusalReason.OPEN_INTERRUPT
    assert tools.ran == []


@pytest.mark.parametrize(
    ("restated", "reason"),
    [
        ('{"n": 7}{"n": 7}', None),
        ('{"n": 7}{ "n":7 }', None),
        ('{"n":7}', None),
        ('{"n": 7}', None),
        ('{"n": 7}{"n": 8}', RefusalReason.RESTATED_CALL),
        ('{"n": 8}', RefusalReason.RESTATED_CALL),
        ('{"n": 7}{"n', RefusalReason.RESTATED_CALL),
    ],
)
async def test_a_call_restated_on_resume_runs_from_one_statement_or_not_at_all(
    tools: Tools, restated: str, reason: RefusalReason | None
) -> None:
    """LangGraph restates a held call with its full arguments, and the text doubles."""
    run = runner(tools.registry, consent=yes)
    run.offer(closed(pending("c1", "act", '{"n": 7}'), status=RunStatus.INTERRUPTED, interrupts=[asks("i1", "c1")]))
    run.offer(closed(pending("c1", "act", restated, run="r2"), resumed=[resumed("resolved")]))
    (held,) = run.board.calls
    await settle(run)
    assert held.reason is reason
    assert tools.ran == ([] if reason else [("act", {"n": 7})])


# Follow-ups.


@pytest.mark.parametrize(
    ("options", "consent", "arguments", "follows"),
    [
        ({"follow_up": False, "side_effects": False}, None, "{}", False),
        ({"follow_up": True, "side_effects": False}, None, "{}", True),
        ({"follow_up": False}, False, "{}", False),
        ({"follow_up": True}, False, "{}", True),
        ({"follow_up": False, "side_effects": False}, None, "[]", True),
    ],
    ids=["terminal", "follows", "terminal, declined", "declined", "terminal, but to be mended"],
)
async def test_whether_an_answer_starts_another_run(
    tools: Tools, options: dict[str, Any], consent: Any, arguments: str, follows: bool
) -> None:
    """FT-7: a chart is terminal; the answer is recorded and sent either way."""
    tools.add("slow", **options)
    run = runner(tools.registry, consent=None if consent is None else lambda _: consent)
    run.offer(closed(pending("c1", "slow", arguments)))
    await settle(run)
    follow = run.next_input()
    assert (follow is not None) is follows
    assert len(follow.messages if follow else run.take_answers()) == 1


async def test_an_abandoned_call_starts_no_run(tools: Tools) -> None:
    run = runner(tools.registry)
    run.offer(closed(pending("c1", "act")))
    run.open_calls[0].abandon()
    assert run.next_input() is None


async def test_follow_ups_are_bounded_and_the_reason_is_said(tools: Tools) -> None:
    """CopilotKit 2416: a tool that is called again and again does not go on for ever."""
    run = runner(tools.registry, max_follow_ups=2)
    run.user_speaks()
    for number in range(3):
        run.offer(closed(pending(f"c{number}", "look", run=f"r{number}")))
        await settle(run)
        assert (run.next_input() is not None) is (number < 2)
    (note,) = run.take_diagnostics()
    assert (note.code, note.path) == ("follow_up_limit", "t1")
    assert "2 runs followed one another" in note.message
    assert len(run.take_answers()) == 1
    run.user_speaks()
    run.offer(closed(pending("c9", "look", run="r9")))
    await settle(run)
    assert run.next_input() is not None


# Before the user's next word.


async def test_open_calls_are_declined_before_the_user_goes_on(tools: Tools) -> None:
    """FT-3."""
    run = runner(tools.registry)
    run.offer(closed(pending("c1", "act"), pending("c2", "act")))
    run.open_calls[1].approve()
    await run.ask_unanswered()
    run.dismiss_open()
    await settle(run)
    assert contents(run.take_answers()) == [
        (
            "c1",
            "The call was declined; it was not run. Reason given: the user went on without deciding",
        ),
        ("c2", "act of t1/r1/c2"),
    ]


async def test_unless_the_application_says_otherwise(tools: Tools) -> None:
    def rule(call: OpenCall) -> None:
        if call.id == "c1":
            call.answer("the application knew")

    run = runner(tools.registry, unanswered=rule)
    run.offer(closed(pending("c1", "act"), pending("c2", "act")))
    await run.ask_unanswered()
    run.dismiss_open()
    messages = run.take_answers()
    assert messages[0].content == "the application knew"
    assert str(messages[1].error).startswith("declined: ")


async def test_a_call_of_a_truncated_run_is_then_abandoned(tools: Tools) -> None:
    run = runner(tools.registry)
    run.offer(closed(pending("c1", "look"), status=RunStatus.TRUNCATED))
    await run.ask_unanswered()
    run.dismiss_open()
    assert contents(run.take_answers()) == [
        ("c1", "Abandoned: the call was not run, the stream broke off before its run ended.")
    ]


# In parallel, in order.


async def test_independent_calls_run_in_parallel(tools: Tools) -> None:
    """Each waits for the other to have begun: one after the other would never end."""
    barrier = asyncio.Barrier(2)

    async def meet(arguments: dict[str, Any]) -> str:
        await barrier.wait()
        return "met"

    tools.registry.declare("slow", "Slow.", {}, meet, side_effects=False, deadline=BOUND)
    run = runner(tools.registry)
    run.offer(closed(pending("c1", "slow"), pending("c2", "slow")))
    await settle(run)
    assert contents(run.take_answers()) == [("c1", "met"), ("c2", "met")]


async def test_an_exclusive_call_runs_alone_and_in_call_order(tools: Tools) -> None:
    running: set[str] = set()
    alone: list[tuple[str, frozenset[str]]] = []

    def handler(name: str) -> Any:
        async def work(arguments: dict[str, Any], ctx: ToolContext) -> str:
            running.add(ctx.call_id)
            for _ in range(5):
                await asyncio.sleep(0)
                alone.append((ctx.call_id, frozenset(running)))
            running.remove(ctx.call_id)
            return name

        return work

    tools.registry.declare("slow", "Slow.", {}, handler("slow"), side_effects=False)
    tools.registry.declare("first", "First.", {}, handler("first"), side_effects=False, exclusive=True)
    run = runner(tools.registry)
    names = ["slow", "slow", "first", "slow", "first", "first"]
    run.offer(closed(*(pending(f"c{n}", name) for n, name in enumerate(names))))
    updates = await settle(run)
    for call, beside in alone:
        assert len(beside) == 1 or beside <= {"c0", "c1"}, (call, beside)
    order = [call for event, call in happened(updates) if event == "answered"]
    assert sorted(order[:2]) == ["c0", "c1"]
    assert order[2:] == ["c2", "c3", "c4", "c5"]
    assert [m.tool_call_id for m in run.take_answers()] == [f"c{n}" for n in range(6)]


async def test_a_tool_runs_while_the_user_is_asked_about_the_next(tools: Tools) -> None:
    done = asyncio.Event()

    async def work(arguments: dict[str, Any]) -> str:
        done.set()
        return "done"

    async def ask(_: ConsentRequest) -> bool:
        await asyncio.wait_for(done.wait(), BOUND)
        return True

    tools.registry.declare("slow", "Slow.", {}, work, side_effects=False)
    run = runner(tools.registry, consent=ask)
    run.offer(closed(pending("c1", "slow"), pending("c2", "act")))
    await settle(run)
    assert len(run.take_answers()) == 2


# Stopping.


class Hanging:
    """A tool that begins and never ends."""

    def __init__(self, tools: Tools, **options: Any) -> None:
        self.begun = asyncio.Event()

        async def hang(arguments: dict[str, Any], ctx: ToolContext) -> str:
            self.begun.set()
            await asyncio.Event().wait()
            return "never"

        tools.registry.declare("slow", "Slow.", {}, hang, **options)


@pytest.mark.parametrize(
    ("options", "outcome"),
    [
        ({"side_effects": False}, CallOutcome.CANCELLED),
        ({"consent": lambda _: False}, CallOutcome.EFFECT_UNKNOWN),
    ],
)
@pytest.mark.parametrize("how", ["stop", "close", "cancel"])
async def test_stop_stops_the_tools(tools: Tools, how: str, options: dict[str, Any], outcome: CallOutcome) -> None:
    """By the user, by closing, by cancellation: what ran is answered honestly, what did not run did not happen."""
    hanging = Hanging(tools, exclusive=True, **options)
    run = runner(tools.registry)
    run.offer(closed(pending("c1", "slow"), pending("c2", "look"), pending("c3", "act")))

    async def read() -> None:
        async with aclosing(run.settle()) as updates:
            async for _ in updates:
                if how == "close" and hanging.begun.is_set():
                    break

    reading = asyncio.create_task(read())
    await hanging.begun.wait()
    if how == "stop":
        run.stop()
    elif how == "cancel":
        reading.cancel()
    else:
        run.open_calls[0].decline()  # something to be told, so that the reader wakes up
    await asyncio.wait({reading}, timeout=BOUND)
    assert reading.done()
    assert run.next_input() is None
    answers = {e.call_id: e.outcome for e in run.journal.entries("t1") if e.event is JournalEvent.ANSWERED}
    assert (answers["c1"], answers["c2"]) == (outcome, CallOutcome.CANCELLED)
    assert tools.ran == []
    if how != "close":
        assert [call.id for call in run.open_calls] == ["c3"]


async def test_stopping_what_does_not_run_changes_nothing(tools: Tools) -> None:
    run = runner(tools.registry)
    run.stop()
    run.offer(closed(pending("c1", "look")))
    await settle(run)
    assert len(run.take_answers()) == 1


async def test_calls_are_settled_by_one_at_a_time(tools: Tools) -> None:
    hanging = Hanging(tools, side_effects=False)
    run = runner(tools.registry)
    run.offer(closed(pending("c1", "slow")))
    reading = asyncio.create_task(settle(run))
    await hanging.begun.wait()
    with pytest.raises(ToolError) as caught:
        await settle(run)
    assert caught.value.code == "runner_busy"
    run.stop()
    await reading


# Never twice.


class Failing(MemoryJournal):
    """A journal whose disk is full for one kind of entry."""

    def __init__(self, event: JournalEvent) -> None:
        super().__init__()
        self._event = event

    def add(self, entry: JournalEntry) -> bool:
        if entry.event is self._event:
            raise JournalError("the disk is full", code="journal_unwritable")
        return super().add(entry)


async def test_nothing_runs_that_cannot_be_written_down(tools: Tools) -> None:
    run = runner(tools.registry, journal=Failing(JournalEvent.STARTED))
    run.offer(closed(pending("c1", "look")))
    with pytest.raises(JournalError, match="disk is full"):
        await settle(run)
    assert tools.ran == []


async def test_an_answer_that_cannot_be_written_down_is_not_lost(tools: Tools) -> None:
    run = runner(tools.registry, journal=Failing(JournalEvent.ANSWERED))
    run.offer(closed(pending("c1", "look")))
    with pytest.raises(JournalError, match="disk is full"):
        await settle(run)
    assert contents(run.take_answers()) == [("c1", "look of t1/r1/c1")]


async def test_a_call_that_another_process_started_is_not_run_here(tools: Tools) -> None:
    """FT-8: the claim decides, even when it is lost at the last moment."""
    journal = MemoryJournal()
    run = runner(tools.registry, journal=journal)
    run.offer(closed(pending("c1", "act"), pending("c2", "act")))
    for held in run.open_calls:
        held.approve()
    elsewhere = JournalEntry("t1", "c1", JournalEvent.STARTED, datetime.now(UTC))
    journal.add(elsewhere)
    done = JournalEntry(
        "t1",
        "c2",
        JournalEvent.ANSWERED,
        datetime.now(UTC),
        message={"id": "theirs", "role": "tool", "content": "done there", "toolCallId": "c2"},
    )
    journal.add(done)
    await settle(run)
    assert tools.ran == []
    (held,) = run.open_calls
    assert (held.id, held.reason) == ("c1", RefusalReason.MAY_HAVE_HAPPENED)
    assert contents(run.take_answers()) == [("c2", "done there")]


async def test_a_claim_lost_between_the_gate_and_the_journal(tools: Tools) -> None:
    class Racing(MemoryJournal):
        def add(self, entry: JournalEntry) -> bool:
            if entry.event is JournalEvent.STARTED:
                super().add(entry)  # another process was faster by a moment
            return super().add(entry)

    run = runner(tools.registry, journal=Racing())
    run.offer(closed(pending("c1", "look")))
    await settle(run)
    assert tools.ran == []
    assert run.open_calls[0].reason is RefusalReason.MAY_HAVE_HAPPENED


async def test_of_two_answers_the_first_on_record_stands(tools: Tools) -> None:
    journal = MemoryJournal()
    run = runner(tools.registry, journal=journal)
    run.offer(closed(pending("c1", "act")))
    message = {"id": "theirs", "role": "tool", "content": "answered there", "toolCallId": "c1"}
    journal.add(JournalEntry("t1", "c1", JournalEvent.ANSWERED, datetime.now(UTC), message=message))
    run.open_calls[0].answer("answered here")
    assert contents(run.take_answers()) == [("c1", "answered there")]


async def test_a_call_stated_again_after_its_answer_is_answered_again_and_not_run(tools: Tools) -> None:
    """CopilotKit 3169, PR 6294: replays, reconnects and forgetful snapshots run nothing."""
    run = runner(tools.registry, consent=yes)
    run.offer(closed(pending("c1", "act")))
    await settle(run)
    first = run.take_answers()
    run.offer(closed(pending("c1", "act", run="r2")))
    updates = await settle(run)
    assert happened(updates) == [("offered", "c1")]
    assert run.take_answers() == first
    assert tools.ran == [("act", {})]


# After a restart.


async def rerun(tools: Tools, journal: MemoryJournal, *calls: tuple[str, str, str], **options: Any) -> Any:
    run = runner(tools.registry, journal=journal, **options)
    run.restore([holder(*calls)])
    return run


async def test_what_was_offered_is_offered_again(tools: Tools) -> None:
    journal = MemoryJournal()
    runner(tools.registry, journal=journal).offer(closed(pending("c1", "act", '{"n": 1}'), pending("c2", "look")))
    again = await rerun(tools, journal, ("c1", "act", '{"n": 1}'), ("c2", "look", "{}"), consent=yes)
    assert [call.decision.verdict for call in again.open_calls] == [Verdict.ASK, Verdict.EXECUTE]
    await settle(again)
    assert sorted(tools.ran) == [("act", {"n": 1}), ("look", {})]


async def test_consent_given_before_the_restart_counts_for_the_same_arguments_only(tools: Tools) -> None:
    journal = MemoryJournal()
    before = runner(tools.registry, journal=journal)
    before.offer(closed(pending("c1", "act", '{"n": 1}'), pending("c2", "act", '{"n": 1}')))
    before.open_calls[0].approve()
    before.open_calls[0].approve({"n": 2})
    again = await rerun(tools, journal, ("c1", "act", '{"n": 1}'), ("c2", "act", '{"n": 1}'))
    assert [call.decision.verdict for call in again.open_calls] == [Verdict.EXECUTE, Verdict.ASK]
    await settle(again)
    assert tools.ran == [("act", {"n": 1})]


async def test_what_was_started_may_already_have_happened(tools: Tools) -> None:
    """It does not run again, not even when the user says so; a fresh decision says what became of it."""
    journal = MemoryJournal()
    before = runner(tools.registry, journal=journal)
    before.offer(closed(*(pending(f"c{n}", "act") for n in range(1, 5))))
    for held in list(before.open_calls):
        held.approve()
        assert before.board.start(held)
    again = await rerun(tools, journal, *((f"c{n}", "act", "{}") for n in range(1, 5)), consent=yes)
    await settle(again)
    assert tools.ran == []
    assert {call.reason for call in again.open_calls} == {RefusalReason.MAY_HAVE_HAPPENED}
    one, two, three, _ = again.open_calls
    with pytest.raises(ToolError, match="may_have_happened"):
        one.approve()
    one.answer("I looked: it was done")
    two.decline("do not try again")
    three.abandon()
    again.dismiss_open()
    messages = again.take_answers()
    assert messages[0].content == "I looked: it was done"
    for message in messages[1:]:
        assert "Effect unknown: the tool was started" in str(message.content)
    assert tools.ran == []


async def test_no_answer_is_lost(tools: Tools) -> None:
    journal = MemoryJournal()
    before = runner(tools.registry, journal=journal, consent=yes)
    before.offer(closed(pending("c1", "act"), pending("c2", "nope")))
    await settle(before)
    expected = before.take_answers()
    again = await rerun(tools, journal, ("c1", "act", "{}"), ("c2", "nope", "{}"))
    await settle(again)
    assert again.take_answers() == expected
    assert tools.ran == [("act", {})]


@pytest.mark.parametrize("event", [JournalEvent.DECLINED, JournalEvent.ABANDONED])
async def test_a_no_survives_the_restart(tools: Tools, event: JournalEvent) -> None:
    """Written down, and then the process died before the answer was."""
    journal = MemoryJournal()
    runner(tools.registry, journal=journal).offer(closed(pending("c1", "act")))
    journal.add(JournalEntry("t1", "c1", event, datetime.now(UTC), reason="too dear"))
    again = await rerun(tools, journal, ("c1", "act", "{}"), consent=yes)
    await settle(again)
    assert tools.ran == []
    (message,) = again.take_answers()
    assert str(message.error).startswith(f"{event.value}: ")


async def test_a_call_the_journal_does_not_know_counts_as_truncated(tools: Tools) -> None:
    """The process died before its run closed, so nobody knows how it ended."""
    again = await rerun(tools, MemoryJournal(), ("c1", "look", "{}"), consent=yes)
    await settle(again)
    assert again.open_calls[0].reason is RefusalReason.RUN_TRUNCATED
    assert tools.ran == []


async def test_an_interrupt_that_was_open_still_blocks_its_call(tools: Tools) -> None:
    journal = MemoryJournal()
    interrupts = [asks("i1", "c1")]
    runner(tools.registry, journal=journal).offer(
        closed(pending("c1", "look"), status=RunStatus.INTERRUPTED, interrupts=interrupts)
    )
    again = await rerun(tools, journal, ("c1", "look", "{}"))
    await settle(again)
    assert again.open_calls[0].reason is RefusalReason.OPEN_INTERRUPT


async def test_only_what_is_unanswered_is_taken_up(tools: Tools) -> None:
    run = runner(tools.registry)
    answered = ToolMessage(id="x", content="ok", tool_call_id="c1")
    run.restore([holder(("c1", "look", "{}")), answered, holder(("c2", "look", "{}")), holder(("c2", "look", "{}"))])
    assert [call.id for call in run.open_calls] == ["c2"]


# The history.


async def test_a_lost_answer_goes_out_again_and_a_dangling_call_is_given_up(tools: Tools) -> None:
    """FT-3: told once, though it is repaired in every input."""
    run = runner(tools.registry, consent=yes)
    run.offer(closed(pending("c1", "act")))
    await settle(run)
    (given,) = run.take_answers()
    history = [holder(("c1", "act", "{}"), ("c2", "gone", "{}"))]
    messages, added = run.check_history(history)
    assert messages[1] == given
    assert "Abandoned" in str(added[1].content)
    assert [note.code for note in run.take_diagnostics()] == ["answer_resent", "call_abandoned"]
    messages_again, _ = run.check_history(history)
    assert messages_again == messages
    assert [note.code for note in run.take_diagnostics()] == ["answer_resent"]
    recorded = run.journal.record("t1", "c2").answered
    assert recorded is not None
    assert (recorded.outcome, recorded.tool) == (CallOutcome.ABANDONED, "gone")


async def test_a_dangling_call_that_was_started_is_of_unknown_effect(tools: Tools) -> None:
    journal = MemoryJournal()
    journal.add(JournalEntry("t1", "c1", JournalEvent.STARTED, datetime.now(UTC)))
    run = runner(tools.registry, journal=journal)
    _, added = run.check_history([holder(("c1", "act", "{}"))])
    assert "Effect unknown" in str(added[0].content)


def test_tool_updates_stand_in_one_row_with_the_streams(tools: Tools) -> None:
    run = runner(tools.registry)
    run.offer(closed(pending("c1", "nope")))
    offered, answered = run.board.updates
    assert (offered.event, offered.delta, offered.tool_call, offered.message_id) == (None, None, None, None)
    assert offered.diagnostics == ()
    assert answered.message_id == "answer-1"


async def test_tools_offered_to_one_run_alone(tools: Tools) -> None:
    run = runner(tools.registry)
    only = ToolRegistry()
    only.declare("extra", "Extra.", {}, lambda _: "extra", side_effects=False)
    run.user_speaks(only)
    run.offer(closed(pending("c1", "extra"), pending("c2", "look"), offered=["extra"]))
    await settle(run)
    messages = run.take_answers()
    assert messages[0].content == "extra"
    assert str(messages[1].error).startswith("tool_not_offered: ")
    run.user_speaks()
    run.offer(closed(pending("c3", "extra"), offered=["extra"]))
    assert run.board.calls[0].reason is RefusalReason.UNKNOWN_TOOL
