"""For whoever can only hold strings: flattening that reports its losses, and two ready sinks (TC-5, VE-3)."""

from client_sdk.legacy.flatten import (
    DroppedPart,
    FlatMessage,
    FlatText,
    flatten,
    flatten_message,
    parts_dropped,
)
from client_sdk.legacy.sinks import TextSink
from client_sdk.legacy.sqlite import SqliteTextSink
from client_sdk.legacy.transcript import TranscriptSink, read_transcript

__all__ = [
    "DroppedPart",
    "FlatMessage",
    "FlatText",
    "SqliteTextSink",
    "TextSink",
    "TranscriptSink",
    "flatten",
    "flatten_message",
    "parts_dropped",
    "read_transcript",
]
