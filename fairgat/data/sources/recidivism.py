"""Recidivism: people released from custody, joined by the similarity of their records.

Files and processing: NIFTY (Agarwal et al., 2021), `dataset/bail/`. Sensitive: WHITE. Label: RECID. The other 17
columns are the features of its 18,876 nodes. Its files are in public.yaml; docs/data.md has the details, and warns that
the feature TIME nearly states the label.
"""

from typing import Literal

from fairgat.data.sources import public
from fairgat.data.sources.public import files, load

__all__ = ["NAMES", "Options", "files", "load"]

NAMES = ("recidivism",)


class Options(public.Options):
    table: Literal["recidivism"] = "recidivism"
    """Always this one."""
