"""Turn files of scores into what people look at: tables, figures, studies, costs and the page to explore a run with.

`tables/` and `figures/` hold one module each, found by its name. A table is data (`model`) until `render` makes
Markdown, LaTeX, HTML and CSV of it. `fairgat.config.shown` says what each of them reads from the configuration. To see
how a table is made, start with `tables/comparison.py`.
"""
