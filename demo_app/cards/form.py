"""The inputs of a form drawn from a JSON Schema."""

from typing import Any

import reflex as rx

from demo_app.components.ui import icon
from demo_app.i18n import t


def form_inputs(card: Any) -> rx.Component:
    """All of them, in the schema's order."""
    return rx.el.div(rx.foreach(card.fields, lambda one: _field(card, one)), class_name="form tight")


def verdict_input(card: Any) -> rx.Component:
    """What the pressed one of two buttons says travels in here (`assets/assistant.js`); until then it is a no."""
    return rx.cond(
        card.verdict != "", rx.el.input(type="hidden", name=card.verdict, default_value="false", class_name="verdict")
    )


def _field(card: Any, one: Any) -> rx.Component:
    identity = f"{card.key}/{one.name}"
    return rx.el.div(
        rx.match(
            rx.cond(one.name == card.verdict, "verdict", one.control),
            ("verdict", rx.el.p(_label(one), class_name="verdict-line")),
            (
                "boolean",
                rx.el.label(
                    rx.el.input(
                        type="checkbox", id=identity, name=one.name, default_checked=one.checked, class_name="tick"
                    ),
                    rx.el.span(_label(one)),
                    class_name="tick-line",
                ),
            ),
            rx.fragment(
                rx.el.label(
                    _label(one),
                    rx.cond(one.required, rx.fragment(), rx.el.span(t("form.optional"), class_name="hint")),
                    html_for=identity,
                ),
                _control(identity, one),
            ),
        ),
        rx.cond(one.hint != "", rx.el.p(one.hint, id=f"{identity}/hint", class_name="hint")),
        rx.cond(
            one.error != "",
            rx.el.p(
                icon("circle-alert", 15),
                rx.match(one.error, ("required", t("form.required")), one.error),
                id=f"{identity}/error",
                class_name="error",
                role="alert",
            ),
        ),
        class_name="field",
    )


# Titles in the schemas of this app's own tools and agent, which speak English, for readers of Korean.
_TITLES = {
    "Customer number": "label.customer_number",
    "SKU": "label.sku",
    "Quantity": "quantity",
    "Note": "note",
    "Approve this transfer": "label.approve_transfer",
    "approved": "label.approved",
    "Amount in won": "label.amount",
    "Memo": "fact.memo",
}


def _label(one: Any) -> rx.Component:
    return rx.fragment(rx.match(one.label, *[(title, t(key)) for title, key in _TITLES.items()], one.label))


def _control(identity: Any, one: Any) -> rx.Component:
    common: dict[str, Any] = {
        "id": identity,
        "name": one.name,
        "class_name": "input",
        "required": one.required,
        "aria_invalid": one.error != "",
        "aria_describedby": f"{identity}/hint {identity}/error",
    }
    number = {**common, "type": "number", "default_value": one.value, "min": one.low, "max": one.high}
    return rx.match(
        one.control,
        (
            "choice",
            rx.el.select(
                rx.cond(one.required, rx.fragment(), rx.el.option("", value="")),
                rx.foreach(one.options, _option),
                default_value=one.value,
                **common,
            ),
        ),
        ("integer", rx.el.input(**number, step="1", input_mode="numeric")),
        ("number", rx.el.input(**number, step="any", input_mode="decimal")),
        ("json", rx.el.textarea(default_value=one.value, rows="3", spell_check=False, **common)),
        rx.el.input(type="text", default_value=one.value, auto_complete="off", **common),
    )


def _option(option: Any) -> rx.Component:
    return rx.el.option(option.label, value=option.value)
