"""Words of tables and figures: names of metrics and hyperparameters, selection rules, verdicts."""

from fairgat.report.model import Math, Text

METRICS: dict[str, Text] = {
    "accuracy": Math("Accuracy (%)", r"Accuracy ($\%$)"),
    "auc": Math("AUC (%)", r"AUC ($\%$)"),
    "f1": Math("F1 (%)", r"F1 ($\%$)"),
    "accuracy_0": Math("Accuracy | s=0 (%)", r"Accuracy $\mid s{=}0$ ($\%$)"),
    "accuracy_1": Math("Accuracy | s=1 (%)", r"Accuracy $\mid s{=}1$ ($\%$)"),
    "positive_rate_0": Math("ŷ=1 | s=0 (%)", r"$\hat{y}{=}1 \mid s{=}0$ ($\%$)"),
    "positive_rate_1": Math("ŷ=1 | s=1 (%)", r"$\hat{y}{=}1 \mid s{=}1$ ($\%$)"),
    "true_positive_rate_0": Math("TPR | s=0 (%)", r"TPR $\mid s{=}0$ ($\%$)"),
    "true_positive_rate_1": Math("TPR | s=1 (%)", r"TPR $\mid s{=}1$ ($\%$)"),
    "statistical_parity": Math("ΔSP (%)", r"$\Delta_{S P}$ ($\%$)"),
    "equal_opportunity": Math("ΔEO (%)", r"$\Delta_{E O}$ ($\%$)"),
    "dp_mixed": Math("ΔDP_m (%)", r"$\Delta DP_{m}$ ($\%$)"),
    "eo_mixed": Math("ΔEO_m (%)", r"$\Delta EO_{m}$ ($\%$)"),
    "dp_group": Math("ΔDP_g (%)", r"$\Delta DP_{g}$ ($\%$)"),
    "eo_group": Math("ΔEO_g (%)", r"$\Delta EO_{g}$ ($\%$)"),
    "dp_subgroup": Math("ΔDP_s (%)", r"$\Delta DP_{s}$ ($\%$)"),
    "eo_subgroup": Math("ΔEO_s (%)", r"$\Delta EO_{s}$ ($\%$)"),
}
PARAMETERS: dict[str, Text] = {
    "alpha_chi_max": Math("α_χ^max", r"$\alpha_{\max}^{\chi}$"),
    "alpha_chi": Math("α_χ", r"$\alpha^{\chi}$"),
    "eta": Math("η", r"$\eta$"),
    "adversary_weight": Math("β", r"$\beta$"),
    "similarity_weight": Math("λ", r"$\lambda$"),
    "delta": Math("δ", r"$\delta$"),
}
# What represents a method under each selection rule.
RULES = {
    "fair": "the fairest cell among those about as accurate as the method's best, on validation",
    "accuracy": "the most accurate cell on validation",
    "paper": "the cell with the paper's hyperparameters",
}
# Of a published number, as the audit gives them.
AGREES, BETTER, WORSE, UNDECIDED, NOT_RUN = VERDICTS = ("agrees", "better", "worse", "undecided", "not run")
TASKS = {"node_classification": "Node classification", "link_prediction": "Link prediction"}


def metric(name: str) -> Text:
    """The label of a metric; its own name where it has none."""
    return METRICS.get(name, name)


def parameter(name: str) -> Text:
    """The label of a hyperparameter; its own name where it has none."""
    return PARAMETERS.get(name, name)
