"""Someone without a mouse goes everywhere and does everything, and always sees where they are."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from e2e.conftest import Visitor
from e2e.pages.assistant import Assistant
from e2e.pages.back_office import Listing, OrderForm
from e2e.server import DemoServer

Visit = Callable[..., Visitor]

FOCUS = """() => {
  const one = document.activeElement;
  const ring = [null, '::after'].map((part) => getComputedStyle(one, part)).some((style) =>
    style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0 || style.boxShadow !== 'none');
  const box = one.getBoundingClientRect();
  const seen = box.width > 0 && box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth;
  return { name: one.id || one.textContent.trim().slice(0, 40) || one.tagName, ring, seen };
}"""


def walk(page: Page, steps: int) -> list[dict[str, object]]:
    """Press Tab so often, and say where that leads."""
    places = []
    for _ in range(steps):
        page.keyboard.press("Tab")
        places.append(page.evaluate(FOCUS))
    return places


def tab_to(page: Page, name: str, most: int = 60) -> None:
    """Press Tab until the control with this id or text has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if str(page.evaluate(FOCUS)["name"]) == name:
            return
    raise AssertionError(f"{name!r} was not reached with {most} tabs")


def test_see_the_focus_wherever_it_goes(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/orders?status=pending")
    places = walk(app.page, 24)
    assert places[0]["name"] == "Skip to content"
    assert len({str(place["name"]) for place in places}) > 20
    assert not [place["name"] for place in places if not place["ring"]], "no focus ring"
    assert not [place["name"] for place in places if not place["seen"]], "focus out of sight"


def test_skip_to_the_content(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/orders/new")
    app.page.keyboard.press("Tab")
    app.page.keyboard.press("Enter")
    expect(app.main).to_be_focused()
    tab_to(app.page, "new-order-customer", most=3)


def test_find_an_order_and_open_it(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/")
    tab_to(app.page, "Orders")
    app.page.keyboard.press("Enter")
    app.wait_shown("/orders")
    tab_to(app.page, "orders-query")
    app.page.keyboard.type("harbor")
    app.wait_shown("/orders?q=harbor")
    tab_to(app.page, "orders-status", most=3)
    app.page.keyboard.type("sh")
    app.wait_shown("/orders?q=harbor&status=shipped")
    found = demo.shop.orders(status="shipped", query="harbor")
    expect(Listing(app, "orders").rows).to_have_count(len(found))
    tab_to(app.page, f"#{found[0].id}", most=5)
    app.page.keyboard.press("Enter")
    app.wait_shown(f"/orders/{found[0].id}")


def test_place_an_order(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/orders/new")
    tab_to(app.page, "new-order-customer")
    app.page.keyboard.type("bl")
    app.page.keyboard.press("Tab")
    app.page.keyboard.type("tamp")
    app.page.keyboard.press("Tab")
    app.page.keyboard.press("ControlOrMeta+A")
    app.page.keyboard.type("3")
    app.page.keyboard.press("Tab")
    app.page.keyboard.type("ring the bell twice")
    app.page.keyboard.press("Shift+Tab")
    form = OrderForm(app)
    expect(form.customer).to_have_value("1")
    expect(form.product).to_have_value("TOOL-01")
    app.page.keyboard.press("Enter")
    expect(app.main).to_contain_text("is placed")
    expect(app.element("order-summary")).to_contain_text("ring the bell twice")


def test_switch_theme_and_language(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/")
    tab_to(app.page, "theme-toggle")
    app.page.keyboard.press("Space")
    expect(app.page.locator("html.dark")).to_have_count(1)
    app.page.keyboard.press("Shift+Tab")
    app.page.keyboard.press("Enter")
    expect(app.heading).to_have_text("대시보드")
    expect(app.page.locator("#language-ko")).to_be_focused()


def test_reach_and_leave_the_sheet_on_a_phone(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo, viewport="phone").app.open("/")
    app.page.locator("#assistant-open").focus()
    app.page.keyboard.press("Enter")
    expect(app.page.locator("#assistant-title")).to_be_focused()
    app.page.keyboard.press("Escape")
    expect(app.page.locator("#assistant-open")).to_be_focused()


def test_talk_to_the_assistant(demo: DemoServer, visit: Visit) -> None:
    before = len(demo.shop.orders(customer_id=8))
    chat = Assistant(visit(demo).app).open("/orders")
    tab_to(chat.page, "chat-input")
    chat.page.keyboard.type("Order 2 tampers")
    chat.page.keyboard.press("Shift+Enter")
    chat.page.keyboard.type("for customer 8")
    assert chat.input.input_value() == "Order 2 tampers\nfor customer 8"
    chat.page.keyboard.press("Enter")
    chat.wait_rest(0)
    card = chat.tool("place_order", "asking")
    expect(card).to_have_count(1)
    quantity = str(card.get_by_label("Quantity").get_attribute("id"))
    card.get_by_label("Customer number").focus()
    tab_to(chat.page, quantity, most=4)
    chat.page.keyboard.press("ControlOrMeta+A")
    chat.page.keyboard.type("1")
    tab_to(chat.page, "Approve", most=4)
    chat.page.keyboard.press("Enter")
    expect(chat.tool("place_order", "done")).to_have_count(1)
    chat.wait_rest()
    assert len(demo.shop.orders(customer_id=8)) == before + 1


def test_stop_an_answer(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open()
    tab_to(chat.page, "chat-input")
    chat.page.keyboard.type("Count slowly to 300")
    chat.page.keyboard.press("Enter")
    expect(chat.page.locator("[data-live=true]")).to_contain_text("2")
    tab_to(chat.page, "chat-stop", most=4)
    chat.page.keyboard.press("Enter")
    chat.wait_rest(0)
    expect(chat.end("stopped")).to_have_count(1)


def test_reach_the_consent_from_the_composer(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("Order 2 tampers for customer 8")
    chat.input.focus()
    for _ in range(20):
        chat.page.keyboard.press("Shift+Tab")
        if chat.page.evaluate("document.activeElement.textContent") == "Decline":
            break
    chat.page.keyboard.press("Enter")
    expect(chat.tool("place_order", "declined")).to_have_count(1)


def test_leave_the_conversations_and_the_inspector(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("Where is order 42?")
    tab_to(chat.page, "chat-inspector", most=80)
    chat.page.keyboard.press("Enter")
    expect(chat.inspector.dialog).to_be_visible()
    for _ in range(30):
        chat.page.keyboard.press("Tab")
        assert chat.page.evaluate(
            "document.activeElement === document.body || !!document.activeElement.closest('dialog')"
        )
    chat.page.keyboard.press("Escape")
    expect(chat.page.locator("#chat-inspector")).to_be_focused()
    chat.page.keyboard.press("Shift+Tab")
    chat.page.keyboard.press("Enter")
    expect(chat.page.locator("#thread-new")).to_be_focused()
    tab_to(chat.page, "Back to the conversation", most=4)
    chat.page.keyboard.press("Enter")
    expect(chat.input).to_be_focused()
