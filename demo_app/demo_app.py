"""The app: its pages, the frame around them, and the agent's endpoint on the same backend."""

from typing import Any

import reflex as rx
from reflex_components_core.core.upload import Upload  # type: ignore[import-untyped]
from starlette.types import ASGIApp

from demo_app.agent.endpoint import create_app
from demo_app.components.shell import shell
from demo_app.components.ui import starting
from demo_app.i18n import t
from demo_app.pages.dashboard import dashboard
from demo_app.pages.invoices import invoices
from demo_app.pages.missing import missing
from demo_app.pages.new_order import new_order
from demo_app.pages.order import order
from demo_app.pages.orders import orders
from demo_app.pages.products import products
from demo_app.state.chat import ChatState
from demo_app.state.media import media_route
from demo_app.state.places import store
from demo_app.state.shop_state import (
    DashboardState,
    InvoicesState,
    NewOrderState,
    OrdersState,
    OrderState,
    ProductsState,
)

# Route, page, the text of its title, the event that reads its data.
PAGES: tuple[tuple[str, Any, str, Any], ...] = (
    ("/", dashboard, "dashboard.title", DashboardState.show),
    ("/orders", orders, "orders.title", OrdersState.show),
    ("/orders/new", new_order, "new.title", NewOrderState.show),
    ("/orders/[order_id]", order, "order.loading", OrderState.show),
    ("/products", products, "products.title", ProductsState.show),
    ("/invoices", invoices, "invoices.title", InvoicesState.show),
    ("404", missing, "missing.title", None),
)


def with_agent(pages: ASGIApp) -> ASGIApp:
    """The backend that serves the agent at `/agent`, kept media at `/media`, and everything else from `pages`."""
    agent = create_app()
    agent.router.routes.append(media_route(store))
    agent.mount("", pages)
    return agent


# A server that runs an earlier build draws no page, so it would not notice that files can be attached.
Upload.is_used = True

app = rx.App(
    api_transformer=with_agent,
    extra_app_wraps={(10, "Shell"): lambda _: shell()},
    stylesheets=["/halla.css", "/assistant.css"],
    reset_style=False,
    html_lang="en",
    head_components=[
        rx.el.link(rel="icon", href="/favicon.svg", type="image/svg+xml"),
        rx.el.script(src="/shell.js"),
        rx.el.script(src="/agent_tools.js", defer=True),
        rx.el.script(src="/assistant.js", defer=True),
    ],
    toaster=None,
    hydrate_fallback=starting,
)
if app.sio is not None:
    # Only pages of this origin may open the app's socket; None is Socket.IO's word for that, an empty list is not.
    app.sio.eio.cors_allowed_origins = None
for route, page, title, on_load in PAGES:
    events = [ChatState.attach] if on_load is None else [on_load, ChatState.attach]
    app.add_page(page, route=route, title=f"{t(title)} · Halla Supply", on_load=events)
