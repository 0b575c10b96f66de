"""The blocking form over a real producer on loopback."""

from __future__ import annotations

import _thread
import threading

import pytest
from ag_ui.core import EventType

from client_sdk import RunStatus, SyncHttpAgent
from tests.client_sdk.interop_pydantic_ai import pydantic_ai  # noqa: F401


@pytest.fixture
def server(pydantic_ai):  # noqa: F811
    return pydantic_ai


def test_a_script_reads_updates_without_an_event_loop(server):
    with SyncHttpAgent(server.url("text")) as agent:
        thread = agent.thread()
        run = thread.run("hello")
        text = "".join(update.delta or "" for update in run)
        assert run.result.status is RunStatus.COMPLETED
        assert run.result.text == text != ""
        assert [message.role for message in thread.messages] == ["user", "assistant"]
        assert thread.run("again").wait().raise_for_status().status is RunStatus.COMPLETED


def test_a_call_is_answered_by_hand(server):
    from ag_ui.core import Tool

    tool = Tool(name="navigate", description="Go somewhere.", parameters={"type": "object"})
    with SyncHttpAgent(server.url("frontend-tool")) as agent:
        thread = agent.thread(tools=[tool], state={"n": 1})
        assert thread.state == {"n": 1}
        thread.state = {"n": 2}
        thread.run("go").wait()
        (pending,) = thread.pending_tool_calls
        assert thread.tool_calls[0].id == pending.id
        thread.answer(pending.id, "arrived")
        thread.add_message({"id": "u2", "role": "user", "content": "and?"})
        assert thread.interrupts == []
        result = thread.run().wait()
        assert result.request["state"] == {"n": 2}
        assert result.status is RunStatus.COMPLETED


def test_leaving_the_loop_early_closes_the_run_and_leaves_the_thread_usable(server):
    with SyncHttpAgent(server.url("long-text")) as agent:
        thread = agent.thread(id="t1")
        run = thread.run("talk")
        assert repr(run).startswith("<SyncRun ")
        for _ in run:
            assert thread.running
            break
        assert run.result.left  # TR-2
        assert not thread.running
        for _ in thread.run("once more"):
            break
        assert repr(thread) == "<SyncThread 't1' of 2 messages>"
        assert thread.journal is None


def test_a_run_still_held_when_the_agent_is_closed_is_ended(server):
    with SyncHttpAgent(server.url("long-text")) as agent:
        assert repr(agent).startswith("<SyncHttpAgent http://127.0.0.1:")
        run = agent.thread().run("talk")
        updates = iter(run)
        next(updates)
    assert run.result.left
    assert list(updates) == []


def test_leaving_the_block_early_closes_the_run_and_leaves_the_thread_usable(server):
    with SyncHttpAgent(server.url("long-text")) as agent:
        thread = agent.thread(id="t1")
        assert thread.id == "t1"
        with thread.run("talk", run_id="r1") as run:
            assert run.id == "r1"
            for event in run.events():
                if event.type is EventType.TEXT_MESSAGE_CONTENT:
                    break
        assert run.result.status is RunStatus.TRUNCATED  # TR-2
        with thread.run("once more") as second:
            next(iter(second))
        assert second.result.status is RunStatus.TRUNCATED


def test_ctrl_c_stops_a_silent_run(server):
    with SyncHttpAgent(server.url("long-text")) as agent:
        run = agent.thread().run("talk")
        next(run)
        threading.Timer(0.05, _thread.interrupt_main).start()
        with pytest.raises(KeyboardInterrupt):
            run.wait()
        run.close()
        assert run.result.status is RunStatus.TRUNCATED


def test_an_agent_that_was_not_entered_says_so():
    agent = SyncHttpAgent("http://127.0.0.1:9/")
    with pytest.raises(RuntimeError, match="enter the agent first"):
        agent.thread()
    agent.close()
