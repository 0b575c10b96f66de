"""The protocol core: pure, synchronous, no clock, no ids of its own, no I/O."""
