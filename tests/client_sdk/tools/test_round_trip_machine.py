"""The round trip under everything that can happen to it, in any order (FT-2 to FT-8, IR-2).

Runs end in every way, handlers succeed, fail, hang and are stopped, snapshots
forget answers, the user goes on, decides, or does not, and the process dies and
the journal is opened again. Always: no call starts twice, every answered call has
one answer, no answer crosses threads, and no input goes out with a gap.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from ag_ui.core import (
    AssistantMessage,
    FunctionCall,
    Interrupt,
    Message,
    ResumeEntry,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from client_sdk.errors import JournalError, ToolError
from client_sdk.tools import (
    CallStanding,
    JournalEntry,
    JournalEvent,
    OpenCall,
    SqliteJournal,
    ToolContext,
    ToolRegistry,
    Verdict,
)
from client_sdk.tools.calls import ClosedRun, PendingCall, RunStatus
from client_sdk.tools.runner import ToolRunner
from tests.client_sdk.tools.support import BOUND

NAMES = ("look", "act", "alone", "absent", "hidden", "by_hand")
BEHAVIOURS = ("ok", "fail", "hang")
TEXTS = ('{{"do": "{}"}}', '{{"do": "{}"', '["{}"]', '{{"do": 5, "x": "{}"}}')
WELL = (RunStatus.COMPLETED, RunStatus.INTERRUPTED)


def often(usual: Any, *others: Any, times: int = 4) -> st.SearchStrategy[Any]:
    """Mostly `usual`: a machine that refuses everything proves nothing."""
    return st.sampled_from((usual,) * times + others)


threads = st.sampled_from(("t1", "t2"))
statuses = often(RunStatus.COMPLETED, *RunStatus)
proposals = st.lists(
    st.tuples(
        st.sampled_from(("look", "look", "act", "act", "act", "alone", "alone", *NAMES)),
        st.sampled_from(BEHAVIOURS),
        often(TEXTS[0], *TEXTS[1:], times=12),
        often(True, False, times=9),
        st.booleans(),
    ),
    min_size=1,
    max_size=3,
)
endings = st.sampled_from(("rest", "settle", "settle", "approve", "approve", "approve one", "die", "edit and die"))
"""What happens right after a run: nothing, the tools run, the user approves before that, the process dies."""


class Mortal(SqliteJournal):
    """A journal whose process can be dead: then nothing more is written."""

    dead = False

    def add(self, entry: JournalEntry) -> bool:
        if self.dead:
            raise JournalError("the process is dead", code="journal_unwritable")
        return super().add(entry)


@dataclass
class Talk:
    """One thread as an application keeps it."""

    id: str
    history: list[Message] = field(default_factory=list)
    interrupts: list[Interrupt] = field(default_factory=list)
    executable: set[str] = field(default_factory=set)
    """Calls whose run ended well and whose arguments are fit to run."""
    truncated: set[str] = field(default_factory=set)
    consented: dict[str, Any] = field(default_factory=dict)
    """What the user agreed to have run, by call."""
    runs: int = 0


class RoundTrip(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "calls.sqlite"
        self.ids = count(1)
        self.executions: Counter[tuple[str, str]] = Counter()
        self.illegal: list[str] = []
        self.talks = {"t1": Talk("t1"), "t2": Talk("t2")}
        self.hung = asyncio.Event()
        self.registry = self.make_registry()

    def make_registry(self) -> ToolRegistry:
        schema = {"type": "object", "properties": {"do": {"enum": list(BEHAVIOURS)}}, "required": ["do"]}
        registry = ToolRegistry()

        async def handler(arguments: dict[str, Any], ctx: ToolContext) -> str:
            self.executions[ctx.thread_id, ctx.call_id] += 1
            self.judge(ctx, arguments)
            if arguments["do"] == "fail":
                raise RuntimeError("handler failed")
            if arguments["do"] == "hang":
                self.hung.set()
                await asyncio.Event().wait()
            return f"{ctx.thread_id} {ctx.call_id}"

        registry.declare("look", "Look.", schema, handler, side_effects=False, deadline=BOUND)
        registry.declare("act", "Act.", schema, handler, deadline=BOUND)
        registry.declare("alone", "Act alone.", schema, handler, exclusive=True, deadline=BOUND, follow_up=False)
        registry.declare("hidden", "Not offered.", schema, handler)
        registry.advertise(ToolRegistry().declare("by_hand", "By hand.", {}, print).to_tool())
        return registry

    def judge(self, ctx: ToolContext, arguments: dict[str, Any]) -> None:
        """Whether this execution was allowed, by what the world knows and not by what the runner thinks."""
        talk, call = self.talks[ctx.thread_id], ctx.call_id
        agreed = talk.consented.get(call) == arguments
        ended_well = call in talk.executable or (call in talk.truncated and agreed)
        asked_about = any(interrupt.tool_call_id == call for interrupt in talk.interrupts)
        if not ended_well or asked_about or not (agreed or (ctx.tool == "look" and call not in talk.consented)):
            self.illegal.append(f"{ctx.thread_id}/{call} ({ctx.tool} {arguments})")

    @initialize()
    def born(self) -> None:
        self.journal = Mortal(self.path)
        self.runners = {name: self.make_runner(talk) for name, talk in self.talks.items()}

    def make_runner(self, talk: Talk) -> ToolRunner:
        runner = ToolRunner(
            talk.id, self.registry, journal=self.journal, new_id=lambda: f"m{next(self.ids)}", max_follow_ups=3
        )
        runner.restore(talk.history, talk.interrupts)
        return runner

    # What the agent does.

    def send(self, talk: Talk, resume: list[ResumeEntry] | None = None) -> None:
        """An input goes out: the moment at which nothing may dangle."""
        runner = self.runners[talk.id]
        messages, added = runner.check_history(talk.history)
        held = [call.id for m in messages for call in getattr(m, "tool_calls", None) or ()]
        found = [m.tool_call_id for m in messages if isinstance(m, ToolMessage)]
        assert len(found) == len(set(found)), "a call has two answers"
        waiting = {i.tool_call_id for i in talk.interrupts}
        speaks_for = set(held) if None in waiting else {call for call in waiting if call is not None}
        assert set(held) - (speaks_for if resume else set()) <= set(found) <= set(held), "a gap goes out"
        for message in messages:
            if isinstance(message, ToolMessage) and message.error is None and message.content != "by hand":
                assert str(message.content).endswith(f"{talk.id} {message.tool_call_id}"), "an answer crossed over"
        talk.history = [*talk.history, *added]

    def close(self, talk: Talk, made: Any, status: RunStatus, resume: list[ResumeEntry] | None) -> None:
        talk.runs += 1
        run_id = f"{talk.id}-r{talk.runs}"
        calls: list[PendingCall] = []
        asked: list[Interrupt] = []
        for name, behaviour, text, complete, interrupt in made:
            call_id = f"c{next(self.ids)}"
            arguments = text.format(behaviour)
            calls.append(
                PendingCall(
                    id=call_id,
                    name=name,
                    arguments=arguments,
                    complete=complete,
                    message_id=f"holder-{run_id}",
                    subagent_run_id=None,
                    thread_id=talk.id,
                    run_id=run_id,
                )
            )
            fit = text == TEXTS[0] and complete and name in ("look", "act", "alone")
            if interrupt and status is RunStatus.INTERRUPTED:
                asked.append(Interrupt(id=f"i-{call_id}", reason="x", tool_call_id=call_id))
            if fit:
                (talk.executable if status in WELL else talk.truncated).add(call_id)
            if status in (RunStatus.FAILED, RunStatus.CANCELLED, RunStatus.REJECTED):
                talk.truncated.discard(call_id)
        if status is RunStatus.INTERRUPTED and not asked:
            asked.append(Interrupt(id=f"i-{run_id}", reason="x"))
        made_calls = [ToolCall(id=c.id, function=FunctionCall(name=c.name, arguments=c.arguments)) for c in calls]
        talk.history = [*talk.history, AssistantMessage(id=f"holder-{run_id}", tool_calls=made_calls or None)]
        if status in (*WELL, RunStatus.CANCELLED) or not resume:
            talk.interrupts = asked
        answered = {m.tool_call_id for m in talk.history if isinstance(m, ToolMessage)}
        held = {call.id for m in talk.history for call in getattr(m, "tool_calls", None) or ()}
        self.runners[talk.id].offer(
            ClosedRun(
                status=status,
                pending=tuple(calls),
                offered=frozenset({"look", "act", "alone", "by_hand"}),
                interrupts=tuple(talk.interrupts),
                resumed=tuple(resume or ()),
                unanswered=frozenset(held - answered),
            )
        )

    @rule(name=threads, made=proposals, status=statuses, cancel=st.booleans(), then=endings)
    def the_user_says_something(self, name: str, made: Any, status: RunStatus, cancel: bool, then: str) -> None:
        """Everything open is disposed of first, interrupts by resume entries; then the run ends somehow."""
        talk, runner = self.talks[name], self.runners[name]
        resume = [
            ResumeEntry(interrupt_id=i.id, status="cancelled" if cancel else "resolved") for i in talk.interrupts
        ] or None
        runner.user_speaks()
        runner.dismiss_open()
        self.settle(runner)
        assert runner.undecided == []
        talk.history = [*talk.history, *runner.take_answers(), UserMessage(id=f"u{next(self.ids)}", content="go")]
        self.send(talk, resume)
        self.close(talk, made, status, resume)
        self.afterwards(name, then)

    def afterwards(self, name: str, then: str) -> None:
        if then not in ("rest", "settle"):
            for call in self.runners[name].open_calls[: 1 if then == "approve one" else None]:
                self.decide(self.talks[name], call, "edit" if then == "edit and die" else "approve")
        if "die" in then:
            self.the_process_dies(name, then == "die")
        elif then != "rest":
            self.settle(self.runners[name])

    @rule(name=threads, made=proposals, status=statuses, then=endings)
    def the_thread_goes_on_by_itself(self, name: str, made: Any, status: RunStatus, then: str) -> None:
        talk, runner = self.talks[name], self.runners[name]
        self.settle(runner)
        follow = runner.next_input()
        if follow is not None:
            talk.history = [*talk.history, *follow.messages]
            self.send(talk, follow.resume)
            self.close(talk, made, status, follow.resume)
            self.afterwards(name, then)

    @rule(name=threads)
    def a_snapshot_forgets_an_answer(self, name: str) -> None:
        talk = self.talks[name]
        answers = [m for m in talk.history if isinstance(m, ToolMessage)]
        if answers:
            talk.history = [m for m in talk.history if m is not answers[-1]]

    # What the user does.

    @rule(
        name=threads,
        how=st.sampled_from(("approve", "edit", "decline", "answer", "fail", "abandon")),
        pick=st.integers(0, 3),
    )
    def the_user_decides(self, name: str, how: str, pick: int) -> None:
        open_calls = self.runners[name].open_calls
        if open_calls:
            self.decide(self.talks[name], open_calls[pick % len(open_calls)], how)

    def decide(self, talk: Talk, call: OpenCall, how: str) -> None:
        decide = {
            "approve": call.approve,
            "edit": lambda: call.approve({"do": "ok"}),
            "decline": call.decline,
            "answer": lambda: call.answer("by hand"),
            "fail": lambda: call.fail("by hand"),
            "abandon": call.abandon,
        }[how]
        with contextlib.suppress(ToolError):
            decide()
            if how in ("approve", "edit"):
                talk.consented[call.id] = {"do": "ok"} if how == "edit" else call.arguments

    # What the tools do.

    def settle(self, runner: ToolRunner) -> None:
        """Settle; what hangs is stopped once everything else has come to its end."""
        self.loop.run(self._settle(runner))

    async def _settle(self, runner: ToolRunner, *, dies: bool = False) -> None:
        self.hung.clear()
        reading = asyncio.ensure_future(self._read(runner))
        hung = asyncio.ensure_future(self.hung.wait())
        await asyncio.wait({reading, hung}, return_when=asyncio.FIRST_COMPLETED, timeout=BOUND)
        if not reading.done():
            self.journal.dead = dies
            runner.stop()
        hung.cancel()
        await asyncio.wait({reading, hung}, timeout=BOUND)
        assert reading.done(), "settling never ended"
        with contextlib.suppress(JournalError):
            reading.result()

    async def _read(self, runner: ToolRunner) -> None:
        async for _ in runner.settle():
            pass

    @rule(name=threads)
    def the_tools_run(self, name: str) -> None:
        self.settle(self.runners[name])

    @rule(name=threads, at_work=st.booleans())
    def the_process_dies(self, name: str, at_work: bool) -> None:
        """In the middle of whatever hangs, or at rest: what was not written down is gone."""
        if at_work:
            self.loop.run(self._settle(self.runners[name], dies=True))
        self.journal.dead = True
        self.journal.close()
        self.born()

    # What always holds.

    @invariant()
    def no_call_starts_twice(self) -> None:
        assert all(times == 1 for times in self.executions.values())

    @invariant()
    def nothing_runs_that_may_not(self) -> None:
        assert self.illegal == []

    @invariant()
    def every_call_has_one_start_and_one_answer_on_record(self) -> None:
        for name in self.talks:
            entries = Counter((e.call_id, e.event) for e in self.journal.entries(name))
            for (_, event), times in entries.items():
                assert times == 1 or event not in (JournalEvent.STARTED, JournalEvent.ANSWERED)

    @invariant()
    def what_is_answered_is_answered_and_what_is_open_says_why(self) -> None:
        for runner in self.runners.values():
            for call in runner.board.calls:
                assert (call.message is not None) is (call.standing is CallStanding.ANSWERED)
                assert call.standing is not CallStanding.RUNNING
                if call.decision.verdict in (Verdict.HOLD, Verdict.REFUSE):
                    assert call.reason is not None

    def teardown(self) -> None:
        if hasattr(self, "journal"):
            self.journal.close()
        self.loop.close()
        self.folder.cleanup()


TestRoundTrip = RoundTrip.TestCase
TestRoundTrip.settings = settings(max_examples=80, stateful_step_count=40)
