"""From events to cards, through the SDK's own pipeline."""

from typing import Any

import pytest

from client_sdk import Pipeline
from demo_app.state.cards_model import Card, Lane, Media
from demo_app.state.view import CallState, Surroundings, Transcript

START = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
END = {"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}


def media(part: Any) -> Media:
    return Media(part.type, name=part.source.value)


class Watched:
    """A transcript that follows a pipeline."""

    def __init__(self, **around: Any) -> None:
        self.pipeline = Pipeline(thread_id="t")
        self.transcript = Transcript()
        self.around = around
        self.feed([START])

    def feed(self, events: list[dict[str, Any]], *, active: bool = True) -> list[Card]:
        for event in events:
            updates = self.pipeline.feed_raw(event)
            assert self.pipeline.error is None
            for update in updates:
                if update.message_id is not None:
                    self.transcript.touch(update.message_id)
        self.transcript.look(self.pipeline.conversation.views, Surroundings(media, active=active, **self.around))
        return [*self.transcript.settled, *self.transcript.moving]


def text(identity: str, *deltas: str, end: bool = True, **more: Any) -> list[dict[str, Any]]:
    events = [{"type": "TEXT_MESSAGE_START", "messageId": identity, "role": "assistant", **more}]
    events += [{"type": "TEXT_MESSAGE_CONTENT", "messageId": identity, "delta": delta, **more} for delta in deltas]
    return events + ([{"type": "TEXT_MESSAGE_END", "messageId": identity, **more}] if end else [])


def call(identity: str, name: str, *deltas: str, end: bool = True, **more: Any) -> list[dict[str, Any]]:
    events = [{"type": "TOOL_CALL_START", "toolCallId": identity, "toolCallName": name, **more}]
    events += [{"type": "TOOL_CALL_ARGS", "toolCallId": identity, "delta": delta} for delta in deltas]
    return events + ([{"type": "TOOL_CALL_END", "toolCallId": identity}] if end else [])


def result(identity: str, content: Any) -> dict[str, Any]:
    return {"type": "TOOL_CALL_RESULT", "messageId": f"result-{identity}", "toolCallId": identity, "content": content}


def test_a_text_streams_apart_from_its_card_and_settles_when_the_run_goes_on() -> None:
    watched = Watched()
    (card,) = watched.feed(text("a", "Hel", "lo", end=False))
    assert (card.live, card.text, watched.transcript.live_text) == (True, "", "Hello")
    watched.feed([{"type": "TEXT_MESSAGE_END", "messageId": "a"}, *text("b", "next", end=False)])
    assert [one.text for one in watched.transcript.settled] == ["Hello"]
    watched.feed([{"type": "TEXT_MESSAGE_END", "messageId": "b"}, END], active=False)
    assert [one.text for one in watched.transcript.settled] == ["Hello", "next"]
    assert watched.transcript.live == ""


def test_arguments_fill_in_and_the_phase_follows() -> None:
    watched = Watched()
    (card,) = watched.feed(call("c", "mystery", '{"a": ', end=False))
    assert (card.phase, card.arguments) == ("streaming", '{"a": ')
    (card,) = watched.feed(
        [{"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "1}"}, {"type": "TOOL_CALL_END", "toolCallId": "c"}]
    )
    assert (card.phase, card.arguments) == ("running", '{\n  "a": 1\n}')
    (card,) = watched.feed([result("c", "It is done.")])
    assert (card.phase, card.result, card.body) == ("done", "It is done.", "")


@pytest.mark.parametrize(
    ("name", "content", "body"),
    [
        ("get_weather", '{"city": "Busan", "temperature_c": 7, "condition": "cloudy"}', "weather"),
        ("get_weather", '{"city": 7}', ""),
        ("get_weather", "no JSON", ""),
        ("check_stock", '{"products": []}', ""),
        ("navigate", '{"shown": "/orders", "title": "Orders"}', "facts"),
        ("place_order", 'You changed it. Run with: {}\n{"order_id": 121, "total_krw": 5}', "facts"),
    ],
)
def test_known_tools_get_their_body_when_the_data_fits(name: str, content: str, body: str) -> None:
    (card,) = Watched().feed([*call("c", name, "{}"), result("c", content)])
    assert (card.phase, card.body) == ("done", body)


def test_media_parts_of_a_result_reach_its_card() -> None:
    parts = [
        {"type": "text", "text": "Here"},
        {"type": "image", "source": {"type": "url", "value": "https://elsewhere.example/a.png"}},
        {"type": "document", "source": {"type": "file", "value": "file-7"}},
    ]
    (card,) = Watched().feed([*call("c", "look", "{}"), result("c", parts)])
    assert card.result == "Here"
    assert [one.name for one in card.media] == ["https://elsewhere.example/a.png", "file-7"]


@pytest.mark.parametrize("content", ["Error (unknown_order): there is none.", "Error: no"])
def test_an_error_text_of_the_agents_is_a_failure(content: str) -> None:
    (card,) = Watched().feed([*call("c", "lookup_order", "{}"), result("c", content)])
    assert card.phase == "failed"


def test_calls_of_an_ended_run_say_that_nothing_answered_them() -> None:
    watched = Watched()
    watched.feed([*call("c", "one", "{}"), *call("d", "two", '{"a', end=False)])
    cards = watched.feed([], active=False)
    assert [card.phase for card in cards] == ["unanswered", "unfinished"]


def test_what_the_application_knows_of_a_call_counts() -> None:
    watched = Watched(calls={"c": CallState("asking"), "d": CallState("refused", "unknown_tool")})
    cards = watched.feed([*call("c", "place_order", "{}"), *call("d", "rocket", "{}"), END], active=False)
    assert [(card.phase, card.note) for card in cards] == [("asking", ""), ("refused", "unknown_tool")]
    assert watched.transcript.settled == []


def test_a_declined_call_is_told_from_its_answer_alone() -> None:
    watched = Watched()
    watched.feed([*call("c", "place_order", "{}"), END], active=False)
    from ag_ui.core import ToolMessage

    watched.pipeline.conversation.add_answer(
        ToolMessage(id="x", tool_call_id="c", content="No.", error="declined: the user said no")
    )
    (card,) = watched.feed([], active=False)
    assert card.phase == "declined"


def test_an_activity_moves_and_is_done() -> None:
    watched = Watched()
    content = {"title": "Report", "steps": [{"label": "Read", "status": "running"}], "percent": 40}
    snapshot = {"type": "ACTIVITY_SNAPSHOT", "messageId": "a", "activityType": "report_progress", "content": content}
    (card,) = watched.feed([snapshot])
    assert (card.body, card.phase, card.percent, card.steps[0].label) == ("progress", "running", 40, "Read")
    patch = [{"op": "replace", "path": "/percent", "value": 100}]
    delta = {"type": "ACTIVITY_DELTA", "messageId": "a", "activityType": "report_progress", "patch": patch}
    (card,) = watched.feed([delta, END], active=False)
    assert (card.phase, card.percent) == ("done", 100)


def test_an_activity_of_any_shape_is_shown_as_data() -> None:
    content = {"steps": "many", "percent": True, "title": 7}
    event = {"type": "ACTIVITY_SNAPSHOT", "messageId": "a", "activityType": "odd", "content": content}
    (card,) = Watched().feed([event])
    assert (card.steps, card.percent, card.title) == ([], -1, "7")
    assert '"many"' in card.arguments


def test_subagents_work_in_lanes_behind_the_call_that_started_them() -> None:
    around = {"lanes": {"s1": Lane("s1", "first", status="running")}, "parents": {"s1": "c"}}
    watched = Watched(**around)
    started = {"type": "SUBAGENT_STARTED", "subagentRunId": "s1", "name": "first", "parentToolCallId": "c"}
    mine = {"subagentRunId": "s1"}
    cards = watched.feed([*call("c", "build", "{}"), started, *text("m", "I read.", **mine)])
    assert [card.kind for card in cards] == ["tool", "lanes"]
    (lane,) = cards[1].lanes
    assert (lane.name, [line.text for line in lane.lines]) == ("first", ["I read."])


def test_a_subagent_nobody_announced_gets_a_lane_once() -> None:
    cards = Watched().feed([*text("m", "one", subagentRunId="x"), *text("n", "two", subagentRunId="x")])
    assert [card.kind for card in cards] == ["lanes"]
    assert [line.text for line in cards[0].lanes[0].lines] == ["one", "two"]


def test_thoughts_are_their_own_card() -> None:
    events = [
        {"type": "REASONING_START", "messageId": "span"},
        {"type": "REASONING_MESSAGE_START", "messageId": "r", "role": "reasoning"},
        {"type": "REASONING_MESSAGE_CONTENT", "messageId": "r", "delta": "Hm."},
        {"type": "REASONING_MESSAGE_END", "messageId": "r"},
        {"type": "REASONING_END", "messageId": "span"},
    ]
    (card,) = Watched().feed(events)
    assert (card.kind, card.text, card.phase) == ("reasoning", "Hm.", "done")


def test_a_text_cut_off_by_the_end_stays_and_streams_no_more() -> None:
    watched = Watched()
    watched.feed(text("a", "half a", end=False))
    (card,) = watched.feed([], active=False)
    assert (card.text, card.phase, card.live) == ("half a", "done", False)
    assert watched.transcript.settled == [card]


def test_a_snapshot_that_rewrites_finished_messages_rewrites_their_cards() -> None:
    watched = Watched()
    watched.feed([*text("a", "old"), *text("b", "next")])
    version = watched.transcript.version
    snapshot = {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "a", "role": "assistant", "content": "new"}]}
    watched.transcript.reset()
    cards = watched.feed([snapshot])
    assert [card.text for card in cards] == ["new"]
    assert watched.transcript.version > version


