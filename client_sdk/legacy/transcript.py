"""A plain-text transcript, and its reader.

The format is line by line, and what a line is shows in its first characters::

    === thread "t-1"                     the thread the following messages belong to
    --- user {"id": "m-1"}               a message: role, then its other fields as JSON
    | Where is order 42?                 a line of its text, as it stands
    --- assistant {"id": "m-2"}          no text line at all: the message has no content
    > {"id": "call-1", "type": "function", "function": {"name": …, "arguments": …}}
    --- tool {"id": "m-3", "toolCallId": "call-1"}
    |                                    one empty text line: the content is ""
    ~ left\\rright                        a line of its text in JSON's escapes
    === order ["m-1", "m-3", "m-2"]      the thread's messages, where their order changed

Empty lines separate messages and mean nothing. Text is split at LF alone. A line of
text is written as it stands, backslashes and quotes included, unless it holds a
character that a text file or a terminal would not carry through (a control character,
a line separator, a bidirectional override, a lone surrogate, or one the file's encoding lacks): then the whole
line is written in JSON's escapes, marked by ``~``. The last message of an id is the
one that counts: a message that changed is written again. Where a producer uses one id
for two messages, the second is marked ``--- assistant#2`` and is one of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

from client_sdk.errors import ClientError
from client_sdk.legacy.flatten import FlatMessage
from client_sdk.legacy.sinks import Key, TextSink
from client_sdk.options import LINES, TEXT_FILE, check_options

UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Characters that no text file or terminal should be trusted with: controls except tab and newline,
separators some readers split lines at, bidirectional overrides and isolates, lone surrogates."""


class TranscriptSink(TextSink):
    """Writes a thread as plain text, for people and for `read_transcript`.

    A text file can only grow, so a message is written when its run ends; one that
    changes later is written again, and the reader takes the last.
    """

    def __init__(self, file: TextIO) -> None:
        """Write to `file`: any text file object open for writing. The sink does not close it.

        Raises:
            OptionError: ``bad_option``, it is no such thing: a path, say.
        """
        super().__init__()
        check_options("TranscriptSink", {"file": TEXT_FILE}, {"file": file})
        self._file = file
        self._written: dict[str, dict[Key, str]] = {}
        self._thread_id: str | None = None

    def _store(self, thread_id: str, messages: Sequence[tuple[Key, FlatMessage]], *, whole: bool) -> None:
        known = self._written.get(thread_id, {})
        blocks = {key: self._block(key, message) for key, message in messages}
        # What a reader makes of the file after the changed messages are appended to it.
        held = known | blocks
        pieces = [text for key, text in blocks.items() if known.get(key) != text]
        if whole and list(held) != list(blocks):
            pieces.append(f"=== order {self._json([_named(key) for key in blocks])}\n\n")
            held = blocks
        if pieces:
            self._append(thread_id, pieces)
        self._written[thread_id] = held

    def _append(self, thread_id: str, pieces: list[str]) -> None:
        if thread_id != self._thread_id:
            pieces.insert(0, f"=== thread {self._json(thread_id)}\n\n")
        try:
            self._file.write("".join(pieces))
            self._file.flush()
        except (OSError, ValueError) as error:
            raise ClientError(f"the transcript could not be written: {error}", code="sink_failed") from error
        self._thread_id = thread_id

    def _block(self, key: Key, message: FlatMessage) -> str:
        fields = {"id": message.id, **message.fields}
        calls = fields.pop("toolCalls", None)
        again = f"#{key[1] + 1}" if key[1] else ""
        lines = [f"--- {message.role}{again} {self._json(fields)}"]
        if message.body is not None:
            lines += [self._text_line(line) for line in message.body.split("\n")]
        lines += [f"> {self._json(call)}" for call in calls or ()]
        return "\n".join([*lines, "\n"])

    def _text_line(self, line: str) -> str:
        if UNSAFE.search(line) or not self._can_encode(line):
            return f"~ {self._json(line)[1:-1]}"
        return f"| {line}"

    def _json(self, value: object) -> str:
        """`value` as one line of JSON; what the file or a terminal would not carry is escaped."""
        text = _escape(json.dumps(value, ensure_ascii=False), UNSAFE)
        return text if self._can_encode(text) else json.dumps(value)

    def _can_encode(self, text: str) -> bool:
        encoding = getattr(self._file, "encoding", None)
        try:
            text.encode(encoding or "utf-8")
        except UnicodeEncodeError:
            return False
        return True


