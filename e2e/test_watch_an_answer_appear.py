"""The visitor sees words and arguments as they come, stops what they do not need, and asks again."""

import itertools
from collections.abc import Callable

from playwright.sync_api import expect

from e2e.conftest import Visitor
from e2e.pages.assistant import Assistant
from e2e.recorder import record, recorded
from e2e.server import DemoServer

Visit = Callable[..., Visitor]


def test_read_while_it_is_written(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open()
    record(chat.page, "[data-card=text]", "element.querySelector('.md')?.innerText.trim() ?? ''")
    chat.begin("Count slowly to 12")
    live = chat.page.locator("[data-card=text][data-live=true]")
    expect(live).to_be_visible()
    expect(chat.stop_button).to_be_visible()
    chat.wait_rest()
    expect(live).to_have_count(0)
    texts = [text for text in recorded(chat.page) if text]
    assert len(texts) >= 8, "it did not appear bit by bit"
    assert texts[-1].rstrip(".").endswith("12")
    assert all(len(before) <= len(after) for before, after in itertools.pairwise(texts)), "what was shown went away"


def test_see_arguments_fill_in(serve: Callable[..., DemoServer], visit: Visit) -> None:
    chat = Assistant(visit(serve(DEMO_DELAY="0.15")).app).open()
    record(
        chat.page,
        "[data-tool=place_order]",
        "[element.dataset.phase, element.dataset.phase === 'streaming' ? element.querySelector('pre')?.innerText : '']",
    )
    chat.ask("Order 3 hand grinders for customer 5")
    states = recorded(chat.page)
    partial = [text for phase, text in states if phase == "streaming" and text]
    assert len(partial) >= 2, states
    assert all(after.startswith(before) for before, after in itertools.pairwise(partial)), partial
    assert partial[-1].startswith('{"')
    phases = [phase for phase, _ in itertools.groupby(phase for phase, _ in states)]
    assert phases[0] == "streaming"
    assert phases[-1] == "asking"


def test_stop_it_and_go_on(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().begin("Count slowly to 200")
    expect(chat.page.locator("[data-live=true]")).to_contain_text("3")
    chat.stop_button.click()
    chat.wait_rest()
    expect(chat.end("stopped")).to_contain_text("You stopped the answer")
    kept = chat.answers.inner_text()
    assert "3" in kept
    assert "200" not in kept
    chat.reload()
    assert chat.answers.inner_text() == kept
    expect(chat.end("stopped")).to_have_count(1)
    chat.ask("Where is order 42?")
    expect(chat.answers.last).to_contain_text("is shipped")


def test_have_it_answered_again(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("Where is order 7?", "Where is order 42?")
    shape = chat.transcript_shape()
    with chat.another_answer():
        chat.ends.last.get_by_role("button", name="Answer again").click()
    assert chat.transcript_shape() == shape
    expect(chat.questions).to_have_count(2)
    expect(chat.answers.last).to_contain_text("is shipped")
    chat.reload()
    assert chat.transcript_shape() == shape


def test_ask_it_differently(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("Where is order 7?", "Who won the match?")
    chat.questions.first.hover()
    chat.questions.first.get_by_role("button", name="Edit and send again").click()
    field = chat.page.locator("#edit-text")
    expect(field).to_be_focused()
    expect(field).to_have_value("Where is order 7?")
    chat.page.get_by_role("button", name="Cancel").click()
    expect(field).to_have_count(0)
    chat.questions.first.get_by_role("button", name="Edit and send again").click()
    field.fill("Where is order 42?")
    with chat.another_answer():
        chat.page.get_by_role("button", name="Send again", exact=True).click()
    expect(chat.questions).to_have_count(1)
    expect(chat.questions).to_contain_text("Where is order 42?")
    expect(chat.answers).to_contain_text("is shipped")
    chat.reload()
    expect(chat.questions).to_have_count(1)


def test_write_the_next_question_meanwhile(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().begin("Count slowly to 20")
    chat.input.click()
    chat.page.keyboard.type("Where is order 42?")
    chat.page.keyboard.press("Enter")
    expect(chat.input).to_have_value("Where is order 42?")
    expect(chat.questions).to_have_count(1)
    chat.wait_rest()
    expect(chat.input).to_have_value("Where is order 42?")
    chat.page.keyboard.press("Enter")
    chat.wait_rest(1)
    expect(chat.answers.last).to_contain_text("is shipped")


def test_read_back_in_peace_while_it_goes_on(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open().ask("A very long answer of 30 paragraphs").begin("Count slowly to 40")
    log = chat.transcript
    at_end = "(log) => log.scrollHeight - log.scrollTop - log.clientHeight < 4"
    chat.page.wait_for_function(at_end, arg=log.element_handle())
    expect(chat.page.locator("[data-live=true]")).to_contain_text("3")
    log.hover()
    chat.page.mouse.wheel(0, -900)
    chat.page.wait_for_function(f"(log) => !({at_end})(log)", arg=log.element_handle())
    place = log.evaluate("(log) => log.scrollTop")
    chat.wait_rest()
    assert abs(log.evaluate("(log) => log.scrollTop") - place) < 4
    chat.ask("Where is order 42?")
    chat.page.wait_for_function(at_end, arg=log.element_handle())


def test_see_a_report_progress(demo: DemoServer, visit: Visit) -> None:
    chat = Assistant(visit(demo).app).open()
    record(chat.page, "[data-card=activity] [role=progressbar]", "Number(element.getAttribute('aria-valuenow'))")
    chat.ask("Build the report")
    percents = recorded(chat.page)
    assert percents[-1] == 100
    assert percents == sorted(percents)
    assert len(percents) >= 2
