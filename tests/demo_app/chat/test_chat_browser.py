"""The bridge: each call in exactly one tab, every end an honest one."""

import asyncio
import json
import re

import pytest

from demo_app.state import browser
from demo_app.state.browser import BrowserBridge, BrowserError, Tab, script

OK = json.dumps({"ok": True, "result": {"shown": "/orders"}})


@pytest.fixture
def bridge() -> BrowserBridge:
    return BrowserBridge()


def opened(bridge: BrowserBridge) -> Tab:
    return bridge.open("t", lambda: None)


async def started(bridge: BrowserBridge, call_id: str = "c") -> "asyncio.Task[object]":
    task = asyncio.create_task(bridge.run("t", call_id, "navigate", {"page": "orders", "order_id": None}))
    while call_id not in bridge._calls or not any(tab._waiting for tabs in bridge._tabs.values() for tab in tabs):  # noqa: ASYNC110
        await asyncio.sleep(0)
    return task


async def test_a_call_runs_in_the_tab_that_was_used_last_and_there_alone(bridge: BrowserBridge) -> None:
    first, second = opened(bridge), opened(bridge)
    bridge.used(first)
    task = await started(bridge)
    assert second.take() == []
    (code,) = first.take()
    assert '"navigate"' in code
    assert first.take() == []
    assert bridge.answered("c", OK, first)
    assert await task == {"shown": "/orders"}


async def test_only_the_tab_that_took_a_call_can_answer_it_and_only_once(bridge: BrowserBridge) -> None:
    first, second = opened(bridge), opened(bridge)
    task = await started(bridge)
    second.take()
    assert not bridge.answered("c", OK, first)
    assert not bridge.answered("c", OK, None)
    assert not bridge.answered("other", OK, second)
    assert bridge.answered("c", OK, second)
    assert not bridge.answered("c", OK, second)
    await task


async def test_a_call_nobody_took_goes_to_another_tab(bridge: BrowserBridge) -> None:
    first, second = opened(bridge), opened(bridge)
    task = await started(bridge)
    bridge.close(second)
    assert second.take() == [] or not second._waiting
    assert first.take()
    bridge.answered("c", OK, first)
    await task


async def test_a_tab_that_goes_away_with_a_call_is_told_so(bridge: BrowserBridge) -> None:
    tab = opened(bridge)
    task = await started(bridge)
    tab.take()
    opened(bridge)
    bridge.close(tab)
    bridge.close(tab)
    with pytest.raises(BrowserError, match="not known") as raised:
        await task
    assert raised.value.code == "page_closed"


async def test_a_call_waits_for_a_page_that_is_about_to_open(bridge: BrowserBridge) -> None:
    task = asyncio.create_task(bridge.run("t", "c", "navigate", {}))
    await asyncio.sleep(0)
    tab = opened(bridge)
    while not tab._waiting:  # noqa: ASYNC110
        await asyncio.sleep(0)
    tab.take()
    bridge.answered("c", OK, tab)
    assert await task == {"shown": "/orders"}


async def test_without_any_page_the_call_says_so(bridge: BrowserBridge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser, "WAIT_FOR_TAB", 0.01)
    with pytest.raises(BrowserError, match="no page"):
        await bridge.run("t", "c", "navigate", {})


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (json.dumps({"ok": False, "error": {"code": "unknown_page", "message": "There is none."}}), "unknown_page"),
        ("no JSON", "page_failed"),
        ("7", "page_failed"),
        ('{"ok": "yes"}', "page_failed"),
        ('{"ok": true}', "page_failed"),
    ],
)
async def test_what_a_page_could_not_do_is_a_failure(bridge: BrowserBridge, said: str, code: str) -> None:
    tab = opened(bridge)
    task = await started(bridge)
    tab.take()
    bridge.answered("c", said, tab)
    with pytest.raises(BrowserError) as raised:
        await task
    assert raised.value.code == code


async def test_a_stopped_call_is_forgotten_and_its_late_answer_too(bridge: BrowserBridge) -> None:
    tab = opened(bridge)
    task = await started(bridge)
    tab.take()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not bridge.answered("c", OK, tab)


@pytest.mark.parametrize(
    "hostile", ['"); alert(1); ("', "</script><script>alert(1)//", "\u2028\u2029", "`${alert(1)}`", "\\"]
)
def test_values_go_into_the_script_as_string_literals(hostile: str) -> None:
    code = script(hostile, hostile, json.dumps({"x": hostile}))
    literals = re.findall(r'"(?:[^"\\]|\\.)*"', code)
    assert json.loads(literals[0]) == hostile
    assert json.loads(literals[1]) == json.dumps({"x": hostile})
    assert json.loads(literals[2]) == hostile
    assert "alert" not in re.sub(r'"(?:[^"\\]|\\.)*"', "", code)
    assert "<" not in code
    assert code.isascii()
