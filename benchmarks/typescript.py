"""Against the TypeScript client ``@ag-ui/client`` on Node, when both are installed.

``npm install @ag-ui/client@1.0.0`` in a scratch folder, then name that folder in
the environment variable ``AGUI_TS_CLIENT``. Both sides take the same payloads
from memory and end with the same number of messages; see typescript_client.mjs
for how the client is given its best case. The seconds of both are those of the
clock on the wall.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, Final

from benchmarks import pipeline, streams
from benchmarks.measure import Goal, Row, interleave, quiet_heap, rate
from benchmarks.sizes import Sizes

VERSION: Final = "1.0.0"
VARIABLE: Final = "AGUI_TS_CLIENT"
GROUP: Final = f"pipeline ÷ @ag-ui/client {VERSION} on Node"

_ROOT: Final = Path(__file__).parent.parent
_HOW: Final = f"`npm install @ag-ui/client@{VERSION}` in a scratch folder, whose path goes into {VARIABLE}"


@dataclass(frozen=True)
class _Case:
    name: str
    goal: Goal
    payloads: list[str]
    history: list[dict[str, Any]]


def _cases(sizes: Sizes) -> tuple[_Case, ...]:
    few = streams.text(sizes.node_history_events)
    return (
        _Case("text tokens", Goal(least=5), streams.text(sizes.node_events), []),
        _Case("tool calls", Goal(least=15), streams.tool_calls(sizes.node_events), []),
        _Case("text tokens, 1,000 messages before", Goal(least=80), few, streams.history(1_000)),
    )


def _installed() -> tuple[str, Path] | str:
    """Node and the folder whose node_modules hold the client, or why they cannot be had."""
    node = shutil.which("node")
    if node is None:
        return f"Node is not installed; install it, then {_HOW}"
    folder = Path(os.environ.get(VARIABLE) or _ROOT)
    folder = folder.parent if folder.name == "node_modules" else folder
    manifest = folder / "node_modules" / "@ag-ui" / "client" / "package.json"
    if not manifest.exists():
        return f"the client is not installed: {_HOW}"
    found = json.loads(manifest.read_text(encoding="utf-8"))["version"]
    return (node, folder) if found == VERSION else f"version {found} is installed: {_HOW}"


class _Client:
    """The Node process, which measures on request."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the TypeScript client's process ended; standard error says why")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{json.dumps(request)}\n")
        self._process.stdin.flush()
        return self.answer()


@contextmanager
def _client(node: str, folder: Path) -> Iterator[_Client]:
    script = Path(__file__).with_name("typescript_client.mjs")
    process = subprocess.Popen(
        [node, "--expose-gc", str(script), str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    # Leaving closes standard input, which ends the process, and waits for it.
    with process:
        client = _Client(process)
        client.answer()
        yield client


def rows(sizes: Sizes) -> Iterator[Row]:
    """Text, tool calls, and text behind a long history."""
    installed = _installed()
    if isinstance(installed, str):
        for case in _cases(sizes):
            yield Row(GROUP, case.name, goal=case.goal, reason=installed)
        return
    with _client(*installed) as client, TemporaryDirectory() as scratch:
        for case in _cases(sizes):
            yield _row(case, client, Path(scratch), sizes)


def _row(case: _Case, client: _Client, scratch: Path, sizes: Sizes) -> Row:
    payloads, messages = scratch / f"{case.name}.jsonl", scratch / f"{case.name}.json"
    payloads.write_text("\n".join(case.payloads), encoding="utf-8")
    messages.write_text(json.dumps(case.history), encoding="utf-8")
    request = {"payloads": str(payloads), "messages": str(messages), "threadId": streams.THREAD_ID}
    held: set[int] = set()

    def theirs() -> float:
        answer = client.ask(request)
        held.add(answer["messages"])
        return float(answer["seconds"])

    def ours() -> float:
        seconds, count = _ours(case.payloads, case.history)
        held.add(count)
        return seconds

    pairs = interleave(ours, theirs, sizes.node_repetitions)
    if len(held) != 1:
        raise RuntimeError(f"the two clients disagree on {case.name}: they hold {sorted(held)} messages")
    count = len(case.payloads)
    figures = f"{rate(count, pairs.ours)} against {rate(count, pairs.theirs)}"
    return Row(GROUP, case.name, pairs.speed_ratios(), case.goal, figures)


def _ours(payloads: Sequence[str], history: Sequence[dict[str, Any]]) -> tuple[float, int]:
    with quiet_heap():
        fed = pipeline.prepared(history)
        start = perf_counter()
        pipeline.feed(payloads, fed)
        seconds = perf_counter() - start
    pipeline.require_completed(fed)
    return seconds, len(fed.conversation.messages)
