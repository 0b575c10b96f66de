"""The scripted model's parts: what it sees (`scene`), reads (`phrases`), does (`intents`) and says (`tell`)."""
