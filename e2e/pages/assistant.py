"""The assistant: what one says to it, what it shows, and what it asks."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page

from e2e.pages.app import App

RESTS = """(before) => {
  const panel = document.querySelector('#assistant-panel');
  return document.querySelectorAll('[data-card=user]').length > before && panel.dataset.chatActive === 'false';
}"""


class Assistant:
    """The panel in one tab. Parameters: `app`, the tab's app."""

    def __init__(self, app: App) -> None:
        page = app.page
        self.app = app
        self.page: Page = page
        self.panel = page.locator("#assistant-panel")
        self.transcript = page.get_by_role("log")
        self.input = page.locator("#chat-input")
        self.send_button = page.locator("#chat-send")
        self.stop_button = page.locator("#chat-stop")
        self.title = page.locator("#chat-title")
        self.model = page.locator("#chat-model")
        self.notice = page.locator(".chat-notice")
        self.suggestions = page.locator(".suggestion")
        self.questions = page.locator("[data-card=user]")
        self.answers = page.locator("[data-card=text]")
        self.tools = page.locator("[data-card=tool]")
        self.ends = page.locator("[data-card=end]")
        self.thread_list = page.locator("#thread-list")
        self.inspector = Inspector(page)

    # Coming and waiting.

    def open(self, path: str = "/") -> "Assistant":
        """Load a page and wait until the assistant can be spoken to."""
        self.app.open(path)
        return self.wait_ready()

    def reload(self) -> "Assistant":
        """Press reload and wait until the conversation is there again."""
        self.app.reload()
        return self.wait_ready()

    def wait_ready(self) -> "Assistant":
        """Wait until the conversation is shown."""
        self.page.wait_for_selector("#assistant-panel[data-chat-ready=true]", state="attached")
        return self

    def wait_rest(self, questions: int = 0) -> "Assistant":
        """Wait until nothing runs and more than `questions` questions are shown."""
        self.page.wait_for_function(RESTS, arg=questions, timeout=60_000)
        return self

    def wait_active(self) -> "Assistant":
        """Wait until an answer is under way."""
        self.page.wait_for_selector("#assistant-panel[data-chat-active=true]", state="attached")
        return self

    @contextmanager
    def another_answer(self) -> Iterator[None]:
        """Around a deed that takes back the last answer: afterwards wait until another one stands in its place."""
        self.ends.last.evaluate("(end) => { end.dataset.old = 'true'; }")
        yield
        self.page.wait_for_function(
            """() => !document.querySelector('[data-old]') && document.querySelector('[data-card=end]')
              && document.querySelector('#assistant-panel').dataset.chatActive === 'false'"""
        )

    # Speaking.

    def begin(self, text: str) -> "Assistant":
        """Say something and wait only until it was taken."""
        before = self.questions.count()
        self.input.fill(text)
        self.input.press("Enter")
        self.questions.nth(before).wait_for()
        return self

    def ask(self, *texts: str) -> "Assistant":
        """Say things one after the other, and wait each time until the answer is over."""
        for text in texts:
            before = self.questions.count()
            self.input.fill(text)
            self.input.press("Enter")
            self.wait_rest(before)
        return self

    def attach(self, *files: Path | dict[str, Any]) -> None:
        """Choose files, as the file dialog does."""
        chosen: Any = list(files)
        self.page.locator("#assistant-composer input[type=file]").set_input_files(chosen)

    # What is shown.

    def tool(self, name: str, phase: str | None = None) -> Locator:
        """The cards of one tool's calls, of one phase if it is given."""
        return self.page.locator(f"[data-tool={name}]" + (f"[data-phase={phase}]" if phase else ""))

    def end(self, phase: str) -> Locator:
        """The cards of runs that ended so."""
        return self.page.locator(f"[data-card=end][data-phase={phase}]")

    @property
    def interrupt(self) -> Locator:
        """The open question of the agent's."""
        return self.page.locator("[data-card=interrupt]")

    @property
    def decisions(self) -> Locator:
        """What was answered to such questions."""
        return self.page.locator("[data-card=decision]")

    def transcript_shape(self) -> Sequence[str]:
        """The cards in order: their kinds, and for calls tool and phase."""
        shape: list[str] = self.page.locator("#assistant-transcript [data-card]").evaluate_all(
            "(cards) => cards.map((card) => [card.dataset.card, card.dataset.tool, card.dataset.phase]"
            ".filter(Boolean).join(':'))"
        )
        return shape

    # Threads.

    def new_thread(self) -> "Assistant":
        """Start another conversation."""
        self.page.locator("#chat-new").click()
        self.transcript.get_by_text("What shall we look at?").wait_for()
        return self.wait_ready()

    def show_threads(self) -> Locator:
        """Open the list of conversations; its lines."""
        self.page.locator("#chat-threads").click()
        self.thread_list.wait_for()
        return self.thread_list.locator(".thread")


class Inspector:
    """The drawer that shows the wire and the books."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.dialog = page.locator("#inspector")
        self.content = page.locator("#inspector-content")
        self.rows = self.content.locator("tbody tr")
        self.export_form = page.locator("form.export")

    def open(self) -> "Inspector":
        """Open the drawer."""
        self.page.locator("#chat-inspector").click()
        self.dialog.wait_for()
        return self

    def tab(self, name: str) -> "Inspector":
        """Choose a tab by its id's word: events, diagnostics, state, calls, journal, legacy."""
        self.page.locator(f"#tab-{name}").click()
        self.page.locator(f"#tab-{name}[aria-selected=true]").wait_for()
        return self

    def close(self) -> None:
        """Close it with Escape."""
        self.page.keyboard.press("Escape")
        self.dialog.wait_for(state="hidden")

    def export(self, status: str, where: Path) -> Path:
        """Download the recording of the latest run that ended so, into the folder `where`."""
        labels = self.export_form.locator("option").all_inner_texts()
        self.export_form.locator("select").select_option(label=next(label for label in labels if status in label))
        with self.page.expect_download() as download:
            self.export_form.get_by_role("button").click()
        target = where / download.value.suggested_filename
        download.value.save_as(target)
        return target
