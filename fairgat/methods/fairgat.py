"""FairGAT (Algorithm 1), in three steps.

Step 1 is fair attention, step 2 spectral normalisation, and step 3 scales the
representations. The ablations are this method with fewer `steps`.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator
from torch import nn

from fairgat.config import Model
from fairgat.data.graph import alpha_chi
from fairgat.errors import NotDefined
from fairgat.methods.base import LinkMethod, Method, NodeMethod, attention_layer
from fairgat.nn import CSRGraph, FairGATConv, Shares, balanced_shares


class Settings(Model):
    of_step: ClassVar[dict[int, set[str]]] = {
        1: {"alpha_chi_max", "cap", "shares", "retention"},
        3: {"eta", "center"},
    }

    steps: Annotated[list[Literal[1, 2, 3]], Field(min_length=1)] = [1, 2, 3]
    """Which of the algorithm's steps are taken."""
    shares: Literal["paper", "balanced"] | None = None
    """What step 1 gives each group: the paper's alpha_chi, one share for all other
    groups, or masses with which mixing keeps the same part of the difference between
    any two groups. Where absent, balanced in node classification with more than two
    groups, for which the paper has no alpha_chi, and otherwise the paper's."""
    alpha_chi_max: Annotated[float, Field(gt=0, le=1)] = 0.5
    """The most attention that inter-edges may get (Eq. 8). In link prediction, and with
    more than two groups, what they get."""
    cap: bool = True
    """Node classification with two groups: whether the share is at most 1 / (R_0 +
    R_1), which makes Theorem 1's factor 0 (Eq. 9). Without it, inter-edges get
    `alpha_chi_max`, and mixing beyond the optimum has the other sign."""
    retention: Annotated[float, Field(ge=-1, le=1)] | None = None
    """Balanced shares: the part of a difference that mixing keeps. Where absent it
    follows from `alpha_chi_max`, as it would if all K groups were as large and everyone
    had neighbours of each: 1 - alpha_chi_max K / (K - 1)."""
    eta: Annotated[float, Field(gt=0)] = 1.0
    """Step 3's factor on features of unit variance."""
    center: bool = False
    """Whether step 3 subtracts the mean as well; the paper does not say, its equations
    scale only."""

    @model_validator(mode="after")
    def _one_share(self) -> "Settings":
        """Refuse settings of both kinds of shares, the paper's and balanced ones."""
        retains = self.retention is not None
        of_paper = self.shares == "paper" or "alpha_chi_max" in self.model_fields_set
        if retains and of_paper:
            raise ValueError(
                "`retention` is of balanced shares, in place of `alpha_chi_max`: give "
                "one of them"
            )
        balanced = retains or self.shares == "balanced"
        if balanced and not self.cap:
            raise ValueError(
                "`cap` is about the paper's shares: balanced ones have none"
            )
        return self

    @model_validator(mode="after")
    def _of_a_step_that_is_taken(self) -> "Settings":
        """Refuse settings of a step that is left out."""
        for step, keys in self.of_step.items():
            keys_set = sorted(keys & self.model_fields_set)
            if keys_set and step not in self.steps:
                raise ValueError(
                    f"`{keys_set[0]}` is of step {step}, which `steps` leaves out"
                )
        return self


class _FairGAT(Method):
    """What both tasks share: the layers and networks with the steps that are on."""

    settings: Settings

    def alpha_chi(self) -> float:
        """Choose the attention given to inter-edges."""
        return self.settings.alpha_chi_max

    def balances(self) -> bool:
        """Whether shares are balanced where the settings do not say."""
        return False

    @cached_property
    def shares(self) -> float | Shares | None:
        """What step 1 gives to each group; None without step 1."""
        settings, num_groups = self.settings, self.task.graph.num_groups
        if 1 not in settings.steps:
            return None
        balanced = settings.shares == "balanced" or settings.retention is not None
        if settings.shares is None:
            balanced = balanced or self.balances()
        if not balanced:
            return self.alpha_chi()
        retention = settings.retention
        if retention is None and num_groups < 2:
            raise NotDefined(
                "balanced shares follow from `alpha_chi_max` where there are two "
                "sensitive groups or more; all nodes of this graph are in one"
            )
        if retention is None:
            retention = 1 - settings.alpha_chi_max * num_groups / (num_groups - 1)
        return balanced_shares(self.task.sensitive, self.task.edge_index, retention)

    @property
    def fixed(self) -> dict[str, Any]:
        return {"shares": self.shares}

    @cached_property
    def csr(self) -> CSRGraph:
        """The training graph, cut as step 1 needs it."""
        task = self.task
        if self.shares is None:
            return task.plain_csr
        if not isinstance(self.shares, Shares):
            return task.segmented_csr
        return CSRGraph.from_edge_index(
            task.edge_index, task.graph.num_nodes, task.sensitive, shares=self.shares
        )

    def conv(self) -> Callable[..., FairGATConv]:
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
        return attention_layer(
            self.conv(),
            self.task,
            alpha_chi=self.shares,
            add_self_loops=self.csr.add_self_loops,  # as a variant's graph has them
            **self.options(),
        )

    def build(self) -> nn.Module:
        return self.task.network(self.layer(), **self.options())


class NodeClassification(_FairGAT, NodeMethod):
    def alpha_chi(self) -> float:
        """Solve equation 9: the share that minimises the bias term.

        R^chi is that of the graph without self-loops. The equation is for two groups;
        of more, and without the cap, the share is `alpha_chi_max`.
        """
        if self.balances() or not self.settings.cap:
            return self.settings.alpha_chi_max
        return alpha_chi(self.task.graph.r_chi(), self.settings.alpha_chi_max)

    def balances(self) -> bool:
        return self.task.graph.num_groups > 2


class LinkPrediction(_FairGAT, LinkMethod):
    """Link prediction with alpha_chi as it is set."""
