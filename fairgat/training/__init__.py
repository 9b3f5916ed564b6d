"""Training: a method's cell, a graph and a split come in; predictions go out.

Look first at `loop.py`, the epochs, then at `job.py`, which reads and writes the files
of one run; `record.py` is what it leaves for those who judge it. `timing.py` times an
epoch of each method.
"""
