"""The real command line as a process, and producers on loopback to point it at."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from client_sdk.cli import main
from tests.client_sdk.interop_pydantic_ai import Server, pydantic_ai, serve

__all__ = ["Server", "pydantic_ai"]

ROOT = Path(__file__).parents[3]
SECONDS = 60
"""Nothing here takes this long; a test that hangs fails instead."""


def environment(**changes: str) -> dict[str, str]:
    """The environment of a command: as it is here, warnings as errors, `changes` on top."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COV_")}
    return kept | {"PYTHONWARNINGS": "error", "PYTHONPATH": str(ROOT)} | changes


def command(*arguments: str | Path) -> list[str]:
    """The command line as a process's argument list."""
    return [sys.executable, "-m", "client_sdk", *map(str, arguments)]


@dataclass
class Ran:
    """A command that ended."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The one document of ``--json``."""
        (line,) = self.out.splitlines()
        found = json.loads(line)
        assert isinstance(found, dict)
        return found


Cli = Callable[..., Ran]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run the command line to its end in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str | Path, stdin: bytes = b"") -> Ran:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as exit:
            status = int(exit.code or 0)
        out, err = capsys.readouterr()
        return Ran(status, out, err)

    return run


@pytest.fixture
def shell(tmp_path: Path) -> Cli:
    """Run ``python -m client_sdk`` to its end as a process, in an empty folder."""

    def run(*arguments: str | Path, stdin: bytes = b"", **changes: str) -> Ran:
        done = subprocess.run(
            command(*arguments),
            input=stdin,
            capture_output=True,
            timeout=SECONDS,
            cwd=tmp_path,
            env=environment(**changes),
            check=False,
        )
        return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


def frames(*events: dict[str, Any]) -> list[bytes]:
    """Events as SSE frames."""
    return [f"data: {json.dumps(event)}\n\n".encode() for event in events]


def started(**extra: Any) -> dict[str, Any]:
    return {"type": "RUN_STARTED", "threadId": "t-1", "runId": "r-1", **extra}


def finished(**extra: Any) -> dict[str, Any]:
    return {"type": "RUN_FINISHED", "threadId": "t-1", "runId": "r-1", **extra}


def said(text: str, id_: str = "m-1", **extra: Any) -> list[dict[str, Any]]:
    return [
        {"type": "TEXT_MESSAGE_START", "messageId": id_, "role": "assistant", **extra},
        {"type": "TEXT_MESSAGE_CONTENT", "messageId": id_, "delta": text},
        {"type": "TEXT_MESSAGE_END", "messageId": id_},
    ]


@dataclass
class Producer:
    """A producer that sends what it is told to."""

    body: Sequence[bytes | threading.Event] = ()
    status: int = 200
    content_type: str = "text/event-stream"
    url: str = ""
    requests: list[tuple[dict[str, str], dict[str, Any]]] = field(default_factory=list)

    async def answer(self, request: Request) -> Response:
        self.requests.append((dict(request.headers), await request.json()))
        return StreamingResponse(self._stream(), self.status, media_type=self.content_type)

    async def _stream(self) -> AsyncIterator[bytes]:
        for piece in self.body:
            if isinstance(piece, bytes):
                yield piece
            else:
                await asyncio.to_thread(piece.wait, SECONDS)


@pytest.fixture
def produce() -> Iterator[Callable[..., Producer]]:
    """Start a producer that sends these pieces; an event among them is waited for."""
    with ExitStack() as stack:

        def start(*body: bytes | threading.Event, **options: Any) -> Producer:
            producer = Producer(body, **options)
            app = Starlette(routes=[Route("/", producer.answer, methods=["POST"])])
            port = stack.enter_context(serve(app))
            producer.url = f"http://127.0.0.1:{port}/"
            return producer

        yield start
