"""The conversation is there after a reload at any point, on the next visit, on every page, and under its name."""

import re
from collections.abc import Callable

from playwright.sync_api import expect

from e2e.conftest import Visitor
from e2e.pages.assistant import Assistant
from e2e.server import DemoServer

Visit = Callable[..., Visitor]
ORDER = "Order 3 hand grinders for customer 5"


def test_reload_in_the_middle_of_an_answer(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().begin("Count slowly to 40")
    expect(chat.page.locator("[data-live=true]")).to_contain_text("5")
    chat.reload()
    # The answer went on meanwhile, and the page catches up with it.
    expect(chat.page.locator("#assistant-panel")).to_have_attribute("data-chat-active", "true")
    expect(chat.page.locator("[data-live=true]")).to_contain_text("5")
    chat.wait_rest()
    expect(chat.answers).to_contain_text("40")
    assert len(re.findall(r"\b40\b", chat.answers.inner_text())) == 1
    expect(chat.end("completed")).to_have_count(1)


def test_reload_in_the_middle_of_a_call_of_this_page(demo: DemoServer, visit: Visit) -> None:
    visitor = visit(demo)
    visitor.guard.allow(r"tool set_filter failed on call .*? \(page_closed\)")
    chat = Assistant(visitor.app).open("/orders")
    # This page never answers: it is reloaded while the call is with it.
    chat.page.evaluate("Object.defineProperty(window, 'agentTools', { value: { run: () => new Promise(() => {}) } })")
    chat.begin("Show overdue invoices")
    chat.page.locator("[data-tool=set_filter][data-phase=running]").wait_for()
    chat.reload()
    chat.wait_rest()
    # What the page still did is unknown, and that is what is said; nothing is run a second time.
    expect(chat.tool("set_filter")).to_have_count(1)
    expect(chat.tool("set_filter", "done")).to_have_count(0)
    expect(chat.tool("set_filter")).to_contain_text("closed or reloaded")
    assert chat.app.address == "/orders"
    expect(chat.end("completed")).to_have_count(1)


def test_reload_with_a_decision_open(demo: DemoServer, visit: Visit) -> None:
    before = len(demo.shop.orders(customer_id=5))
    chat = Assistant(visit(demo).app).open().ask(ORDER)
    expect(chat.tool("place_order", "asking")).to_have_count(1)
    chat.reload()
    card = chat.tool("place_order", "asking")
    expect(card.get_by_label("Quantity")).to_have_value("3")
    assert len(demo.shop.orders(customer_id=5)) == before
    card.get_by_role("button", name="Approve").click()
    expect(chat.tool("place_order", "done")).to_have_count(1)
    chat.wait_rest()
    assert len(demo.shop.orders(customer_id=5)) == before + 1
    chat.reload()
    expect(chat.tool("place_order", "done")).to_have_count(1)
    assert len(demo.shop.orders(customer_id=5)) == before + 1


def test_reload_with_a_question_of_the_agent_open(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("Transfer 30,000 won to Olle Coffee for the refund")
    expect(chat.interrupt).to_have_count(1)
    chat.reload()
    chat.interrupt.get_by_role("button", name="Approve").click()
    expect(chat.decisions).to_have_count(1)
    chat.wait_rest()
    assert demo.shop.transfers()[-1].amount_krw == 30_000
    shape = chat.transcript_shape()
    chat.reload()
    assert chat.transcript_shape() == shape


def test_every_card_is_the_same_after_a_reload(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open()
    chat.ask("Weather in Seoul and stock of kettles", "Build the report", "Show invoice 42", "Show a chart of revenue")
    shape, words = chat.transcript_shape(), chat.transcript.inner_text()
    chat.reload()
    assert chat.transcript_shape() == shape
    assert chat.transcript.inner_text() == words


def test_on_every_page_and_on_the_next_visit(demo: DemoServer, visit: Visit) -> None:
    visitor = visit(demo)
    chat = Assistant(visitor.app).open().ask("Where is order 42?")
    chat.input.fill("a thought half wri")
    for link in ("Orders", "Invoices", "New order"):
        chat.app.go(link).wait_shown()
        expect(chat.answers).to_contain_text("is shipped")
        expect(chat.input).to_have_value("a thought half wri")
    chat.page.close()
    again = Assistant(visitor.tab()).open("/products")
    expect(again.answers).to_contain_text("is shipped")
    expect(again.title).to_have_text("Where is order 42?")


def test_several_conversations_with_names(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("Where is order 42?")
    chat.new_thread()
    expect(chat.questions).to_have_count(0)
    chat.ask("Where is order 7?")
    lines = chat.show_threads()
    expect(lines).to_have_count(2)
    lines.filter(has_text="order 7").get_by_role("button", name="Rename").click()
    chat.page.get_by_label("Title").fill("The <b>slow</b> one")
    chat.page.get_by_role("button", name="Save").click()
    expect(lines.filter(has_text="slow")).to_contain_text("The <b>slow</b> one")
    lines.filter(has_text="order 42").locator(".thread-open").click()
    expect(chat.answers).to_contain_text("is shipped")
    expect(chat.title).to_have_text("Where is order 42?")
    chat.reload()
    expect(chat.title).to_have_text("Where is order 42?")
    lines = chat.show_threads()
    lines.filter(has_text="order 42").get_by_role("button", name="Delete").click()
    chat.page.get_by_role("alertdialog").get_by_role("button", name="Cancel").click()
    expect(lines).to_have_count(2)
    lines.filter(has_text="order 42").get_by_role("button", name="Delete").click()
    chat.page.locator("#thread-delete").click()
    expect(lines).to_have_count(1)
    chat.page.get_by_role("button", name="Back to the conversation").click()
    expect(chat.title).to_have_text("The <b>slow</b> one")
    chat.reload()
    expect(chat.questions).to_contain_text("order 7")


def test_delete_a_conversation_that_still_answers(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().begin("Count slowly to 300")
    expect(chat.page.locator("[data-live=true]")).to_contain_text("2")
    lines = chat.show_threads()
    lines.get_by_role("button", name="Delete").click()
    chat.page.locator("#thread-delete").click()
    expect(lines.filter(has_text="Count slowly")).to_have_count(0)
    chat.page.get_by_role("button", name="Back to the conversation").click()
    expect(chat.questions).to_have_count(0)
    chat.wait_ready().ask("Where is order 42?")
    expect(chat.answers).to_contain_text("is shipped")
