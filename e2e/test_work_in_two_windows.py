"""Two tabs show one conversation and run each call once; two visitors share nothing."""

import re
from collections.abc import Callable

from playwright.sync_api import expect

from e2e.conftest import Visitor
from e2e.pages.assistant import Assistant
from e2e.server import DemoServer

Visit = Callable[..., Visitor]


def test_two_tabs_of_one_conversation(demo: DemoServer, visit: Visit) -> None:
    visitor = visit(demo)
    left, right = Assistant(visitor.app).open("/orders"), Assistant(visitor.tab())
    left.ask("Where is order 42?")
    right.open("/products")
    expect(right.answers).to_contain_text("is shipped")

    # A call runs in the tab that was used last, and only there.
    right.ask("Show overdue invoices")
    assert right.app.address == "/invoices?status=overdue"
    assert left.app.address == "/orders"
    left.wait_rest(1)
    for tab in (left, right):
        expect(tab.tool("set_filter", "done")).to_have_count(1)

    left.begin("Count slowly to 15")
    expect(right.page.locator("[data-live=true]")).to_contain_text("3")
    left.wait_rest(2)
    right.wait_rest(2)
    expect(right.answers.last).to_contain_text("15")
    assert left.transcript_shape() == right.transcript_shape()


def test_a_decision_is_made_once(demo: DemoServer, visit: Visit) -> None:
    before = len(demo.shop.orders(customer_id=7))
    visitor = visit(demo)
    left, right = Assistant(visitor.app).open("/orders"), Assistant(visitor.tab())
    left.ask("Order 1 milk pitcher for customer 7")
    right.open("/orders")
    cards = [tab.tool("place_order", "asking") for tab in (left, right)]
    for card in cards:
        expect(card).to_have_count(1)
    # Both press at once: neither waits to see what the other did.
    for card in cards:
        card.get_by_role("button", name="Approve").evaluate("(button) => { setTimeout(() => button.click(), 400); }")
    for tab in (left, right):
        expect(tab.tool("place_order", "done")).to_have_count(1)
        tab.wait_rest()
        expect(tab.tool("place_order")).to_have_count(1)
    assert len(demo.shop.orders(customer_id=7)) == before + 1


def test_two_visitors_share_nothing(demo: DemoServer, visit: Visit) -> None:
    one, other = Assistant(visit(demo).app).open(), Assistant(visit(demo, language="ko").app).open()
    one.ask("Show invoice 42")
    picture = one.tool("get_invoice").locator("img").get_attribute("src")
    expect(other.questions).to_have_count(0)
    other.ask("주문 7 어디 있어?")
    other.begin("30까지 천천히 세줘")
    expect(one.questions).to_have_count(1)
    expect(one.panel).to_have_attribute("data-chat-active", "false")
    expect(one.app.heading).to_have_text("Dashboard")
    one.ask("Go to the orders")
    assert other.app.address == "/"
    lines = one.show_threads()
    expect(lines).to_have_count(1)
    expect(lines).to_contain_text("Show invoice 42")
    assert picture is not None
    assert len(picture.rsplit("/", 1)[-1]) > 20, "the address of a picture could be guessed"


def test_another_visitors_thread_cannot_be_taken(demo: DemoServer, visit: Visit) -> None:
    owner, thief = visit(demo), visit(demo)
    chat = Assistant(owner.app).open().ask("Where is order 42?")
    thread = chat.page.evaluate("sessionStorage.getItem('halla-thread')")
    assert re.fullmatch(r"[0-9a-f-]{36}", thread)
    other = Assistant(thief.app).open().ask("Who won the match?")
    other.page.evaluate("(thread) => sessionStorage.setItem('halla-thread', thread)", thread)
    other.reload()
    expect(other.questions).to_have_count(1)
    expect(other.questions).to_contain_text("Who won the match?")
    expect(other.title).to_have_text("Who won the match?")
    expect(other.tools).to_have_count(0)
