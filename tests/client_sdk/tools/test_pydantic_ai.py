"""Round trips with an agent nobody here wrote: pydantic-ai's AG-UI adapter on loopback (FT, IR)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from ag_ui.core import DataSource, ImagePart, TextPart

from client_sdk.agent import HttpAgent, Thread
from client_sdk.blocking import SyncHttpAgent
from client_sdk.errors import InterruptError
from client_sdk.interrupts import Cancel, InterruptAnswer, OpenInterrupt, Resolve, build_resume
from client_sdk.protocol.runs import RunStatus
from client_sdk.tools import Approve, ConsentRequest, JournalEvent, ToolRegistry, ToolUpdate
from client_sdk.tools.journal import utc_now
from tests.client_sdk.interop_pydantic_ai import Server


def registry(ran: list[tuple[str, Any]]) -> ToolRegistry:
    """The frontend tools its scenarios call."""
    made = ToolRegistry()

    @made.tool(side_effects=False, example={"place": "orders"})
    async def navigate(place: str) -> str:
        """Show a place.

        Args:
            place: what to show.
        """
        ran.append(("navigate", place))
        return f"at {place}"

    @made.tool
    def paint(colour: str) -> dict[str, str]:
        """Paint it."""
        ran.append(("paint", colour))
        return {"painted": colour}

    @made.tool(side_effects=False)
    async def screenshot() -> list[Any]:
        """Take a picture of the page."""
        return [TextPart(text="the page"), ImagePart(source=DataSource(value="aGk=", mime_type="image/png"))]

    return made


def last_text(thread: Thread) -> str:
    content = thread.messages[-1].content
    assert isinstance(content, str)
    return content


async def test_several_calls_in_parallel_go_back_together(pydantic_ai: Server) -> None:
    """FT-3."""
    ran: list[tuple[str, Any]] = []
    async with HttpAgent(pydantic_ai.url("two-frontend")) as agent:
        thread = agent.thread(tools=registry(ran), consent=lambda _: True)
        outcome = await thread.run("go")
        assert outcome.status is RunStatus.COMPLETED
        assert sorted(ran) == [("navigate", "orders"), ("paint", "red")]
        assert last_text(thread) == 'navigate said at orders; paint said {"painted": "red"}'
        assert len(outcome.runs) == 2
        assert outcome.diagnostics == []


async def test_beside_a_backend_call(pydantic_ai: Server) -> None:
    """The agent answers its own call, we answer ours."""
    ran: list[tuple[str, Any]] = []
    async with HttpAgent(pydantic_ai.url("parallel")) as agent:
        thread = agent.thread(tools=registry(ran))
        await thread.run("go")
        assert last_text(thread) == "get_weather said 4 degrees in Oslo; navigate said at orders"
        assert ran == [("navigate", "orders")]


async def test_malformed_arguments_are_mended_by_a_second_try(pydantic_ai: Server) -> None:
    """FT-4, FT-5: the agent is told what is wrong, and asks again rightly."""
    ran: list[tuple[str, Any]] = []
    async with HttpAgent(pydantic_ai.url("bad-arguments")) as agent:
        thread = agent.thread(tools=registry(ran))
        await thread.run("go")
        first, second = [m for m in thread.messages if m.role == "tool"]
        assert "at /place: expected string, found integer 5" in str(first.content)
        assert second.content == "at orders"
        assert ran == [("navigate", "orders")]
        assert last_text(thread) == "navigate said at orders"


async def test_an_image_arrives_at_the_agent_as_an_image(pydantic_ai: Server) -> None:
    """TC-4: a screenshot is a part, not a description of one."""
    async with HttpAgent(pydantic_ai.url("screenshot")) as agent:
        thread = agent.thread(tools=registry([]))
        await thread.run("go")
        assert last_text(thread) == "got str, image/png"


async def test_an_edit_reaches_the_agent(pydantic_ai: Server) -> None:
    """FT-6: the answer says that the user edited, and carries what was run."""
    ran: list[tuple[str, Any]] = []

    def edit(request: ConsentRequest) -> Approve:
        return Approve({"colour": "blue"})

    async with HttpAgent(pydantic_ai.url("two-frontend")) as agent:
        thread = agent.thread(tools=registry(ran), consent=edit)
        await thread.run("go")
        assert ("paint", "blue") in ran
        assert 'The user edited the arguments before approving. Run with: {"colour": "blue"}' in last_text(thread)


async def test_a_decline_reaches_the_agent(pydantic_ai: Server) -> None:
    """FT-4."""
    ran: list[tuple[str, Any]] = []
    async with HttpAgent(pydantic_ai.url("two-frontend")) as agent:
        thread = agent.thread(tools=registry(ran), consent=lambda _: False)
        await thread.run("go")
        assert ran == [("navigate", "orders")]
        assert "paint said The call was declined; it was not run." in last_text(thread)


def approving(seen: list[OpenInterrupt], approved: bool = True) -> Any:
    async def answer(waiting: Sequence[OpenInterrupt]) -> dict[str, InterruptAnswer]:
        seen.extend(waiting)
        return {interrupt.id: Resolve({"approved": approved}) for interrupt in waiting}

    return answer


@pytest.mark.parametrize(
    ("scenario", "said", "asked"),
    [
        ("approval", "delete_record said deleted 7", 1),
        ("two-approvals", "delete_record said deleted 7; delete_record said deleted 8", 2),
        ("approval-again", "delete_record said deleted 8", 2),
    ],
)
async def test_a_tool_that_needs_approval(pydantic_ai: Server, scenario: str, said: str, asked: int) -> None:
    """IR-2: several at once, and a resume that ends in a new interrupt."""
    seen: list[OpenInterrupt] = []
    async with HttpAgent(pydantic_ai.url(scenario)) as agent:
        thread = agent.thread(tools=registry([]), answer_interrupts=approving(seen))
        outcome = await thread.run("go")
        assert (outcome.status, outcome.interrupts) == (RunStatus.COMPLETED, [])
        assert last_text(thread) == said
        assert len(seen) == asked
        assert [field.name for field in seen[0].fields()] == ["approved", "editedArgs", "reason"]
        assert thread.open_calls == []


async def test_an_approval_refused(pydantic_ai: Server) -> None:
    async with HttpAgent(pydantic_ai.url("approval")) as agent:
        thread = agent.thread(tools=registry([]), answer_interrupts=approving([], approved=False))
        await thread.run("go")
        assert "deleted" not in last_text(thread)


async def test_an_interrupt_answered_by_hand(pydantic_ai: Server) -> None:
    """IR-2, IR-3: wrong answers are refused before anything is sent; the right one goes on."""
    async with HttpAgent(pydantic_ai.url("two-approvals")) as agent:
        thread = agent.thread(tools=registry([]))
        outcome = await thread.run("go")
        assert outcome.status is RunStatus.INTERRUPTED
        sent = len(pydantic_ai.requests["two-approvals"])
        one, two = [OpenInterrupt(interrupt) for interrupt in thread.interrupts]
        for resume, code in (
            ([{"interruptId": one.id, "status": "cancelled"}], "interrupt_uncovered"),
            ([{"interruptId": "other", "status": "cancelled"}], "interrupt_unknown"),
            (
                [
                    {"interruptId": one.id, "status": "resolved", "payload": {"approved": "yes"}},
                    {"interruptId": two.id, "status": "cancelled"},
                ],
                "interrupt_answer_invalid",
            ),
        ):
            with pytest.raises(InterruptError) as caught:
                await thread.run(resume=resume)  # type: ignore[arg-type]
            assert caught.value.code == code
        assert len(pydantic_ai.requests["two-approvals"]) == sent
        entries = build_resume(
            [one, two], {one.id: Resolve({"approved": True}), two.id: Cancel()}, now=utc_now()
        ).entries
        assert (await thread.run(resume=entries)).status is RunStatus.COMPLETED
        assert "deleted 7" in last_text(thread)
        assert "deleted 8" not in last_text(thread)


async def test_the_user_goes_on_with_calls_open(pydantic_ai: Server) -> None:
    """FT-3: they are declined first, and the agent takes the next turn."""
    async with HttpAgent(pydantic_ai.url("two-frontend")) as agent:
        thread = agent.thread(tools=registry([]))
        await thread.run("go")
        assert [call.name for call in thread.open_calls] == ["paint"]
        outcome = await thread.run("something else")
        assert outcome.status is RunStatus.COMPLETED
        sent = pydantic_ai.requests["two-frontend"][-1]["messages"]
        assert [m["role"] for m in sent] == ["user", "assistant", "tool", "tool", "user"]
        assert sent[3]["error"].startswith("declined: ")


async def test_updates_of_stream_and_tools_in_one_row(pydantic_ai: Server) -> None:
    async with HttpAgent(pydantic_ai.url("frontend-tool")) as agent:
        thread = agent.thread(tools=registry([]))
        seen: list[str] = []
        async with thread.run("go") as run:
            async for update in run:
                if isinstance(update, ToolUpdate):
                    seen.append(update.happened.value)
                elif update.event.type in ("RUN_STARTED", "RUN_FINISHED"):
                    seen.append(update.event.type.value)
        assert seen == [
            "RUN_STARTED",
            "RUN_FINISHED",
            "offered",
            "granted",
            "started",
            "answered",
            "RUN_STARTED",
            "RUN_FINISHED",
        ]
        assert run.result.text.endswith("navigate said at orders")


async def test_the_plain_events_of_a_round_trip(pydantic_ai: Server) -> None:
    async with HttpAgent(pydantic_ai.url("frontend-tool")) as agent:
        run = agent.thread(tools=registry([])).run("go")
        kinds = [event.type.value async for event in run.events()]
        assert kinds.count("RUN_FINISHED") == 2


def test_the_blocking_form_makes_the_round_trip_too(pydantic_ai: Server) -> None:
    with SyncHttpAgent(pydantic_ai.url("two-frontend")) as agent:
        thread = agent.thread(tools=registry([]))
        for update in thread.run("go"):
            if isinstance(update, ToolUpdate) and update.happened is JournalEvent.ANSWERED:
                assert update.message is not None
        (held,) = thread.open_calls
        held.approve()
        run = thread.run()
        kinds = [event.type.value for event in run.events()]
        assert kinds[-1] == "RUN_FINISHED"
        assert "paint said" in str(thread.messages[-1].content)
