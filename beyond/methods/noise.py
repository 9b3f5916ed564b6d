"""GAT with noise on its embeddings: as accurate as another method, by a loss that knows nothing of groups.

A control in link prediction: what becomes of the gaps where predictions are merely worse.
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
        """Add normal noise, drawn by the job's seed, to embeddings (N, hidden) after training."""
        drawn = torch.Generator(output.device).manual_seed(torch.initial_seed())
        noise = torch.randn(output.shape, generator=drawn, dtype=output.dtype)
        return output + self.settings.size * output.std(0, correction=0) * noise
