"""What pages show: titles, the entries of tables, and what the paper has results on."""

from typing import Any

from pydantic import model_validator

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

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> dict[str, Any]:
        as_a_list = {"type": "array", "items": {"type": "string"}}
        return {"anyOf": [as_a_list, handler(core)]}


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
