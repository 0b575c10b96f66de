"""The shop behind the demo: a made-up coffee-equipment wholesaler, "Halla Supply", in one SQLite file.

Everything in it is invented and seeded the same way each time, so that a screenshot, a test and a tour agree
on what order 42 is. The shop's calendar stands still at `BUSINESS_DATE`. Amounts are whole won (`*_krw`).

Each operation opens its own short connection: the pages, the agent's parallel tools and the tests use one
`Shop` from several threads at once.
"""

import os
import random
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import date, timedelta
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from demo_app.database import write_ahead

BUSINESS_DATE = date(2026, 12, 31)
OPENING_BALANCE_KRW = 50_000_000
MAX_ORDER_QUANTITY = 500
_PAYMENT_DAYS = 45
_BUSY_SECONDS = 10.0
_SCHEMA_VERSION = 1


class OrderStatus(StrEnum):
    """Where an order stands."""

    PENDING = "pending"
    PAID = "paid"
    SHIPPED = "shipped"
    DELIVERED = "delivered"
    CANCELLED = "cancelled"


class InvoiceStatus(StrEnum):
    """Where an invoice stands."""

    OPEN = "open"
    PAID = "paid"
    OVERDUE = "overdue"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Customer(_Frozen):
    """A cafe or office that buys from the shop."""

    id: int
    name: str
    name_ko: str
    city: str
    email: str


class Product(_Frozen):
    """One article; `reorder_at` is the stock at which it counts as low."""

    sku: str
    name: str
    name_ko: str
    category: str
    price_krw: int
    stock: int
    reorder_at: int


class OrderLine(_Frozen):
    """One article of an order, at the price it was sold for."""

    sku: str
    product_name: str
    quantity: int
    unit_price_krw: int


class Order(_Frozen):
    """An order with its lines; `placed_on` is an ISO date."""

    id: int
    customer_id: int
    customer_name: str
    customer_name_ko: str
    status: OrderStatus
    placed_on: str
    lines: list[OrderLine]
    total_krw: int
    note: str


class Invoice(_Frozen):
    """The invoice of one order; its number is the order's (`INV-0042` bills order 42)."""

    id: str
    order_id: int
    customer_name: str
    customer_name_ko: str
    issued_on: str
    due_on: str
    total_krw: int
    status: InvoiceStatus


class Kpis(_Frozen):
    """The dashboard's figures. Revenue counts paid, shipped and delivered orders."""

    revenue_krw: int
    order_count: int
    customer_count: int
    low_stock_count: int
    open_invoices: int


class Transfer(_Frozen):
    """A row of the ledger: money that left the shop's account."""

    id: int
    request_key: str
    to: str
    amount_krw: int
    memo: str
    made_on: str


