"""What happened to each call, written down as it happens (FT-8).

A journal is append-only: entries are added and read, never changed. Two entries
are unique for a call, whoever writes them and from whatever process: ``started``
(so that no call runs twice) and ``answered`` (so that no call has two answers).

After a crash the entries say where each call stood: *offered* is offered again,
*granted* may still run, *started* without an answer may already have happened,
*answered* goes out again.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from ag_ui.core import ToolMessage

from client_sdk.errors import JournalError
from client_sdk.options import SECONDS, check_options
from client_sdk.tools.calls import CallOutcome, RunStatus
from client_sdk.tools.gate import JournalState

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The time, with its zone: what journals stamp their entries with."""
    return datetime.now(UTC)


class JournalEvent(StrEnum):
    """What an entry records."""

    OFFERED = "offered"
    """The run closed and the call was put before the gate."""
    CONSENT_ASKED = "consent_asked"
    GRANTED = "granted"
    DECLINED = "declined"
    STARTED = "started"
    ANSWERED = "answered"
    ABANDONED = "abandoned"


UNIQUE_EVENTS = frozenset({JournalEvent.STARTED, JournalEvent.ANSWERED})
"""What happens to a call at most once (FT-8)."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One line of the journal.

    Attributes:
        thread_id, call_id: the call.
        event: what happened to it.
        at: when, in UTC.
        tool: the name the call bears.
        run_id: the run that made it.
        run_status: how that run ended (``offered``).
        arguments: the argument text as the agent sent it (``offered``), or the JSON of
            the arguments consented to and run with (``granted``, ``started``).
        arguments_hash: SHA-256 of those arguments' canonical JSON; None when they are not JSON.
        complete: False when those arguments never ended (``offered``).
        advertised: whether the tool was offered in that run (``offered``).
        replayed: whether that run was replayed before the requested one (``offered``).
        interrupt: id of the interrupt that asks about it (``offered``).
        policy: True when a policy granted it rather than an answer to this very question.
        outcome: what became of it (``answered``).
        reason: the typed reason of a refusal, or the user's words.
        message: the tool message that answers it, in wire spelling (``answered``).
    """

    thread_id: str
    call_id: str
    event: JournalEvent
    at: datetime
    tool: str = ""
    run_id: str = ""
    run_status: RunStatus | None = None
    arguments: str | None = None
    arguments_hash: str | None = None
    complete: bool | None = None
    advertised: bool | None = None
    replayed: bool | None = None
    interrupt: str | None = None
    policy: bool | None = None
    outcome: CallOutcome | None = None
    reason: str | None = None
    message: dict[str, Any] | None = None

    def tool_message(self) -> ToolMessage | None:
        """The recorded answer as a message, None for entries that answer nothing."""
        return None if self.message is None else ToolMessage.model_validate(self.message)


@dataclass(frozen=True, slots=True)
class CallRecord:
    """Everything a journal knows about one call, folded from its entries.

    Attributes:
        offered: the latest ``offered`` entry, None when it never was.
        granted: the latest ``granted`` entry.
        declined: the latest ``declined`` entry.
        started: the ``started`` entry.
        answered: the ``answered`` entry.
        abandoned: the ``abandoned`` entry.
    """

    offered: JournalEntry | None = None
    granted: JournalEntry | None = None
    declined: JournalEntry | None = None
    started: JournalEntry | None = None
    answered: JournalEntry | None = None
    abandoned: JournalEntry | None = None

    def state(self, hash_of_arguments: str | None) -> JournalState:
        """Where the call stands, seen from exactly these arguments.

        Args:
            hash_of_arguments: as :func:`~client_sdk.tools.arguments.arguments_hash` gives it.
        """
        if self.answered is not None:
            return JournalState.ANSWERED
        if self.started is not None:
            return JournalState.STARTED
        if self.abandoned is not None:
            return JournalState.ABANDONED
        if self.declined is not None:
            return JournalState.DECLINED
        consented = None if self.granted is None else self.granted.arguments_hash
        if consented is not None and consented == hash_of_arguments:
            return JournalState.GRANTED
        return JournalState.NEW


def fold(entries: Iterable[JournalEntry]) -> CallRecord:
    """The record of one call from its entries, in order."""
    record = CallRecord()
    for entry in entries:
        if entry.event is not JournalEvent.CONSENT_ASKED:
            record = replace(record, **{entry.event.value: entry})
    return record


