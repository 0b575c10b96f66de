"""The one execution gate: may this call run? (FT-3 to FT-8, TC-2, TC-3)

:func:`decide` is a pure function over :class:`CallFacts`, and the whole of it is
the table :data:`RULES`: rows are tried in order and the first that matches
decides. There are four verdicts:

``execute``  it may run now: everything the rules ask for is there.
``ask``      it may run once the user consents to exactly these arguments.
``hold``     it neither runs nor is answered by itself: somebody has to say more first.
``refuse``   it will never run; the agent is answered with the reason.

The README's tables are generated from here: :func:`as_markdown` and
:func:`rules_as_markdown`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from client_sdk.tools.arguments import ArgumentState
from client_sdk.tools.calls import RunStatus


class CallText(StrEnum):
    """What is known of a call's argument text (TC-2, TC-3)."""

    COMPLETE = "complete"
    INCOMPLETE = "incomplete"
    """TOOL_CALL_END never came: the text is a prefix of something."""
    RESTATED = "restated"
    """A later run stated the call again with other arguments: nobody knows which are meant."""


class RunPlace(StrEnum):
    """Where the run that made the call stood on its stream (FT-8, LC-7)."""

    REQUESTED = "requested"
    REPLAYED = "replayed"
    """Before the requested one: a run of the past, which somebody else may have answered."""


class InterruptState(StrEnum):
    """Whether the agent asks about this very call (IR-2)."""

    NONE = "none"
    OPEN = "open"
    CANCELLED = "cancelled"
    """It asked, and the user abandoned the question."""


class ToolState(StrEnum):
    """What the application made of the name the call bears (FT-1, FT-6)."""

    OFFERED = "offered"
    HANDLED = "handled"
    """Never offered, but the application registered a handler for calls of this very name."""
    BY_HAND = "by_hand"
    """Offered without a handler: the application answers its calls itself."""
    NOT_OFFERED = "not_offered"
    """Registered, but not offered in this run."""
    UNKNOWN = "unknown"
    HELD_BY_AGENT = "held_by_agent"
    """Unknown, in a run that asks without naming a call: it may be the one the agent asks about."""


class JournalState(StrEnum):
    """What the journal says of the call, for exactly these arguments (FT-8)."""

    NEW = "new"
    GRANTED = "granted"
    DECLINED = "declined"
    STARTED = "started"
    ANSWERED = "answered"
    ABANDONED = "abandoned"


class ConsentNeed(StrEnum):
    """Whether the tool's policy asks for consent to this call (FT-6)."""

    NOT_NEEDED = "not_needed"
    NEEDED = "needed"


class Verdict(StrEnum):
    """What the gate says of a call."""

    EXECUTE = "execute"
    ASK = "ask"
    HOLD = "hold"
    REFUSE = "refuse"


class RefusalReason(StrEnum):
    """Why a call does not run. These names are part of the public interface."""

    ALREADY_ANSWERED = "already_answered"
    DECLINED = "declined"
    ABANDONED = "abandoned"
    MAY_HAVE_HAPPENED = "may_have_happened"
    OPEN_INTERRUPT = "open_interrupt"
    INTERRUPT_CANCELLED = "interrupt_cancelled"
    RUN_FAILED = "run_failed"
    RUN_CANCELLED = "run_cancelled"
    RUN_REJECTED = "run_rejected"
    RUN_TRUNCATED = "run_truncated"
    RUN_REPLAYED = "run_replayed"
    INCOMPLETE_CALL = "incomplete_call"
    RESTATED_CALL = "restated_call"
    NO_HANDLER = "no_handler"
    UNKNOWN_TOOL = "unknown_tool"
    TOOL_NOT_OFFERED = "tool_not_offered"
    ARGUMENTS_NOT_JSON = "arguments_not_json"
    ARGUMENTS_NOT_AN_OBJECT = "arguments_not_an_object"
    ARGUMENTS_INVALID = "arguments_invalid"


