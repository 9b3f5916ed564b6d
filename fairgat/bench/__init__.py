"""Benchmarks of the attention layers: `fairgat bench attention` and `fairgat bench scale`."""