class ShopError(Exception):
    """The shop refused an operation; nothing was changed.

    Attributes: `code`, a stable word (`unknown_product`, `unknown_customer`, `bad_quantity`,
    `not_enough_stock`, `request_key_reused`, `bad_amount`, `insufficient_funds`, `missing_recipient`,
    `missing_request_key`), and `message`, for a person.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def default_database_path() -> Path:
    """`shop.db` in the folder that `DEMO_DATA_DIR` names, else in `.demo-data` of the working directory."""
    return Path(os.environ.get("DEMO_DATA_DIR") or ".demo-data") / "shop.db"


class Shop:
    """The shop's database: created and seeded on first use, safe to share between threads.

    Parameters: `path`, the SQLite file; its folder is created when missing. None: `default_database_path()`.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = Path(path) if path is not None else default_database_path()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._connect() as db:
            write_ahead(db, _BUSY_SECONDS)
        with self._write() as db:
            if db.execute("PRAGMA user_version").fetchone()[0] < _SCHEMA_VERSION:
                _create(db)

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self.path, timeout=_BUSY_SECONDS, isolation_level=None)) as db:
            db.row_factory = sqlite3.Row
            db.execute("PRAGMA foreign_keys = ON")
            yield db

    @contextmanager
    def _write(self) -> Iterator[sqlite3.Connection]:
        """A transaction that holds the write lock from its start: a check and its update belong together."""
        with self._connect() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

    def _rows(self, sql: str, parameters: Sequence[object] = ()) -> list[sqlite3.Row]:
        with self._connect() as db:
            return db.execute(sql, parameters).fetchall()

    def customers(self) -> list[Customer]:
        """All customers, by id."""
        return [Customer(**dict(row)) for row in self._rows("SELECT * FROM customers ORDER BY id")]

    def customer(self, customer_id: int) -> Customer | None:
        """One customer, or None."""
        return next(
            (Customer(**dict(row)) for row in self._rows("SELECT * FROM customers WHERE id = ?", (customer_id,))),
            None,
        )

    def products(self, query: str = "", category: str | None = None) -> list[Product]:
        """Products whose SKU, English or Korean name or category contains every word of `query`, by SKU."""
        where = _Where()
        where.words(query, "sku || ' ' || name || ' ' || name_ko || ' ' || category")
        where.equals("category", category)
        return [
            Product(**dict(row))
            for row in self._rows(f"SELECT * FROM products {where.sql} ORDER BY sku", where.parameters)
        ]

    def product(self, sku: str) -> Product | None:
        """One product by its SKU (in any case), or None."""
        rows = self._rows("SELECT * FROM products WHERE sku = ? COLLATE NOCASE", (sku,))
        return next((Product(**dict(row)) for row in rows), None)

    def orders(
        self, status: OrderStatus | str | None = None, query: str = "", customer_id: int | None = None
    ) -> list[Order]:
        """Orders, newest first; `query` looks at the number, the customer, the note and the articles."""
        where = _Where()
        where.equals("o.status", status)
        where.equals("o.customer_id", customer_id)
        where.words(
            query,
            "o.id || ' ' || c.name || ' ' || c.name_ko || ' ' || o.note || ' ' || (SELECT group_concat("
            "p.sku || ' ' || p.name || ' ' || p.name_ko, ' ') FROM order_lines l JOIN products p USING (sku)"
            " WHERE l.order_id = o.id)",
        )
        return self._orders(where)

    def order(self, order_id: int) -> Order | None:
        """One order, or None."""
        where = _Where()
        where.equals("o.id", order_id)
        return next(iter(self._orders(where)), None)

    def _orders(self, where: "_Where") -> list[Order]:
        with self._connect() as db:
            return _read_orders(db, where)

    def invoices(self, status: InvoiceStatus | str | None = None, query: str = "") -> list[Invoice]:
        """Invoices, newest first; `query` looks at the number and the customer."""
        where = _Where()
        where.equals("i.status", status)
        where.words(query, "i.id || ' ' || c.name || ' ' || c.name_ko")
        return [
            Invoice(**dict(row)) for row in self._rows(f"{_INVOICES} {where.sql} ORDER BY i.id DESC", where.parameters)
        ]

    def invoice(self, invoice_id: str) -> Invoice | None:
        """One invoice by its number (in any case), or None."""
        rows = self._rows(f"{_INVOICES} WHERE i.id = ? COLLATE NOCASE", (invoice_id,))
        return next((Invoice(**dict(row)) for row in rows), None)

    def revenue_by_month(self) -> list[tuple[str, int]]:
        """`("2026-01", revenue in won)` for every month of the shop's year, in order."""
        rows = self._rows(
            "SELECT substr(o.placed_on, 1, 7) AS month, sum(l.quantity * l.unit_price_krw) AS revenue"
            f" FROM orders o JOIN order_lines l ON l.order_id = o.id WHERE {_EARNED}"
            " GROUP BY month ORDER BY month"
        )
        return [(row["month"], row["revenue"]) for row in rows]

    def kpis(self) -> Kpis:
        """The dashboard's figures, read in one go."""
        (row,) = self._rows(
            "SELECT (SELECT coalesce(sum(l.quantity * l.unit_price_krw), 0) FROM orders o"
            f" JOIN order_lines l ON l.order_id = o.id WHERE {_EARNED}) AS revenue_krw,"
            " (SELECT count(*) FROM orders) AS order_count,"
            " (SELECT count(*) FROM customers) AS customer_count,"
            " (SELECT count(*) FROM products WHERE stock <= reorder_at) AS low_stock_count,"
            " (SELECT count(*) FROM invoices WHERE status <> 'paid') AS open_invoices"
        )
        return Kpis(**dict(row))

    def place_order(self, sku: str, quantity: int, customer_id: int, note: str = "", *, request_key: str) -> Order:
        """Place an order of one article and take it from stock.

        `request_key` names the request: the same key with the same order gives the order made the first time,
        so one tool call never orders twice (FT-8). Raises `ShopError`: `unknown_product`, `unknown_customer`,
        `bad_quantity`, `not_enough_stock`, `request_key_reused`, `missing_request_key`.
        """
        _require_key(request_key)
        with self._write() as db:
            made = db.execute("SELECT id FROM orders WHERE request_key = ?", (request_key,)).fetchone()
            if made is not None:
                return _same_order(_read_order(db, made["id"]), sku, quantity, customer_id, note, request_key)
            product = _checked_product(db, sku, quantity, customer_id)
            order_id = db.execute(
                "INSERT INTO orders (customer_id, status, placed_on, note, request_key) VALUES (?, ?, ?, ?, ?)",
                (customer_id, OrderStatus.PENDING, BUSINESS_DATE.isoformat(), note, request_key),
            ).lastrowid
            db.execute(
                "INSERT INTO order_lines VALUES (?, ?, ?, ?)",
                (order_id, product.sku, quantity, product.price_krw),
            )
            db.execute("UPDATE products SET stock = stock - ? WHERE sku = ?", (quantity, product.sku))
            return _read_order(db, int(order_id or 0))

    def transfer(self, to: str, amount_krw: int, memo: str = "", *, request_key: str) -> Transfer:
        """Write a transfer into the ledger; the same `request_key` gives the row made the first time.

        Raises `ShopError`: `missing_recipient`, `bad_amount`, `insufficient_funds`, `request_key_reused`,
        `missing_request_key`.
        """
        _require_key(request_key)
        with self._write() as db:
            row = db.execute("SELECT * FROM ledger WHERE request_key = ?", (request_key,)).fetchone()
            if row is not None:
                made = Transfer(**dict(row))
                if (made.to, made.amount_krw, made.memo) != (to, amount_krw, memo):
                    raise _key_reused(request_key)
                return made
            _check_transfer(db, to, amount_krw)
            db.execute(
                'INSERT INTO ledger (request_key, "to", amount_krw, memo, made_on) VALUES (?, ?, ?, ?, ?)',
                (request_key, to, amount_krw, memo, BUSINESS_DATE.isoformat()),
            )
            return Transfer(**dict(db.execute("SELECT * FROM ledger WHERE id = last_insert_rowid()").fetchone()))

    def transfers(self) -> list[Transfer]:
        """The ledger, oldest first."""
        return [Transfer(**dict(row)) for row in self._rows("SELECT * FROM ledger ORDER BY id")]

    def balance_krw(self) -> int:
        """What is left of the opening balance after the ledger's transfers."""
        with self._connect() as db:
            return _balance(db)


