"""What reaches a terminal: safe text, blocks that interleave, a few styles.

Everything that comes from an agent is hostile until shown otherwise (PT-1): a
control character in it could move the cursor, retitle the window or hide what
came before. So text passes `printable` before it is written, and lines of it
after the first are indented: what stands at the start of a line is ours.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final, TextIO

from client_sdk.legacy.transcript import UNSAFE

_QUESTION: Final = ("question",)
"""What is open while a question waits for its answer; the keys of blocks are longer."""

_STYLES: Final = {"dim": "2", "bold": "1", "red": "31", "yellow": "33"}


def printable(text: str) -> str:
    """`text` with everything a terminal might obey written as an escape (``\\x1b``); newline and tab stay."""
    return UNSAFE.sub(_escape, text)


def one_line(text: str, limit: int | None = None) -> str:
    """`text` as one printable line, cut after `limit` characters."""
    line = printable(text).replace("\n", "\\n")
    return line if limit is None or len(line) <= limit else f"{line[: limit - 1]}…"


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape", "surrogatepass").decode("ascii")


def wants_colour(stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether to style what goes to `stream`: a terminal, unless NO_COLOR or TERM=dumb say otherwise."""
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


class Terminal:
    """Writes blocks of text, one open at a time, each under a label of ours.

    A block that is interrupted by another goes on under its label when its turn
    comes again, so items that stream side by side stay readable (ST-5).

    Standard output and standard error mostly end on one screen: of terminals that
    stand beside each other one line is open at a time, whichever wrote it.
    """

    def __init__(self, stream: TextIO, *, colour: bool | None = None, beside: Terminal | None = None) -> None:
        """Write to `stream`, styled if `colour` says so; by default, if it is a terminal that wants it.

        What is open at the terminal `beside` is ended before something is written here, and the other way round.
        """
        self._stream = stream
        self._screen: list[Terminal] = [] if beside is None else beside._screen
        self._screen.append(self)
        self._colour = wants_colour(stream) if colour is None else colour
        self._open: tuple[str, ...] | None = None
        self._seen: set[tuple[str, ...]] = set()

    def block(self, key: tuple[str, ...], label: str, text: str, style: str | None = None) -> None:
        """Add `text` to the block `key`, opening it under `label` if another one is open."""
        if self._open != key:
            self.close()
            again = " (continued)" if key in self._seen else ""
            self._write(f"{one_line(label)}{again}: ", "bold" if style is None else style)
            self._open = key
            self._seen.add(key)
        if text:
            self._write(printable(text).replace("\n", "\n  "), style)
        self._stream.flush()

    def line(self, text: str, style: str | None = None) -> None:
        """Write one line of its own; `text` is made printable, newlines in it are indented."""
        self.close()
        self._write(printable(text).replace("\n", "\n  "), style)
        self._stream.write("\n")
        self._stream.flush()

    def prompt(self, text: str) -> None:
        """Write a question and leave the cursor behind it, on a line that stays open until it is `answered`."""
        self.close()
        self._write(printable(text), "bold")
        self._open = _QUESTION
        self._stream.flush()

    def answered(self) -> None:
        """The question's line has ended: whoever typed a line into it ended it with the Enter key."""
        if self._open == _QUESTION:
            self._open = None

    def close(self) -> None:
        """End the line that is open, here or beside."""
        for terminal in self._screen:
            terminal._end_line()

    def _end_line(self) -> None:
        if self._open is not None:
            self._stream.write("\n")
            self._open = None
            self._stream.flush()

    def _write(self, text: str, style: str | None) -> None:
        text = self._encodable(text)
        if self._colour and style is not None:
            text = f"\x1b[{_STYLES[style]}m{text}\x1b[0m"
        self._stream.write(text)

    def _encodable(self, text: str) -> str:
        """What the stream's encoding lacks is shown escaped: an answer must not end in a traceback."""
        encoding = self._stream.encoding or "utf-8"
        return text.encode(encoding, "backslashreplace").decode(encoding)
