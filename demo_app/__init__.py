"""The demo: a chat beside a back office, built on the public names of ``client_sdk``."""
