"""A registry of frontend tools for the command line to offer."""

from __future__ import annotations

from ag_ui.core import DataSource, ImagePart

from client_sdk.tools import ToolRegistry

registry = ToolRegistry()
not_a_registry = "just text"


@registry.tool(example={"place": "orders"})
def navigate(place: str) -> str:
    """Go to a place."""
    return f"now at {place}"


@registry.tool(side_effects=False)
async def paint(colour: str) -> dict[str, str]:
    """Show a colour."""
    return {"painted": colour}


@registry.tool(side_effects=False)
def screenshot() -> ImagePart:
    """Take a picture of the page."""
    return ImagePart(source=DataSource(value="iVBORw0KGgo=", mime_type="image/png"))
