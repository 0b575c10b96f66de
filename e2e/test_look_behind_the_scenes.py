"""A developer sees the wire and the books, takes a recording home, and sees what a string-only store would keep."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from demo_app.serving import ROOT
from e2e.conftest import Visitor
from e2e.pages.assistant import Assistant
from e2e.server import DemoServer

Visit = Callable[..., Visitor]


def test_see_every_event_and_what_became_of_calls(demo: DemoServer, visit: Visit) -> None:
    visitor = visit(demo)
    visitor.guard.allow(r"unknown_event at .*? dropped", r"call_abandoned at [^\n]*")
    chat = Assistant(visitor.app).open().ask("Show pending orders", "mischief: unknown event")
    inspector = chat.inspector.open()
    for event in ("RUN_STARTED", "TEXT_MESSAGE_CONTENT", "FUTURE_EVENT", "RUN_FINISHED"):
        expect(inspector.content.get_by_text(event, exact=True).first).to_be_visible()
    inspector.tab("diagnostics")
    expect(inspector.rows).to_contain_text("unknown_event")
    inspector.tab("journal")
    expect(inspector.content).to_contain_text("set_filter")
    expect(inspector.content).to_contain_text("answered")
    inspector.tab("calls")
    expect(inspector.content).to_contain_text("Nothing here yet")
    inspector.tab("state")
    expect(inspector.content).not_to_be_empty()
    inspector.close()
    chat.ask("Order 1 tamper for customer 2")
    inspector.open().tab("calls")
    expect(inspector.rows).to_contain_text("place_order")
    inspector.close()
    expect(chat.page.locator("#chat-inspector")).to_be_focused()


def test_see_events_as_they_come(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().begin("Count slowly to 60")
    inspector = chat.inspector.open()
    expect(inspector.rows.first).to_contain_text("TEXT_MESSAGE_CONTENT")
    first = inspector.rows.first.inner_text()
    chat.page.wait_for_function(
        "(first) => document.querySelector('#inspector-content tbody tr')?.innerText !== first", arg=first
    )
    inspector.close()
    chat.stop_button.click()
    chat.wait_rest()


def test_a_streamed_message_is_one_line_and_the_recording_has_all_of_it(
    demo: DemoServer, visit: Visit, tmp_path: Path
) -> None:
    chat = Assistant(visit(demo).app).open().ask("Count slowly to 30")
    inspector = chat.inspector.open()
    lines = inspector.rows.filter(has_text="TEXT_MESSAGE_CONTENT")
    expect(lines).to_have_count(1)
    count = int(lines.get_attribute("data-count") or 0)
    assert count > 10
    expect(lines).to_contain_text(f"{count} in a row")
    written = chat.answers.last.locator(".md").inner_text()
    recording = inspector.export("completed", tmp_path).read_text()
    events = [json.loads(line.removeprefix("data: ")) for line in recording.splitlines() if line]
    pieces = [one["delta"] for one in events if one["type"] == "TEXT_MESSAGE_CONTENT"]
    assert len(pieces) == count
    expect(lines).to_contain_text(f"{len(''.join(pieces))} characters together")
    assert "".join(pieces).split() == written.split()


def test_take_a_recording_home_and_replay_it(demo: DemoServer, visit: Visit, tmp_path: Path) -> None:
    chat = Assistant(visit(demo).app).open().ask("Where is order 42?", "mischief: broken rule")
    inspector = chat.inspector.open()
    for status, event in (("completed", "TEXT_MESSAGE_END"), ("rejected", "RUN_STARTED")):
        file = inspector.export(status, tmp_path)
        assert event in file.read_text()
        replayed = subprocess.run(
            [sys.executable, "-m", "client_sdk", "replay", str(file)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert status in replayed.stdout, replayed
        assert (replayed.returncode == 0) == (status == "completed")


def test_see_what_a_store_of_strings_would_lose(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("Show invoice 42")
    inspector = chat.inspector.open().tab("legacy")
    expect(inspector.content).to_contain_text("Show invoice 42")
    lost = inspector.content.locator(".lost").all_inner_texts()
    assert any("image" in one for one in lost), lost
    assert any("document" in one for one in lost), lost
    expect(inspector.rows.first).to_contain_text("Nothing")
