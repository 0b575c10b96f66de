"""What a page is sent: each card a bounded number of times, a token next to nothing, whatever the length."""

from typing import Any

from demo_app.state.cards_model import Card
from demo_app.state.feed import KEEP, MORE, RECENT, WINDOW, Feed, Pace, weight


class Shown:
    """A transcript by hand."""

    def __init__(self, count: int = 0) -> None:
        self.settled = [card(number) for number in range(count)]
        self.moving: list[Card] = []
        self.version = 0
        self.live = ""
        self.live_text = ""


def card(number: int) -> Card:
    return Card(f"m{number}", "text", text=f"Message {number}. " + "words " * 60)


def sent(feed: Feed, shown: Any, **more: Any) -> dict[str, Any]:
    changes = feed.changes(shown, more, active=bool(shown.live))
    feed.flushed(changes)
    return changes


def page(feed: Feed) -> list[str]:
    """The keys of the finished cards that the page holds."""
    return [one.key for one in [*feed._sent["archive"], *feed._sent["recent"]]]


def test_nothing_changed_sends_nothing() -> None:
    feed, shown = Feed(), Shown(5)
    assert sent(feed, shown)
    assert sent(feed, shown) == {}


def test_unsent_changes_are_not_lost() -> None:
    feed, shown = Feed(), Shown()
    feed.changes(shown, {}, active=False)  # type: ignore[arg-type]
    shown.settled.append(card(0))
    feed.changes(shown, {}, active=False)  # type: ignore[arg-type]
    assert [one.key for one in sent(feed, shown)["recent"]] == ["m0"]


def test_a_page_shows_every_card_once_while_a_conversation_grows() -> None:
    feed, shown = Feed(), Shown()
    for number in range(WINDOW):
        shown.settled.append(card(number))
        sent(feed, shown)
        assert page(feed) == [f"m{index}" for index in range(number + 1)]


def test_a_card_that_joins_costs_the_same_at_any_length() -> None:
    costs = []
    for length in (10, 1_000):
        feed, shown, total = Feed(), Shown(length), 0
        sent(feed, shown)
        for number in range(4 * RECENT):
            shown.settled.append(card(length + number))
            total += weight(sent(feed, shown))
        costs.append(total)
    assert costs[1] < costs[0] * 3


def test_a_token_costs_the_same_at_any_length() -> None:
    for length in (10, 1_000):
        feed, shown = Feed(), Shown(length)
        shown.live = "now"
        sent(feed, shown)
        shown.live_text = "A few words"
        changes = sent(feed, shown)
        assert set(changes) == {"tail"}
        assert weight(changes) < 300


def test_a_long_past_is_shown_when_asked_for_and_stays() -> None:
    feed, shown = Feed(), Shown(1_000)
    assert sent(feed, shown)["earlier"] == 1_000 - KEEP - WINDOW
    feed.show_earlier()
    assert sent(feed, shown)["earlier"] == 1_000 - KEEP - WINDOW - MORE
    shown.settled.append(card(1_000))
    assert "archive" not in sent(feed, shown)
    for _ in range(10):
        feed.show_earlier()
    sent(feed, shown)
    assert page(feed) == [f"m{index}" for index in range(1_001)]


def test_messages_taken_back_leave_the_page() -> None:
    feed, shown = Feed(), Shown(30)
    sent(feed, shown)
    del shown.settled[5:]
    shown.version += 1
    sent(feed, shown)
    assert page(feed) == [f"m{index}" for index in range(5)]


def test_a_replaced_card_is_sent_in_its_place() -> None:
    feed, shown = Feed(), Shown(8)
    sent(feed, shown)
    shown.settled[2] = Card("m2", "text", text="other")
    shown.version += 1
    sent(feed, shown)
    assert page(feed) == [f"m{index}" for index in range(8)]
    assert next(one for one in feed._sent["archive"] if one.key == "m2").text == "other"


def test_the_first_flush_goes_at_once_and_then_at_most_20_a_second() -> None:
    pace, now, flushes = Pace(), 100.0, []
    assert pace.wait(now, 200, 1) == 0
    for event in range(2_000):
        now += 0.001
        if pace.wait(now, 200, event + 1) <= 0:
            pace.flushed(now, 200)
            flushes.append(now)
    assert len(flushes) <= 2 * 20 + 1
    assert len(flushes) >= 2 * 15


def test_a_text_that_begins_does_not_wait_for_tokens() -> None:
    feed, shown, pace = Feed(), Shown(30), Pace()
    sent(feed, shown)
    pace.wait(0.0, 0, 0)
    pace.flushed(0.0, 0)
    shown.live, shown.live_text = "m", "Hel"
    feed.changes(shown, {}, active=True)  # type: ignore[arg-type]
    assert feed.begins
    assert pace.wait(Pace.INTERVAL, 9_000, 1, urgent=feed.begins) == 0
    sent(feed, shown)
    assert not feed.begins


def test_a_dear_flush_waits_for_tokens_but_not_long() -> None:
    pace = Pace()
    pace.wait(0.0, 200, 1)
    pace.flushed(0.0, 200)
    assert pace.wait(0.1, 20_000, 2) > 0
    assert pace.wait(Pace.PATIENCE, 20_000, 3) == 0
