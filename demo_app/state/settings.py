"""What a visitor chooses for this browser: the language. (Dark and light are Reflex's own colour mode.)"""

import reflex as rx
from reflex.event import EventSpec

LANGUAGES = ("en", "ko")
LANGUAGE_KEY = "halla-language"


class SettingsState(rx.State):
    """The visitor's language, kept in the browser's local storage and shared by its tabs."""

    language: str = rx.LocalStorage("en", name=LANGUAGE_KEY, sync=True)

    @rx.event
    def set_language(self, language: str) -> EventSpec | None:
        """Switch the language; a value that is not one of `LANGUAGES` changes nothing."""
        if language not in LANGUAGES:
            return None
        self.language = language
        return rx.call_script(f"window.hallaShell.setLanguage('{language}')")
