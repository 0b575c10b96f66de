"""One order: what was bought, by whom, and where it stands."""

from typing import Any

import reflex as rx

from demo_app.components.ui import (
    badge,
    bones,
    card,
    card_body,
    card_head,
    error_state,
    icon,
    link,
    notice,
    page,
    page_head,
    shown_path,
    state_panel,
)
from demo_app.i18n import either, t
from demo_app.state.shop_state import OrderState
from demo_app.state.shop_view import LineRow
from demo_app.theme import ORDER_STATUS, ORDER_TONES, Tone


def order() -> rx.Component:
    """The page at `/orders/[order_id]`."""
    state = OrderState
    # Until the order that the address names is read, the one shown before it is not shown as if it were.
    load = rx.cond(shown_path() == f"/orders/{state.asked}", state.load, "loading")
    return page(
        "order",
        rx.match(
            load,
            ("ready", _order()),
            ("missing", _missing()),
            (
                "error",
                rx.el.div(
                    page_head(t("order.title", n=state.asked), above=_back()),
                    card(error_state(state.fault, state.show)),
                    class_name="stack",
                ),
            ),
            rx.el.div(page_head(t("order.loading")), card(bones(6)), class_name="stack"),
        ),
        load=load,
        shown=state.shown,
        order=state.asked,
    )


def _order() -> rx.Component:
    shown = OrderState.order
    return rx.el.div(
        page_head(
            t("order.title", n=shown.number),
            None,
            badge(shown.status, ORDER_STATUS, ORDER_TONES),
            above=_back(),
        ),
        rx.cond(OrderState.just_placed > 0, notice(Tone.OK, t("order.placed", n=shown.number), role="status")),
        rx.el.div(_lines(), _summary(), class_name="columns"),
        class_name="stack",
    )


def _back() -> rx.Component:
    return link(icon("arrow-left", 14), t("order.back"), to="/orders", class_name="crumb")


def _lines() -> rx.Component:
    return card(
        card_head(t("order.lines")),
        rx.el.div(
            rx.el.div(
                rx.el.table(
                    rx.el.caption(t("order.lines"), class_name="sr-only"),
                    rx.el.thead(
                        rx.el.tr(
                            rx.el.th(t("product"), scope="col"),
                            rx.el.th(t("order.unit"), scope="col", class_name="end wide-only"),
                            rx.el.th(t("quantity"), scope="col", class_name="end"),
                            rx.el.th(t("order.sum"), scope="col", class_name="end"),
                        )
                    ),
                    rx.el.tbody(rx.foreach(OrderState.order.lines, _line)),
                    class_name="table",
                ),
                class_name="table-wrap",
            ),
            class_name="card-flush",
        ),
        id="order-lines",
        class_name="clip",
        custom_attrs={"data-agent-id": "order-lines"},
    )


def _line(line: rx.Var[LineRow]) -> rx.Component:
    row: Any = line
    return rx.el.tr(
        rx.el.th(either(row.product, row.product_ko), rx.el.span(row.sku, class_name="tile-sku block"), scope="row"),
        rx.el.td(row.unit_price, class_name="end wide-only"),
        rx.el.td(row.quantity, class_name="end"),
        rx.el.td(row.amount, class_name="end"),
    )


def _summary() -> rx.Component:
    shown = OrderState.order
    return card(
        card_head(t("order.summary")),
        card_body(
            rx.el.dl(
                _fact(t("customer"), either(shown.customer, shown.customer_ko)),
                _fact(t("orders.placed"), shown.placed_on),
                _fact(
                    t("order.invoice"),
                    rx.cond(
                        shown.invoice != "",
                        link(shown.invoice, to=f"/invoices?q={shown.invoice}"),
                        t("order.none"),
                    ),
                ),
                _fact(t("note"), rx.cond(shown.note != "", shown.note, t("order.none"))),
                _fact(t("total"), shown.total, "sum num"),
                class_name="facts",
            )
        ),
        id="order-summary",
        custom_attrs={"data-agent-id": "order-summary"},
    )


def _fact(name: Any, value: Any, extra: str = "num") -> rx.Component:
    return rx.el.div(rx.el.dt(name), rx.el.dd(value), class_name=extra)


def _missing() -> rx.Component:
    return card(
        state_panel(
            "package-x",
            t("order.missing.title", n=OrderState.asked),
            rx.el.p(t("order.missing.hint")),
            link(t("recent.all"), to="/orders", class_name="button"),
            heading=rx.el.h1,
        )
    )
