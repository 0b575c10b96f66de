"""The dialogue of ``run`` with a scripted person, in this process: every way it can turn."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from client_sdk.agent import HttpAgent
from client_sdk.cli import tooling
from client_sdk.cli.prompts import Prompter
from client_sdk.cli.running import _follow as follow
from client_sdk.tools import ToolRegistry
from tests.client_sdk.interop_pydantic_ai import Server

from .conftest import SECONDS, Cli, Producer, finished, frames, started

DESK = "tests.client_sdk.cli.desk:registry"
APPROVE = ["a", "yes", "", ""]

Types = Callable[..., None]


@pytest.fixture
def types(monkeypatch: pytest.MonkeyPatch) -> Types:
    """Put somebody at the terminal who types these lines, and then nothing more."""

    def sit_down(*lines: str) -> None:
        waiting = list(lines)
        monkeypatch.setattr(tooling, "terminal_reader", lambda: lambda: waiting.pop(0) if waiting else None)
        monkeypatch.setattr(tooling, "Prompter", partial(Prompter, discard=lambda: None))

    return sit_down


@pytest.fixture
def stops_when_asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put somebody at the terminal who presses Ctrl-C at the first question."""
    left = threading.Event()

    def press() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        left.wait(SECONDS)

    monkeypatch.setattr(tooling, "terminal_reader", lambda: press)
    monkeypatch.setattr(tooling, "Prompter", partial(Prompter, discard=lambda: None))
    yield
    left.set()


def last_tool_message(server: Server, scenario: str) -> dict[str, object]:
    return [m for m in server.requests[scenario][-1]["messages"] if m["role"] == "tool"][-1]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("lines", "shown", "said"),
    [
        (["y"], "running navigate", "now at orders"),
        (["e", '{"place": 5}', '{"place": "home"}', "y"], 'approved navigate with {"place": "home"}', "now at home"),
        (["n"], "declined navigate", "declined"),
        ([], "declined navigate", "declined"),
    ],
)
def test_consent(cli: Cli, types: Types, pydantic_ai: Server, lines: list[str], shown: str, said: str) -> None:
    types(*lines)
    ran = cli("run", pydantic_ai.url("frontend-tool"), "-m", "go", "--tools", DESK)
    assert ran.status == 0
    assert f"{shown}\n" in ran.out
    assert said in str(last_tool_message(pydantic_ai, "frontend-tool"))
    assert "the agent wants to run navigate" in ran.err


@pytest.mark.parametrize("flags", [(), ("--tools", DESK), ("--tools", DESK, "--yes")])
def test_interrupts_are_answered_with_and_without_tools(
    cli: Cli, types: Types, pydantic_ai: Server, flags: tuple[str, ...]
) -> None:
    types(*APPROVE, *APPROVE)
    ran = cli("run", pydantic_ai.url("approval-again"), "-m", "go", *flags)
    assert ran.out.endswith("assistant: delete_record said deleted 8\n[completed]\n")
    assert ran.status == 0


@pytest.mark.parametrize("flags", [(), ("--tools", DESK)])
def test_an_interrupt_nobody_answers_stays_open(
    cli: Cli, types: Types, pydantic_ai: Server, flags: tuple[str, ...]
) -> None:
    before = len(pydantic_ai.requests.get("two-approvals", []))
    types(*APPROVE, "a", "yes")
    ran = cli("run", pydantic_ai.url("two-approvals"), "-m", "go", *flags)
    assert len(pydantic_ai.requests["two-approvals"]) == before + 1
    assert ran.out.endswith("[interrupted]\n")
    assert ran.out.count("waiting for an answer to int-call_") == 2
    assert ran.status == 0


@pytest.mark.parametrize(("flags", "status"), [((), "interrupted"), (("--tools", DESK), "interrupted")])
def test_ctrl_c_at_an_interrupts_form(
    cli: Cli, stops_when_asked: None, pydantic_ai: Server, flags: tuple[str, ...], status: str
) -> None:
    ran = cli("run", pydantic_ai.url("approval"), "-m", "go", *flags)
    assert ran.status == 4
    assert ran.out.endswith(f"[{status}]\n")
    assert ran.err.endswith("error: stopped\n")


def test_ctrl_c_at_a_question_of_consent(cli: Cli, stops_when_asked: None, pydantic_ai: Server) -> None:
    ran = cli("run", pydantic_ai.url("frontend-tool"), "-m", "go", "--tools", DESK, "--json")
    assert ran.status == 4
    assert [call["name"] for call in ran.document["pendingToolCalls"]] == ["navigate"]


def test_what_every_exchange_tolerated_is_in_the_document(
    cli: Cli, types: Types, produce: Callable[..., Producer]
) -> None:
    types("a", "fine")
    ask = {"type": "interrupt", "interrupts": [{"id": "i-1", "reason": "input"}]}
    producer = produce(*frames(started(), {"type": "FUTURE"}, finished(outcome=ask)))
    document = cli("run", producer.url, "-m", "go", "--thread", "t-1", "--json").document
    # The second answer asks again, and nobody answers any more.
    assert [told["code"] for told in document["diagnostics"]].count("unknown_event") == 2
    assert document["status"] == "interrupted"
    assert producer.requests[1][1]["resume"][0]["payload"] == "fine"


async def test_stopped_before_anything_was_sent() -> None:
    async with HttpAgent("http://127.0.0.1:9/") as agent:
        run = agent.thread(tools=ToolRegistry()).run("hi")
        task = asyncio.ensure_future(follow(run, None, None))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not run.thread.messages
