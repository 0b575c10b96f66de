"""What peers get wrong, stream by stream over a real connection: each row of the comparison, each public report."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from ag_ui.core import ImagePart, TextPart, UserMessage

from client_sdk.agent import HttpAgent, Thread
from client_sdk.errors import InputError, InterruptError, OptionError, ProtocolError, ToolError
from client_sdk.interrupts import OpenInterrupt, Resolve, build_resume
from client_sdk.legacy import flatten
from client_sdk.protocol.runs import RunStatus
from client_sdk.tools import (
    CallOutcome,
    JournalEvent,
    MemoryJournal,
    OpenCall,
    RefusalReason,
    SqliteJournal,
    ToolRegistry,
    ToolUpdate,
)
from tests.client_sdk.servers import Reset, Until, serve
from tests.client_sdk.tools.streams import (
    DONE,
    agent_of,
    calls,
    failed,
    finished,
    frame,
    interrupts,
    result,
    run_of,
    says,
    script,
    snapshot,
    started,
)

IMAGE: dict[str, Any] = {"type": "image", "source": {"type": "data", "value": "aGk=", "mimeType": "image/png"}}


class Tools:
    """A registry of one tool that needs no consent and one that does; what they ran with is written down."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, Any]] = []
        self.registry = ToolRegistry()

        @self.registry.tool(side_effects=False)
        def look(path: str = "") -> str:
            """Look at a path."""
            self.ran.append(("look", path))
            return f"looked at {path}"

        @self.registry.tool
        def act(path: str = "") -> str:
            """Act on a path."""
            self.ran.append(("act", path))
            return f"acted on {path}"


@pytest.fixture
def tools() -> Tools:
    return Tools()


def options(tools: Tools, **more: Any) -> dict[str, Any]:
    return {"id": "t1", "tools": tools.registry, "consent": lambda _: True, **more}


def texts(thread: Thread) -> list[str]:
    return [m.content for m in thread.messages if m.role == "assistant" and isinstance(m.content, str)]


# The comparison, row by row.


@pytest.mark.parametrize("end", [[], [Reset()]], ids=["the stream ends", "the connection breaks"])
async def test_a_complete_call_and_then_the_connection_drops(tools: Tools, end: list[Any]) -> None:
    """TR-1, TR-2: truncated, nothing is executed, the call stays open, the user is offered run or decline."""
    async with agent_of(script(started(), calls("c1", "look", '{"path": "a"}'), *end), DONE) as (agent, wire):
        thread = agent.thread(**options(tools))
        outcome = await thread.run("go")
        assert outcome.status is RunStatus.TRUNCATED
        assert (tools.ran, len(wire.inputs)) == ([], 1)
        assert [call.id for call in outcome.pending_tool_calls] == ["c1"]
        (held,) = thread.open_calls
        assert held.reason is RefusalReason.RUN_TRUNCATED
        held.approve()
        await thread.run()
        assert tools.ran == [("look", "a")]
        assert wire.answers()["c1"]["content"] == "looked at a"
        wire.check_pairing()


async def test_a_truncated_call_that_nobody_decided_is_abandoned_when_the_user_goes_on(tools: Tools) -> None:
    """FT-3, TR-1."""
    async with agent_of(script(started(), calls("c1", "look")), DONE) as (agent, wire):
        thread = agent.thread(**options(tools))
        await thread.run("go")
        await thread.run("never mind")
        assert tools.ran == []
        assert wire.answers()["c1"]["error"].startswith("abandoned: ")
        assert [m["role"] for m in wire.inputs[1]["messages"]] == ["user", "assistant", "tool", "user"]


async def test_a_complete_call_and_then_run_error(tools: Tools) -> None:
    """LC-6: failed, nothing is executed."""
    async with agent_of(script(started(), calls("c1", "look"), failed()), DONE) as (agent, wire):
        thread = agent.thread(**options(tools))
        assert (await thread.run("go")).status is RunStatus.FAILED
        assert (tools.ran, len(wire.inputs)) == ([], 1)
        await thread.run("again")
        assert wire.answers()["c1"]["error"].startswith("run_failed: ")
        assert tools.ran == []


