"""How a run input reaches an agent and its frames come back: live over HTTP, or from a recording."""
