"""Oddities of real producers that concern calls, in streams of our own: each ends safely, and the application is told.

Nothing runs twice, nothing dangles, nothing is invented (FT-2 to FT-8, SN-4).
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from ag_ui.core import UserMessage

from client_sdk.agent import Thread
from client_sdk.errors import ClientError, ProtocolError
from client_sdk.interrupts import Resolve
from client_sdk.results import RunResult
from client_sdk.tools import JournalEvent, RefusalReason, ToolRegistry
from tests.client_sdk.servers import event_stream
from tests.client_sdk.tools.streams import (
    DONE,
    Event,
    agent_of,
    calls,
    finished,
    interrupts,
    result,
    run_of,
    says,
    script,
    snapshot,
    started,
)

RECORDINGS = Path(os.environ.get("AG_UI_SHARED", Path(__file__).parents[4] / "shared")) / "recordings"


class Tools:
    """One frontend tool, and what it ran with."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.registry = ToolRegistry()

        @self.registry.tool
        def show(place: str = "") -> str:
            """Show a place."""
            self.ran.append(place)
            return f"shown {place}"


@pytest.fixture
def tools() -> Tools:
    return Tools()


def options(tools: Tools, **more: Any) -> dict[str, Any]:
    return {"id": "t1", "tools": tools.registry, "consent": lambda _: True, **more}


def user(text: str = "go") -> Event:
    return {"id": "u1", "role": "user", "content": text}


def holder(identifier: str, *made: tuple[str, str, str]) -> Event:
    held = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in made]
    return {"id": identifier, "role": "assistant", "toolCalls": held}


def answer(identifier: str, call: str, content: str) -> Event:
    return {"id": identifier, "role": "tool", "toolCallId": call, "content": content}


def codes(outcome: RunResult) -> list[str]:
    return [note.code for note in outcome.diagnostics]


async def test_answers_that_only_a_snapshot_brings(tools: Tools) -> None:
    """LlamaIndex sends no TOOL_CALL_RESULT: what the history answers is not pending (FT-2), the rest runs."""
    held = holder("m9", ("c1", "weather", "{}"), ("c2", "show", '{"place": "x"}'))
    run = run_of(
        calls("c1", "weather"),
        calls("c2", "show", '{"place":"x"}'),
        snapshot(user(), held),
        snapshot(user(), {**held, "id": "m10"}, answer("m11", "c1", "4 degrees")),
    )
    async with agent_of(run, DONE) as (agent, wire):
        await agent.thread(**options(tools)).run("go")
        assert tools.ran == ["x"]
        assert {call: m["content"] for call, m in wire.answers().items()} == {"c1": "4 degrees", "c2": "shown x"}
        wire.check_pairing()


async def test_a_call_restated_on_resume_and_run_by_the_agent(tools: Tools) -> None:
    """LangGraph: the text doubles until the closing snapshot mends it; the agent runs its own call, we run nothing."""
    first = run_of(calls("c1", "delete", '{"n": 7}', message="m1"), outcome=interrupts({"id": "i1"}))
    mended = snapshot(user(), holder("m1", ("c1", "delete", '{"n": 7}')), answer("m2", "c1", "deleted"))
    second = run_of(calls("c1", "delete", '{"n": 7}'), result("c1", "deleted", "c1"), says("m3", "ok"), mended)
    async with agent_of(first, second, DONE) as (agent, wire):
        thread = agent.thread(**options(tools, answer_interrupts=lambda _: {"i1": Resolve({"answer": "yes"})}))
        outcome = await thread.run("go")
        assert len(wire.inputs) == 2
        assert wire.answers(1) == {}
        assert outcome.pending_tool_calls == []
        assert thread.tool_calls[0].arguments == '{"n": 7}'
        await thread.run("next")
        assert wire.answers()["c1"]["content"] == "deleted"
        wire.check_pairing()


@pytest.mark.parametrize("mended", [True, False])
async def test_a_frontend_call_restated_on_resume(tools: Tools, mended: bool) -> None:
    """Left to us after its approval: it runs once, from one statement, never from the doubled text."""
    first = run_of(
        calls("c1", "show", '{"place": "x"}', message="m1"), outcome=interrupts({"id": "i1", "toolCallId": "c1"})
    )
    closing = [snapshot(user(), holder("m1", ("c1", "show", '{"place":"x"}')))] if mended else []
    second = run_of(calls("c1", "show", '{"place": "x"}', message="m1"), *closing)
    async with agent_of(first, second, DONE) as (agent, wire):
        thread = agent.thread(**options(tools, answer_interrupts=lambda _: {"i1": Resolve(True)}))
        await thread.run("go")
        assert tools.ran == ["x"]
        assert wire.answers()["c1"]["content"] == "shown x"
        wire.check_pairing()


