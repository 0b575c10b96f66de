"""The two string-only sinks: a round trip changes nothing but what is announced (TC-5, VE-3)."""

from __future__ import annotations

import io
import json
import logging
import sqlite3
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from ag_ui.core import (
    AssistantMessage,
    Message,
    MessagesSnapshotEvent,
    RunFinishedEvent,
    TextMessageContentEvent,
    TextMessageEndEvent,
    TextPart,
    ToolCallResultEvent,
    ToolMessage,
    UserMessage,
)
from hypothesis import given
from hypothesis import strategies as st

from client_sdk.errors import ClientError, InputError
from client_sdk.legacy import (
    FlatMessage,
    SqliteTextSink,
    TextSink,
    TranscriptSink,
    flatten_message,
    read_transcript,
)

from .conftest import PlainThread, everything, image


class Kept:
    """A sink and a way to read back what it holds."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.path = folder / f"sink.{kind}"
        self.file = self.path.open("w", encoding="utf-8") if kind == "txt" else None
        self.sink: TextSink = TranscriptSink(self.file) if self.file else SqliteTextSink(self.path)

    def read(self, thread_id: str = "t-1") -> list[FlatMessage]:
        if isinstance(self.sink, SqliteTextSink):
            return self.sink.read(thread_id)
        # Universal newlines, the default: the harshest reading of a text file.
        with self.path.open(encoding="utf-8") as file:
            return read_transcript(file).get(thread_id, [])

    def close(self) -> None:
        if isinstance(self.sink, SqliteTextSink):
            self.sink.close()
        elif self.file:
            self.file.close()


@pytest.fixture(params=["txt", "db"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    kept = Kept(request.param, tmp_path)
    yield kept
    kept.close()


def stored(messages: list[Any]) -> list[FlatMessage]:
    """What a sink should hold of `messages`."""
    return [replace(flatten_message(message), dropped=()) for message in messages]


def test_a_round_trip_changes_nothing_but_what_is_announced(kept: Kept, thread: PlainThread) -> None:
    kept.sink.write_thread(thread)
    held = kept.read()
    assert held == stored(thread.messages)
    assert [message.body for message in held] == [
        "be brief",
        "line one\nline two\n\n",
        "look here",
        "e\u0301 is not \u00e9",
        None,
        "",
        None,
        "",
        '| > ~ --- === \\ " \t\x00\r\n\u2028\x85\x1b[2J 👩‍👩‍👧 𝔸',
        "--- user {}",
    ]
    assert held[5].fields["error"] == "the printer is on fire\x1b[31m"


def test_every_loss_is_announced_once_and_never_in_the_text(
    kept: Kept, thread: PlainThread, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, logger="client_sdk"):
        kept.sink.write_thread(thread)
        kept.sink.write_thread(thread)
        thread.messages.insert(0, UserMessage(id="m-new", content="first"))
        kept.sink.write_thread(thread)
        kept.sink.write_messages(thread.messages[3:4], thread_id=thread.id)
    assert [(d.code, d.path) for d in kept.sink.diagnostics] == [
        ("parts_dropped", "/messages/2/content/1"),
        ("parts_dropped", "/messages/5/content/0"),
        ("parts_dropped", "/messages/6/content"),
    ]
    assert [(r.name, r.levelname) for r in caplog.records] == [("client_sdk", "WARNING")] * 3
    assert "image (image/png, data source)" in caplog.text
    assert "image" not in json.dumps([message.body for message in kept.read()])


def test_the_same_loss_in_another_thread_or_another_part_is_another_loss(kept: Kept) -> None:
    first = PlainThread("t-1", [UserMessage(id="m", content=[image(), image()])])
    kept.sink.write_thread(first)
    kept.sink.write_thread(PlainThread("t-2", first.messages))
    assert len(kept.sink.diagnostics) == 4
    first.messages = [UserMessage(id="m", content=[image("b3RoZXI="), image()])]
    kept.sink.write_thread(first)
    assert len(kept.sink.diagnostics) == 5


def test_writing_again_changes_nothing(kept: Kept, thread: PlainThread) -> None:
    kept.sink.write_thread(thread)
    before = kept.path.read_bytes()
    kept.sink.write_thread(thread)
    assert kept.read() == stored(thread.messages)
    if kept.file:
        assert kept.path.read_bytes() == before


def test_grown_replaced_reordered_removed_and_readded_messages_follow(kept: Kept) -> None:
    a, b, c = (AssistantMessage(id=id_, content=id_) for id_ in "abc")
    steps: list[list[Message]] = [
        [a],
        [a, b],
        [AssistantMessage(id="a", content="a and more"), b, c],
        [c, a, b],
        [c],
        [],
        [c, b],
        [b, c],
    ]
    for messages in steps:
        kept.sink.write_thread(PlainThread("t-1", list(messages)))
        assert kept.read() == stored(messages)


def test_threads_stay_apart_with_equal_message_ids(kept: Kept) -> None:
    one, two = (PlainThread(id_, [UserMessage(id="m", content=id_)]) for id_ in ("t 1\n", 't "2"'))
    for thread in (one, two, one):
        kept.sink.write_thread(thread)
    one.messages.append(UserMessage(id="n", content="more"))
    kept.sink.write_thread(one)
    assert kept.read("t 1\n") == stored(one.messages)
    assert kept.read('t "2"') == stored(two.messages)


def test_messages_can_be_fed_a_few_at_a_time(kept: Kept) -> None:
    messages = everything()
    kept.sink.write_messages(messages[:4], thread_id="t-1")
    kept.sink.write_messages([messages[2], *messages[4:]], thread_id="t-1")
    assert kept.read() == stored(messages)


def test_a_malformed_message_writes_and_announces_nothing(kept: Kept) -> None:
    good = UserMessage(id="a", content=[image()])
    with pytest.raises(InputError) as caught:
        kept.sink.write_messages([good, {"id": "b", "role": "user", "content": [{"type": "text"}]}], thread_id="t")
    assert caught.value.path == "/messages/1/content/0/text"
    assert kept.read("t") == []
    assert kept.sink.diagnostics == []


def test_two_messages_of_one_id_are_both_kept(kept: Kept) -> None:
    one, two, three = (UserMessage(id="m", content=[TextPart(text=text), image()]) for text in "abc")
    between = AssistantMessage(id="x", content="-")
    steps: list[list[Message]] = [[one, between, two], [two, one], [three, two, one, between], [one, between]]
    for messages in steps:
        kept.sink.write_thread(PlainThread("t-1", list(messages)))
        assert kept.read() == stored(messages)
    assert len(kept.sink.diagnostics) == 3


@dataclass
class Update:
    """An update of a run, as far as sinks look."""

    event: Any
    message: Any = None


async def updates(thread: PlainThread, kept: Kept, seen: list[list[str]]) -> AsyncIterator[Update]:
    """A run that says something, calls, answers, restates and ends; notes what is held after each."""
    said = AssistantMessage(id="a", content="hel")
    thread.messages.append(said)
    yield Update(TextMessageContentEvent(message_id="a", delta="hel"), said)
    seen.append([message.id for message in kept.read()])
    said.content = "hello"
    yield Update(TextMessageEndEvent(message_id="a"), said)
    seen.append([message.id for message in kept.read()])
    answer = ToolMessage(id="r", tool_call_id="c", content=[TextPart(text="42"), image()])
    thread.messages.append(answer)
    yield Update(ToolCallResultEvent(message_id="r", tool_call_id="c", content=answer.content), answer)
    seen.append([message.id for message in kept.read()])
    thread.messages[:] = [thread.messages[1], thread.messages[2]]
    yield Update(MessagesSnapshotEvent(messages=thread.messages))
    seen.append([message.id for message in kept.read()])
    yield Update(TextMessageEndEvent(message_id="gone"))
    yield Update(TextMessageEndEvent(message_id="late"), AssistantMessage(id="late", content="x"))
    thread.messages.append(AssistantMessage(id="a", content="the same id again"))
    yield Update(TextMessageEndEvent(message_id="a"), thread.messages[-1])
    seen.append([message.id for message in kept.read()])
    yield Update("started")
    yield Update(RunFinishedEvent(thread_id="t-1", run_id="r-1"))


async def test_a_run_is_followed(kept: Kept) -> None:
    thread = PlainThread(messages=[UserMessage(id="u", content="hi")])
    seen: list[list[str]] = []
    passed = [update async for update in kept.sink.follow(thread, updates(thread, kept, seen))]
    assert len(passed) == 9
    assert kept.read() == stored(thread.messages)
    assert [diagnostic.path for diagnostic in kept.sink.diagnostics] == [
        "/messages/2/content/1" if isinstance(kept.sink, SqliteTextSink) else "/messages/1/content/1"
    ]
    if isinstance(kept.sink, SqliteTextSink):
        assert seen == [["u"], ["u", "a"], ["u", "a", "r"], ["a", "r"], ["a", "r", "a"]]
    else:
        assert seen == [[], [], [], [], []]


@pytest.mark.parametrize("how", ["error", "break"])
async def test_a_run_that_stops_midway_keeps_what_was_delivered(kept: Kept, how: str) -> None:
    thread = PlainThread(messages=[UserMessage(id="u", content="hi")])

    async def broken() -> AsyncIterator[Update]:
        said = AssistantMessage(id="a", content="hel")
        thread.messages.append(said)
        yield Update(TextMessageContentEvent(message_id="a", delta="hel"), said)
        raise ClientError("lost", code="connection_broken")

    async def consume() -> None:
        async with aclosing(kept.sink.follow(thread, broken())) as followed:
            async for _ in followed:
                if how == "break":
                    break

    if how == "error":
        with pytest.raises(ClientError, match="lost"):
            await consume()
    else:
        await consume()
    assert [message.body for message in kept.read()] == ["hi", "hel"]


hostile_text = st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from("\n\r\t\x00\x1b|~>-=\\\"' "))
any_text = st.text(st.characters() | st.sampled_from("\n\r\t\x00\x1b\x85\u2028|~>-=\\\"' "))


def messages_of(texts: st.SearchStrategy[str]) -> st.SearchStrategy[list[Any]]:
    """Any thread: every shape of content, ids that repeat."""
    assistant = st.builds(AssistantMessage, id=texts, content=st.none() | texts, name=st.none() | texts)
    tool = st.builds(ToolMessage, id=texts, content=texts, tool_call_id=texts, error=st.none() | texts)
    parts = st.lists(st.builds(TextPart, text=texts) | st.just(image()), max_size=3)
    user = st.builds(UserMessage, id=texts, content=texts | parts)
    return st.lists(assistant | tool | user, max_size=5)


@given(messages_of(any_text), any_text, st.sampled_from(["utf-8", "latin-1", "ascii", "utf-16"]))
def test_any_thread_survives_a_transcript_in_any_encoding(messages: list[Any], thread_id: str, encoding: str) -> None:
    raw = io.BytesIO()
    written = io.TextIOWrapper(raw, encoding=encoding)
    TranscriptSink(written).write_thread(PlainThread(thread_id, messages))
    file = io.TextIOWrapper(io.BytesIO(raw.getvalue()), encoding=encoding)
    assert read_transcript(file).get(thread_id, []) == stored(messages)


@given(st.lists(messages_of(st.sampled_from(["", "a", "b", "c\n", "d"])), max_size=4))
def test_any_history_of_writes_leaves_both_sinks_with_the_last_thread(history: list[list[Any]]) -> None:
    file = io.StringIO()
    transcript = TranscriptSink(file)
    with SqliteTextSink(":memory:") as database:
        for messages in history:
            for sink in (transcript, database):
                sink.write_thread(PlainThread("t", messages))
            assert read_transcript(file.getvalue().split("\n")).get("t", []) == stored(messages)
            assert database.read("t") == stored(messages)


@given(messages_of(hostile_text))
def test_any_thread_survives_sqlite(messages: list[Any]) -> None:
    with SqliteTextSink(":memory:") as sink:
        sink.write_thread(PlainThread("t-1", messages))
        assert sink.read("t-1") == stored(messages)


def test_a_transcript_reads_well_and_holds_no_control_character(thread: PlainThread) -> None:
    file = io.StringIO()
    TranscriptSink(file).write_thread(thread)
    text = file.getvalue()
    assert not set(text) & {chr(code) for code in (*range(9), *range(11, 32), *range(127, 160))}
    assert text.startswith(
        '=== thread "t-1"\n\n--- developer {"id": "m-0"}\n| be brief\n\n'
        '--- system {"id": "m-1", "name": "policy"}\n| line one\n| line two\n| \n| \n\n'
        '--- user {"id": "m-2", "name": "Ada"}\n| look here\n\n'
    )
    assert '~ | > ~ --- === \\\\ \\" \\t\\u0000\\r\n~ \\u2028\\u0085\\u001b[2J 👩‍👩‍👧 𝔸\n' in text
    assert '> {"id": "c-1", "type": "function", "function"' in text


@pytest.mark.parametrize(
    ("lines", "number"),
    [
        (["| text of nothing"], 1),
        (['=== thread "t"', "> {}"], 2),
        (["--- user {}"], 1),
        (['=== order ["a"]'], 1),
        (['=== thread "t"', '=== order ["a"]'], 2),
        (['=== thread "t"', "hello"], 2),
        (['=== thread "t"', "*** what {}"], 2),
        (['=== thread "t"', "--- user {"], 2),
        (['=== thread "t"', "--- user {}"], 2),
        (['=== thread "t"', "--- user []"], 2),
        (['=== thread "t"', '--- user {"id": ["m"]}'], 2),
        (['=== thread "t"', "--- user"], 2),
        (['=== thread "t"', '=== order [["m"]]'], 2),
        (['=== thread "t"', "=== order [7]"], 2),
        (['=== thread "t"', '--- user#x {"id": "m"}'], 2),
        (['=== thread "t"', '--- user "id"'], 2),
        (['=== thread "t"', '--- user {"id": "m"}', "~ \\x"], 3),
    ],
)
def test_a_file_that_is_no_transcript_is_refused_by_line(lines: list[str], number: int) -> None:
    with pytest.raises(ClientError, match=f"line {number} ") as caught:
        read_transcript([f"{line}\n" for line in lines] + ['=== thread "end"'])
    assert caught.value.code == "malformed_transcript"


def test_trailing_spaces_may_be_trimmed_off_an_empty_line() -> None:
    held = read_transcript(['=== thread "t"', '--- user {"id": "m"}', "|"])
    assert held["t"][0].body == ""


def test_a_closed_file_is_a_sink_error(thread: PlainThread) -> None:
    file = io.StringIO()
    sink = TranscriptSink(file)
    file.close()
    with pytest.raises(ClientError, match="transcript could not be written") as caught:
        sink.write_thread(thread)
    assert caught.value.code == "sink_failed"
    assert sink.diagnostics == []


def test_the_table_is_plain_sql_with_a_text_body(tmp_path: Path, thread: PlainThread) -> None:
    path = tmp_path / "legacy.db"
    with SqliteTextSink(path, table='my "chat"') as sink:
        sink.write_thread(thread)
    connection = sqlite3.connect(path)
    try:
        rows = connection.execute(
            'SELECT position, message_id, role, typeof(body), tool_call_id FROM "my ""chat""" ORDER BY position'
        ).fetchall()
    finally:
        connection.close()
    assert rows[4:6] == [(4, "m-4", "assistant", "null", None), (5, "m-5", "tool", "text", "c-1")]
    assert {row[3] for row in rows} == {"text", "null"}