class Journal(Protocol):
    """Where calls are written down. Implement these four to keep them elsewhere.

    ``add`` must be atomic against every other writer, and durable once it returns.
    """

    def add(self, entry: JournalEntry) -> bool:
        """Append `entry`.

        Returns:
            False, and nothing is written, when the entry is of a kind in
            :data:`UNIQUE_EVENTS` and the call has one already.

        Raises:
            JournalError: the entry could not be written.
        """
        ...

    def record(self, thread_id: str, call_id: str) -> CallRecord:
        """What is known of one call."""
        ...

    def entries(self, thread_id: str) -> list[JournalEntry]:
        """All entries of a thread, in the order they were written."""
        ...

    def close(self) -> None:
        """Release what the journal holds open."""
        ...


class MemoryJournal:
    """A journal that lives as long as its process: the default."""

    def __init__(self) -> None:
        self._threads: dict[str, list[JournalEntry]] = {}
        self._calls: dict[tuple[str, str], list[JournalEntry]] = {}
        self._lock = threading.Lock()

    def add(self, entry: JournalEntry) -> bool:
        """Append `entry`; see :class:`Journal`."""
        with self._lock:
            held = self._calls.setdefault((entry.thread_id, entry.call_id), [])
            if entry.event in UNIQUE_EVENTS and any(other.event is entry.event for other in held):
                return False
            held.append(entry)
            self._threads.setdefault(entry.thread_id, []).append(entry)
            return True

    def record(self, thread_id: str, call_id: str) -> CallRecord:
        """What is known of one call."""
        with self._lock:
            return fold(self._calls.get((thread_id, call_id), ()))

    def entries(self, thread_id: str) -> list[JournalEntry]:
        """All entries of a thread, in the order they were written."""
        with self._lock:
            return list(self._threads.get(thread_id, ()))

    def close(self) -> None:
        """Nothing is held open."""


