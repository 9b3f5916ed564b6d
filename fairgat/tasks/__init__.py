"""Tasks: a graph, a split and the protocol come in; training data for a method and scores of its output go out.

Look first at `node_classification.py` and `link_prediction.py`: each is a task's network, loss, rules for the epoch and
judgement. `base.py` is what they share.
What the plan and the reports must know of a task before any heavy import stands with its protocol in
`fairgat.config.protocol`.
"""
