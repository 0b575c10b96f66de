"""A chart drawn as SVG in a card, with its figures as a table beside it for those who do not see it."""

import math
from collections.abc import Sequence
from typing import Any, Literal

import reflex as rx
from pydantic import model_validator

from demo_app.cards.reading import Lenient, fitting
from demo_app.components.ui import icon
from demo_app.i18n import t
from demo_app.state.cards_model import Chart, Mark

WIDTH, HEIGHT = 320, 150
_TOP, _BOTTOM = 18, 22
_MOST_MARKS = 60
_LETTER = 7.0
"""About how wide a letter of a label is, with the space it needs."""


class _Shown(Lenient):
    title: str
    kind: Literal["bar", "line"]
    labels: list[str]
    values: list[float]
    unit: str | None = None

    @model_validator(mode="after")
    def _same_length(self) -> "_Shown":
        if len(self.labels) != len(self.values) or not self.values:
            raise ValueError("labels and values differ in number, or there are none")
        return self


class _Month(Lenient):
    month: str
    revenue_krw: int


class _Revenue(Lenient):
    months: list[_Month]


def read_shown(arguments: Any, result: Any) -> dict[str, Any] | None:
    """The arguments of `show_chart`."""
    shown = fitting(_Shown, arguments)
    if shown is None:
        return None
    return {"chart": draw(shown.title, shown.kind, shown.labels, shown.values, shown.unit or "")}


def read_revenue(arguments: Any, result: Any) -> dict[str, Any] | None:
    """The result of `revenue_by_month`."""
    found = fitting(_Revenue, result)
    if found is None or not found.months:
        return None
    labels = [month.month[-2:] for month in found.months]
    return {"chart": draw("", "bar", labels, [month.revenue_krw for month in found.months], "KRW")}


def draw(title: str, shape: str, labels: Sequence[str], values: Sequence[float], unit: str) -> Chart:
    """Lay the values out; zero is always on the axis, and values below it hang down."""
    labels, values = labels[:_MOST_MARKS], values[:_MOST_MARKS]
    high, low = max(*values, 0.0), min(*values, 0.0)
    scale = (HEIGHT - _TOP - _BOTTOM) / ((high - low) or 1.0)
    base = _TOP + high * scale
    step = WIDTH / len(values)
    every = math.ceil(max(map(len, labels)) * _LETTER / step) or 1
    marks = [
        Mark(
            label,
            _figure(value),
            _number(step * index + step * 0.16),
            _number(base - max(value, 0.0) * scale),
            _number(step * 0.68),
            _number(max(abs(value) * scale, 1.0)),
            _number(step * (index + 0.5)),
            label if index % every == 0 and len(label) * _LETTER <= WIDTH else "",
        )
        for index, (label, value) in enumerate(zip(labels, values, strict=True))
    ]
    places = [f"{mark.middle},{_number(base - value * scale)}" for mark, value in zip(marks, values, strict=True)]
    points = f"M{' L'.join(places)}"
    return Chart(title, shape, unit, points, _number(base), marks)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,g}"


def _number(value: float) -> str:
    return f"{value:.1f}"


def chart_body(card: Any) -> rx.Component:
    """The drawing, and its figures as a table."""
    chart = card.chart
    return rx.el.figure(
        rx.cond(
            chart.title != "",
            rx.el.figcaption(chart.title, rx.cond(chart.unit != "", f" ({chart.unit})", ""), class_name="mini-caption"),
        ),
        rx.el.svg(
            rx.el.line(x1="0", x2=str(WIDTH), y1=chart.base, y2=chart.base, class_name="base-line"),
            rx.cond(
                chart.shape == "line",
                rx.el.path(d=chart.points, class_name="mini-line-mark"),
                rx.fragment(rx.foreach(chart.marks, _bar)),
            ),
            rx.foreach(chart.marks, _label),
            view_box=f"0 0 {WIDTH} {HEIGHT}",
            class_name="chart mini-chart",
            custom_attrs={"aria-hidden": "true"},
        ),
        rx.el.details(
            rx.el.summary(t("chart.table"), icon("chevron-down", 14)),
            rx.el.table(
                rx.el.caption(rx.cond(chart.title != "", chart.title, t("chart.title")), class_name="sr-only"),
                rx.el.tbody(rx.foreach(chart.marks, _figures)),
                class_name="table mini",
            ),
            class_name="fold",
        ),
        class_name="mini-figure",
    )


def _bar(mark: Any) -> rx.Component:
    return rx.el.rect(x=mark.x, y=mark.y, width=mark.width, height=mark.height, rx="2", class_name="mark")


def _label(mark: Any) -> rx.Component:
    return rx.el.text(mark.tick, x=mark.middle, y=str(HEIGHT - 6), text_anchor="middle")


def _figures(mark: Any) -> rx.Component:
    return rx.el.tr(rx.el.th(mark.label, scope="row"), rx.el.td(mark.value, class_name="end"))
