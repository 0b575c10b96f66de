"""The table of orders, on the orders page and on the dashboard."""

from typing import Any

import reflex as rx

from demo_app.components.ui import badge, link
from demo_app.i18n import either, t
from demo_app.state.shop_view import OrderRow
from demo_app.theme import ORDER_STATUS, ORDER_TONES


def orders_table(rows: Any, caption: Any) -> rx.Component:
    """Orders as a table; each row is a link to its order and is known to the assistant as `order:<id>`."""
    return rx.el.div(
        rx.el.table(
            rx.el.caption(caption, class_name="sr-only"),
            rx.el.thead(
                rx.el.tr(
                    rx.el.th(t("orders.number"), scope="col"),
                    rx.el.th(t("customer"), scope="col"),
                    rx.el.th(t("orders.lines"), scope="col", class_name="wide-only"),
                    rx.el.th(t("orders.placed"), scope="col", class_name="wide-only"),
                    rx.el.th(t("status"), scope="col"),
                    rx.el.th(t("total"), scope="col", class_name="end"),
                )
            ),
            rx.el.tbody(rx.foreach(rows, _row)),
            class_name="table",
        ),
        class_name="table-wrap",
    )


def _row(order: rx.Var[OrderRow]) -> rx.Component:
    row: Any = order
    return rx.el.tr(
        rx.el.th(link("#", row.number, to=row.href, class_name="row-link num"), scope="row"),
        rx.el.td(either(row.customer, row.customer_ko), rx.el.span(row.placed_on, class_name="cell-sub num")),
        rx.el.td(
            either(row.article, row.article_ko),
            rx.cond(row.more > 0, rx.el.span(f" +{row.more}", class_name="card-note")),
            class_name="wide-only",
        ),
        rx.el.td(row.placed_on, class_name="date wide-only"),
        rx.el.td(badge(row.status, ORDER_STATUS, ORDER_TONES)),
        rx.el.td(row.total, class_name="end"),
        class_name="linked",
        custom_attrs={"data-agent-id": f"order:{row.number}"},
    )
