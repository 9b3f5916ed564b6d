"""One module a figure, found by its name; by its name before that of a task, too.

A table of scores has the figure `scores`.

Each declares READS and TASK as a table does, and has `draw(settings, files)`, which
gives a Matplotlib figure. `settings` are `fairgat.config.shown.Shown`. config.yaml
lists those that are drawn under `figures:`.
"""
