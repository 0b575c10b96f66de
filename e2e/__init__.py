"""The demo in a real browser: a production server as a subprocess, page objects, journeys."""
