"""FairGAT: fairness-aware graph attention networks, their baselines, and the paper's experiment as a workflow."""

__version__ = "0.4.0"
