"""Open interrupts: what an agent waits for, and the answers that let it go on (IR-1 to IR-4).

An interrupted run has ended; what continues it is a new run whose input carries
one resume entry for every interrupt, each answered or cancelled. Everything an
answer can be wrong about is found here, before anything is sent.

The response schema comes from the agent and is carried opaquely by the protocol,
so it may be no usable JSON Schema at all. Then nothing can be said against an
answer: it is accepted and the diagnostic ``response_schema_unusable`` says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from ag_ui.core import Interrupt, ResumeEntry

from client_sdk.diagnostics import Diagnostic
from client_sdk.errors import InterruptError
from client_sdk.forms import FormField, form_answer, form_fields
from client_sdk.options import MAPPING, SERIES, check_options
from client_sdk.schema import Problem, Schema, SchemaUnusable

__all__ = [
    "Cancel",
    "FormField",
    "InterruptAnswer",
    "OpenInterrupt",
    "Resolve",
    "Resume",
    "build_resume",
    "check_resume",
    "form_answer",
    "form_fields",
    "parse_expiry",
]


@dataclass(frozen=True, slots=True)
class Resolve:
    """An interrupt answered.

    Attributes:
        payload: the answer, any JSON value.
        metadata: the response's envelope (a signature, a routing key); not part of the answer.
    """

    payload: Any
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Cancel:
    """An interrupt abandoned on purpose: the only thing left to do with an expired one (IR-3).

    Attributes:
        metadata: the response's envelope.
    """

    metadata: Mapping[str, Any] | None = None


InterruptAnswer = Resolve | Cancel


class OpenInterrupt:
    """Something a run waits for, still unanswered.

    Args:
        interrupt: as the run's outcome carried it.
    """

    __slots__ = ("_schema", "_unusable", "expires", "interrupt")

    def __init__(self, interrupt: Interrupt) -> None:
        self.interrupt = interrupt
        self.expires: datetime | None = parse_expiry(interrupt.expires_at)
        """When it stops being answerable, with its zone; None when it never does, or no date is readable."""
        self._unusable: str | None = None
        self._schema: Schema | None = None
        if interrupt.response_schema is not None:
            try:
                self._schema = Schema(interrupt.response_schema)
            except SchemaUnusable as error:
                self._unusable = str(error)

    def __repr__(self) -> str:
        return f"OpenInterrupt(id={self.id!r}, reason={self.reason!r})"

    @property
    def id(self) -> str:
        """What a resume entry answers it by (str)."""
        return self.interrupt.id

    @property
    def reason(self) -> str:
        """Why the run stopped, an open vocabulary (str)."""
        return self.interrupt.reason

    @property
    def message(self) -> str | None:
        """A prompt for whoever answers (str or None)."""
        return self.interrupt.message

    @property
    def response_schema(self) -> dict[str, Any] | None:
        """The JSON Schema its answer should fit (dict or None)."""
        return self.interrupt.response_schema

    @property
    def tool_call_id(self) -> str | None:
        """The tool call it concerns; that call is blocked while this is open (str or None)."""
        return self.interrupt.tool_call_id

    @property
    def subagent_run_id(self) -> str | None:
        """The subagent that asks (str or None)."""
        return self.interrupt.subagent_run_id

    @property
    def metadata(self) -> dict[str, Any]:
        """What else came with it (dict)."""
        return self.interrupt.metadata or {}

    def expired(self, now: datetime) -> bool:
        """Whether it can only be cancelled (IR-3): its expiry is `now` or earlier.

        Args:
            now: a time with its zone.
        """
        return self.expires is not None and self.expires <= now

    def fields(self) -> list[FormField]:
        """The questions of a form for its answer; see :func:`form_fields`."""
        return form_fields(self.response_schema)

    def problems(self, payload: Any) -> list[Problem]:
        """What is wrong with `payload` by the response schema; empty when nothing is, or none can judge."""
        return self._judge(payload)[0]

    def diagnostics(self, payload: Any = None) -> list[Diagnostic]:
        """What has to be told about its schema, judged by `payload`: that it cannot be used, if so."""
        unusable = self._judge(payload)[1]
        if unusable is None:
            return []
        text = f"the response schema of interrupt {self.id!r} cannot judge answers: {unusable}"
        return [Diagnostic("response_schema_unusable", self.id, text)]

    def _judge(self, payload: Any) -> tuple[list[Problem], str | None]:
        if self._schema is None:
            return [], self._unusable
        try:
            return self._schema.problems(payload), None
        except SchemaUnusable as error:
            return [], str(error)


def parse_expiry(text: str | None) -> datetime | None:
    """Read an ``expiresAt`` as a date (IR-3).

    ISO 8601, or the date of an e-mail or HTTP header. A date without a zone is
    taken as UTC, so that every machine judges alike.

    Args:
        text: as the agent sent it.

    Returns:
        The time with its zone, or None when the text is no date: such an interrupt never expires.
    """
    if text is None:
        return None
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = read(text.strip().upper())
        except (ValueError, TypeError, OverflowError):
            continue
        return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return None


@dataclass(frozen=True, slots=True)
class Resume:
    """A resume list that may be sent.

    Attributes:
        entries: one per open interrupt, in their order.
        diagnostics: what could not be judged.
    """

    entries: tuple[ResumeEntry, ...]
    diagnostics: tuple[Diagnostic, ...] = ()


def build_resume(
    interrupts: Sequence[OpenInterrupt | Interrupt],
    answers: Mapping[str, InterruptAnswer],
    *,
    now: datetime | None = None,
) -> Resume:
    """Turn answers into the resume list of the run that continues (IR-2).

    Args:
        interrupts: everything that is open, `Thread.interrupts` say.
        answers: an answer for each, by interrupt id.
        now: the time that expiry is judged by, with its zone; the time it is by default.

    Raises:
        InterruptError: as :func:`check_resume`; ``interrupt_answer_invalid`` also for what is no answer at all.
        OptionError: ``bad_option`` — `interrupts` is no list, or `answers` no mapping.
    """
    check_options("build_resume", {"interrupts": SERIES, "answers": MAPPING}, locals())
    waiting = [one if isinstance(one, OpenInterrupt) else OpenInterrupt(one) for one in interrupts]
    known = {interrupt.id for interrupt in interrupts}
    order = [interrupt.id for interrupt in interrupts if interrupt.id in answers]
    order += [identifier for identifier in answers if identifier not in known]
    return check_resume(waiting, [_entry(i, answers[i]) for i in order], now=now or datetime.now(UTC))


def check_resume(interrupts: Sequence[OpenInterrupt], entries: Sequence[ResumeEntry], *, now: datetime) -> Resume:
    """Judge a resume list before anything is sent (IR-2, IR-3).

    Args:
        interrupts: everything that is open.
        entries: the resume list.
        now: the time that expiry is judged by, with its zone.

    Returns:
        The list, and what could not be judged.

    Raises:
        InterruptError: ``interrupt_unknown``, ``interrupt_answered_twice``, ``interrupt_uncovered``,
            ``interrupt_expired`` or ``interrupt_answer_invalid``; ``ids`` names the interrupts concerned.
    """
    by_id = {interrupt.id: interrupt for interrupt in interrupts}
    _check_ids(by_id, [entry.interrupt_id for entry in entries])
    resolved = [(by_id[entry.interrupt_id], entry.payload) for entry in entries if entry.status == "resolved"]
    expired = tuple(interrupt.id for interrupt, _ in resolved if interrupt.expired(now))
    if expired:
        raise InterruptError(
            f"{_named(expired)} expired and can only be cancelled", code="interrupt_expired", ids=expired
        )
    for interrupt, payload in resolved:
        _check_payload(interrupt, payload)
    diagnostics = [note for interrupt, payload in resolved for note in interrupt.diagnostics(payload)]
    return Resume(tuple(entries), tuple(diagnostics))


def _check_ids(by_id: Mapping[str, OpenInterrupt], given: Sequence[str]) -> None:
    unknown = tuple(dict.fromkeys(i for i in given if i not in by_id))
    if unknown:
        still_open = f"open are {', '.join(map(repr, by_id))}" if by_id else "none is open"
        raise InterruptError(
            f"{_named(unknown)} is not open on this thread; {still_open}",
            code="interrupt_unknown",
            ids=unknown,
        )
    twice = tuple(dict.fromkeys(i for i in given if given.count(i) > 1))
    if twice:
        raise InterruptError(f"{_named(twice)} is answered more than once", code="interrupt_answered_twice", ids=twice)
    uncovered = tuple(i for i in by_id if i not in given)
    if uncovered:
        raise InterruptError(
            f"{_named(uncovered)} has no answer; a continuing run answers or cancels every open interrupt",
            code="interrupt_uncovered",
            ids=uncovered,
        )


def _check_payload(interrupt: OpenInterrupt, payload: Any) -> None:
    problems = interrupt.problems(payload)
    if problems:
        said = "; ".join(map(str, problems))
        raise InterruptError(
            f"the answer to {_named([interrupt.id])} does not fit its response schema: {said}",
            code="interrupt_answer_invalid",
            ids=(interrupt.id,),
            path=problems[0].path,
        )


def _entry(interrupt_id: str, answer: InterruptAnswer) -> ResumeEntry:
    if not isinstance(answer, Resolve | Cancel):
        kind = type(answer).__name__
        raise InterruptError(
            f"the answer to the interrupt {interrupt_id!r} is neither Resolve(payload) nor Cancel(): {kind}",
            code="interrupt_answer_invalid",
            ids=(interrupt_id,),
        )
    metadata = None if answer.metadata is None else dict(answer.metadata)
    if isinstance(answer, Cancel):
        return ResumeEntry(interrupt_id=interrupt_id, status="cancelled", metadata=metadata)
    return ResumeEntry(interrupt_id=interrupt_id, status="resolved", payload=answer.payload, metadata=metadata)


def _named(ids: Sequence[str]) -> str:
    return f"interrupt{'s' if len(ids) > 1 else ''} {', '.join(map(repr, ids))}"
