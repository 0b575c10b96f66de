"""The application of the kill test: one life of a process that may be killed at any point of the round trip.

It keeps its conversation in a file and its calls in a journal, as an application
that survives restarts does. Every place where it could die is a checkpoint; at
the one it is told, it sends itself SIGKILL: nothing is flushed, closed or said.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from client_sdk.agent import HttpAgent, Thread
from client_sdk.tools import ConsentRequest, JournalEntry, RefusalReason, SqliteJournal, ToolContext, ToolRegistry


@dataclass(frozen=True)
class Files:
    """Where a life leaves its traces."""

    folder: Path

    @property
    def journal(self) -> Path:
        return self.folder / "calls.sqlite"

    @property
    def messages(self) -> Path:
        return self.folder / "messages.json"

    @property
    def effects(self) -> Path:
        return self.folder / "effects.txt"

    @property
    def report(self) -> Path:
        return self.folder / "report.json"

    def done(self) -> list[str]:
        """The calls whose effect really happened, in order."""
        return self.effects.read_text().split() if self.effects.exists() else []


class Fate:
    """Counts checkpoints, and ends the process at one of them."""

    def __init__(self, dies_at: int | None) -> None:
        self._dies_at = dies_at
        self.passed: list[str] = []

    def checkpoint(self, name: str) -> None:
        if len(self.passed) == self._dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        self.passed.append(name)


class MortalJournal(SqliteJournal):
    """A journal that can die before and after every entry."""

    def __init__(self, path: Path, fate: Fate) -> None:
        super().__init__(path)
        self._fate = fate

    def add(self, entry: JournalEntry) -> bool:
        self._fate.checkpoint(f"before {entry.event} {entry.call_id}")
        added = super().add(entry)
        self._fate.checkpoint(f"after {entry.event} {entry.call_id}")
        return added


def _registry(files: Files, fate: Fate) -> ToolRegistry:
    registry = ToolRegistry()

    def act(arguments: dict[str, Any], ctx: ToolContext) -> str:
        fate.checkpoint(f"before the effect of {ctx.call_id}")
        with files.effects.open("a") as file:
            file.write(f"{ctx.call_id}\n")
            file.flush()
            os.fsync(file.fileno())
        fate.checkpoint(f"after the effect of {ctx.call_id}")
        return f"did {ctx.call_id}"

    registry.declare("act", "Act.", {}, act, exclusive=True)
    return registry


def _save(files: Files, thread: Thread) -> None:
    text = json.dumps([message.model_dump(mode="json", by_alias=True) for message in thread.messages])
    draft = files.messages.with_suffix(".draft")
    draft.write_text(text)
    draft.replace(files.messages)


async def _live(url: str, files: Files, fate: Fate) -> dict[str, Any]:
    def consent(_: ConsentRequest) -> bool:
        fate.checkpoint("while the user is asked")
        return True

    held = json.loads(files.messages.read_text()) if files.messages.exists() else []
    with MortalJournal(files.journal, fate) as journal:
        async with HttpAgent(url) as agent:
            thread = agent.thread("t1", messages=held, tools=_registry(files, fate), journal=journal, consent=consent)
            found = {call.id: None if call.reason is None else call.reason.value for call in thread.open_calls}
            for call in thread.open_calls:
                if call.reason is RefusalReason.MAY_HAVE_HAPPENED:
                    call.answer(f"looked after {call.id}")
                elif call.reason is RefusalReason.RUN_TRUNCATED:
                    call.abandon()
            async with thread.run(None if held else "go") as run:
                async for update in run:
                    if update.event is not None:
                        fate.checkpoint(f"at {update.event.type.value}")
                        _save(files, thread)
            fate.checkpoint("at the end")
            _save(files, thread)
            return {
                "found": found,
                "status": run.result.status.value,
                "answers": {m.tool_call_id: m.content for m in thread.messages if m.role == "tool"},
                "open": [call.id for call in thread.open_calls],
                "passed": fate.passed,
            }


def life(url: str, folder: str, dies_at: int | None) -> None:
    """Live once: from the start, or on from what an earlier life left.

    Args:
        url: the agent.
        folder: where journal, conversation and effects are.
        dies_at: the checkpoint to die at, counted from 0; None to live on.
    """
    files = Files(Path(folder))
    report = asyncio.run(_live(url, files, Fate(dies_at)))
    files.report.write_text(json.dumps(report))
