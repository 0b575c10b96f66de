"""An SQLite table with one TEXT body a message."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from os import PathLike
from types import TracebackType
from typing import Any

from ag_ui.core import EventType

from client_sdk.errors import ClientError, InputError
from client_sdk.legacy.flatten import FlatMessage
from client_sdk.legacy.sinks import Conversational, Key, RunUpdate, TextSink

Database = str | PathLike[str] | sqlite3.Connection
"""A database file's path, or an open connection."""

_TEXT_COLUMNS = {"name": "name", "toolCallId": "tool_call_id", "error": "error"}
"""Fields of a message that have a column of their own: wire name and column."""

_COLUMNS = (
    "thread_id",
    "position",
    "message_id",
    "occurrence",
    "role",
    *_TEXT_COLUMNS.values(),
    "tool_calls",
    "other_fields",
    "body",
)
_KEY = ("thread_id", "message_id", "occurrence")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS {table} (
    thread_id    TEXT NOT NULL,
    position     INTEGER NOT NULL,  -- 0-based, within the thread
    message_id   TEXT NOT NULL,
    occurrence   INTEGER NOT NULL,  -- 0; more for a message whose id was used before it
    role         TEXT NOT NULL,
    name         TEXT,
    tool_call_id TEXT,              -- on a tool message: the call it answers
    error        TEXT,              -- on a tool message: why the tool failed
    tool_calls   TEXT,              -- JSON array, wire spelling
    other_fields TEXT,              -- JSON object: whatever else the message carries
    body         TEXT,              -- the text; NULL where the message has no content
    PRIMARY KEY (thread_id, message_id, occurrence)
)
"""


# IMMEDIATE: positions are read before rows are written, and another process may be doing the same.
_OWN = ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
_NESTED = ("SAVEPOINT client_sdk", "RELEASE client_sdk", "ROLLBACK TO client_sdk")


class SqliteTextSink(TextSink):
    """Keeps threads in one SQLite table whose bodies are TEXT.

    A message has one row, replaced when the message changes. While a run is followed,
    each message is stored as soon as it is whole. Usable as a context manager.
    """

    def __init__(self, database: str | PathLike[str] | sqlite3.Connection, *, table: str = "messages") -> None:
        """Open `database` and make the table if it is not there.

        Parameters:
            database: a file's path, or a connection of yours. A connection stays yours to
                close; where it has a transaction open, the sink's writes are part of it.
            table: the table's name.

        Raises:
            ClientError: ``sink_failed``, the database cannot be opened or written.
        """
        super().__init__()
        self._table = '"' + table.replace('"', '""') + '"'
        self._owned = not isinstance(database, sqlite3.Connection)
        with _translated():
            opened = database if isinstance(database, sqlite3.Connection) else sqlite3.connect(database)
            self._connection: sqlite3.Connection = opened
            self._execute(_SCHEMA.format(table=self._table))

    def __enter__(self) -> SqliteTextSink:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the database, if the sink opened it."""
        if self._owned:
            self._connection.close()

    def read(self, thread_id: str) -> list[FlatMessage]:
        """The messages held for a thread, in order; none for a thread it never saw."""
        query = f"SELECT {', '.join(_COLUMNS)} FROM {self._table} WHERE thread_id = ? ORDER BY position"
        with _translated():
            rows = self._execute(query, (thread_id,))
        return [_message(dict(zip(_COLUMNS, row, strict=True))) for row in rows]

    def _begin(self, thread: Conversational) -> None:
        self.write_thread(thread)

    def _settle(self, thread: Conversational, update: RunUpdate) -> None:
        if update.event.type == EventType.MESSAGES_SNAPSHOT:
            self.write_thread(thread)
            return
        held = [message.id for message in thread.messages]
        if update.message is None or held.count(update.message.id) != 1:
            self.write_thread(thread)
        else:
            self._write(thread.id, [update.message], whole=False, first=held.index(update.message.id))

    def _store(self, thread_id: str, messages: Sequence[tuple[Key, FlatMessage]], *, whole: bool) -> None:
        rows = {key: _row(thread_id, message) for key, message in messages}
        for index, row in enumerate(rows.values()):
            _refuse_unstorable(row, index)
        with _translated(), self._transaction():
            positions = self._positions(thread_id)
            if whole:
                gone = positions.keys() - rows.keys()
                statement = f"DELETE FROM {self._table} WHERE thread_id = ? AND message_id = ? AND occurrence = ?"
                self._execute_many(statement, [(thread_id, *key) for key in gone])
                positions = {}
            following = max(positions.values(), default=-1) + 1
            for key, row in rows.items():
                row["occurrence"] = key[1]
                row["position"] = positions.get(key, following)
                following += row["position"] == following
            self._execute_many(self._upsert(), [tuple(row[column] for column in _COLUMNS) for row in rows.values()])

    def _positions(self, thread_id: str) -> dict[Key, int]:
        query = f"SELECT message_id, occurrence, position FROM {self._table} WHERE thread_id = ?"
        return {(id_, use): position for id_, use, position in self._execute(query, (thread_id,))}

    def _upsert(self) -> str:
        assignments = ", ".join(f"{column} = excluded.{column}" for column in _COLUMNS if column not in _KEY)
        marks = ", ".join("?" for _ in _COLUMNS)
        return (
            f"INSERT INTO {self._table} ({', '.join(_COLUMNS)}) VALUES ({marks})"
            f" ON CONFLICT ({', '.join(_KEY)}) DO UPDATE SET {assignments}"
        )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing: in a transaction of its own, or as a part of the caller's."""
        begin, commit, undo = _NESTED if self._connection.in_transaction else _OWN
        self._execute(begin)
        try:
            yield
            self._execute(commit)
        except BaseException:
            # SQLite itself undoes a transaction on some errors; then there is nothing left to undo.
            with suppress(sqlite3.OperationalError):
                self._execute(undo)
            raise

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        # The caller's connection may have a row factory; a cursor's own overrules it.
        cursor = self._connection.cursor()
        cursor.row_factory = None
        return cursor.execute(statement, values).fetchall()

    def _execute_many(self, statement: str, rows: Sequence[Sequence[Any]]) -> None:
        self._connection.cursor().executemany(statement, rows)


