"""Tasks: what is learned, and how validation chooses the epoch.

In: a graph, a split and the protocol. Out: training data for a method, and an epoch's
predictions. Look first at `node_classification.py` and `link_prediction.py`: each is a
task's network, its loss, and how validation chooses the epoch, by the rates of
`rates.py`. `base.py` is what they share. No other score is known here: those are in
`fairgat.measures`. What plan and reports must know of a task before any heavy import
stands with its protocol in `fairgat.config.protocol`.
"""
