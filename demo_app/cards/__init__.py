"""What stands in the transcript, one component a file; `table` says which tool or activity gets which."""
