"""The back office's pages, one a file."""