class _Where:
    """Conditions of a query, with their parameters kept apart from the text (never interpolated: FT-5)."""

    def __init__(self) -> None:
        self._conditions: list[str] = []
        self.parameters: list[object] = []

    def equals(self, column: str, value: object | None) -> None:
        if value is not None and value != "":
            self._conditions.append(f"{column} = ?")
            self.parameters.append(value)

    def words(self, query: str, text: str) -> None:
        for word in query.split():
            self._conditions.append(f"({text}) LIKE ? ESCAPE '\\'")
            escaped = word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
            self.parameters.append(f"%{escaped}%")

    @property
    def sql(self) -> str:
        return "WHERE " + " AND ".join(self._conditions) if self._conditions else ""


_EARNED = "o.status IN ('paid', 'shipped', 'delivered')"
_INVOICES = (
    "SELECT i.id, i.order_id, c.name AS customer_name, c.name_ko AS customer_name_ko,"
    " i.issued_on, i.due_on, i.status,"
    " (SELECT sum(quantity * unit_price_krw) FROM order_lines WHERE order_id = i.order_id) AS total_krw"
    " FROM invoices i JOIN orders o ON o.id = i.order_id JOIN customers c ON c.id = o.customer_id"
)


def _read_orders(db: sqlite3.Connection, where: _Where) -> list[Order]:
    rows = db.execute(
        "SELECT o.id, o.customer_id, c.name AS customer_name, c.name_ko AS customer_name_ko,"
        " o.status, o.placed_on, o.note FROM orders o"
        f" JOIN customers c ON c.id = o.customer_id {where.sql} ORDER BY o.id DESC",
        where.parameters,
    ).fetchall()
    lines: dict[int, list[OrderLine]] = {row["id"]: [] for row in rows}
    only_one = next(iter(lines)) if len(lines) == 1 else None
    condition, parameters = ("", ()) if only_one is None else ("WHERE l.order_id = ?", (only_one,))
    for row in db.execute(
        "SELECT l.order_id, l.sku, p.name AS product_name, l.quantity, l.unit_price_krw"
        f" FROM order_lines l JOIN products p USING (sku) {condition} ORDER BY l.order_id, l.rowid",
        parameters,
    ):
        if row["order_id"] in lines:
            lines[row["order_id"]].append(
                OrderLine(**{key: value for key, value in dict(row).items() if key != "order_id"})
            )
    return [
        Order(
            **dict(row),
            lines=lines[row["id"]],
            total_krw=sum(line.quantity * line.unit_price_krw for line in lines[row["id"]]),
        )
        for row in rows
    ]


