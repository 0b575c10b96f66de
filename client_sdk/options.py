"""What an application passes in, judged where it is passed: a wrong value is named there, not where it is used."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import httpx
from pydantic import BaseModel

from client_sdk.errors import OptionError


class Wanted(NamedTuple):
    """One option: what it takes, for a person to read, and whether a value is that."""

    what: str
    fits: Callable[[Any], bool]


def is_seconds(value: Any) -> bool:
    """Whether `value` is a length of time: a number above 0 (infinity too), and no bool."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def is_count(value: Any, least: int = 0) -> bool:
    """Whether `value` is a whole number of at least `least`, and no bool."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def has(*methods: str) -> Callable[[Any], bool]:
    """Whether a value has these methods."""
    return lambda value: all(callable(getattr(value, name, None)) for name in methods)


def is_series(value: Any) -> bool:
    """Whether `value` may stand for a list: text and mappings can be iterated too, but never mean one."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | BaseModel)


def _is_texts(value: Any) -> bool:
    return isinstance(value, Collection) and not isinstance(value, str) and all(isinstance(x, str) for x in value)


def _are_headers(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(x, str) for item in value.items() for x in item)


def _are_callables(value: Any) -> bool:
    return isinstance(value, Sequence) and all(map(callable, value))


def _is_timeout(value: Any) -> bool:
    return isinstance(value, httpx.Timeout) or is_seconds(value)


TEXT: Final = Wanted("a str", lambda value: isinstance(value, str))
SWITCH: Final = Wanted("True or False", lambda value: isinstance(value, bool))
SECONDS: Final = Wanted("a number of seconds above 0", is_seconds)
FUNCTION: Final = Wanted("a function", callable)
URL: Final = Wanted("a URL as str or httpx.URL", lambda value: isinstance(value, str | httpx.URL))
MAPPING: Final = Wanted("a mapping", lambda value: isinstance(value, Mapping))
HEADERS: Final = Wanted("a mapping of header names to values, both text", _are_headers)
CLIENT: Final = Wanted("an httpx.AsyncClient", lambda value: isinstance(value, httpx.AsyncClient))
TIMEOUT: Final = Wanted("a number of seconds above 0 or an httpx.Timeout", _is_timeout)
FRAME_BYTES: Final = Wanted("a number of bytes of at least 1", lambda value: is_count(value, 1))
MIDDLEWARE: Final = Wanted("a list of functions (see client_sdk.middleware)", _are_callables)
TRANSPORT: Final = Wanted("a Transport, with open() and aclose()", has("open", "aclose"))
CODES: Final = Wanted("a collection of diagnostic codes", _is_texts)
JOURNAL: Final = Wanted(
    "a Journal, with add(), record(), entries() and close()", has("add", "record", "entries", "close")
)
SERIES: Final = Wanted("a list", is_series)
TEXT_FILE: Final = Wanted("a text file object open for writing, with write() and flush()", has("write", "flush"))
LINES: Final = Wanted("a text file object open for reading, or a list of its lines", is_series)
COUNT: Final = Wanted("a whole number of at least 0", is_count)


def either(what: str, *kinds: type, otherwise: Callable[[Any], bool]) -> Wanted:
    """One of these classes, or what `otherwise` says."""
    return Wanted(what, lambda value: isinstance(value, kinds) or otherwise(value))


def optional(wanted: Wanted) -> Wanted:
    """The same, or None."""
    return Wanted(f"{wanted.what}, or None", lambda value: value is None or wanted.fits(value))


def check_options(owner: str, table: Mapping[str, Wanted], values: Mapping[str, Any]) -> None:
    """Judge what was passed to `owner`.

    Args:
        owner: what it was passed to, as its user wrote it.
        table: what each option takes.
        values: what was passed; only names of `table` are looked at.

    Raises:
        OptionError: ``bad_option`` — the first that does not fit, with what it takes.
    """
    for name, wanted in table.items():
        if name in values and not wanted.fits(values[name]):
            raise OptionError(f"{owner}: {name} is {wanted.what}, not {_shown(values[name])}", option=name)


def _shown(value: Any) -> str:
    """A value as an error may show it: text may hold a secret, and anything else may be large."""
    return repr(value) if isinstance(value, int | float | None) else f"a value of type {type(value).__name__}"
