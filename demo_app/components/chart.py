"""A bar chart drawn as SVG, with the same figures as a table for those who cannot see it."""

from typing import Any

import reflex as rx

from demo_app.components.ui import card, card_body, card_head
from demo_app.i18n import either, t
from demo_app.state.shop_state import DashboardState
from demo_app.state.shop_view import CHART_HEIGHT, CHART_WIDTH, Bar, GridLine


def revenue_chart() -> rx.Component:
    """Revenue by month. `data-agent-id="revenue-chart"` is what the assistant highlights and captures."""
    chart = DashboardState.chart
    return card(
        card_head(
            t("chart.title"),
            rx.el.p(
                t("chart.best", month=either(chart.best_label, chart.best_label_ko), value=chart.best_value),
                class_name="card-note num",
            ),
            heading_id="revenue-chart-title",
        ),
        card_body(
            rx.el.svg(
                rx.foreach(chart.grid, _grid_line),
                rx.foreach(chart.bars, _bar),
                view_box=f"0 0 {CHART_WIDTH} {CHART_HEIGHT}",
                class_name="chart",
                role="img",
                aria_labelledby="revenue-chart-title",
            ),
            _as_table(),
        ),
        id="revenue-chart",
        custom_attrs={"data-agent-id": "revenue-chart"},
    )


def _grid_line(line: rx.Var[GridLine]) -> rx.Component:
    row: Any = line
    return rx.el.g(
        rx.el.line(
            x1="58",
            x2=str(CHART_WIDTH),
            y1=row.y,
            y2=row.y,
            class_name=rx.cond(row.label == "0", "base-line", "grid-line"),
        ),
        rx.el.text(either(row.label, row.label_ko), x="48", y=row.y, dy="0.35em", text_anchor="end"),
    )


def _bar(bar: rx.Var[Bar]) -> rx.Component:
    row: Any = bar
    return rx.el.g(
        rx.el.path(d=row.path, class_name=rx.cond(row.best, "mark best", "mark")),
        rx.el.text(
            either(row.value_short, row.value_short_ko),
            x=row.middle,
            y=row.y - 9,
            text_anchor="middle",
            class_name=rx.cond(row.best, "mark-value best-value", "mark-value"),
        ),
        rx.el.text(
            either(row.label, row.label_ko),
            x=row.middle,
            y=str(CHART_HEIGHT - 8),
            text_anchor="middle",
            class_name=rx.cond(row.odd, "odd-label", ""),
        ),
    )


def _as_table() -> rx.Component:
    return rx.el.details(
        rx.el.summary(t("chart.table")),
        rx.el.div(
            rx.el.table(
                rx.el.caption(t("chart.title"), class_name="sr-only"),
                rx.el.thead(
                    rx.el.tr(
                        rx.el.th(t("chart.month"), scope="col"),
                        rx.el.th(t("kpi.revenue"), scope="col", class_name="end"),
                    )
                ),
                rx.el.tbody(rx.foreach(DashboardState.chart.bars, _table_row)),
                class_name="table",
            ),
            class_name="table-wrap",
        ),
        class_name="chart-table",
    )


def _table_row(bar: rx.Var[Bar]) -> rx.Component:
    row: Any = bar
    return rx.el.tr(rx.el.th(either(row.label, row.label_ko), scope="row"), rx.el.td(row.value, class_name="end"))