async def test_a_made_up_confirmation_call(tools: Tools) -> None:
    """ADK, Agent Framework: it names no tool of ours, so it gets a typed refusal (FT-6)."""
    run = run_of(calls("c1", "delete", '{"n": 7}'), calls("c2", "request_confirmation", '{"for": "c1"}'))
    async with agent_of(run, DONE) as (agent, wire):
        thread = agent.thread(**options(tools))
        await thread.run("go")
        assert [m["error"].split(":")[0] for m in wire.answers().values()] == ["unknown_tool", "unknown_tool"]
        assert tools.ran == []
        wire.check_pairing()


async def test_a_made_up_confirmation_call_that_the_application_handles(tools: Tools) -> None:
    """FT-6: with consent, for that very name alone."""
    asked: list[str] = []

    @tools.registry.handle_unadvertised("request_confirmation", parameters={"type": "object"})
    def confirm(arguments: dict[str, Any]) -> dict[str, bool]:
        return {"confirmed": True}

    def ask(request: Any) -> bool:
        asked.append(request.tool.name)
        return True

    run = run_of(calls("c1", "delete", '{"n": 7}'), calls("c2", "request_confirmation", '{"for": "c1"}'))
    async with agent_of(run, run_of(result("c1", "deleted")), DONE) as (agent, wire):
        thread = agent.thread(**options(tools, consent=ask))
        await thread.run("go")
        assert asked == ["request_confirmation"]
        assert wire.answers(1)["c2"]["content"] == '{"confirmed":true}'
        assert [tool["name"] for tool in wire.inputs[0]["tools"]] == ["show"]
        outcome = await thread.run("next")
        # What the agent found out counts more than our refusal to run a call that was its own.
        assert wire.answers(2)["c1"]["content"] == "deleted"
        assert codes(outcome) == ["answer_duplicate"]
        wire.check_pairing()


@pytest.mark.parametrize(
    ("identifier", "content", "told"),
    [
        # The call's own message comes back under a new id, so a known answer is left standing before it.
        ("same", "<state>{}</state> shown x", ["answer_rewritten", "answer_moved"]),
        ("same", "", ["answer_rewritten", "answer_moved"]),
        ("new", "shown x", []),
        ("new", "[TextPart(...)]", ["answer_rewritten"]),
    ],
    ids=["rewritten", "emptied", "renumbered", "both"],
)
async def test_an_answer_rewritten_or_renumbered_by_a_snapshot(
    tools: Tools, identifier: str, content: str, told: list[str]
) -> None:
    """LlamaIndex, LangGraph, Strands, ADK: one answer is sent, the call does not run again, the change is told."""
    async with agent_of(run_of(calls("c1", "show", '{"place":"x"}')), DONE, DONE) as (agent, wire):
        thread = agent.thread(**options(tools))
        await thread.run("go")
        given = wire.answers()["c1"]["id"]
    rewritten = answer(given if identifier == "same" else "renumbered", "c1", content)
    closing = snapshot(user(), holder("m7", ("c1", "show", '{"place":"x"}')), rewritten, {**user("next"), "id": "u2"})
    async with agent_of(run_of(closing), DONE) as (agent, wire):
        again = agent.thread(messages=thread.messages, **options(tools, journal=thread.journal))
        await again.run("next")
        outcome = await again.run("and then")
        assert tools.ran == ["x"]
        assert wire.answers()["c1"]["content"] == content
        assert codes(outcome) == told
        wire.check_pairing()


async def test_a_backend_call_left_open_beside_a_frontend_call(tools: Tools) -> None:
    """Agent Framework: announced, not run, unanswered; the next input answers both, in call order."""
    run = run_of(calls("c1", "weather"), calls("c2", "show", '{"place":"x"}'))
    async with agent_of(run, run_of(result("c1", "4 degrees", "late"), says("m2", "ok")), DONE) as (agent, wire):
        thread = agent.thread(**options(tools))
        await thread.run("go")
        assert list(wire.answers(1)) == ["c1", "c2"]
        assert wire.answers(1)["c1"]["error"].startswith("unknown_tool: ")
        outcome = await thread.run("next")
        assert wire.answers(2)["c1"]["content"] == "4 degrees"
        assert codes(outcome) == ["answer_duplicate"]
        assert tools.ran == ["x"]
        wire.check_pairing()


async def test_a_result_whose_call_was_never_announced(tools: Tools) -> None:
    """ADK: it stays in the conversation, it is not sent back, and the application is told once."""
    async with agent_of(run_of(result("c9", "21 degrees"), says("m1", "ok")), DONE, DONE) as (agent, wire):
        thread = agent.thread(**options(tools))
        await thread.run("go")
        outcome = await thread.run("next")
        assert codes(outcome) == ["answer_orphaned"]
        assert wire.answers() == {}
        assert [m.role for m in thread.messages].count("tool") == 1
        assert codes(await thread.run("next")) == []
        wire.check_pairing()


