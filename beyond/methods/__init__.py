"""Methods that the paper lacks, each given by its path: `module: ../methods/fairsin.py`."""
