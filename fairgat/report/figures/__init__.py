"""One module a figure, found by its name.

Each declares READS and TASK as a table does, and has `draw(settings, files)`, which gives a Matplotlib figure.
`settings` are those of `fairgat.config.shown.FigureSettings`. config.yaml lists those that are drawn under
`figures:`. Names with an underscore are shared by several figures.
"""