async def test_a_call_and_an_unanswered_interrupt_on_that_call(tools: Tools) -> None:
    """IR-2: an open interrupt blocks its call; the approval is not bypassed."""
    asks = interrupts({"id": "i1", "toolCallId": "c1"})
    async with agent_of(run_of(calls("c1", "look"), outcome=asks), run_of(result("c1", "done there"))) as (agent, wire):
        thread = agent.thread(**options(tools))
        assert (await thread.run("go")).status is RunStatus.INTERRUPTED
        assert (tools.ran, len(wire.inputs)) == ([], 1)
        with pytest.raises(InterruptError) as caught:
            await thread.run("just go on")
        assert (caught.value.code, caught.value.ids) == ("interrupt_uncovered", ("i1",))
        assert len(wire.inputs) == 1
        await thread.run(resume=[{"interruptId": "i1", "status": "resolved", "payload": True}])  # type: ignore[list-item]
        assert tools.ran == []
        assert thread.open_calls == []
        assert [m.content for m in thread.messages if m.role == "tool"] == ["done there"]


async def test_interleaved_arguments_of_two_calls(tools: Tools) -> None:
    """ST-5: both complete, both run."""
    one, two = calls("c1", "look", '{"path": "a"}'), calls("c2", "look", '{"path": "b"}')
    interleaved = [event for pair in zip(one, two, strict=True) for event in pair]
    async with agent_of(run_of(interleaved), DONE) as (agent, wire):
        await agent.thread(**options(tools)).run("go")
        assert sorted(tools.ran) == [("look", "a"), ("look", "b")]
        assert list(wire.answers()) == ["c1", "c2"]


async def test_a_call_to_an_unregistered_name(tools: Tools) -> None:
    """FT-4, FT-6; CopilotKit 2504: answered with an error, the thread goes on."""
    async with agent_of(run_of(calls("c1", "open_the_pod_bay_doors")), DONE) as (agent, wire):
        thread = agent.thread(**options(tools))
        assert (await thread.run("go")).status is RunStatus.COMPLETED
        assert wire.answers()["c1"]["error"].startswith("unknown_tool: ")
        assert "Tools offered: act, look" in wire.answers()["c1"]["content"]
        assert texts(thread)[-1] == "done"


@pytest.mark.parametrize("text", ['{"path":', '{"path": 5}', "[1]", '{"path": "a"}}', '{"path": NaN}'])
async def test_malformed_arguments(tools: Tools, text: str) -> None:
    """TC-3, FT-5; TanStack 1131: not run, the answer says what is wrong, the model mends it."""
    mended = run_of(calls("c2", "look", '{"path": "a"}'))
    async with agent_of(run_of(calls("c1", "look", text)), mended, DONE) as (agent, wire):
        thread = agent.thread(**options(tools))
        await thread.run("go")
        assert tools.ran == [("look", "a")]
        assert wire.answers(1)["c1"]["error"].startswith("arguments_")
        assert "was not run" in wire.answers(1)["c1"]["content"]
        wire.check_pairing()


async def test_half_characters_do_not_end_the_thread(tools: Tools) -> None:
    """What a model sent, quoted in an answer or handed back by a tool, can always be sent (FT-4)."""
    tools.registry.declare("hand_back", "Hand back.", {}, lambda _: "half \ud83d", side_effects=False)
    part = TextPart(text="half \ud83d")
    tools.registry.declare("hand_over", "Hand over.", {}, lambda _: [part], side_effects=False)

    def complain(_: dict[str, Any]) -> None:
        raise ValueError("half \ud83d")

    tools.registry.declare("complain", "Complain.", {}, complain, side_effects=False)
    half = '{"\\ud83d": "\\ud83d"}'
    run = run_of(calls("c1", "look", half), calls("c2", "hand_back"), calls("c3", "complain"), calls("c4", "hand_over"))
    async with agent_of(run, DONE) as (agent, wire):
        assert (await agent.thread(**options(tools)).run("go")).status is RunStatus.COMPLETED
        told = wire.answers()
        assert "half of a UTF-16 surrogate pair" in told["c1"]["content"]
        assert told["c2"]["content"] == "half \ufffd"
        assert told["c3"]["error"] == "failed: half \ufffd"
        assert told["c4"]["content"] == [{"type": "text", "text": "half \ufffd"}]


async def test_a_handler_that_raises_the_packages_own_error_has_failed(tools: Tools) -> None:
    def complain(_: dict[str, Any]) -> None:
        raise ToolError("no such customer")

    tools.registry.declare("complain", "Complain.", {}, complain, side_effects=False)
    async with agent_of(run_of(calls("c1", "complain")), DONE) as (agent, wire):
        await agent.thread(**options(tools)).run("go")
        assert wire.answers()["c1"]["error"] == "failed: no such customer"
    assert ToolError("x").code == "tool_error"


