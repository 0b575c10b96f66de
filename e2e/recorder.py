"""What a page went through between two looks: every state of an element that lasted long enough to be drawn."""

from typing import Any, Final

from playwright.sync_api import Page

_SCRIPT: Final = """([selector, read]) => {
  const look = new Function('element', 'return ' + read), seen = (window.recorded = []);
  const note = () => {
    for (const element of document.querySelectorAll(selector)) {
      const now = JSON.stringify(look(element));
      if (seen.at(-1) !== now) seen.push(now);
    }
  };
  window.recorder?.disconnect();
  window.recorder = new MutationObserver(note);
  window.recorder.observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
}"""


def record(page: Page, selector: str, read: str) -> None:
    """Begin to note `read`, a JavaScript expression over `element`, for the elements of `selector`."""
    page.evaluate(_SCRIPT, [selector, read])


def recorded(page: Page) -> list[Any]:
    """What was noted, in order, each state once."""
    seen: list[Any] = page.evaluate("window.recorded.map((one) => JSON.parse(one))")
    return seen
