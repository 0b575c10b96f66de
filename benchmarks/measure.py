"""Two sides, measured in turns.

A ratio is only as good as the quiet of the machine, so both sides are run again
and again in one process, one directly after the other, and who goes first
changes every time. Each repetition gives one ratio; the table shows their median
and their range. A slow spell of the machine then hits both sides of a repetition
alike, or shows in the range.

What happens in this process alone is timed by its processor time, which leaves
out what other programs of the machine take; what two processes do together is
timed by the clock on the wall.

Garbage collection stays on while a side is timed, because it is on for users.
Before each timing everything is collected, and what exists by then (the
generated streams above all) is frozen, so that neither side pays for the
benchmark's own data; what a side builds, a long history included, it pays for.
"""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from time import process_time
from typing import Any

Side = Callable[[], float]
"""One side of a comparison: does its work once, returns the seconds that the timed part took."""


@dataclass(frozen=True)
class Goal:
    """What a ratio should be."""

    least: float | None = None
    most: float | None = None

    def met_by(self, ratio: float) -> bool:
        """Whether `ratio` reaches the goal."""
        return (self.least is None or ratio >= self.least) and (self.most is None or ratio <= self.most)

    def __str__(self) -> str:
        return f"≥ {self.least:g}" if self.least is not None else f"≤ {self.most:g}"


@dataclass(frozen=True)
class Row:
    """One row of the table.

    Attributes:
        group: what is compared.
        name: on what.
        ratios: one ratio a repetition; none when it was not measured.
        goal: what the median should be; None where a figure is told without one.
        figures: the absolute figures of both sides, as text.
        reason: why it was not measured.
    """

    group: str
    name: str
    ratios: tuple[float, ...] = ()
    goal: Goal | None = None
    figures: str = ""
    reason: str = ""

    @property
    def ratio(self) -> float | None:
        """The median of the ratios."""
        return median(self.ratios) if self.ratios else None

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None without a goal or a measurement."""
        return None if self.ratio is None or self.goal is None else self.goal.met_by(self.ratio)

    def document(self) -> dict[str, Any]:
        """The row as a JSON object."""
        return {
            "group": self.group,
            "name": self.name,
            "ratio": self.ratio,
            "min": min(self.ratios, default=None),
            "max": max(self.ratios, default=None),
            "ratios": list(self.ratios),
            "goal": None if self.goal is None else str(self.goal),
            "met": self.met,
            "figures": self.figures,
            "notMeasured": self.reason or None,
        }


@dataclass
class Pairs:
    """The seconds of both sides, repetition by repetition."""

    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)

    def speed_ratios(self, ours: float = 1.0, theirs: float = 1.0) -> tuple[float, ...]:
        """How many times as fast ours is, when a side did that many units of work in its time."""
        return tuple((ours / a) / (theirs / b) for a, b in zip(self.ours, self.theirs, strict=True))

    def time_ratios(self) -> tuple[float, ...]:
        """How many times as long ours takes."""
        return tuple(a / b for a, b in zip(self.ours, self.theirs, strict=True))


@contextmanager
def quiet_heap() -> Iterator[None]:
    """Collect and freeze what exists, so that it costs nothing while a side is timed."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def timed(work: Callable[[], object]) -> float:
    """The seconds of processor time that `work` takes in this process."""
    start = process_time()
    work()
    return process_time() - start


def interleave(ours: Side, theirs: Side, repetitions: int) -> Pairs:
    """Run both sides `repetitions` times in turns, after one run of each that does not count."""
    pairs = Pairs()
    ours()
    theirs()
    for repetition in range(repetitions):
        if repetition % 2:
            pairs.theirs.append(theirs())
            pairs.ours.append(ours())
        else:
            pairs.ours.append(ours())
            pairs.theirs.append(theirs())
    return pairs


def rate(units: float, seconds: list[float]) -> str:
    """Units a second, from the median of `seconds`."""
    return f"{_rounded(units / median(seconds)):,}/s"


def _rounded(value: float) -> int:
    """`value` to three digits: more would not be reproducible."""
    return int(round(value, 2 - math.floor(math.log10(value))))
