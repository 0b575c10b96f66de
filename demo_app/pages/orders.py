"""The orders list, with its filters in the address."""

import reflex as rx

from demo_app.components.filters import filter_bar, filter_notice, mirrored
from demo_app.components.orders_table import orders_table
from demo_app.components.ui import (
    bones,
    card,
    empty_state,
    error_state,
    icon,
    link,
    page,
    page_head,
    pager,
    search_field,
    select_field,
)
from demo_app.i18n import t
from demo_app.state.shop_state import OrdersState
from demo_app.theme import ORDER_STATUS


def orders() -> rx.Component:
    """The page at `/orders`."""
    state = OrdersState
    return page(
        "orders",
        page_head(
            t("orders.title"),
            t("orders.lead"),
            link(icon("plus", 16), t("nav.new_order"), to="/orders/new", class_name="button primary"),
        ),
        filter_bar(
            t("orders.filter"),
            state,
            search_field(t("orders.search"), "orders-query", state.query, state.set_query),
            select_field(t("status"), "orders-status", state.status, ORDER_STATUS, state.set_status),
            agent_id="orders-filter",
        ),
        filter_notice(state),
        card(
            rx.match(
                state.load,
                ("ready", rx.cond(state.total > 0, _table(), empty_state("/orders"))),
                ("error", error_state(state.fault, state.show)),
                bones(8),
            ),
            id="orders-table",
            class_name="clip",
            custom_attrs={"data-agent-id": "orders-table"},
        ),
        load=state.load,
        shown=state.shown,
        **mirrored(state),
    )


def _table() -> rx.Component:
    state = OrdersState
    return rx.fragment(
        orders_table(state.rows, t("orders.title")),
        pager(t("pager.label"), state.page_no, state.pages, state.previous_to, state.next_to),
    )