@pytest.mark.parametrize("waits", [False, True])
async def test_what_a_new_message_goes_past_is_put_to_the_application(tools: Tools, waits: bool) -> None:
    """FT-3: once for each call, plain function or not; what it leaves open is declined."""
    asked: list[str] = []

    def decide(call: OpenCall) -> None:
        asked.append(call.id)
        if call.id == "c1":
            call.answer("by the rule")

    async def decide_later(call: OpenCall) -> None:
        await asyncio.sleep(0)
        decide(call)

    two = run_of(calls("c1", "act"), calls("c2", "act"))
    async with agent_of(two, DONE) as (agent, wire):
        handling = options(tools, consent=None, unanswered=decide_later if waits else decide)
        thread = agent.thread(**handling)
        await thread.run("go")
        await thread.run("next")
        assert asked == ["c1", "c2"]
        assert wire.answers()["c1"]["content"] == "by the rule"
        assert wire.answers()["c2"]["error"].startswith("declined: ")


async def test_what_is_no_decision_is_refused_where_it_is_made(tools: Tools) -> None:
    async with agent_of(run_of(calls("c1", "act"))) as (agent, _):
        thread = agent.thread(**options(tools, consent=None))
        await thread.run("go")
        (call,) = thread.open_calls
        for decide in (lambda: call.approve(5), lambda: call.decline(5), lambda: call.fail(None)):  # type: ignore[arg-type]
            with pytest.raises(OptionError):
                decide()
        assert thread.open_calls == [call]


async def test_an_event_after_run_finished(tools: Tools) -> None:
    """LC-3, PL-4: rejected, everything delivered stays, and nothing of a rejected run is executed."""
    rejected = script(started(), says("m1", "finished"), calls("c1", "look"), finished(), *says("m2", "late"))
    async with agent_of(rejected, DONE) as (agent, wire):
        thread = agent.thread(**options(tools))
        with pytest.raises(ProtocolError) as caught:
            await thread.run("go")
        assert caught.value.code == "event_after_close"
        assert "finished" in texts(thread)
        await thread.run("again")
        assert tools.ran == []
        assert wire.answers()["c1"]["error"].startswith("run_rejected: ")


async def test_crlf_no_space_and_multi_line_data(tools: Tools) -> None:
    """TR-4: read, and the call in it runs."""
    body = b"".join(map(frame, [started(), *calls("c1", "look", '{"path": "a"}'), finished()]))
    odd = (
        body.replace(b"data: {", b"data:{").replace(b', "toolCallId"', b',\ndata: "toolCallId"').replace(b"\n", b"\r\n")
    )
    assert odd.count(b"\r\n") > body.count(b"\n")
    async with agent_of(script(odd), DONE) as (agent, _):
        await agent.thread(**options(tools)).run("go")
        assert tools.ran == [("look", "a")]


async def test_a_failing_state_delta(tools: Tools) -> None:
    """SN-2; soliplex 1255: the value is kept whole, a diagnostic, the run goes on and its call runs."""
    delta = {"type": "STATE_DELTA", "delta": [{"op": "replace", "path": "/a/b", "value": 1}]}
    async with agent_of(run_of(delta, calls("c1", "look")), DONE) as (agent, _):
        thread = agent.thread(**options(tools))
        outcome = await thread.run("go")
        assert outcome.status is RunStatus.COMPLETED
        assert [note.code for note in outcome.diagnostics] == ["patch_failed"]
        assert thread.state == {}
        assert tools.ran == [("look", "")]


async def test_a_history_of_a_thousand_messages(tools: Tools) -> None:
    """Held as it is: not one message of it is made anew while a run goes on."""
    history = [UserMessage(id=f"u{n}", content="x" * 50) for n in range(1000)]
    async with agent_of(run_of(says("m1", "hi"), calls("c1", "look")), DONE) as (agent, wire):
        thread = agent.thread(messages=history, **options(tools))
        async with thread.run("go") as run:
            async for _ in run:
                assert all(held is given for held, given in zip(thread.messages, history, strict=False))
        assert len(wire.inputs[1]["messages"]) == 1004


async def test_a_tool_result_with_an_image(tools: Tools) -> None:
    """TC-4, TC-5: the parts reach the application, a string sink gets the text and a list of what was lost."""
    parts = [{"type": "text", "text": "see"}, IMAGE]
    async with agent_of(run_of(calls("c1", "render"), result("c1", parts))) as (agent, _):
        thread = agent.thread(**options(tools))
        await thread.run("go")
        (message,) = [m for m in thread.messages if m.role == "tool"]
        assert isinstance(message.content[1], ImagePart)
        flat = flatten(message.content)
        assert (flat.text, [lost.kind for lost in flat.dropped]) == ("see", ["image"])
        assert tools.ran == []