@dataclass(frozen=True, slots=True)
class CallFacts:
    """Everything the decision depends on.

    Attributes:
        run: how the run that made the call ended.
        place: whether that run is the one that was asked for.
        text: what is known of its argument text.
        interrupt: whether the agent asks about it.
        tool: what its name means here.
        arguments: what the argument text turned out to be.
        journal: what the journal says of it.
        consent: whether the tool's policy asks for consent to it.
    """

    run: RunStatus = RunStatus.COMPLETED
    place: RunPlace = RunPlace.REQUESTED
    text: CallText = CallText.COMPLETE
    interrupt: InterruptState = InterruptState.NONE
    tool: ToolState = ToolState.OFFERED
    arguments: ArgumentState = ArgumentState.VALID
    journal: JournalState = JournalState.NEW
    consent: ConsentNeed = ConsentNeed.NEEDED


@dataclass(frozen=True, slots=True)
class Decision:
    """The gate's word on one call.

    Attributes:
        verdict: execute, ask, hold or refuse.
        reason: why not, for ``hold`` and ``refuse``; None otherwise.
    """

    verdict: Verdict
    reason: RefusalReason | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the gate.

    Attributes:
        when: facts and the value that each must have; an absent fact may be anything.
        decision: what the row says.
        because: the reason in a sentence, for the README.
    """

    when: Mapping[str, StrEnum]
    decision: Decision
    because: str


def _hold(reason: RefusalReason) -> Decision:
    return Decision(Verdict.HOLD, reason)


def _refuse(reason: RefusalReason) -> Decision:
    return Decision(Verdict.REFUSE, reason)


RULES: tuple[Rule, ...] = (
    Rule(
        {"journal": JournalState.ANSWERED},
        _refuse(RefusalReason.ALREADY_ANSWERED),
        "It has its answer; that answer goes out again, the call does not run again (FT-8).",
    ),
    Rule(
        {"journal": JournalState.DECLINED},
        _refuse(RefusalReason.DECLINED),
        "The user said no (FT-4).",
    ),
    Rule(
        {"journal": JournalState.ABANDONED},
        _refuse(RefusalReason.ABANDONED),
        "It was given up.",
    ),
    Rule(
        {"journal": JournalState.STARTED},
        _hold(RefusalReason.MAY_HAVE_HAPPENED),
        "It was started and nothing was heard since: somebody has to say what became of it (FT-8).",
    ),
    Rule(
        {"interrupt": InterruptState.OPEN},
        _hold(RefusalReason.OPEN_INTERRUPT),
        "The agent still asks about this call; the interrupt is answered, not the call (IR-2).",
    ),
    Rule(
        {"tool": ToolState.HELD_BY_AGENT},
        _hold(RefusalReason.OPEN_INTERRUPT),
        "It is no tool of ours, and the agent asks something without saying about which call (IR-2).",
    ),
    Rule(
        {"interrupt": InterruptState.CANCELLED},
        _refuse(RefusalReason.INTERRUPT_CANCELLED),
        "The agent asked about this call and the question was abandoned.",
    ),
    Rule({"run": RunStatus.FAILED}, _refuse(RefusalReason.RUN_FAILED), "Its run failed (LC-6)."),
    Rule({"run": RunStatus.CANCELLED}, _refuse(RefusalReason.RUN_CANCELLED), "Its run was stopped (LC-5)."),
    Rule({"run": RunStatus.REJECTED}, _refuse(RefusalReason.RUN_REJECTED), "Its stream broke the rules (PL-4)."),
    Rule(
        {"text": CallText.INCOMPLETE},
        _refuse(RefusalReason.INCOMPLETE_CALL),
        "Its arguments never ended: the text is a prefix (TC-2).",
    ),
    Rule(
        {"tool": ToolState.UNKNOWN},
        _refuse(RefusalReason.UNKNOWN_TOOL),
        "It names no tool of this application (FT-6).",
    ),
    Rule(
        {"tool": ToolState.NOT_OFFERED},
        _refuse(RefusalReason.TOOL_NOT_OFFERED),
        "Its tool was not offered in that run (FT-6).",
    ),
    Rule(
        {"text": CallText.RESTATED},
        _refuse(RefusalReason.RESTATED_CALL),
        "It was stated twice with different arguments.",
    ),
    Rule(
        {"arguments": ArgumentState.NOT_JSON},
        _refuse(RefusalReason.ARGUMENTS_NOT_JSON),
        "Its arguments are not JSON (FT-5).",
    ),
    Rule(
        {"arguments": ArgumentState.NOT_AN_OBJECT},
        _refuse(RefusalReason.ARGUMENTS_NOT_AN_OBJECT),
        "Its arguments are no JSON object (FT-5).",
    ),
    Rule(
        {"arguments": ArgumentState.AGAINST_SCHEMA},
        _refuse(RefusalReason.ARGUMENTS_INVALID),
        "Its arguments do not satisfy the tool's schema (FT-5).",
    ),
    Rule(
        {"tool": ToolState.BY_HAND},
        _hold(RefusalReason.NO_HANDLER),
        "Its tool has no handler: the application answers it itself.",
    ),
    Rule(
        {"journal": JournalState.GRANTED},
        Decision(Verdict.EXECUTE),
        "The user consented to exactly these arguments (FT-6).",
    ),
    Rule(
        {"run": RunStatus.TRUNCATED},
        _hold(RefusalReason.RUN_TRUNCATED),
        "The stream broke off, so nothing runs by itself; the user may run or decline it (TR-1).",
    ),
    Rule(
        {"place": RunPlace.REPLAYED},
        _hold(RefusalReason.RUN_REPLAYED),
        "Its run was replayed before the requested one, and whoever saw it first may have run it;"
        " the user may run or decline it (FT-8).",
    ),
    Rule(
        {"consent": ConsentNeed.NOT_NEEDED},
        Decision(Verdict.EXECUTE),
        "The tool's policy asks for no consent to it.",
    ),
    Rule({}, Decision(Verdict.ASK), "The user is asked first (FT-6)."),
)
"""The gate, row by row: the first row whose facts all match decides."""


def decide(facts: CallFacts) -> Decision:
    """Whether a call may run.

    Args:
        facts: what is known about it.

    Returns:
        The decision of the first row of :data:`RULES` that matches.
    """
    return _matching_rule(facts).decision


def _matching_rule(facts: CallFacts) -> Rule:
    return next(rule for rule in RULES if all(getattr(facts, name) == value for name, value in rule.when.items()))


_SITUATIONS: tuple[tuple[str, Mapping[str, StrEnum]], ...] = (
    ("no consent needed", {"consent": ConsentNeed.NOT_NEEDED}),
    ("consent needed", {}),
    ("consent granted", {"journal": JournalState.GRANTED}),
    ("declined", {"journal": JournalState.DECLINED}),
    ("arguments invalid", {"arguments": ArgumentState.AGAINST_SCHEMA}),
    ("unknown tool", {"tool": ToolState.UNKNOWN}),
    ("offered without a handler", {"tool": ToolState.BY_HAND}),
    ("arguments incomplete", {"text": CallText.INCOMPLETE}),
    ("open interrupt on it", {"interrupt": InterruptState.OPEN}),
    ("of a replayed run", {"place": RunPlace.REPLAYED}),
    ("started before", {"journal": JournalState.STARTED}),
    ("answered before", {"journal": JournalState.ANSWERED}),
)


def _cell(facts: CallFacts) -> str:
    decision = decide(facts)
    return f"**{decision.verdict}**" if decision.reason is None else f"{decision.verdict}: `{decision.reason}`"


def as_markdown() -> str:
    """What is executed when: a table of call situations against run statuses, for the README."""
    header = ["the call", *(f"run {status}" for status in RunStatus)]
    lines = [header, ["---"] * len(header)]
    for title, changed in _SITUATIONS:
        cells = (_cell(CallFacts(**{"run": status, **changed})) for status in RunStatus)  # type: ignore[arg-type]
        lines.append([title, *cells])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def rules_as_markdown() -> str:
    """The gate's rows in order, for the README: the first that matches decides."""
    lines = ["| when | verdict | because |\n", "| --- | --- | --- |\n"]
    for rule in RULES:
        when = ", ".join(f"{name} is {value}" for name, value in rule.when.items()) or "otherwise"
        reason = f": `{rule.decision.reason}`" if rule.decision.reason else ""
        lines.append(f"| {when} | {rule.decision.verdict}{reason} | {rule.because} |\n")
    return "".join(lines)
