"""Everything is there for those who do not see it: axe on every page and state, announcements, names."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from e2e.conftest import Visitor
from e2e.pages.accessibility import violations_in_both_themes
from e2e.pages.assistant import Assistant
from e2e.pages.back_office import PATHS, OrderForm
from e2e.server import DemoServer

Visit = Callable[..., Visitor]


@pytest.mark.parametrize("viewport", ["desktop", "phone"])
def test_every_page_of_the_back_office(demo: DemoServer, visit: Visit, viewport: str) -> None:
    visitor = visit(demo, viewport=viewport)
    app = visitor.app.open("/")
    found = {}
    for name, path in PATHS.items():
        app.page.evaluate("(path) => window.hallaNavigate(path)", path)
        app.wait_shown(path)
        found[name] = violations_in_both_themes(app.page)
    assert not any(found.values()), "\n".join(f"{name}: {each}" for name, many in found.items() for each in many)


def test_every_state_of_the_back_office(demo: DemoServer, visit: Visit) -> None:
    visitor = visit(demo)
    visitor.guard.allow("404.*nowhere")
    app = visitor.app
    found = {}
    for name, path in {
        "nothing found": "/orders?q=zzzz",
        "mistaken filter": "/invoices?status=eaten",
        "no such order": "/orders/99999",
        "no such page": "/nowhere",
    }.items():
        app.open(path)
        found[name] = violations_in_both_themes(app.page)
    app.open("/orders/new")
    OrderForm(app).submit.click()
    expect(OrderForm(app).error("customer")).not_to_be_empty()
    found["mistakes in the form"] = violations_in_both_themes(app.page)
    app.open("/")
    app.element("revenue-chart").get_by_text("Show as a table").click()
    assert app.tool("highlight", {"element": "revenue-chart"})["ok"]
    found["highlighted, with its table"] = violations_in_both_themes(app.page)
    assert not any(found.values()), "\n".join(f"{name}: {each}" for name, many in found.items() for each in many)


CONVERSATION = (
    "Where is order 42?",
    "Weather in Seoul and stock of grinders",
    "Show invoice 42",
    "Shipping quote to Busan for 5 kg",
    "What should we reorder?",
    "Build the report",
    "Show me markdown",
    "Capture the chart",
    "Show a chart of revenue",
    "mischief: unknown tool",
    "mischief: malformed arguments",
    "mischief: hostile result",
    "mischief: run error",
    "mischief: cut",
    "mischief: broken rule",
    "mischief: cancelled",
    "mischief: http error",
)
"""Every card there is, and every way for a run to end."""
PANEL = "#assistant-panel"
"""The pages beside it have their own tests."""


def test_every_card_of_a_conversation(demo: DemoServer, visit: Visit) -> None:
    visitor = visit(demo)
    chat = Assistant(visitor.app).open("/orders")
    found = {"empty": violations_in_both_themes(chat.page)}
    chat.ask(*CONVERSATION)
    for fold in chat.page.locator("#assistant-transcript summary").all():
        fold.click()
    found["every card, unfolded"] = violations_in_both_themes(chat.page, PANEL)
    chat.new_thread().ask("Order 3 hand grinders for customer 5")
    found["consent"] = violations_in_both_themes(chat.page, PANEL)
    chat.tool("place_order").get_by_label("Quantity").fill("0")
    chat.tool("place_order").get_by_role("button", name="Approve").click()
    expect(chat.tool("place_order").get_by_role("alert")).to_be_visible()
    found["consent with a mistake"] = violations_in_both_themes(chat.page, PANEL)
    chat.new_thread().ask("Transfer 50,000 won to Harbor Beans for the refund")
    found["interrupt"] = violations_in_both_themes(chat.page, PANEL)
    chat.interrupt.get_by_role("button", name="Cancel the question").click()
    expect(chat.decisions).to_have_count(1)
    chat.wait_rest()
    chat.attach({"name": "notes.txt", "mimeType": "text/plain", "buffer": b"words"})
    expect(chat.page.get_by_role("list", name="Attachments")).to_be_visible()
    chat.page.locator(".bubble").first.get_by_role("button", name="Edit and send again").click()
    found["attachment and edited message"] = violations_in_both_themes(chat.page, PANEL)
    chat.page.get_by_role("button", name="Cancel").click()
    chat.show_threads()
    found["conversations"] = violations_in_both_themes(chat.page, PANEL)
    chat.page.get_by_role("button", name="Delete").first.click()
    chat.page.get_by_role("alertdialog").wait_for()
    found["before deleting"] = violations_in_both_themes(chat.page, PANEL)
    chat.page.get_by_role("alertdialog").get_by_role("button", name="Cancel").click()
    chat.page.locator("#chat-threads").click()
    chat.inspector.open()
    for tab in ("events", "journal", "legacy"):
        chat.inspector.tab(tab)
        expect(chat.inspector.rows.first).to_be_visible()
        found[f"inspector, {tab}"] = violations_in_both_themes(chat.page, PANEL)
    chat.inspector.close()
    chat.begin("Count slowly to 200")
    expect(chat.page.locator("[data-live=true]")).to_contain_text("2")
    found["streaming"] = violations_in_both_themes(chat.page, PANEL)
    chat.stop_button.click()
    chat.wait_rest()
    assert not any(found.values()), "\n".join(f"{name}: {each}" for name, many in found.items() for each in many)


def test_the_sheet_on_a_phone(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo, viewport="phone").app).open()
    chat.page.locator("#assistant-open").click()
    chat.ask("Weather in Seoul and stock of grinders", "Build the report")
    assert not violations_in_both_themes(chat.page)
    chat.ask("Order 3 hand grinders for customer 5")
    assert not violations_in_both_themes(chat.page)
    assert chat.app.overflow() == 0


def test_what_is_read_out_of_a_conversation(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open()
    expect(chat.transcript).to_have_accessible_name("Conversation")
    expect(chat.transcript).to_have_attribute("aria-live", "polite")
    chat.begin("Count slowly to 30")
    # While it streams it is shown and not read out word by word; once finished it stands in the live part.
    expect(chat.page.locator("#chat-live")).to_have_attribute("aria-live", "off")
    expect(chat.page.locator("#chat-live [data-live=true]")).to_contain_text("2")
    chat.wait_rest()
    expect(chat.page.locator("[aria-live=off] [data-card=text]")).to_have_count(0)
    expect(chat.answers).to_contain_text("30")


def test_a_new_page_is_announced_and_has_one_heading(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/")
    for link, heading in (("Orders", "Orders"), ("Invoices", "Invoices"), ("Dashboard", "Dashboard")):
        app.go(link).wait_shown()
        expect(app.announcer).to_have_text(heading)
        expect(app.heading).to_have_count(1)
        expect(app.navigation.locator("[aria-current=page]")).to_have_text(link)
    app.open("/orders/42")
    expect(app.navigation.locator("[aria-current=true]")).to_have_text("Orders")
