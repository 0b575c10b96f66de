"""The design's words: colour roles, type and space, as CSS custom properties defined in `assets/halla.css`.

Components style themselves with the class names of that sheet; where one needs a value of its own it takes it
from here, so that dark and light, and any later change of the palette, reach it too.
"""

from enum import StrEnum
from typing import Final


class Color(StrEnum):
    """Colour roles. Text on `X_SOFT` is `X`; text on `ACCENT` is `ACCENT_INK`; all pairs reach 4.5 : 1."""

    PAPER = "var(--paper)"
    SURFACE = "var(--surface)"
    SURFACE_SUNK = "var(--surface-sunk)"
    INK = "var(--ink)"
    INK_SOFT = "var(--ink-soft)"
    LINE = "var(--line)"
    LINE_STRONG = "var(--line-strong)"
    ACCENT = "var(--accent)"
    ACCENT_INK = "var(--accent-ink)"
    ACCENT_SOFT = "var(--accent-soft)"
    ACCENT_TEXT = "var(--accent-text)"
    OK = "var(--ok)"
    OK_SOFT = "var(--ok-soft)"
    WARN = "var(--warn)"
    WARN_SOFT = "var(--warn-soft)"
    DANGER = "var(--danger)"
    DANGER_SOFT = "var(--danger-soft)"
    INFO = "var(--info)"
    INFO_SOFT = "var(--info-soft)"
    BAR = "var(--bar)"


class Space(StrEnum):
    """Steps of space, 4 px to 48 px."""

    S1 = "var(--space-1)"
    S2 = "var(--space-2)"
    S3 = "var(--space-3)"
    S4 = "var(--space-4)"
    S5 = "var(--space-5)"
    S6 = "var(--space-6)"
    S7 = "var(--space-7)"


class Text(StrEnum):
    """Steps of the type scale, 12 px to 38 px; `MD` (15 px) is body text."""

    XS = "var(--text-xs)"
    SM = "var(--text-sm)"
    MD = "var(--text-md)"
    LG = "var(--text-lg)"
    XL = "var(--text-xl)"
    XXL = "var(--text-2xl)"
    XXXL = "var(--text-3xl)"


class Tone(StrEnum):
    """Classes that colour a badge or a notice by what it means."""

    OK = "tone-ok"
    WARN = "tone-warn"
    DANGER = "tone-danger"
    INFO = "tone-info"
    MUTE = "tone-mute"


ORDER_TONES: Final[dict[str, Tone]] = {
    "pending": Tone.WARN,
    "paid": Tone.INFO,
    "shipped": Tone.INFO,
    "delivered": Tone.OK,
    "cancelled": Tone.MUTE,
}
INVOICE_TONES: Final[dict[str, Tone]] = {"open": Tone.INFO, "paid": Tone.OK, "overdue": Tone.DANGER}
ORDER_STATUS: Final[dict[str, str]] = {status: f"status.{status}" for status in ORDER_TONES}
INVOICE_STATUS: Final[dict[str, str]] = {status: f"invoice.{status}" for status in INVOICE_TONES}
CATEGORIES: Final[dict[str, str]] = {
    name: f"category.{name}"
    for name in ("beans", "cups", "drippers", "filters", "grinders", "kettles", "machines", "tools")
}
STOCK_LEVELS: Final[dict[str, str]] = {"low": "stock.low", "ok": "stock.ok"}
