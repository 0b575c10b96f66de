"""What the demo's SQLite files have in common."""

from __future__ import annotations

import sqlite3
import time

_PAUSE_SECONDS = 0.01


def write_ahead(db: sqlite3.Connection, seconds: float) -> None:
    """Switch the file to write-ahead logging, so that readers go on beside the writer.

    SQLite does not apply its busy timeout to this switch: of two that open a new file at the same
    time, one is turned away at once. So this asks again, for `seconds`, then lets SQLite's error out.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
        time.sleep(_PAUSE_SECONDS)