@pytest.mark.parametrize("field", ["id", "content", "name"])
def test_sqlite_refuses_a_lone_surrogate_and_writes_nothing(field: str) -> None:
    message = {"id": "m", "role": "user", "content": "x", field: "ab\ud800"}
    with SqliteTextSink(":memory:") as sink:
        with pytest.raises(InputError, match="lone surrogate at character 2") as caught:
            sink.write_messages([{"id": "ok", "role": "user", "content": "x"}, message], thread_id="t")
        assert sink.read("t") == []
    assert (caught.value.code, caught.value.path) == ("unstorable_text", "/messages/1")


def test_sqlite_refuses_to_turn_a_number_into_text() -> None:
    with (
        SqliteTextSink(":memory:") as sink,
        pytest.raises(InputError, match="the name of message 0 is no string"),
    ):
        sink.write_messages([{"id": "m", "role": "user", "content": "x", "name": 5}], thread_id="t")


def test_a_database_that_cannot_be_opened_is_a_sink_error(tmp_path: Path) -> None:
    with pytest.raises(ClientError, match="unable to open database file") as caught:
        SqliteTextSink(tmp_path / "missing" / "x.db")
    assert caught.value.code == "sink_failed"


def test_a_failing_write_leaves_the_table_as_it_was() -> None:
    connection = sqlite3.connect(":memory:")
    try:
        sink = SqliteTextSink(connection)
        sink.write_thread(PlainThread("t", [UserMessage(id="a", content="old")]))
        connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON messages WHEN NEW.message_id = 'c'"
            " BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
        with pytest.raises(ClientError, match="disk full"):
            sink.write_thread(
                PlainThread("t", [UserMessage(id="b", content=[image()]), UserMessage(id="c", content="x")])
            )
        assert [message.id for message in sink.read("t")] == ["a"]
        assert sink.diagnostics == []
        connection.execute("DROP TRIGGER full")
        connection.execute(
            "CREATE TRIGGER gone BEFORE INSERT ON messages BEGIN SELECT RAISE(ROLLBACK, 'all undone'); END"
        )
        with pytest.raises(ClientError, match="all undone"):
            sink.write_thread(PlainThread("t", [UserMessage(id="c", content="x")]))
        assert [message.id for message in sink.read("t")] == ["a"]
    finally:
        connection.close()


def test_a_connection_with_a_transaction_open_keeps_control_of_it() -> None:
    connection = sqlite3.connect(":memory:")
    connection.row_factory = sqlite3.Row
    try:
        sink = SqliteTextSink(connection)
        connection.execute("BEGIN")
        sink.write_thread(PlainThread("t", [UserMessage(id="a", content="x")]))
        assert connection.in_transaction
        connection.rollback()
        assert sink.read("t") == []
        sink.write_thread(PlainThread("t", [UserMessage(id="a", content="x")]))
        assert not connection.in_transaction
        sink.close()
        assert [message.id for message in sink.read("t")] == ["a"]
    finally:
        connection.close()
