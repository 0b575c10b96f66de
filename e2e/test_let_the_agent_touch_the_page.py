"""The browser's tools, called directly: they do what they say, answer what is true, and hostile words do nothing."""

import base64
import struct
from collections.abc import Callable
from typing import Any

from playwright.sync_api import expect

from e2e.conftest import Visitor
from e2e.pages.back_office import Listing, OrderForm
from e2e.server import DemoServer

Visit = Callable[..., Visitor]

MARKUP = '<script>window.__pwned = 1</script><img src=x onerror="window.__pwned = 2">'
HOSTILE_NAMES: tuple[Any, ...] = (
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "javascript:window.__pwned=3",
    "https://evil.example/",
    "//evil.example",
    "/orders",
    "../orders",
    MARKUP,
    "",
    " orders",
    "ORDERS",
    "body > *",
    "x'\"]",
    None,
    42,
    True,
    ["orders"],
    {"toString": "orders"},
)


def test_show_each_page(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/")
    for page, arguments, address, title in (
        ("orders", {}, "/orders", "Orders"),
        ("order", {"order_id": 42}, "/orders/42", "Order 42"),
        ("order", {"order_id": 7}, "/orders/7", "Order 7"),
        ("new_order", {}, "/orders/new", "New order"),
        ("products", {}, "/products", "Products"),
        ("invoices", {}, "/invoices", "Invoices"),
        ("dashboard", {}, "/", "Dashboard"),
    ):
        answer = app.tool("navigate", {"page": page, **arguments})
        assert answer["ok"], answer
        assert answer["result"]["shown"] == app.address == address
        assert answer["result"]["title"].startswith(title)
        # It answers after the page is shown: nothing is waited for here.
        assert app.heading.inner_text().startswith(title)
        assert app.page.locator("[data-page]").get_attribute("data-page") == page
    app.open("/orders?status=pending")
    assert app.tool("navigate", {"page": "orders"})["result"]["shown"] == "/orders"
    assert app.address == "/orders"


def test_no_other_page_than_those(demo: DemoServer, visit: Visit) -> None:
    visitor = visit(demo)
    app = visitor.app.open("/invoices")
    for page in HOSTILE_NAMES:
        answer = app.tool("navigate", {"page": page})
        assert not answer["ok"], page
        assert answer["error"]["code"] == "unknown_page"
        assert "dashboard, orders, order, new_order, products, invoices" in answer["error"]["message"]
    for number in (0, -1, 1.5, "42", "42/../../evil", None, 2**60, [42], {"a": 1}):
        answer = app.tool("navigate", {"page": "order", "order_id": number})
        assert answer["error"]["code"] == "invalid_arguments", number
    answer = app.tool("navigate", {"page": "order"})
    assert answer["error"]["code"] == "invalid_arguments"
    assert app.address == "/invoices"
    missing = app.tool("navigate", {"page": "order", "order_id": 99999})
    assert missing["error"]["code"] == "not_found"
    assert app.page.evaluate("window.__pwned") is None


def test_point_at_what_is_there(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/")
    for name in ("recent-orders", "kpi-revenue", "navigation", "assistant-panel", "revenue-chart"):
        answer = app.tool("highlight", {"element": name})
        assert answer == {"ok": True, "result": {"found": True, "element": name}}
        expect(app.element(name)).to_be_in_viewport()
        outlined = app.page.locator(".agent-highlight")
        expect(outlined).to_have_count(1)
        expect(outlined).to_have_attribute("data-agent-id", name)
        expect(app.announcer).to_contain_text("The assistant points at:")
    expect(app.announcer).to_have_text("The assistant points at: Revenue by month")
    app.open("/orders/42")
    assert app.tool("highlight", {"element": "order-lines"})["result"]["found"]
    assert not app.tool("highlight", {"element": "revenue-chart"})["result"]["found"]
    app.language("ko")
    assert app.tool("highlight", {"element": "order-summary"})["result"]["found"]
    expect(app.announcer).to_contain_text("어시스턴트가 표시함:")


def test_point_at_nothing_that_is_not_named(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/")
    for name in (*HOSTILE_NAMES, "revenue-chart ", "[data-agent-id]", "revenue-chart'] , body [x='", "kpi-*"):
        answer = app.tool("highlight", {"element": name})
        if isinstance(name, str):
            assert answer == {"ok": True, "result": {"found": False, "element": name}}
        else:
            assert answer["error"]["code"] == "invalid_arguments"
    expect(app.page.locator(".agent-highlight")).to_have_count(0)
    assert app.page.evaluate("window.__pwned") is None


def test_hold_still_for_those_who_want_it(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo, calm=True, viewport="phone").app.open("/")
    app.page.evaluate(
        """() => { window.scrolls = []; const own = Element.prototype.scrollIntoView;
          Element.prototype.scrollIntoView = function (how) {
            window.scrolls.push(how.behavior); return own.call(this, how); } }"""
    )
    assert app.tool("highlight", {"element": "recent-orders"})["result"]["found"]
    assert app.page.evaluate("window.scrolls") == ["auto"]
    app.page.locator("#assistant-open").click()
    moving = app.page.evaluate(
        "document.getAnimations().filter((one) => one.effect.getComputedTiming().activeDuration > 20).length"
    )
    assert moving == 0


def test_filter_a_list(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/")
    cases: tuple[tuple[str, dict[str, str], str], ...] = (
        ("orders", {"status": "pending"}, "/orders?status=pending"),
        ("orders", {"query": "harbor", "status": ""}, "/orders?q=harbor"),
        ("orders", {"status": "shipped"}, "/orders?status=shipped&q=harbor"),
        ("products", {"status": "low"}, "/products?status=low"),
        ("invoices", {"status": "overdue", "query": ""}, "/invoices?status=overdue"),
        ("products", {"status": "kettles"}, "/products?category=kettles"),
    )
    for page, arguments, address in cases:
        answer = app.tool("set_filter", {"page": page, **arguments})
        assert answer["ok"], answer
        assert answer["result"]["applied"] == arguments
        assert app.address == address
        assert answer["result"]["rows"] == Listing(app, page).total()


def test_filter_step_by_step_and_back(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/orders")
    pending = app.tool("set_filter", {"page": "orders", "status": "pending"})["result"]["rows"]
    assert pending == len(demo.shop.orders(status="pending"))
    name = demo.shop.orders(status="pending")[0].customer_name
    both = app.tool("set_filter", {"page": "orders", "query": name})["result"]["rows"]
    assert both == len(demo.shop.orders(status="pending", query=name))
    everything = app.tool("set_filter", {"page": "orders", "status": "", "query": ""})["result"]["rows"]
    assert everything == len(demo.shop.orders())
    assert app.address == "/orders"


def test_filter_by_nothing_that_is_no_filter(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/orders?status=paid")
    for status in ("eaten", "__proto__", MARKUP, "javascript:1", "PAID", 7, ["paid", "open"], {"a": "paid"}):
        answer = app.tool("set_filter", {"page": "orders", "status": status})
        assert answer["error"]["code"] == "invalid_arguments", status
    for page in HOSTILE_NAMES:
        assert app.tool("set_filter", {"page": page, "status": "paid"})["error"]["code"] == "unknown_page"
    assert app.address == "/orders?status=paid"
    answer = app.tool("set_filter", {"page": "orders", "query": MARKUP})
    assert answer["result"]["rows"] == 0
    expect(app.page.locator("#orders-query")).to_have_value(MARKUP)
    assert app.page.evaluate("window.__pwned") is None


def test_fill_the_form_and_send_nothing(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/")
    orders = len(demo.shop.orders())
    wanted = {"customer_id": 3, "sku": "CUP-01", "quantity": 5, "note": MARKUP + "\nsecond line"}
    answer = app.tool("fill_form", {"form": "new_order", **wanted})
    assert answer == {"ok": True, "result": {"filled": list(wanted)}}
    form = OrderForm(app)
    assert form.values() == {"customer": "3", "product": "CUP-01", "quantity": "5", "note": wanted["note"]}
    expect(form.total).not_to_be_empty()
    assert app.tool("fill_form", {"form": "new_order", "quantity": 6})["result"]["filled"] == ["quantity"]
    assert form.values()["quantity"] == "6"
    assert form.values()["product"] == "CUP-01"
    assert app.address == "/orders/new"
    assert len(demo.shop.orders()) == orders
    assert app.page.evaluate("window.__pwned") is None


def test_fill_in_nothing_that_is_not_offered(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/orders/new")
    for arguments in ({"sku": "NOPE-1"}, {"sku": "__proto__"}, {"customer_id": 999}, {"customer_id": MARKUP}, {}):
        answer = app.tool("fill_form", {"form": "new_order", **arguments})
        assert answer["error"]["code"] == "invalid_arguments", arguments
    for form in HOSTILE_NAMES:
        assert app.tool("fill_form", {"form": form, "quantity": 1})["error"]["code"] == "unknown_form"
    assert OrderForm(app).values() == {"customer": "", "product": "", "quantity": "1", "note": ""}


def test_take_a_picture_of_the_chart(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo, theme="dark").app.open("/orders")
    answer = app.tool("capture_chart", {})
    assert answer["ok"], answer
    picture = answer["result"]
    assert picture["mimeType"] == "image/png"
    assert "Revenue by month" in picture["text"]
    png = base64.b64decode(picture["data"])
    assert png.startswith(b"\x89PNG")
    assert struct.unpack(">II", png[16:24]) == (picture["width"], picture["height"])
    # It shows something: the bars' colour is in it, and it is not one colour.
    shades = app.page.evaluate(
        """async (data) => { const image = new Image();
          image.src = 'data:image/png;base64,' + data; await image.decode();
          const canvas = new OffscreenCanvas(image.width, image.height), pen = canvas.getContext('2d');
          pen.drawImage(image, 0, 0); const { data: dots } = pen.getImageData(0, 0, image.width, image.height);
          const seen = new Set(); for (let at = 0; at < dots.length; at += 4) seen.add(dots.slice(at, at + 3).join());
          return seen.size; }""",
        picture["data"],
    )
    assert shades > 20
    assert app.address == "/"
    for element in ("kpi-revenue", *HOSTILE_NAMES):
        if element is not None:
            assert app.tool("capture_chart", {"element": element})["error"]["code"] == "unknown_element"


def test_no_tool_but_these_and_no_arguments_but_objects(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/")
    for name in ("__proto__", "constructor", "eval", "place_order", "run", "", MARKUP):
        assert app.tool(name, {})["error"]["code"] == "unknown_tool"
    for text in ("{", "[]", "null", "7", '"orders"', '{"page": ', "\u0000", "}{"):
        assert app.tool("navigate", text)["error"]["code"] == "invalid_arguments", text
    polluted = app.tool("navigate", '{"page": "orders", "__proto__": {"page": "products"}, "constructor": {"x": 1}}')
    assert polluted["result"]["shown"] == "/orders"
    assert app.page.evaluate("({}).page") is None
    assert app.page.evaluate("Object.isFrozen(window.agentTools)")


def test_make_room_for_the_page_on_a_phone(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo, viewport="phone").app.open("/")
    app.page.locator("#assistant-open").click()
    assert app.tool("navigate", {"page": "orders"})["ok"]
    expect(app.page.locator("html")).to_have_attribute("data-assistant", "half")
    expect(app.heading).to_be_in_viewport()
    expect(app.page.locator("#assistant-panel")).to_be_in_viewport()


def test_a_page_that_was_left_meanwhile(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/orders")
    answer = app.page.evaluate(
        """() => { document.getElementById('orders-query').addEventListener('change', () => hallaNavigate('/products'));
          return window.agentTools.run('set_filter', '{"page": "orders", "query": "harbor"}').then(JSON.parse); }"""
    )
    # The visitor and the list race for the address; whoever wins, the answer says what the page then showed.
    if answer["ok"]:
        assert answer["result"] == {"applied": {"query": "harbor"}, "rows": len(demo.shop.orders(query="harbor"))}
    else:
        assert answer["error"]["code"] == "page_left"
