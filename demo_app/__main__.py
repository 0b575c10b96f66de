"""``python -m demo_app``: build the pages when they changed, serve everything on one port."""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

from demo_app.serving import ROOT, BuildError, build, server_command, server_environment

_START_SECONDS = 60
_ENDINGS = (signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else []))


def main() -> int:
    """Run the demo until Ctrl-C; returns the exit status."""
    try:
        return _run()
    except KeyboardInterrupt:
        print("\nStopped before it was ready.", flush=True)
        return 130


def _run() -> int:
    parser = argparse.ArgumentParser(prog="python -m demo_app", description=__doc__)
    parser.add_argument("--port", type=int, default=int(os.environ.get("DEMO_PORT", "8000")))
    parser.add_argument("--host", default=os.environ.get("DEMO_HOST", "127.0.0.1"))
    args = parser.parse_args()
    if not _is_free(args.host, args.port):
        print(f"Port {args.port} at {args.host} cannot be listened on; is it in use? Try --port.", file=sys.stderr)
        return 1
    print("Preparing the pages (the first time takes a minute) …", flush=True)
    try:
        build()
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    # Whoever ends this process, or closes its terminal, ends the server with it.
    for number in _ENDINGS:
        signal.signal(number, lambda received, _: sys.exit(128 + received))
    environment = server_environment(DEMO_PORT=str(args.port), DEMO_HOST=args.host)
    server = subprocess.Popen(server_command(args.port, args.host), cwd=ROOT, env=environment)
    try:
        if not _answers(f"http://{args.host}:{args.port}/agent", server):
            print(f"The server did not start; is port {args.port} in use? Try --port.", file=sys.stderr)
            return 1
        print(f"\n  The demo is at http://{args.host}:{args.port}/   (Ctrl-C stops it)\n", flush=True)
        return server.wait()
    except KeyboardInterrupt:
        _stop(server)
        print("\nStopped.", flush=True)
        return 0
    finally:
        _stop(server)


def _is_free(host: str, port: int) -> bool:
    """Whether a server can listen there; asked first, because another server would answer in ours' place."""
    try:
        with socket.create_server((host, port)):
            return True
    except (OSError, OverflowError):
        return False


def _answers(url: str, server: subprocess.Popen[bytes]) -> bool:
    deadline = time.monotonic() + _START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return True
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    return False


def _stop(server: subprocess.Popen[bytes]) -> None:
    """End the server. A terminal's Ctrl-C has reached it already; a second one would make it drop everything."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if server.poll() is None:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


if __name__ == "__main__":
    sys.exit(main())
