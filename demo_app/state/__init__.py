"""The app's states: settings, the back office, and the chat."""
