"""Peak memory of a long replay, each in a process of its own, as the operating system counts it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks import streams
from benchmarks.measure import Row
from benchmarks.sizes import Sizes

_REPLAY: Final = """\
import resource, sys
from pathlib import Path
from client_sdk.cli import main
status = main(["replay", sys.argv[1], "--quiet"])
record = Path("/proc/self/status")
if record.exists():
    # Not what `resource` says there: that counts the parent's memory from before the program was loaded.
    peak = next(int(line.split()[1]) * 1024 for line in record.read_text().splitlines() if line.startswith("VmHWM"))
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(peak)
sys.exit(status)
"""
_MB: Final = 1_000_000
_ROOT: Final = Path(__file__).parent.parent


def _write(path: Path, events: int) -> int:
    with path.open("w", encoding="utf-8") as file:
        for payload in streams.endless_text(events):
            file.write(f"data: {payload}\n\n")
    return path.stat().st_size


def _peak(path: Path) -> int:
    """The peak resident memory of replaying the stream at `path`, in bytes."""
    done = subprocess.run(
        [sys.executable, "-c", _REPLAY, str(path)], stdout=subprocess.PIPE, text=True, check=True, cwd=_ROOT
    )
    status, peak = done.stdout.split()
    if status != "completed":
        raise RuntimeError(f"the generated stream is {status}")
    return int(peak)


def rows(sizes: Sizes) -> Iterator[Row]:
    """The peak of a long replay over that of one a hundredth as long."""
    events, few = sizes.replay_events, sizes.replay_events // 100
    with TemporaryDirectory() as scratch:
        longer, shorter = Path(scratch, "longer.sse"), Path(scratch, "shorter.sse")
        size = _write(longer, events)
        _write(shorter, few)
        # Memory hardly varies from run to run: three are enough to show that.
        peaks = [(_peak(longer), _peak(shorter)) for _ in range(min(3, sizes.repetitions))]
    long_peak, short_peak = (median(side) for side in zip(*peaks, strict=True))
    yield Row(
        f"peak memory of a replay, {events:,} events ÷ {few:,}",
        "text tokens",
        tuple(a / b for a, b in peaks),
        None,
        f"{long_peak / _MB:.0f} MB against {short_peak / _MB:.0f} MB; the longer file is {size / _MB:.1f} MB, "
        f"each event more takes {(long_peak - short_peak) / (events - few):.0f} bytes",
    )
