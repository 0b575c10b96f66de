"""The back office's states, one a page: they read the shop when the page is shown and keep plain rows.

Filters live in the address (`/orders?status=pending&q=jeju&page=2`): a change writes the address, and the
page reads its filters from there, so a link, a reload and the back button show the same rows. `load` is
"loading", "ready", "missing" or "error"; a failed read names its `fault`, changes nothing, and can be tried
again.
"""

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Final, TypeVar
from urllib.parse import urlencode
from uuid import uuid4

import reflex as rx
from reflex.event import EventSpec

from demo_app.i18n import krw
from demo_app.shop import MAX_ORDER_QUANTITY, Invoice, InvoiceStatus, Order, OrderStatus, Shop, ShopError
from demo_app.state import shop_view as view
from demo_app.theme import CATEGORIES, STOCK_LEVELS

PAGE_SIZE = 12
RECENT_ORDERS = 6
MAX_NOTE_LENGTH = 200

Row = TypeVar("Row")


@cache
def shop() -> Shop:
    """The one shop of this process, opened on first use in the folder that `DEMO_DATA_DIR` names."""
    return Shop()


def address(path: str, **parameters: str | int) -> str:
    """`path` with the parameters that are set as its query string."""
    query = urlencode({name: value for name, value in parameters.items() if value})
    return f"{path}?{query}" if query else path


@dataclass
class ShopNews:
    """How often something other than a page changed the shop: a page that knows a smaller `count` is behind."""

    count: int = 0


NEWS: Final = ShopNews()
"""This process's."""


class PageData(rx.State, mixin=True):
    """What every page knows: whether its data is there, for which address, and which fault kept it away."""

    load: str = "loading"
    fault: str = ""
    shown: str = ""

    def _read(self, read: Callable[[], Row]) -> Row | None:
        """The result of `read`, or None when the database could not be read: then `fault` says why."""
        self.shown = f"{self.router.url.path}?{self.router.url.query}"
        try:
            result = read()
        except (sqlite3.Error, OSError) as error:
            self.load, self.fault = "error", f"{type(error).__name__}: {error}"
            return None
        self.load, self.fault = "ready", ""
        return result

    def _parameter(self, name: str) -> str:
        return str(self.router.url.query_parameters.get(name, "")).strip()