@pytest.mark.parametrize(("side_effects", "words"), [(False, "Timed out"), (True, "Effect unknown")])
async def test_a_tool_that_never_answers(tools: Tools, side_effects: bool, words: str) -> None:
    """A deadline per tool: the answer says "timed out" or "effect unknown"."""

    async def hang(arguments: dict[str, Any]) -> None:
        await asyncio.Event().wait()

    tools.registry.declare("hang", "Hang.", {}, hang, side_effects=side_effects, deadline=0.01)
    async with agent_of(run_of(calls("c1", "hang"), calls("c2", "look")), DONE) as (agent, wire):
        thread = agent.thread(**options(tools))
        assert (await thread.run("go")).status is RunStatus.COMPLETED
        assert words in wire.answers()["c1"]["content"]
        assert wire.answers()["c2"]["content"] == "looked at "


async def test_a_reload_with_a_call_unanswered(tools: Tools) -> None:
    """FT-8; CopilotKit 6101: the journal knows; offered is offered again, nothing is made up."""
    journal = MemoryJournal()
    async with agent_of(run_of(calls("c1", "act", '{"path": "a"}')), DONE) as (agent, wire):
        before = agent.thread(id="t1", tools=tools.registry, journal=journal)
        await before.run("go")
        reloaded = agent.thread(messages=before.messages, **options(tools, journal=journal))
        assert [call.id for call in reloaded.open_calls] == ["c1"]
        await reloaded.run()
        assert tools.ran == [("act", "a")]
        assert wire.answers()["c1"]["content"] == "acted on a"


# Public reports.


async def test_text_opened_one_delta_end_of_stream(tools: Tools) -> None:
    """ag-ui 2300: a truncated run is no success (TR-1)."""
    async with agent_of(script(started(), says("m1", "hal")[:2])) as (agent, wire):
        outcome = await agent.thread(**options(tools)).run("go")
        assert (outcome.status, len(wire.inputs)) == (RunStatus.TRUNCATED, 1)


async def test_text_and_then_run_error(tools: Tools) -> None:
    """assistant-ui PR 5900: a failure is not shown as complete (LC-6)."""
    async with agent_of(script(started(), says("m1", "half")[:2], failed("out"))) as (agent, _):
        outcome = await agent.thread(**options(tools)).run("go")
        assert (outcome.status, outcome.run_errors[0].message) == (RunStatus.FAILED, "out")


async def test_a_snapshot_omits_the_result_that_was_given(tools: Tools) -> None:
    """CopilotKit PR 6294: the answer goes out again with the next run, and the call does not run again."""
    forgetful = snapshot(
        {"id": "u1", "role": "user", "content": "go"},
        {
            "id": "c1",
            "role": "assistant",
            "toolCalls": [{"id": "c1", "type": "function", "function": {"name": "act", "arguments": "{}"}}],
        },
    )
    async with agent_of(run_of(calls("c1", "act")), run_of(forgetful, says("m2", "ok")), DONE) as (agent, wire):
        thread = agent.thread(**options(tools))
        await thread.run("go")
        outcome = await thread.run("next")
        assert tools.ran == [("act", "")]
        assert wire.answers(2) == wire.answers(1)
        assert [note.code for note in outcome.diagnostics] == ["answer_resent"]
        wire.check_pairing()


async def test_user_content_as_a_list_of_parts(tools: Tools) -> None:
    """agent-framework 3729."""
    async with agent_of(DONE) as (agent, wire):
        await agent.thread(**options(tools)).run([{"type": "text", "text": "look"}, IMAGE])
        assert wire.inputs[0]["messages"][0]["content"][1]["source"]["value"] == "aGk="


async def test_the_follow_up_run_returns_run_error(tools: Tools) -> None:
    """CopilotKit 2416: the tool does not repeat without end."""
    async with agent_of(run_of(calls("c1", "look")), script(started(), failed())) as (agent, wire):
        outcome = await agent.thread(**options(tools)).run("go")
        assert outcome.status is RunStatus.FAILED
        assert (len(tools.ran), len(wire.inputs)) == (1, 2)


