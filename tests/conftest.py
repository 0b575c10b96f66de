"""What holds for every test."""

from hypothesis import settings

# No test judges by the clock: an example that takes long on a busy machine is no failure.
settings.register_profile("clockless", deadline=None)
settings.load_profile("clockless")
