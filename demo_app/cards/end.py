"""How a run ended: quietly with what it cost when it went well, else what went wrong, and the way on."""

from typing import Any

import reflex as rx

from demo_app.components.ui import icon
from demo_app.i18n import t
from demo_app.state.chat import ChatState

_LOUD = {
    "failed": ("tone-danger", "circle-alert"),
    "rejected": ("tone-danger", "shield-alert"),
    "unreachable": ("tone-danger", "plug-zap"),
    "truncated": ("tone-warn", "unplug"),
    "restarted": ("tone-warn", "rotate-cw"),
    "cancelled": ("tone-mute", "circle-slash"),
    "stopped": ("tone-mute", "circle-stop"),
}


def end_card(card: Any) -> rx.Component:
    """The card."""
    return rx.el.div(
        rx.match(card.phase, *[(phase, _loud(phase, card)) for phase in _LOUD], rx.fragment()),
        rx.el.div(
            rx.cond(
                card.usage.length() > 0,
                rx.el.ul(rx.foreach(card.usage, _usage), class_name="usage num", aria_label=t("end.usage")),
            ),
            rx.el.button(
                icon("refresh-cw", 13),
                t("card.again"),
                type="button",
                class_name="mini-button worded needs-rest only-last",
                on_click=ChatState.regenerate,
            ),
            class_name="end-line",
        ),
        class_name="run-end",
        custom_attrs={"data-card": "end", "data-phase": card.phase},
    )


def _usage(one: Any) -> rx.Component:
    """What a run cost, in words; which words mean what is said when one asks."""
    parts = [rx.cond(one.model != "", rx.el.span(one.model))]
    parts += [
        rx.cond(count != "", rx.fragment(" ", rx.el.span(t(key, n=count))))
        for key, count in (("end.read", one.read), ("end.written", one.written))
    ]
    return rx.el.li(*parts, title=t("end.usage.hint"))


def _loud(phase: str, card: Any) -> rx.Component:
    tone, glyph = _LOUD[phase]
    words: list[Any] = [rx.el.strong(t(f"end.{phase}"))]
    return rx.el.div(
        icon(glyph, 17),
        rx.el.div(
            *words,
            rx.cond(card.text != "", rx.el.p(card.text, class_name="end-text")),
            rx.cond(card.note != "", rx.el.p(rx.el.code(card.note), class_name="end-code")),
        ),
        class_name=f"notice {tone}",
    )
