"""FairGAT, its baselines, and the paper's experiment as a workflow.

`fairgat.load` gives a data set as PyTorch Geometric has it, `fairgat.judge` the
measures of scores on it (docs/loop.md).
"""

import importlib
from typing import Any

__version__ = "0.5.0"

_OFFERED = ("judge", "load")


def __getattr__(name: str) -> Any:
    """Import what needs the workflow's packages when it is asked for."""
    if name not in _OFFERED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = importlib.import_module("fairgat.pyg")
    except ModuleNotFoundError as error:
        what = f"fairgat.{name} needs {error.name}"
        advice = '`pip install ".[workflow]"` in the checkout brings it'
        raise ModuleNotFoundError(f"{what}: {advice}", name=error.name) from None
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_OFFERED])
