"""Small studies, each of methods that are compared with GAT."""

from small_results import NODE

from fairgat import config
from fairgat.config import shown


def content(datasets, methods, **study):
    """A configuration: each data set's task, the methods beside GAT, and further keys of the study."""
    methods = {"gat": {}} | methods
    rows = [
        {"method": m, "of": "gat", "title": m, "changes": "Another method."}
        for m in methods
        if m != "gat"
    ]
    return {
        "datasets": {
            name: {"task": task, "title": name.capitalize()}
            for name, task in datasets.items()
        },
        "methods": {
            name: {"tasks": [NODE], **entry} for name, entry in methods.items()
        },
        "study": {"name": "mine", "title": "Mine", "rows": rows, **study},
    }


def settings(*given, **study):
    return shown.study_settings(config.load(content(*given, **study)))