def test_finished_cards_are_built_once() -> None:
    watched = Watched()
    watched.feed([*text("a", "one"), *text("b", "two")])
    first = watched.transcript.settled[0]
    watched.feed(text("c", "three", end=False))
    assert watched.transcript.settled[0] is first


def test_what_stands_behind_a_message_comes_behind_it() -> None:
    end = Card("end:1", "end", phase="failed")
    first = Card("end:0", "end")
    watched = Watched(after={"a": [end], "": [first]})
    cards = watched.feed([*text("a", "one"), *text("b", "two")])
    assert [card.key for card in cards] == ["end:0", "a", "end:1", "b"]


def test_a_card_behind_the_last_finished_message_joins_and_rewrites_nothing() -> None:
    after: dict[str, list[Card]] = {}
    watched = Watched(after=after)
    watched.feed([*text("a", "one"), END], active=False)
    version = watched.transcript.version
    after["a"] = [Card("end:1", "end")]
    watched.transcript.stand_behind("a")
    assert [card.key for card in watched.feed([], active=False)] == ["a", "end:1"]
    after["a"].append(Card("end:2", "end"))
    watched.transcript.stand_behind("a")
    assert [card.key for card in watched.feed([], active=False)] == ["a", "end:1", "end:2"]
    assert watched.transcript.version == version


def test_a_card_behind_an_earlier_message_is_put_in_its_place() -> None:
    after: dict[str, list[Card]] = {}
    watched = Watched(after=after)
    watched.feed([*text("a", "one"), *text("b", "two"), END], active=False)
    after["a"] = [Card("end:1", "end")]
    watched.transcript.stand_behind("a")
    assert [card.key for card in watched.feed([], active=False)] == ["a", "end:1", "b"]


def test_hostile_text_is_carried_as_text() -> None:
    hostile = "<script>alert(1)</script>"
    (card,) = Watched().feed([*call("c", hostile, f'{{"x": "{hostile}"}}'), result("c", hostile)])
    assert (card.title, card.result, card.body) == (hostile, hostile, "")
