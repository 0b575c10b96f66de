"""The frame around every page: addresses, navigation, settings, the announcer, the browser tools."""

import json
from typing import Any, Final

from playwright.sync_api import Locator, Page

SHOWN: Final = """(path) => {
  const plain = (text) => {
    const url = new URL(text, location.origin);
    return url.pathname.replace(/(.)\\/$/, '$1') + '?' + [...url.searchParams].sort().join('&');
  };
  const root = document.querySelector('[data-page]');
  if (!root || document.querySelector('.app')?.dataset.hydrated !== 'true') return false;
  if (path !== null && plain(path) !== plain(location.href)) return false;
  if (root.dataset.page === 'missing') return true;
  return root.dataset.load !== 'loading' && plain(root.dataset.shown || '/-') === plain(location.href);
}"""
"""Whether the page of the address is there and alive (demo_app/FRONTEND.md, "Is the page shown?")."""


class App:
    """The app in one tab. Parameters: `page`, the tab; `origin`, where the app is."""

    def __init__(self, page: Page, origin: str) -> None:
        self.page = page
        self.origin = origin
        self.navigation = page.get_by_role("navigation", name="Main").or_(
            page.get_by_role("navigation", name="주 메뉴")
        )
        self.main = page.locator("#main")
        self.heading = page.get_by_role("heading", level=1)
        self.announcer = page.locator("#agent-announcer")
        self.theme_toggle = page.locator("#theme-toggle")

    # Going places.

    def open(self, path: str = "/") -> "App":
        """Load an address as a person who types it does, and wait until its page is alive."""
        self.page.goto(self.origin + path, wait_until="commit")
        return self.wait_shown(path)

    def reload(self) -> "App":
        """Press reload."""
        self.page.reload(wait_until="commit")
        return self.wait_shown()

    def wait_shown(self, path: str | None = None) -> "App":
        """Wait until the page of the address in the bar, or of `path`, is shown with its data."""
        self.page.wait_for_function(SHOWN, arg=path)
        return self

    def go(self, name: str) -> "App":
        """Follow a link of the navigation by its name."""
        self.navigation.get_by_role("link", name=name, exact=True).click()
        return self

    @property
    def address(self) -> str:
        """What stands in the address bar, without the origin and without the slash that a server adds to a path."""
        path, mark, query = self.page.url.removeprefix(self.origin).partition("?")
        return (path.rstrip("/") or "/") + mark + query

    # Settings.

    def language(self, code: str) -> None:
        """Choose "en" or "ko"."""
        self.page.locator(f"#language-{code}").click()

    @property
    def theme(self) -> str:
        """ "light" or "dark", as the page is drawn."""
        return str(self.page.evaluate("document.documentElement.classList.contains('dark') ? 'dark' : 'light'"))

    # What the assistant's tools know and do.

    def element(self, name: str) -> Locator:
        """An element by the name that the agent knows it by."""
        return self.page.locator(f"[data-agent-id={json.dumps(name)}]")

    def tool(self, name: str, arguments: Any) -> dict[str, Any]:
        """What a browser tool answers. `arguments`: a string goes in as it is, anything else as JSON."""
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        said = self.page.evaluate("([name, text]) => window.agentTools.run(name, text)", [name, text])
        answer: dict[str, Any] = json.loads(said)
        return answer

    # Layout.

    def overflow(self) -> int:
        """By how many pixels the page is wider than the window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))
