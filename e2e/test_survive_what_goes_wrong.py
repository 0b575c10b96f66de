"""An agent that misbehaves, is away or dies: each run is shown as what it was, nothing runs that should not."""

import json
import sqlite3
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import expect

from e2e.conftest import Visitor
from e2e.pages.assistant import Assistant
from e2e.server import DemoProgram, DemoServer

Visit = Callable[..., Visitor]


@dataclass(frozen=True)
class Harm:
    """One mischief: its cards after the question, and words of the last one."""

    phrase: str
    cards: tuple[str, ...]
    words: str = ""


ENDS = (
    Harm("run error", ("text", "end:failed"), "The model broke down in the middle"),
    Harm("run error at once", ("end:failed",), "before it said anything"),
    Harm("http error", ("end:unreachable",), "503"),
    Harm("cut", ("text", "end:truncated"), "broke off before its end"),
    Harm("cancelled", ("text", "end:cancelled"), "The agent stopped"),
    Harm("broken rule", ("text", "end:rejected"), "is not open"),
    Harm("still open", ("text", "end:rejected"), "still open"),
    Harm("event after the end", ("text", "end:rejected"), "has finished"),
    Harm("not json", ("text", "end:rejected"), "cannot be read as JSON"),
    Harm("unknown event", ("text", "end:completed")),
    Harm("wrong run id", ("text", "end:completed")),
    Harm("failing patch", ("text", "end:completed")),
    Harm("chunks", ("text", "end:completed")),
    Harm("endless backend calls", (*["tool:check_stock:done"] * 8, "text", "end:cancelled"), "The agent stopped"),
)
CALLS = (
    Harm("cut in arguments", ("tool:place_order:refused", "end:truncated")),
    Harm("cut after call", ("tool:place_order:open", "end:truncated")),
    Harm("run error after call", ("tool:place_order:refused", "end:failed")),
    Harm("cancelled after call", ("tool:place_order:refused", "end:cancelled")),
    Harm("interrupt on call", ("tool:place_order:interrupted", "interrupt:open")),
    Harm("unadvertised tool", ("tool:launch_rocket:refused", "text", "end:completed")),
    Harm("wrong argument types", ("tool:place_order:refused", "text", "end:completed")),
    Harm("huge quantity", ("tool:place_order:refused", "text", "end:completed")),
    Harm("negative quantity", ("tool:place_order:refused", "text", "end:completed")),
    Harm("malformed arguments", ("tool:highlight:refused", "text", "end:completed")),
    Harm("good and bad calls", ("tool:highlight:done", "tool:highlight:refused", "text", "end:completed")),
)
SAID_BY_THE_SERVER = (r"unknown_event at .*? dropped", r"run_identity at [^\n]*", r"patch_failed at [^\n]*")


def test_every_end_of_a_run_is_told_as_what_it_is(demo: DemoServer, visit: Visit) -> None:
    visitor = visit(demo)
    visitor.guard.allow(*SAID_BY_THE_SERVER)
    chat = Assistant(visitor.app).open()
    for harm in ENDS:
        chat.new_thread().ask(f"mischief: {harm.phrase}")
        assert chat.transcript_shape()[1:] == list(harm.cards), harm.phrase
        expect(chat.ends.last).to_contain_text(harm.words)
        expect(chat.ends.last.get_by_role("button", name="Answer again")).to_be_visible()
        expect(chat.transcript).not_to_contain_text("This must not be shown")
        expect(chat.transcript).not_to_contain_text("This comes too late")
    # None of it is in the way of the next question, in the same conversation.
    chat.new_thread().ask("mischief: broken rule", "mischief: cut", "Where is order 42?")
    expect(chat.answers.last).to_contain_text("is shipped")
    shape = chat.transcript_shape()
    chat.reload()
    assert chat.transcript_shape() == shape


