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
                rx.el.span(_mistake(one)),
                id=f"{identity}/error",
                class_name="error",
                role="alert",
            ),
        ),
        class_name="field",
    )


def _mistake(one: Any) -> Any:
    """What is wrong with a field, in the visitor's language; words of the schema's judge as they are."""
    places: dict[str, Any] = {
        "range": {"low": one.low, "high": one.high},
        "least": {"low": one.low},
        "most": {"high": one.high},
        "shorter": {"n": one.shortest},
        "longer": {"n": one.length},
    }
    plain = ("required", "whole", "number", "choice", "json")
    known = [(code, t(f"form.{code}", **places.get(code, {}))) for code in (*plain, *places)]
    return rx.match(one.error, *known, t("form.unfit", words=one.error))


# Titles in the schemas of this app's own tools, which speak English, for readers of Korean; and the usual name of a
# yes or no that has no title. An agent's own titles are its own words.
_TITLES = {
    "Customer number": "label.customer_number",
    "SKU": "label.sku",
    "Quantity": "quantity",
    "Note": "note",
    "approved": "label.approved",
}


def _label(one: Any) -> rx.Component:
    return rx.fragment(rx.match(one.label, *[(title, t(key)) for title, key in _TITLES.items()], one.label))


def _control(identity: Any, one: Any) -> rx.Component:
    common: dict[str, Any] = {
        "id": identity,
        "name": one.name,
        "class_name": "input",
        # Not `required` and not `type=number`: the browser would speak its own language, and keep what it cannot read.
        "aria_required": one.required,
        "aria_invalid": one.error != "",
        "aria_describedby": rx.cond(
            one.error != "", f"{identity}/error", rx.cond(one.hint != "", f"{identity}/hint", rx.Var("undefined"))
        ),
    }
    line = {**common, "type": "text", "default_value": one.value, "auto_complete": "off"}
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
        ("integer", rx.el.input(**line, input_mode="numeric")),
        ("number", rx.el.input(**line, input_mode="decimal")),
        ("json", rx.el.textarea(default_value=one.value, rows="3", spell_check=False, **common)),
        rx.el.input(**line),
    )


def _option(option: Any) -> rx.Component:
    return rx.el.option(option.label, value=option.value)
