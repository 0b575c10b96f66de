"""The owner looks at figures, finds orders, invoices and products, and shares what was found by its address."""

import re
import sqlite3
from collections.abc import Callable

from playwright.sync_api import expect

from e2e.conftest import Visitor
from e2e.pages.back_office import Listing
from e2e.server import DemoServer

Visit = Callable[..., Visitor]


def test_see_how_the_year_went(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/")
    kpis = demo.shop.kpis()
    expect(app.page).to_have_title(re.compile("Dashboard"))
    expect(app.element("kpi-revenue")).to_contain_text(f"₩{kpis.revenue_krw:,}")
    expect(app.element("kpi-orders")).to_contain_text(str(kpis.order_count))
    expect(app.element("kpi-customers")).to_contain_text(str(kpis.customer_count))
    expect(app.element("kpi-low-stock")).to_contain_text(str(kpis.low_stock_count))
    chart = app.element("revenue-chart")
    expect(chart.locator("svg .mark")).to_have_count(12)
    chart.get_by_text("Show as a table").click()
    month, revenue = demo.shop.revenue_by_month()[3]
    assert month.endswith("-04")
    expect(chart.locator("tbody tr").nth(3)).to_contain_text(f"₩{revenue:,}")
    app.element("recent-orders").locator("tbody tr").first.get_by_role("link").click()
    app.wait_shown()
    newest = demo.shop.orders()[0]
    expect(app.heading).to_contain_text(f"Order {newest.id}")


def test_find_the_orders_that_wait_and_share_the_address(demo: DemoServer, visit: Visit) -> None:
    visitor = visit(demo)
    app = visitor.app.open("/orders")
    orders = Listing(app, "orders")
    everything = orders.total()
    orders.filter_by(status="pending")
    pending = demo.shop.orders(status="pending")
    assert orders.total() == len(pending) < everything
    assert app.address == "/orders?status=pending"
    assert set(orders.column(5)) == {"Pending"}
    orders.filter_by(query=pending[0].customer_name)
    found = demo.shop.orders(status="pending", query=pending[0].customer_name)
    assert orders.total() == len(found)
    expect(orders.rows).to_have_count(len(found))

    shared = visitor.tab().open(app.address)
    there = Listing(shared, "orders")
    assert there.total() == len(found)
    expect(there.status).to_have_value("pending")
    expect(there.search).to_have_value(pending[0].customer_name)
    shared.reload()
    assert there.total() == len(found)

    there.rows.first.get_by_role("link").click()
    shared.wait_shown(f"/orders/{found[0].id}")
    shared.page.go_back()
    shared.wait_shown()
    assert there.total() == len(found)


def test_leaf_through_all_orders(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/orders")
    orders = Listing(app, "orders")
    first = orders.column(1)
    orders.pager.get_by_role("link", name="Next").click()
    app.wait_shown("/orders?page=2")
    expect(orders.pager).to_contain_text("Page 2 of")
    assert not set(first) & set(orders.column(1))
    app.page.go_back()
    app.wait_shown("/orders")
    assert orders.column(1) == first


def test_an_address_that_asks_for_too_much_says_so(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/orders?status=eaten&page=1")
    orders = Listing(app, "orders")
    expect(orders.notice).to_contain_text("“eaten” is not a status here")
    app.open("/orders?page=9999")
    expect(orders.notice).to_contain_text("There is no page “9999”")
    app.open("/orders?q=" + "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    expect(app.main).to_contain_text("Nothing matches")
    app.main.get_by_role("link", name="Clear the filters").click()
    app.wait_shown("/orders")
    assert orders.total() >= 120


def test_read_one_order_and_its_invoice(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/orders/42")
    order = demo.shop.order(42)
    assert order is not None
    expect(app.heading).to_have_text("Order 42")
    expect(app.main).to_contain_text("Shipped")
    lines = app.element("order-lines").locator("tbody tr")
    expect(lines).to_have_count(len(order.lines))
    for row, line in zip(lines.all_inner_texts(), order.lines, strict=True):
        assert line.sku in row
        assert f"₩{line.quantity * line.unit_price_krw:,}" in row
    expect(app.element("order-summary")).to_contain_text(f"₩{order.total_krw:,}")
    expect(app.element("order-summary")).to_contain_text(order.note)
    app.element("order-summary").get_by_role("link", name="INV-0042").click()
    app.wait_shown("/invoices?q=INV-0042")
    expect(Listing(app, "invoices").rows).to_have_count(1)


def test_an_order_that_is_not_there(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/orders/99999")
    expect(app.heading).to_have_text("There is no order 99999")
    app.open("/orders/forty-two")
    expect(app.heading).to_contain_text("forty-two")
    app.main.get_by_role("link", name="All orders").click()
    app.wait_shown("/orders")


def test_see_what_customers_owe(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/invoices")
    invoices = Listing(app, "invoices")
    invoices.filter_by(status="overdue")
    assert invoices.total() == len(demo.shop.invoices(status="overdue"))
    expect(app.element(f"invoice:{demo.shop.invoices(status='overdue')[0].id}")).to_be_visible()
    invoices.rows.first.get_by_role("link").click()
    app.wait_shown()
    expect(app.heading).to_contain_text("Order")


def test_find_what_runs_low_and_order_it(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/products")
    products = Listing(app, "products")
    expect(products.tiles).to_have_count(24)
    products.filter_by(status="low")
    assert products.total() == demo.shop.kpis().low_stock_count
    products.filter_by(status="", category="grinders")
    expect(products.tiles).to_have_count(len(demo.shop.products(category="grinders")))
    products.filter_by(query="hand")
    expect(products.tiles).to_have_count(1)
    assert app.address == "/products?category=grinders&q=hand"
    products.tiles.get_by_role("link", name="Order").click()
    app.wait_shown("/orders/new?sku=GRND-01")
    expect(app.page.locator("#new-order-product")).to_have_value("GRND-01")


def test_an_address_that_is_no_page(demo: DemoServer, visit: Visit) -> None:
    visitor = visit(demo)
    visitor.guard.allow(r"404.*nowhere")
    app = visitor.app.open("/nowhere")
    expect(app.heading).to_have_text("This page does not exist")
    app.main.get_by_role("link", name="Go to the dashboard").click()
    app.wait_shown("/")
    expect(app.heading).to_have_text("Dashboard")


def test_a_database_that_does_not_answer_and_then_does(serve: Callable[..., DemoServer], visit: Visit) -> None:
    server = serve()
    app = visit(server).app.open("/products")
    with sqlite3.connect(server.data / "shop.db") as database:
        database.execute("ALTER TABLE orders RENAME TO orders_elsewhere")
    app.go("Orders")
    trouble = app.main.get_by_role("alert")
    expect(trouble).to_contain_text("This could not be loaded")
    expect(trouble).to_contain_text("no such table")
    with sqlite3.connect(server.data / "shop.db") as database:
        database.execute("ALTER TABLE orders_elsewhere RENAME TO orders")
    trouble.get_by_role("button", name="Try again").click()
    app.wait_shown("/orders")
    assert Listing(app, "orders").total() == 120
