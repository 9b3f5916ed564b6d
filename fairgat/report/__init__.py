"""Turn files of scores into what people look at: tables, figures and studies.

In: CSV, and of the configuration what a page shows (`fairgat.config.shown`). `tables/`
and `figures/` hold one module each. Out: a table is data (`model`) until `render` makes
Markdown, LaTeX, HTML and CSV of it. To see how a table is made, start with
`tables/scores.py`.
"""
