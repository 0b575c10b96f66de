"""Which model answers: Anthropic's when a key is in the environment, else the scripted one."""

from demo_app.agent.models.base import Model
from demo_app.agent.models.mischief import MischiefModel
from demo_app.agent.models.scripted import ScriptedModel
from demo_app.agent.settings import Settings


def choose_model(settings: Settings) -> Model:
    """The model for these settings. Raises `ModelError` (`anthropic_missing`) when the extra is not installed."""
    if settings.anthropic_key:
        from demo_app.agent.models.anthropic import AnthropicModel

        return AnthropicModel(api_key=settings.anthropic_key, name=settings.anthropic_model)
    scripted = ScriptedModel(delay_seconds=settings.delay_seconds, slow_seconds=settings.slow_seconds)
    return MischiefModel(scripted) if settings.mischief else scripted