def test_no_order_comes_out_of_a_broken_run(demo: DemoServer, visit: Visit) -> None:
    before = len(demo.shop.orders())
    visitor = visit(demo)
    visitor.guard.allow(r"call_abandoned at [^\n]*")
    chat = Assistant(visitor.app).open()
    for harm in CALLS:
        chat.new_thread().ask(f"mischief: {harm.phrase}")
        assert chat.transcript_shape()[1:] == list(harm.cards), harm.phrase
    assert len(demo.shop.orders()) == before


def test_decide_about_a_call_whose_run_broke_off(demo: DemoServer, visit: Visit) -> None:
    before = len(demo.shop.orders(customer_id=1))
    chat = Assistant(visit(demo).app).open().ask("mischief: cut after call")
    card = chat.tool("place_order", "open")
    expect(card).to_contain_text("Nothing was run. Shall it run now?")
    chat.reload()
    card.get_by_role("button", name="Run it now").click()
    expect(chat.tool("place_order", "done")).to_have_count(1)
    chat.wait_rest()
    assert len(demo.shop.orders(customer_id=1)) == before + 1
    chat.new_thread().ask("mischief: cut after call")
    card.get_by_role("button", name="Decline").click()
    expect(chat.tool("place_order", "declined")).to_have_count(1)
    chat.wait_rest()
    assert len(demo.shop.orders(customer_id=1)) == before + 1


