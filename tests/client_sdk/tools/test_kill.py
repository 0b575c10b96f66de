"""Killed at every point of the round trip, with real processes and SIGKILL (FT-8).

After the restart nothing runs twice, what was started but not answered is
reported as "may already have happened", what was offered is offered again, and
no answer is lost.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import signal
from pathlib import Path
from typing import Any

from client_sdk.tools import JournalEvent, SqliteJournal
from tests.client_sdk.servers import serve
from tests.client_sdk.tools.killed import Files, life
from tests.client_sdk.tools.streams import DONE, Wire, calls, run_of

BOUND = 60.0

_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["tests.client_sdk.tools.killed"])


async def live(url: str, folder: Path, dies_at: int | None) -> int | None:
    """One life in a process of its own; how it ended."""
    process = _processes.Process(target=life, args=(url, str(folder), dies_at))
    process.start()
    await asyncio.to_thread(process.join, BOUND)
    try:
        return process.exitcode
    finally:
        process.kill()
        process.close()


def story(files: Files) -> dict[str, list[JournalEvent]]:
    """What the journal holds, by call."""
    with SqliteJournal(files.journal) as journal:
        told: dict[str, list[JournalEvent]] = {}
        for entry in journal.entries("t1"):
            told.setdefault(entry.call_id, []).append(entry.event)
        return told


CALLS = run_of(calls("c1", "act"), calls("c2", "act"))


async def test_an_undisturbed_life_does_both_calls(tmp_path: Path) -> None:
    async with serve(CALLS, DONE) as server:
        assert await live(server.url, tmp_path, None) == 0
        assert Files(tmp_path).done() == ["c1", "c2"]


async def test_killed_at_every_point_nothing_happens_twice_and_nothing_is_lost(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    async with serve(CALLS, DONE) as server:
        assert await live(server.url, whole, None) == 0
    checkpoints = json.loads(Files(whole).report.read_text())["passed"]
    assert len(checkpoints) > 30
    reached = set()
    for dies_at, name in enumerate(checkpoints):
        folder = tmp_path / f"life-{dies_at}"
        folder.mkdir()
        async with serve(CALLS, DONE) as server:
            assert await live(server.url, folder, dies_at) == -signal.SIGKILL, name
            before, done_before = story(Files(folder)), Files(folder).done()
            known = Files(folder).messages.exists() and "c1" in Files(folder).messages.read_text()
            assert await live(server.url, folder, None) == 0, name
            check(Files(folder), name, before if known else {}, done_before)
            Wire(server).check_pairing()
            check_sent(Wire(server), Files(folder))
            reached.update(event for events in before.values() for event in events[-1:])
    assert {JournalEvent.OFFERED, JournalEvent.GRANTED, JournalEvent.STARTED, JournalEvent.ANSWERED} <= reached


def check(files: Files, name: str, before: dict[str, list[JournalEvent]], done_before: list[str]) -> None:
    report = json.loads(files.report.read_text())
    done = files.done()
    assert len(done) == len(set(done)), f"{name}: an effect happened twice"
    assert (report["status"], report["open"]) == ("completed", []), name
    for call, events in before.items():
        started, answered = JournalEvent.STARTED in events, JournalEvent.ANSWERED in events
        if answered:
            assert report["answers"][call] == f"did {call}", f"{name}: an answer was lost"
            assert call not in report["found"], name
        elif started:
            assert report["found"][call] == "may_have_happened", name
            assert report["answers"][call] == f"looked after {call}", name
            assert done.count(call) == done_before.count(call), name
        else:
            assert report["found"][call] is None, f"{name}: what was offered is offered again"
            assert report["answers"][call] == f"did {call}", name


def check_sent(wire: Wire, files: Files) -> None:
    """Whatever the conversation holds in the end is what the agent was told."""
    report: dict[str, Any] = json.loads(files.report.read_text())
    told = {call: message["content"] for sent in wire.inputs for call, message in _answers(sent).items()}
    assert told == report["answers"]


def _answers(sent: dict[str, Any]) -> dict[str, Any]:
    return {m["toolCallId"]: m for m in sent["messages"] if m["role"] == "tool"}
