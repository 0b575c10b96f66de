"""A growing text cut so that each flush sends little, however long the text has become.

A state variable that changes is sent whole. So the text lies in four: finished `blocks`, and the current block in
three pieces that the browser joins again. `tail` is short and changes with every flush; when it is full it moves
into `middle`, that into `head`, and `head` becomes a block where a paragraph ends. Each character is then sent a
handful of times, not once per flush.
"""

import re
from typing import Final

TAIL: Final = 48
MIDDLE: Final = 480
HEAD: Final = 4_000
_FENCE: Final = re.compile(r"`{3,}|~{3,}")
_LIST_MARK: Final = re.compile(r"(?:[-*+]|\d{1,9}[.)])\s")


class LiveText:
    """The text of one message while it streams.

    Attributes: `blocks`, `head`, `middle`, `tail`, whose concatenation is the text; `blocks` end where Markdown may be
    cut: between paragraphs, outside fenced code and lists.
    """

    def __init__(self) -> None:
        self.blocks: list[str] = []
        self.head = ""
        self.middle = ""
        self.tail = ""

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self.blocks) + self.head + self.middle + self.tail

    def show(self, text: str) -> None:
        """Hold `text`; what is held already stays where it lies when `text` goes on from it."""
        held = self.text
        if not text.startswith(held):
            # Only a snapshot takes back what was streamed.
            self.blocks, self.head, self.middle, self.tail, held = [], "", "", "", ""
        self.tail += text[len(held) :]
        # The pieces grow with a block that cannot be cut (a long list, a long piece of code).
        if len(self.tail) > max(TAIL, len(self.middle) // 20):
            self.middle, self.tail = self.middle + self.tail, ""
        if len(self.middle) > max(MIDDLE, len(self.head) // 16):
            self.head, self.middle = self.head + self.middle, ""
        if len(self.head) > HEAD and (end := last_cut(self.head)):
            self.blocks, self.head = [*self.blocks, self.head[:end]], self.head[end:]


def last_cut(text: str) -> int:
    """Where Markdown may be cut last: at a line that begins a new thing after a blank one. 0 when nowhere."""
    cut = position = 0
    fence = ""
    blank = False
    for line in text.splitlines(keepends=True):
        words = line.strip()
        if not fence and blank and words and not line[0].isspace() and not _LIST_MARK.match(line):
            cut = position
        fence = _fence_after(fence, words)
        blank = not words
        position += len(line)
    return cut


def _fence_after(fence: str, line: str) -> str:
    """The fence that is open after `line`, "" for none."""
    mark = _FENCE.match(line)
    if not fence:
        # Behind backticks, another one makes it inline code: "```a```" opens nothing.
        opens = mark is not None and not (line[0] == "`" and "`" in line[mark.end() :])
        return mark[0] if mark and opens else ""
    closes = mark is not None and mark[0].startswith(fence) and mark[0] == line
    return "" if closes else fence
