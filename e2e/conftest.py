"""One build, few servers, one browser; a visitor is a browser context that a guard watches.

A failing test leaves a screenshot of each page, a trace of each visitor and the server's words in `test-results/`.
"""

import os
import re
import shutil
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any, Final, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from demo_app import serving
from e2e.guard import Guard
from e2e.pages.app import App
from e2e.server import DemoServer, is_root

Theme = Literal["light", "dark"]

ROOT: Final = serving.ROOT
RESULTS: Final = ROOT / "test-results"
WRITES_DOCS: Final = os.environ.get("E2E_WRITE_SCREENSHOTS") == "1"
"""Whether pictures and figures go into `docs/`, where the README shows them; else they go into `test-results/`."""
BROWSER_ARGUMENTS: Final = (
    # Chromium's own errands, none of them a page's.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
    # Whatever a page asks of a foreign host fails here too, not only where there is no network.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
VIEWPORTS: Final = {"desktop": (1440, 900), "tablet": (768, 1024), "phone": (390, 844)}
PATIENCE_MS: Final = 15_000
"""How long an expectation may take to come true; only a failing test takes that long."""

FIRST_LANGUAGE: Final = """if (location.protocol.startsWith('http') && !localStorage.getItem('halla-language'))
  localStorage.setItem('halla-language', '%s');"""

_visitors = pytest.StashKey[list["Visitor"]]()
_servers = pytest.StashKey[list[DemoServer]]()
_failed = pytest.StashKey[bool]()


class Contexts:
    """Browser contexts, emptied between visitors: a used one has the app's files in its cache, and nothing else.

    Parameters: `browser`, theirs.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._idle: list[BrowserContext] = []

    def take(self, **options: Any) -> BrowserContext:
        """A context that nobody has been in; with `options` one made for them."""
        if self._idle and not options:
            return self._idle.pop()
        context = self._browser.new_context(**options)
        context.set_default_timeout(PATIENCE_MS)
        context.tracing.start(screenshots=False, snapshots=True)
        return context

    def give_back(self, context: BrowserContext, origin: str) -> None:
        """Close what is open in it and forget what was kept for `origin`."""
        for page in context.pages:
            page.close()
        context.clear_cookies()
        blank = context.new_page()
        session = context.new_cdp_session(blank)
        session.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        blank.close()
        self._idle.append(context)


class Visitor:
    """One person's browser: a context with nothing in it, its guard, and the app in its first tab.

    Parameters: `context`, the browser context; `origin`, where the app is; `prepare`, what is done to each new tab.
    """

    def __init__(self, context: BrowserContext, origin: str, prepare: Callable[[Page], None]) -> None:
        self.context = context
        self.origin = origin
        self.guard = Guard(context, origin)
        self._prepare = prepare
        context.tracing.start_chunk()
        self.app = self.tab()

    def tab(self) -> App:
        """The app in a new tab."""
        page = self.context.new_page()
        self._prepare(page)
        return App(page, self.origin)

    def keep(self, where: Path, name: str) -> None:
        """Write down what there is to see of a failure."""
        for number, page in enumerate(self.context.pages):
            page.screenshot(path=where / f"{name}-{number}.png")
        self.context.tracing.stop_chunk(path=where / f"{name}.trace.zip")


@pytest.fixture(scope="session")
def built() -> None:
    """The pages as they are now, built if need be."""
    serving.build()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium: the one that is installed here, else Playwright's own."""
    expect.set_options(timeout=PATIENCE_MS)
    shutil.rmtree(RESULTS, ignore_errors=True)
    installed = os.environ.get("E2E_CHROMIUM") or shutil.which("chromium")
    arguments = [*BROWSER_ARGUMENTS, *(["--no-sandbox"] if is_root() else [])]
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=installed, args=arguments)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def shared_demo(built: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DemoServer]:
    """The server that most tests use; `demo` hands it out."""
    server = DemoServer(tmp_path_factory.mktemp("demo"), DEMO_MISCHIEF="1", DEMO_DELAY="0.01", DEMO_SLOW_DELAY="0.1")
    server.start()
    yield server
    server.stop()


