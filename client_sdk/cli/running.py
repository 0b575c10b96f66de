"""``run``: call an agent and show its answer as it comes."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from pathlib import Path
from typing import Any, BinaryIO

from ag_ui.core import Event

from client_sdk.agent import HttpAgent, Run, Thread
from client_sdk.cli.files import read_json
from client_sdk.cli.outcome import Exit, UsageError, exit_of, report, report_error, report_failure, show_outcome
from client_sdk.cli.render import Renderer
from client_sdk.cli.replaying import print_document, print_transcript
from client_sdk.cli.terminal import Terminal
from client_sdk.errors import ProtocolError, TransportError
from client_sdk.protocol.outgoing import wire
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
    start: dict[str, Any] = {}
    if arguments.messages is not None:
        start["messages"] = read_json(arguments.messages)
        if not isinstance(start["messages"], list):
            raise UsageError(f"{arguments.messages} is not a list of messages")
    if arguments.state is not None:
        start["state"] = read_json(arguments.state)
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
    async with agent:
        thread = agent.thread(arguments.thread, **start)
        return await _one_run(thread, arguments, out, err)


async def _one_run(thread: Thread, arguments: argparse.Namespace, out: Terminal, err: Terminal) -> Exit:
    renderer = Renderer(out, err)
    renderer.known(wire(message) for message in thread.messages)
    silent = arguments.json or arguments.quiet or arguments.legacy
    run = thread.run(arguments.message)
    events: list[Event] = []
    stopped = await _follow(run, events, None if silent else renderer)
    result = run.result
    if arguments.json:
        print_document(report(result, events, legacy=arguments.legacy))
    elif arguments.quiet:
        out.line(str(result.status))
    else:
        if arguments.legacy:
            print_transcript(result, renderer)
        show_outcome(out, renderer, result)
    if stopped:
        report_error(err, "stopped")
    elif isinstance(result.error, TransportError):
        report_error(err, result.error.message)
    else:
        report_failure(err, result)
    return exit_of(result)


async def _follow(run: Run, events: list[Event], renderer: Renderer | None) -> bool:
    """Read `run` to its end; True when the user stopped it before. Its result says how it ended."""
    try:
        async with run:
            async for update in run:
                events.append(update.event)
                if renderer is not None:
                    renderer.show(update)
    except (ProtocolError, TransportError):
        return False
    except asyncio.CancelledError:
        # Ctrl-C. The connection is closed by now; what was delivered is still to be shown (TR-2).
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()
        return True
    return False