async def test_an_agent_that_calls_for_ever(tools: Tools) -> None:
    """Follow-ups are bounded, and the reason is said."""
    scripts = [run_of(calls(f"c{n}", "look")) for n in range(9)]
    async with agent_of(*scripts) as (agent, wire):
        thread = agent.thread(**options(tools, max_follow_ups=3))
        outcome = await thread.run("go")
        assert [note.code for note in outcome.diagnostics] == ["follow_up_limit"]
        assert (len(wire.inputs), len(tools.ran)) == (4, 4)
        assert [m.role for m in thread.messages][-1] == "tool"


async def test_each_mount_replays_a_snapshot_with_frontend_calls(tools: Tools) -> None:
    """CopilotKit 3169: a call that a snapshot brings was not started by this run, so it does not fire."""
    held = {
        "id": "m1",
        "role": "assistant",
        "toolCalls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
    }
    async with agent_of(run_of(snapshot(held)), run_of(snapshot(held))) as (agent, wire):
        thread = agent.thread(**options(tools))
        await thread.run()
        await thread.run("hello again")
        assert tools.ran == []
        wire.check_pairing()


async def test_a_handler_faster_than_run_finished(tools: Tools) -> None:
    """assistant-ui PR 4241: nothing runs before the run has closed, so no result can come too early."""
    pause = Until()
    held = script(started(), calls("c1", "look"), pause, finished())
    async with agent_of(held, DONE) as (agent, wire):
        thread = agent.thread(**options(tools))
        async with thread.run("go") as run:
            async for update in run:
                if not isinstance(update, ToolUpdate) and update.event.type == "TOOL_CALL_END":
                    assert tools.ran == []
                    pause.event.set()
        assert wire.answers()["c1"]["content"] == "looked at "


async def test_one_of_two_parallel_calls_is_answered_by_the_server(tools: Tools) -> None:
    """ag-ui 1346: the other one is ours, and both are in the next input."""
    both = run_of(calls("c1", "weather"), calls("c2", "look"), result("c1", "4 degrees"))
    async with agent_of(both, DONE) as (agent, wire):
        await agent.thread(**options(tools)).run("go")
        assert {call: m["content"] for call, m in wire.answers().items()} == {"c1": "4 degrees", "c2": "looked at "}


async def test_complete_arguments_and_an_interrupt_on_that_call(tools: Tools) -> None:
    """assistant-ui 6281: the interrupt is answered, the agent says what became of the call."""
    asks = interrupts({"id": "i1", "toolCallId": "c1"})
    async with agent_of(run_of(calls("c1", "act"), outcome=asks), run_of(says("m2", "left to you")), DONE) as (
        agent,
        wire,
    ):
        thread = agent.thread(**options(tools, answer_interrupts=lambda _: {"i1": Resolve(True)}))
        await thread.run("go")
        assert wire.inputs[1]["resume"] == [{"interruptId": "i1", "status": "resolved", "payload": True}]
        assert "c1" not in wire.answers(1)
        assert tools.ran == [("act", "")]
        assert wire.answers(2)["c1"]["content"] == "acted on "


async def test_a_rejected_resume_and_a_snapshot_that_still_lists_the_call(tools: Tools) -> None:
    """agent-framework 7570: the interrupt stays open after a failed resume, answerable, and nothing dangles."""
    asks = interrupts({"id": "i1", "toolCallId": "c1"})
    async with agent_of(run_of(calls("c1", "act"), outcome=asks), script(started(), failed("no")), DONE) as (
        agent,
        wire,
    ):
        thread = agent.thread(**options(tools))
        await thread.run("go")
        resume: Any = [{"interruptId": "i1", "status": "resolved", "payload": True}]
        assert (await thread.run(resume=resume)).status is RunStatus.FAILED
        assert [interrupt.id for interrupt in thread.interrupts] == ["i1"]
        resume = [{"interruptId": "i1", "status": "cancelled"}]
        await thread.run(resume=resume)
        assert tools.ran == []
        await thread.run("next")
        assert wire.answers()["c1"]["error"].startswith("interrupt_cancelled: ")
        wire.check_pairing()


async def test_messages_stay_while_an_interrupt_is_open(tools: Tools) -> None:
    """agent-chat-ui 116."""
    asks = interrupts({"id": "i1"})
    async with agent_of(run_of(says("m1", "one moment"), outcome=asks)) as (agent, _):
        thread = agent.thread(**options(tools))
        await thread.run("go")
        assert texts(thread) == ["one moment"]
        assert [interrupt.id for interrupt in thread.interrupts] == ["i1"]


# The round trip around them.