def read_transcript(lines: Iterable[str]) -> dict[str, list[FlatMessage]]:
    """The messages a transcript holds, by thread id, in order.

    Parameters:
        lines: a text file open for reading, or its lines.

    Raises:
        ClientError: ``malformed_transcript``, naming the line.
        OptionError: ``bad_option``, `lines` is text: a path, or the transcript in one piece.
    """
    check_options("read_transcript", {"lines": LINES}, {"lines": lines})
    reader = _Reader()
    for number, line in enumerate(lines, 1):
        try:
            reader.line(line.removesuffix("\n").removesuffix("\r"))
        except (ValueError, LookupError, TypeError) as error:
            problem = f"line {number} is not a transcript's: {error}"
            raise ClientError(problem, code="malformed_transcript") from error
    return {thread_id: list(messages.values()) for thread_id, messages in reader.close().items()}


class _Reader:
    """Lines in, threads out."""

    def __init__(self) -> None:
        self._threads: dict[str, dict[Key, FlatMessage]] = {}
        self._messages: dict[Key, FlatMessage] | None = None
        self._header: tuple[Key, str, dict[Any, Any]] | None = None
        self._text: list[str] = []
        self._calls: list[Any] = []

    def line(self, line: str) -> None:
        """Take one line, without its end."""
        if line.startswith("|"):
            self._text_line(line[2:])
        elif line.startswith("~ "):
            self._text_line(json.loads(f'"{line[2:]}"'))
        elif line.startswith("> "):
            self._opened()
            self._calls.append(json.loads(line[2:]))
        elif line:
            self._finish()
            self._head(line)

    def close(self) -> dict[str, dict[Key, FlatMessage]]:
        """No more lines come."""
        self._finish()
        return self._threads

    def _head(self, line: str) -> None:
        mark, _, rest = line.partition(" ")
        word, _, document = rest.partition(" ")
        match mark, word, json.loads(document or "null"):
            case "---", role, {"id": str(id_), **fields}:
                self._current()
                name, _, use = role.partition("#")
                self._header = ((id_, int(use or 1) - 1), name, fields)
            case "===", "thread", str(thread_id):
                self._messages = self._threads.setdefault(thread_id, {})
            case "===", "order", list(ids):
                messages = self._current()
                ordered = {_key(name): messages[_key(name)] for name in ids}
                messages.clear()
                messages.update(ordered)
            case _:
                raise ValueError("it is neither text, nor a header")

    def _text_line(self, text: str) -> None:
        self._opened()
        self._text.append(text)

    def _opened(self) -> None:
        if self._header is None:
            raise ValueError("it belongs to no message")

    def _current(self) -> dict[Key, FlatMessage]:
        if self._messages is None:
            raise ValueError("no thread was named before it")
        return self._messages

    def _finish(self) -> None:
        if self._header is None:
            return
        key, role, fields = self._header
        if self._calls:
            fields["toolCalls"] = self._calls
        body = "\n".join(self._text) if self._text else None
        self._current()[key] = FlatMessage(key[0], role, body, fields)
        self._header, self._text, self._calls = None, [], []


def _named(key: Key) -> Any:
    """A key in an order line: the id, or for its further uses the id and which use it is."""
    return key[0] if not key[1] else [key[0], key[1] + 1]


def _key(name: Any) -> Key:
    return (name, 0) if isinstance(name, str) else (name[0], name[1] - 1)


def _escape(text: str, unwanted: re.Pattern[str]) -> str:
    return unwanted.sub(lambda match: json.dumps(match[0])[1:-1], text)
