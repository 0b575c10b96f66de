"""A token costs little however long the conversation is, and a thousand messages stay usable.

Bytes and flushes are counted, not timed. How long the first word takes is measured and reported, not judged
(`test-results/live-and-light.json`; with `E2E_WRITE_SCREENSHOTS=1` also `docs/live-and-light.md`).
"""

import json
import platform
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from statistics import median, quantiles
from time import time
from typing import Any, Final

import pytest
from ag_ui.core import RunAgentInput
from playwright.sync_api import expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from demo_app.state.store import Store
from e2e.conftest import RESULTS, ROOT, WRITES_DOCS, Visitor
from e2e.pages.assistant import Assistant
from e2e.server import DemoServer
from e2e.traffic import Traffic
from tests.client_sdk.interop_pydantic_ai import serve as serve_app

Visit = Callable[..., Visitor]

BYTES_A_TOKEN: Final = 300
FLUSHES_A_SECOND: Final = 20
LENGTHS: Final = (10, 1_000)
FIRST_TOKENS: Final = 20

_measured: dict[str, Any] = {}


@pytest.fixture(scope="module")
def measured() -> Iterator[dict[str, Any]]:
    """Figures to report; written down when the last test of this file is over."""
    yield _measured
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "live-and-light.json").write_text(json.dumps(_measured, indent=2))
    if WRITES_DOCS:
        (ROOT / "docs" / "live-and-light.md").write_text(report(_measured))


def report(figures: dict[str, Any]) -> str:
    """The figures as a page of the documentation."""
    rows = [
        f"| {figure['what']} | {figure['on']} | {figure['value']} | {figure['goal']} |" for figure in figures.values()
    ]
    return "\n".join(
        [
            "# Live and light",
            "",
            "Measured in Chromium against a production server on loopback, by `pytest e2e/test_stay_live_and_light.py`"
            " with `E2E_WRITE_SCREENSHOTS=1`.",
            f"{datetime.now(UTC):%Y-%m-%d}, {platform.system()}, Python {platform.python_version()}. Sizes are those of"
            " the websocket's text frames, before compression.",
            "",
            "| What | On | Measured | Goal |",
            "| --- | --- | --- | --- |",
            *rows,
            "",
        ]
    )


def long_thread(server: DemoServer, chat: Assistant, messages: int) -> str:
    """Give the visitor a conversation of so many messages, open it, and say its id."""
    visitor = chat.page.evaluate("JSON.parse(JSON.stringify(localStorage.getItem('halla-visitor')))")
    thread_id = str(uuid.uuid4())
    with closing(Store(server.data / "chats.db")) as store:
        store.create(visitor, thread_id, f"{messages} messages")
        turns = [
            {"id": f"m{n}", "role": "user" if n % 2 == 0 else "assistant", "content": f"Message {n}: " + "words " * 30}
            for n in range(messages)
        ]
        store.save(thread_id, changed={turn["id"]: (n, turn) for n, turn in enumerate(turns)})
    chat.page.evaluate("(id) => sessionStorage.setItem('halla-thread', id)", thread_id)
    chat.reload()
    expect(chat.title).to_have_text(f"{messages} messages")
    return thread_id


def tokens_of_last_run(server: DemoServer, thread_id: str) -> int:
    """How many pieces of text the agent sent in the thread's last run, by its recording."""
    with closing(Store(server.data / "chats.db")) as store:
        payloads = store.recording(store.runs(thread_id)[-1].seq)
    return sum(json.loads(payload)["type"] == "TEXT_MESSAGE_CONTENT" for payload in payloads)


def test_a_token_costs_the_same_in_a_long_conversation(
    serve: Callable[..., DemoServer], visit: Visit, measured: dict[str, Any]
) -> None:
    server = serve(DEMO_DELAY="0.02")
    costs = {}
    for messages in LENGTHS:
        visitor = visit(server)
        traffic = Traffic.of(visitor.app.page)
        chat = Assistant(visitor.app).open()
        thread_id = long_thread(server, chat, messages)
        before = chat.questions.count()
        traffic.clear()
        chat.input.fill("A very long answer of 12 paragraphs")
        chat.input.press("Enter")
        chat.wait_rest()
        expect(chat.end("completed")).to_have_count(1)
        assert before
        tokens = tokens_of_last_run(server, thread_id)
        assert tokens > 100
        costs[messages] = traffic.size / tokens
        measured[f"bytes {messages}"] = {
            "what": "bytes a token, everything the page received from question to end",
            "on": f"{messages:,} messages before",
            "value": f"{costs[messages]:.0f} ({tokens} tokens, {len(traffic.flushes)} flushes)",
            "goal": f"≤ {BYTES_A_TOKEN}",
        }
    assert all(cost <= BYTES_A_TOKEN for cost in costs.values()), costs
    assert costs[LENGTHS[-1]] <= 1.25 * costs[LENGTHS[0]], costs


