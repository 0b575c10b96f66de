"""The models behind the loop: scripted by default, Anthropic's when a key is in the environment."""
