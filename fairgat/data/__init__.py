"""Data sets: raw files come in, a `Graph` and its random splits go out.

Look first at `graph.py`, which every data set becomes. `datasets.py` finds the module
in `sources/` that reads a data set; `download.py` fetches its raw files; `splits.py`
divides nodes and edges; `statistics.py` counts. A user's own data go through `own.py`,
by the roles that `roles.py` lets people declare: groups and labels (`declared.py`), and
features (`features.py`).
"""