def test_an_agent_that_goes_on_for_ever(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("mischief: endless frontend calls")
    expect(chat.notice).to_contain_text("too many times in a row")
    chat.ask("Where is order 42?")
    expect(chat.answers.last).to_contain_text("is shipped")
    expect(chat.notice).to_have_count(0)


def test_an_agent_that_is_away(serve: Callable[..., DemoServer], visit: Visit) -> None:
    server = serve(AGENT_URL="http://127.0.0.1:9/agent")
    chat = Assistant(visit(server).app).open()
    expect(chat.model).to_contain_text("http://127.0.0.1:9/agent")
    expect(chat.suggestions).to_have_count(0)
    chat.ask("Where is order 42?")
    expect(chat.end("unreachable")).to_contain_text("could not be reached")
    expect(chat.questions).to_have_count(1)
    with chat.another_answer():
        chat.ends.last.get_by_role("button", name="Answer again").click()
    expect(chat.end("unreachable")).to_have_count(1)
    chat.app.go("Orders").wait_shown("/orders")
    expect(chat.app.heading).to_have_text("Orders")


BACKEND_DOWN = (
    r"WebSocket",
    r"ERR_CONNECTION",
    r"websocket error",
    r"\[Reflex .*",
    r"Cannot connect",
    r"xhr poll error",
)


def test_a_backend_that_is_killed_and_comes_back(serve: Callable[..., DemoServer], visit: Visit) -> None:
    server = serve(DEMO_MISCHIEF="1", DEMO_DELAY="0.01", DEMO_SLOW_DELAY="0.1")
    visitor = visit(server)
    visitor.guard.allow(*BACKEND_DOWN)
    chat = Assistant(visitor.app).open().ask("Where is order 42?", "Order 3 hand grinders for customer 5")
    shape = chat.transcript_shape()
    assert shape[-1] == "tool:place_order:asking"
    before = len(server.shop.orders(customer_id=5))
    server.kill()
    server.start()
    chat.reload()
    assert chat.transcript_shape() == shape
    chat.tool("place_order", "asking").get_by_role("button", name="Approve").click()
    expect(chat.tool("place_order", "done")).to_have_count(1)
    chat.wait_rest()
    assert len(server.shop.orders(customer_id=5)) == before + 1
    server.stop()
    server.start()
    chat.reload()
    expect(chat.tool("place_order", "done")).to_have_count(1)
    assert len(server.shop.orders(customer_id=5)) == before + 1

    # Killed in the middle of an answer: what was finished stays, and the rest is told as cut off.
    chat.begin("Count slowly to 200")
    expect(chat.page.locator("[data-live=true]")).to_contain_text("3")
    server.kill()
    server.start()
    chat.reload()
    expect(chat.end("restarted")).to_contain_text("restarted while the answer came in")
    expect(chat.questions.last).to_contain_text("Count slowly")
    chat.ask("Where is order 7?")
    expect(chat.answers.last).to_contain_text("Order 7")


def test_a_page_that_stays_open_while_the_backend_restarts(serve: Callable[..., DemoServer], visit: Visit) -> None:
    server = serve(DEMO_DELAY="0.01")
    visitor = visit(server)
    visitor.guard.allow(*BACKEND_DOWN)
    chat = Assistant(visitor.app).open("/orders").ask("Where is order 42?")
    offline = chat.page.get_by_role("status").filter(has_text="Connection lost")
    server.kill()
    expect(offline).to_be_visible()
    # What is typed meanwhile stays where it is, however it is sent.
    chat.input.fill("Where is order 7?")
    chat.input.press("Enter")
    chat.page.locator("#chat-composer").evaluate("(form) => form.requestSubmit()")
    expect(chat.send_button).to_be_disabled()
    expect(chat.input).to_have_value("Where is order 7?")
    # The page connects again by itself, and goes on where it was.
    server.start()
    expect(offline).to_have_count(0)
    expect(chat.input).to_have_value("Where is order 7?")
    expect(chat.questions).to_have_count(1)
    chat.send_button.click()
    expect(chat.answers).to_have_count(2)
    expect(chat.answers.last).to_contain_text("Order 7")
    expect(chat.answers.first).to_contain_text("is shipped")
    chat.app.go("Invoices").wait_shown("/invoices")


def test_a_kill_while_an_order_is_placed(serve: Callable[..., DemoServer], visit: Visit) -> None:
    server = serve(DEMO_DELAY="0.01")
    visitor = visit(server)
    visitor.guard.allow(*BACKEND_DOWN)
    chat = Assistant(visitor.app).open().ask("Order 3 hand grinders for customer 5")
    before = len(server.shop.orders())
    lock = sqlite3.connect(server.data / "shop.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    chat.tool("place_order", "asking").get_by_role("button", name="Approve").click()
    expect(chat.tool("place_order", "running")).to_have_count(1)
    server.kill()
    lock.execute("ROLLBACK")
    lock.close()
    server.start()
    chat.reload()
    card = chat.tool("place_order", "open")
    expect(card).to_contain_text("it may have happened. It is not run again")
    expect(card.get_by_role("button", name="Run it now")).to_have_count(0)
    card.get_by_role("button", name="Leave it at that").click()
    chat.wait_rest()
    expect(chat.answers.last).to_contain_text("may or may not have happened")
    assert len(server.shop.orders()) == before


@pytest.mark.parametrize("whole_group", [True, False], ids=["in a terminal", "by its process id"])
def test_stop_the_program_while_it_answers(built: None, visit: Visit, tmp_path: Path, whole_group: bool) -> None:
    program = DemoProgram(tmp_path / "demo", DEMO_SLOW_DELAY="0.1")
    try:
        program.start()
        visitor = visit(program)
        visitor.guard.allow("ERR_CONNECTION_REFUSED", "WebSocket connection")
        chat = Assistant(visitor.app).open().begin("Count slowly to 200")
        expect(chat.page.locator("[data-live=true]")).to_contain_text("2")
        question = {"id": "m1", "role": "user", "content": "Count slowly to 200"}
        body = {"threadId": "another", "runId": "r1", "messages": [question], "tools": [], "context": [], "state": {}}
        request = urllib.request.Request(
            f"{program.url}/agent", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        # Another client reads an answer too, and does not hang up.
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert answer.readline().startswith(b"data: ")
            assert program.interrupt(whole_group=whole_group) == 0
        lines = [line for line in program.log.read_text().splitlines() if line.strip()]
        assert lines[0].startswith("Preparing the pages")
        assert program.url in lines[1]
        assert lines[2:] == ["Stopped."]
        # What had come is kept, and told as cut off.
        program.start()
        chat.reload()
        expect(chat.end("restarted")).to_have_count(1)
        expect(chat.answers).to_contain_text("2")
    finally:
        program.stop()
