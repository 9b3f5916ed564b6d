"""What pages show: titles, the entries of tables, and what the paper has results on."""

from collections import Counter
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from fairgat.config.protocol import Model, Name, Names, PathText, Task
from fairgat.config.texts import Line


class TableEntry(Model):
    """A table: what makes it, and what it shows. A list stands for its `methods`."""

    kind: Name | None = None
    """The module in fairgat/report/tables that makes it, such as `scores`; the table's
    own name where absent."""
    module: PathText | None = None
    """A file of your own that makes it, in place of `kind`."""
    task: Task | None = None
    """The task that it shows, where its module shows any."""
    methods: Names | None = None
    """The methods that are its rows; none where its rows are something else. A table of
    scores without this key has all that are run."""
    others: bool = False
    """Whether further rows are the methods that are run and that no table of scores
    names."""
    measures: Names | None = None
    """The measures that are the columns of a table of scores; those that the task shows
    where absent."""
    title: Line | None = None
    """Its caption."""

    @model_validator(mode="before")
    @classmethod
    def _list(cls, content: Any) -> Any:
        if isinstance(content, list | str):
            return {"methods": content}
        return content

    @model_validator(mode="after")
    def _once(self) -> "TableEntry":
        """Refuse a row or a column that is listed twice."""
        for key in ("methods", "measures"):
            names = getattr(self, key) or []
            repeated = [name for name, count in Counter(names).items() if count > 1]
            if repeated:
                raise ValueError(f"`{key}` lists {', '.join(repeated)} more than once")
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> dict[str, Any]:
        as_a_list = {"type": "array", "items": {"type": "string"}}
        return {"anyOf": [as_a_list, handler(core)]}


class Look(Model):
    """How figures draw a method: a colour and a sign, so that neither is alone."""

    colour: Annotated[str, Field(pattern="^#[0-9A-Fa-f]{6}$")]
    """Such as "#0072B2"; two methods of a figure with one colour get others."""
    marker: Literal[
        "o", "s", "^", "v", "<", ">", "D", "d", "p", "P", "h", "H", "8", "X", "*"
    ]
    """One of Matplotlib's markers."""
    line: Literal["-", "--"] = "-"
    """Of its curve: dashed beside another that it lies close to."""


# The paper's tables of scores, where config.yaml gives no more than their rows.
SCORES = {
    "comparison": {"task": "node_classification", "title": "Comparative results."},
    "ablation": {"task": "node_classification", "title": "Ablation study."},
    "link_prediction": {
        "task": "link_prediction",
        "title": "Comparative results for link prediction.",
    },
}
# The data sets that the paper has results on.
PUBLISHED = ("pokec-z", "pokec-n", "recidivism", "cora", "citeseer", "pubmed")
