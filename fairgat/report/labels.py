"""Words of tables and figures: labels of measures and hyperparameters, selection rules, verdicts."""

from fairgat import measures
from fairgat.report import escape
from fairgat.report.model import Math, Text

SUBJECT = "fairgat"  # the paper's own method
PARAMETERS: dict[str, Text] = {
    "alpha_chi_max": Math("α_χ^max", r"$\alpha_{\max}^{\chi}$"),
    "alpha_chi": Math("α_χ", r"$\alpha^{\chi}$"),
    "retention": Math("φ", r"$\varphi$"),
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
AGREES, BETTER, WORSE, UNDECIDED, NOT_RUN = VERDICTS = (
    "agrees",
    "better",
    "worse",
    "undecided",
    "not run",
)


def metric(name: str) -> Math:
    """The label of a measure, with its unit; its name where it is not declared."""
    measure = measures.find(name)
    sign, tex = (
        f" ({unit})" if unit else "" for unit in (measure.unit.sign, measure.unit.tex)
    )
    label = measure.label.replace("{which}", measure.which)
    return Math(
        label + sign, measure.tex.replace("{which}", escape.tex(measure.which)) + tex
    )


def parameter(name: str) -> Text:
    """The label of a hyperparameter; its name where it has no label."""
    return PARAMETERS.get(name, name)
