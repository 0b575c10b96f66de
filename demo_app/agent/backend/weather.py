"""Weather, made up: always the same for a city, and labelled as made up."""

from typing import Annotated, NamedTuple

from pydantic import Field

from demo_app.agent.tools import Arguments, BackendTool, Content, ToolContext, ToolFailure, as_json


class _Weather(NamedTuple):
    city_ko: str
    temperature_c: int
    condition: str
    condition_ko: str
    wind_ms: int


WEATHER = {
    "Seoul": _Weather("서울", -2, "sunny", "맑음", 3),
    "Busan": _Weather("부산", 7, "cloudy", "흐림", 6),
    "Jeju": _Weather("제주", 9, "rain", "비", 9),
    "Incheon": _Weather("인천", -1, "windy", "바람", 11),
    "Daegu": _Weather("대구", 3, "sunny", "맑음", 2),
    "Daejeon": _Weather("대전", 1, "fog", "안개", 1),
    "Gwangju": _Weather("광주", 4, "cloudy", "흐림", 3),
    "Suwon": _Weather("수원", -2, "snow", "눈", 4),
    "Gangneung": _Weather("강릉", 2, "snow", "눈", 5),
    "Jeonju": _Weather("전주", 3, "fog", "안개", 2),
    "Ulsan": _Weather("울산", 6, "sunny", "맑음", 5),
    "Sokcho": _Weather("속초", 0, "snow", "눈", 7),
}


class GetWeather(Arguments):
    """Where."""

    city: Annotated[str, Field(min_length=1, description="A Korean city, in English or Korean")]


def known_city(name: str) -> str | None:
    """The English name of a city that is in the table, from its English or Korean one; else None."""
    wanted = name.strip().casefold()
    for city, weather in WEATHER.items():
        if wanted in (city.casefold(), weather.city_ko):
            return city
    return None


def city_names(*, korean: bool) -> str:
    """All cities of the table, for a sentence in one of the languages."""
    return ", ".join(weather.city_ko if korean else city for city, weather in WEATHER.items())


async def _weather(arguments: GetWeather, context: ToolContext) -> Content:
    city = known_city(arguments.city)
    if city is None:
        known = city_names(korean=context.korean)
        raise ToolFailure("unknown_city", f"nothing is known of {arguments.city!r}. Known: {known}.")
    return as_json({"city": city, **WEATHER[city]._asdict(), "made_up": True})


GET_WEATHER = BackendTool(
    "get_weather",
    GetWeather,
    "The weather in one Korean city (made up, for the demo). Several cities: one call each, in parallel.",
    {"city": "Busan"},
    _weather,
)