class FilteredPage(PageData, mixin=True):
    """A list with filters in the address; subclasses say its path and the words its status knows."""

    path: ClassVar[str]
    statuses: ClassVar[Sequence[str]]

    status: str = ""
    query: str = ""
    total: int = 0
    page_no: int = 1
    pages: int = 1
    previous_to: str = ""
    next_to: str = ""
    notice: str = ""
    notice_value: str = ""

    def _read_filters(self) -> None:
        """Take the filters from the address; a status that is none is switched off and said so."""
        self.query = self._parameter("q")
        self.notice, self.notice_value = "", ""
        self.status = self._checked("status", self.statuses)

    def _checked(self, name: str, allowed: Sequence[str]) -> str:
        value = self._parameter(name)
        if value and value not in allowed:
            self.notice, self.notice_value = "status", value
            return ""
        return value

    def _one_page(self, found: Sequence[Row]) -> Sequence[Row]:
        """The rows of the page that the address asks for; for one that is none the first, and a notice."""
        self.total = len(found)
        self.pages = max(-(-len(found) // PAGE_SIZE), 1)
        asked = self._parameter("page") or "1"
        self.page_no = whole_number(asked) or 0
        if not 1 <= self.page_no <= self.pages:
            self.page_no, self.notice, self.notice_value = 1, "page", asked
        self.previous_to = self._page_address(self.page_no - 1)
        self.next_to = self._page_address(self.page_no + 1)
        start = (self.page_no - 1) * PAGE_SIZE
        return found[start : start + PAGE_SIZE]

    def _page_address(self, number: int) -> str:
        if not 1 <= number <= self.pages:
            return ""
        return address(self.path, **self._filters(), page=number if number > 1 else 0)

    def _filters(self) -> dict[str, str | int]:
        return {"status": self.status, "q": self.query.strip()}

    def _show(self, **changes: str | int) -> EventSpec:
        return rx.redirect(address(self.path, **(self._filters() | changes)), replace=True)

    @rx.event
    def set_status(self, status: str) -> EventSpec:
        """Show rows of one status, from the first page; "" shows all."""
        self.status = status
        return self._show()

    @rx.event
    def set_query(self, query: str) -> EventSpec:
        """Show rows that hold every word of `query`, from the first page."""
        return self._show(q=query.strip())


class PagedRows(FilteredPage, mixin=True):
    """A filtered list, a page at a time, of what names customers; subclasses say what is found and how it is shown."""

    rows: rx.Field[list[Any]] = rx.field(default_factory=list)

    def _find(self) -> Sequence[Any]:
        """What the filters in force find in the shop."""
        raise NotImplementedError

    def _row(self, found: Any, korean: view.KoreanNames) -> Any:
        """One of it as the page shows it."""
        raise NotImplementedError

    @rx.event
    def show(self) -> None:
        """Read the rows that the address asks for."""
        self._read_filters()
        read = self._read(lambda: (self._find(), view.KoreanNames.of(shop())))
        if read is None:
            return
        found, korean = read
        self.rows = [self._row(one, korean) for one in self._one_page(found)]


class DashboardState(PageData, rx.State):
    """Key figures, revenue by month, and the latest orders."""

    kpis: view.KpiView = view.KpiView()
    chart: view.ChartView = view.ChartView()
    recent: rx.Field[list[view.OrderRow]] = rx.field(default_factory=list)

    @rx.event
    def show(self) -> None:
        """Read everything the dashboard shows."""
        read = self._read(
            lambda: (
                shop().kpis(),
                shop().revenue_by_month(),
                shop().orders(),
                view.KoreanNames.of(shop()),
            )
        )
        if read is None:
            return
        kpis, months, orders, korean = read
        self.kpis, self.chart = view.kpi_view(kpis), view.chart_view(months)
        self.recent = [view.order_row(order, korean) for order in orders[:RECENT_ORDERS]]


class OrdersState(PagedRows, rx.State):
    """The orders list: status, search, pages."""

    path: ClassVar[str] = "/orders"
    statuses: ClassVar[Sequence[str]] = tuple(OrderStatus)

    rows: rx.Field[list[view.OrderRow]] = rx.field(default_factory=list)

    def _find(self) -> Sequence[Order]:
        return shop().orders(self.status or None, self.query)

    def _row(self, found: Order, korean: view.KoreanNames) -> view.OrderRow:
        return view.order_row(found, korean)


class OrderState(PageData, rx.State):
    """One order. `asked` is the number in the address as it stands there."""

    asked: str = ""
    order: view.OrderView = view.OrderView()
    just_placed: int = 0

    @rx.event
    def show(self) -> None:
        """Read the order that the address names; a number without an order is "missing"."""
        self.asked = self.router.url.path.rstrip("/").rsplit("/", 1)[-1]
        number = whole_number(self.asked)
        found = self._read(lambda: None if number is None else _read_order(number))
        if found is None:
            if self.load == "ready":
                self.load = "missing"
            self.order = view.OrderView()
            return
        self.order = found
        if self.just_placed != found.number:
            self.just_placed = 0


def _read_order(number: int) -> view.OrderView | None:
    order = shop().order(number)
    if order is None:
        return None
    return view.order_view(order, view.KoreanNames.of(shop()), shop().invoice(f"INV-{number:04d}"))


class ProductsState(FilteredPage, rx.State):
    """The products grid: stock level, category, search."""

    path: ClassVar[str] = "/products"
    statuses: ClassVar[Sequence[str]] = tuple(STOCK_LEVELS)

    tiles: rx.Field[list[view.ProductTile]] = rx.field(default_factory=list)
    category: str = ""

    @rx.event
    def show(self) -> None:
        """Read the products that the address asks for."""
        self._read_filters()
        self.category = self._checked("category", tuple(CATEGORIES))
        found = self._read(lambda: shop().products(self.query, self.category or None))
        if found is None:
            return
        wanted = [product for product in found if not self.status or view.is_low(product) == (self.status == "low")]
        self.total = len(wanted)
        self.tiles = [view.product_tile(product) for product in wanted]

    def _filters(self) -> dict[str, str | int]:
        return {"status": self.status, "category": self.category, "q": self.query.strip()}

    @rx.event
    def set_category(self, category: str) -> EventSpec:
        """Show products of one category; "" shows all."""
        self.category = category
        return self._show()


class InvoicesState(PagedRows, rx.State):
    """The invoices table: status, search, pages."""

    path: ClassVar[str] = "/invoices"
    statuses: ClassVar[Sequence[str]] = tuple(InvoiceStatus)

    rows: rx.Field[list[view.InvoiceRow]] = rx.field(default_factory=list)

    def _find(self) -> Sequence[Invoice]:
        return shop().invoices(self.status or None, self.query)

    def _row(self, found: Invoice, korean: view.KoreanNames) -> view.InvoiceRow:
        return view.invoice_row(found, korean)


# Which field a refusal of the shop belongs to, and the text that explains it there.
_REFUSALS: dict[str, tuple[str, str]] = {
    "unknown_customer": ("customer", "invalid.customer"),
    "unknown_product": ("product", "invalid.product"),
    "bad_quantity": ("quantity", "invalid.quantity"),
    "not_enough_stock": ("quantity", "invalid.stock"),
}
FORM_FIELDS = ("customer", "product", "quantity", "note")


class NewOrderState(PageData, rx.State):
    """The order form: what is filled in, what is wrong with it, and the placing of the order."""

    customers: rx.Field[list[view.CustomerOption]] = rx.field(default_factory=list)
    products: rx.Field[list[view.ProductOption]] = rx.field(default_factory=list)
    customer: str = ""
    product: str = ""
    quantity: str = "1"
    note: str = ""
    errors: rx.Field[dict[str, str]] = rx.field(default_factory=dict)
    refused: str = ""
    request_key: str = ""
    _placed: rx.Field[dict[str, int]] = rx.field(default_factory=dict)

    @rx.event
    def show(self) -> None:
        """Read the choices; `?sku=` in the address chooses the product."""
        read = self._read(lambda: (shop().customers(), shop().products()))
        if read is None:
            return
        customers, products = read
        self.customers = [view.customer_option(customer) for customer in customers]
        self.products = [view.product_option(product) for product in products]
        self.request_key = self.request_key or uuid4().hex
        if self._parameter("sku") in {option.value for option in self.products}:
            self.product = self._parameter("sku")

    @rx.var
    def stock(self) -> int:
        """Stock of the chosen product; -1 while none is chosen."""
        return next((option.stock for option in self.products if option.value == self.product), -1)

    @rx.var
    def amount(self) -> str:
        """What the order comes to, or "" while product or quantity is not settled."""
        price = next((option.price_krw for option in self.products if option.value == self.product), 0)
        quantity = whole_number(self.quantity)
        if not price or quantity is None or not 1 <= quantity <= MAX_ORDER_QUANTITY:
            return ""
        return krw(price * quantity)

    @rx.event
    def set_customer(self, customer: str) -> None:
        """Choose the customer by id."""
        self._fill("customer", customer)

    @rx.event
    def set_product(self, product: str) -> None:
        """Choose the product by SKU."""
        self._fill("product", product)

    @rx.event
    def set_quantity(self, quantity: str) -> None:
        """Take the quantity as it is typed; it is judged when the order is placed."""
        self._fill("quantity", str(quantity))

    @rx.event
    def set_note(self, note: str) -> None:
        """Take the note."""
        self._fill("note", note)

    def _fill(self, name: str, value: str) -> None:
        setattr(self, name, value)
        self.errors = {field: key for field, key in self.errors.items() if field != name}
        self.refused = ""

    @rx.event
    def clear(self) -> None:
        """Empty the form."""
        self._empty()

    def _empty(self) -> None:
        self.customer, self.product, self.quantity, self.note = "", "", "1", ""
        self.errors, self.refused = {}, ""

    @rx.event
    async def submit(self, form: dict[str, Any]) -> EventSpec:
        """Judge the form and place the order; then its page is shown. What is wrong is said at its field.

        The form carries the key that it was drawn with: one that is sent twice, by a double click, orders once.
        """
        if (made := self._placed.get(str(form.get("request_key", "")))) is not None:
            return rx.redirect(f"/orders/{made}")
        for name in FORM_FIELDS:
            setattr(self, name, str(form.get(name, getattr(self, name))).strip())
        self.errors, self.refused = self._mistakes(), ""
        if not self.errors:
            try:
                order = shop().place_order(
                    self.product,
                    int(self.quantity),
                    int(self.customer),
                    self.note,
                    request_key=self.request_key,
                )
            except ShopError as error:
                self._refuse(error)
            except (sqlite3.Error, OSError) as error:
                self.refused = f"{type(error).__name__}: {error}"
            else:
                (await self.get_state(OrderState)).just_placed = order.id
                self._placed[self.request_key] = order.id
                self.request_key = uuid4().hex
                self._empty()
                return rx.redirect(f"/orders/{order.id}")
        first = next((name for name in FORM_FIELDS if name in self.errors), "")
        return rx.call_script(f"window.hallaShell.focus('{_FIELD_IDS[first]}')")

    def _mistakes(self) -> dict[str, str]:
        quantity = whole_number(self.quantity)
        wrong: Mapping[str, bool] = {
            "customer": self.customer not in {option.value for option in self.customers},
            "product": self.product not in {option.value for option in self.products},
            "quantity": quantity is None or not 1 <= quantity <= MAX_ORDER_QUANTITY,
            "note": len(self.note) > MAX_NOTE_LENGTH,
        }
        return {name: f"invalid.{name}" for name, is_wrong in wrong.items() if is_wrong}

    def _refuse(self, error: ShopError) -> None:
        field, key = _REFUSALS.get(error.code, ("", ""))
        if field:
            self.errors = {field: key}
        else:
            self.refused = f"{error.message} ({error.code})"


_FIELD_IDS = {
    "customer": "new-order-customer",
    "product": "new-order-product",
    "quantity": "new-order-quantity",
    "note": "new-order-note",
    "": "new-order-refused",
}


def whole_number(text: str) -> int | None:
    """The whole number that `text` writes in ASCII digits (at most nine of them), or None."""
    digits = text.strip()
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) <= 9 else None


# The page that a path shows, so that whoever changed the shop can have the open page read it again.
_PAGE_STATES: dict[str, type[Any]] = {
    "/": DashboardState,
    "/orders": OrdersState,
    "/orders/new": NewOrderState,
    "/products": ProductsState,
    "/invoices": InvoicesState,
}


def reload_page(path: str) -> EventSpec | None:
    """The event that reads the data of the page at `path` anew, or None for a path without data.

    For code outside the pages that changed the shop, such as an order placed by the assistant:
    `return reload_page(self.router.url.path)`.
    """
    plain = path.rstrip("/") or "/"
    state = _PAGE_STATES.get(plain, OrderState if plain.startswith("/orders/") else None)
    return None if state is None else state.show
