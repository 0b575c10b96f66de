"""Orders in a card: a small table whose rows open the order's page."""

from typing import Any

import reflex as rx

from demo_app.cards.reading import Lenient, fitting
from demo_app.components.ui import badge, link
from demo_app.i18n import either, krw, t
from demo_app.state.cards_model import OrderItem
from demo_app.theme import ORDER_STATUS, ORDER_TONES


class _Order(Lenient):
    id: int
    customer_name: str
    customer_name_ko: str = ""
    status: str
    placed_on: str
    total_krw: int


class _One(Lenient):
    order: _Order


class _Many(Lenient):
    orders: list[_Order]
    count: int


def read_one(arguments: Any, result: Any) -> dict[str, Any] | None:
    """The result of `lookup_order`."""
    found = fitting(_One, result)
    return None if found is None else {"orders": [_item(found.order)]}


def read_many(arguments: Any, result: Any) -> dict[str, Any] | None:
    """The result of `search_orders`; `percent` counts what was found."""
    found = fitting(_Many, result)
    return None if found is None else {"orders": [_item(order) for order in found.orders], "percent": found.count}


def _item(order: _Order) -> OrderItem:
    return OrderItem(
        order.id,
        order.customer_name,
        order.customer_name_ko or order.customer_name,
        order.status,
        order.placed_on,
        krw(order.total_krw),
        f"/orders/{order.id}",
    )


def orders_body(card: Any) -> rx.Component:
    """The table."""
    return rx.el.div(
        rx.el.table(
            rx.el.caption(t("card.orders"), class_name="sr-only"),
            rx.el.thead(
                rx.el.tr(
                    rx.el.th(t("orders.number"), scope="col"),
                    rx.el.th(t("customer"), scope="col"),
                    rx.el.th(t("status"), scope="col"),
                    rx.el.th(t("total"), scope="col", class_name="end"),
                )
            ),
            rx.el.tbody(rx.foreach(card.orders, _row)),
            class_name="table mini",
        ),
        rx.cond(
            card.percent > card.orders.length(),
            rx.el.p(t("card.more_orders", shown=card.orders.length(), count=card.percent), class_name="card-note"),
        ),
        class_name="table-wrap",
        tab_index=0,
        role="group",
        aria_label=t("card.orders"),
    )


def _row(order: Any) -> rx.Component:
    return rx.el.tr(
        rx.el.th(link(order.number, to=order.href, class_name="row-link"), scope="row"),
        rx.el.td(either(order.customer, order.customer_ko), rx.el.span(order.placed_on, class_name="cell-sub always")),
        rx.el.td(badge(order.status, ORDER_STATUS, ORDER_TONES)),
        rx.el.td(order.total, class_name="end"),
        class_name="linked",
    )
