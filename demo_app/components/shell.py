"""The frame around every page: side with navigation and settings, the page, the assistant.

It wraps the router's outlet (`rx.App(extra_app_wraps=...)`), so it stays mounted while pages come and go: the
assistant keeps its place, its focus and what is being typed.
"""

from typing import Any

import reflex as rx
from reflex_components_core.core.banner import has_connection_errors  # type: ignore[import-untyped]

from demo_app.components.assistant import assistant_panel
from demo_app.components.brand import brand, ridge
from demo_app.components.ui import icon, link, notice, shown_path
from demo_app.i18n import t
from demo_app.state.settings import LANGUAGES, SettingsState
from demo_app.theme import Tone

_PAGES = (
    ("nav.dashboard", "/", "layout-dashboard"),
    ("nav.orders", "/orders", "package"),
    ("nav.new_order", "/orders/new", "circle-plus"),
    ("nav.products", "/products", "coffee"),
    ("nav.invoices", "/invoices", "receipt-text"),
)
_LANGUAGE_NAMES = {"en": "EN", "ko": "한국어"}


class NavigateBridge(rx.Fragment):
    """Hands react-router's `navigate` to the page's own scripts as `window.hallaNavigate`."""

    def add_imports(self) -> dict[str, str | list[str]]:
        """The hooks it uses."""
        return {"react-router": ["useLocation", "useNavigate"], "react": ["useEffect"]}

    def add_hooks(self) -> list[str | rx.Var[Any]]:
        """Publish `navigate` while the frame is mounted, and say when another page is shown."""
        return [
            "const hallaNavigate = useNavigate();",
            "useEffect(() => { window.hallaNavigate = hallaNavigate;"
            " return () => { delete window.hallaNavigate; }; }, [hallaNavigate]);",
            "const { pathname: hallaPathname } = useLocation();",
            "useEffect(() => { window.hallaShell?.pageChanged(hallaPathname); }, [hallaPathname]);",
        ]


@rx.memo
def navigate_bridge() -> rx.Component:
    """`NavigateBridge` in a component of its own, below the router."""
    return NavigateBridge.create()


def _is_current(to: str, path: rx.vars.StringVar[str]) -> Any:
    """`aria-current` of the link to `to`: its own page, or the section that the page belongs to."""
    is_order = path.startswith("/orders/") & (path != "/orders/new")
    section = rx.cond(is_order, "true", "false") if to == "/orders" else "false"
    return rx.cond(path == to, "page", section)


def navigation() -> rx.Component:
    """The links to the pages."""
    path = shown_path()
    return rx.el.nav(
        rx.el.ul(
            *[
                rx.el.li(
                    link(
                        icon(glyph, 20),
                        rx.el.span(t(key)),
                        to=to,
                        class_name="nav-link",
                        custom_attrs={"aria-current": _is_current(to, path)},
                    )
                )
                for key, to, glyph in _PAGES
            ],
            class_name="nav-list",
        ),
        id="navigation",
        aria_label=t("nav.label"),
        custom_attrs={"data-agent-id": "navigation"},
    )


def preferences() -> rx.Component:
    """Language, dark and light."""
    set_language: Any = SettingsState.set_language
    return rx.el.div(
        rx.el.div(
            *[
                rx.el.button(
                    _LANGUAGE_NAMES[language],
                    type="button",
                    id=f"language-{language}",
                    custom_attrs={"lang": language, "aria-pressed": SettingsState.language == language},
                    on_click=set_language(language),
                )
                for language in LANGUAGES
            ],
            class_name="lang",
            role="group",
            aria_label=t("prefs.language"),
        ),
        rx.el.button(
            rx.cond(rx.color_mode == "dark", icon("sun"), icon("moon")),
            type="button",
            id="theme-toggle",
            class_name="ghost-on-brand",
            aria_label=rx.cond(rx.color_mode == "dark", t("prefs.to_light"), t("prefs.to_dark")),
            on_click=rx.toggle_color_mode,
        ),
        class_name="prefs",
        role="group",
        aria_label=t("prefs.label"),
    )


def _offline() -> rx.Component:
    """Says that the server is away, and that what is done meanwhile is not lost; the page connects again by itself."""
    return rx.el.div(
        rx.cond(has_connection_errors, notice(Tone.WARN, t("app.offline"))),
        id="offline",
        class_name="offline",
        role="status",
    )


@rx.memo
def shell(children: rx.Var[rx.Component]) -> rx.Component:
    """The whole frame; `children` is the page that the router shows."""
    return rx.el.div(
        rx.el.a(
            t("skip"),
            href="#main",
            class_name="skip-link",
            on_click=rx.call_script("window.hallaShell.focus('main')"),
        ),
        rx.el.header(ridge(), brand(), navigation(), preferences(), class_name="side"),
        rx.el.main(children, id="main", tab_index=-1, class_name="page-frame"),
        assistant_panel(),
        rx.el.div(
            class_name="scrim",
            on_click=rx.call_script("window.hallaShell.setAssistant('closed')"),
            custom_attrs={"aria-hidden": "true"},
        ),
        rx.el.button(
            icon("messages-square"),
            t("assistant.open"),
            type="button",
            id="assistant-open",
            class_name="open-assistant",
            custom_attrs={"aria-controls": "assistant-panel", "aria-expanded": "false"},
            on_click=rx.call_script("window.hallaShell.setAssistant('open')"),
        ),
        _offline(),
        rx.el.div(id="agent-announcer", role="status", aria_live="polite", class_name="sr-only"),
        navigate_bridge(),
        class_name="app",
        custom_attrs={"lang": SettingsState.language, "data-hydrated": rx.State.is_hydrated},
    )
