"""What the command line names: files and ``-``, read with errors that say which and why."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from client_sdk.cli.outcome import UsageError


class Files:
    """The files of one command. They share one standard input, whose content is there for the first that asks."""

    def __init__(self) -> None:
        self._standard_input_went_to: str | None = None

    def read_bytes(self, name: str, option: str) -> bytes:
        """The content of file `name`, or of standard input for ``-``.

        Parameters:
            option: what on the command line names it.

        Raises:
            UsageError: it cannot be read, or is standard input and was read before.
        """
        try:
            return self._standard_input(option) if name == "-" else Path(name).read_bytes()
        except OSError as error:
            raise UsageError(f"{spoken(name)} cannot be read: {error.strerror or error}") from error

    def read_json(self, name: str, option: str) -> Any:
        """The JSON document in file `name`, or on standard input for ``-``.

        Parameters:
            option: what on the command line names it.

        Raises:
            UsageError: it cannot be read, is standard input and was read before, or is no JSON.
        """
        content = self.read_bytes(name, option)
        try:
            return json.loads(content.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{spoken(name)} is not JSON: {error}") from error

    def _standard_input(self, option: str) -> bytes:
        if self._standard_input_went_to is not None:
            raise UsageError(
                f"standard input can be read only once: it was read for {self._standard_input_went_to},"
                f" so there is nothing left for {option}"
            )
        self._standard_input_went_to = option
        return sys.stdin.buffer.read()


def spoken(name: str) -> str:
    """What to call file `name` in a sentence."""
    return "standard input" if name == "-" else name