async def test_switching_threads_while_a_handler_runs(tools: Tools) -> None:
    """Answers are bound to thread and run."""
    begun, release = asyncio.Event(), asyncio.Event()

    @tools.registry.tool(side_effects=False)
    async def slow() -> str:
        """Slow."""
        begun.set()
        await release.wait()
        return "slow answer"

    async with agent_of(run_of(calls("c1", "slow")), DONE) as (agent, wire):
        one, other = agent.thread(**options(tools)), agent.thread(**{**options(tools), "id": "t2"})
        running = asyncio.ensure_future(one.run("go").wait())
        await begun.wait()
        await other.run("meanwhile")
        assert [m.role for m in other.messages] == ["user", "assistant"]
        release.set()
        await running
        assert [m.role for m in other.messages] == ["user", "assistant"]
        assert wire.inputs[-1]["threadId"] == "t1"
        assert wire.answers()["c1"]["content"] == "slow answer"


@pytest.mark.parametrize("how", ["break", "cancel"])
async def test_stop_while_a_tool_runs(tools: Tools, how: str) -> None:
    """TR-2: the thread stays usable, the answer is honest, and what settles late is inserted nowhere."""
    begun = asyncio.Event()

    @tools.registry.tool
    async def slow() -> str:
        """Slow."""
        begun.set()
        await asyncio.Event().wait()
        return "never"

    async with agent_of(run_of(calls("c1", "slow"), calls("c2", "look")), DONE) as (agent, wire):
        thread = agent.thread(**options(tools))

        async def go() -> None:
            async with thread.run("go") as run:
                async for update in run:
                    if how == "break" and isinstance(update, ToolUpdate) and update.happened is JournalEvent.STARTED:
                        break

        running = asyncio.create_task(go())
        await (asyncio.wait({running}) if how == "break" else begun.wait())
        running.cancel()
        await asyncio.wait({running})
        assert not thread.running
        journal = thread.journal
        assert journal is not None
        answered = {e.call_id: e.outcome for e in journal.entries("t1") if e.event is JournalEvent.ANSWERED}
        assert answered["c1"] is CallOutcome.EFFECT_UNKNOWN
        await thread.run("and now?")
        assert "Effect unknown" in wire.answers()["c1"]["content"]
        assert len(wire.inputs) == 2
        wire.check_pairing()


async def test_a_call_waits_for_a_decision_and_nothing_is_sent_before(tools: Tools) -> None:
    """A UI takes the open calls as objects; going on without deciding is an error that names them."""
    async with agent_of(run_of(calls("c1", "act"), calls("c2", "act")), DONE) as (agent, wire):
        thread = agent.thread(id="t1", tools=tools.registry)
        outcome = await thread.run("go")
        assert [call.id for call in outcome.pending_tool_calls] == ["c1", "c2"]
        thread.open_calls[0].approve({"path": "edited"})
        with pytest.raises(InputError, match="c2") as caught:
            await thread.run()
        assert (caught.value.code, len(wire.inputs)) == ("calls_open", 1)
        assert tools.ran == [("act", "edited")]
        thread.answer("c2", "by hand")
        await thread.run()
        assert list(wire.answers()) == ["c1", "c2"]
        assert "The user edited the arguments" in wire.answers()["c1"]["content"]
        assert wire.answers()["c2"]["content"] == "by hand"


@pytest.mark.parametrize(
    ("end", "message", "said", "told"),
    [
        (finished(), "next", "declined: ", []),
        (finished(), None, "abandoned: ", ["call_abandoned"]),
        (failed(), "next", "abandoned: ", ["call_abandoned"]),
    ],
    ids=["a new message", "no new message", "the run failed"],
)
async def test_a_plain_declaration_is_answered_by_hand_and_what_was_not_does_not_dangle(
    tools: Tools, end: dict[str, Any], message: str | None, said: str, told: list[str]
) -> None:
    """Without a registry each run is one exchange; no run goes on with a gap all the same (FT-3)."""
    first = script(started(), calls("c1", "look"), calls("c2", "look"), end)
    async with agent_of(first, DONE) as (agent, wire):
        thread = agent.thread(id="t1", tools=tools.registry.to_tools())
        await thread.run("go")
        assert thread.open_calls == []
        assert thread.journal is None
        thread.answer("c1", "mine")
        outcome = await thread.run(message)
        assert wire.answers()["c1"]["content"] == "mine"
        assert wire.answers()["c2"]["error"].startswith(said)
        assert [note.code for note in outcome.diagnostics] == told


