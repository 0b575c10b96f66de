"""A phone, a tablet and a desk: nothing runs out of the window, and the assistant is a panel or a sheet."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from e2e.conftest import Visitor
from e2e.pages.assistant import Assistant
from e2e.pages.back_office import PATHS, Listing
from e2e.server import DemoServer

Visit = Callable[..., Visitor]


@pytest.mark.parametrize("viewport", ["phone", "tablet", "desktop"])
def test_every_page_fits(demo: DemoServer, visit: Visit, viewport: str) -> None:
    app = visit(demo, viewport=viewport).app.open("/")
    too_wide = {}
    for name, path in PATHS.items():
        app.page.evaluate("(path) => window.hallaNavigate(path)", path)
        app.wait_shown(path)
        for language in ("ko", "en"):
            app.language(language)
            expect(app.page.locator("html")).to_have_attribute("lang", language)
            expect(app.heading).to_be_in_viewport()
            if app.overflow() > 0:
                too_wide[f"{name}, {language}"] = app.overflow()
    assert not too_wide


def test_what_a_finger_must_hit_is_big_enough(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo, viewport="phone", has_touch=True).app.open("/orders")
    small = app.page.evaluate(
        """() => [...document.querySelectorAll('a, button, select, input, summary')]
          .filter((one) => one.checkVisibility() && one.tabIndex >= 0 && !one.closest('.skip-link, td, th, p'))
          .map((one) => [one.id || one.textContent.trim(), one.getBoundingClientRect()])
          .filter(([, box]) => box.width > 0 && (box.height < 32 || box.width < 24)).map(([name]) => name)"""
    )
    assert not small


def test_the_assistant_is_a_sheet_on_a_phone(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo, viewport="phone").app.open("/orders")
    sheet, opener = app.page.locator("#assistant-panel"), app.page.locator("#assistant-open")
    expect(sheet).not_to_be_in_viewport()
    opener.click()
    expect(sheet).to_be_in_viewport()
    expect(opener).to_have_attribute("aria-expanded", "true")
    expect(app.page.locator("#assistant-title")).to_be_focused()
    assert app.main.evaluate("(main) => main.inert")
    app.page.keyboard.press("Escape")
    expect(sheet).not_to_be_in_viewport()
    expect(opener).to_be_focused()
    assert not app.main.evaluate("(main) => main.inert")
    opener.click()
    app.page.locator("#assistant-close").click()
    expect(sheet).not_to_be_in_viewport()


@pytest.mark.parametrize("viewport", ["phone", "tablet"])
@pytest.mark.parametrize("question", ["Order 3 hand grinders for customer 5", "Transfer 50,000 won to Harbor Beans"])
def test_a_decision_gets_the_whole_sheet(demo: DemoServer, visit: Visit, viewport: str, question: str) -> None:
    chat = Assistant(visit(demo, viewport=viewport).app).open("/orders")
    frame = chat.page.locator("html")
    chat.page.locator("#assistant-open").click()
    expect(chat.page.locator("#assistant-expand")).to_be_hidden()
    chat.ask("Show me the pending orders")
    expect(frame).to_have_attribute("data-assistant", "half")
    chat.page.locator("#assistant-expand").click()
    expect(frame).to_have_attribute("data-assistant", "open")
    chat.page.evaluate("window.hallaShell.makeRoom()")
    chat.ask(question)
    expect(frame).to_have_attribute("data-assistant", "open")
    decision = chat.tool("place_order", "asking").or_(chat.interrupt)
    expect(decision.locator("h3")).to_be_in_viewport(ratio=1)
    top = decision.evaluate(
        """(card) => card.getBoundingClientRect().top
          - document.querySelector('#assistant-transcript').getBoundingClientRect().top"""
    )
    assert top >= 0


def test_the_assistant_stands_beside_the_page_on_a_desk(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/orders")
    panel = app.page.locator("#assistant-panel").bounding_box()
    page = app.main.bounding_box()
    assert panel is not None
    assert page is not None
    assert panel["x"] >= page["x"] + page["width"] - 1
    expect(app.page.locator("#assistant-open")).to_be_hidden()


def test_wide_tables_keep_what_matters_on_a_phone(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo, viewport="phone").app.open("/orders?status=pending")
    row = Listing(app, "orders").rows.first
    newest = demo.shop.orders(status="pending")[0]
    for word in (f"#{newest.id}", newest.customer_name, "Pending", f"₩{newest.total_krw:,}"):
        expect(row.get_by_text(word).first).to_be_in_viewport()
