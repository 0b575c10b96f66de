"""Everything is there for those who do not see it: axe on every page and state, announcements, names."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from e2e.conftest import Visitor
from e2e.pages.accessibility import violations
from e2e.pages.back_office import PATHS, OrderForm
from e2e.server import DemoServer

Visit = Callable[..., Visitor]
THEMES = ("light", "dark")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("viewport", ["desktop", "phone"])
def test_every_page_of_the_back_office(demo: DemoServer, visit: Visit, theme: str, viewport: str) -> None:
    visitor = visit(demo, theme=theme, viewport=viewport)
    app = visitor.app.open("/")
    assert app.theme == theme
    found = {}
    for name, path in PATHS.items():
        app.page.evaluate("(path) => window.hallaNavigate(path)", path)
        app.wait_shown(path)
        found[name] = violations(app.page)
    assert not any(found.values()), "\n".join(f"{name}: {each}" for name, many in found.items() for each in many)


@pytest.mark.parametrize("theme", THEMES)
def test_every_state_of_the_back_office(demo: DemoServer, visit: Visit, theme: str) -> None:
    visitor = visit(demo, theme=theme)
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
        found[name] = violations(app.page)
    app.open("/orders/new")
    OrderForm(app).submit.click()
    expect(OrderForm(app).error("customer")).not_to_be_empty()
    found["mistakes in the form"] = violations(app.page)
    app.open("/")
    app.element("revenue-chart").get_by_text("Show as a table").click()
    assert app.tool("highlight", {"element": "revenue-chart"})["ok"]
    found["highlighted, with its table"] = violations(app.page)
    assert not any(found.values()), "\n".join(f"{name}: {each}" for name, many in found.items() for each in many)


def test_a_new_page_is_announced_and_has_one_heading(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/")
    for link, heading in (("Orders", "Orders"), ("Invoices", "Invoices"), ("Dashboard", "Dashboard")):
        app.go(link).wait_shown()
        expect(app.announcer).to_have_text(heading)
        expect(app.heading).to_have_count(1)
        expect(app.navigation.locator("[aria-current=page]")).to_have_text(link)
    app.open("/orders/42")
    expect(app.navigation.locator("[aria-current=true]")).to_have_text("Orders")
