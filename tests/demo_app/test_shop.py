"""The shop's data and promises: seeded alike, nothing ordered or paid twice, refusals that change nothing."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from demo_app.shop import InvoiceStatus, OrderStatus, Shop, ShopError, default_database_path


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path / "deep" / "shop.db")


def test_the_seed_has_the_promised_size(shop: Shop) -> None:
    assert len(shop.customers()) == 12
    assert len(shop.products()) == 24
    assert [order.id for order in shop.orders()] == list(range(120, 0, -1))
    assert len(shop.invoices()) == 100
    assert [month for month, _ in shop.revenue_by_month()] == [f"2026-{n:02d}" for n in range(1, 13)]
    assert {order.status for order in shop.orders()} == set(OrderStatus)
    assert {invoice.status for invoice in shop.invoices()} == set(InvoiceStatus)


def test_two_seeded_shops_are_alike(shop: Shop, tmp_path: Path) -> None:
    other = Shop(tmp_path / "other.db")
    assert other.orders() == shop.orders()
    assert other.invoices() == shop.invoices()
    assert other.kpis() == shop.kpis()


def test_known_orders_have_their_known_status(shop: Shop) -> None:
    shipped, pending = shop.order(42), shop.order(7)
    assert shipped is not None
    assert shipped.status is OrderStatus.SHIPPED
    assert pending is not None
    assert pending.status is OrderStatus.PENDING
    assert shop.order(99_999) is None


def test_order_totals_are_the_sum_of_the_lines_and_the_invoice_agrees(shop: Shop) -> None:
    for invoice in shop.invoices():
        order = shop.order(invoice.order_id)
        assert order is not None
        assert order.total_krw == sum(line.quantity * line.unit_price_krw for line in order.lines) > 0
        assert (invoice.total_krw, invoice.customer_name) == (order.total_krw, order.customer_name)


def test_kpis_agree_with_the_lists(shop: Shop) -> None:
    kpis = shop.kpis()
    assert kpis.revenue_krw == sum(revenue for _, revenue in shop.revenue_by_month())
    assert kpis.low_stock_count == len([p for p in shop.products() if p.stock <= p.reorder_at]) > 0
    assert kpis.open_invoices == len([i for i in shop.invoices() if i.status is not InvoiceStatus.PAID]) > 0


@pytest.mark.parametrize(
    ("query", "skus"),
    [
        ("grinder", {"GRND-01", "GRND-02", "GRND-03"}),
        ("GRINDER electric", {"GRND-02"}),
        ("그라인더", {"GRND-01", "GRND-02", "GRND-03"}),
        ("cup-0", {"CUP-01", "CUP-02", "CUP-03"}),
        ("100%", set()),
        ("_", set()),
        ("'; DROP TABLE products; --", set()),
    ],
)
def test_product_search_takes_every_word_literally(shop: Shop, query: str, skus: set[str]) -> None:
    assert {product.sku for product in shop.products(query)} == skus
    assert len(shop.products()) == 24


def test_filters_of_orders_and_invoices(shop: Shop) -> None:
    assert {order.id for order in shop.orders(status="pending")} >= {7, 120}
    (customer, *_) = shop.customers()
    mine = shop.orders(customer_id=customer.id)
    assert mine
    assert mine == shop.orders(query=customer.name_ko)
    assert [order.id for order in shop.orders(query="42") if order.id == 42] == [42]
    assert shop.orders(status="no such status") == []
    assert all(invoice.status is InvoiceStatus.PAID for invoice in shop.invoices(status="paid"))
    assert [invoice.id for invoice in shop.invoices(query="INV-0042")] == ["INV-0042"]
    assert shop.invoice("inv-0042") == shop.invoice("INV-0042")
    assert shop.invoice("INV-9999") is None
    assert shop.products(category="beans") == shop.products("beans")
    assert shop.customer(99) is None


def test_an_order_takes_from_stock(shop: Shop) -> None:
    before = shop.product("GRND-01")
    order = shop.place_order("grnd-01", 2, 3, "quickly", request_key="call-1")
    after = shop.product("GRND-01")
    assert before is not None
    assert after is not None
    assert (order.id, order.status, order.note) == (121, OrderStatus.PENDING, "quickly")
    assert order.total_krw == 2 * before.price_krw
    assert after.stock == before.stock - 2
    assert shop.order(121) == order


def test_one_request_key_orders_once_even_from_many_threads(shop: Shop) -> None:
    """FT-8: no call is executed twice."""
    with ThreadPoolExecutor(8) as pool:
        made = list(pool.map(lambda _: shop.place_order("CUP-01", 5, 1, request_key="call-1").id, range(16)))
    assert set(made) == {121}
    cup = shop.product("CUP-01")
    assert cup is not None
    assert cup.stock == 315


@pytest.mark.parametrize(
    ("sku", "quantity", "customer_id", "code"),
    [
        ("NOPE-1", 1, 1, "unknown_product"),
        ("GRND-03", 1, 99, "unknown_customer"),
        ("GRND-03", 0, 1, "bad_quantity"),
        ("GRND-03", -3, 1, "bad_quantity"),
        ("FILT-01", 501, 1, "bad_quantity"),
        ("GRND-03", 5, 1, "not_enough_stock"),
    ],
)
def test_a_refused_order_changes_nothing(shop: Shop, sku: str, quantity: int, customer_id: int, code: str) -> None:
    before = (shop.orders(), shop.products())
    with pytest.raises(ShopError) as refused:
        shop.place_order(sku, quantity, customer_id, request_key="call-1")
    assert refused.value.code == code
    assert refused.value.message
    assert (shop.orders(), shop.products()) == before


def test_a_request_key_names_one_request(shop: Shop) -> None:
    shop.place_order("CUP-01", 1, 1, request_key="call-1")
    with pytest.raises(ShopError, match="already used"):
        shop.place_order("CUP-01", 2, 1, request_key="call-1")
    with pytest.raises(ShopError, match="key is needed"):
        shop.place_order("CUP-01", 2, 1, request_key="")


def test_transfers_are_written_once_and_never_overdraw(shop: Shop) -> None:
    balance = shop.balance_krw()
    first = shop.transfer("Harbor Beans", 100_000, "March", request_key="call-1")
    assert shop.transfer("Harbor Beans", 100_000, "March", request_key="call-1") == first
    assert shop.transfers() == [first]
    assert shop.balance_krw() == balance - 100_000
    for to, amount, key, code in (
        ("Harbor Beans", 5, "call-1", "request_key_reused"),
        ("Harbor Beans", 10**12, "call-2", "insufficient_funds"),
        ("Harbor Beans", 0, "call-3", "bad_amount"),
        (" ", 5, "call-4", "missing_recipient"),
        ("Harbor Beans", 5, "", "missing_request_key"),
    ):
        with pytest.raises(ShopError) as refused:
            shop.transfer(to, amount, request_key=key)
        assert refused.value.code == code
    assert shop.transfers() == [first]


def test_a_shop_keeps_its_data_and_is_seeded_once(shop: Shop) -> None:
    shop.place_order("CUP-01", 1, 1, request_key="call-1")
    assert len(Shop(shop.path).orders()) == 121


def test_many_first_starts_at_once_seed_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(6) as pool:
        shops = list(pool.map(lambda _: Shop(tmp_path / "shop.db"), range(6)))
    assert len(shops[0].orders()) == 120


def test_the_path_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("DEMO_DATA_DIR", str(tmp_path / "data"))
    assert default_database_path() == tmp_path / "data" / "shop.db"
    assert Shop().path == tmp_path / "data" / "shop.db"
    monkeypatch.setenv("DEMO_DATA_DIR", "")
    assert default_database_path() == Path(".demo-data/shop.db")
