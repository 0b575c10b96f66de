"""What outlives a page and a process: threads, messages, runs with their recordings, media. SQLite, in WAL mode.

Every read and write is for one visitor, whose id only their browser knows; the store keeps its digest, so the file
gives nobody's conversations away. Writes are short and synchronous: they happen where a message is finished, not per
token.
"""

import base64
import binascii
import hashlib
import json
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Any

from demo_app.database import write_ahead

_BUSY_SECONDS = 30.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS threads (
    id TEXT PRIMARY KEY, visitor TEXT NOT NULL, title TEXT NOT NULL, state TEXT NOT NULL,
    created TEXT NOT NULL, updated TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS threads_by_visitor ON threads (visitor, updated DESC);
CREATE TABLE IF NOT EXISTS messages (
    thread_id TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    id TEXT NOT NULL, position INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (thread_id, id)
) STRICT;
CREATE TABLE IF NOT EXISTS runs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    thread_id TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    run_id TEXT NOT NULL, status TEXT NOT NULL, started TEXT NOT NULL, anchor TEXT NOT NULL, detail TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS runs_by_thread ON runs (thread_id, seq);
CREATE TABLE IF NOT EXISTS events (
    run_seq INTEGER NOT NULL REFERENCES runs (seq) ON DELETE CASCADE, seq INTEGER NOT NULL, payload TEXT NOT NULL,
    PRIMARY KEY (run_seq, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS media (
    id TEXT PRIMARY KEY, thread_id TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
    digest TEXT NOT NULL, mime TEXT NOT NULL, name TEXT NOT NULL, body BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS media_once ON media (thread_id, digest, mime);
"""

RUNNING = "running"
"""A run's status while it is read; one that is found with it after a restart was cut off by the restart."""


@dataclass(frozen=True)
class ThreadInfo:
    """A line of the thread list."""

    id: str
    title: str
    created: str
    updated: str


@dataclass(frozen=True)
class StoredRun:
    """One exchange with the agent.

    Attributes: `seq`, its number in the store; `anchor`, the message behind which its end is shown; `detail`, what
    else is kept: `error`, `errorCode`, `usage`, `lanes`, `parents`, `request`, `diagnostics`, `decisions`, `last`
    (whether it ended its turn).
    """

    seq: int
    run_id: str
    status: str
    started: str
    anchor: str
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class StoredThread:
    """A thread with everything that was said. `interrupts` are the open ones, in wire spelling."""

    info: ThreadInfo
    state: Any
    messages: list[dict[str, Any]]
    runs: list[StoredRun]

    @property
    def interrupts(self) -> list[dict[str, Any]]:
        """What the last run left open."""
        return list(self.runs[-1].detail.get("interrupts", ())) if self.runs else []


@dataclass(frozen=True)
class StoredMedia:
    """Bytes of a media part, as they were given."""

    mime: str
    name: str
    body: bytes


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _digest(visitor: str) -> str:
    return hashlib.sha256(visitor.encode()).hexdigest()


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


class Store:
    """The demo's conversations in one file.

    Parameters: `path`, the file, made when it is missing.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = RLock()
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=_BUSY_SECONDS)
        self._db.row_factory = sqlite3.Row
        write_ahead(self._db, _BUSY_SECONDS)
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute("PRAGMA foreign_keys=ON")
        self._db.executescript(_SCHEMA)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    # Threads.

    def threads(self, visitor: str) -> list[ThreadInfo]:
        """The visitor's threads, the latest first."""
        rows = self._db.execute(
            "SELECT id, title, created, updated FROM threads WHERE visitor = ? ORDER BY updated DESC, rowid DESC",
            (_digest(visitor),),
        )
        return [ThreadInfo(**row) for row in rows]

    def create(self, visitor: str, thread_id: str, title: str = "") -> ThreadInfo:
        """Start a thread of the visitor's. Raises sqlite3.IntegrityError when the id is taken."""
        now = _now()
        with self._writing() as db:
            db.execute(
                "INSERT INTO threads VALUES (?, ?, ?, ?, ?, ?)", (thread_id, _digest(visitor), title, "{}", now, now)
            )
        return ThreadInfo(thread_id, title, now, now)

    def owns(self, visitor: str, thread_id: str) -> bool:
        """Whether there is such a thread, and it is this visitor's."""
        found = self._db.execute(
            "SELECT 1 FROM threads WHERE id = ? AND visitor = ?", (thread_id, _digest(visitor))
        ).fetchone()
        return found is not None

    def load(self, thread_id: str) -> StoredThread | None:
        """A thread with its messages and runs, or None."""
        row = self._db.execute("SELECT * FROM threads WHERE id = ?", (thread_id,)).fetchone()
        if row is None:
            return None
        messages = self._db.execute("SELECT body FROM messages WHERE thread_id = ? ORDER BY position", (thread_id,))
        return StoredThread(
            ThreadInfo(row["id"], row["title"], row["created"], row["updated"]),
            json.loads(row["state"]),
            [json.loads(message["body"]) for message in messages],
            self.runs(thread_id),
        )

    def rename(self, thread_id: str, title: str) -> None:
        """Give a thread another title."""
        with self._writing() as db:
            db.execute("UPDATE threads SET title = ? WHERE id = ?", (title, thread_id))

    def delete(self, thread_id: str) -> None:
        """Delete a thread with all that belongs to it."""
        with self._writing() as db:
            db.execute("DELETE FROM threads WHERE id = ?", (thread_id,))

    # Messages.

    def save(
        self,
        thread_id: str,
        *,
        changed: Mapping[str, tuple[int, Mapping[str, Any]]] = {},
        gone: Iterable[str] = (),
        state: Any = None,
    ) -> None:
        """Write messages down.

        Parameters: `changed`, position and wire form of each new or changed message, by id; `gone`, the ids of those
        that are no more; `state`, the state agreed, None to leave it.
        """
        rows = [(thread_id, identity, position, _dump(body)) for identity, (position, body) in changed.items()]
        with self._writing() as db:
            db.executemany("DELETE FROM messages WHERE thread_id = ? AND id = ?", [(thread_id, one) for one in gone])
            db.executemany(
                "INSERT INTO messages (thread_id, id, position, body) VALUES (?, ?, ?, ?) ON CONFLICT (thread_id, id)"
                " DO UPDATE SET position = excluded.position, body = excluded.body",
                rows,
            )
            db.execute("UPDATE threads SET updated = ? WHERE id = ?", (_now(), thread_id))
            if state is not None:
                db.execute("UPDATE threads SET state = ? WHERE id = ?", (_dump(state), thread_id))

    # Runs and their recordings.

    def begin_run(self, thread_id: str, run_id: str, anchor: str) -> int:
        """Note that a run was started; the number it has in the store."""
        with self._writing() as db:
            cursor = db.execute(
                "INSERT INTO runs (thread_id, run_id, status, started, anchor, detail) VALUES (?, ?, ?, ?, ?, '{}')",
                (thread_id, run_id, RUNNING, _now(), anchor),
            )
            return int(cursor.lastrowid or 0)

    def record(self, run: int, first: int, payloads: Sequence[str]) -> None:
        """Append raw events to a run's recording, numbered from `first`."""
        with self._writing() as db:
            db.executemany(
                "INSERT INTO events VALUES (?, ?, ?)",
                [(run, first + index, payload) for index, payload in enumerate(payloads)],
            )

    def end_run(self, run: int, status: str, anchor: str, detail: Mapping[str, Any]) -> None:
        """Note how a run ended."""
        with self._writing() as db:
            db.execute(
                "UPDATE runs SET status = ?, anchor = ?, detail = ? WHERE seq = ?", (status, anchor, _dump(detail), run)
            )

    def runs(self, thread_id: str) -> list[StoredRun]:
        """A thread's runs, in order."""
        rows = self._db.execute("SELECT * FROM runs WHERE thread_id = ? ORDER BY seq", (thread_id,))
        return [
            StoredRun(
                row["seq"], row["run_id"], row["status"], row["started"], row["anchor"], json.loads(row["detail"])
            )
            for row in rows
        ]

    def forget_runs(self, thread_id: str, runs: Iterable[int]) -> None:
        """Delete runs whose messages were taken back."""
        with self._writing() as db:
            db.executemany("DELETE FROM runs WHERE thread_id = ? AND seq = ?", [(thread_id, run) for run in runs])

    def recording(self, run: int) -> list[str]:
        """The raw events of a run, JSON texts in order."""
        return [
            row["payload"]
            for row in self._db.execute("SELECT payload FROM events WHERE run_seq = ? ORDER BY seq", (run,))
        ]

    # Media.

    def keep_media(self, thread_id: str, mime: str, name: str, body: bytes) -> str:
        """Keep bytes under an address nobody can guess; the same bytes of a thread are kept once."""
        digest = hashlib.sha256(body).hexdigest()
        with self._writing() as db:
            db.execute(
                "INSERT INTO media VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (thread_id, digest, mime) DO NOTHING",
                (secrets.token_urlsafe(24), thread_id, digest, mime, name, body),
            )
            row = db.execute(
                "SELECT id FROM media WHERE thread_id = ? AND digest = ? AND mime = ?", (thread_id, digest, mime)
            ).fetchone()
        return str(row["id"])

    def media(self, media_id: str) -> StoredMedia | None:
        """Kept bytes by their address, or None."""
        row = self._db.execute("SELECT mime, name, body FROM media WHERE id = ?", (media_id,)).fetchone()
        return None if row is None else StoredMedia(row["mime"], row["name"], row["body"])


def decoded(value: str) -> bytes | None:
    """The bytes of a data source's base64, or None when it is none."""
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return None
