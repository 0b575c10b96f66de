"""The orders list, with its filters in the address."""

import reflex as rx

from demo_app.components.listing import list_page, table_card
from demo_app.components.orders_table import orders_table
from demo_app.components.ui import icon, link, page_head, select_field
from demo_app.i18n import t
from demo_app.state.shop_state import OrdersState
from demo_app.theme import ORDER_STATUS


def orders() -> rx.Component:
    """The page at `/orders`."""
    state = OrdersState
    return list_page(
        "orders",
        state,
        page_head(
            t("orders.title"),
            t("orders.lead"),
            link(icon("plus", 16), t("nav.new_order"), to="/orders/new", class_name="button primary"),
        ),
        [select_field(t("status"), "orders-status", state.status, ORDER_STATUS, state.set_status)],
        table_card("orders", state, orders_table(state.rows, t("orders.title"))),
    )
