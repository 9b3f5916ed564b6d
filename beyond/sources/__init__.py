"""Data that the paper lacks, by their paths: `source: ../sources/blocks.py`."""
