"""A model's Markdown. It is hostile until proven otherwise: no raw HTML, no picture loaded from elsewhere.

Pictures become links, links say that they leave this app, and only addresses that Markdown itself holds safe stay
(`javascript:` and the like are emptied by the renderer).
"""

from typing import Any

import reflex as rx

_PROPS_SRC: rx.Var[str] = rx.Var("(props.src || '')")
_PROPS_ALT: rx.Var[str] = rx.Var("(props.alt || props.src || '')")


def _link(value: Any) -> rx.Component:
    return rx.el.a(value, target="_blank", rel="noopener noreferrer nofollow")


def _picture(value: Any) -> rx.Component:
    return rx.el.a(
        _PROPS_ALT, href=_PROPS_SRC, target="_blank", rel="noopener noreferrer nofollow", class_name="md-picture"
    )


def _heading(level: int) -> Any:
    # Under the panel's heading (2) every heading of a message is a third, whatever its size.
    return lambda value: rx.el.h3(value, class_name=f"md-h{level}")


def _code_block(value: Any, **props: Any) -> rx.Component:
    return rx.code_block(
        value,
        # Kinds of words get class names, not colours: those are the theme's (`.token` in assistant.css).
        custom_attrs={"useInlineStyles": False},
        wrap_long_lines=True,
        class_name="md-code",
        **props,
    )


_COMPONENTS = {
    **{f"h{level}": _heading(level) for level in range(1, 7)},
    "p": lambda value: rx.el.p(value),
    "ul": lambda value: rx.el.ul(value),
    "ol": lambda value: rx.el.ol(value),
    "li": lambda value: rx.el.li(value),
    "a": _link,
    "img": _picture,
    "code": lambda value: rx.el.code(value),
    "table": lambda value: rx.el.div(rx.el.table(value, class_name="table mini"), class_name="table-wrap", tab_index=0),
    "pre": _code_block,
}


def markdown(text: Any) -> rx.Component:
    """`text` as Markdown with tables and highlighted code; mathematics is left as it is written."""
    return rx.el.div(
        rx.markdown(text, use_raw=False, use_math=False, use_katex=False, component_map=_COMPONENTS),
        class_name="md",
    )
