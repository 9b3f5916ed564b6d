"""FairGAT (Algorithm 1): S1 fair attention, S2 spectral normalisation, S3 scaled representations.

The ablations are this method with fewer `steps`.
"""

from typing import Annotated, Literal

from pydantic import Field
from torch import Tensor, nn

from fairgat.config import Model
from fairgat.data.graph import alpha_chi
from fairgat.methods.base import LinkMethod, Method, NodeMethod, attention_layer
from fairgat.nn import FairGATConv


class Settings(Model):
    steps: Annotated[list[Literal[1, 2, 3]], Field(min_length=1)] = [1, 2, 3]
    """Which of the algorithm's steps are taken."""
    alpha_chi_max: Annotated[float, Field(gt=0, le=1)] = 0.5
    """The most attention that inter-edges may get (Eq. optim). In link prediction, what they get."""
    cap: bool = True
    """Node classification: whether the share is at most 1 / (R_0 + R_1), which makes Theorem 1's factor 0 (Eq. sol).
    Without it, inter-edges get `alpha_chi_max`, and mixing beyond the optimum has the other sign."""
    eta: Annotated[float, Field(gt=0)] = 1.0
    """S3's factor on features of unit variance."""
    center: bool = False
    """Whether S3 subtracts the mean as well; the paper does not say, its equations scale only."""


class _FairGAT(Method):
    settings: Settings

    def alpha_chi(self) -> float:
        """Choose the attention given to inter-edges."""
        return self.settings.alpha_chi_max

    def conv(self) -> type[FairGATConv]:
        """Choose the kind of layer; a variant may have its own."""
        return FairGATConv

    def options(self) -> dict:
        """List the arguments of steps 2 and 3, for every layer."""
        steps = self.settings.steps
        return {
            "spectral_norm": 2 in steps,
            "eta": self.settings.eta if 3 in steps else None,
            "center": self.settings.center,
        }

    def layer(self):
        """Make a factory of attention layers with the steps that are on."""
        share = self.alpha_chi() if 1 in self.settings.steps else None
        return attention_layer(self.conv(), self.task, alpha_chi=share, **self.options())

    def build(self) -> nn.Module:
        return self.task.network(self.layer(), **self.options())

    def embed(self) -> Tensor:
        fair = 1 in self.settings.steps
        return self.model(self.task.features, self.task.segmented_csr if fair else self.task.plain_csr)


class NodeClassification(_FairGAT, NodeMethod):
    def alpha_chi(self) -> float:
        """Solve equation sol: the share that minimises the bias term, from R^chi of the graph without self-loops.

        Raises:
            NotDefined: there are not exactly two groups, and the share is capped.
        """
        if not self.settings.cap:
            return self.settings.alpha_chi_max
        return alpha_chi(self.task.graph.r_chi(), self.settings.alpha_chi_max)


class LinkPrediction(_FairGAT, LinkMethod):
    """Link prediction with alpha_chi as it is set."""
