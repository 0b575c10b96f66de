"""What somebody does who meets the package for the first time, and what must come of it."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from client_sdk import (
    HttpAgent,
    InputError,
    InterruptError,
    JournalError,
    Resolve,
    RunStatus,
    SqliteJournal,
    SyncHttpAgent,
    Thread,
    ToolError,
    ToolRegistry,
    build_resume,
)
from tests.client_sdk.interop_pydantic_ai import pydantic_ai  # noqa: F401
from tests.client_sdk.scripts import answer, called, finished, started
from tests.client_sdk.servers import serve


@pytest.fixture
def producer(pydantic_ai: Any) -> Any:  # noqa: F811
    return pydantic_ai


async def test_a_loop_left_by_break_ends_its_run(producer: Any) -> None:
    """TR-2: without `async with` around it, too."""
    async with HttpAgent(producer.url("long-text")) as agent:
        thread = agent.thread()
        async for update in thread.run("talk"):
            if update.text:
                break
        run = thread.run("again")
        async with run:
            async for update in run:
                if update.text:
                    break
        assert run.result.status is RunStatus.TRUNCATED
        assert not thread.running


async def test_a_loop_left_by_an_error_ends_its_run(producer: Any) -> None:
    """TR-2"""

    async def read(thread: Thread) -> None:
        async for _ in thread.run("talk"):
            raise ZeroDivisionError

    async with HttpAgent(producer.url("long-text")) as agent:
        thread = agent.thread()
        with pytest.raises(ZeroDivisionError):
            await read(thread)
        async with thread.run("again") as run:
            await anext(aiter(run))
        assert run.result.status is RunStatus.TRUNCATED


def test_a_blocking_loop_left_by_break_ends_its_run(producer: Any) -> None:
    """TR-2"""
    with SyncHttpAgent(producer.url("long-text")) as agent:
        thread = agent.thread()
        for update in thread.run("talk"):
            if update.text:
                break
        with thread.run("again") as run:
            next(iter(run))
        assert run.result.status is RunStatus.TRUNCATED


async def test_an_interrupt_kept_over_a_restart_is_answered_by_hand(producer: Any) -> None:
    """IR-2, IR-4: nothing is made up for the call it is about."""
    async with HttpAgent(producer.url("approval")) as agent:
        before = agent.thread()
        await before.run("delete record 7")
        kept = [interrupt.model_dump(mode="json", by_alias=True) for interrupt in before.interrupts]
        thread = agent.thread(before.id, messages=before.messages, state=before.state, interrupts=kept)
        answers = {thread.interrupts[0].id: Resolve({"approved": True})}
        result = await thread.run(resume=build_resume(thread.interrupts, answers))
    assert result.status is RunStatus.COMPLETED
    assert result.diagnostics == []
    assert [message["role"] for message in result.request["messages"]] == ["user", "assistant"]


async def test_an_answer_that_is_none_is_refused_by_name(producer: Any) -> None:
    """IR-2"""
    async with HttpAgent(producer.url("approval")) as agent:
        thread = agent.thread()
        await thread.run("delete record 7")
        with pytest.raises(InterruptError, match="neither Resolve") as caught:
            build_resume(thread.interrupts, {thread.interrupts[0].id: {"approved": True}})  # type: ignore[dict-item]
        assert caught.value.code == "interrupt_answer_invalid"
        with pytest.raises(InputError, match="/interrupts/0/reason"):
            agent.thread(interrupts=[{"id": "i"}])


async def test_interrupt_answers_of_the_wrong_kind_are_named(producer: Any) -> None:
    """IR-2"""
    async with HttpAgent(producer.url("approval")) as agent:
        thread = agent.thread(tools=ToolRegistry(), answer_interrupts=lambda _: 5)  # type: ignore[arg-type,return-value]
        with pytest.raises(ToolError, match="answer_interrupts returned int"):
            await thread.run("delete record 7")


async def test_a_call_id_used_again_is_told_and_not_run_again() -> None:
    """FT-8"""
    ran: list[str] = []
    tools = ToolRegistry()

    @tools.tool(side_effects=False)
    def look() -> str:
        """Look."""
        ran.append("x")
        return "seen"

    script = answer(started(), *called("call_1", "look", "{}"), finished())
    rest = answer(started(), finished())
    async with serve(script, rest, script) as server, HttpAgent(server.url) as agent:
        thread = agent.thread("t1", tools=tools)
        await thread.run("one")
        result = await thread.run("two")
    assert ran == ["x"]
    assert [(note.code, note.path) for note in result.diagnostics] == [("call_answered_before", "call_1")]


async def test_a_tool_cancelled_from_inside_has_failed() -> None:
    """FT-4: nobody stopped it."""
    tools = ToolRegistry()

    @tools.tool(side_effects=False)
    async def wait() -> str:
        """Wait."""
        inner = asyncio.ensure_future(asyncio.Event().wait())
        inner.cancel()
        await inner
        return "never"

    script = answer(started(), *called("call_1", "wait", "{}"), finished())
    async with serve(script, answer(started(), finished())) as server, HttpAgent(server.url) as agent:
        result = await agent.thread("t1", tools=tools).run("go")
    answered = [message for message in result.request["messages"] if message["role"] == "tool"]
    assert "cancelled from inside" in answered[0]["error"]


@pytest.mark.parametrize("message", [5, 1.5, object()])
async def test_what_is_no_message_is_refused_by_its_type(message: Any) -> None:
    async with HttpAgent("http://127.0.0.1:9/") as agent:
        with pytest.raises(InputError, match="not " + type(message).__name__):
            agent.thread().run(message)


async def test_a_wire_message_may_be_said_and_a_malformed_one_is_named() -> None:
    """RI-1"""
    async with serve(answer(started(), finished())) as server, HttpAgent(server.url) as agent:
        thread = agent.thread("t1")
        result = await thread.run({"id": "u1", "role": "user", "content": "x"})
        assert result.request["messages"] == [{"id": "u1", "role": "user", "content": "x"}]
        with pytest.raises(InputError, match="malformed at /id"):
            thread.run({"role": "user", "content": "x"})
        with pytest.raises(ToolError, match="give the registry to"):
            thread.run("x", tools=ToolRegistry())


def test_a_journal_wants_a_file_of_its_own(tmp_path: Path) -> None:
    """FT-8: what does not survive a restart must not look as if it did."""
    for path in ("", ":memory:", None, 5):
        with pytest.raises(JournalError, match="names no file"):
            SqliteJournal(path)  # type: ignore[arg-type]
    foreign = tmp_path / "foreign.db"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE x (y)")
    connection.close()
    before = foreign.read_bytes()
    with pytest.raises(JournalError, match="something else"):
        SqliteJournal(foreign)
    assert foreign.read_bytes() == before


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_closed_standard_stream_is_no_crash(closed: str, tmp_path: Path) -> None:
    source = tmp_path / "s.jsonl"
    source.write_text('{"type":"RUN_STARTED","threadId":"t","runId":"r"}\n')
    command = f"{sys.executable} -m client_sdk replay {source} --quiet {closed}"
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(command, shell=True, cwd=root, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 4, done.stderr
    assert "Traceback" not in done.stderr
