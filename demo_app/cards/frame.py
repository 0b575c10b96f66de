"""The frame that tool-like cards share: a picture, a title, how far it has come, and what folds out."""

from typing import Any

import reflex as rx

from demo_app.components.ui import icon
from demo_app.i18n import TEXTS, t
from demo_app.state.phases import PHASES

_BUSY = ("streaming", "running")


def phase_badge(phase: Any) -> rx.Component:
    """The word for a phase in its tone; a turning mark while something is on."""
    tone = rx.match(phase, *[(name, str(tone)) for name, tone in PHASES.items()], "tone-mute")
    words = [(name, t(f"phase.{name}")) for name in PHASES if name]
    busy = rx.match(phase, *[(name, "is-busy") for name in _BUSY], "")
    return rx.el.span(rx.match(phase, *words, phase), class_name=["badge", "small", tone, busy])


def explained(prefix: str, code: Any) -> rx.Component:
    """The sentence for a stable code, if there is one; else the code itself."""
    known = [(key.removeprefix(prefix), t(key)) for key in TEXTS if key.startswith(prefix)]
    return rx.fragment(rx.match(code, *known, code))


def tool_frame(glyph: Any, title: Any, phase: Any, *children: Any, **props: Any) -> rx.Component:
    """The frame."""
    extra = props.pop("class_name", "")
    return rx.el.section(
        rx.el.div(
            rx.el.span(glyph, class_name="tool-mark"),
            rx.el.h3(title, class_name="tool-title"),
            phase_badge(phase),
            class_name="tool-head",
        ),
        *children,
        class_name=f"tool {extra}".strip(),
        **props,
    )


def fold(summary: Any, *children: Any, **props: Any) -> rx.Component:
    """Something that folds out."""
    return rx.el.details(rx.el.summary(summary, icon("chevron-down", 14)), *children, class_name="fold", **props)


def code_text(text: Any, label: Any) -> rx.Component:
    """Raw text in a scrolling box that the keyboard reaches."""
    return rx.el.pre(rx.el.code(text), class_name="raw", tab_index=0, role="group", aria_label=label)
