"""Media parts: what this app holds is shown or linked; what lies elsewhere is a link that nothing loads by itself."""

from typing import Any

import reflex as rx

from demo_app.components.ui import icon
from demo_app.i18n import t


def media_list(media: Any) -> rx.Component:
    """All parts of a message or result, in order; nothing when there are none."""
    return rx.cond(media.length() > 0, rx.el.div(rx.foreach(media, _part), class_name="media-list"))


def _part(part: Any) -> rx.Component:
    return rx.match(
        part.kind,
        ("image", _image(part)),
        ("pdf", _file(part, "file-text", t("media.open_pdf"))),
        ("data", _file(part, "paperclip", t("media.download"))),
        ("link", _elsewhere(part)),
        _opaque(part),
    )


def _image(part: Any) -> rx.Component:
    return rx.el.a(
        rx.el.img(src=part.src, alt=rx.cond(part.alt != "", part.alt, part.name), loading="lazy"),
        href=part.src,
        target="_blank",
        rel="noopener",
        class_name="media-image",
        title=t("media.enlarge"),
    )


def _file(part: Any, glyph: str, words: rx.Var[str]) -> rx.Component:
    return rx.el.a(
        icon(glyph, 18),
        rx.el.span(part.name, class_name="media-name"),
        rx.el.span(words, class_name="card-note"),
        href=part.src,
        target="_blank",
        rel="noopener",
        class_name="media-file",
    )


def _elsewhere(part: Any) -> rx.Component:
    return rx.el.a(
        icon("external-link", 18),
        rx.el.span(part.name, class_name="media-name"),
        rx.el.span(t("media.elsewhere"), class_name="card-note"),
        href=part.src,
        target="_blank",
        rel="noopener noreferrer nofollow",
        class_name="media-file",
    )


def _opaque(part: Any) -> rx.Component:
    """TC-6: a file's value means something to the agent alone."""
    return rx.el.div(
        icon("file-lock-2", 18),
        rx.el.span(part.name, class_name="media-name"),
        rx.el.span(t("media.opaque"), class_name="card-note"),
        class_name="media-file",
    )
