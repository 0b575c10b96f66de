"""The demo's files: several processes may open a new one at the same moment."""

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from demo_app.database import write_ahead
from demo_app.shop import Shop
from demo_app.state.store import Store


def _shop(path: Path) -> int:
    return len(Shop(path).orders())


def _store(path: Path) -> int:
    store = Store(path)
    try:
        return len(store.threads("anyone"))
    finally:
        store.close()


@pytest.mark.parametrize(("opened", "held"), [(_shop, 120), (_store, 0)])
def test_a_new_file_may_be_opened_by_many_at_once(tmp_path: Path, opened: Callable[[Path], int], held: int) -> None:
    many = 8
    for attempt in range(10):
        ready = threading.Barrier(many)

        def make(path: Path, ready: threading.Barrier = ready) -> int:
            ready.wait(30)
            return opened(path)

        with ThreadPoolExecutor(many) as pool:
            assert list(pool.map(make, [tmp_path / f"{attempt}.db"] * many)) == [held] * many


@pytest.fixture
def held_file(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A file whose writer is in the middle of a transaction: SQLite turns the switch away at once."""
    with closing(sqlite3.connect(tmp_path / "held.db", isolation_level=None)) as database:
        database.execute("CREATE TABLE something (id INTEGER)")
        database.execute("BEGIN IMMEDIATE")
        yield database


def test_the_switch_waits_for_a_writer(
    tmp_path: Path, held_file: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("demo_app.database.time.sleep", lambda _: held_file.execute("ROLLBACK"))
    with closing(sqlite3.connect(tmp_path / "held.db", isolation_level=None, timeout=0)) as database:
        write_ahead(database, 30)
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@pytest.mark.usefixtures("held_file")
def test_the_switch_does_not_wait_for_ever(tmp_path: Path) -> None:
    with (
        closing(sqlite3.connect(tmp_path / "held.db", isolation_level=None, timeout=0)) as database,
        pytest.raises(sqlite3.OperationalError, match="locked"),
    ):
        write_ahead(database, -1)
