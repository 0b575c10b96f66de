"""The engine against the real agent over HTTP: turns, decisions, stops, restarts."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from client_sdk import JournalEvent
from demo_app.state import engine, places
from demo_app.state.browser import BRIDGE
from demo_app.state.cards_model import Card
from demo_app.state.feed import Feed, weight
from demo_app.state.forms import PREFIX
from demo_app.state.inspector import call_rows, event_rows, journal_rows, legacy_rows
from demo_app.state.shop_state import shop
from demo_app.state.suggestions import next_suggestions

from .conftest import VISITOR, Room

Kind = Callable[[list[Card], str], list[Card]]


def tool(cards: list[Card], name: str) -> Card:
    """The last card of a tool."""
    return [card for card in cards if card.kind == "tool" and card.title == name][-1]


def form(**values: Any) -> dict[str, str]:
    return {PREFIX + name: str(value) for name, value in values.items()}


def orders() -> int:
    return len(shop().orders())


async def test_a_question_is_answered_with_a_card_and_a_text(room: Room, cards_of: Kind) -> None:
    cards = await room.ask(room.open(), "Where is order 42?")
    assert [card.kind for card in cards] == ["user", "tool", "text", "end"]
    assert (cards[1].body, cards[1].orders[0].number) == ("orders", 42)
    assert "shipped" in cards[2].text
    assert cards[3].phase == "completed"


async def test_everything_is_there_again_after_the_process_is_killed(room: Room) -> None:
    before = await room.ask(room.open(), "Build the report")
    before = await room.ask(room.open(), "Show invoice 42")
    room.forget()
    assert room.cards(room.open()) == before


async def test_a_run_that_a_kill_cuts_off_is_told_and_what_was_finished_stays(room: Room, cards_of: Kind) -> None:
    chat = room.open()
    await room.ask(chat, "Where is order 42?")
    chat.send("Count slowly to 30")
    await room.until(lambda: "2" in chat.look().live_text)
    room.forget()
    again = room.open()
    cards = room.cards(again)
    assert [card.text for card in cards_of(cards, "user")] == ["Where is order 42?", "Count slowly to 30"]
    assert cards[-1].phase == "restarted"
    cards = await room.ask(again, "Where is order 7?")
    assert cards[-1].phase == "completed"


async def test_an_order_waits_for_a_word_and_runs_once(room: Room) -> None:
    chat, before = room.open(), None
    cards = await room.ask(chat, "Order 3 hand grinders for customer 5")
    asked = tool(cards, "place_order")
    before = orders()
    assert (asked.phase, {field.name: field.value for field in asked.fields}[PREFIX + "quantity"]) == ("asking", "3")
    values = form(customer_id=5, sku="GRND-01", quantity=3, note="")
    chat.approve(asked.call_id, values)
    chat.approve(asked.call_id, values)
    cards = await room.rest(chat)
    chat.approve(asked.call_id, values)
    await room.rest(chat)
    assert tool(cards, "place_order").phase == "done"
    assert orders() == before + 1


async def test_an_edited_order_runs_as_edited_and_says_so(room: Room) -> None:
    chat = room.open()
    asked = tool(await room.ask(chat, "Order 3 hand grinders for customer 5"), "place_order")
    chat.approve(asked.call_id, form(customer_id=5, sku="GRND-01", quantity=2, note="soon"))
    done = tool(await room.rest(chat), "place_order")
    assert (done.phase, done.body) == ("done", "facts")
    assert "edited" in done.result
    assert shop().orders()[0].lines[0].quantity == 2


@pytest.mark.parametrize("quantity", ["0", "501", "many", ""])
async def test_an_edit_that_does_not_fit_is_said_at_its_field_and_nothing_runs(room: Room, quantity: str) -> None:
    chat = room.open()
    asked = tool(await room.ask(chat, "Order 3 hand grinders for customer 5"), "place_order")
    before = orders()
    chat.approve(asked.call_id, form(customer_id=5, sku="GRND-01", quantity=quantity, note=""))
    shown = tool(await room.rest(chat), "place_order")
    assert shown.phase == "asking"
    assert [field.name for field in shown.fields if field.error] == [PREFIX + "quantity"]
    assert orders() == before


async def test_a_declined_order_does_not_happen_and_the_agent_hears_it(room: Room, cards_of: Kind) -> None:
    chat = room.open()
    asked = tool(await room.ask(chat, "Order 3 hand grinders for customer 5"), "place_order")
    before = orders()
    chat.decline(asked.call_id, "")
    cards = await room.rest(chat)
    assert tool(cards, "place_order").phase == "declined"
    assert "declined" in cards_of(cards, "text")[-1].text
    assert orders() == before


async def test_a_decision_outlives_the_process(room: Room) -> None:
    chat = room.open()
    asked = tool(await room.ask(chat, "Order 3 hand grinders for customer 5"), "place_order")
    room.forget()
    chat = room.open()
    assert tool(room.cards(chat), "place_order").phase == "asking"
    chat.approve(asked.call_id, form(customer_id=5, sku="GRND-01", quantity=3, note=""))
    await room.rest(chat)
    placed = orders()
    room.forget()
    chat = room.open()
    assert tool(room.cards(chat), "place_order").phase == "done"
    chat.approve(asked.call_id, form(customer_id=5, sku="GRND-01", quantity=3, note=""))
    await room.rest(chat)
    assert orders() == placed


async def test_an_order_that_was_started_before_a_kill_is_not_run_again(room: Room) -> None:
    chat = room.open()
    asked = tool(await room.ask(chat, "Order 3 hand grinders for customer 5"), "place_order")
    call = chat.runner.open_calls[0]
    call.approve()
    assert chat.runner.board.start(call)
    before = orders()
    room.forget()
    chat = room.open()
    shown = tool(room.cards(chat), "place_order")
    assert (shown.phase, shown.note) == ("open", "may_have_happened")
    chat.approve(asked.call_id, None)
    await room.rest(chat)
    assert orders() == before
    chat.give_up(asked.call_id)
    assert tool(await room.rest(chat), "place_order").phase == "effect_unknown"
    assert orders() == before


async def test_going_on_without_a_word_declines_the_call(room: Room) -> None:
    chat = room.open()
    await room.ask(chat, "Order 3 hand grinders for customer 5")
    before = orders()
    cards = await room.ask(chat, "Where is order 42?")
    assert tool(cards, "place_order").phase == "declined"
    assert orders() == before
    assert cards[-1].phase == "completed"


async def test_a_transfer_asks_with_a_form_and_takes_the_answer(room: Room, cards_of: Kind) -> None:
    chat = room.open()
    cards = await room.ask(chat, "Transfer 50,000 won to Harbor Beans for the refund")
    question = cards[-1]
    assert (question.kind, question.phase) == ("interrupt", "open")
    assert [field.name for field in question.fields] == [PREFIX + name for name in ("approved", "amount_krw", "memo")]
    assert question.verdict == PREFIX + "approved"
    chat.answer_interrupt(question.call_id, form(approved="true", amount_krw="-4", memo=""))
    question = room.cards(chat)[-1]
    assert [field.name for field in question.fields if field.error] == [PREFIX + "amount_krw"]
    chat.answer_interrupt(question.call_id, form(approved="true", amount_krw="40000", memo="x"))
    cards = await room.rest(chat)
    assert tool(cards, "transfer_funds").phase == "done"
    assert cards_of(cards, "decision")[0].phase == "approved"
    assert cards_of(cards, "interrupt") == []


async def test_a_declined_transfer_is_no_failure_and_needs_no_sound_form(room: Room, cards_of: Kind) -> None:
    chat = room.open()
    question = (await room.ask(chat, "Transfer 50,000 won to Harbor Beans for the refund"))[-1]
    assert next_suggestions(chat) == []
    chat.answer_interrupt(question.call_id, form(approved="false", amount_krw="0", memo=""))
    cards = await room.rest(chat)
    assert cards_of(cards, "decision")[0].phase == "declined"
    assert tool(cards, "transfer_funds").phase == "declined"


async def test_an_order_is_asked_about_with_its_names_and_prices(room: Room) -> None:
    cards = await room.ask(room.open(), "Order 3 hand grinders for customer 5")
    customer, grinder = shop().customer(5), shop().product("GRND-01")
    assert customer is not None
    assert grinder is not None
    facts = tool(cards, "place_order").facts
    assert [fact.value_ko for fact in facts[:2]] == [customer.name_ko, grinder.name_ko]
    assert f"₩{3 * grinder.price_krw:,}" in facts[3].value


async def test_a_question_survives_the_process_and_can_be_cancelled(room: Room, cards_of: Kind) -> None:
    await room.ask(room.open(), "Transfer 50,000 won to Harbor Beans for the refund")
    room.forget()
    chat = room.open()
    question = room.cards(chat)[-1]
    assert question.kind == "interrupt"
    chat.answer_interrupt(question.call_id, None)
    cards = await room.rest(chat)
    assert cards_of(cards, "decision")[0].phase == "cancelled"
    assert tool(cards, "transfer_funds").phase != "done"


async def test_stop_ends_the_run_at_once_and_the_thread_goes_on(room: Room) -> None:
    chat = room.open()
    chat.send("Count slowly to 30")
    await room.until(lambda: "2" in chat.look().live_text)
    chat.stop()
    cards = await room.rest(chat)
    assert cards[-1].phase == "stopped"
    assert "30" not in cards[-2].text
    assert (await room.ask(chat, "Where is order 42?"))[-1].phase == "completed"


async def test_stop_stops_a_tool_and_its_late_answer_changes_nothing(room: Room) -> None:
    chat = room.open()
    tab = BRIDGE.open(chat.id, lambda: None)
    chat.send("Highlight the revenue chart")
    await room.until(lambda: tab._waiting)
    tab.take()
    call_id = tool(room.cards(chat), "highlight").call_id
    chat.stop()
    cards = await room.rest(chat)
    assert tool(cards, "highlight").phase == "cancelled"
    assert not BRIDGE.answered(call_id, json.dumps({"ok": True, "result": {}}), tab)
    BRIDGE.close(tab)
    assert room.cards(chat) == cards


async def test_a_browser_tool_answers_what_the_page_says(room: Room) -> None:
    chat = room.open()
    tab = BRIDGE.open(chat.id, lambda: None)
    chat.send("Highlight the revenue chart")
    await room.until(lambda: tab._waiting)
    tab.take()
    call_id = tool(room.cards(chat), "highlight").call_id
    said = json.dumps({"ok": True, "result": {"found": True, "element": "revenue-chart"}})
    assert BRIDGE.answered(call_id, said, tab)
    card = tool(await room.rest(chat), "highlight")
    BRIDGE.close(tab)
    assert (card.phase, card.body) == ("done", "facts")


async def test_a_chart_is_the_end_of_the_turn(room: Room) -> None:
    cards = await room.ask(room.open(), "Show a chart of revenue")
    assert [card.kind for card in cards][-2:] == ["tool", "end"]
    assert (tool(cards, "show_chart").body, len(tool(cards, "show_chart").chart.marks)) == ("chart", 12)


@pytest.mark.parametrize(
    ("words", "phase"),
    [
        ("run error", "failed"),
        ("run error at once", "failed"),
        ("http error", "unreachable"),
        ("cut", "truncated"),
        ("cancelled", "cancelled"),
        ("broken rule", "rejected"),
        ("not json", "rejected"),
        ("event after the end", "rejected"),
    ],
)
async def test_each_end_of_a_run_is_shown_as_what_it_is(room: Room, words: str, phase: str, cards_of: Kind) -> None:
    chat = room.open()
    cards = await room.ask(chat, f"mischief: {words}")
    assert cards_of(cards, "end")[-1].phase == phase
    assert (await room.ask(chat, "Where is order 42?"))[-1].phase == "completed"


@pytest.mark.parametrize(
    "words", ["cut after call", "run error after call", "cancelled after call", "unadvertised tool"]
)
async def test_no_call_of_a_run_that_ended_badly_runs(room: Room, words: str) -> None:
    before = orders()
    chat = room.open()
    await room.ask(chat, f"mischief: {words}")
    entries = places.journal().entries(chat.id)
    assert JournalEvent.STARTED not in {entry.event for entry in entries}
    assert orders() == before


async def test_a_call_before_a_break_can_be_run_by_the_visitor(room: Room) -> None:
    chat, before = room.open(), orders()
    card = tool(await room.ask(chat, "mischief: cut after call"), "place_order")
    assert (card.phase, card.note) == ("open", "run_truncated")
    chat.approve(card.call_id, None)
    assert tool(await room.rest(chat), "place_order").phase == "done"
    assert orders() == before + 1


@pytest.mark.parametrize("words", ["malformed arguments", "huge quantity", "wrong argument types", "javascript url"])
async def test_hostile_arguments_are_refused_and_told(room: Room, words: str, cards_of: Kind) -> None:
    cards = await room.ask(room.open(), f"mischief: {words}")
    assert [card.phase for card in cards_of(cards, "tool")] == ["refused"]


async def test_an_agent_that_does_not_stop_is_stopped(room: Room, cards_of: Kind) -> None:
    chat = room.open()
    tab = BRIDGE.open(chat.id, lambda: None)

    async def answering() -> None:
        while True:
            await asyncio.sleep(0.002)
            for call in list(BRIDGE._calls.values()):
                tab.take()
                BRIDGE.answered(call.id, json.dumps({"ok": True, "result": {"found": True, "element": "x"}}), tab)

    page = asyncio.create_task(answering())
    cards = await room.ask(chat, "mischief: endless frontend calls")
    page.cancel()
    BRIDGE.close(tab)
    assert chat.notice == "follow_up_limit"
    assert len(cards_of(cards, "tool")) == 26


async def test_regenerate_takes_the_last_answer_back(room: Room) -> None:
    chat = room.open()
    await room.ask(chat, "Where is order 7?")
    first = await room.ask(chat, "Where is order 42?")
    chat.regenerate()
    second = await room.rest(chat)
    assert [card.kind for card in second] == [card.kind for card in first]
    assert second[5].key != first[5].key
    room.forget()
    assert room.cards(room.open()) == second


async def test_an_edited_message_replaces_what_followed(room: Room, cards_of: Kind) -> None:
    chat = room.open()
    cards = await room.ask(chat, "Where is order 7?")
    await room.ask(chat, "Show invoice 42")
    chat.edit(cards[0].message_id, "Where is order 42?")
    cards = await room.rest(chat)
    assert [card.text for card in cards_of(cards, "user")] == ["Where is order 42?"]
    assert len(cards_of(cards, "end")) == 1


async def test_a_page_that_leaves_does_not_stop_the_run(room: Room) -> None:
    chat = room.open()
    listener = next(iter(chat.listeners))
    chat.send("Count to 9")
    chat.leave(listener)
    assert engine.CHATS[chat.id] is chat
    await room.until(lambda: chat.id not in engine.CHATS)
    assert "9" in room.cards(room.open())[-2].text


async def test_two_threads_run_side_by_side_and_share_nothing(room: Room, cards_of: Kind) -> None:
    one, other = room.open("one"), room.open("other")
    one.send("Where is order 42?")
    other.send("Where is order 7?")
    first, second = await room.rest(one), await room.rest(other)
    assert "Order 42" in cards_of(first, "text")[0].text
    assert "Order 7" in cards_of(second, "text")[0].text
    assert len(first) == len(second) == 4


async def test_an_agent_that_is_down_is_told_and_asked_again(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    from demo_app.state import agent_link

    chat = room.open()
    working = agent_link.agent()
    agent_link.agent.cache_clear()
    with monkeypatch.context() as patch:
        patch.setenv("AGENT_URL", "http://127.0.0.1:9/agent")
        chat._make(chat.thread.messages, chat.thread.state)
        cards = await room.ask(chat, "Where is order 42?")
        await agent_link.agent().aclose()
    agent_link.agent.cache_clear()
    await working.aclose()
    assert (cards[-1].phase, cards[-1].note) == ("unreachable", "connection_failed")
    chat._make(chat.thread.messages, chat.thread.state)
    chat.regenerate()
    assert (await room.rest(chat))[-1].phase == "completed"


async def test_a_turn_costs_a_page_the_same_in_a_short_and_in_a_long_conversation(room: Room) -> None:
    costs = []
    for length in (10, 1_000):
        chat = room.open(f"thread-{length}")
        told = {
            f"m{n}": (n, {"id": f"m{n}", "role": "user", "content": f"Message {n}. " + "words " * 50})
            for n in range(length)
        }
        await chat.end()
        places.store().save(chat.id, changed=told)
        chat, feed, total = room.open(chat.id), Feed(), 0
        feed.flushed(feed.changes(chat.look(), {}, active=False))
        chat.send("Count slowly to 30")
        while True:
            active = chat.active
            changes = feed.changes(chat.look(), {}, active=active)
            total += weight(changes) if changes else 0
            feed.flushed(changes)
            if not active:
                break
            await asyncio.sleep(0.005)
        costs.append(total)
    assert costs[1] < costs[0] * 1.5
    assert costs[1] / 30 < 1_000


async def test_the_recording_is_what_came_over_the_wire(room: Room) -> None:
    chat = room.open()
    await room.ask(chat, "mischief: not json")
    (run,) = places.store().runs(chat.id)
    recording = places.store().recording(run.seq)
    assert json.loads(recording[0])["type"] == "RUN_STARTED"
    with pytest.raises(ValueError, match="Expecting"):
        json.loads(recording[-1])
    assert event_rows(chat)[0].first == "?"


async def test_the_inspector_sees_calls_journal_and_losses(room: Room) -> None:
    chat = room.open()
    await room.ask(chat, "Show invoice 42")
    await room.ask(chat, "Order 3 hand grinders for customer 5")
    assert [row.first for row in call_rows(chat)] == ["place_order"]
    assert [row.second for row in journal_rows(chat)] == ["consent_asked", "offered"]
    lost = [row.third for row in legacy_rows(chat) if row.third]
    assert lost == ["document (application/pdf, data source), image (image/png, data source)"]


async def test_a_deleted_thread_is_gone_with_its_run(room: Room) -> None:
    chat = room.open()
    chat.send("Count slowly to 30")
    await room.until(lambda: chat.look().live_text)
    await chat.end()
    places.store().delete(chat.id)
    assert engine.open_chat(chat.id) is None
    assert places.store().threads(VISITOR) == []


async def test_pages_of_a_deleted_thread_are_told(room: Room) -> None:
    chat, told = room.open(), []
    chat.follow(lambda: told.append(chat.over))
    await chat.end()
    assert told == [True]
