"""What the pages print: money, rows, the chart's geometry, addresses, and the texts in both languages."""

import re
from pathlib import Path

import pytest

from demo_app import theme
from demo_app.i18n import TEXTS, krw, krw_short, text
from demo_app.shop import InvoiceStatus, OrderStatus, Shop
from demo_app.state import shop_view as view
from demo_app.state.shop_state import address, reload_page, whole_number


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    return Shop(tmp_path_factory.mktemp("shop") / "shop.db")


def places(template: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", template))


@pytest.mark.parametrize("key", TEXTS)
def test_every_text_is_there_in_both_languages_with_the_same_places(key: str) -> None:
    en, ko = TEXTS[key]
    assert en.strip()
    assert ko.strip()
    assert places(en) == places(ko)


def test_a_text_is_given_in_the_language_asked_for() -> None:
    assert text("order.title", "en", n=42) == "Order 42"
    assert text("order.title", "ko", n=42) == "주문 42"


def test_an_unknown_text_is_an_error_not_an_empty_label() -> None:
    with pytest.raises(KeyError, match="no such key"):
        text("no such key", "en")


@pytest.mark.parametrize(
    ("amount", "long", "short", "short_ko"),
    [
        (0, "₩0", "0", "0"),
        (1_234_000, "₩1,234,000", "₩1.23M", "123만"),
        (32_100_000, "₩32,100,000", "₩32.1M", "3,210만"),
        (40_000_000, "₩40,000,000", "₩40M", "4,000만"),
    ],
)
def test_money_is_written_for_people(amount: int, long: str, short: str, short_ko: str) -> None:
    assert krw(amount) == long
    assert krw_short(amount) == (short, short_ko)


def test_every_status_and_category_of_the_shop_has_a_word_and_a_tone(shop: Shop) -> None:
    assert set(theme.ORDER_TONES) == set(OrderStatus)
    assert set(theme.INVOICE_TONES) == set(InvoiceStatus)
    assert set(theme.CATEGORIES) == {product.category for product in shop.products()}
    keys = (theme.ORDER_STATUS, theme.INVOICE_STATUS, theme.CATEGORIES, theme.STOCK_LEVELS)
    assert {key for table in keys for key in table.values()} <= set(TEXTS)


def test_an_order_row_names_its_first_article_and_counts_the_others(shop: Shop) -> None:
    order = next(order for order in shop.orders() if len(order.lines) == 3)
    row = view.order_row(order, view.KoreanNames.of(shop))
    assert (row.article, row.more) == (order.lines[0].product_name, 2)
    assert row.href == f"/orders/{order.id}"
    assert row.customer_ko in {customer.name_ko for customer in shop.customers()}
    assert row.article_ko in {product.name_ko for product in shop.products()}


def test_an_order_page_adds_up(shop: Shop) -> None:
    order = shop.order(42)
    assert order is not None
    shown = view.order_view(order, view.KoreanNames.of(shop), shop.invoice("INV-0042"))
    amounts = [int(re.sub(r"\D", "", line.amount)) for line in shown.lines]
    assert shown.total == krw(sum(amounts))
    assert shown.invoice == "INV-0042"


def test_the_chart_draws_every_month_in_scale(shop: Shop) -> None:
    months = shop.revenue_by_month()
    chart = view.chart_view(months)
    base = max(line.y for line in chart.grid)
    heights = [base - bar.y for bar in chart.bars]
    largest = max(range(len(months)), key=lambda index: months[index][1])
    assert [bar.label for bar in chart.bars] == [
        "Jan",
        "Feb",
        "Mar",
        "Apr",
        "May",
        "Jun",
        "Jul",
        "Aug",
        "Sep",
        "Oct",
        "Nov",
        "Dec",
    ]
    assert [bar.best for bar in chart.bars].index(True) == largest == heights.index(max(heights))
    for (_, amount), height in zip(months, heights, strict=True):
        assert height == pytest.approx(heights[largest] * amount / months[largest][1], abs=1.5)
    assert min(line.y for line in chart.grid) <= min(bar.y for bar in chart.bars)


@pytest.mark.parametrize("months", [[], [("2026-01", 0)], [("2026-01", 1), ("2026-02", 0)], [("2026-12", 10**12)]])
def test_a_chart_of_little_or_much_is_still_a_chart(months: list[tuple[str, int]]) -> None:
    chart = view.chart_view(months)
    assert len(chart.bars) == len(months)
    assert all(0 <= bar.y <= view.CHART_HEIGHT for bar in chart.bars)
    assert bool(chart.grid) is bool(months)


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("1", 1),
        (" 42 ", 42),
        ("007", 7),
        ("", None),
        ("-1", None),
        ("1.5", None),
        ("²", None),
        ("٣", None),
        ("1e3", None),
    ],
)
def test_only_plain_digits_are_a_whole_number(written: str, number: int | None) -> None:
    assert whole_number(written) == number


def test_an_absurdly_long_number_is_none() -> None:
    assert whole_number("9" * 5000) is None


def test_an_address_holds_only_the_filters_that_are_set() -> None:
    assert address("/orders", status="", q="") == "/orders"
    assert address("/orders", status="paid", q="a&b=c", page=0) == "/orders?status=paid&q=a%26b%3Dc"


@pytest.mark.parametrize("path", ["/", "/orders", "/orders/", "/orders/42", "/orders/new", "/products", "/invoices"])
def test_every_page_with_data_can_be_read_anew(path: str) -> None:
    assert reload_page(path) is not None


def test_a_page_without_data_has_nothing_to_read() -> None:
    assert reload_page("/nowhere") is None


ROOT = Path(__file__).parents[2]


def test_the_looks_and_scripts_ask_no_other_origin_for_anything() -> None:
    files = [*ROOT.glob("assets/*.css"), *ROOT.glob("assets/*.js")]
    assert files
    for file in files:
        assert not re.search(
            r"(https?:)?//[a-z0-9-]+\.[a-z]", re.sub(r"^\s*//.*$", "", file.read_text("utf-8"), flags=re.M)
        ), file


def test_the_frontend_lock_names_no_host() -> None:
    for name in ("bun.lock", "package.json"):
        assert "://" not in (ROOT / "reflex.lock" / name).read_text("utf-8")
