"""A visitor reads Korean and works in the dark, and the next visit remembers both."""

from collections.abc import Callable

from playwright.sync_api import expect

from e2e.conftest import Visitor
from e2e.pages.back_office import PATHS
from e2e.server import DemoServer

Visit = Callable[..., Visitor]


def test_read_everything_in_korean(demo: DemoServer, visit: Visit) -> None:
    visitor = visit(demo)
    app = visitor.app.open("/")
    app.language("ko")
    expect(app.heading).to_have_text("대시보드")
    expect(app.page.locator("html")).to_have_attribute("lang", "ko")
    app.go("주문").wait_shown("/orders")
    expect(app.heading).to_have_text("주문")
    expect(app.main.locator("tbody")).to_contain_text("대기")
    app.reload()
    expect(app.page.locator("html")).to_have_attribute("lang", "ko")
    expect(app.heading).to_have_text("주문")
    second = visitor.tab().open("/invoices")
    expect(second.heading).to_have_text("청구서")
    second.language("en")
    expect(app.heading).to_have_text("Orders")


def test_no_page_keeps_english_words_in_korean(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo, language="ko").app
    english = ("Orders", "Search", "Status", "Customer", "Total", "Quantity", "Product", "Invoice", "Dashboard")
    for name, path in PATHS.items():
        app.open(path)
        words = app.page.locator(".app").inner_text()
        assert not [word for word in english if word in words], f"{name} still says so in English"


def test_work_in_the_dark(demo: DemoServer, visit: Visit) -> None:
    visitor = visit(demo)
    app = visitor.app.open("/")
    assert app.theme == "light"
    app.theme_toggle.click()
    expect(app.page.locator("html.dark")).to_have_count(1)
    expect(app.theme_toggle).to_have_accessible_name("Switch to light")
    app.reload()
    assert app.theme == "dark"
    assert visitor.tab().open("/orders").theme == "dark"
    app.theme_toggle.click()
    expect(app.page.locator("html.dark")).to_have_count(0)


def test_follow_the_system_until_told_otherwise(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo, theme="dark").app.open("/")
    assert app.theme == "dark"
    app.page.emulate_media(color_scheme="light")
    expect(app.page.locator("html.dark")).to_have_count(0)
