"""The agent the benchmarks talk to: a process of its own on loopback, fast enough never to be what is measured.

``python -m benchmarks.server FOLDER`` serves each ``NAME.jsonl`` of the folder,
one payload a line, at ``/NAME/coalesced`` (as many events a chunk as fit into
64 KiB) and at ``/NAME/flushed`` (each event a chunk and a write of its own), and
at ``/tools`` an agent that asks for one frontend tool and thanks for its answer.
It prints its port and ends when its standard input does.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

BLOCK: Final = 64 * 1024
MODES: Final = ("coalesced", "flushed")

_HEAD: Final = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n"
    b"transfer-encoding: chunked\r\n\r\n"
)
_LAST: Final = b"0\r\n\r\n"
_NOT_FOUND: Final = b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"


@contextmanager
def serving(files: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Serve `files` (name to payloads) from a process of its own; gives the base URL."""
    with TemporaryDirectory() as folder:
        for name, payloads in files.items():
            Path(folder, f"{name}.jsonl").write_text("".join(f"{line}\n" for line in payloads), encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.server", folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parent.parent,
            text=True,
        )
        # Leaving closes both pipes, which ends the process, and waits for it.
        with process:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _frame(payload: str) -> bytes:
    return f"data: {payload}\n\n".encode()


def _blocks(frames: Sequence[bytes]) -> Iterator[bytes]:
    held = b""
    for frame in frames:
        if held and len(held) + len(frame) > BLOCK:
            yield held
            held = b""
        held += frame
    yield held


def _load(folder: Path) -> dict[str, list[bytes]]:
    """What is written for each path, ready to be sent."""
    ready = {}
    for file in folder.glob("*.jsonl"):
        frames = [_frame(line) for line in file.read_text(encoding="utf-8").splitlines()]
        ready[f"/{file.stem}/coalesced"] = [_chunk(block) for block in _blocks(frames)]
        ready[f"/{file.stem}/flushed"] = [_chunk(frame) for frame in frames]
    return ready


class _Server:
    def __init__(self, ready: dict[str, list[bytes]]) -> None:
        self._ready = ready

    async def connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until the client has had enough."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                body = await reader.readexactly(_content_length(head))
                await self._answer(head.split(b" ", 2)[1].decode(), body, writer)
        writer.close()

    async def _answer(self, path: str, body: bytes, writer: asyncio.StreamWriter) -> None:
        chunks = [_chunk(b"".join(map(_frame, _tool_run(json.loads(body)))))] if path == "/tools" else None
        chunks = self._ready.get(path) if chunks is None else chunks
        if chunks is None:
            writer.write(_NOT_FOUND)
            return
        writer.write(_HEAD)
        for chunk in chunks:
            writer.write(chunk)
            await writer.drain()
        writer.write(_LAST)
        await writer.drain()


def _content_length(head: bytes) -> int:
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return int(line.partition(b":")[2])
    return 0


def _tool_run(given: dict[str, Any]) -> Iterator[str]:
    """One run of the agent with a frontend tool: it calls the tool, or says what came of it."""
    frame = {"threadId": given["threadId"], "runId": given["runId"]}
    last = given["messages"][-1]
    answered = last["role"] == "tool"
    yield from map(json.dumps, [{"type": "RUN_STARTED", **frame, "protocolVersion": "1.0"}])
    yield from map(json.dumps, _thanks(given["runId"], last) if answered else _call(given["runId"]))
    yield from map(json.dumps, [{"type": "RUN_FINISHED", **frame}])


def _call(run: str) -> Iterator[dict[str, Any]]:
    call = f"call-{run}"
    yield {"type": "TOOL_CALL_START", "toolCallId": call, "toolCallName": "highlight"}
    for piece in ('{"order', '": 4', "2}"):
        yield {"type": "TOOL_CALL_ARGS", "toolCallId": call, "delta": piece}
    yield {"type": "TOOL_CALL_END", "toolCallId": call}


def _thanks(run: str, answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    message = f"message-{run}"
    yield {"type": "TEXT_MESSAGE_START", "messageId": message, "role": "assistant"}
    for word in ("Thank ", "you: ", answer["content"]):
        yield {"type": "TEXT_MESSAGE_CONTENT", "messageId": message, "delta": word}
    yield {"type": "TEXT_MESSAGE_END", "messageId": message}


async def _serve(folder: Path) -> None:
    # Connections are opened all at once where hundreds of threads start together.
    server = await asyncio.start_server(_Server(_load(folder)).connection, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1])))
