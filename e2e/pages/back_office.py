"""The back office's pages."""

from collections.abc import Sequence
from typing import Final

from playwright.sync_api import Locator

from e2e.pages.app import App

PATHS: Final = {
    "dashboard": "/",
    "orders": "/orders",
    "order": "/orders/42",
    "new_order": "/orders/new",
    "products": "/products",
    "invoices": "/invoices",
}
"""Every page that has an address, by the name the page itself bears."""


class Listing:
    """A list with filters: orders, products, invoices. Parameters: `name`, which."""

    def __init__(self, app: App, name: str) -> None:
        self.app = app
        self.root = app.page.locator(f"[data-page={name}]")
        self.count = self.root.locator(".count")
        self.search = app.page.locator(f"#{name}-query")
        self.status = app.page.locator(f"#{name}-status")
        self.category = app.page.locator(f"#{name}-category")
        self.rows = self.root.locator("tbody tr")
        self.tiles = self.root.locator(".tile")
        self.notice = self.root.locator(".notice")
        self.pager = self.root.locator(".pager")

    def filter_by(self, **values: str) -> "Listing":
        """Set filters (`status`, `category`, `query`) as a person does, and wait until the list follows the address."""
        for name, value in values.items():
            if name == "query":
                self.search.fill(value)
            else:
                getattr(self, name).select_option(value)
            self.app.page.wait_for_function(
                "([name, value]) => (new URLSearchParams(location.search).get(name) ?? '') === value",
                arg=["q" if name == "query" else name, value],
            )
        self.app.wait_shown()
        return self

    def total(self) -> int:
        """How many the page says it found."""
        return int("".join(letter for letter in self.count.inner_text() if letter.isdigit()))

    def column(self, number: int) -> Sequence[str]:
        """The texts of one column."""
        return self.rows.locator(f":scope > :nth-child({number})").all_inner_texts()


class OrderForm:
    """The form that places an order."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.customer = app.page.locator("#new-order-customer")
        self.product = app.page.locator("#new-order-product")
        self.quantity = app.page.locator("#new-order-quantity")
        self.note = app.page.locator("#new-order-note")
        self.submit = app.page.locator("#new-order-submit")
        self.refusal = app.page.locator("#new-order-refused")
        self.total = app.page.locator(".columns .sum dd")

    def error(self, name: str) -> Locator:
        """What is wrong with the field `name`."""
        return self.app.page.locator(f"#new-order-{name}-error")

    def values(self) -> dict[str, str]:
        """What stands in the fields."""
        fields = ("customer", "product", "quantity", "note")
        return {name: getattr(self, name).input_value() for name in fields}