async def test_what_was_said_in_an_input_that_may_not_be_sent_was_not_said(tools: Tools) -> None:
    """RI-1: mended, it is said once; what replaces an older message stays."""
    async with agent_of(DONE) as (agent, wire):
        thread = agent.thread(**options(tools), messages=[UserMessage(id="u0", content="first")])
        thread.state = {"a": float("nan")}
        for message in ("hi", UserMessage(id="u0", content="changed")):
            with pytest.raises(InputError):
                await thread.run(message)
        assert [m.content for m in thread.messages] == ["changed"]
        thread.state = {}
        await thread.run("hi")
        assert [m["content"] for m in wire.inputs[0]["messages"]] == ["changed", "hi"]


@pytest.mark.parametrize("call_id", [None, "c1"], ids=["names no call", "names the call"])
async def test_without_a_registry_an_interrupt_speaks_for_its_call(tools: Tools, call_id: str | None) -> None:
    """IR-2: the held call stays unanswered in the resuming input."""
    asks = interrupts({"id": "i1"} if call_id is None else {"id": "i1", "toolCallId": call_id})
    async with agent_of(run_of(calls("c1", "delete"), outcome=asks), run_of(result("c1", "ok"))) as (agent, wire):
        thread = agent.thread(id="t1")
        await thread.run("go")
        resume: Any = [{"interruptId": "i1", "status": "resolved"}]
        await thread.run(resume=resume)
        assert wire.answers(1) == {}
        assert [m.role for m in thread.messages] == ["user", "assistant", "tool"]


async def test_tools_offered_to_one_run(tools: Tools) -> None:
    """FT-1: a set can be offered per run."""
    async with agent_of(run_of(calls("c1", "look")), DONE, run_of(calls("c2", "pick")), DONE) as (agent, wire):
        thread = agent.thread(**options(tools))
        await thread.run("go", tools=tools.registry.only("act"))
        assert [tool["name"] for tool in wire.inputs[0]["tools"]] == ["act"]
        assert wire.answers(1)["c1"]["error"].startswith("tool_not_offered: ")
        plain = [ToolRegistry().declare("pick", "Pick.", {}, print).to_tool()]
        await thread.run("pick", tools=plain)
        assert thread.open_calls[0].reason is RefusalReason.NO_HANDLER
        thread.answer("c2", "this one")
        await thread.run()
        assert wire.answers()["c2"]["content"] == "this one"


async def test_handling_without_a_registry_is_a_mistake_that_is_said(tools: Tools) -> None:
    async with agent_of(DONE) as (agent, _):
        with pytest.raises(ToolError, match="consent, journal: give tools as a ToolRegistry"):
            agent.thread(consent=print, journal=MemoryJournal())


async def test_an_answer_that_the_application_put_into_the_conversation_itself(tools: Tools) -> None:
    """FT-3: past the open call's object; one answer goes out, and it is not the made-up decline."""
    async with agent_of(run_of(calls("c1", "act")), DONE) as (agent, wire):
        thread = agent.thread(id="t1", tools=tools.registry)
        await thread.run("go")
        thread.add_message({"id": "own", "role": "tool", "toolCallId": "c1", "content": "mine"})
        outcome = await thread.run("next")
        assert wire.answers()["c1"]["content"] == "mine"
        assert [note.code for note in outcome.diagnostics] == ["answer_duplicate"]
        wire.check_pairing()


async def test_what_is_noticed_in_the_history_can_be_silenced(tools: Tools, caplog: pytest.LogCaptureFixture) -> None:
    """Recorded all the same."""
    scripts = (run_of(result("c9", "?")), DONE)
    async with serve(*scripts) as server, HttpAgent(server.url, silence={"answer_orphaned"}) as agent:
        thread = agent.thread(**options(tools))
        await thread.run("go")
        outcome = await thread.run("next")
        assert [note.code for note in outcome.diagnostics] == ["answer_orphaned"]
        assert "answer_orphaned" not in caplog.text


async def test_a_run_left_while_its_calls_are_disposed_of_first(tools: Tools) -> None:
    """TR-2: nothing was sent, so there is no result; the thread is usable, what ran is answered."""
    async with agent_of(run_of(calls("c1", "act")), DONE) as (agent, wire):
        thread = agent.thread(id="t1", tools=tools.registry)
        await thread.run("go")
        thread.open_calls[0].approve()
        async with thread.run() as run:
            async for update in run:
                assert isinstance(update, ToolUpdate)
                if update.happened is JournalEvent.ANSWERED:
                    break
        with pytest.raises(RuntimeError, match="no result yet"):
            _ = run.result
        assert (thread.running, len(wire.inputs)) == (False, 1)
        await thread.run()
        assert wire.answers()["c1"]["content"] == "acted on "
        assert tools.ran == [("act", "")]


