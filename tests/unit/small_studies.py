"""Small studies, each of methods that are compared with GAT."""

from small_results import NODE

from fairgat import config
from fairgat.config import shown


def content(datasets, methods, **study):
    """A configuration with a study.

    Args:
        datasets: each data set's task.
        methods: those beside GAT.
        study: further keys of the study.
    """
    sets, entries, rows = {}, {"gat": {"tasks": [NODE]}}, []
    for name, task in datasets.items():
        sets[name] = {"task": task, "title": name.capitalize()}
    for name, entry in methods.items():
        entries[name] = {"tasks": [NODE], **entry}
        if name != "gat":
            row = {"title": name, "changes": "Another method."}
            rows.append({"method": name, "of": "gat", **row})
    return {
        "datasets": sets,
        "methods": entries,
        "study": {"name": "mine", "title": "Mine", "rows": rows, **study},
    }


def settings(*given, **study):
    return shown.study_settings(config.load(content(*given, **study)))
