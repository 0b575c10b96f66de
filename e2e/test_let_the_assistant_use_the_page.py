"""The visitor asks, and the assistant shows pages, points, filters, fills in, draws and captures, in this very page."""

from collections.abc import Callable

from playwright.sync_api import expect

from e2e.conftest import Visitor
from e2e.pages.assistant import Assistant
from e2e.pages.back_office import Listing, OrderForm
from e2e.server import DemoServer

Visit = Callable[..., Visitor]


def test_be_taken_to_a_page(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("Open order 42")
    assert chat.app.address == "/orders/42"
    expect(chat.app.heading).to_have_text("Order 42")
    expect(chat.tool("navigate", "done")).to_contain_text("/orders/42")
    chat.ask("Go to the invoices", "Open the dashboard")
    assert chat.app.address == "/"
    expect(chat.tool("navigate", "done")).to_have_count(3)
    expect(chat.answers.last).to_contain_text("You are on")


def test_look_up_and_open_in_one_go(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("Look up order 42 and open its page")
    expect(chat.tool("lookup_order", "done")).to_have_count(1)
    expect(chat.tool("navigate", "done")).to_have_count(1)
    assert chat.app.address == "/orders/42"


def test_be_shown_where(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("Highlight the revenue chart")
    expect(chat.app.element("revenue-chart")).to_have_class("card agent-highlight")
    expect(chat.app.element("revenue-chart")).to_be_in_viewport()
    expect(chat.app.announcer).to_have_text("The assistant points at: Revenue by month")
    chat.ask("highlight the moon")
    expect(chat.answers.last).to_contain_text("is not on this page")


def test_have_a_list_filtered(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("Show pending orders")
    assert chat.app.address == "/orders?status=pending"
    pending = len(demo.shop.orders(status="pending"))
    assert Listing(chat.app, "orders").total() == pending
    expect(chat.answers.last).to_contain_text(f"shows {pending} pending orders")
    chat.ask("Show overdue invoices")
    assert chat.app.address == "/invoices?status=overdue"
    chat.ask("Filter products: kettle")
    assert chat.app.address == "/products?q=kettle"
    expect(Listing(chat.app, "products").tiles).to_have_count(len(demo.shop.products("kettle")))
    expect(chat.tool("set_filter", "done")).to_have_count(3)


def test_have_the_form_filled_in(demo: DemoServer, visit: Visit) -> None:
    orders = len(demo.shop.orders(customer_id=3))
    chat = Assistant(visit(demo).app).open().ask("Fill the form with 5 latte cups for customer 3 note fragile")
    assert chat.app.address == "/orders/new"
    assert OrderForm(chat.app).values() == {"customer": "3", "product": "CUP-01", "quantity": "5", "note": "fragile"}
    expect(chat.tool("fill_form", "done")).to_have_count(1)
    expect(chat.answers.last).to_contain_text("Nothing was sent")
    assert len(demo.shop.orders(customer_id=3)) == orders


def test_have_the_chart_captured(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open("/orders").ask("Capture the chart")
    assert chat.app.address == "/"
    card = chat.tool("capture_chart", "done")
    picture = card.locator("img")
    picture.scroll_into_view_if_needed()
    chat.page.wait_for_function("(image) => image.complete && image.naturalWidth > 400", arg=picture.element_handle())
    expect(card).to_contain_text("Revenue by month")
    expect(chat.answers.last).to_contain_text("the picture of the revenue chart")


def test_no_page_that_is_none(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open("/orders").ask("go to the moon", "mischief: unknown page")
    assert chat.app.address == "/orders"
    expect(chat.tool("navigate", "refused")).to_have_count(2)
    expect(chat.tool("navigate").last).to_contain_text("do not fit the tool")
    expect(chat.end("completed")).to_have_count(2)


def test_on_a_phone_the_sheet_makes_room(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo, viewport="phone").app).open()
    chat.page.locator("#assistant-open").click()
    chat.ask("Show pending orders")
    expect(chat.page.locator("html")).to_have_attribute("data-assistant", "half")
    expect(chat.app.heading).to_have_text("Orders")
    expect(chat.app.heading).to_be_in_viewport()
    expect(chat.input).to_be_in_viewport()
    assert chat.app.overflow() == 0


NEVER_ANSWERS = "Object.defineProperty(window, 'agentTools', { value: { run: () => new Promise(() => {}) } })"
"""A page that takes calls and is not heard of again."""


def test_stop_what_a_page_does_not_finish(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open("/orders")
    chat.page.evaluate(NEVER_ANSWERS)
    chat.begin("Show overdue invoices")
    chat.page.locator("[data-tool=set_filter][data-phase=running]").wait_for()
    chat.stop_button.click()
    chat.wait_rest()
    expect(chat.tool("set_filter", "cancelled")).to_have_count(1)
    chat.reload()
    expect(chat.tool("set_filter", "cancelled")).to_have_count(1)
    chat.ask("Show overdue invoices")
    expect(chat.tool("set_filter", "done")).to_have_count(1)
    assert chat.app.address == "/invoices?status=overdue"


def test_close_the_tab_that_has_the_call(demo: DemoServer, visit: Visit) -> None:
    visitor = visit(demo)
    visitor.guard.allow(r"tool set_filter failed on call .*? \(page_closed\)")
    chat = Assistant(visitor.app).open("/orders")
    chat.page.evaluate(NEVER_ANSWERS)
    chat.begin("Show overdue invoices")
    chat.page.locator("[data-tool=set_filter][data-phase=running]").wait_for()
    chat.page.close()
    again = Assistant(visitor.tab()).open("/products").wait_rest()
    expect(again.tool("set_filter", "failed")).to_contain_text("closed or reloaded")
    expect(again.end("completed")).to_have_count(1)
    assert again.app.address == "/products"


def test_go_back_to_where_one_was(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open("/products").ask("Open order 42", "Show pending orders")
    for address in ("/orders/42", "/products"):
        while chat.app.address != address:
            chat.page.go_back()
            chat.app.wait_shown()
        expect(chat.tools).to_have_count(2)
    chat.wait_ready().ask("Highlight the navigation")
    expect(chat.tool("highlight", "done")).to_have_count(1)


def test_hold_still_while_it_works(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo, calm=True).app).open().begin("Count slowly to 200")
    expect(chat.page.locator("[data-live=true]")).to_contain_text("2")
    moving = chat.page.evaluate(
        "document.getAnimations().filter((one) => one.effect.getComputedTiming().activeDuration > 20)"
        ".map((one) => one.effect.target.className)"
    )
    assert not moving
    chat.stop_button.click()
    chat.wait_rest()
