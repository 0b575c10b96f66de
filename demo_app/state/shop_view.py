"""What the back-office pages show: plain rows made from the shop's records, figures worked out. Pure."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from demo_app.i18n import krw, krw_short
from demo_app.shop import Customer, Invoice, Kpis, Order, OrderLine, Product, Shop


@dataclass(frozen=True)
class OrderRow:
    """One line of an orders table."""

    number: int = 0
    customer: str = ""
    customer_ko: str = ""
    status: str = ""
    placed_on: str = ""
    article: str = ""
    article_ko: str = ""
    more: int = 0
    total: str = ""
    href: str = ""


@dataclass(frozen=True)
class LineRow:
    """One article of an order."""

    sku: str
    product: str
    product_ko: str
    quantity: int
    unit_price: str
    amount: str


@dataclass(frozen=True)
class OrderView:
    """One order's page."""

    number: int = 0
    customer: str = ""
    customer_ko: str = ""
    status: str = ""
    placed_on: str = ""
    note: str = ""
    total: str = ""
    invoice: str = ""
    lines: list[LineRow] = field(default_factory=list)


@dataclass(frozen=True)
class ProductTile:
    """One product of the grid."""

    sku: str
    name: str
    name_ko: str
    category: str
    price: str
    stock: int
    low: bool


@dataclass(frozen=True)
class InvoiceRow:
    """One line of the invoices table."""

    number: str
    order_number: int
    order_href: str
    customer: str
    customer_ko: str
    issued_on: str
    due_on: str
    status: str
    total: str


@dataclass(frozen=True)
class CustomerOption:
    """A customer to choose in the order form."""

    value: str
    name: str
    name_ko: str


@dataclass(frozen=True)
class ProductOption:
    """A product to choose in the order form."""

    value: str
    name: str
    name_ko: str
    price_krw: int
    stock: int


@dataclass(frozen=True)
class KpiView:
    """The dashboard's figures, ready to print."""

    revenue: str = ""
    orders: str = ""
    customers: str = ""
    low_stock: str = ""
    open_invoices: int = 0


@dataclass(frozen=True)
class Bar:
    """One bar of a chart in the drawing's own units."""

    y: int
    middle: int
    path: str
    label: str
    label_ko: str
    value: str
    value_short: str
    value_short_ko: str
    best: bool
    odd: bool


@dataclass(frozen=True)
class GridLine:
    """One horizontal line of a chart, with the amount it stands for."""

    y: int
    label: str
    label_ko: str


@dataclass(frozen=True)
class ChartView:
    """A bar chart's geometry."""

    bars: list[Bar] = field(default_factory=list)
    grid: list[GridLine] = field(default_factory=list)
    best_label: str = ""
    best_label_ko: str = ""
    best_value: str = ""


CHART_WIDTH, CHART_HEIGHT = 760, 268
_LEFT, _RIGHT, _TOP, _BOTTOM = 58, 4, 26, 30
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


@dataclass(frozen=True)
class KoreanNames:
    """What customers (by English name) and products (by SKU) are called in Korean."""

    customers: Mapping[str, str]
    products: Mapping[str, str]

    @classmethod
    def of(cls, shop: Shop) -> "KoreanNames":
        """Read them from the shop."""
        return cls(
            {customer.name: customer.name_ko for customer in shop.customers()},
            {product.sku: product.name_ko for product in shop.products()},
        )

    def customer(self, name: str) -> str:
        """The Korean name of a customer, or the name as it is."""
        return self.customers.get(name, name)

    def article(self, line: OrderLine) -> str:
        """The Korean name of an order line's product, or the name as it is."""
        return self.products.get(line.sku, line.product_name)


def order_row(order: Order, korean: KoreanNames) -> OrderRow:
    """An order as a table line: its first article, and how many more there are."""
    return OrderRow(
        number=order.id,
        customer=order.customer_name,
        customer_ko=korean.customer(order.customer_name),
        status=order.status,
        placed_on=order.placed_on,
        article=order.lines[0].product_name if order.lines else "",
        article_ko=korean.article(order.lines[0]) if order.lines else "",
        more=max(len(order.lines) - 1, 0),
        total=krw(order.total_krw),
        href=f"/orders/{order.id}",
    )


