"""A Python consumer for AG-UI 1.0."""