_SCHEMA = (
    """CREATE TABLE call_journal (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        thread_id TEXT NOT NULL,
        call_id TEXT NOT NULL,
        event TEXT NOT NULL,
        at TEXT NOT NULL,
        detail TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX call_journal_by_call ON call_journal (thread_id, call_id, seq)",
    "CREATE UNIQUE INDEX call_journal_started_once ON call_journal (thread_id, call_id) WHERE event = 'started'",
    "CREATE UNIQUE INDEX call_journal_answered_once ON call_journal (thread_id, call_id) WHERE event = 'answered'",
    """CREATE TRIGGER call_journal_is_never_changed BEFORE UPDATE ON call_journal
        BEGIN SELECT RAISE(ABORT, 'the call journal is append-only'); END""",
    """CREATE TRIGGER call_journal_is_never_cut BEFORE DELETE ON call_journal
        BEGIN SELECT RAISE(ABORT, 'the call journal is append-only'); END""",
)

_VERSION = 1
_PAUSE_SECONDS = 0.01
_LONGEST_SECONDS = 1_000_000.0
"""SQLite counts milliseconds in 32 bits."""


class SqliteJournal:
    """A journal in one SQLite file, shared by any number of processes and threads.

    Write-ahead logging lets readers go on beside the writer; ``synchronous=FULL``
    makes an entry durable before ``add`` returns; the unique indices decide who of
    several processes may start a call.

    Args:
        path: the file; made when it is missing.
        timeout: seconds to wait for another process that is writing. The event loop waits too:
            an entry must be on disk before the next step is taken.

    Raises:
        JournalError: ``journal_unreadable`` — the file cannot be opened, is no journal,
            or is of a newer version of this package.
        OptionError: ``bad_option`` — `timeout` is no number of seconds.
    """

    def __init__(self, path: str | Path, *, timeout: float = 5.0) -> None:
        check_options("SqliteJournal", {"timeout": SECONDS}, locals())
        if not isinstance(path, str | Path) or str(path) in ("", ":memory:"):
            raise JournalError(
                f"{path!r} names no file; for a journal in memory there is MemoryJournal", code="journal_unreadable"
            )
        self._path = str(path)
        self._timeout = min(timeout, _LONGEST_SECONDS)
        self._lock = threading.Lock()
        with self._translated("opened"):
            self._connection = sqlite3.connect(
                self._path, timeout=self._timeout, isolation_level=None, check_same_thread=False
            )
        try:
            with self._translated("opened"):
                self._prepare()
        except JournalError:
            self._connection.close()
            raise

    def add(self, entry: JournalEntry) -> bool:
        """Append `entry`; see :class:`Journal`."""
        row = (
            _as_key(entry.thread_id),
            _as_key(entry.call_id),
            entry.event.value,
            entry.at.isoformat(),
            _detail(entry),
        )
        statement = "INSERT INTO call_journal (thread_id, call_id, event, at, detail) VALUES (?, ?, ?, ?, ?)"
        with self._translated("written"), self._lock:
            try:
                self._connection.execute(statement, row)
            except sqlite3.IntegrityError:
                if entry.event in UNIQUE_EVENTS:
                    return False
                raise
        return True

    def record(self, thread_id: str, call_id: str) -> CallRecord:
        """What is known of one call."""
        where = "WHERE thread_id = ? AND call_id = ? ORDER BY seq"
        return fold(self._select(where, (_as_key(thread_id), _as_key(call_id))))

    def entries(self, thread_id: str) -> list[JournalEntry]:
        """All entries of a thread, in the order they were written."""
        return self._select("WHERE thread_id = ? ORDER BY seq", (_as_key(thread_id),))

    def close(self) -> None:
        """Close the file; the journal cannot be used afterwards."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> SqliteJournal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _prepare(self) -> None:
        # Setting these is a write of its own and must wait for other processes like any other.
        self._connection.execute(f"PRAGMA busy_timeout = {int(self._timeout * 1000)}")
        with self._transaction("BEGIN"):
            version = self._checked_version()
        if version < _VERSION:
            with self._transaction("BEGIN IMMEDIATE"):
                # Another process may have made the journal since; only under this lock is it certain.
                if self._checked_version() < _VERSION:
                    for statement in (*_SCHEMA, f"PRAGMA user_version = {_VERSION}"):
                        self._connection.execute(statement)
        self._switch_to_write_ahead_logging()
        self._connection.execute("PRAGMA synchronous = FULL")

    def _checked_version(self) -> int:
        """The version of the file, 0 when it is empty; both are read in the caller's one transaction."""
        (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        (tables,) = self._connection.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'table'").fetchone()
        if version == 0 and tables:
            raise JournalError(
                f"{self._path} is a database of something else; a journal wants a file of its own",
                code="journal_unreadable",
            )
        if version > _VERSION:
            raise JournalError(
                f"the journal {self._path} has version {version}; this package reads up to {_VERSION}",
                code="journal_unreadable",
            )
        return int(version)

    def _switch_to_write_ahead_logging(self) -> None:
        # SQLite does not apply its busy timeout to this switch: of two processes, one is turned away at once.
        until = time.monotonic() + self._timeout
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
            time.sleep(_PAUSE_SECONDS)

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        self._connection.execute(begin)
        try:
            yield
        except BaseException:
            self._connection.rollback()
            raise
        self._connection.commit()

    def _select(self, where: str, values: tuple[str, ...]) -> list[JournalEntry]:
        statement = f"SELECT thread_id, call_id, event, at, detail FROM call_journal {where}"
        with self._translated("read"), self._lock:
            rows = self._connection.execute(statement, values).fetchall()
        return [_entry(*row) for row in rows]

    @contextmanager
    def _translated(self, done: str) -> Iterator[None]:
        """The one place where SQLite's errors become ours."""
        try:
            yield
        except sqlite3.Error as error:
            code = "journal_unreadable" if done in ("opened", "read") else "journal_unwritable"
            raise JournalError(f"the journal {self._path} cannot be {done}: {error}", code=code) from error


def _as_key(identifier: str) -> str:
    """An id as ASCII JSON: ids are opaque, and one with a lone surrogate is no text to SQLite."""
    return json.dumps(identifier)


_DETAILS: dict[str, Callable[[Any], Any]] = {
    "tool": str,
    "run_id": str,
    "run_status": RunStatus,
    "arguments": str,
    "arguments_hash": str,
    "complete": bool,
    "advertised": bool,
    "replayed": bool,
    "interrupt": str,
    "policy": bool,
    "outcome": CallOutcome,
    "reason": str,
    "message": dict,
}
"""The optional fields of an entry, and how each comes back from JSON."""


def _detail(entry: JournalEntry) -> str:
    values = asdict(entry)
    return json.dumps({name: values[name] for name in _DETAILS if values[name] is not None})


def _entry(thread_id: str, call_id: str, event: str, at: str, detail: str) -> JournalEntry:
    try:
        values = {name: _DETAILS[name](value) for name, value in json.loads(detail).items() if name in _DETAILS}
        return JournalEntry(
            json.loads(thread_id),
            json.loads(call_id),
            JournalEvent(event),
            datetime.fromisoformat(at),
            **values,
        )
    except (ValueError, TypeError) as error:
        raise JournalError(f"a journal entry is not readable: {error}", code="journal_unreadable") from error