def _row(thread_id: str, message: FlatMessage) -> dict[str, Any]:
    others = dict(message.fields)
    row = {column: others.pop(name, None) for name, column in _TEXT_COLUMNS.items()}
    calls = others.pop("toolCalls", None)
    return row | {
        "thread_id": thread_id,
        "message_id": message.id,
        "role": message.role,
        "tool_calls": None if calls is None else json.dumps(calls),
        "other_fields": json.dumps(others) if others else None,
        "body": message.body,
    }


def _message(row: dict[str, Any]) -> FlatMessage:
    fields = {name: row[column] for name, column in _TEXT_COLUMNS.items() if row[column] is not None}
    if row["tool_calls"] is not None:
        fields["toolCalls"] = json.loads(row["tool_calls"])
    fields |= json.loads(row["other_fields"] or "{}")
    return FlatMessage(row["message_id"], row["role"], row["body"], fields)


def _refuse_unstorable(row: dict[str, Any], index: int) -> None:
    """SQLite text is UTF-8, which has no spelling for a lone surrogate; nothing is put in its place."""
    where = {"path": f"/messages/{index}"}
    for column, value in row.items():
        if not isinstance(value, str | None):
            raise InputError(f"the {column} of message {index} is no string: {value!r}", **where)
        try:
            (value or "").encode()
        except UnicodeEncodeError as error:
            problem = f"the {column} of message {index} holds a lone surrogate at character {error.start}"
            raise InputError(f"{problem}; SQLite text cannot", code="unstorable_text", **where) from None


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise ClientError(f"the database refused: {error}", code="sink_failed") from error