def _read_order(db: sqlite3.Connection, order_id: int) -> Order:
    where = _Where()
    where.equals("o.id", order_id)
    (order,) = _read_orders(db, where)
    return order


def _require_key(request_key: str) -> None:
    if not request_key:
        raise ShopError("missing_request_key", "A request key is needed, so that one request is never done twice.")


def _key_reused(request_key: str) -> ShopError:
    return ShopError("request_key_reused", f"The request key {request_key!r} was already used for another request.")


def _same_order(order: Order, sku: str, quantity: int, customer_id: int, note: str, request_key: str) -> Order:
    line = order.lines[0]
    made = (line.sku.casefold(), line.quantity, order.customer_id, order.note)
    if made != (sku.casefold(), quantity, customer_id, note):
        raise _key_reused(request_key)
    return order


def _checked_product(db: sqlite3.Connection, sku: str, quantity: int, customer_id: int) -> Product:
    row = db.execute("SELECT * FROM products WHERE sku = ? COLLATE NOCASE", (sku,)).fetchone()
    if row is None:
        raise ShopError("unknown_product", f"There is no product with the SKU {sku!r}.")
    product = Product(**dict(row))
    if db.execute("SELECT 1 FROM customers WHERE id = ?", (customer_id,)).fetchone() is None:
        raise ShopError("unknown_customer", f"There is no customer number {customer_id}.")
    if not 1 <= quantity <= MAX_ORDER_QUANTITY:
        raise ShopError("bad_quantity", f"The quantity must be from 1 to {MAX_ORDER_QUANTITY}, not {quantity}.")
    if quantity > product.stock:
        raise ShopError(
            "not_enough_stock",
            f"Only {product.stock} of {product.sku} are in stock; {quantity} were asked for.",
        )
    return product


def _balance(db: sqlite3.Connection) -> int:
    (spent,) = db.execute("SELECT coalesce(sum(amount_krw), 0) FROM ledger").fetchone()
    return OPENING_BALANCE_KRW - int(spent)


def _check_transfer(db: sqlite3.Connection, to: str, amount_krw: int) -> None:
    if not to.strip():
        raise ShopError("missing_recipient", "A transfer needs a recipient.")
    if amount_krw < 1:
        raise ShopError("bad_amount", f"The amount must be at least 1 won, not {amount_krw}.")
    balance = _balance(db)
    if amount_krw > balance:
        raise ShopError("insufficient_funds", f"The account holds {balance} won; {amount_krw} were asked for.")


# The made-up data.

_SCHEMA = """
CREATE TABLE customers (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, name_ko TEXT NOT NULL, city TEXT NOT NULL, email TEXT NOT NULL
);
CREATE TABLE products (
  sku TEXT PRIMARY KEY, name TEXT NOT NULL, name_ko TEXT NOT NULL, category TEXT NOT NULL,
  price_krw INTEGER NOT NULL, stock INTEGER NOT NULL CHECK (stock >= 0), reorder_at INTEGER NOT NULL
);
CREATE TABLE orders (
  id INTEGER PRIMARY KEY AUTOINCREMENT, customer_id INTEGER NOT NULL REFERENCES customers,
  status TEXT NOT NULL, placed_on TEXT NOT NULL, note TEXT NOT NULL, request_key TEXT UNIQUE
);
CREATE TABLE order_lines (
  order_id INTEGER NOT NULL REFERENCES orders, sku TEXT NOT NULL REFERENCES products,
  quantity INTEGER NOT NULL CHECK (quantity > 0), unit_price_krw INTEGER NOT NULL
);
CREATE INDEX order_lines_by_order ON order_lines (order_id);
CREATE TABLE invoices (
  id TEXT PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders,
  issued_on TEXT NOT NULL, due_on TEXT NOT NULL, status TEXT NOT NULL
);
CREATE TABLE ledger (
  id INTEGER PRIMARY KEY AUTOINCREMENT, request_key TEXT NOT NULL UNIQUE, "to" TEXT NOT NULL,
  amount_krw INTEGER NOT NULL, memo TEXT NOT NULL, made_on TEXT NOT NULL
);
"""

