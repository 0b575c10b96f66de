"""How much is measured: enough to trust, or (``--quick``) enough to see that everything runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Sizes:
    """The sizes of one run of the benchmarks.

    Attributes:
        events: events of a stream in this process.
        wire_events: events of a stream over loopback.
        node_events: events of a stream for the TypeScript client.
        node_history_events: the same with a history of 1,000 messages, which it is slow on.
        deltas: pieces of the long tool call, of 50 characters each.
        replay_events: events of the replay whose memory is measured.
        threads: conversations with tools at a time.
        repetitions: measured repetitions of each comparison.
        node_repetitions: the same against the TypeScript client.
    """

    events: int
    wire_events: int
    node_events: int
    node_history_events: int
    deltas: int
    replay_events: int
    threads: int
    repetitions: int
    node_repetitions: int


FULL: Final = Sizes(
    events=20_000,
    wire_events=20_000,
    node_events=2_000,
    node_history_events=500,
    deltas=20_000,
    replay_events=1_000_000,
    threads=500,
    repetitions=9,
    node_repetitions=7,
)
QUICK: Final = Sizes(
    events=300,
    wire_events=300,
    node_events=200,
    node_history_events=50,
    deltas=200,
    replay_events=2_000,
    threads=20,
    repetitions=2,
    node_repetitions=2,
)
