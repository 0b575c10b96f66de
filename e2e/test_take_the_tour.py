"""The stakeholder tour: two minutes with the demo, from the dashboard to an approved transfer; it takes the pictures.

With `E2E_WRITE_SCREENSHOTS=1` they go to `docs/images/`, where the README shows them.
"""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from e2e.conftest import RESULTS, ROOT, WRITES_DOCS, Visitor
from e2e.pages.accessibility import STILL
from e2e.pages.assistant import Assistant
from e2e.server import DemoServer

Visit = Callable[..., Visitor]


def picture(chat: Assistant, name: str) -> None:
    """Take a picture of what is to be seen, once nothing moves."""
    folder: Path = ROOT / "docs" / "images" if WRITES_DOCS else RESULTS / "images"
    folder.mkdir(parents=True, exist_ok=True)
    chat.page.wait_for_function(STILL)
    chat.page.screenshot(path=folder / f"{name}.png", animations="disabled", caret="hide")


def test_two_minutes_with_the_demo(serve: Callable[..., DemoServer], visit: Visit) -> None:
    server = serve(DEMO_DELAY="0.01", DEMO_SLOW_DELAY="0.1")
    chat = Assistant(visit(server).app).open("/")
    expect(chat.suggestions).to_have_count(5)
    picture(chat, "dashboard")

    chat.ask("Where is order 42?", "Weather in Seoul, Busan and Jeju, and stock of grinders")
    picture(chat, "parallel-lookups")
    chat.ask("Show invoice 42")
    image = chat.tool("get_invoice", "done").locator("img")
    image.scroll_into_view_if_needed()
    chat.page.wait_for_function("(image) => image.complete && image.naturalWidth > 0", arg=image.element_handle())
    picture(chat, "invoice")
    chat.ask("Shipping quote to Busan for 5 kg", "What should we reorder?", "Build the report")
    expect(chat.page.locator("[data-lane]")).to_have_count(2)
    picture(chat, "report")

    chat.ask("Highlight the revenue chart")
    expect(chat.app.element("revenue-chart")).to_be_in_viewport()
    picture(chat, "highlight")
    chat.ask("Capture the chart", "Show pending orders")
    assert chat.app.address == "/orders?status=pending"
    picture(chat, "filtered-orders")
    chat.ask("Show a chart of revenue")

    before = len(server.shop.orders(customer_id=5))
    chat.ask("Order 3 hand grinders for customer 5")
    consent = chat.tool("place_order", "asking")
    consent.get_by_label("Quantity").fill("2")
    picture(chat, "consent")
    consent.get_by_role("button", name="Approve").click()
    expect(chat.tool("place_order", "done")).to_have_count(1)
    chat.wait_rest()
    assert len(server.shop.orders(customer_id=5)) == before + 1

    chat.ask("Transfer 50,000 won to Harbor Beans for the refund")
    picture(chat, "interrupt")
    chat.interrupt.get_by_role("button", name="Approve").click()
    expect(chat.decisions).to_have_count(1)
    chat.wait_rest()
    assert server.shop.transfers()[-1].amount_krw == 50_000

    chat.inspector.open()
    expect(chat.inspector.rows.first).to_be_visible()
    picture(chat, "inspector")
    chat.inspector.tab("legacy")
    expect(chat.inspector.content.locator(".lost").first).to_be_visible()
    picture(chat, "legacy-view")
    chat.inspector.close()

    chat.app.theme_toggle.click()
    chat.app.language("ko")
    chat.app.go("대시보드").wait_shown("/")
    expect(chat.app.heading).to_have_text("대시보드")
    picture(chat, "korean-dark")


def test_the_same_on_a_phone_and_a_tablet(serve: Callable[..., DemoServer], visit: Visit) -> None:
    server = serve(DEMO_DELAY="0.01")
    for viewport in ("phone", "tablet"):
        chat = Assistant(visit(server, viewport=viewport).app).open("/")
        picture(chat, f"{viewport}-dashboard")
        chat.page.locator("#assistant-open").click()
        chat.ask("Weather in Seoul and stock of grinders")
        picture(chat, f"{viewport}-assistant")
        chat.ask("Show pending orders")
        picture(chat, f"{viewport}-both")
        assert chat.app.overflow() == 0
