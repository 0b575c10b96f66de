"""``python -m demo_app.server``: serve the pages that are built, the backend and the agent; a signal ends it quietly.

What streams when the signal comes is ended in order, and nobody waits for it: answers are written down as cut off,
and what a client still reads is closed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import socket
from typing import Final

import uvicorn

_PATIENCE: Final = 2
"""Seconds that requests of others get to finish; an answer that streams would go on for minutes."""


class _NoNewsOfTheEnd(logging.Filter):
    """Requests that were cut short because the server ends are no errors; uvicorn reports each with a traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether the record is worth a line."""
        if record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError):
            return False
        return "timeout graceful shutdown exceeded" not in str(record.msg)


class _Server(uvicorn.Server):
    """uvicorn's server, which ends what the assistant is reading before it waits for open connections."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End. Parameters: `sockets`, uvicorn's."""
        # Only now, because the app is imported when the server starts: its states take seconds to load.
        from demo_app.state.engine import break_off

        logging.getLogger("uvicorn.error").addFilter(_NoNewsOfTheEnd())
        await break_off()
        await super().shutdown(sockets)


def main() -> None:
    """Serve until a signal comes."""
    parser = argparse.ArgumentParser(prog="python -m demo_app.server", description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, required=True)
    args = parser.parse_args()
    config = uvicorn.Config(
        "demo_app.demo_app:app",
        factory=True,
        host=args.host,
        port=args.port,
        log_level="warning",
        timeout_graceful_shutdown=_PATIENCE,
    )
    # uvicorn raises Ctrl-C's signal again once it has ended.
    with contextlib.suppress(KeyboardInterrupt):
        _Server(config).run()


if __name__ == "__main__":
    main()
