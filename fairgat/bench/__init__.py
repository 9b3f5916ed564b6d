"""Time the attention layers beside their peers: `fairgat bench attention`, `fairgat bench scale`, and a method's epoch.

A graph goes in, a JSON document with every measured second comes out; tools/performance.py turns two of these documents
into docs/performance.md. Begin with `networks`: what is timed. `worker` gives each network a process of its own.
"""
