"""A production server of the demo as a subprocess, with data of its own, that can be stopped, killed and restarted."""

import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Final

from demo_app.serving import ROOT, server_command, server_environment
from demo_app.shop import Shop

START_SECONDS: Final = 60
STOP_SECONDS: Final = 10
LOOK_SECONDS: Final = 0.1
FOREIGN_SETTINGS: Final = ("AGENT_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_MODEL")
"""What a developer's own shell may hold and a test must not inherit."""


class DemoServer:
    """One demo: a process, a port, a folder of data.

    Parameters: `data`, its folder; `environment`, variables of the demo beside `DEMO_DATA_DIR`.

    Attributes: `log`, the file of all it wrote.
    """

    def __init__(self, data: Path, **environment: str) -> None:
        data.mkdir(parents=True, exist_ok=True)
        self.data = data
        self.port = _free_port()
        self._environment = {"DEMO_DATA_DIR": str(data), "DEMO_PORT": str(self.port), **environment}
        self.log = data / "server.log"
        self._read = 0
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """The origin."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def shop(self) -> Shop:
        """The shop as its database has it: what pages say and tools do is compared with it."""
        return Shop(self.data / "shop.db")

    def command(self) -> list[str]:
        """What is started."""
        return server_command(self.port)

    def start(self) -> "DemoServer":
        """Start it and return when it answers. Raises RuntimeError when it does not."""
        environment = server_environment(**self._environment)
        for name in FOREIGN_SETTINGS:
            if name not in self._environment:
                environment.pop(name, None)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self.command(),
                cwd=ROOT,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                # A group of its own, as a terminal gives to what is started in it.
                start_new_session=True,
            )
        for _ in range(int(START_SECONDS / LOOK_SECONDS)):
            if self._answers():
                return self
            # Its end is worth waiting for, a moment is not: so the pause between two looks ends early when it dies.
            try:
                status = self._process.wait(LOOK_SECONDS)
            except subprocess.TimeoutExpired:
                continue
            raise RuntimeError(f"the demo ended with status {status} instead of starting:\n{self.log.read_text()}")
        self.kill()
        raise RuntimeError(f"the demo did not answer within {START_SECONDS} s:\n{self.log.read_text()}")

    def stop(self) -> None:
        """Ask it to end, as Ctrl-C does; insist when it does not."""
        self._end(insist_first=False)

    def kill(self) -> None:
        """End it at once, as a crash does."""
        self._end(insist_first=True)

    def complaints(self) -> str:
        """What it wrote since the last look; a production server has nothing to say but warnings and errors."""
        written = self.log.read_bytes() if self.log.exists() else b""
        fresh, self._read = written[self._read :], len(written)
        return fresh.decode(errors="replace").strip()

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/agent", timeout=2) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def _end(self, *, insist_first: bool) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if insist_first:
            process.kill()
        else:
            process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(STOP_SECONDS)


class DemoProgram(DemoServer):
    """The demo as a person starts it: `python -m demo_app`, which has the server as a child."""

    def command(self) -> list[str]:
        """The program itself."""
        return [sys.executable, "-m", "demo_app", "--port", str(self.port)]

    def interrupt(self, *, whole_group: bool) -> int:
        """Ctrl-C: to every process of the group, as a terminal does, or to the program alone. Its exit status."""
        process, self._process = self._process, None
        assert process is not None, "it was not started"
        if whole_group:
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.send_signal(signal.SIGINT)
        try:
            return process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(STOP_SECONDS)
            raise


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_root() -> bool:
    """Whether Chromium's own sandbox is out of reach."""
    return hasattr(os, "geteuid") and os.geteuid() == 0
