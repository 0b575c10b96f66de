"""The producer that nobody here wrote, for the round trips against it."""

from tests.client_sdk.interop_pydantic_ai import pydantic_ai

__all__ = ["pydantic_ai"]
