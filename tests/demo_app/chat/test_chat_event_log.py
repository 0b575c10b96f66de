"""The inspector's lines: what streams one message is one line, everything else is a line of its own."""

import json

from demo_app.state.event_log import LINES_KEPT, SUMMARY, EventLog


def event(kind: str, **fields: object) -> str:
    return json.dumps({"type": kind, **fields})


def piece(message: str, delta: str, kind: str = "TEXT_MESSAGE_CONTENT") -> str:
    return event(kind, messageId=message, delta=delta)


def shown(log: EventLog) -> list[tuple[str, int, int]]:
    return [(line.type, line.count, line.length) for line in reversed(list(log.latest(LINES_KEPT)))]


def test_pieces_of_one_message_in_a_row_are_one_line() -> None:
    log = EventLog()
    for payload in (
        event("RUN_STARTED"),
        event("TEXT_MESSAGE_START", messageId="a"),
        *(piece("a", word) for word in ("one ", "two ", "three")),
        event("TEXT_MESSAGE_END", messageId="a"),
    ):
        log.note(payload)
    assert shown(log) == [
        ("RUN_STARTED", 1, 0),
        ("TEXT_MESSAGE_START", 1, 0),
        ("TEXT_MESSAGE_CONTENT", 3, 13),
        ("TEXT_MESSAGE_END", 1, 0),
    ]
    assert log.count == 6
    assert next(iter(list(log.latest(2))[1:])).last == piece("a", "three")


def test_another_message_kind_or_event_begins_another_line() -> None:
    log = EventLog()
    for payload in (
        piece("a", "1"),
        piece("b", "22"),
        piece("b", "333", "REASONING_MESSAGE_CONTENT"),
        event("STATE_DELTA", delta=[]),
        event("STATE_DELTA", delta=[]),
        piece("b", "4"),
        event("TOOL_CALL_ARGS", toolCallId="c", delta="{"),
        event("TOOL_CALL_ARGS", toolCallId="c", delta="}"),
        event("TOOL_CALL_ARGS", toolCallId="d", delta="{}"),
    ):
        log.note(payload)
    assert [(count, length) for _, count, length in shown(log)] == [
        *((1, 1), (1, 2), (1, 3), (1, 0), (1, 0), (1, 1), (2, 2), (1, 2)),
    ]


def test_a_line_keeps_its_number_while_it_grows() -> None:
    log = EventLog()
    log.note(event("RUN_STARTED"))
    numbers = set()
    for _ in range(5):
        log.note(piece("a", "x"))
        numbers.add(next(log.latest(1)).number)
    assert numbers == {2}


def test_what_is_no_event_is_a_line_all_the_same() -> None:
    log = EventLog()
    for payload in ("no json", "[1]", "7", '{"type": "TEXT_MESSAGE_CONTENT", "delta": 5}', "[" * 100_000):
        log.note(payload)
    assert [kind for kind, _, _ in shown(log)] == ["?", "?", "?", "TEXT_MESSAGE_CONTENT", "?"]


def test_a_long_conversation_stays_light() -> None:
    log = EventLog()
    for number in range(2_000):
        log.note(event("RUN_STARTED", runId=number))
        log.note(piece(str(number), "y" * 10_000))
    lines = list(log.latest(10 * LINES_KEPT))
    assert len(lines) == LINES_KEPT
    assert all(len(line.last) <= SUMMARY for line in lines)
    assert log.count == 4_000
