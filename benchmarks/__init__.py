"""Benchmarks: ``python -m benchmarks`` prints one table of ratios, measured side by side in one run."""
