"""GAT with noise on its embeddings, which knows nothing of groups.

A control in link prediction, as accurate as another method: what becomes of the gaps
where predictions are merely worse.
"""

from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor

from fairgat.config import Model
from fairgat.methods.base import LinkMethod


class Settings(Model):
    size: Annotated[float, Field(ge=0)] = 0.5
    """The noise's standard deviation, in those of the embeddings' columns."""


class LinkPrediction(LinkMethod):
    settings: Settings

    def postprocess(self, output: Tensor) -> Tensor:
        """Add normal noise, by the job's seed, to trained embeddings (N, hidden)."""
        random = torch.Generator(output.device).manual_seed(torch.initial_seed())
        noise = torch.randn(output.shape, generator=random, dtype=output.dtype)
        deviations = output.std(0, correction=0)
        return output + self.settings.size * deviations * noise
