"""What the environment decides about the agent."""

import os
from collections.abc import Mapping
from dataclasses import dataclass


class SettingsError(ValueError):
    """A variable of the environment holds what it cannot hold; the message names it."""


@dataclass(frozen=True)
class Settings:
    """The agent's settings.

    Attributes: `delay_seconds` (`DEMO_DELAY`, 0.02), the pause between two pieces of scripted text; `slow_seconds`
    (`DEMO_SLOW_DELAY`, 0.4), the pause of the answers that are slow on purpose; `mischief` (`DEMO_MISCHIEF=1`), whether
    the scripted model also plays the misbehaving agent; `anthropic_key` (`ANTHROPIC_API_KEY`), which chooses the real
    model; `anthropic_model` (`ANTHROPIC_MODEL`).
    """

    delay_seconds: float = 0.02
    slow_seconds: float = 0.4
    mischief: bool = False
    anthropic_key: str = ""
    anthropic_model: str = "claude-sonnet-5-5"

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "Settings":
        """Read the settings. Raises `SettingsError` when a number is none."""
        values = os.environ if environment is None else environment
        return cls(
            delay_seconds=_seconds(values, "DEMO_DELAY", cls.delay_seconds),
            slow_seconds=_seconds(values, "DEMO_SLOW_DELAY", cls.slow_seconds),
            mischief=values.get("DEMO_MISCHIEF", "") == "1",
            anthropic_key=values.get("ANTHROPIC_API_KEY", ""),
            anthropic_model=values.get("ANTHROPIC_MODEL") or cls.anthropic_model,
        )


def _seconds(values: Mapping[str, str], name: str, default: float) -> float:
    text = values.get(name, "")
    if not text:
        return default
    try:
        seconds = float(text)
    except ValueError as error:
        raise SettingsError(f"{name} must be a number of seconds, not {text!r}") from error
    if not 0 <= seconds <= 60:
        raise SettingsError(f"{name} must be from 0 to 60 seconds, not {text!r}")
    return seconds