TWO_RUNS = script(
    started("a"), calls("c1", "look"), finished(run="a"), started("b"), says("m1", "hm"), finished(run="b")
)


async def test_a_run_after_the_one_that_was_asked_for(tools: Tools) -> None:
    """LC-7: the first run's call is put before the gate with how the last one ended."""
    async with agent_of(TWO_RUNS, DONE) as (agent, wire):
        await agent.thread(**options(tools)).run("go", run_id="a")
        assert tools.ran == [("look", "")]
        wire.check_pairing()
    bad = script(started("a"), calls("c2", "act"), finished(run="a"), started("b"), failed())
    async with agent_of(bad, DONE) as (agent, _):
        await agent.thread(**options(tools)).run("go", run_id="a")
        assert tools.ran == [("look", "")]


async def test_a_replayed_run_runs_nothing_by_itself(tools: Tools, tmp_path: Path) -> None:
    """FT-8: whoever saw the run first may have run its calls; a restart does not forget that it was a replay."""
    with SqliteJournal(tmp_path / "calls.sqlite") as journal:
        async with agent_of(TWO_RUNS, DONE) as (agent, wire):
            thread = agent.thread(**options(tools, journal=journal))
            outcome = await thread.run("go")
            assert (tools.ran, len(wire.inputs)) == ([], 1)
            assert [(c.id, c.reason) for c in thread.open_calls] == [("c1", RefusalReason.RUN_REPLAYED)]
            assert [call.id for call in outcome.pending_tool_calls] == ["c1"]
        async with agent_of(DONE) as (agent, wire):
            thread = agent.thread(**options(tools, journal=journal), messages=outcome.messages)
            assert [(c.id, c.reason) for c in thread.open_calls] == [("c1", RefusalReason.RUN_REPLAYED)]
            thread.open_calls[0].approve()
            assert (await thread.run()).status is RunStatus.COMPLETED
            assert tools.ran == [("look", "")]
            wire.check_pairing()


async def test_a_replayed_call_that_nobody_decides_is_given_up(tools: Tools) -> None:
    async with agent_of(TWO_RUNS, DONE) as (agent, wire):
        thread = agent.thread(**options(tools))
        await thread.run("go")
        await thread.run("again")
        assert tools.ran == []
        assert wire.answers(1)["c1"]["error"].startswith("abandoned: ")


async def test_a_call_that_was_seen_live_may_be_restated(tools: Tools) -> None:
    """FT-8: a replay takes nothing away from a call this very thread was asked to run."""
    asks = interrupts({"id": "i1", "toolCallId": "c1"})
    live = script(started("a"), calls("c1", "look", message="m1"), finished(asks, run="a"))
    replay = script(started("a"), calls("c1", "look", message="m1"), finished(asks, run="a"), started("b"), finished())
    async with agent_of(live, replay, DONE) as (agent, wire):
        thread = agent.thread(**options(tools, answer_interrupts=lambda _: {"i1": Resolve(True)}))
        assert (await thread.run("go")).status is RunStatus.COMPLETED
        assert tools.ran == [("look", "")]
        assert wire.answers()["c1"]["content"] == "looked at "


async def test_an_unnamed_question_holds_the_agents_own_call_after_a_restart(tools: Tools) -> None:
    """IR-2, FT-3: nobody knows which call it asks about, so none is answered in the agent's stead."""
    call = {"id": "b1", "type": "function", "function": {"name": "backend_delete", "arguments": "{}"}}
    messages = [
        {"id": "u1", "role": "user", "content": "go"},
        {"id": "a1", "role": "assistant", "toolCalls": [call]},
    ]
    asked = [{"id": "i1", "reason": "approval"}]
    broken = script(started(), failed())
    async with agent_of(broken, DONE) as (agent, wire):
        thread = agent.thread(**options(tools), messages=messages, interrupts=asked)
        resume = build_resume([OpenInterrupt(i) for i in thread.interrupts], {"i1": Resolve(True)})
        for _ in range(2):  # the first try fails, and the question stays open
            assert [(c.id, c.reason) for c in thread.open_calls] == [("b1", RefusalReason.OPEN_INTERRUPT)]
            await thread.run(resume=resume)
        for sent in wire.inputs[:2]:
            assert [m["role"] for m in sent["messages"]] == ["user", "assistant"]
