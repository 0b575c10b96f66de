"""What sending a parcel costs."""

import math
from typing import Annotated

from pydantic import Field

from demo_app.agent.backend.weather import WEATHER, city_names, known_city
from demo_app.agent.tools import Arguments, BackendTool, Content, ToolContext, ToolFailure, as_json

_BASE_KRW = 3_500
_PER_KG_KRW = 600
_ISLAND_KRW = 4_000


class ShippingQuote(Arguments):
    """Where to, and how heavy."""

    city: Annotated[str, Field(min_length=1, description="The city, in English or Korean")]
    weight_kg: Annotated[float, Field(gt=0, le=1_000, description="Kilograms, as a number without a unit")]


async def _quote(arguments: ShippingQuote, context: ToolContext) -> Content:
    city = known_city(arguments.city)
    if city is None:
        known = city_names(korean=context.korean)
        raise ToolFailure("unknown_city", f"no parcels go to {arguments.city!r}. Known: {known}.")
    island = city == "Jeju"
    price = _BASE_KRW + math.ceil(arguments.weight_kg) * _PER_KG_KRW + (_ISLAND_KRW if island else 0)
    return as_json(
        {
            "city": city,
            "city_ko": WEATHER[city].city_ko,
            "weight_kg": arguments.weight_kg,
            "price_krw": price,
            "days": 3 if island else 1,
        }
    )


SHIPPING_QUOTE = BackendTool(
    "shipping_quote",
    ShippingQuote,
    "The price in won and the days for a parcel. The weight is a number of kilograms.",
    {"city": "Busan", "weight_kg": 5},
    _quote,
)
