"""Sources of data that the paper lacks, each given by its path: `source: ../sources/blocks.py`."""
