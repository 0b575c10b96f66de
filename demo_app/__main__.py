"""``python -m demo_app``: build the pages when they changed, serve everything on one port."""

from __future__ import annotations

import argparse
import errno
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

from demo_app.serving import ROOT, BuildError, build, is_built, server_command, server_environment

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
    # Given as text, so that argparse reads the environment's port as it reads the option's.
    parser.add_argument("--port", type=_port, default=os.environ.get("DEMO_PORT", "8000"), help="1 to 65535")
    parser.add_argument("--host", default=os.environ.get("DEMO_HOST", "127.0.0.1"))
    args = parser.parse_args()
    problem = _cannot_listen(args.host, args.port)
    if problem is not None:
        print(problem, file=sys.stderr)
        return 1
    print("Preparing the pages …" if is_built() else "Preparing the pages (building them takes a minute) …", flush=True)
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
            print("The server did not start; what it said of that stands above.", file=sys.stderr)
            return 1
        print(f"\n  The demo is at http://{args.host}:{args.port}/   (Ctrl-C stops it)\n", flush=True)
        return server.wait()
    except KeyboardInterrupt:
        _stop(server)
        print("\nStopped.", flush=True)
        return 0
    finally:
        _stop(server)


def _port(text: str) -> int:
    """A TCP port as it is typed."""
    port = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
    if not 1 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"a port is a number from 1 to 65535, not {text!r}")
    return port


def _cannot_listen(host: str, port: int) -> str | None:
    """Why no server can listen there; asked first, because another server would answer in ours' place."""
    try:
        socket.getaddrinfo(host, port)
        with socket.create_server((host, port)):
            return None
    except (socket.gaierror, UnicodeError):  # the latter where the text cannot be a name, such as "a..b"
        return f"{host!r} is not known as an address. Try another --host."
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return f"Port {port} at {host} is in use. Try another --port."
        return f"Port {port} at {host} cannot be listened on: {os.strerror(error.errno or 0)}."


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
