"""``run``: call an agent and show its answer as it comes."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

from ag_ui.core import Event, ResumeEntry

from client_sdk.agent import HttpAgent, Run, Thread
from client_sdk.cli.files import Files, spoken
from client_sdk.cli.outcome import Exit, UsageError, exit_of, report, report_error, report_failure, show_outcome
from client_sdk.cli.render import Renderer
from client_sdk.cli.replaying import print_document, print_transcript
from client_sdk.cli.terminal import Terminal
from client_sdk.cli.tooling import AskInterrupts, Deciders, deciders, load_registry
from client_sdk.diagnostics import Diagnostic
from client_sdk.errors import ProtocolError, TransportError
from client_sdk.interrupts import OpenInterrupt, build_resume
from client_sdk.protocol.outgoing import wire
from client_sdk.protocol.pipeline import Update
from client_sdk.protocol.runs import RunStatus
from client_sdk.results import RunResult
from client_sdk.transport.base import Transport
from client_sdk.transport.http import HttpTransport
from client_sdk.transport.replay import Recorder


def run_command(arguments: argparse.Namespace, out: Terminal, err: Terminal) -> Exit:
    """Carry one conversation as far as it goes."""
    if arguments.message is None and arguments.messages is None:
        raise UsageError("nothing to say: give -m TEXT or --messages FILE")
    start = _start(arguments)
    with _recording(arguments.record) as recording:
        transport: Transport = HttpTransport(arguments.url, headers=dict(arguments.header), timeout=arguments.timeout)
        if recording is not None:
            transport = Recorder(recording).tee(transport)
        agent = HttpAgent(arguments.url, transport=transport, peer_version=arguments.peer)
        return asyncio.run(_converse(agent, start, arguments, out, err))


def _start(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the thread starts from, as the files say."""
    files = Files()
    start: dict[str, Any] = {"tools": None if arguments.tools is None else load_registry(arguments.tools)}
    if arguments.messages is not None:
        start["messages"] = files.read_json(arguments.messages, "--messages")
        if not isinstance(start["messages"], list):
            raise UsageError(f"{spoken(arguments.messages)} is not a list of messages")
    if arguments.state is not None:
        start["state"] = files.read_json(arguments.state, "--state")
    return start


def _recording(name: str | None) -> contextlib.AbstractContextManager[BinaryIO | None]:
    if name is None:
        return contextlib.nullcontext()
    try:
        return Path(name).open("wb")
    except OSError as error:
        raise UsageError(f"{name} cannot be written: {error.strerror or error}") from error


async def _converse(
    agent: HttpAgent, start: dict[str, Any], arguments: argparse.Namespace, out: Terminal, err: Terminal
) -> Exit:
    who = deciders(arguments, err)
    registry = start.pop("tools")
    if registry is not None and not arguments.no_tools:
        start |= {"tools": registry, "consent": who.consent, "answer_interrupts": who.interrupts}
        who = Deciders()
    elif registry is not None:
        start["tools"] = registry.to_tools()
    async with agent:
        thread = agent.thread(arguments.thread, **start)
        if arguments.message is None and not any(message.role != "activity" for message in thread.messages):
            raise UsageError(f"nothing to say: {_why_nothing(start['messages'], arguments.messages)}; give -m TEXT")
        return await _carry(thread, who.interrupts, arguments, out, err)


def _why_nothing(messages: Sequence[Any], name: str) -> str:
    """Why of `messages`, from file `name`, none is left to send: unknown roles are dropped, activities stay here."""
    if not messages:
        return f"{spoken(name)} holds no messages"
    roles = ", ".join(sorted({repr(message["role"]) for message in messages}))
    return f"{spoken(name)} holds no message that is sent to an agent, only such of role {roles}"


async def _carry(
    thread: Thread, ask: AskInterrupts | None, arguments: argparse.Namespace, out: Terminal, err: Terminal
) -> Exit:
    """Carry the conversation on until it rests, then show how it came out.

    A thread with a registry carries itself on; without one, `ask` answers its interrupts here.
    """
    renderer = Renderer(out, err)
    renderer.known(wire(message) for message in thread.messages)
    shown = None if arguments.json or arguments.quiet or arguments.legacy else renderer
    events: list[Event] | None = [] if arguments.json else None
    told: list[Diagnostic] = []
    run, stopped = thread.run(arguments.message), False
    while True:
        stopped = await _follow(run, events, shown)
        if stopped or run.result.status is not RunStatus.INTERRUPTED or ask is None:
            break
        resume, stopped = await _answered(thread, ask)
        if resume is None:
            break
        told += run.result.diagnostics
        run = thread.run(resume=resume)
    result = replace(run.result, diagnostics=[*told, *run.result.diagnostics])
    _show(result, events, renderer, arguments, out)
    if stopped:
        report_error(err, "stopped")
        return Exit.TRUNCATED
    if isinstance(result.error, TransportError):
        report_error(err, result.error.message)
    else:
        report_failure(err, result)
    return exit_of(result)


def _show(
    result: RunResult, events: list[Event] | None, renderer: Renderer, arguments: argparse.Namespace, out: Terminal
) -> None:
    renderer.close()
    if events is not None:
        print_document(report(result, events, legacy=arguments.legacy))
    elif arguments.quiet:
        out.line(str(result.status))
    else:
        if arguments.legacy:
            print_transcript(result, renderer)
        show_outcome(out, renderer, result)


async def _follow(run: Run, events: list[Event] | None, renderer: Renderer | None) -> bool:
    """Read `run` to its end; True when the user stopped it before. Its result says how it ended.

    Raises:
        asyncio.CancelledError: the user stopped it before anything was sent, so there is no result.
    """
    try:
        async with run:
            async for update in run:
                if events is not None and isinstance(update, Update):
                    events.append(update.event)
                if renderer is not None:
                    renderer.show(update)
    except (ProtocolError, TransportError):
        return False
    except asyncio.CancelledError:
        if not _has_result(run):
            raise
        _go_on_after_ctrl_c()
        return True
    return False


def _has_result(run: Run) -> bool:
    try:
        return run.result is not None
    except RuntimeError:
        return False


async def _answered(thread: Thread, ask: AskInterrupts) -> tuple[Sequence[ResumeEntry] | None, bool]:
    """Answers to what the thread's last run asks, None where it stays open; True when the user stopped."""
    waiting = [OpenInterrupt(interrupt) for interrupt in thread.interrupts]
    try:
        answers = await ask(waiting)
    except asyncio.CancelledError:
        _go_on_after_ctrl_c()
        return None, True
    if answers is None:
        return None, False
    return build_resume(waiting, answers, now=datetime.now(UTC)).entries, False


def _go_on_after_ctrl_c() -> None:
    """The connection is closed by now; what was delivered is still to be shown (TR-2)."""
    task = asyncio.current_task()
    assert task is not None  # only a task is cancelled
    task.uncancel()
