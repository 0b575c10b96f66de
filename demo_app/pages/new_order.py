"""The form that places an order."""

from typing import Any

import reflex as rx

from demo_app.components.typed import typed_input, typed_textarea
from demo_app.components.ui import (
    bones,
    card,
    card_body,
    card_head,
    error_state,
    icon,
    link,
    notice,
    page,
    page_head,
)
from demo_app.i18n import either, t
from demo_app.shop import MAX_ORDER_QUANTITY
from demo_app.state.shop_state import MAX_NOTE_LENGTH, NewOrderState
from demo_app.state.shop_view import CustomerOption, ProductOption
from demo_app.theme import Tone


def new_order() -> rx.Component:
    """The page at `/orders/new`."""
    state = NewOrderState
    return page(
        "new_order",
        page_head(
            t("new.title"),
            t("new.lead"),
            above=link(icon("arrow-left", 14), t("order.back"), to="/orders", class_name="crumb"),
        ),
        rx.match(
            state.load,
            ("ready", rx.el.div(_form(), _summary(), class_name="columns")),
            ("error", card(error_state(state.fault, state.show))),
            card(bones(4)),
        ),
        load=state.load,
        shown=state.shown,
        customer=state.customer,
        product=state.product,
        quantity=state.quantity,
        note=state.note,
    )


def _form() -> rx.Component:
    state = NewOrderState
    return card(
        card_body(
            rx.el.form(
                rx.cond(
                    state.refused != "",
                    notice(
                        Tone.DANGER,
                        rx.el.strong(t("new.refused")),
                        ". ",
                        state.refused,
                        role="alert",
                        id="new-order-refused",
                        tab_index=-1,
                    ),
                ),
                rx.el.input(type="hidden", name="request_key", value=state.request_key, read_only=True),
                _field("customer", t("customer"), _customers()),
                _field("product", t("product"), _products()),
                _field("quantity", t("quantity"), _quantity(), t("new.quantity.hint", max=MAX_ORDER_QUANTITY)),
                _field("note", t("note"), _note(), t("new.note.hint", max=MAX_NOTE_LENGTH)),
                rx.el.div(
                    rx.el.button(
                        t("new.place"),
                        type="submit",
                        id="new-order-submit",
                        class_name="button primary",
                        disabled=~rx.State.is_hydrated,
                    ),
                    rx.el.button(t("new.clear"), type="button", class_name="button quiet", on_click=state.clear),
                    class_name="form-actions",
                ),
                on_submit=state.submit,
                reset_on_submit=False,
                class_name="form",
                no_validate=True,
                aria_label=t("new.title"),
            )
        ),
        id="new-order-form",
        custom_attrs={"data-agent-id": "new-order-form"},
    )


def _field(name: str, label: Any, control: rx.Component, hint: Any | None = None) -> rx.Component:
    """A labelled control with its hint and, when it is wrong, what is wrong with it."""
    return rx.el.div(
        rx.el.label(label, html_for=f"new-order-{name}"),
        control,
        rx.el.p(hint, id=f"new-order-{name}-hint", class_name="hint") if hint is not None else rx.fragment(),
        rx.el.div(
            rx.cond(
                NewOrderState.errors.contains(name),
                rx.el.p(icon("circle-alert", 16), _mistake(name), class_name="error"),
            ),
            id=f"new-order-{name}-error",
            role="alert",
        ),
        class_name="field",
    )


def _mistake(name: str) -> rx.Component:
    errors: Any = NewOrderState.errors
    return rx.match(
        errors[name],
        ("invalid.customer", t("invalid.customer")),
        ("invalid.product", t("invalid.product")),
        ("invalid.stock", t("invalid.stock", n=NewOrderState.stock)),
        ("invalid.note", t("invalid.note", max=MAX_NOTE_LENGTH)),
        t("invalid.quantity", max=MAX_ORDER_QUANTITY),
    )


def _control(name: str, hint: bool = False) -> dict[str, Any]:
    """What every control of the form has in common."""
    described = f"new-order-{name}-hint new-order-{name}-error" if hint else f"new-order-{name}-error"
    return {
        "id": f"new-order-{name}",
        "name": name,
        "class_name": "input",
        "custom_attrs": {
            "aria-invalid": NewOrderState.errors.contains(name),
            "aria-describedby": described,
        },
    }


def _customers() -> rx.Component:
    return rx.el.select(
        rx.el.option(t("new.choose_customer"), value=""),
        rx.foreach(NewOrderState.customers, _option),
        value=NewOrderState.customer,
        on_change=NewOrderState.set_customer,
        required=True,
        **_control("customer"),
    )


def _products() -> rx.Component:
    return rx.el.select(
        rx.el.option(t("new.choose_product"), value=""),
        rx.foreach(NewOrderState.products, _option),
        value=NewOrderState.product,
        on_change=NewOrderState.set_product,
        required=True,
        **_control("product"),
    )


def _option(option: rx.Var[CustomerOption | ProductOption]) -> rx.Component:
    row: Any = option
    return rx.el.option(either(row.name, row.name_ko), value=row.value)


def _quantity() -> rx.Component:
    return typed_input(
        value=NewOrderState.quantity,
        on_change=NewOrderState.set_quantity,
        input_mode="numeric",
        auto_complete="off",
        required=True,
        **(_control("quantity", hint=True) | {"class_name": "input short num"}),
    )


def _note() -> rx.Component:
    return typed_textarea(
        value=NewOrderState.note, on_change=NewOrderState.set_note, rows="3", **_control("note", hint=True)
    )


def _summary() -> rx.Component:
    state = NewOrderState
    return card(
        card_head(t("new.summary")),
        card_body(
            rx.cond(
                state.amount != "",
                rx.el.dl(
                    rx.el.div(rx.el.dt(t("new.stock")), rx.el.dd(state.stock, class_name="num")),
                    rx.el.div(rx.el.dt(t("total")), rx.el.dd(state.amount, class_name="num"), class_name="sum"),
                    class_name="facts",
                ),
                rx.el.p(t("new.unfinished"), class_name="card-note"),
            )
        ),
    )
