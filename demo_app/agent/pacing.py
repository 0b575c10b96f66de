"""Made-up speed: text in small pieces, with a pause between them, so that streaming can be seen."""

import asyncio
import re
import uuid

_PIECE = re.compile(r"\s*\S{1,24}\s?|\s+")


def text_pieces(text: str) -> list[str]:
    """Cut `text` into words with their blanks; joined again they are `text` exactly (ST-5)."""
    return _PIECE.findall(text)


def json_pieces(text: str, size: int = 12) -> list[str]:
    """Cut arguments into pieces of `size` characters, as providers stream them: anywhere."""
    return [text[start : start + size] for start in range(0, len(text), size)]


async def pause(seconds: float) -> None:
    """Wait; with 0 only let others run."""
    await asyncio.sleep(max(seconds, 0.0))


def new_id(kind: str) -> str:
    """A fresh opaque id that a person can still tell apart in a log: `call-3f2a...`."""
    return f"{kind}-{uuid.uuid4().hex[:16]}"
