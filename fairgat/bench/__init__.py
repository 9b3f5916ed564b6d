"""Time the attention layers beside their peers: `fairgat bench attention` and `fairgat bench scale`.

A graph goes in, a JSON document with every measured second comes out; tools/performance.py turns two of these documents
into docs/performance.md. Begin with `networks`: what is timed. `worker` gives each network a process of its own.
"""
