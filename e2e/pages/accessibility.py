"""axe-core on a page as it stands, once nothing on it moves any more."""

from typing import Any, Final, Literal

from axe_playwright_python.base import AXE_SCRIPT  # type: ignore[import-untyped]
from playwright.sync_api import Page

RULES: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
STILL: Final = """() => document.getAnimations().every(
  (one) => one.effect?.getTiming().iterations === Infinity || one.playState !== 'running')"""
"""Colours are judged when transitions have come to their end; what pulses without end is judged as it is."""


def violations(page: Page, part: str = "html") -> list[str]:
    """What axe has against the page, or the `part` of it that a selector names: rule, elements and why, a line each."""
    page.wait_for_function(STILL)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found: list[dict[str, Any]] = page.evaluate(
        "([part, tags]) => axe.run(part, {runOnly: {type: 'tag', values: tags}, resultTypes: ['violations']})"
        ".then((result) => result.violations)",
        [part, list(RULES)],
    )
    return [
        f"{each['id']} ({each['impact']}): {node['target']} {node['html'][:160]} | {node['failureSummary']}"
        for each in found
        for node in each["nodes"]
    ]


THEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")


def violations_in_both_themes(page: Page, part: str = "html") -> list[str]:
    """The same, in light and in dark. The visitor must not have chosen a theme: then the page follows the system."""
    found = []
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        page.wait_for_function("(theme) => document.documentElement.classList.contains(theme)", arg=theme)
        found += [f"{theme}: {each}" for each in violations(page, part)]
    return found
