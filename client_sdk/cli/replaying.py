"""``replay``: judge recorded streams. Nothing is executed and nobody is asked, ever."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ag_ui.core import Event

from client_sdk.cli.files import Files, spoken
from client_sdk.cli.outcome import Exit, UsageError, exit_of, report, report_error, report_failure, show_outcome
from client_sdk.cli.render import Renderer
from client_sdk.cli.terminal import Terminal
from client_sdk.errors import ClientError, InputError, SourceError, TransportError
from client_sdk.legacy import TranscriptSink
from client_sdk.protocol.pipeline import Update
from client_sdk.replay import Replay, refused
from client_sdk.results import RunResult
from client_sdk.transport.replay import RecordedStream, read_source


def replay_command(arguments: argparse.Namespace, out: Terminal, err: Terminal) -> Exit:
    """Replay every source; the worst outcome is the exit status."""
    files, worst = Files(), Exit.FINE
    override = _override(arguments.input, files)
    for name in arguments.source:
        if len(arguments.source) > 1 and not (arguments.json or arguments.quiet):
            out.line(f"== {name}", "bold")
        worst = max(worst, _replay_one(name, files, override, arguments, out, err))
    return worst


def _override(name: str | None, files: Files) -> Mapping[str, Any] | None:
    """The run input of ``--input``, which every source answers."""
    given = None if name is None else files.read_json(name, "--input")
    if name is not None and not isinstance(given, Mapping):
        raise UsageError(f"{spoken(name)} is not a run input: expected a JSON object")
    return given


def _replay_one(
    name: str,
    files: Files,
    override: Mapping[str, Any] | None,
    arguments: argparse.Namespace,
    out: Terminal,
    err: Terminal,
) -> Exit:
    try:
        source = _source(name, files)
        given = source.input if override is None else override
        replay = Replay(given, peer_version=arguments.peer or source.max_protocol_version)
    except SourceError as error:
        return _refused(error, "", arguments, out, err)
    except InputError as error:
        return _refused(error, spoken(name), arguments, out, err)
    renderer = Renderer(out, err)
    renderer.known((given or {}).get("messages") or ())
    events: list[Event] = []
    takers: list[Callable[[Update], object]] = []
    if arguments.json:
        takers.append(lambda update: events.append(update.event))
    elif not _silent(arguments):
        takers.append(renderer.show)
    result = replay.finish(_feed(replay, source, takers))
    _show(result, events, renderer, arguments, out)
    report_failure(err, result, spoken(name))
    return exit_of(result)


def _source(name: str, files: Files) -> RecordedStream:
    try:
        data = files.read_bytes(name, "SOURCE")
    except UsageError as error:
        raise SourceError(error.message) from error
    try:
        return read_source(data)
    except SourceError as error:
        raise SourceError(f"{spoken(name)}: {error.message}") from error


def _refused(
    error: SourceError | InputError, where: str, arguments: argparse.Namespace, out: Terminal, err: Terminal
) -> Exit:
    """The source is none, or its input may not be sent (RI-1): no run, but a report all the same."""
    document = refused(error)
    if arguments.json:
        print_document(document)
    elif arguments.quiet:
        out.line(document["status"])
    report_error(err, error.message, where)
    return Exit.REJECTED if isinstance(error, InputError) else Exit.USAGE


def _silent(arguments: argparse.Namespace) -> bool:
    return bool(arguments.json or arguments.quiet or arguments.legacy)


def _feed(replay: Replay, source: RecordedStream, takers: Sequence[Callable[[Update], object]]) -> ClientError | None:
    """Feed the frames until they end, or the recording breaks as a connection would."""
    try:
        for payload in source.frames:
            for update in replay.feed(payload):
                for take in takers:
                    take(update)
    except TransportError as error:
        return error
    return None


def _show(
    result: RunResult, events: Sequence[Event], renderer: Renderer, arguments: argparse.Namespace, out: Terminal
) -> None:
    if arguments.json:
        print_document(report(result, events, legacy=arguments.legacy))
    elif arguments.quiet:
        out.line(str(result.status))
    else:
        if arguments.legacy:
            print_transcript(result, renderer)
        show_outcome(out, renderer, result)


def print_document(found: dict[str, Any]) -> None:
    """Print `found` as one line of JSON that any encoding can carry."""
    print(json.dumps(found, separators=(",", ":")), flush=True)


def print_transcript(result: RunResult, renderer: Renderer) -> None:
    """Print the conversation as the string-only transcript has it, and its losses as warnings."""
    sink = TranscriptSink(sys.stdout)
    sink.write_messages(result.messages, thread_id=result.thread_id)
    for diagnostic in sink.diagnostics:
        renderer.warn(diagnostic)
