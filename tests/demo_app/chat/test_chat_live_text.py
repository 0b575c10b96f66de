"""The streaming text is the text, however it comes, and costs little."""

from typing import ClassVar

from hypothesis import given
from hypothesis import strategies as st

from demo_app.state.feed import Feed, weight
from demo_app.state.live_text import HEAD, LiveText, last_cut

PIECES = st.lists(
    st.sampled_from(["a", "word ", "\n", "\n\n", "```", "```py\n", "- item\n", "1. one\n", "한글 ", "x" * 300])
)


@given(PIECES)
def test_pieces_join_to_the_text_after_every_step(pieces: list[str]) -> None:
    live, text = LiveText(), ""
    for piece in pieces:
        text += piece
        live.show(text)
        assert live.text == text


@given(PIECES.map("".join))
def test_a_cut_never_parts_a_fence_or_a_list(text: str) -> None:
    end = last_cut(text)
    before, after = text[:end], text[end:]
    opened = 0
    for line in before.splitlines():
        info = line.strip().lstrip("`")
        ticks = len(line.strip()) - len(info)
        if not opened and ticks >= 3 and "`" not in info:
            opened = ticks
        elif opened and ticks >= opened and not info:
            opened = 0
    assert not opened
    assert end == 0 or before.endswith("\n")
    assert end == 0 or not after.startswith(("- ", "1. ", " "))


def test_what_a_snapshot_rewrites_is_laid_out_anew() -> None:
    live = LiveText()
    live.show("one two three")
    live.show("other")
    assert live.text == "other"


def test_paragraphs_that_are_finished_become_blocks() -> None:
    live, text = LiveText(), ""
    for number in range(200):
        text += f"Paragraph {number} has a few words of its own.\n\n"
        live.show(text)
    assert live.text == text
    assert live.blocks
    assert len(live.head) <= HEAD + 600


def _streamed(paragraphs: int, *, between: str) -> float:
    """Bytes a token of a long answer costs, at two tokens a flush; `between` parts its paragraphs."""
    feed, tokens, sent, text = Feed(), 0, 0, ""

    class Shown:
        settled: ClassVar[list[object]] = []
        moving: ClassVar[list[object]] = []
        version = 0
        live = "m"
        live_text = ""

    shown = Shown()
    for number in range(paragraphs):
        words = f"Paragraph {number} tells something that takes a dozen words or so."
        for word in [*words.replace(" ", " \x00").split("\x00"), between]:
            text += word
            tokens += 1
            if tokens % 2:
                continue
            shown.live_text = text
            changes = feed.changes(shown, {}, active=True)  # type: ignore[arg-type]
            sent += weight(changes)
            feed.flushed(changes)
    return sent / tokens


def test_a_token_costs_the_same_in_a_short_and_in_a_very_long_answer() -> None:
    assert _streamed(10, between="\n\n") < 300
    assert _streamed(600, between="\n\n") < 300


def test_a_text_that_cannot_be_cut_costs_little_more() -> None:
    assert _streamed(600, between="\n") < 350
