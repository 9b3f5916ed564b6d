"""What EDITS's debiasing can be told; the defaults are those of its repository for `bail`, which is Recidivism."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from fairgat.config import Count, Model
from fairgat.files import sha256_of

Weight = Annotated[float, Field(ge=0)]


class Debias(Model):
    """Settings of the debiasing."""

    epochs: Count = 500
    """Rounds of one feature step, one structure step and `critic_steps` critic steps."""
    epochs_of: dict[str, Count] = {}
    """Rounds on single data sets, in place of `epochs`."""
    learning_rate: Annotated[float, Field(gt=0)] = 0.003
    """Of all three optimisers."""
    late_learning_rate: Annotated[float, Field(gt=0)] = 0.001
    """In its place after `late_after` rounds."""
    late_after: Count = 401
    """Rounds at the first learning rate."""
    weight_decay: Weight = 1e-7
    """L2 factor on the feature scale and on the critic."""
    momentum: Annotated[float, Field(ge=0, lt=1)] = 0.9
    """Of the structure step."""
    feature_weight: Weight = 0.03
    """Weight of the features' change beside the critic's distance."""
    structure_weight: Weight = 15.0
    """Weight of the critic's distance beside the adjacency matrix's squared change."""
    feature_l1: Weight = 5e-6
    """Soft threshold on the feature scale, per unit of learning rate."""
    structure_l1: Weight = 5e-4
    """Soft threshold on the adjacency matrix, per unit of learning rate."""
    critic_steps: Count = 8
    """Critic steps per round."""
    critic_clip: Annotated[float, Field(gt=0)] = 0.02
    """Bound on the critic's weights, which makes it a Wasserstein critic."""
    critic_dropout: Annotated[float, Field(ge=0, lt=1)] = 0.2
    """Dropout on the critic's output."""
    max_density_factor: Annotated[float, Field(gt=1)] = 10.0
    """A threshold that gives the graph more than this many times its edges is not trained on."""

    def of(self, dataset: str) -> "Debias":
        """The settings of one data set: `epochs` is its own, `epochs_of` is empty."""
        return self.model_copy(update={"epochs": self.epochs_of.get(dataset, self.epochs), "epochs_of": {}})

    def made_from(self, seed: int, graph: str | Path, split: str | Path) -> dict[str, Any]:
        """All that a debiased graph depends on, for `fairgat.files.remember`; these settings are the data set's own."""
        return {
            "the settings under `debias`": self.model_dump(mode="json", exclude_defaults=True),
            "the seed": seed,
            "the graph": sha256_of(graph),
            "the split": sha256_of(split),
        }
