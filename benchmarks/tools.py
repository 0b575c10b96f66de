"""Many threads at once on one event loop, each with a frontend tool of its own, against one agent on loopback.

Each thread asks, is called for its tool, runs it, answers, and reads the thanks:
two exchanges and one execution. It happens in a process of its own
(``python -m benchmarks.tools URL THREADS ROUNDS``), so that what is left behind
afterwards can be counted.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter, process_time
from typing import Final

from benchmarks.measure import Goal, Row
from benchmarks.server import serving
from benchmarks.sizes import Sizes
from client_sdk import HttpAgent, RunStatus, ToolRegistry

_ROLES: Final = ["user", "assistant", "tool", "assistant"]
_FEWER: Final = 10
"""How many times fewer threads the small round has, to see what company costs."""
_HANDLER_SECONDS: Final = 0.01
_MB: Final = 1_000_000


@dataclass
class Round:
    """What one round of threads took, and what it left behind.

    Attributes:
        finished: seconds from the common start to the end of each thread.
        processor: seconds of processor time of the whole round.
        memory: resident bytes afterwards, the agent closed.
        tasks: asyncio tasks left.
        sockets: open sockets left.
    """

    finished: list[float] = field(default_factory=list)
    processor: float = 0.0
    memory: int = 0
    tasks: int = 0
    sockets: int = 0


async def _converse(agent: HttpAgent, number: int, start: float) -> float:
    """Carry one thread to its rest; returns when it came to that.

    Raises:
        RuntimeError: it did not come out as it should.
    """
    registry = ToolRegistry()
    ran: list[int] = []

    @registry.tool(side_effects=False)
    async def highlight(order: int) -> str:
        """Highlight an order in the table.

        Args:
            order: its number.
        """
        await asyncio.sleep(_HANDLER_SECONDS)
        ran.append(order)
        return f"order {order} is highlighted for thread {number}"

    thread = agent.thread(tools=registry)
    async with thread.run("Which one is late?") as run:
        async for _ in run:
            pass
    seconds = perf_counter() - start
    roles = [message.role for message in thread.messages]
    if run.result.status is not RunStatus.COMPLETED or roles != _ROLES or ran != [42]:
        raise RuntimeError(f"thread {number} ended {run.result.status} with {roles}; its tool ran for {ran}")
    if not run.result.text.endswith(f"thread {number}"):
        raise RuntimeError(f"thread {number} was given another one's answer: {run.result.text!r}")
    return seconds


async def _round(url: str, threads: int) -> Round:
    """All threads at once; whatever goes wrong in one of them is raised."""
    busy = process_time()
    start = perf_counter()
    async with HttpAgent(url) as agent, asyncio.TaskGroup() as group:
        tasks = [group.create_task(_converse(agent, number, start)) for number in range(threads)]
    spent = process_time() - busy
    finished = [task.result() for task in tasks]
    del tasks
    # A connection is closed in the loop's next turns.
    for _ in range(5):
        await asyncio.sleep(0)
    gc.collect()
    return Round(finished, spent, _memory(), len(asyncio.all_tasks()) - 1, _sockets())


def _memory() -> int:
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _sockets() -> int:
    """The sockets this process has open, where the system tells; the event loop's own are among them."""
    folder = Path("/proc/self/fd")
    names = [os.readlink(entry) for entry in folder.iterdir() if entry.is_symlink()] if folder.exists() else []
    return sum(name.startswith("socket:") for name in names)


async def _rounds(url: str, threads: int, rounds: int) -> list[tuple[Round, Round]]:
    """Big and small rounds in turns; the first of each, which fills caches and pools, comes along too."""
    return [(await _round(url, threads), await _round(url, threads // _FEWER)) for _ in range(rounds + 1)]


def _measured(url: str, sizes: Sizes) -> list[tuple[Round, Round]]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.tools", url, str(sizes.threads), str(sizes.repetitions)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=Path(__file__).parent.parent,
    )
    return [(Round(**big), Round(**small)) for big, small in json.loads(done.stdout)]


def rows(sizes: Sizes) -> Iterator[Row]:
    """No thread starves, nothing leaks, and company costs a thread nothing."""
    with serving({}) as base:
        warm, *measured = _measured(f"{base}/tools", sizes)
    group = f"{sizes.threads} threads with a tool each, at once"
    before = warm[1]
    slowest = [max(big.finished) for big, _ in measured]
    middle = [median(big.finished) for big, _ in measured]
    yield Row(
        group,
        "slowest thread ÷ median thread",
        tuple(a / b for a, b in zip(slowest, middle, strict=True)),
        Goal(most=2),
        f"{median(slowest):.2f} s against {median(middle):.2f} s; all {sizes.threads} completed in every round",
    )
    last = measured[-1][1]
    yield Row(
        group,
        "memory after a round ÷ after the first",
        tuple(small.memory / before.memory for _, small in measured),
        Goal(most=1.1),
        f"{last.memory / _MB:.0f} MB against {before.memory / _MB:.0f} MB; "
        f"tasks {before.tasks} → {last.tasks}, sockets {before.sockets} → {last.sockets}",
    )
    fewer = sizes.threads // _FEWER
    each = [(big.processor / len(big.finished), small.processor / len(small.finished)) for big, small in measured]
    yield Row(
        group,
        f"processor time a thread, {sizes.threads} at once ÷ {fewer}",
        tuple(a / b for a, b in each),
        Goal(most=1.5),
        f"{median(a for a, _ in each) * 1e3:.2f} ms against {median(b for _, b in each) * 1e3:.2f} ms",
    )


if __name__ == "__main__":
    _url, _threads, _count = sys.argv[1:]
    _done = asyncio.run(_rounds(_url, int(_threads), int(_count)))
    print(json.dumps([(asdict(big), asdict(small)) for big, small in _done]))
