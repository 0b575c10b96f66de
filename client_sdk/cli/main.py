"""The command line: what may be asked for, and what comes back (the exit statuses are `Exit`)."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from client_sdk.cli.outcome import Exit, report_error
from client_sdk.cli.replaying import replay_command
from client_sdk.cli.running import run_command
from client_sdk.cli.terminal import Terminal, one_line
from client_sdk.cli.version import PACKAGE, package_version
from client_sdk.diagnostics import logger
from client_sdk.errors import ClientError
from client_sdk.protocol.compat import Peer

_EPILOG = """\
exit status: 0 completed, interrupted or cancelled; 1 the run failed; 2 wrong use; 3 the stream broke the
rules; 4 the stream ended before the run did, or was stopped; 5 the connection failed or broke. Of several
sources the highest counts."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters:
        argv: the arguments after the program's name; those of the process by default.

    Returns:
        The exit status.
    """
    _stand_in_for_closed_streams()
    arguments = _parser().parse_args(argv)
    out = Terminal(sys.stdout)
    err = Terminal(sys.stderr, beside=out)
    handler = _LogLines(err)
    logger.addHandler(handler)
    try:
        return int(arguments.command(arguments, out, err))
    except ClientError as error:
        report_error(err, error.message)
        return Exit.USAGE
    except BrokenPipeError:
        # Whoever read our output has gone; what the interpreter still holds of it has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.TRUNCATED
    except OSError as error:
        report_error(err, error)
        return Exit.USAGE
    except KeyboardInterrupt:
        report_error(err, "stopped")
        return Exit.TRUNCATED
    finally:
        logger.removeHandler(handler)


def _stand_in_for_closed_streams() -> None:
    """A shell may start a program with a standard stream closed (``>&-``); Python then has None in its place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - as long as the process


class _LogLines(logging.Handler):
    """Log records as lines on standard error; diagnostics are shown as such and not twice."""

    def __init__(self, err: Terminal) -> None:
        super().__init__(logging.WARNING)
        self._err = err

    def emit(self, record: logging.LogRecord) -> None:
        if not hasattr(record, "diagnostic"):
            self._err.line(one_line(f"{record.levelname.lower()}: {record.getMessage()}"), "yellow")


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with a command line on one line, without the usage in front of it."""

    def error(self, message: str) -> NoReturn:
        self.exit(Exit.USAGE, one_line(f"error: {message}; see {self.prog} --help") + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m client_sdk", description="Talk to an AG-UI 1.0 agent.", epilog=_EPILOG)
    parser.add_argument("--version", action="version", version=f"{PACKAGE} {package_version()}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_run(commands)
    _add_replay(commands)
    return parser


def _add_run(commands: argparse._SubParsersAction[_Parser]) -> None:
    run = commands.add_parser("run", help="call an agent and show its answer as it comes", epilog=_EPILOG)
    run.set_defaults(command=run_command)
    run.add_argument("url", metavar="URL", help="the agent's address")
    run.add_argument("-m", "--message", metavar="TEXT", help="what to say; without it, the messages go on")
    run.add_argument("--header", action="append", default=[], type=_header, metavar="'NAME: VALUE'")
    run.add_argument("--thread", metavar="ID", help="the thread's id (default: a new one)")
    run.add_argument("--state", metavar="FILE", help="JSON: the state to start from")
    run.add_argument("--messages", metavar="FILE", help="JSON: the list of messages to start from")
    run.add_argument("--record", metavar="FILE", help="write the raw stream there, for replay")
    run.add_argument("--timeout", type=_seconds, metavar="SECONDS", help="how long the agent may be silent")
    _add_tools(run)
    _add_output(run)


def _add_tools(run: argparse.ArgumentParser) -> None:
    tools = run.add_argument_group(
        "frontend tools and interrupts",
        "Calls are run and interrupts answered with the consent of whoever sits at the terminal, until the "
        "thread rests. Without a terminal, what needs consent is declined and interrupts stay open.",
    )
    tools.add_argument("--tools", metavar="MODULE:REGISTRY", help="offer and run the tools of a ToolRegistry")
    whose = tools.add_mutually_exclusive_group()
    whose.add_argument("--yes", action="store_true", help="consent to every call without asking")
    whose.add_argument(
        "--no-tools", action="store_true", help="run nothing, ask nothing: calls and interrupts stay open"
    )


def _add_replay(commands: argparse._SubParsersAction[_Parser]) -> None:
    replay = commands.add_parser("replay", help="judge recorded streams; executes nothing", epilog=_EPILOG)
    replay.set_defaults(command=replay_command)
    replay.add_argument(
        "source",
        nargs="+",
        metavar="SOURCE",
        help="a file, or - for standard input: SSE text, JSON Lines, a JSON list of events, or a fixture",
    )
    replay.add_argument("--input", metavar="FILE", help="JSON: the RunAgentInput the stream answers")
    _add_output(replay)


def _add_output(command: argparse.ArgumentParser) -> None:
    output = command.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print one JSON document, on one line")
    output.add_argument("--quiet", action="store_true", help="print the status alone")
    command.add_argument(
        "--legacy", action="store_true", help="print what a store of strings keeps, and warn of what it loses"
    )
    command.add_argument("--peer", type=_version, metavar="VERSION", help="what the agent is known to speak")


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not 'NAME: VALUE'")
    return name.strip(), value.strip()


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return seconds


def _version(text: str) -> str:
    try:
        Peer(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text