def order_view(order: Order, korean: KoreanNames, invoice: Invoice | None) -> OrderView:
    """An order's page."""
    return OrderView(
        number=order.id,
        customer=order.customer_name,
        customer_ko=korean.customer(order.customer_name),
        status=order.status,
        placed_on=order.placed_on,
        note=order.note,
        total=krw(order.total_krw),
        invoice=invoice.id if invoice else "",
        lines=[
            LineRow(
                sku=line.sku,
                product=line.product_name,
                product_ko=korean.article(line),
                quantity=line.quantity,
                unit_price=krw(line.unit_price_krw),
                amount=krw(line.quantity * line.unit_price_krw),
            )
            for line in order.lines
        ],
    )


def product_tile(product: Product) -> ProductTile:
    """A product as a tile; at its reorder level it counts as low."""
    return ProductTile(
        sku=product.sku,
        name=product.name,
        name_ko=product.name_ko,
        category=product.category,
        price=krw(product.price_krw),
        stock=product.stock,
        low=is_low(product),
    )


def is_low(product: Product) -> bool:
    """Whether a product is at or under its reorder level."""
    return product.stock <= product.reorder_at


def invoice_row(invoice: Invoice, korean: KoreanNames) -> InvoiceRow:
    """An invoice as a table line."""
    return InvoiceRow(
        number=invoice.id,
        order_number=invoice.order_id,
        order_href=f"/orders/{invoice.order_id}",
        customer=invoice.customer_name,
        customer_ko=korean.customer(invoice.customer_name),
        issued_on=invoice.issued_on,
        due_on=invoice.due_on,
        status=invoice.status,
        total=krw(invoice.total_krw),
    )


def customer_option(customer: Customer) -> CustomerOption:
    """A customer as a choice, with the city to tell like names apart."""
    return CustomerOption(
        str(customer.id), f"{customer.name}, {customer.city}", f"{customer.name_ko} ({customer.city})"
    )


def product_option(product: Product) -> ProductOption:
    """A product as a choice, with its price."""
    price = krw(product.price_krw)
    return ProductOption(
        product.sku,
        f"{product.name} · {price}",
        f"{product.name_ko} · {price}",
        product.price_krw,
        product.stock,
    )


def kpi_view(kpis: Kpis) -> KpiView:
    """The figures as they are printed."""
    return KpiView(
        revenue=krw(kpis.revenue_krw),
        orders=f"{kpis.order_count:,}",
        customers=f"{kpis.customer_count:,}",
        low_stock=f"{kpis.low_stock_count:,}",
        open_invoices=kpis.open_invoices,
    )


def chart_view(months: Sequence[tuple[str, int]]) -> ChartView:
    """The bar chart of `("2026-01", amount)` pairs; an empty sequence gives an empty chart."""
    if not months:
        return ChartView()
    step = _tick(max(amount for _, amount in months))
    top = step * max(math.ceil(max(amount for _, amount in months) / step), 1)
    height = CHART_HEIGHT - _TOP - _BOTTOM
    slot = (CHART_WIDTH - _LEFT - _RIGHT) / len(months)
    best = max(range(len(months)), key=lambda index: months[index][1])
    bars = [
        _bar(month, amount, _LEFT + slot * index, slot, height * amount / top, (index == best, index % 2 == 1))
        for index, (month, amount) in enumerate(months)
    ]
    grid = [
        GridLine(round(_TOP + height - height * amount / top), *krw_short(amount)) for amount in range(0, top + 1, step)
    ]
    return ChartView(bars, grid, bars[best].label, bars[best].label_ko, bars[best].value)


def _tick(largest: int) -> int:
    """A round step (1, 2 or 5 times a power of ten) that makes three to six grid lines."""
    rough = max(largest, 1) / 4
    power = 10 ** math.floor(math.log10(max(rough, 1)))
    return next(int(power * factor) for factor in (1, 2, 5, 10) if power * factor >= rough)


def _bar(month: str, amount: int, left: float, slot: float, height: float, marks: tuple[bool, bool]) -> Bar:
    width = slot * 0.62
    x, y, base = left + (slot - width) / 2, CHART_HEIGHT - _BOTTOM - height, CHART_HEIGHT - _BOTTOM
    number = int(month[5:7])
    short, short_ko = krw_short(amount)
    round_ = min(5.0, height)
    path = (
        f"M{x:.1f} {base:.1f}V{y + round_:.1f}q0 {-round_:.1f} {round_:.1f} {-round_:.1f}"
        f"H{x + width - round_:.1f}q{round_:.1f} 0 {round_:.1f} {round_:.1f}V{base:.1f}Z"
    )
    return Bar(
        y=round(y),
        middle=round(x + width / 2),
        path=path,
        label=_MONTHS[number - 1],
        label_ko=f"{number}월",
        value=krw(amount),
        value_short=short,
        value_short_ko=short_ko,
        best=marks[0],
        odd=marks[1],
    )
