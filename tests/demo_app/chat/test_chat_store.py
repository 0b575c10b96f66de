"""The store: what is written is there after the process, and for its visitor alone."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo_app.state.store import RUNNING, Store, decoded


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "chats.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    store = Store(path)
    yield store
    store.close()


def test_two_visitors_share_nothing(store: Store) -> None:
    store.create("one", "a")
    store.create("other", "b")
    assert [thread.id for thread in store.threads("one")] == ["a"]
    assert store.owns("one", "a")
    assert not store.owns("other", "a")
    assert not store.owns("one", "missing")
    assert not store.owns("", "a")


def test_the_file_does_not_hold_what_opens_a_visitors_threads(store: Store, path: Path) -> None:
    store.create("the visitor's secret", "a")
    files = [file.read_bytes() for file in path.parent.iterdir()]
    assert not any(b"the visitor's secret" in content for content in files)


def test_messages_come_back_in_order_after_the_file_was_closed(store: Store, path: Path) -> None:
    store.create("one", "a", "Title")
    store.save("a", changed={"y": (1, {"id": "y"}), "x": (0, {"id": "x"})}, state={"n": 1})
    store.save("a", changed={"z": (2, {"id": "z"}), "x": (0, {"id": "x", "content": "한글"})}, gone=["y"])
    again = Store(path)
    loaded = again.load("a")
    again.close()
    assert loaded is not None
    assert loaded.messages == [{"id": "x", "content": "한글"}, {"id": "z"}]
    assert (loaded.info.title, loaded.state) == ("Title", {"n": 1})


def test_a_thread_that_is_deleted_takes_everything_with_it(store: Store, path: Path) -> None:
    store.create("one", "a")
    store.save("a", changed={"x": (0, {"id": "x"})})
    run = store.begin_run("a", "r", "x")
    store.record(run, 0, ["{}"])
    kept = store.keep_media("a", "image/png", "p.png", b"bytes")
    store.delete("a")
    assert store.load("a") is None
    assert store.media(kept) is None
    with sqlite3.connect(path) as db:
        for table in ("messages", "runs", "events", "media"):
            assert db.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)
    db.close()


def test_a_run_keeps_its_recording_in_order(store: Store) -> None:
    store.create("one", "a")
    run = store.begin_run("a", "r", "")
    assert store.runs("a")[0].status == RUNNING
    store.record(run, 0, ["1", "2"])
    store.record(run, 2, ["3"])
    store.end_run(run, "completed", "m", {"interrupts": [{"id": "i"}]})
    loaded = store.load("a")
    assert loaded is not None
    assert store.recording(run) == ["1", "2", "3"]
    assert (loaded.runs[0].status, loaded.runs[0].anchor, loaded.interrupts) == ("completed", "m", [{"id": "i"}])


def test_the_same_bytes_are_kept_once_and_under_an_address_of_their_thread(store: Store) -> None:
    store.create("one", "a")
    store.create("other", "b")
    first = store.keep_media("a", "image/png", "p.png", b"bytes")
    assert store.keep_media("a", "image/png", "p.png", b"bytes") == first
    assert store.keep_media("b", "image/png", "p.png", b"bytes") != first
    assert len(first) >= 32


def test_a_failed_write_changes_nothing(store: Store) -> None:
    store.create("one", "a")
    with pytest.raises(sqlite3.IntegrityError):
        store.save("missing", changed={"x": (0, {"id": "x"})})
    store.save("a", changed={"x": (0, {"id": "x"})})
    loaded = store.load("a")
    assert loaded is not None
    assert loaded.messages == [{"id": "x"}]


@pytest.mark.parametrize(("value", "body"), [("aGk=", b"hi"), ("", b""), ("%%%", None), ("aGk", None)])
def test_base64_is_read_strictly(value: str, body: bytes | None) -> None:
    assert decoded(value) == body
