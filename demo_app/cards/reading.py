"""Reading tool data that may have any shape: what fits a model is drawn, what does not is shown as it is."""

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

M = TypeVar("M", bound=BaseModel)


class Lenient(BaseModel):
    """Base of the shapes that cards draw: what else is there is ignored."""

    model_config = ConfigDict(extra="ignore")


def fitting(model: type[M], data: Any) -> M | None:
    """`data` as `model`, or None when it has another shape."""
    try:
        return model.model_validate(data)
    except ValidationError:
        return None
