"""Turn files of scores into tables, figures, the audit, studies, and the README's generated part.

`tables/` and `figures/` hold one module each, found by its name (`found`); `audit/` compares with the paper
(`paper.yaml`). A table is data (`model`) until `render` makes Markdown, LaTeX, HTML and CSV of it. `settings` says what
each of them reads from the configuration. To see how a table is made, start with `tables/comparison.py`.
"""
