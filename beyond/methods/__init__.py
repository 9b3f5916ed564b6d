"""Methods that the paper lacks, by their paths: `module: ../methods/fairsin.py`."""
