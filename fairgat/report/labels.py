"""Words of tables and figures: of measures, hyperparameters, rules and verdicts."""

from fairgat import measures
from fairgat.config.shown import Shown
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
# What the gaps of each task are.
GAPS = {
    "node_classification": (
        "ΔSP is the difference between the groups' shares of positive predictions, ΔEO "
        "that between their true positive rates."
    ),
    "link_prediction": (
        "ΔDP is the difference between shares of pairs that are predicted to be "
        "linked, ΔEO the larger one of those between true and between false positive "
        "rates. Subscript m: between pairs within one group and mixed ones; g: between "
        "groups, to which a pair belongs by each of its ends; s: between subgroups, "
        "the combinations of two groups. Of more than two the largest difference "
        "counts."
    ),
}
# Of a published number, as the audit gives them.
AGREES, BETTER, WORSE, UNDECIDED, NOT_RUN = VERDICTS = (
    "agrees",
    "better",
    "worse",
    "undecided",
    "not run",
)


def rule(settings: Shown) -> str:
    """Say what represents a method under the rule that is shown."""
    points = 100 * settings.tolerance
    tolerance = "1 point" if points == 1 else f"{points:g} points"
    said = {
        "fair": (
            "its fairest cell on validation: the least sum of gaps among the cells "
            f"that are at most {tolerance} less accurate there than its best"
        ),
        "accuracy": "its most accurate cell on validation",
        "paper": "the cell with the paper's hyperparameters",
    }
    return f"{said[settings.rule]} (rule `{settings.rule}`)"


def represented(settings: Shown) -> str:
    """Say which cell the numbers of a method are of."""
    return f"Each method is represented by {rule(settings)}."


def counted(count: int, what: str) -> str:
    """Write how many there are, as `1 split` or `5 splits`."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def measure(name: str) -> Math:
    """Label a measure; by its name where it is not declared."""
    found = measures.find(name)
    label = found.label.replace("{which}", found.which)
    tex = found.tex.replace("{which}", escape.tex(found.which))
    return Math(label, tex)


def metric(name: str) -> Math:
    """Label a measure, with its unit."""
    label = measure(name)
    unit = measures.find(name).unit
    sign = f" ({unit.sign})" if unit.sign else ""
    tex = f" ({unit.tex})" if unit.tex else ""
    return Math(f"{label}{sign}", f"{label.tex}{tex}")


def parameter(name: str) -> Text:
    """Label a hyperparameter; by its name where it has no label."""
    return PARAMETERS.get(name, name)
