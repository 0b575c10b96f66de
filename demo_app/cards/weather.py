"""The weather in one city, labelled as made up when it is."""

from typing import Any

import reflex as rx

from demo_app.cards.reading import Lenient, fitting
from demo_app.components.ui import icon
from demo_app.i18n import either, t
from demo_app.state.cards_model import Weather

_GLYPHS = {
    "sunny": "sun",
    "cloudy": "cloud",
    "rain": "cloud-rain",
    "windy": "wind",
    "fog": "cloud-fog",
    "snow": "snowflake",
}


class _Report(Lenient):
    city: str
    temperature_c: float
    condition: str
    city_ko: str = ""
    condition_ko: str = ""
    wind_ms: float | None = None
    made_up: bool = False


def read(arguments: Any, result: Any) -> dict[str, Any] | None:
    """The result of `get_weather`."""
    found = fitting(_Report, result)
    if found is None:
        return None
    wind = "" if found.wind_ms is None else f"{found.wind_ms:g} m/s"
    weather = Weather(
        found.city,
        found.city_ko or found.city,
        f"{found.temperature_c:g}°",
        found.condition,
        found.condition_ko or found.condition,
        wind,
        found.made_up,
    )
    return {"weather": weather}


def weather_body(card: Any) -> rx.Component:
    """City, picture, temperature, words."""
    weather = card.weather
    return rx.el.div(
        rx.el.span(
            rx.match(
                weather.condition,
                *[(word, icon(glyph, 30)) for word, glyph in _GLYPHS.items()],
                icon("thermometer", 30),
            ),
            class_name="weather-mark",
        ),
        rx.el.div(
            rx.el.p(either(weather.city, weather.city_ko), class_name="weather-city"),
            rx.el.p(
                either(weather.condition, weather.condition_ko),
                rx.cond(weather.wind != "", f" · {weather.wind}", ""),
                class_name="card-note",
            ),
        ),
        rx.el.p(weather.temperature, class_name="weather-degrees num"),
        rx.cond(weather.made_up, rx.el.p(t("card.made_up"), class_name="card-note weather-note")),
        class_name="weather",
    )
