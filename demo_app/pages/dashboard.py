"""The dashboard: key figures, revenue by month, the latest orders."""

from typing import Any

import reflex as rx

from demo_app.components.chart import revenue_chart
from demo_app.components.orders_table import orders_table
from demo_app.components.ui import bones, card, card_head, error_state, link, page, page_head
from demo_app.i18n import t
from demo_app.state.shop_state import DashboardState


def dashboard() -> rx.Component:
    """The page at `/`."""
    return page(
        "dashboard",
        page_head(t("dashboard.title"), t("dashboard.lead")),
        rx.match(
            DashboardState.load,
            ("ready", rx.el.div(_kpis(), revenue_chart(), _recent(), class_name="stack")),
            ("error", card(error_state(DashboardState.fault, DashboardState.show))),
            rx.el.div(card(bones(1, "4rem")), card(bones(1, "16rem")), card(bones(6)), class_name="stack"),
        ),
        load=DashboardState.load,
        shown=DashboardState.shown,
    )


def _kpis() -> rx.Component:
    kpis = DashboardState.kpis
    figures = (
        ("kpi-revenue", "kpi.revenue", kpis.revenue, t("kpi.revenue.note")),
        ("kpi-orders", "kpi.orders", kpis.orders, t("kpi.orders.note", n=kpis.open_invoices)),
        ("kpi-customers", "kpi.customers", kpis.customers, t("kpi.customers.note")),
        ("kpi-low-stock", "kpi.low_stock", kpis.low_stock, t("kpi.low_stock.note")),
    )
    return rx.el.ul(*[_kpi(*figure) for figure in figures], class_name="kpis", aria_label=t("kpi.label"), role="list")


def _kpi(name: str, label: str, value: Any, note: Any) -> rx.Component:
    return rx.el.li(
        rx.el.span(t(label), class_name="kpi-label"),
        rx.el.span(value, class_name="kpi-value"),
        rx.el.span(note, class_name="kpi-note"),
        id=name,
        class_name="kpi",
        custom_attrs={"data-agent-id": name},
    )


def _recent() -> rx.Component:
    return card(
        card_head(t("recent.title"), link(t("recent.all"), to="/orders", class_name="button quiet small")),
        rx.el.div(orders_table(DashboardState.recent, t("recent.title")), class_name="card-flush"),
        id="recent-orders",
        custom_attrs={"data-agent-id": "recent-orders"},
    )