@pytest.fixture
def demo(request: pytest.FixtureRequest, shared_demo: DemoServer) -> DemoServer:
    """A demo whose agent misbehaves on demand. Others use it too: a test leaves it running, and minds its own data."""
    shared_demo.complaints()
    request.node.stash.setdefault(_servers, []).append(shared_demo)
    return shared_demo


@pytest.fixture
def serve(built: None, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., DemoServer]]:
    """Start a server of one's own: `serve(DEMO_DELAY="0")`."""
    servers: list[DemoServer] = request.node.stash.setdefault(_servers, [])
    own: list[DemoServer] = []

    def start(**environment: str) -> DemoServer:
        server = DemoServer(tmp_path / f"demo-{len(own)}", **environment)
        own.append(server)
        servers.append(server)
        return server.start()

    yield start
    for server in own:
        server.stop()


@pytest.fixture(scope="session")
def contexts(browser: Browser) -> Contexts:
    """The browser's contexts."""
    return Contexts(browser)


@pytest.fixture
def visit(contexts: Contexts, request: pytest.FixtureRequest) -> Iterator[Callable[..., Visitor]]:
    """A new visitor: `visit(demo, viewport="phone", theme="dark", language="ko")`; more words go to the context."""
    visitors: list[Visitor] = request.node.stash.setdefault(_visitors, [])
    own_way: set[Visitor] = set()

    def arrive(
        server: DemoServer,
        *,
        viewport: str = "desktop",
        theme: Theme = "light",
        language: str = "en",
        calm: bool = False,
        **options: Any,
    ) -> Visitor:
        width, height = VIEWPORTS[viewport]

        def prepare(page: Page) -> None:
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=theme, reduced_motion="reduce" if calm else "no-preference")
            if language != "en":
                page.add_init_script(FIRST_LANGUAGE % language)

        visitor = Visitor(contexts.take(**options), server.url, prepare)
        visitors.append(visitor)
        if options:
            own_way.add(visitor)
        return visitor

    yield arrive
    failed = request.node.stash.get(_failed, False)
    for number, visitor in enumerate(visitors):
        visitor.guard.leave()
        if failed:
            visitor.keep(_results_of(request.node), f"visitor-{number}")
        else:
            visitor.context.tracing.stop_chunk()
        if failed or visitor in own_way:
            visitor.context.close()
        else:
            contexts.give_back(visitor.context, visitor.origin)
    for number, server in enumerate(request.node.stash.get(_servers, []) if failed else ()):
        (_results_of(request.node) / f"server-{number}.log").write_bytes(server.log.read_bytes())


def _results_of(node: pytest.Item) -> Path:
    place = RESULTS / re.sub(r"[^\w.-]+", "-", node.nodeid)[-150:].strip("-")
    place.mkdir(parents=True, exist_ok=True)
    return place


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """After each journey: nothing of what the guard watches for happened, and the server has no complaint."""
    try:
        outcome = yield
    except Exception as failure:
        failure.add_note(_seen_by_the_way(item))
        raise
    seen = _seen_by_the_way(item)
    assert not seen, seen
    return outcome


def _seen_by_the_way(item: pytest.Item) -> str:
    guards = [visitor.guard for visitor in item.stash.get(_visitors, [])]
    lines = [f"the guard saw: {trouble}" for guard in guards for trouble in guard.troubles]
    for server in item.stash.get(_servers, []):
        words = server.complaints()
        for guard in guards:
            words = guard.without_expected(words)
        lines += [f"the server: {words}"] if words else []
    return "\n".join(lines)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note a failure, so that the fixtures keep what there is to see of it."""
    report = yield
    if report.failed:
        item.stash[_failed] = True
    return report
