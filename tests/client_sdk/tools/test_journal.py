"""The journal: append-only, atomic across processes, nothing lost (FT-8)."""

from __future__ import annotations

import multiprocessing
import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from ag_ui.core import ToolMessage

from client_sdk.errors import JournalError, OptionError
from client_sdk.tools.calls import CallOutcome, RunStatus
from client_sdk.tools.gate import JournalState
from client_sdk.tools.journal import (
    CallRecord,
    Journal,
    JournalEntry,
    JournalEvent,
    MemoryJournal,
    SqliteJournal,
    fold,
    utc_now,
)

AT = datetime(2026, 11, 30, 12, 0, 0, 123456, UTC)
ANSWER = {"id": "m1", "role": "tool", "content": [{"type": "text", "text": "\ud83d ü\x00"}], "toolCallId": "c1"}


def entry(event: JournalEvent, **details: Any) -> JournalEntry:
    return JournalEntry(**{"thread_id": "t1", "call_id": "c1", "event": event, "at": AT, **details})


FULL = [
    entry(
        JournalEvent.OFFERED,
        tool="nav",
        run_id="r1",
        run_status=RunStatus.COMPLETED,
        arguments='{"a": "\ud800"}',
        complete=False,
        advertised=False,
        replayed=True,
        interrupt="i1",
    ),
    entry(JournalEvent.CONSENT_ASKED, arguments_hash="h1"),
    entry(JournalEvent.GRANTED, arguments="{}", arguments_hash="h1", policy=True),
    entry(JournalEvent.STARTED, arguments="{}", arguments_hash="h1"),
    entry(JournalEvent.ANSWERED, outcome=CallOutcome.SUCCEEDED, reason="x", message=ANSWER),
]


@pytest.fixture(params=["memory", "sqlite"])
def journal(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Journal]:
    made: Journal = MemoryJournal() if request.param == "memory" else SqliteJournal(tmp_path / "calls.sqlite")
    yield made
    made.close()


def test_entries_come_back_as_they_were_written(journal: Journal) -> None:
    """Lone surrogates, NULs and all: ids and text are the agent's, and opaque."""
    strange = replace(FULL[0], call_id="\ud800\x00'\"", thread_id="t1")
    for one in [*FULL, strange, replace(FULL[0], thread_id="t2")]:
        assert journal.add(one)
    assert journal.entries("t1") == [*FULL, strange]
    assert journal.record("t1", strange.call_id).offered == strange
    assert journal.entries("t3") == []
    assert journal.record("t1", "c9") == CallRecord()


@pytest.mark.parametrize("event", [JournalEvent.STARTED, JournalEvent.ANSWERED])
def test_a_call_starts_once_and_is_answered_once(journal: Journal, event: JournalEvent) -> None:
    assert journal.add(entry(event, tool="first"))
    assert not journal.add(entry(event, tool="second"))
    assert journal.add(entry(event, thread_id="t2"))
    assert journal.add(entry(event, call_id="c2"))
    assert [one.tool for one in journal.entries("t1") if one.call_id == "c1"] == ["first"]


def test_what_is_not_unique_may_happen_again(journal: Journal) -> None:
    for _ in range(2):
        assert journal.add(entry(JournalEvent.OFFERED))


@pytest.mark.parametrize(
    ("events", "state"),
    [
        ([], JournalState.NEW),
        ([FULL[0], FULL[1]], JournalState.NEW),
        (FULL[:3], JournalState.GRANTED),
        (FULL[:4], JournalState.STARTED),
        (FULL, JournalState.ANSWERED),
        ([FULL[0], entry(JournalEvent.DECLINED)], JournalState.DECLINED),
        ([FULL[0], entry(JournalEvent.ABANDONED)], JournalState.ABANDONED),
        ([FULL[0], entry(JournalEvent.GRANTED, arguments_hash="h2")], JournalState.NEW),
    ],
)
def test_where_a_call_stands(events: list[JournalEntry], state: JournalState) -> None:
    """Consent counts for exactly the arguments it was given to."""
    assert fold(events).state("h1") is state