_CUSTOMERS = (
    ("Blue Door Cafe", "파란문 카페", "Seoul", "order@bluedoor.example"),
    ("Haeundae Roasters", "해운대 로스터스", "Busan", "buy@haeundae-roasters.example"),
    ("Olle Coffee", "올레 커피", "Jeju", "hello@olle-coffee.example"),
    ("Harbor Beans", "하버 빈스", "Incheon", "stock@harborbeans.example"),
    ("Apple Valley Cafe", "사과골 카페", "Daegu", "cafe@applevalley.example"),
    ("Science Park Canteen", "과학단지 구내식당", "Daejeon", "canteen@sciencepark.example"),
    ("Mudeung Coffee Lab", "무등 커피랩", "Gwangju", "lab@mudeung.example"),
    ("Fortress Espresso", "화성 에스프레소", "Suwon", "bar@fortress.example"),
    ("Anmok Beach Coffee", "안목해변 커피", "Gangneung", "beach@anmok.example"),
    ("Hanok Drip House", "한옥 드립하우스", "Jeonju", "drip@hanok.example"),
    ("Whale Bay Office", "고래만 오피스", "Ulsan", "office@whalebay.example"),
    ("Seorak View Cafe", "설악뷰 카페", "Sokcho", "view@seorak.example"),
)

_PRODUCTS = (
    ("BEAN-01", "House Blend Beans 1 kg", "하우스 블렌드 원두 1kg", "beans", 28_000, 240, 60),
    ("BEAN-02", "Ethiopia Guji Beans 1 kg", "에티오피아 구지 원두 1kg", "beans", 36_000, 85, 40),
    ("BEAN-03", "Decaf Beans 1 kg", "디카페인 원두 1kg", "beans", 33_000, 18, 30),
    ("CUP-01", "Latte Cup 300 ml", "라떼 컵 300ml", "cups", 12_000, 320, 80),
    ("CUP-02", "Espresso Cup 80 ml", "에스프레소 컵 80ml", "cups", 9_000, 410, 100),
    ("CUP-03", "Glass Server 600 ml", "유리 서버 600ml", "cups", 24_000, 64, 20),
    ("DRIP-01", "Ceramic Dripper", "세라믹 드리퍼", "drippers", 27_000, 130, 40),
    ("DRIP-02", "Steel Dripper", "스틸 드리퍼", "drippers", 34_000, 22, 25),
    ("DRIP-03", "Folding Travel Dripper", "접이식 드리퍼", "drippers", 19_000, 95, 30),
    ("FILT-01", "Paper Filters, 100 sheets", "종이 필터 100매", "filters", 6_000, 900, 200),
    ("FILT-02", "Steel Filter", "스틸 필터", "filters", 21_000, 75, 20),
    ("FILT-03", "Cloth Filter", "융 필터", "filters", 8_000, 12, 30),
    ("GRND-01", "Hand Grinder", "핸드 그라인더", "grinders", 89_000, 58, 20),
    ("GRND-02", "Electric Grinder", "전동 그라인더", "grinders", 320_000, 26, 10),
    ("GRND-03", "Flat Burr Grinder Pro", "플랫버 그라인더 프로", "grinders", 1_450_000, 4, 5),
    ("KETL-01", "Gooseneck Kettle", "구스넥 주전자", "kettles", 72_000, 90, 25),
    ("KETL-02", "Electric Kettle", "전기 주전자", "kettles", 118_000, 47, 15),
    ("MACH-01", "Home Espresso Machine", "가정용 에스프레소 머신", "machines", 690_000, 15, 6),
    ("MACH-02", "Two-Group Espresso Machine", "2그룹 에스프레소 머신", "machines", 5_900_000, 3, 2),
    ("MACH-03", "Batch Brewer", "배치 브루어", "machines", 1_980_000, 6, 3),
    ("TOOL-01", "Tamper 58 mm", "탬퍼 58mm", "tools", 45_000, 110, 30),
    ("TOOL-02", "Milk Pitcher 600 ml", "밀크 피처 600ml", "tools", 26_000, 140, 40),
    ("TOOL-03", "Brewing Scale", "브루잉 저울", "tools", 98_000, 33, 15),
    ("TOOL-04", "Cleaning Powder", "세정제", "tools", 16_000, 9, 20),
)

