"""Small parts in the house style: links inside the app, cards, badges, fields, notices, page states."""

from typing import Any

import reflex as rx

from demo_app.components.typed import typed_input
from demo_app.i18n import t
from demo_app.theme import Tone


class RouterLink(rx.Component):
    """A link to a page of this app that keeps the page alive (react-router's `Link`)."""

    library = "react-router"
    tag = "Link"
    to: rx.Var[str]
    replace: rx.Var[bool]


link = RouterLink.create


def icon(name: str, size: int = 18) -> rx.Component:
    """A decorative icon: hidden from assistive technology, so its control needs a text or a label."""
    return rx.icon(name, size=size, custom_attrs={"aria-hidden": "true"})


def card(*children: rx.Component, **props: Any) -> rx.Component:
    """The frame of everything that stands on the page, the assistant's cards included."""
    extra = props.pop("class_name", "")
    return rx.el.section(*children, class_name=f"card {extra}".strip(), **props)


def card_head(title: Any, *aside: rx.Component, heading_id: str | None = None) -> rx.Component:
    """A card's heading (level 2) with what stands at its right."""
    heading = rx.el.h2(title, id=heading_id) if heading_id else rx.el.h2(title)
    return rx.el.div(heading, *aside, class_name="card-head")


def card_body(*children: Any, **props: Any) -> rx.Component:
    """A card's content with the card's inner spacing."""
    return rx.el.div(*children, class_name="card-body", **props)


def badge(value: Any, texts: dict[str, str], tones: dict[str, Tone]) -> rx.Component:
    """A status word: the text and tone that belong to the Var `value`; an unknown value is shown as it is."""
    tone = rx.match(value, *[(name, str(tone)) for name, tone in tones.items()], str(Tone.MUTE))
    cases = [(name, t(key)) for name, key in texts.items()]
    return rx.el.span(rx.match(value, *cases, value), class_name=["badge", tone])


_NOTICE_GLYPHS = {Tone.OK: "circle-check", Tone.DANGER: "circle-alert", Tone.WARN: "triangle-alert"}


def notice(tone: Tone, *children: Any, **props: Any) -> rx.Component:
    """A line about the page; give it `role="status"` or `role="alert"` as it deserves."""
    glyph = _NOTICE_GLYPHS.get(tone, "info")
    return rx.el.div(icon(glyph), rx.el.div(*children), class_name=f"notice {tone}", **props)


def state_panel(glyph: str, title: Any, *children: Any, heading: Any = rx.el.h2, **props: Any) -> rx.Component:
    """A page or card without content: why, and what to do next."""
    return rx.el.div(
        rx.el.span(icon(glyph, 22), class_name="state-mark"),
        heading(title),
        *children,
        class_name="state",
        **props,
    )


def empty_state(clear_to: str) -> rx.Component:
    """Filters that match nothing, with the way out."""
    return state_panel(
        "search-x",
        t("empty.title"),
        rx.el.p(t("empty.hint")),
        link(t("empty.clear"), to=clear_to, class_name="button"),
    )


def error_state(code: Any, retry: Any) -> rx.Component:
    """Data that could not be read: says so, names the code, and offers to try again."""
    return state_panel(
        "database-zap",
        t("error.title"),
        rx.el.p(t("error.hint"), " ", rx.el.code(code)),
        rx.el.button(t("error.retry"), on_click=retry, type="button", class_name="button"),
        role="alert",
    )


def bones(count: int, height: str = "2.5rem") -> rx.Component:
    """A loading skeleton of `count` bars, announced once."""
    return rx.el.div(
        rx.el.span(t("loading"), class_name="sr-only"),
        *[rx.el.span(class_name="bone", style={"height": height, "margin_bottom": "0.75rem"}) for _ in range(count)],
        class_name="card-body",
        custom_attrs={"data-skeleton": "true"},
    )


def page_head(
    title: Any, lead: Any | None = None, *actions: rx.Component, above: rx.Component | None = None
) -> rx.Component:
    """A page's main heading, one line about it, and its actions."""
    words = [above] if above is not None else []
    words.append(rx.el.h1(title))
    if lead is not None:
        words.append(rx.el.p(lead))
    return rx.el.div(rx.el.div(*words), *actions, class_name="page-head")


def page(name: str, *children: Any, load: Any, shown: Any, **attrs: Any) -> rx.Component:
    """A page's root, which tells the browser tools what is shown.

    Parameters: `name`, the page (`data-page`); `load`, whether its data is there (`data-load`); `shown`, the
    address that the data was read for (`data-shown`); `attrs`, more `data-*` attributes.
    """
    data = {f"data-{key.replace('_', '-')}": value for key, value in attrs.items()}
    return rx.el.div(
        *children,
        class_name="page",
        custom_attrs={
            "data-page": name,
            "data-load": load,
            "data-shown": shown,
            "aria-busy": load == "loading",
            **data,
        },
    )


def select_field(label: Any, name: str, value: Any, options: dict[str, str], on_change: Any) -> rx.Component:
    """A labelled choice among the table `options` (value to text key), with "All" first."""
    return rx.el.div(
        rx.el.label(label, html_for=name),
        rx.el.select(
            rx.el.option(t("all"), value=""),
            *[rx.el.option(t(key), value=option) for option, key in options.items()],
            id=name,
            value=value,
            on_change=on_change,
            class_name="input",
        ),
        class_name="field",
    )


def search_field(placeholder: Any, name: str, value: Any, on_change: Any) -> rx.Component:
    """A labelled search box; the page follows while one types."""
    return rx.el.div(
        rx.el.label(t("search"), html_for=name),
        rx.el.div(
            icon("search", 16),
            typed_input(
                id=name,
                type="search",
                value=value,
                on_change=on_change,
                placeholder=placeholder,
                auto_complete="off",
                class_name="input",
            ),
            class_name="search",
        ),
        class_name="field grow",
    )


def pager(label: Any, page_no: Any, pages: Any, previous_to: Any, next_to: Any) -> rx.Component:
    """Links to the pages before and after; nothing when there is only one page."""
    return rx.cond(
        pages > 1,
        rx.el.nav(
            _step(t("pager.previous"), previous_to),
            rx.el.span(t("pager.page", page=page_no, pages=pages), class_name="num"),
            _step(t("pager.next"), next_to),
            class_name="pager",
            aria_label=label,
        ),
    )


def _step(label: Any, to: Any) -> rx.Component:
    return rx.cond(
        to != "",
        link(label, to=to, class_name="button small"),
        rx.el.span(label, class_name="button small", aria_disabled="true"),
    )


def shown_path() -> rx.vars.StringVar[str]:
    """The path of the page that the browser shows, without a trailing slash.

    It is "" until the page is alive: the file that was served may have been drawn for another address (one
    file serves every order), and React leaves attributes as they came.
    """
    hooks = {
        "const [hallaPath, setHallaPath] = useState('');": None,
        "const hallaLocation = useLocation();": None,
        "useEffect(() => { setHallaPath(hallaLocation.pathname.replace(/(.)\\/$/, '$1')); }, [hallaLocation]);": None,
    }
    imports = {"react-router": ["useLocation"], "react": ["useEffect", "useState"]}
    return rx.Var("hallaPath", _var_data=rx.vars.VarData(hooks=hooks, imports=imports)).to(str)


def starting() -> rx.Component:
    """What stands in the frame until the app is alive, where no page could be drawn beforehand."""
    return page("starting", page_head(t("loading")), card(bones(6)), load="loading", shown="")
