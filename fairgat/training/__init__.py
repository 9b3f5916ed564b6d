"""Training: a method's cell, a graph and a split come in; scores, history, predictions and weights go out.

Look first at `loop.py`, the epochs, then at `job.py`, which reads and writes the files of one run;
`timing.py` times an epoch of each method.
"""
