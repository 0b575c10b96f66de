"""A clerk places an order with the form, and is told at each field what is wrong with it."""

from collections.abc import Callable

from playwright.sync_api import expect

from e2e.conftest import Visitor
from e2e.pages.back_office import OrderForm
from e2e.server import DemoServer

Visit = Callable[..., Visitor]


def test_order_two_brewing_scales(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/orders/new")
    form = OrderForm(app)
    before = demo.shop.product("TOOL-03")
    assert before is not None
    form.customer.select_option("3")
    form.product.select_option("TOOL-03")
    form.quantity.fill("2")
    form.note.fill("Ring twice <b>please</b>")
    expect(form.total).to_have_text(f"₩{2 * before.price_krw:,}")
    form.submit.click()
    expect(app.main).to_contain_text("is placed")
    app.wait_shown()
    number = int(app.address.rsplit("/", 1)[-1])
    placed, after = demo.shop.order(number), demo.shop.product("TOOL-03")
    assert placed is not None
    assert after is not None
    assert (placed.customer_id, placed.note, placed.total_krw) == (3, "Ring twice <b>please</b>", 2 * before.price_krw)
    assert after.stock == before.stock - 2
    expect(app.element("order-summary")).to_contain_text("Ring twice <b>please</b>")
    app.go("New order").wait_shown("/orders/new")
    assert form.values() == {"customer": "", "product": "", "quantity": "1", "note": ""}


def test_order_once_however_often_the_button_is_pressed(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/orders/new")
    form = OrderForm(app)
    before = len(demo.shop.orders(customer_id=11))
    form.customer.select_option("11")
    form.product.select_option("CUP-01")
    form.submit.evaluate("(button) => { for (let times = 0; times < 25; times += 1) button.click(); }")
    expect(app.main).to_contain_text("is placed")
    app.wait_shown()
    app.go("New order").wait_shown("/orders/new")
    # The same again is another order, where it is wanted.
    form.customer.select_option("11")
    form.product.select_option("CUP-01")
    form.submit.click()
    expect(app.main).to_contain_text("is placed")
    assert len(demo.shop.orders(customer_id=11)) == before + 2


def test_be_told_everything_that_is_missing_at_once(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/orders/new")
    form = OrderForm(app)
    form.quantity.fill("a few")
    form.note.fill("n" * 201)
    form.submit.click()
    expect(form.error("customer")).to_contain_text("Choose a customer")
    expect(form.error("product")).to_contain_text("Choose a product")
    expect(form.error("quantity")).to_contain_text("Enter a whole number from 1 to 500")
    expect(form.error("note")).to_contain_text("200 characters")
    expect(form.customer).to_be_focused()
    expect(form.customer).to_have_attribute("aria-invalid", "true")
    assert form.values()["quantity"] == "a few"
    form.customer.select_option("1")
    expect(form.error("customer")).to_be_empty()
    expect(form.error("product")).not_to_be_empty()
    app.page.get_by_role("button", name="Clear").click()
    expect(form.error("product")).to_be_empty()
    expect(form.quantity).to_have_value("1")


def test_no_impossible_quantity(demo: DemoServer, visit: Visit) -> None:
    app = visit(demo).app.open("/orders/new?sku=MACH-02")
    form = OrderForm(app)
    orders = len(demo.shop.orders(query="Two-Group"))
    form.customer.select_option("1")
    for quantity, complaint in (("0", "whole"), ("-1", "whole"), ("1.5", "whole"), ("501", "whole"), ("4", "Only 3")):
        form.quantity.fill(quantity)
        expect(form.error("quantity")).to_be_empty()
        form.submit.click()
        expect(form.error("quantity")).to_contain_text(complaint)
        expect(form.quantity).to_be_focused()
    assert len(demo.shop.orders(query="Two-Group")) == orders