def test_words_come_in_few_flushes(serve: Callable[..., DemoServer], visit: Visit, measured: dict[str, Any]) -> None:
    server = serve(DEMO_DELAY="0.001")
    visitor = visit(server)
    traffic = Traffic.of(visitor.app.page)
    chat = Assistant(visitor.app).open()
    times = "window.arrived = []; new MutationObserver(() => window.arrived.push(performance.now()))"
    chat.page.evaluate(times + ".observe(document.querySelector('#chat-live'), {subtree: true, childList: true})")
    chat.ask("A very long answer of 60 paragraphs")
    thread_id = chat.page.evaluate("sessionStorage.getItem('halla-thread')")
    tokens = tokens_of_last_run(server, thread_id)
    flushes = len(traffic.flushes)
    # A fast agent: its words are bundled, many a flush, and still appear bit by bit.
    assert tokens > 1_000
    assert 3 <= flushes <= tokens / 10, (tokens, flushes)
    seconds = chat.page.evaluate("(window.arrived.at(-1) - window.arrived[0]) / 1000")
    measured["flushes"] = {
        "what": "flushes a second while a fast agent streams",
        "on": f"{tokens:,} tokens",
        "value": f"{(flushes - 1) / seconds:.0f} ({flushes} flushes, {tokens / flushes:.0f} tokens each)",
        "goal": f"≤ {FLUSHES_A_SECOND}",
    }


def test_a_thousand_messages_stay_usable(serve: Callable[..., DemoServer], visit: Visit) -> None:
    server = serve(DEMO_DELAY="0.005")
    chat = Assistant(visit(server).app).open()
    long_thread(server, chat, 1_000)
    # The latest part is drawn, the rest when it is asked for; nothing is lost.
    shown = chat.page.locator("[data-card=user], [data-card=text]")
    expect(chat.transcript).to_contain_text("Message 999:")
    assert shown.count() < 200
    earlier = chat.page.locator("#chat-earlier")
    earlier.click()
    expect(earlier).not_to_contain_text(f"{1_000 - shown.count() + 200:,}")
    while earlier.count():
        before = shown.count()
        earlier.click()
        chat.page.wait_for_function(
            "(before) => document.querySelectorAll('[data-card=user], [data-card=text]').length > before"
            " || !document.querySelector('#chat-earlier')",
            arg=before,
        )
    expect(shown).to_have_count(1_000)
    expect(chat.transcript).to_contain_text("Message 0:")
    chat.transcript.evaluate("(log) => { log.scrollTop = 0; }")
    expect(shown.first).to_be_in_viewport()
    chat.app.go("Orders").wait_shown("/orders")
    chat.input.fill("Where is order 42?")
    chat.input.press("Enter")
    expect(chat.answers.last).to_contain_text("is shipped")
    expect(chat.answers.last).to_be_in_viewport()


class Clockwork:
    """An agent that says one word and notes when: for measuring the way from there to the screen."""

    def __init__(self) -> None:
        self.sent: list[float] = []

    def app(self) -> Starlette:
        """Served at /agent."""
        return Starlette(routes=[Route("/agent", self._answer, methods=["POST"])])

    async def _answer(self, request: Request) -> Response:
        run = RunAgentInput.model_validate_json(await request.body())

        async def frames() -> Any:
            identity = {"threadId": run.thread_id, "runId": run.run_id}
            word = {"messageId": str(uuid.uuid4())}
            yield _frame({"type": "RUN_STARTED", **identity, "protocolVersion": "1.0"})
            yield _frame({"type": "TEXT_MESSAGE_START", **word, "role": "assistant"})
            self.sent.append(time())
            yield _frame({"type": "TEXT_MESSAGE_CONTENT", **word, "delta": f"word-{len(self.sent)}"})
            yield _frame({"type": "TEXT_MESSAGE_END", **word})
            yield _frame({"type": "RUN_FINISHED", **identity})

        return StreamingResponse(frames(), media_type="text/event-stream")


def _frame(event: dict[str, Any]) -> str:
    return f"data: {json.dumps(event)}\n\n"


def test_how_soon_the_first_word_is_on_screen(
    serve: Callable[..., DemoServer], visit: Visit, measured: dict[str, Any]
) -> None:
    agent = Clockwork()
    with serve_app(agent.app()) as port:
        chat = Assistant(visit(serve(AGENT_URL=f"http://127.0.0.1:{port}/agent")).app).open()
        chat.page.evaluate(
            """() => { window.drawn = {}; new MutationObserver(() => {
              const words = document.querySelector('#assistant-transcript').innerText.match(/word-\\d+/g) ?? [];
              for (const word of words) if (!(word in window.drawn)) {
                window.drawn[word] = null; requestAnimationFrame(() => { window.drawn[word] = Date.now() / 1000; });
              } }).observe(document.body, { subtree: true, childList: true, characterData: true }); }"""
        )
        for number in range(FIRST_TOKENS):
            chat.ask(f"Say the next, number {number}")
        chat.page.wait_for_function(f"() => Object.values(window.drawn).filter(Boolean).length === {FIRST_TOKENS}")
        drawn = chat.page.evaluate("window.drawn")
    delays = [(drawn[f"word-{n + 1}"] - sent) * 1000 for n, sent in enumerate(agent.sent)]
    assert len(delays) == FIRST_TOKENS
    measured["first token"] = {
        "what": "from the agent sending its first token to the screen, ms",
        "on": f"{FIRST_TOKENS} answers",
        "value": f"median {median(delays):.0f}, p95 {quantiles(delays, n=20)[-1]:.0f}",
        "goal": "p95 ≤ 150",
    }