_PENDING = frozenset({7, 98, 104, 107, 110, 112, 113, 115, 116, 118, 119, 120})
_PAID = frozenset({105, 108, 109, 114, 117})
_CANCELLED = frozenset({11, 23, 31, 54, 66, 77, 89, 101})
_NOTES = (
    "",
    "",
    "",
    "",
    "Call before delivery",
    "Deliver in the morning",
    "Gift wrap",
    "오후 배송 부탁드립니다",
)
_ORDER_COUNT = 120


class _SeedOrder(NamedTuple):
    id: int
    customer_id: int
    status: OrderStatus
    placed_on: date
    note: str


def _create(db: sqlite3.Connection) -> None:
    chance = random.Random(2026)
    for statement in _SCHEMA.split(";"):  # executescript would commit, and the seed belongs in one transaction
        db.execute(statement)
    db.executemany("INSERT INTO customers (name, name_ko, city, email) VALUES (?, ?, ?, ?)", _CUSTOMERS)
    db.executemany("INSERT INTO products VALUES (?, ?, ?, ?, ?, ?, ?)", _PRODUCTS)
    orders = [_seed_order(number, chance) for number in range(1, _ORDER_COUNT + 1)]
    db.executemany(
        "INSERT INTO orders VALUES (?, ?, ?, ?, ?, NULL)",
        [(order.id, order.customer_id, order.status, order.placed_on.isoformat(), order.note) for order in orders],
    )
    for order in orders:
        db.executemany("INSERT INTO order_lines VALUES (?, ?, ?, ?)", _seed_lines(order.id, chance))
    db.executemany("INSERT INTO invoices VALUES (?, ?, ?, ?, ?)", _seed_invoices(orders, chance))
    db.execute(f"PRAGMA user_version = {_SCHEMA_VERSION}")


def _seed_order(number: int, chance: random.Random) -> _SeedOrder:
    """Ten orders a month, numbered in the order of their dates."""
    month, position = (number - 1) // 10 + 1, (number - 1) % 10
    placed_on = date(2026, month, 1 + position * 3 - (1 if month == 2 and position == 9 else 0))
    return _SeedOrder(
        number, chance.randrange(len(_CUSTOMERS)) + 1, _seed_status(number), placed_on, chance.choice(_NOTES)
    )


def _seed_status(number: int) -> OrderStatus:
    fixed = {OrderStatus.PENDING: _PENDING, OrderStatus.CANCELLED: _CANCELLED, OrderStatus.PAID: _PAID}
    for status, numbers in fixed.items():
        if number in numbers:
            return status
    return OrderStatus.SHIPPED if number == 42 or number > 92 else OrderStatus.DELIVERED


def _seed_lines(order_id: int, chance: random.Random) -> list[tuple[int, str, int, int]]:
    chosen = chance.sample(_PRODUCTS, chance.randint(1, 4))
    return [(order_id, sku, _seed_quantity(price, chance), price) for sku, _, _, _, price, _, _ in chosen]


def _seed_quantity(price_krw: int, chance: random.Random) -> int:
    return 1 if price_krw > 1_000_000 else chance.randint(1, 3) if price_krw > 100_000 else chance.randint(4, 24)


def _seed_invoices(orders: Iterable[_SeedOrder], chance: random.Random) -> list[tuple[str, int, str, str, str]]:
    billed = [order for order in orders if order.status not in (OrderStatus.PENDING, OrderStatus.CANCELLED)]
    rows: list[tuple[str, int, str, str, str]] = []
    for order in billed:
        due_on = order.placed_on + timedelta(days=_PAYMENT_DAYS)
        due = due_on < BUSINESS_DATE
        paid = order.status is OrderStatus.PAID or (due and chance.random() < 0.85)
        unpaid = InvoiceStatus.OVERDUE if due else InvoiceStatus.OPEN
        status = InvoiceStatus.PAID if paid else unpaid
        rows.append((f"INV-{order.id:04d}", order.id, order.placed_on.isoformat(), due_on.isoformat(), status))
    return rows
