"""The mark of Halla Supply: the mountain with its crater, and a tangerine sun."""

import reflex as rx

from demo_app.components.ui import link
from demo_app.i18n import t


def mark(size: int = 36) -> rx.Component:
    """The mark alone, decorative."""
    return rx.el.svg(
        rx.el.circle(cx="28.5", cy="11", r="5.5", fill="#f2994a"),
        rx.el.path(
            d="M2 33 13.2 16.6c.9-1.3 2.2-1.2 3 0 .8 1.1 2 1.2 3 .3 1.2-1.1 2.6-1 3.6.5L38 33z",
            fill="#f1f4ee",
        ),
        rx.el.path(d="M2 33c7-3.6 11-3.6 16.5-1.2S30.5 34.2 38 33z", fill="#7fa597"),
        view_box="0 0 40 40",
        width=str(size),
        height=str(size),
        custom_attrs={"aria-hidden": "true"},
    )


def brand() -> rx.Component:
    """The mark with the name, a link to the dashboard."""
    return link(
        mark(),
        rx.el.span(
            t("app.name"),
            rx.el.span(t("app.line"), class_name="brand-line"),
            class_name="brand-name",
        ),
        to="/",
        class_name="brand",
        custom_attrs={"aria-label": t("app.name")},
    )


def ridge() -> rx.Component:
    """Contour lines of the mountain, behind the navigation."""
    lines = (
        "M0 118C40 96 62 40 98 34s30 22 52 14 40 34 90 70",
        "M0 132c44-20 66-66 100-72s32 20 54 14 40 26 86 58",
        "M0 146c50-18 70-52 104-58s34 18 56 14 40 18 80 44",
        "M0 160c54-16 76-38 108-44s36 14 58 12 38 12 74 32",
    )
    return rx.el.svg(
        *[rx.el.path(d=line, fill="none", stroke="currentColor", stroke_width="2") for line in lines],
        view_box="0 0 240 164",
        class_name="ridge",
        custom_attrs={"aria-hidden": "true"},
    )
