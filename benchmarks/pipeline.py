"""Our pipeline alone, from payloads to conversation, in this process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from ag_ui.core import Event, Message
from pydantic import TypeAdapter

from benchmarks import streams
from benchmarks.measure import Goal, Row, Side, interleave, quiet_heap, rate, timed
from benchmarks.sizes import Sizes
from client_sdk import Pipeline, RunStatus
from client_sdk.protocol.conversation import Conversation

GROUP: Final = "pipeline ÷ strict validation alone"
HISTORIES: Final = (0, 10, 100, 1_000)

_EVENTS: TypeAdapter[Any] = TypeAdapter(Event)
_MESSAGES: TypeAdapter[list[Message]] = TypeAdapter(list[Message])


def prepared(history: Sequence[dict[str, Any]]) -> Pipeline:
    """A pipeline whose conversation holds `history`."""
    held = _MESSAGES.validate_python(list(history))
    return Pipeline(thread_id=streams.THREAD_ID, conversation=Conversation(held))


def feed(payloads: Sequence[str], pipeline: Pipeline) -> None:
    """From payloads to conversation: every frame, the end, and the conversation read once."""
    take = pipeline.feed
    for payload in payloads:
        take(payload)
    pipeline.end()
    _ = pipeline.conversation.messages


def ours(payloads: Sequence[str], history: Sequence[dict[str, Any]] = ()) -> Side:
    """The seconds our pipeline takes; building the history is not timed, holding it is."""

    def side() -> float:
        with quiet_heap():
            pipeline = prepared(history)
            seconds = timed(lambda: feed(payloads, pipeline))
        require_completed(pipeline)
        return seconds

    return side


def require_completed(pipeline: Pipeline) -> None:
    """A benchmark of a stream that was not consumed to its end would be worth nothing.

    Raises:
        RuntimeError: the pipeline did not complete the stream without a word.
    """
    if pipeline.error is not None:
        raise pipeline.error
    if pipeline.diagnostics or pipeline.ledger.runs[-1].status is not RunStatus.COMPLETED:
        raise RuntimeError(f"the generated stream is faulty: {pipeline.diagnostics}")


def validation(payloads: Sequence[str]) -> Side:
    """The seconds strict validation of the same payloads takes, with nothing done with the events."""

    def validate() -> None:
        judge = _EVENTS.validate_json
        for payload in payloads:
            judge(payload, strict=True)

    def side() -> float:
        with quiet_heap():
            return timed(validate)

    return side


def rows(sizes: Sizes) -> Iterator[Row]:
    """Kinds of stream and lengths of history against validation; what a history costs; how a call grows."""
    goal = Goal(least=0.4)
    for kind, make in streams.KINDS.items():
        yield _against_validation(kind, make(sizes.events), (), goal, sizes)
    tokens = streams.text(sizes.events)
    for length in HISTORIES:
        name = f"text tokens, {length:,} messages before"
        yield _against_validation(name, tokens, streams.history(length), goal, sizes)
    yield _history_cost(tokens, sizes)
    yield from _growth(sizes)


def _against_validation(
    name: str, payloads: Sequence[str], history: Sequence[dict[str, Any]], goal: Goal, sizes: Sizes
) -> Row:
    pairs = interleave(ours(payloads, history), validation(payloads), sizes.repetitions)
    count = len(payloads)
    figures = f"{rate(count, pairs.ours)} against {rate(count, pairs.theirs)}"
    return Row(GROUP, name, pairs.speed_ratios(), goal, figures)


def _history_cost(tokens: Sequence[str], sizes: Sizes) -> Row:
    longest = HISTORIES[-1]
    pairs = interleave(ours(tokens, streams.history(longest)), ours(tokens), sizes.repetitions)
    count = len(tokens)
    return Row(
        f"time per token, {longest:,} messages ÷ none",
        "text tokens",
        pairs.time_ratios(),
        Goal(most=1.1),
        f"{_each(pairs.ours, count)} against {_each(pairs.theirs, count)}",
    )


def _each(seconds: Sequence[float], count: int) -> str:
    return f"{sorted(seconds)[len(seconds) // 2] / count * 1e6:.2f} µs"


def _growth(sizes: Sizes) -> Iterator[Row]:
    """One call whose arguments are twice as long takes twice as long: per piece, the ratio is 1."""
    for deltas in (sizes.deltas, 2 * sizes.deltas):
        longer, shorter = streams.one_call(deltas), streams.one_call(deltas // 2)
        pairs = interleave(ours(longer), ours(shorter), sizes.repetitions)
        scale = len(shorter) / len(longer)
        yield Row(
            "time per piece of arguments, one call twice as long ÷ once",
            f"{deltas:,} pieces, {deltas * 50 / 1e6:g} MB",
            tuple(ratio * scale for ratio in pairs.time_ratios()),
            Goal(most=1.1),
            f"{_each(pairs.ours, len(longer))} against {_each(pairs.theirs, len(shorter))}",
        )