def test_consent_to_nothing_in_particular_is_no_consent() -> None:
    assert fold([entry(JournalEvent.GRANTED)]).state("h1") is JournalState.NEW
    assert fold([entry(JournalEvent.GRANTED, arguments_hash=None)]).state(None) is JournalState.NEW


def test_the_recorded_answer_is_a_message_again() -> None:
    assert FULL[-1].tool_message() == ToolMessage.model_validate(ANSWER)
    assert FULL[0].tool_message() is None


def test_the_clock_has_its_zone() -> None:
    assert utc_now().tzinfo is UTC


def test_a_reopened_file_knows_everything(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    with SqliteJournal(path) as journal:
        for one in FULL:
            journal.add(one)
    with SqliteJournal(str(path)) as journal:
        assert journal.entries("t1") == FULL
        assert not journal.add(FULL[3])


def test_the_file_is_append_only_whoever_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    with SqliteJournal(path) as journal:
        journal.add(FULL[0])
        other = sqlite3.connect(path)
        for statement in ("UPDATE call_journal SET event = 'started'", "DELETE FROM call_journal"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                other.execute(statement)
        other.close()


def test_the_file_is_written_ahead_and_through(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    with SqliteJournal(path) as journal:
        (mode,) = journal._connection.execute("PRAGMA journal_mode").fetchone()
        (synchronous,) = journal._connection.execute("PRAGMA synchronous").fetchone()
    assert (mode, synchronous) == ("wal", 2)


def _a_folder(path: Path) -> None:
    path.mkdir()


def _no_database(path: Path) -> None:
    path.write_bytes(b"this is no database at all, but it is long enough to be taken for one" * 20)


def _newer(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()


@pytest.mark.parametrize(
    ("make", "said"), [(_a_folder, "unable to open"), (_no_database, "not a database"), (_newer, "version 99")]
)
def test_a_file_that_is_no_journal_says_so(tmp_path: Path, make: Callable[[Path], None], said: str) -> None:
    path = tmp_path / "calls.sqlite"
    make(path)
    with pytest.raises(JournalError, match=said) as caught:
        SqliteJournal(path)
    assert caught.value.code == "journal_unreadable"


def test_a_journal_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    with SqliteJournal(path) as journal:
        journal._connection.execute("PRAGMA query_only = 1")
        with pytest.raises(JournalError, match="cannot be written") as caught:
            journal.add(FULL[0])
        assert caught.value.code == "journal_unwritable"
    with pytest.raises(JournalError, match="cannot be read") as caught:
        journal.entries("t1")
    assert caught.value.code == "journal_unreadable"


def test_an_entry_that_breaks_another_rule_is_an_error_not_a_refusal(tmp_path: Path) -> None:
    """Only `started` and `answered` may be refused for having happened; any other conflict is a fault."""
    with SqliteJournal(tmp_path / "calls.sqlite") as journal:
        journal._connection.execute("CREATE UNIQUE INDEX one_offer ON call_journal (call_id) WHERE event = 'offered'")
        journal.add(FULL[0])
        with pytest.raises(JournalError, match="UNIQUE"):
            journal.add(FULL[0])


def test_one_may_wait_for_ever(tmp_path: Path) -> None:
    with SqliteJournal(tmp_path / "calls.sqlite", timeout=float("inf")) as journal:
        assert journal.add(FULL[0])


def test_writing_waits_for_a_writer_as_long_as_was_said(tmp_path: Path) -> None:
    path = tmp_path / "calls.sqlite"
    with SqliteJournal(path, timeout=0.001) as journal, closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalError, match="cannot be written: database is locked") as caught:
            journal.add(FULL[0])
        assert caught.value.code == "journal_unwritable"
        other.execute("ROLLBACK")
        assert journal.add(FULL[0])
    with pytest.raises(OptionError, match="timeout is a number of seconds"):
        SqliteJournal(path, timeout=0)


def test_an_entry_nobody_can_read_says_so(tmp_path: Path) -> None:
    with SqliteJournal(tmp_path / "calls.sqlite") as journal:
        journal._connection.execute(
            "INSERT INTO call_journal (thread_id, call_id, event, at, detail) VALUES (?, ?, ?, ?, ?)",
            ('"t1"', '"c1"', "x", "y", "{}"),
        )
        with pytest.raises(JournalError, match="entry is not readable"):
            journal.entries("t1")


def _made_at_once(path: Path, many: int) -> list[list[JournalEntry]]:
    """`many` journals opened on one new file at the same moment, each read and closed."""
    ready = threading.Barrier(many)

    def make(_: int) -> list[JournalEntry]:
        ready.wait(30)
        with SqliteJournal(path) as journal:
            return journal.entries("t1")

    with ThreadPoolExecutor(many) as pool:
        return list(pool.map(make, range(many)))


def test_a_new_file_may_be_opened_by_many_at_once(tmp_path: Path) -> None:
    """Nobody takes a journal that another is just making for a database of something else."""
    for attempt in range(25):
        path = tmp_path / f"{attempt}.sqlite"
        assert _made_at_once(path, 8) == [[]] * 8
        with SqliteJournal(path) as journal:
            assert journal._connection.execute("PRAGMA user_version").fetchone() == (1,)
            assert journal._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A journal in the old mode, and a writer that holds it: SQLite turns the switch away at once."""
    path = tmp_path / "calls.sqlite"
    SqliteJournal(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = DELETE")
        database.execute("BEGIN IMMEDIATE")
        yield database


def test_opening_waits_for_a_writer(
    tmp_path: Path, locked: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    def pause(seconds: float) -> None:
        asked.append(seconds)
        if len(asked) == 3:
            locked.execute("ROLLBACK")

    monkeypatch.setattr("client_sdk.tools.journal.time.sleep", pause)
    SqliteJournal(tmp_path / "calls.sqlite").close()
    assert len(asked) == 3


def test_opening_does_not_wait_for_ever(tmp_path: Path, locked: sqlite3.Connection) -> None:
    with pytest.raises(JournalError, match="cannot be opened: database is locked") as caught:
        SqliteJournal(tmp_path / "calls.sqlite", timeout=0.001)
    assert caught.value.code == "journal_unreadable"
    assert locked.in_transaction


def _race(path: str, call_ids: list[str], start: Any, won: Any) -> None:
    with SqliteJournal(path) as journal:
        start.wait(30)
        for call_id in call_ids:
            if journal.add(JournalEntry("t1", call_id, JournalEvent.STARTED, utc_now())):
                won.put(call_id)


def test_of_several_processes_one_starts_a_call(tmp_path: Path) -> None:
    """FT-8: claims race on one file, each call is won exactly once, and opening races too."""
    spawn = multiprocessing.get_context("spawn")
    call_ids = [f"c{number}" for number in range(25)]
    start, won = spawn.Event(), spawn.Queue()
    workers = [
        spawn.Process(target=_race, args=(str(tmp_path / "calls.sqlite"), call_ids, start, won)) for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    start.set()
    winners = sorted(won.get(timeout=60) for _ in call_ids)
    for worker in workers:
        worker.join(60)
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert winners == sorted(call_ids)
    assert won.empty()
    with SqliteJournal(tmp_path / "calls.sqlite") as journal:
        assert len(journal.entries("t1")) == len(call_ids)


def test_of_several_threads_one_starts_a_call(journal: Journal) -> None:
    won: list[str] = []

    def race() -> None:
        won.extend(f"c{n}" for n in range(50) if journal.add(entry(JournalEvent.STARTED, call_id=f"c{n}")))

    threads = [threading.Thread(target=race) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(won) == sorted(f"c{n}" for n in range(50))