async def test_an_answer_reordered_by_a_snapshot(tools: Tools) -> None:
    """LangGraph: the renumbered answer ends up behind the text; it is sent behind its call."""
    text = {"id": "m2", "role": "assistant", "content": "4"}
    moved = snapshot(user(), holder("m1", ("c1", "weather", "{}")), text, answer("m3", "c1", "4"))
    run = run_of(calls("c1", "weather", message="m1"), result("c1", "4", "c1"), says("m2", "4"), moved)
    async with agent_of(run, DONE) as (agent, wire):
        thread = agent.thread(**options(tools))
        await thread.run(UserMessage(id="u1", content="go"))
        outcome = await thread.run("next")
        assert codes(outcome) == ["answer_moved"]
        assert [m["role"] for m in wire.inputs[1]["messages"]] == ["user", "assistant", "tool", "assistant", "user"]
        wire.check_pairing()


async def test_a_call_started_twice_is_the_producers_fault(tools: Tools) -> None:
    """Agent Framework, two frontend calls: rejected by rule, nothing runs, the thread goes on."""
    twice = script(started(), calls("c1", "show", end=False), calls("c1", "show", end=False), finished())
    async with agent_of(twice, DONE) as (agent, wire):
        thread = agent.thread(**options(tools))
        with pytest.raises(ProtocolError, match="producer") as caught:
            await thread.run("go")
        assert (caught.value.code, caught.value.ids) == ("already_open", ("c1",))
        await thread.run("again")
        assert tools.ran == []
        assert wire.answers()["c1"]["error"].startswith("run_rejected: ")
        wire.check_pairing()


async def test_a_placeholder_for_a_call_we_answered(tools: Tools) -> None:
    """Strands makes up a result for a frontend call; ours is a result, so ours is sent."""
    async with agent_of(
        run_of(calls("c1", "show", '{"place":"x"}')), run_of(result("c1", "Forwarded to client")), DONE
    ) as (
        agent,
        wire,
    ):
        thread = agent.thread(**options(tools))
        await thread.run("go")
        outcome = await thread.run("next")
        assert wire.answers()["c1"]["content"] == "shown x"
        assert codes(outcome) == ["answer_duplicate"]
        wire.check_pairing()


async def test_a_snapshot_that_takes_the_call_away(tools: Tools) -> None:
    """A call that the conversation no longer holds is neither run nor answered."""
    async with agent_of(run_of(calls("c1", "show"), snapshot(user())), DONE) as (agent, wire):
        thread = agent.thread(**options(tools))
        await thread.run("go")
        await thread.run("next")
        assert tools.ran == []
        assert wire.answers() == {}


async def test_an_interrupt_beside_a_made_up_call_that_it_does_not_name(tools: Tools) -> None:
    """Agent Framework asks twice, by an interrupt and by a call: the first is answered, the second refused."""
    run = run_of(
        calls("c1", "delete"), calls("c2", "confirm_changes"), outcome=interrupts({"id": "i1", "toolCallId": "c1"})
    )
    async with agent_of(run, run_of(result("c1", "deleted"))) as (agent, wire):
        thread = agent.thread(**options(tools))
        await thread.run("go")
        assert [(call.id, call.reason) for call in thread.open_calls] == [("c1", RefusalReason.OPEN_INTERRUPT)]
        await thread.run(resume=[{"interruptId": "i1", "status": "resolved", "payload": True}])  # type: ignore[list-item]
        assert list(wire.answers(1)) == ["c2"]
        assert wire.answers(1)["c2"]["error"].startswith("unknown_tool: ")


async def test_every_recording_ends_safely(tools: Tools) -> None:
    """Real streams, where the folder is there: no run goes on with a gap, and no call runs twice."""
    registry = ToolRegistry()
    registry.declare("navigate", "Show a place.", {}, lambda _: "shown", side_effects=False)
    for body in sorted(RECORDINGS.glob("*.sse")):
        given = json.loads(body.with_suffix("").with_suffix(".request.json").read_text())
        start = {"id": given["threadId"], "messages": given["messages"], "state": given["state"]}
        async with agent_of([event_stream(), body.read_bytes()], DONE, DONE) as (agent, wire):
            thread = agent.thread(tools=registry, **start)
            failures = [await failure(thread, word) for word in (None, "next")]
            assert set(failures) <= {None, "already_open", "interrupt_uncovered", "calls_open"}, body.name
            journal = thread.journal
            assert journal is not None
            ran = [entry.call_id for entry in journal.entries(thread.id) if entry.event is JournalEvent.STARTED]
            assert len(ran) == len(set(ran)), body.name
            wire.check_pairing()


async def failure(thread: Thread, word: str | None) -> str | None:
    """Run; the code of the error it ends in."""
    try:
        await thread.run(word)
    except ClientError as error:
        return error.code
    return None
